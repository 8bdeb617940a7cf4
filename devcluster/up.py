"""Starts the test cluster and leaves it running: `python -m devcluster.up [--image ARCHIVE]…`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from devcluster import cluster
from devcluster.errors import ClusterError
from devcluster.places import S3_URL, STATE


def main() -> int:
    """Starts it, or says why not."""
    parser = argparse.ArgumentParser(prog="python -m devcluster.up", description=__doc__)
    parser.add_argument(
        "--image", action="append", type=Path, default=[], metavar="ARCHIVE", help="image to hand to it"
    )
    arguments = parser.parse_args()
    try:
        if cluster.running() is None:
            begun = time.monotonic()
            cluster.up(arguments.image)
            print(f"The test cluster is ready after {time.monotonic() - begun:.1f} s.")
        else:
            print("The test cluster runs already.")
            for archive in arguments.image:
                cluster.Cluster().import_image(archive)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Use it:  {STATE / 'enter'} kubectl get pods -A     (S3: {S3_URL}, from inside)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
