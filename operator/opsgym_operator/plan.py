"""The plan of a run: which tasks, which cells, which trials next, and when spending stops.

Invariant: everything here is a function of its arguments. A run that is stopped anywhere and planned again from what
the store holds goes on with exactly the trials that have no score, in the same order. Local mode and the operator share
it.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import Generic, Protocol, TypeAlias

from typing_extensions import TypeVar

from opsgym_api.digest import digest_of, task_digest
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import Budget, EvalRunSpec, Suite
from opsgym_api.records import Cell, Control
from opsgym_api.task import Task

TrialKey: TypeAlias = tuple[str, str, int]
"""Cell key, task id and trial number: what a score is stored under."""


class Row(Protocol):
    """What a plan has to know of a row: `Task` says it, and so does `SuiteEntry`."""

    @property
    def task_id(self) -> str:
        """Unique in its suite."""
        ...

    @property
    def domain_name(self) -> str:
        """Domain, as names in store keys and labels are written."""
        ...


R = TypeVar("R", bound=Row, default=Task)


@dataclass(frozen=True)
class CellPlan(Generic[R]):
    """A cell and the tasks it runs."""

    cell: Cell
    tasks: tuple[R, ...]


@dataclass(frozen=True)
class PlannedTrial(Generic[R]):
    """A trial that has no score yet."""

    cell: Cell
    task: R
    trial: int
    """Counts from 0."""

    @property
    def key(self) -> TrialKey:
        """What its score will be stored under."""
        return self.cell.key, self.task.task_id, self.trial


def select_tasks(suite: Suite, tasks: Sequence[R], unreadable: Collection[str] = ()) -> list[R]:
    """The tasks that a suite's filters keep, in the suite's order: by domain, then by id, then by limit.

    With a seed, `limit` draws a sample that depends on the seed and the task ids alone, not on the order of the rows; a
    larger limit adds to a smaller one's sample.

    Args:
        suite: The filters.
        tasks: The suite's rows.
        unreadable: Ids of rows that are not valid; naming one in `suite.ids` is no mistake here.

    Raises:
        InputError: A domain or id matches nothing, or nothing is left.
    """
    found = [task for task in tasks if not suite.domains or task.domain_name in suite.domains]
    problems = [*_unknown_domains(suite, tasks), *_unknown_ids(suite, tasks, found, unreadable)]
    if problems:
        raise InputError(_source(suite), problems)
    if suite.ids:
        found = [task for task in found if task.task_id in suite.ids]
    if not found and not unreadable:
        raise InputError(_source(suite), [Problem("spec.suite", "no task is left to run")])
    return _limited(suite, found)


def _limited(suite: Suite, tasks: Sequence[R]) -> list[R]:
    if suite.limit is None:
        return list(tasks)
    if suite.seed is None:
        return list(tasks[: suite.limit])
    drawn = sorted(tasks, key=lambda task: hashlib.sha256(f"{suite.seed} {task.task_id}".encode()).digest())
    kept = {task.task_id for task in drawn[: suite.limit]}
    return [task for task in tasks if task.task_id in kept]


def _source(suite: Suite) -> str:
    return suite.builtin or suite.path or "suite"


def _unknown_domains(suite: Suite, tasks: Sequence[Row]) -> list[Problem]:
    known = list(dict.fromkeys(task.domain_name for task in tasks))
    return [
        Problem(f"spec.suite.domains[{index}]", f"no task is of domain {domain!r}; there are {', '.join(known)}")
        for index, domain in enumerate(suite.domains)
        if domain not in known
    ]


def _unknown_ids(
    suite: Suite, tasks: Sequence[Row], found: Sequence[Row], unreadable: Collection[str]
) -> list[Problem]:
    domains = {task.task_id: task.domain_name for task in tasks}
    kept = {task.task_id for task in found} | set(unreadable)
    return [
        Problem(f"spec.suite.ids[{index}]", _no_such_id(task_id, domains))
        for index, task_id in enumerate(suite.ids)
        if task_id not in kept
    ]


def _no_such_id(task_id: str, domains: Mapping[str, str]) -> str:
    if task_id in domains:
        return f"task {task_id!r} is of domain {domains[task_id]!r}, which spec.suite.domains leaves out"
    near = difflib.get_close_matches(task_id, domains, n=3)
    hint = (
        f"near: {', '.join(near)}"
        if near
        else f"the suite has {len(domains)} tasks, the first is {next(iter(domains), 'none')}"
    )
    return f"no task has id {task_id!r}; {hint}"


def plan_cells(spec: EvalRunSpec, tasks: Sequence[R]) -> list[CellPlan[R]]:
    """The run's cells, each with its tasks: by model, agent, mode and domain, in the order the spec lists them.

    Domains that the spec does not list come in the order of their first task. A domain without tasks makes no cell.
    """
    by_domain: dict[str, list[R]] = {domain: [] for domain in spec.suite.domains}
    for task in tasks:
        by_domain.setdefault(task.domain_name, []).append(task)
    return [
        CellPlan(Cell(model=model.name, agent=agent.name, mode=mode.value, domain=domain), tuple(of_domain))
        for model, agent, mode, (domain, of_domain) in product(
            spec.models, spec.agents, spec.suite.modes, by_domain.items()
        )
        if of_domain
    ]


def plan_trials(cells: Sequence[CellPlan[R]], trials: int, scored: Container[TrialKey]) -> list[PlannedTrial[R]]:
    """Every trial that has no score, in the order in which they should start.

    Cells take turns, so that early results say something about each of them: in any beginning of the list, two cells
    differ by one trial at most, unless one of them has no more. Inside a cell every task is tried once before any is
    tried again.

    Args:
        cells: The run's cells.
        trials: Trials of each task in each cell.
        scored: Trials that have a score.
    """
    queues = [
        [
            planned
            for trial, task in product(range(trials), cell.tasks)
            if (planned := PlannedTrial(cell.cell, task, trial)).key not in scored
        ]
        for cell in cells
    ]
    return [planned for planned in chain.from_iterable(zip_longest(*queues)) if planned is not None]


def startable(
    pending: Sequence[PlannedTrial], running: Iterable[PlannedTrial], ceilings: Mapping[str, int], total: int | None
) -> list[PlannedTrial]:
    """The pending trials that may start now, in order.

    No model then has more trials running than its ceiling, nor all of them together more than `total`; and none is left
    waiting that could have started too. The budget is not asked: ask `budget_gate` before each start.

    Args:
        pending: Trials that wait, in the order of `plan_trials`.
        running: Trials that run now.
        ceilings: Trials that may run at once, by the model's name in the run.
        total: Trials that may run at once in all; no bound if None.
    """
    busy = Counter(planned.cell.model for planned in running)
    room = len(pending) if total is None else total - busy.total()
    chosen: list[PlannedTrial] = []
    for planned in pending:
        if len(chosen) >= room:
            break
        model = planned.cell.model
        if busy[model] < ceilings[model]:
            busy[model] += 1
            chosen.append(planned)
    return chosen


def budget_gate(budget: Budget | None, spent: float, in_flight: int, largest_trial_cost: float) -> Control:
    """Whether one more trial may start, and whether those in flight may take another step.

    Starting closes when what is spent, with a reservation of the largest trial cost for every trial in flight, reaches
    the cap; going on closes when what is spent alone reaches it. Ask before every start, with the trials just started
    counted as in flight. Then, with `n` trials in flight and `seen` the largest cost known when the last trial started,
    and `largest` the largest cost that any trial came to in the end:

        final spend <= cap + largest + n * (largest - seen)

    For at that start `spent + n * seen` was below the cap, and only those `n` and the new one could still spend. Once a
    dearest trial has been seen, that is one trial's cost past the cap; it is never more than `n + 1` trials' cost past
    it. Where trials ask before each step, the final spend is also below the cap and one step of each trial in flight.

    Args:
        budget: The run's budget; None never closes anything.
        spent: Dollars spent by all attempts so far, killed and running ones included.
        in_flight: Trials running now.
        largest_trial_cost: Dollars of the dearest trial seen so far; 0 before the first.
    """
    if budget is None:
        return Control()
    proceed = spent < budget.max_usd
    start = proceed and spent + in_flight * largest_trial_cost < budget.max_usd
    return Control(start=start, proceed=proceed, reason="" if start else "budget")


def suite_digest(tasks: Iterable[Task]) -> str:
    """SHA-256 over the digests of all rows, whatever their order."""
    return digest_of_rows((task.task_id, task_digest(task)) for task in tasks)


def digest_of_rows(rows: Iterable[tuple[str, str]]) -> str:
    """The same, from task ids and the digests of their rows."""
    return digest_of(sorted(rows))


def run_id(name: str, spec: EvalRunSpec, suite_digest: str, versions: Mapping[str, str]) -> str:
    """Name of a run on one machine: the same name for the same work, so that repeating a command resumes it.

    Args:
        name: Name of the EvalRun.
        spec: The spec with its models written out (`documents.inlined`): a changed EvalModel is another run. `suspend`
            and `budget` may change in a run and make no other; `notify` decides no score.
        suite_digest: Digest of the tasks selected.
        versions: What else decides a score, by name: the version of opsgym, digests of seed files.

    Raises:
        ValueError: A model is only named.
    """
    named = [entry.name for entry in spec.models if entry.inline is None]
    if named:
        raise ValueError(f"models must be written out, these are only named: {', '.join(named)}")
    content = spec.model_dump(mode="json", by_alias=True, exclude={"suspend", "budget", "notify"})
    return f"{name}.{digest_of({'spec': content, 'suite': suite_digest, 'versions': dict(versions)})[:12]}"
