"""Values and settings that fuzz tests share."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from tests.domains.declaration import SOAK, DomainDeclaration

SOAK_FACTOR = 200
"""How much longer soaking takes: a test run tries little, since most faults are found by the first calls of a tool."""


def runs(number: int) -> settings:
    """How often hypothesis tries: `number` of times, and 200 times as often when soaking."""
    return settings(
        max_examples=number * (SOAK_FACTOR if SOAK else 1),
        derandomize=not SOAK,
        deadline=None,
        database=None,
        # A failure names the call; making a batch of calls smaller would take minutes.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


DEEP: Any = []
for _ in range(80):
    DEEP = [DEEP]

NASTY = st.sampled_from(
    [
        None, "", " ", "\x00", "a\x00b", "\ud800", "x\udfffy", "🐘", "é\u0301", "%", "_", "\\",
        "'", '"', "'; DROP TABLE users; --", "' OR '1'='1", "$1", ":name", "{}", "NULL", "INC_001 ", "inc_001",
        "INC_" + "9" * 40, "x" * 121, "x" * 5000,
        0, -1, 1, 2**31, 2**63, 10**400, -(10**400), 1.5, 5.0, 1e308, float("nan"), float("inf"), True, False,
        [], {}, [None], [[]], ["x", 1], {"a": {"b": []}}, DEEP, "9999-12-31T23:59:59+14:00", "0001-01-01", "2025-02-30",
    ]
)  # fmt: skip
TEXTS = st.text(max_size=30)


def stored_values(declared: DomainDeclaration) -> dict[str, list[Any]]:
    """Values that the seed has in a column, by the column's name: most arguments are named after columns."""
    db = declared.sqlite()
    values_of: dict[str, set[Any]] = {}
    for table in declared.domain.metadata.tables.values():
        for column in table.columns:
            values = db.execute(f'SELECT DISTINCT "{column.name}" FROM "{table.name}" WHERE "{column.name}" NOTNULL')
            values_of.setdefault(column.name, set()).update(value for (value,) in values)
    values_of |= {argument: values_of[column] for argument, column in declared.column_of.items()}
    return {name: sorted(values, key=repr) for name, values in values_of.items() if values}
