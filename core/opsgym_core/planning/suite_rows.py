"""Properties of a suite's rows that local mode and preflight share.

Invariant: every row, valid or not, has an id that is unique in the suite and allowed in a store key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

from opsgym_api.tasks.reading import BadRow
from opsgym_api.tasks.task import Task

_TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def domains_of(task: Task) -> list[str]:
    """Distinct domains of a task's gym servers, in the row's order."""
    return list(dict.fromkeys(server.domain for server in task.gym_servers_config))


def problems_by_id(bad: Iterable[BadRow], taken: Collection[str], ids: Collection[str] = ()) -> dict[str, str]:
    """The problem of each invalid row, by the row's id or, if it has no valid and unused id, by a digest.

    A row without a valid id is included even if the suite selects ids, since it may be one of them.

    Args:
        bad: The invalid rows.
        taken: Ids of the suite's other rows.
        ids: Ids that the suite selects; empty for all.
    """
    problems: dict[str, str] = {}
    seen = set(taken)
    for row in bad:
        has_id = _TASK_ID.fullmatch(row.task_id) is not None and row.task_id not in seen
        if has_id and ids and row.task_id not in ids:
            continue
        digest = hashlib.sha256(row.source.encode()).hexdigest()[:8]
        problems[row.task_id if has_id else f"row-{digest}"] = row.message
        seen.add(row.task_id)
    return problems
