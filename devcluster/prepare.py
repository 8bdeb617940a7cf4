"""Brings the programs that the test cluster needs: `python -m devcluster.prepare`, run before its tests.

Building Kubernetes takes minutes the first time, too long for a test that waits for its cluster. So does removing what
a killed test run left.
"""

from __future__ import annotations

import os
import sys

from devcluster import binaries, cluster, packages
from devcluster.errors import ClusterError


def main() -> int:
    """Installs the programs; returns the exit code. A machine without cluster support fails only if `CI` is set."""
    try:
        cluster.check_machine()
    except ClusterError as error:
        print(f"The cluster's tests are skipped: {error}", file=sys.stderr)
        return 1 if "CI" in os.environ else 0
    try:
        packages.ensure()
        binaries.ensure(binaries.ALL)
        cluster.sweep()
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
