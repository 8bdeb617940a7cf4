"""What a run's tasks ask for, from the suite that its store keeps.

Invariant: what is not there is left out; a page needs no suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from opsgym.report.texts import summary
from opsgym_api.layout import RunKeys
from opsgym_api.objects import READERS, read_object
from opsgym_api.orders import FrozenTask
from opsgym_api.store import Store


def task_summaries(store: Store, run: str, tasks: Iterable[str]) -> dict[str, str]:
    """The beginning of what each task asks for, by id.

    Raises:
        InputError: A row of the suite cannot be read as one.
        StoreError: The store cannot be read.
    """
    keys = RunKeys(run)
    if store.get(keys.suite_index) is None:
        return {}
    ids = list(tasks)
    with ThreadPoolExecutor(READERS) as pool:
        found = pool.map(partial(_summary, store), map(keys.suite_task, ids))
        return {task_id: told for task_id, told in zip(ids, found, strict=True) if told}


def _summary(store: Store, key: str) -> str:
    frozen = read_object(store, key, FrozenTask)
    return "" if frozen is None else summary(str(frozen.row.get("user_prompt") or ""))
