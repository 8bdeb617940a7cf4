"""Whether a made-up row would be let in.

Invariant: a table's own CHECK constraints decide, as SQLite reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw
from sqlalchemy import CheckConstraint, Table


def breaks_a_check(table: Table, row: Mapping[str, Any]) -> bool:
    """Whether a row breaks one of its table's checks.

    Args:
        table: The table.
        row: Value by column; every column that a check reads.
    """
    checks = [str(check.sqltext) for check in table.constraints if isinstance(check, CheckConstraint)]
    if not checks:
        return False
    columns = ", ".join(f'? AS "{name}"' for name in row)
    broken = " OR ".join(f"NOT ({check})" for check in checks)
    db = apsw.Connection(":memory:")
    values = tuple(int(value) if isinstance(value, bool) else value for value in row.values())
    (violated,) = next(db.execute(f"SELECT {broken} FROM (SELECT {columns})", values))  # noqa: S608 - our own checks
    return bool(violated)
