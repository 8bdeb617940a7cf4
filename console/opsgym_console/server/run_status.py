"""State of a run, derived from its records, its EvalRun and the time. Pure.

Invariant: a run counts as live only while trials may still end without a user's intervention, and as complete only if
nothing about it can change.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from opsgym_api.records.attempt import Attempt
from opsgym_api.records.gate import GateRecord
from opsgym_console.server.evalruns import ClusterRun
from opsgym_core.planning.rounds import due_look
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import PENDING, Score

State = Literal["waiting", "running", "stalled", "stopped", "finished"]
"""Not started; running; needs a user's intervention; ended before all trials, can be resumed; ended."""

QUIET = timedelta(minutes=15)
"""A local run whose records have not changed for so long counts as stopped: a record is written at every step, and a
step takes longer only if a model does."""

_FINAL_PHASES = frozenset({"Complete", "Failed"})
_STATES: dict[str, State] = {
    "Pending": "waiting", "Preflight": "waiting", "Waiting": "waiting", "Suspended": "stopped", "Stalled": "stalled",
}  # fmt: skip
"""By phase of an EvalRun; other phases are `running`."""


@dataclass(frozen=True)
class RunStatus:
    """State of a run."""

    state: State
    running: int
    """Attempts in progress."""
    complete: bool
    """Whether all trials have a score and the gate, if there is one, has a verdict."""
    message: str
    """Details for users; empty if there are none."""

    @property
    def live(self) -> bool:
        """Whether trials may still end without a user's intervention."""
        return self.state not in {"finished", "stopped"}


def run_status(
    rows: RunRows, total: Score, gate: GateRecord | None, evalrun: ClusterRun | None, now: datetime, *, in_cluster: bool
) -> RunStatus:
    """State of a run.

    Args:
        rows: The run's records.
        total: Their score.
        gate: Verdict of its gate; None if there is none yet.
        evalrun: Its EvalRun; None if it has none, or the EvalRun was deleted.
        now: The time.
        in_cluster: Whether runs of this store come from EvalRuns, so that one without an EvalRun has ended.
    """
    pending = total.not_scored.get(PENDING, 0)
    judged = gate is not None or not rows.run.spec.get("gate")
    complete = total.scored == total.total and judged
    if in_cluster:
        state = cluster_state(evalrun) if evalrun else "stopped" if pending else "finished"
        message = evalrun.message if evalrun else ""
        return RunStatus(state, len(_open_attempts(rows)) if state == "running" else 0, complete, message)
    between_rounds = gate is None and due_look(rows.run) is not None
    if not pending and not between_rounds:
        return RunStatus("finished", 0, complete, "")
    if now - _last_change(rows) > QUIET:
        left = f"{_trials(pending)} left" if pending else "its gate has not been judged"
        return RunStatus("stopped", 0, complete, f"{left}; run the same `opsgym run` command to resume")
    running = len(_open_attempts(rows))
    waiting = pending - running
    message = f"{_trials(running)} running" + (f", {waiting} waiting" if waiting > 0 else "")
    return RunStatus("running", running, complete, message)


def cluster_state(evalrun: ClusterRun) -> State:
    """State of an EvalRun, by its phase."""
    if evalrun.phase in _FINAL_PHASES:
        return "finished"
    return _STATES.get(evalrun.phase, "running")


def _open_attempts(rows: RunRows) -> list[Attempt]:
    """The last attempt of each trial without a score, if it has not ended."""
    attempts: list[Attempt] = []
    for cell in rows.cells:
        scored = {(row.task_id, row.trial) for row in cell.trials}
        last = {(row.task_id, row.trial): row for row in cell.attempts}  # rows are in the order of their numbers
        attempts += [row for trial, row in last.items() if row.outcome is None and trial not in scored]
    return attempts


def _last_change(rows: RunRows) -> datetime:
    """When a record was last written, as far as records say."""
    written = [_written_at(row) for cell in rows.cells for row in cell.all]
    return max([datetime.fromisoformat(rows.run.created_at), *written])


def _written_at(row: Attempt) -> datetime:
    return datetime.fromisoformat(row.timings.started_at) + timedelta(seconds=row.timings.total_s)


def _trials(number: int) -> str:
    return f"{number} trial" if number == 1 else f"{number} trials"
