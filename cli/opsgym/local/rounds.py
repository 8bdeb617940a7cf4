"""Rounds of a local run: the look after each, and the plan of the next.

Invariant: a look is in the store before a trial of the next round starts, so that an invocation that is interrupted
anywhere goes on with the same trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from opsgym.local.inputs import RunInputs
from opsgym.local.plan import LocalPlan, plan_local
from opsgym.local.record import prior_state, with_records
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_core.gates.baseline import baseline_of
from opsgym_core.gates.judge import Baseline
from opsgym_core.gates.stored_run import look_at_stored_run
from opsgym_core.planning.rounds import due_look, rounds_text
from opsgym_core.results.load import load_rows
from opsgym_core.results.looks import put_look
from opsgym_core.results.score import summarise
from opsgym_core.store.base import Store
from opsgym_core.store.sealed import without_seal


@dataclass(frozen=True)
class RoundEnd:
    """What follows a round."""

    plan: LocalPlan | None
    """The next round; None if the run has no further one."""
    message: str
    """The look, for people."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of a run that may have further ones."""

    inputs: RunInputs
    store: Store
    baseline: Baseline | None
    """The run that the gate names as its baseline; None if it names none."""
    grow: Callable[[Mapping[Cell, int]], object]
    """Receives the number of trials of each cell when a round begins."""

    def end(self, records: Iterable[AttemptRecord]) -> RoundEnd | None:
        """Looks at a run of which every trial of the current round has ended. Blocks.

        Args:
            records: Last attempts of the trials that this invocation ran.

        Returns:
            None if no look is due, or too many trials were lost to infrastructure errors.

        Raises:
            InputError: A record that the look needs cannot be read.
            StoreError: The store cannot be read or written.
        """
        gate, run = self.inputs.spec.gate, self.inputs.run_id
        rows = with_records(load_rows(self.store, run), records)
        look = due_look(rows.run)
        if gate is None or look is None:
            return None
        clear = without_seal(self.store)  # for other runs, which the seed of this one does not open
        baseline = baseline_of(clear, gate, rows.run) if rows.run.looks else self.baseline
        summary = summarise(rows)
        taken = look_at_stored_run(gate, rows, summary, clear, baseline, look)
        if taken is None:
            return None
        record = put_look(self.store, rows.run, taken)
        message = rounds_text(look, stopped=record.stopped is not None, total=summary.total.total)
        if record.stopped is not None:
            return RoundEnd(None, message)
        plan = plan_local(self.inputs, prior_state(rows), record.trials).from_trial(look.trials)
        self.grow(plan.trials_by_cell)
        return RoundEnd(plan, f"{message}: undecided, up to {record.trials} trials of each task are played")
