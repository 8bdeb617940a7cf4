"""Removes the cluster when its owner has ended: `python -m devcluster.guard`.

Invariant: a test run that is killed leaves no cluster behind, since this process is in a session of its own.
"""

from __future__ import annotations

import os
import select

from devcluster import cluster


def main() -> None:
    """Waits for the owner's end, then removes the cluster."""
    owner = cluster.owner()
    if owner is not None:
        descriptor = os.pidfd_open(owner.pid)
        # The process id may have been given to another one before it was opened.
        if owner.alive:
            select.select([descriptor], [], [])
        os.close(descriptor)
    cluster.down()


if __name__ == "__main__":
    main()
