"""How a run stands. Pure: rows, the cluster's word and a time in, a few words out.

Invariant: a run is called live only while somebody may be working on it, and complete only if nothing of it can change.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from opsgym.console.evalruns import ClusterRun
from opsgym_api.records import GateRecord
from opsgym_api.rows import AttemptRow, RunRows, TrialRow
from opsgym_api.scores import PENDING, Score

State = Literal["waiting", "running", "stalled", "stopped", "finished"]
"""Not begun; somebody works on it; somebody has to mend something; ended early, goes on when told to; ended."""

QUIET = timedelta(minutes=15)
"""A run on one machine whose records have not changed for so long has been stopped: a record is written at every step,
and a step takes longer only if a model does."""

_ENDED = frozenset({"Complete", "Failed"})
"""Phases of an EvalRun after which nothing happens."""
_PHASES: dict[str, State] = {
    "Pending": "waiting", "Preflight": "waiting", "Waiting": "waiting", "Suspended": "stopped", "Stalled": "stalled",
}  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """How a run stands."""

    state: State
    running: int
    """Attempts that are under way."""
    complete: bool
    """Whether all trials have a score and the gate, if there is one, has decided."""
    message: str
    """The same for people; empty where there is nothing to say."""

    @property
    def live(self) -> bool:
        """Whether trials may still end without anybody doing anything."""
        return self.state not in {"finished", "stopped"}


def standing(
    rows: RunRows, total: Score, gate: GateRecord | None, evalrun: ClusterRun | None, now: datetime, *, in_cluster: bool
) -> Standing:
    """How a run stands.

    Args:
        rows: What its store holds.
        total: Their score.
        gate: What its gate says.
        evalrun: The EvalRun that it is of, if there is one.
        now: The time.
        in_cluster: Whether runs here are a cluster's, so that one without an EvalRun is over.
    """
    pending = total.not_scored.get(PENDING, 0)
    judged = gate is not None or not rows.run.spec.get("gate")
    complete = total.scored == total.total and judged
    if in_cluster:
        state = cluster_state(evalrun) if evalrun else "stopped" if pending else "finished"
        message = evalrun.message if evalrun else ""
        return Standing(state, len(_open(rows)) if state == "running" else 0, complete, message)
    if not pending:
        return Standing("finished", 0, complete, "")
    if now - _last_word(rows) > QUIET:
        message = f"{_trials(pending)} left; the same `opsgym run` command goes on with them"
        return Standing("stopped", 0, complete, message)
    running = len(_open(rows))
    waiting = pending - running
    message = f"{_trials(running)} running" + (f", {waiting} waiting" if waiting > 0 else "")
    return Standing("running", running, complete, message)


def cluster_state(evalrun: ClusterRun) -> State:
    """How an EvalRun stands, by its phase."""
    if evalrun.phase in _ENDED:
        return "finished"
    return _PHASES.get(evalrun.phase, "running")


def _open(rows: RunRows) -> list[AttemptRow]:
    """The last attempt of each trial without a score, where it is not over."""
    found: list[AttemptRow] = []
    for cell in rows.cells:
        scored = {(row.task_id, row.trial) for row in cell.trials}
        last = {(row.task_id, row.trial): row for row in cell.attempts}  # rows are in the order of their numbers
        found += [row for place, row in last.items() if row.outcome is None and place not in scored]
    return found


def _last_word(rows: RunRows) -> datetime:
    """When a record was last written, as far as records tell."""
    times = [_time(rows.run.created_at)]
    times += [_ended_at(row) for cell in rows.cells for row in cell.all]
    return max(times)


def _ended_at(row: TrialRow | AttemptRow) -> datetime:
    """When an attempt ended, or last said something."""
    return _time(row.timings.started_at) + timedelta(seconds=row.timings.total_s)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _trials(number: int) -> str:
    return f"{number} trial" if number == 1 else f"{number} trials"
