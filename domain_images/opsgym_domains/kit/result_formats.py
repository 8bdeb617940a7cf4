"""Results that are more than rows: rows with their number, and values by group.

Invariant: keys are those that the tool names, in its order; nothing is wrapped that a tool does not wrap itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from opsgym_domains.kit.schema import Row

R = TypeVar("R", bound=Row)
T = TypeVar("T")
Counted = dict[str, Sequence[R] | int]
"""Rows with their number."""


class Deleted(TypedDict):
    """Number of deleted rows."""

    deleted: int


def counted(name: str, rows: Sequence[R]) -> Counted[R]:
    """Listed rows and how many there are."""
    return {name: rows, "total_count": len(rows)}


def deleted(name: str, rows: Sequence[R]) -> Counted[R]:
    """Deleted rows and how many there were."""
    return {"deleted_count": len(rows), name: rows}


def tally(shape: Callable[..., T], numbers: Mapping[Any, Any]) -> list[T]:
    """Values by group as an array with one object per group.

    Args:
        shape: `TypedDict` of such an object: the group first, the value second.
        numbers: Value by group, in order.
    """
    group, value_key = shape.__annotations__
    return [shape(**{group: key, value_key: value}) for key, value in numbers.items()]


def keyed(shape: Callable[..., T], numbers: Mapping[str, int]) -> T:
    """Values by group as one object, in the order of the `TypedDict`; groups without a value are omitted.

    Args:
        shape: `TypedDict` of the object, a key for each group.
        numbers: Value by group.
    """
    return shape(**{key: numbers[key] for key in shape.__annotations__ if key in numbers})
