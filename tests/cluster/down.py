"""Removes the test cluster and everything that it started: `python -m tests.cluster.down`."""

from __future__ import annotations

import sys

from tests.cluster import cluster
from tests.cluster.errors import ClusterError


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
