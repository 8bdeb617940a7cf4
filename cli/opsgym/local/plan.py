"""The trials of a run by what local mode does with them, given what its store holds.

Invariant: every trial of the run is in exactly one group: it has a score, it cannot run, or it is pending. The same
inputs and the same store give the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from opsgym.local.inputs import RowProblem, RunInputs
from opsgym_api.jobs.job_spec import UNREAD_DOMAIN
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialId
from opsgym_api.records.outcomes import ConfigReason, Outcome
from opsgym_core.planning.cells import plan_cells
from opsgym_core.planning.rounds import first_trials
from opsgym_core.planning.trials import PlannedTrial, plan_trials


@dataclass(frozen=True)
class PriorState:
    """Results of a run that earlier invocations left in its store."""

    scored: frozenset[TrialId] = frozenset()
    """Trials that have a score."""
    latest: Mapping[TrialId, AttemptRecord] = field(default_factory=dict)
    """Last attempt of each trial that was attempted and has no score."""


@dataclass(frozen=True)
class UnrunnableTrial:
    """A trial that will not run in this invocation, and the outcome it is recorded with."""

    cell: Cell
    task_id: str
    trial: int
    outcome: Outcome
    reason: str
    message: str

    @property
    def key(self) -> TrialId:
        """Identity of the trial in the run."""
        return TrialId(self.cell.key, self.task_id, self.trial)


@dataclass(frozen=True)
class LocalPlan:
    """The trials of a run, grouped by what this invocation does with them."""

    cells: Sequence[tuple[Cell, Sequence[str]]]
    """Cells with the ids of their tasks, in the order of the spec."""
    trials: int
    """Trials of each task in each cell."""
    pending: Sequence[PlannedTrial]
    """Trials to run, in the order in which they start."""
    unrunnable: Sequence[UnrunnableTrial]
    """Trials of rows that cannot run."""

    def from_trial(self, number: int) -> LocalPlan:
        """The plan without what was settled in earlier rounds: trials with lower numbers."""
        return replace(
            self,
            pending=[planned for planned in self.pending if planned.trial >= number],
            unrunnable=[trial for trial in self.unrunnable if trial.trial >= number],
        )

    @property
    def trials_by_cell(self) -> Mapping[Cell, int]:
        """Number of trials of each cell."""
        return {cell: len(task_ids) * self.trials for cell, task_ids in self.cells}

    @property
    def total(self) -> int:
        """Number of trials of the run."""
        return sum(self.trials_by_cell.values())

    @property
    def scored(self) -> int:
        """Number of trials that have a score."""
        return self.total - len(self.pending) - len(self.unrunnable)


def plan_local(inputs: RunInputs, prior: PriorState, trials: int | None = None) -> LocalPlan:
    """Plans an invocation of a run, or its next round.

    Args:
        inputs: The run.
        prior: Results of earlier invocations.
        trials: Trials of each task that are planned so far; None for those of the first round.
    """
    spec = inputs.spec
    cells = plan_cells(spec, inputs.tasks)
    unreadable_cells = _cells_of_unreadable_rows(inputs)
    trials = trials or first_trials(spec)
    unscored = plan_trials(cells, trials, prior.scored)
    problems = inputs.unrunnable
    return LocalPlan(
        cells=[
            *((plan.cell, [task.task_id for task in plan.tasks]) for plan in cells),
            *((cell, list(inputs.unreadable)) for cell in unreadable_cells),
        ],
        trials=trials,
        pending=[planned for planned in unscored if planned.task.task_id not in problems],
        unrunnable=[
            *(
                _unrunnable(planned.cell, planned.task.task_id, planned.trial, problems[planned.task.task_id])
                for planned in unscored
                if planned.task.task_id in problems
            ),
            *_trials_of_unreadable_rows(inputs, unreadable_cells, trials),
        ],
    )


def _cells_of_unreadable_rows(inputs: RunInputs) -> list[Cell]:
    """Cells for the trials of rows that cannot be read; their domain is not known, everything else is."""
    if not inputs.unreadable:
        return []
    spec = inputs.spec
    return [
        Cell(model=model.name, agent=agent.name, mode=mode.value, domain=UNREAD_DOMAIN)
        for model, agent, mode in product(spec.models, spec.agents, spec.suite.modes)
    ]


def _trials_of_unreadable_rows(inputs: RunInputs, cells: Sequence[Cell], trials: int) -> Iterator[UnrunnableTrial]:
    for cell, (task_id, message), trial in product(cells, inputs.unreadable.items(), range(trials)):
        yield _unrunnable(cell, task_id, trial, RowProblem(ConfigReason.INVALID_ROW, message))


def _unrunnable(cell: Cell, task_id: str, trial: int, problem: RowProblem) -> UnrunnableTrial:
    return UnrunnableTrial(cell, task_id, trial, Outcome.CONFIG_ERROR, problem.reason.value, problem.message)
