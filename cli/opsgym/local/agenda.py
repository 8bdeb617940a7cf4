"""What is left to do in a run, given what the store holds of it.

Invariant: every trial of the run is in exactly one place: it has a score, it cannot run, or it is pending. The same
inputs and the same store give the same agenda.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from opsgym.local.inputs import Inputs, Refusal
from opsgym_api.orders import UNREAD_DOMAIN
from opsgym_api.outcomes import ConfigReason, Outcome
from opsgym_api.records import AttemptRecord, Cell
from opsgym_operator.plan import CellPlan, PlannedTrial, TrialKey, plan_cells, plan_trials


@dataclass(frozen=True)
class Before:
    """What earlier invocations left in the store."""

    scored: Mapping[TrialKey, Outcome] = field(default_factory=dict)
    latest: Mapping[TrialKey, AttemptRecord] = field(default_factory=dict)
    """Last attempt of each trial that has no score."""
    attempts: Mapping[TrialKey, int] = field(default_factory=dict)
    """Number of the next attempt."""
    spent: Mapping[TrialKey, float | None] = field(default_factory=dict)
    """Dollars; None where they are not known."""


@dataclass(frozen=True)
class Doomed:
    """A trial that will not run, and why."""

    cell: Cell
    task_id: str
    trial: int
    attempt: int
    outcome: Outcome
    reason: str
    message: str

    @property
    def key(self) -> TrialKey:
        """What its score would be stored under."""
        return self.cell.key, self.task_id, self.trial


@dataclass(frozen=True)
class Agenda:
    """The trials of a run."""

    cells: Sequence[tuple[Cell, Sequence[str]]]
    """Cells with the ids of their tasks, in the order of the plan."""
    trials: int
    """Trials of each task."""
    scored: Sequence[tuple[Cell, Outcome]]
    """Trials that have a score."""
    pending: Sequence[PlannedTrial]
    """Trials to run, in order."""
    doomed: Sequence[Doomed]
    """Trials of rows that cannot run."""

    @property
    def total(self) -> int:
        """Trials in all."""
        return sum(len(task_ids) for _, task_ids in self.cells) * self.trials


def plan_agenda(inputs: Inputs, before: Before) -> Agenda:
    """The trials of a run, by what can be done with each."""
    spec = inputs.spec
    cells = plan_cells(spec, inputs.tasks)
    unscored = plan_trials(cells, spec.trials, before.scored)
    read = [(plan.cell, [task.task_id for task in plan.tasks]) for plan in cells]
    return Agenda(
        cells=[*read, *((cell, list(inputs.unread)) for cell in _unread_cells(inputs))],
        trials=spec.trials,
        scored=list(_scored(cells, spec.trials, before)),
        pending=[planned for planned in unscored if planned.task.task_id not in inputs.refused],
        doomed=[*_refused(inputs, unscored, before), *_unread(inputs, before)],
    )


def _scored(cells: Sequence[CellPlan], trials: int, before: Before) -> Iterator[tuple[Cell, Outcome]]:
    for plan in cells:
        for task, trial in product(plan.tasks, range(trials)):
            outcome = before.scored.get((plan.cell.key, task.task_id, trial))
            if outcome is not None:
                yield plan.cell, outcome


def _refused(inputs: Inputs, unscored: Sequence[PlannedTrial], before: Before) -> Iterator[Doomed]:
    for planned in unscored:
        refusal = inputs.refused.get(planned.task.task_id)
        if refusal is not None:
            yield _doomed(planned.cell, planned.task.task_id, planned.trial, before, refusal)


def _unread_cells(inputs: Inputs) -> list[Cell]:
    """Cells of the rows that could not be read: their domain is not known, everything else is."""
    if not inputs.unread:
        return []
    spec = inputs.spec
    return [
        Cell(model=model.name, agent=agent.name, mode=mode.value, domain=UNREAD_DOMAIN)
        for model, agent, mode in product(spec.models, spec.agents, spec.suite.modes)
    ]


def _unread(inputs: Inputs, before: Before) -> Iterator[Doomed]:
    for cell, (task_id, message), trial in product(
        _unread_cells(inputs), inputs.unread.items(), range(inputs.spec.trials)
    ):
        yield _doomed(cell, task_id, trial, before, Refusal(ConfigReason.INVALID_ROW, message))


def _doomed(cell: Cell, task_id: str, trial: int, before: Before, refusal: Refusal) -> Doomed:
    attempt = before.attempts.get((cell.key, task_id, trial), 0)
    return Doomed(cell, task_id, trial, attempt, Outcome.CONFIG_ERROR, refusal.reason.value, refusal.message)
