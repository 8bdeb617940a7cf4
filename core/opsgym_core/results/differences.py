"""Differences between two runs that may explain a change of scores, besides the agents' work.

Invariant: only what is recorded is compared: specs, versions of the runs, and versions and catalogues of trials at the
same task. A difference names the setting by its path in the spec.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from opsgym_api.errors import InputError
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import Cell, TrialRecord, Versions
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.numbers import cell_name
from opsgym_core.results.rows import CellRows, RunRows
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object

_IRRELEVANT = frozenset(
    {
        "budget", "gate", "notify", "queueName", "queuePriorityClass", "resultStore", "suspend",
        "trialsPerPod", "ttlSecondsAfterFinished",
    }
)  # fmt: skip
"""Fields of a spec that do not affect scores."""
_SHOWN_TASKS = 10
"""Tasks with other rows that a message names."""
_SHOWN_CELLS = 3
"""Cells that the name of a difference has."""
_MOST_RECORDS = 2000
"""Trials of each run whose versions are read, spread evenly over cells and tasks: about 5 s from S3."""
_SHORT = 60
"""Characters of a value that are shown; digests and prompts are longer."""


@dataclass(frozen=True)
class Difference:
    """A setting with another value in two runs."""

    name: str
    before: str
    """Empty if the run does not have it."""
    after: str

    def __str__(self) -> str:
        return f"{self.name}: {_shown(self.before)} → {_shown(self.after)}"


def _shown(value: str) -> str:
    short = value if len(value) <= _SHORT else f"{value[: _SHORT - 1]}…"
    return short or "not set"


def changed_tasks(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Ids of tasks that are other rows in two suites, from the digests of both, by id."""
    return frozenset(task_id for task_id, digest in before.items() if after.get(task_id, digest) != digest)


def changed_tasks_note(changed: Collection[str]) -> str:
    """Remark that tasks are not compared because their rows differ; empty if there are none."""
    if not changed:
        return ""
    further = f" and {len(changed) - _SHOWN_TASKS} more" if len(changed) > _SHOWN_TASKS else ""
    return f"not compared, because their rows differ: {', '.join(sorted(changed)[:_SHOWN_TASKS])}{further}"


def without_tasks(rows: RunRows, left_out: Callable[[Cell, str], bool]) -> RunRows:
    """A run without some of its tasks.

    Args:
        rows: The run.
        left_out: Whether a cell is left without the task of an id.
    """
    planned = [
        PlannedCell(cell=plan.cell, task_ids=[one for one in plan.task_ids if not left_out(plan.cell, one)])
        for plan in rows.run.cells
    ]
    cells = [
        CellRows(
            cell.cell,
            tuple(trial for trial in cell.trials if not left_out(cell.cell, trial.task_id)),
            tuple(attempt for attempt in cell.attempts if not left_out(cell.cell, attempt.task_id)),
        )
        for cell in rows.cells
    ]
    return replace(rows, run=rows.run.model_copy(update={"cells": planned}), cells=cells)


def setting_differences(
    before: RunRecord, after: RunRecord, names: Mapping[str, Mapping[str, str]]
) -> list[Difference]:
    """Differences of specs and versions.

    Args:
        before: The first run.
        after: The second run.
        names: Name in the second run by name in the first, for `model` and `agent`.
    """
    specs = _complete(before.spec), _complete(after.spec)
    own, other = (before.spec, after.spec) if None in specs else (specs[0] or {}, specs[1] or {})
    first = {**_settings(own, names), **_versions(before)}
    second = {**_settings(other, {}), **_versions(after)}
    renamed = {name for changed in names.values() for name in changed.values()}
    if before.run == after.run:
        # Two parts of one run: everything else is the same.
        first, second = ({key: value for key, value in one.items() if _part(key) in renamed} for one in (first, second))
    return _between(first, second)


def _complete(spec: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A spec with every default and the switches of every profile; None if it is of another version."""
    try:
        return EvalRunSpec.model_validate(spec).model_dump(mode="json", by_alias=True)
    except ValidationError:
        return None


def _part(path: str) -> str:
    """Name of the model or agent that a path is about; empty for another path."""
    parts = path.split(".")
    return parts[1] if parts[0] in {"models", "agents"} and len(parts) > 1 else ""


def _between(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    names = dict.fromkeys([*before, *after])
    pairs = [Difference(name, before.get(name, ""), after.get(name, "")) for name in names]
    return [pair for pair in pairs if pair.before != pair.after]


def _versions(run: RunRecord) -> dict[str, str]:
    return {"opsgym": run.opsgym, "rescored from": run.rescored_from, **run.versions}


def _settings(spec: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Values of a spec by path; entries of lists with names are named by them."""
    renamed = dict(spec)
    for part, key in (("model", "models"), ("agent", "agents")):
        changed = names.get(part, {})
        entries = [entry for entry in spec.get(key) or [] if isinstance(entry, dict)]
        own = [entry for entry in entries if entry.get("name") in changed]
        rest = [entry for entry in entries if entry.get("name") not in {*changed, *changed.values()}]
        renamed[key] = [*rest, *({**entry, "name": changed[entry["name"]]} for entry in own)]
    return dict(_flat("", {key: value for key, value in renamed.items() if key not in _IRRELEVANT}))


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in _IRRELEVANT:
                yield from _flat(f"{path}.{key}" if path else key, part)
    elif isinstance(value, list) and value and all(isinstance(part, dict) and "name" in part for part in value):
        for part in value:
            yield from _flat(f"{path}.{part['name']}", {key: one for key, one in part.items() if key != "name"})
    elif value is not None:
        yield path, value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class _Pair:
    """Trials at the same task in two cells that are compared."""

    before: tuple[Cell, str, int]
    """Cell, task id and trial number in the first run."""
    after: tuple[Cell, str, int]


def version_differences(
    before: tuple[Store, RunRows], after: tuple[Store, RunRows], cells: Mapping[Cell, Cell]
) -> list[Difference]:
    """Differences of programs, models and tool catalogues, from one trial of each task that both runs scored.

    A difference that not every compared task has is named with its number of tasks and its cells. A record that cannot
    be read is passed over.

    Args:
        before: Store and rows of the first run.
        after: Store and rows of the second run.
        cells: Cell of the first run, by the cell of the second that it is compared with.

    Raises:
        StoreError: A store cannot be read.
    """
    rows_before = {one.cell: one for one in before[1].cells}
    rows_after = {one.cell: one for one in after[1].cells}
    pairs = [pair for now, then in cells.items() for pair in _same_tasks(rows_before.get(then), rows_after.get(now))]
    sample = pairs[:: max(1, math.ceil(len(pairs) / _MOST_RECORDS))]
    with ThreadPoolExecutor(READERS) as pool:
        first = pool.map(partial(_trial_versions, before[0], before[1].run.run), [pair.before for pair in sample])
        second = pool.map(partial(_trial_versions, after[0], after[1].run.run), [pair.after for pair in sample])
        known = [(pair, then, now) for pair, then, now in zip(sample, first, second, strict=True) if then and now]
    changed: dict[str, list[tuple[_Pair, Difference]]] = {}
    for pair, then, now in known:
        for difference in _between(then, now):
            changed.setdefault(difference.name, []).append((pair, difference))
    return [_over_tasks(name, of_name, len(known)) for name, of_name in changed.items()]


def _same_tasks(before: CellRows | None, after: CellRows | None) -> Iterator[_Pair]:
    """A trial of each at every task that both have."""
    if before is None or after is None:
        return
    first, second = ({trial.task_id: trial.trial for trial in reversed(one.trials)} for one in (before, after))
    for task_id in sorted(first.keys() & second.keys()):
        yield _Pair((before.cell, task_id, first[task_id]), (after.cell, task_id, second[task_id]))


def _over_tasks(name: str, changed: Sequence[tuple[_Pair, Difference]], compared: int) -> Difference:
    """One difference for all tasks that have it; several values are joined by commas."""
    first, second = (", ".join(sorted({getattr(one, side) for _, one in changed})) for side in ("before", "after"))
    if len(changed) == compared:
        return Difference(name, first, second)
    cells = list(dict.fromkeys(cell_name(pair.after[0]) for pair, _ in changed))
    further = f" and {len(cells) - _SHOWN_CELLS} more cells" if len(cells) > _SHOWN_CELLS else ""
    where = f"{', '.join(cells[:_SHOWN_CELLS])}{further}"
    return Difference(f"{name} ({len(changed)} of {compared} tasks, in {where})", first, second)


def _trial_versions(store: Store, run: str, trial: tuple[Cell, str, int]) -> dict[str, str]:
    """Versions of a trial, by name; empty if its record cannot be read."""
    try:
        record = read_object(store, RunKeys(run).trial(*trial).record, TrialRecord)
    except InputError:
        record = None
    if record is None:
        return {}
    names: Sequence[str] = [part.name for part in fields(Versions) if part.name not in {"opsgym", "task_digest"}]
    versions = {name.removesuffix("_digest").replace("_", " "): str(getattr(record.versions, name)) for name in names}
    return {**versions, "request seeds": "none" if record.request_seed is None else "sent"}
