"""Prompts of a run's tasks, from the suite in its store.

Invariant: tasks that the store does not have are left out; a page does not need the suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from opsgym_api.errors import InputError
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import FrozenTask
from opsgym_console.report.texts import summary
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object


def task_summaries(store: Store, run: str, tasks: Iterable[str]) -> dict[str, str]:
    """The beginning of each task's user prompt, by id.

    Raises:
        StoreError: The store cannot be read.
    """
    keys = RunKeys(run)
    if store.get(keys.suite_index) is None:
        return {}
    ids = list(tasks)
    with ThreadPoolExecutor(READERS) as pool:
        summaries = pool.map(partial(_summary, store), map(keys.suite_task, ids))
        return {task_id: text for task_id, text in zip(ids, summaries, strict=True) if text}


def _summary(store: Store, key: str) -> str:
    try:
        frozen = read_object(store, key, FrozenTask)
    except InputError:
        return ""
    return "" if frozen is None else summary(str(frozen.row.get("user_prompt") or ""))
