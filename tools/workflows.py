"""Checks the workflows by actionlint, which is built once, as the programs of the test cluster are.

python -m tools.workflows   exits 1 if a workflow is wrong, and with `CI` set also if actionlint cannot be had
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from devcluster.binaries import ACTIONLINT, ensure, program
from devcluster.errors import ClusterError

WORKFLOWS = Path(__file__).resolve().parents[1] / ".github" / "workflows"


def main(folder: Path) -> int:
    """Checks the workflows of a folder; returns the exit code."""
    try:
        ensure((ACTIONLINT,))
    except ClusterError as error:
        print(f"Workflows are not checked: {error}", file=sys.stderr)
        return 1 if "CI" in os.environ else 0
    return subprocess.run([program("actionlint"), *sorted(folder.glob("*.yml"))], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(WORKFLOWS))
