"""Brings uv into a folder: `python3 tools/get_uv.py FOLDER` makes FOLDER/bin/uv.

Uses pip where Python has it, and reads the package index itself where it has not: Debian's python3 comes without pip.
Only the standard library is used, since nothing is installed yet when this runs.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

VERSION = "0.13.8"
INDEX = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
WHEEL_TAGS = {
    ("Linux", "x86_64"): "manylinux_2_17_x86_64",
    ("Linux", "aarch64"): "manylinux_2_17_aarch64",
    ("Darwin", "arm64"): "macosx_11_0_arm64",
    ("Darwin", "x86_64"): "macosx_10_12_x86_64",
}


def main() -> int:
    """Installs uv, or says why it cannot."""
    folder = Path(sys.argv[1])
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    if by_link(folder) or by_pip(folder) or by_index(folder):
        return 0
    sys.stderr.write("Cannot install uv: no pip, and the package index cannot be reached. Install uv and try again.\n")
    return 1


def by_link(folder: Path) -> bool:
    """Uses a uv that is on the PATH."""
    program = shutil.which("uv")
    if program is None:
        return False
    (folder / "bin" / "uv").symlink_to(program)
    return True


def by_pip(folder: Path) -> bool:
    """Installs uv with pip."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action"]
    command += ["ignore", "--upgrade", "--target", str(folder), f"uv=={VERSION}"]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


def by_index(folder: Path) -> bool:
    """Downloads the wheel from the package index, checks its digest, and takes the program out of it."""
    tag = WHEEL_TAGS.get((platform.system(), platform.machine()))
    if tag is None:
        return False
    page = f"{INDEX.rstrip('/')}/uv/"
    try:
        with urllib.request.urlopen(page, timeout=60) as answer:
            links = re.findall(r'href="([^"]+)#sha256=([0-9a-f]{64})', answer.read().decode())
        url, digest = next(link for link in links if f"/uv-{VERSION}-" in link[0] and tag in link[0])
        with urllib.request.urlopen(urllib.parse.urljoin(page, url), timeout=300) as answer:
            content = answer.read()
    except (OSError, StopIteration):
        return False
    if hashlib.sha256(content).hexdigest() != digest:
        sys.stderr.write("The downloaded uv does not have the digest that the index gives.\n")
        return False
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        program = next(name for name in archive.namelist() if name.endswith("/scripts/uv"))
        target = folder / "bin" / "uv"
        target.write_bytes(archive.read(program))
        target.chmod(0o755)
    return True


if __name__ == "__main__":
    sys.exit(main())
