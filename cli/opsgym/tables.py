"""How numbers are written for people. Invariant: an unknown number is written as such, never as 0."""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.figures import NOTHING, cell_name, dollars, percent

__all__ = ["NOTHING", "cell_name", "dollars", "endings", "number", "percent", "seconds"]


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
    """A mean; a dash where there is nothing to average."""
    return NOTHING if value is None else f"{value:.1f}"


def endings(not_scored: Mapping[str, int]) -> str:
    """What was not scored, by reason: `2 gym_lost, 1 pending`; empty if everything was."""
    return ", ".join(f"{count} {ending.rpartition('/')[2]}" for ending, count in not_scored.items())
