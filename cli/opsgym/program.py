"""How the user calls this program, for commands that are printed as the next ones."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def program() -> str:
    """`opsgym` if the shell finds it, else the path by which it was called: `.venv/bin/opsgym`."""
    called = Path(sys.argv[0])
    if called.name != "opsgym" or shutil.which("opsgym") is not None:
        return "opsgym"
    return shlex.quote(os.path.relpath(called))
