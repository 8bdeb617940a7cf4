"""Writes generated files, or checks that they are current.

Invariant: with `check` nothing is written; without it, afterwards the files hold exactly the expected text and no stray
file is left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path


def sync(root: Path, expected: Mapping[Path, str], existing: Iterable[Path], *, check: bool) -> int:
    """Writes what is not current and removes strays; with `check`, reports them instead.

    Args:
        root: Folder that paths are relative to.
        expected: Text of each generated file, by relative path.
        existing: Files in the generated folders; those that are not expected are strays.
        check: Report only.

    Returns:
        Exit code: 1 if `check` is set and a file is not current, else 0.
    """
    stale = {path: text for path, text in expected.items() if not _holds(root / path, text)}
    strays = [path.relative_to(root) for path in existing if path.relative_to(root) not in expected]
    if check:
        for path in (*stale, *strays):
            sys.stderr.write(f"{path} is not current; run `make generate`\n")
        return 1 if stale or strays else 0
    for path, text in stale.items():
        (root / path).write_text(text, encoding="utf-8")
    for path in strays:
        (root / path).unlink()
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text
