"""Statements that count identifiers up.

Invariant: a counter is a row that a call changes in its own transaction, so that calls that are refused leave no gap.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from sqlalchemy import Table, text
from sqlalchemy.sql.elements import TextClause

from opsgym_domains.kit.schema import COUNTERS

_NAMESPACE = UUID("0d4c0c5e-5b1f-4d0c-9a55-0c3f1c6a7e21")
_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NEXT_UUIDS = text(
    f"INSERT INTO {COUNTERS} AS counter (name, last) VALUES ('uuid', :number) "  # noqa: S608 - names of our own tables
    "ON CONFLICT (name) DO UPDATE SET last = counter.last + excluded.last RETURNING last"
)
"""Statement that increments the counter of UUIDs, which all tables share, by a number; returns the last one."""


def count_up(table: Table) -> TextClause:
    """Statement that increments a table's key counter."""
    (key,) = table.primary_key
    highest = f'SELECT coalesce(max("{key.name}"), 0) FROM "{table.name}"'  # noqa: S608 - names of our own tables
    return text(
        f"INSERT INTO {COUNTERS} AS counter (name, last) VALUES ('{table.name}', ({highest}) + 1) "  # noqa: S608
        "ON CONFLICT (name) DO UPDATE SET last = greatest(counter.last + 1, excluded.last) RETURNING last"
    )


def uuid_of(count: int) -> str:
    """The UUID for a value of the counter; it is the same in every database."""
    return str(uuid5(_NAMESPACE, str(count)))


def ulid_of(count: int) -> str:
    """The UUID for a value of the counter in the form of a ULID: 26 digits of Crockford's base 32."""
    return in_base_32(uuid5(_NAMESPACE, str(count)).int, 26)


def in_base_32(number: int, digits: int) -> str:
    """The last digits of a number in Crockford's base 32, as ULIDs have them."""
    return "".join(_BASE_32[number >> 5 * place & 31] for place in reversed(range(digits)))


def from_base_32(text: str) -> int:
    """The number that digits in Crockford's base 32 write.

    Raises:
        ValueError: A character is not one of the 32 digits.
    """
    number = 0
    for digit in text:
        number = number << 5 | _BASE_32.index(digit)
    return number
