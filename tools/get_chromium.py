"""Brings a Chromium for the browser tests: `python3 tools/get_chromium.py LINK` makes LINK point to one.

Uses one that is installed. Where there is none, Debian's package is installed if this may be done, that is, as root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKAGES = ("chromium", "fonts-liberation")
"""Without any font a browser shows no text."""
PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
HOW = "Install Debian's package `chromium` (apt-get install chromium) or Google Chrome, and try again."


def main() -> int:
    """Makes the link, or reports why that is impossible; returns the exit code."""
    link = Path(sys.argv[1])
    program = find() or install()
    if program is None:
        sys.stderr.write(f"The browser tests need Chromium, which is not installed. {HOW}\n")
        return 1
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(program)
    return 0


def find() -> Path | None:
    """A Chromium that is installed."""
    candidates = (shutil.which(name) for name in NAMES)
    return next((Path(path).resolve() for path in (*candidates, *PLACES) if path and Path(path).exists()), None)


def install() -> Path | None:
    """Installs Debian's package, if permissions allow it."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    sys.stderr.write("Installing Debian's chromium for the browser tests …\n")
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run([apt, *command], check=False, env=environment, stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.stderr.write(f"apt-get {command[0]} failed with exit code {done.returncode}.\n")
            return None
    return find()


if __name__ == "__main__":
    sys.exit(main())
