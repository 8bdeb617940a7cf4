"""Removes the test cluster and everything that it started: `python -m devcluster.down`."""

from __future__ import annotations

import sys

from devcluster import cluster
from devcluster.errors import ClusterError


def main() -> int:
    """Removes it, or says what is left."""
    try:
        cluster.check_machine()
        cluster.down()
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
