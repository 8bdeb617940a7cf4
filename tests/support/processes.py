"""Processes below one, as Linux lists them."""

from __future__ import annotations

from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Processes below one, by its pid."""
    children = [int(child) for child in _children_file(pid).split()]
    return [descendant for child in children for descendant in (child, *descendants(child))]


def _children_file(pid: int) -> str:
    try:
        return "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return ""
