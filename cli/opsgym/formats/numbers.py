"""Numbers as text. Invariant: an unknown number is written as `unknown` or a dash, never as 0."""

from __future__ import annotations

from opsgym_core.common.numbers import NOTHING, cell_name, dollars, percent

__all__ = ["NOTHING", "cell_name", "dollars", "number", "percent", "seconds"]


def seconds(duration: float) -> str:
    """A duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 04 min`."""
    if duration < 9.95:
        return f"{duration:.1f} s"
    whole = round(duration)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def number(value: float | None) -> str:
    """A mean with one decimal; a dash for None."""
    return NOTHING if value is None else f"{value:.1f}"
