"""The Chromium that browser tests and benchmarks start, and its flags."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
"""Flags for headless use by any user, without connections of Chromium's own."""


def chromium() -> str:
    """Path of an installed Chromium.

    Raises:
        RuntimeError: None is installed. Browser tests fail then, they are never skipped.
    """
    linked = ROOT / ".tools" / "chromium"
    program = str(linked) if linked.exists() else shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise RuntimeError("Chromium is not installed; run `make .tools/chromium`")
    return os.path.realpath(program)
