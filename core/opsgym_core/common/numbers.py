"""Formats numbers and cells for tables, messages and status fields.

Invariant: an unknown number is written as `unknown`, never as 0.
"""

from __future__ import annotations

from opsgym_api.records.attempt import Cell

UNKNOWN = "unknown"
NOTHING = "–"


def dollars(amount: float | None) -> str:
    """An amount in dollars, with more digits for small amounts; `unknown` for None."""
    if amount is None:
        return UNKNOWN
    if amount == 0:
        return "$0"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"


def percent(share: float | None) -> str:
    """A share as a percentage; a dash for None."""
    return NOTHING if share is None else f"{100 * share:.1f}%"


def cell_name(cell: Cell) -> str:
    """A cell as `model/agent/mode/domain`."""
    return f"{cell.model}/{cell.agent}/{cell.mode}/{cell.domain}"
