"""The quality gate of a run: GO, NO-GO or INCONCLUSIVE, once every trial has ended; of a run with rounds, also between
them.

Invariant: the verdict is in the store before the status reports that the run has ended; from then on nothing of the run
is done any more. A look is in the store before a trial of the next round is planned.
"""

from __future__ import annotations

from datetime import datetime

from opsgym_api.errors import Problem
from opsgym_core.common.clock import utc_text
from opsgym_core.gates.judge import judge
from opsgym_core.gates.looks import take_look
from opsgym_core.planning.rounds import due_look, rounds_text
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.desired import Desired, Event, Load
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.run_summary import STORE_RETRY_S, store_unreachable
from opsgym_operator.plan.status.status import ConditionUpdate, Reason, RunSummary

_BASELINE_UNREAD = (
    RunSummary(Reason.RUNNING, "reading the gate's baseline"),
    Desired(loads=frozenset({Load.BASELINE}), requeue_after_s=STORE_RETRY_S),
)
"""What is done before the baseline has been read."""


def look_between_rounds(progress: RunProgress, now: datetime) -> tuple[RunSummary, Desired] | None:
    """What is left to do before another round of a run, all trials of the current one have ended, may start or not.

    Returns:
        None if no look is due: the run has no further round, or it ends with trials that the budget skipped or that too
        many infrastructure errors lost.
    """
    run, gate, record = progress.run, progress.resolved.spec.gate, progress.stored.record
    look = due_look(record) if record else None
    if gate is None or look is None or progress.tally.budget_skipped:
        return None
    if gate.max_regression is not None and run.baseline is None:
        return _BASELINE_UNREAD
    taken = take_look(gate, progress.judged_run, run.baseline, look, utc_text(now))
    if taken is None:
        return None
    if (unreachable := store_unreachable(run, progress.pods)) is not None:
        return unreachable, Desired(requeue_after_s=STORE_RETRY_S)
    place = rounds_text(look, stopped=taken.stops, total=progress.tally.total)
    events = (Event("Normal", "RoundEnded", place),)
    return RunSummary(Reason.RUNNING, place), Desired(look=taken, events=events, requeue_after_s=0.0)


def judge_gate(progress: RunProgress, now: datetime) -> tuple[RunSummary, Desired] | None:
    """What is left to do before a run whose trials have ended may end; None if its verdict is in the store."""
    run, gate = progress.run, progress.resolved.spec.gate
    if gate is None:
        return None
    if gate.max_regression is not None and run.baseline is None:
        return _BASELINE_UNREAD
    record = judge(gate, progress.judged_run, run.baseline).record(run.id, utc_text(now))
    stored = progress.stored.gate
    if stored is not None and stored == record.model_copy(update={"decided_at": stored.decided_at}):
        return None
    if (unreachable := store_unreachable(run, progress.pods)) is not None:
        return unreachable, Desired(requeue_after_s=STORE_RETRY_S)
    return RunSummary(Reason.RUNNING, "every trial has ended; judging the gate"), Desired(
        gate=record, requeue_after_s=0.0
    )


def gate_condition(run: ObservedRun, progress: RunProgress | None) -> ConditionUpdate | None:
    """Condition `GatePassed`; None if the run has no gate.

    Args:
        run: The run.
        progress: Its progress if it has ended, else None.
    """
    if run.spec is None or run.spec.gate is None:
        return None
    record = progress.stored.gate if progress else None
    if record is None:
        return ConditionUpdate("GatePassed", "Unknown", Reason.NOT_FINISHED)
    message = "; ".join(check.message for check in record.checks if check.verdict == record.verdict)
    if record.verdict == "GO":
        return ConditionUpdate("GatePassed", "True", Reason.GATE_PASSED, message)
    if record.verdict == "INCONCLUSIVE":
        return ConditionUpdate("GatePassed", "Unknown", Reason.GATE_INCONCLUSIVE, message)
    reason = Reason.BASELINE_NOT_FOUND if isinstance(run.baseline, Problem) else Reason.GATE_FAILED
    return ConditionUpdate("GatePassed", "False", reason, message)
