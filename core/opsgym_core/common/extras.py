"""How to install what an optional feature needs, as a command that works as printed.

Invariant: the command installs the third-party distributions of an extra, never one of opsgym's own names, which other
registries may not have or may give to others.
"""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path


def install_command(distribution: str, extra: str) -> str:
    """Command that installs the requirements of an extra into this Python.

    Args:
        distribution: Distribution that declares the extra.
        extra: Name of the extra.
    """
    entries = [entry.partition(";") for entry in requires(distribution) or ()]
    quotes = str.maketrans("", "", "'\" ")
    needed = [name.strip() for name, _, marker in entries if f"extra=={extra}" in marker.translate(quotes)]
    return f"{_installer()} {shlex.join(needed)}"


def _installer() -> str:
    """The installer of this environment: pip if it has one, else uv, by its path in a checkout of opsgym."""
    python = shlex.quote(sys.executable)
    if find_spec("pip") is not None:
        return f"{python} -m pip install"
    in_checkout = Path(sys.prefix).parent / ".tools" / "uv" / "bin" / "uv"
    uv = shlex.quote(str(in_checkout)) if in_checkout.is_file() else "uv"
    return f"{uv} pip install --python {python}"
