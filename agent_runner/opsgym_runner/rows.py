"""What local mode and preflight both have to know of a suite's rows.

Invariant: every row that was read, well or badly, has an id that no other row of the suite has and that can stand in a
store key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

from opsgym_api.task import BadRow, Task

_TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def domains_of(task: Task) -> list[str]:
    """Domains of a task's gym servers, each once, in the row's order."""
    return list(dict.fromkeys(server.domain for server in task.gym_servers_config))


def reported(bad: Iterable[BadRow], taken: Collection[str], ids: Collection[str] = ()) -> dict[str, str]:
    """What is wrong with each row that could not be read, by the id it is reported under.

    A row whose own id cannot be told is kept even if the suite names ids: it may be one of them.

    Args:
        bad: The rows.
        taken: Ids of the suite's other rows.
        ids: Ids that the suite names; all if empty.
    """
    found: dict[str, str] = {}
    seen = set(taken)
    for row in bad:
        named = _TASK_ID.fullmatch(row.task_id) is not None and row.task_id not in seen
        if named and ids and row.task_id not in ids:
            continue
        digest = hashlib.sha256(row.source.encode()).hexdigest()[:8]
        found[row.task_id if named else f"row-{digest}"] = row.message
        seen.add(row.task_id)
    return found
