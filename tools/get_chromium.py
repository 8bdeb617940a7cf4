"""Brings a Chromium for the browser tests: `python3 tools/get_chromium.py LINK` makes LINK point to one.

Debian's headless shell is installed if this may be done, that is, as root: it has no windows, so a page takes it half
of the CPU seconds that a whole Chromium takes. Elsewhere one that is installed is used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FONTS = "fonts-liberation"
"""Without any font a browser shows no text."""
PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
HOW = "Install Debian's package `chromium` (apt-get install chromium) or Google Chrome, and try again."


def main() -> int:
    """Makes the link, or reports why that is impossible; returns the exit code."""
    link = Path(sys.argv[1])
    program = find(SHELL) or install()
    if program is None:
        sys.stderr.write(f"The browser tests need Chromium, which is not installed. {HOW}\n")
        return 1
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(program)
    return 0


def find(*names: str) -> Path | None:
    """An installed browser of one of these names."""
    candidates = (*map(shutil.which, names), *(PLACES if "chrome" in names else ()))
    return next((Path(path).resolve() for path in candidates if path and Path(path).exists()), None)


def install() -> Path | None:
    """Installs Debian's package if permissions allow it; the browser that is installed then.

    Other distributions have no package of the shell, only the whole Chromium.
    """
    apt = shutil.which("apt-get")
    if apt is not None and os.geteuid() == 0:
        sys.stderr.write("Installing Debian's headless Chromium for the browser tests …\n")
        packages = (SHELL,) if find(*NAMES) else (SHELL, "chromium")
        install = ("install", "-qq", "-y", "--no-install-recommends", FONTS)
        if _ran(apt, "update", "-qq"):
            any(_ran(apt, *install, package) for package in packages)
    return find(*NAMES)


def _ran(apt: str, *arguments: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run([apt, *arguments], check=False, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.stderr.write(f"apt-get {arguments[0]} failed with exit code {done.returncode}.\n")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
