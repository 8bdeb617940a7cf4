"""The tasks that a service of episodes offers, and the split that each belongs to.

Invariant: a task belongs to one split, in every variant and for every service with the same list, so what a trainer's
token may not use cannot be reached by another variant, mode or spelling. Held-out variants are never offered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opsgym.episodes.api import EpisodeRequest, RefusedError, Split
from opsgym.local.inputs import RowProblem, read_suite, resolve_seeds, seed_finder
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Suite
from opsgym_api.tasks.task import Task
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains.editions import is_builtin

TEST_SHARE = 5
"""One task of so many belongs to the test split if no list says which do."""


@dataclass(frozen=True)
class OfferedTask:
    """A task that can be played."""

    task: Task
    seeds: Mapping[str, Seed]
    """By name of the gym server."""


class Offer:
    """The tasks of some suites.

    Args:
        suites: Built-in suites, files or folders; of two tasks with one id the first counts.
        test_tasks: Ids of the tasks of the test split; None for one in `TEST_SHARE`, by a digest of the id.

    Raises:
        InputError: A suite cannot be read, or the list names a task of none of them.
    """

    def __init__(self, suites: Sequence[str], test_tasks: Collection[str] | None) -> None:
        self._names = suites
        self._test_tasks = test_tasks
        self._read: dict[int, Mapping[str, OfferedTask | RowProblem]] = {}
        if unknown := sorted(set(test_tasks or ()) - self._tasks(0).keys()):
            message = f"{unknown[0]!r} is not a task of {', '.join(suites)}; {len(unknown)} such ids"
            raise InputError("--test-tasks", [Problem("", message)])

    @property
    def domains(self) -> list[str]:
        """Domains of the tasks that can be played, sorted."""
        offered = [one.task for one in self._tasks(0).values() if isinstance(one, OfferedTask)]
        return sorted({domain for task in offered for domain in domains_of(task)})

    def split_of(self, task_id: str) -> Split:
        """The split of a task."""
        if self._test_tasks is not None:
            return "test" if task_id in self._test_tasks else "train"
        return "train" if int(hashlib.sha256(task_id.encode()).hexdigest(), 16) % TEST_SHARE else "test"

    def find(self, request: EpisodeRequest) -> OfferedTask:
        """The task of a request, whose split has been checked. Reads the variant's rows when it is first asked for.

        Raises:
            RefusedError: There is no such task, it is of the other split, or it cannot be played.
        """
        if request.task not in self._tasks(0):
            message = f"task: {request.task!r} is not a task of {', '.join(self._names)}"
            raise RefusedError(404, "unknown_task", message)
        if (split := self.split_of(request.task)) != request.split:
            raise RefusedError(403, "wrong_split", f"split: task {request.task} is of {split}, not {request.split}")
        try:
            offered = self._tasks(request.variant).get(request.task)
        except (InputError, ValueError) as error:
            raise RefusedError(422, "no_variant", f"variant: {error}") from None
        if offered is None:
            message = f"variant: task {request.task} is written by hand and has none; leave it out"
            raise RefusedError(422, "no_variant", message)
        if isinstance(offered, RowProblem):
            raise RefusedError(422, offered.reason, f"task {request.task}: {offered.message}")
        return offered

    def _tasks(self, variant: int) -> Mapping[str, OfferedTask | RowProblem]:
        if variant not in self._read:
            tasks: dict[str, OfferedTask | RowProblem] = {}
            for name in self._names:
                tasks = {**_tasks_of(name, variant), **tasks}
            self._read[variant] = tasks
        return self._read[variant]


def _tasks_of(name: str, variant: int) -> Mapping[str, OfferedTask | RowProblem]:
    """Tasks of a suite; a suite that is not built in has no variants but 0."""
    if not is_builtin(name) and variant:
        return {}
    suite = Suite(builtin=name, variant=variant or None) if is_builtin(name) else Suite(path=name)
    tasks, bad_rows = read_suite("episodes serve", suite, Path.cwd(), {})
    if bad_rows:
        raise InputError(name, [Problem(bad.task_id or "", bad.message) for bad in bad_rows])
    seeds, unrunnable = resolve_seeds(tasks, seed_finder(suite, Path.cwd()))
    return {
        task.task_id: OfferedTask(task, seeds[task.task_id]) if task.task_id in seeds else unrunnable[task.task_id]
        for task in tasks
    }
