"""How numbers are written for people, in tables and in a cluster alike.

Invariant: an unknown number is written as such, never as 0.
"""

from __future__ import annotations

from opsgym_api.records import Cell

UNKNOWN = "unknown"
NOTHING = "–"


def dollars(amount: float | None) -> str:
    """Dollars; small amounts with enough digits to differ from nothing."""
    if amount is None:
        return UNKNOWN
    if amount == 0:
        return "$0"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"


def percent(share: float | None) -> str:
    """A share; a dash where there is nothing to take a share of."""
    return NOTHING if share is None else f"{100 * share:.1f}%"


def cell_name(cell: Cell) -> str:
    """A cell in one word."""
    return f"{cell.model}/{cell.agent}/{cell.mode}/{cell.domain}"
