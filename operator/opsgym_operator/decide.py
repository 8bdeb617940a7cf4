"""What should be done now for every EvalRun of a namespace.

Invariant: a function of its arguments. Planned again from the same observation it says the same, so an operator may die
anywhere; planned from what its own deeds lead to, it comes to an end.

One call plans the whole namespace: models are shared by its runs, and two plans made apart would hand out a free slot
twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias, TypeVar

from opsgym_api.errors import Problem
from opsgym_api.figures import dollars, percent
from opsgym_api.gate import judge
from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Control
from opsgym_operator.accept import Accepted, accept, ceiling_of
from opsgym_operator.chunks import Grant, LaneWork, grant_slots, used_slots
from opsgym_operator.config import OperatorConfig
from opsgym_operator.desired import Desired, Event, Manifest, Need, ObjectRef
from opsgym_operator.names import ANNOTATION_CELL
from opsgym_operator.notices import with_notices
from opsgym_operator.observed import ObservedJob, ObservedNamespace, ObservedPod, ObservedRun
from opsgym_operator.pods import any_running, in_trouble, patience, refused, unschedulable
from opsgym_operator.preflight import prepare
from opsgym_operator.status import Reason, Situation, Verdict, is_finished, status_of, told
from opsgym_operator.work import Work

LOOK_AGAIN_S = 30.0
"""Between two plans of a run that is under way, should no event come."""
SPEND_AGAIN_S = 5.0
"""The same for a run with a budget: what its episodes have spent is looked at in every plan."""
STORE_AGAIN_S = 10.0
"""Until a store that could not be reached is tried again."""

_OPEN = Control()
"""What pods take an absent `control.json` for."""

Slots: TypeAlias = tuple[str, str]
"""Whose slots: an EvalModel (`"", its name`), or a model that one run writes out (`uid of the run, name in it`)."""


@dataclass
class _Turn:
    """One run while the namespace is planned."""

    run: ObservedRun
    situation: Situation | None = None
    desired: Desired = field(default_factory=Desired)
    accepted: Accepted | None = None
    work: Work | None = None
    """None unless the run is frozen and its trials can be planned."""
    grants: list[tuple[LaneWork, Grant]] = field(default_factory=list)


def plan(namespace: ObservedNamespace, config: OperatorConfig, now: datetime, version: str) -> dict[str, Desired]:
    """What should be done for each EvalRun, by its uid; nothing for those that are being deleted.

    Args:
        namespace: What was seen.
        config: The operator's configuration.
        now: The time, with its zone.
        version: Version of opsgym, for `run.json`.
    """
    runs = sorted((run for run in namespace.runs if not run.deleting), key=lambda run: (run.created_at, run.uid))
    jobs, pods = _by_run(namespace.jobs), _by_run(namespace.pods)
    turns = []
    for run in runs:
        turn = _Turn(run)
        if is_finished(run):
            turn.desired = _expiring(run, now)
        else:
            _begin(turn, namespace, tuple(jobs[run.uid]), tuple(pods[run.uid]), config, now, version)
        turns.append(turn)
    _hand_out_slots([turn for turn in turns if turn.work], namespace)
    return {turn.run.uid: with_notices(turn.run, _end(turn, config, now), config, now) for turn in turns}


_Item = TypeVar("_Item", ObservedJob, ObservedPod)


def _by_run(items: Sequence[_Item]) -> defaultdict[str, list[_Item]]:
    found: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        found[item.run_uid].append(item)
    return found


def _begin(
    turn: _Turn,
    namespace: ObservedNamespace,
    jobs: tuple[ObservedJob, ...],
    pods: tuple[ObservedPod, ...],
    config: OperatorConfig,
    now: datetime,
    version: str,
) -> None:
    """Everything about a run that no other run has a part in."""
    run = turn.run
    accepted = accept(run, namespace, config)
    if isinstance(accepted, Situation):
        turn.situation = accepted
        return
    turn.accepted = accepted
    if run.stored is None:
        turn.desired = Desired(needs=frozenset({Need.STORED}), again_s=STORE_AGAIN_S)
        turn.situation = _store_trouble(run, pods)
    elif run.stored.record is not None:
        turn.work = Work(run, accepted, run.stored, jobs, pods, now)
    elif run.store_trouble:
        turn.situation, turn.desired = _store_trouble(run, pods), Desired(again_s=STORE_AGAIN_S)
    else:
        turn.situation, turn.desired = prepare(run, accepted, pods, config, now, version)


def _store_trouble(run: ObservedRun, pods: Sequence[ObservedPod]) -> Situation | None:
    if not run.store_trouble:
        return None
    return Situation(Reason.STORE_UNREACHABLE, run.store_trouble, progressing=any_running(pods))


def _expiring(run: ObservedRun, now: datetime) -> Desired:
    """A finished run: nothing is left to do but to delete it in its time."""
    seconds, ended = run.spec.ttl_seconds_after_finished if run.spec else None, run.status.finished_at
    if seconds is None or ended is None:
        return Desired()
    left = seconds - (now - ended).total_seconds()
    return Desired(again_s=left) if left > 0 else Desired(delete=(ObjectRef("EvalRun", run.name),))


# Slots


def _hand_out_slots(turns: Sequence[_Turn], namespace: ObservedNamespace) -> None:
    taken = _taken(namespace)
    ceilings: dict[Slots, int] = {}
    asking: defaultdict[Slots, list[tuple[_Turn, int, LaneWork]]] = defaultdict(list)
    for turn in turns:
        if turn.work is None or turn.accepted is None:
            continue
        entries = {entry.name: entry for entry in turn.accepted.spec.models}
        for used, work in turn.work.lanes:
            entry = entries[work.lane.cell.model]
            slots = _slots(turn.run.uid, entry.ref or "", entry.name)
            ceilings[slots] = ceiling_of(entry, turn.accepted, namespace)
            asking[slots].append((turn, used, work))
    order = {turn.run.uid: number for number, turn in enumerate(turns)}
    for slots, lanes in asking.items():
        works = [(order[turn.run.uid], used, work) for turn, used, work in lanes]
        for (turn, _, work), grant in zip(lanes, grant_slots(ceilings[slots], taken[slots], works), strict=True):
            turn.grants.append((work, grant))


def _slots(run_uid: str, eval_model: str, model: str) -> Slots:
    return ("", eval_model) if eval_model else (run_uid, model)


def _taken(namespace: ObservedNamespace) -> defaultdict[Slots, int]:
    """Pods that each model may have at any moment, those of runs and Jobs that are gone included."""
    taken: defaultdict[Slots, int] = defaultdict(int)
    jobs = {job.name for job in namespace.jobs}
    pods: defaultdict[str, int] = defaultdict(int)
    for pod in namespace.pods:
        pods[pod.job] += 1
        if pod.job not in jobs:
            taken[_slots(pod.run_uid, pod.eval_model, pod.model)] += 1
    for job in namespace.jobs:
        taken[_slots(job.run_uid, job.eval_model, job.model)] += used_slots(job, pods[job.name])
    return taken


# What is to be done, and said


def _end(turn: _Turn, config: OperatorConfig, now: datetime) -> Desired:
    """A run's plan with the status that goes with it."""
    if turn.work is not None and turn.accepted is not None:
        turn.situation, turn.desired = _carry_on(turn, turn.work, config, now)
    if turn.situation is None:
        return turn.desired
    run, work = turn.run, turn.work
    judged = work is not None and turn.situation.ended
    figures = work.figures if work else None
    gate = _gate(run, work if judged else None)
    status = status_of(run, turn.situation, figures, gate, _results(turn), now)
    events = (*turn.desired.events, *told(run.status, status))
    return replace(turn.desired, status=None if status == run.status else status, events=events)


def _results(turn: _Turn) -> str | None:
    if turn.work is None or turn.accepted is None:
        return None
    return f"{turn.accepted.store.url.rstrip('/')}/{RunKeys(turn.run.id).root.rstrip('/')}"


def _carry_on(turn: _Turn, work: Work, config: OperatorConfig, now: datetime) -> tuple[Situation, Desired]:
    """A frozen run: its gate, its Jobs, and what is so of it."""
    run = turn.run
    records, more = ([], False) if run.store_trouble else work.written_off()
    granted = any(grant.completions or grant.patches for _, grant in turn.grants)
    situation = _situation(work, config, now, done=work.done and not records, granted=granted)
    if situation.ended and (step := _judge(work, now)) is not None:
        return step
    created = work.created(turn.grants, config)
    patches = [patch for _, grant in turn.grants for patch in grant.patches]
    changes = work.control != (work.stored.control or _OPEN) and not run.store_trouble
    return situation, Desired(
        control=work.control if changes else None,
        records=tuple(records),
        create=tuple(created),
        patches=tuple(work.suspended() if work.accepted.spec.suspend else patches),
        delete=tuple(work.discarded()),
        events=(*_told_of_gate(work, changes=changes), *_told_of_jobs(created)),
        again_s=_again(work, now, more=more, ended=situation.ended),
    )


def _judge(work: Work, now: datetime) -> tuple[Situation, Desired] | None:
    """What is left to do until a run may end whose trials have; None if what its gate says is in the store.

    Status tells of it only then: once it says that a run has ended, nothing of the run is done any more.
    """
    run, gate = work.run, work.accepted.spec.gate
    if gate is None:
        return None
    if gate.max_regression is not None and run.baseline is None:
        needs = frozenset({Need.BASELINE})
        return Situation(Reason.RUNNING, "looks for the gate's baseline"), Desired(needs=needs, again_s=STORE_AGAIN_S)
    record = judge(gate, work.standing, run.baseline).record(run.id, now.isoformat().replace("+00:00", "Z"))
    before = work.stored.gate
    if before is not None and before == record.model_copy(update={"decided_at": before.decided_at}):
        return None
    if (trouble := _store_trouble(run, work.pods)) is not None:
        return trouble, Desired(again_s=STORE_AGAIN_S)
    return Situation(Reason.RUNNING, "every trial has ended; the gate is judged"), Desired(gate=record, again_s=0.0)


def _situation(work: Work, config: OperatorConfig, now: datetime, *, done: bool, granted: bool) -> Situation:
    """What is so of a frozen run: the first of these that is.

    Args:
        work: The run.
        config: The operator's configuration.
        now: The time.
        done: Whether every trial is accounted for.
        granted: Whether it has just got slots.
    """
    spec, pods = work.accepted.spec, work.pods
    return (
        (_ended(work) if done else None)
        or _store_trouble(work.run, pods)
        or (_suspended(work) if spec.suspend else None)
        or _order_gone(work)
        or in_trouble(pods)
        or _breaker(work, now)
        or refused(work.live, pods, config.pods.service_account_name, now)
        or unschedulable(pods, spec.limits.pending_seconds, now)
        or (None if granted else _waiting(work))
        or Situation(Reason.RUNNING if work.jobs else Reason.STARTING)
    )


def _ended(work: Work) -> Situation:
    tally, cost = work.tally, dollars(work.book.cost_usd)
    told = f"{tally.scored} of {tally.total} trials are scored"
    if not tally.scored:
        return Situation(Reason.NOTHING_SCORED, f"{told}: {_not_scored(tally.counters)}; spent {cost}")
    told = f"{told}, {percent(work.book.success)} success, spent {cost}"
    if tally.budget_skipped:
        return Situation(
            Reason.BUDGET_SPENT, f"{told}; {_not_scored(tally.counters)}: raise spec.budget.maxUsd to go on"
        )
    return Situation(Reason.COMPLETE, f"{told}; {_not_scored(tally.counters)}" if tally.not_scored else told)


def _not_scored(counters: Mapping[str, int]) -> str:
    ends = (Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR, Outcome.BUDGET_SKIPPED)
    return ", ".join(f"{counters[end]} {end}" for end in ends if counters[end])


def _suspended(work: Work) -> Situation:
    ending = f"; {len(work.pods)} pods are ending" if work.pods else ""
    return Situation(Reason.SUSPENDED, f"spec.suspend is true; {work.tally.pending} trials are left{ending}")


def _order_gone(work: Work) -> Situation | None:
    if not work.lost:
        return None
    name = work.lost[0].name
    message = f"ConfigMap {name} is gone, and Job {name} cannot go on; delete the Job, and its trials are planned anew"
    return Situation(Reason.ORDER_GONE, message, progressing=any_running(work.pods))


def _breaker(work: Work, now: datetime) -> Situation | None:
    breaker = work.book.breaker
    if not breaker.open(now.timestamp()):
        return None
    cause = breaker.cause
    return Situation(Reason.BREAKER_OPEN, f"{cause.reason}: {cause.message}", progressing=False)


def _waiting(work: Work) -> Situation | None:
    if work.live and all(job.queued and job.suspended for job in work.live):
        queue = work.accepted.spec.queue_name
        return Situation(Reason.WAITING_FOR_QUEUE, f"LocalQueue {queue} has not admitted its Jobs")
    asking = [lane.lane.cell.model for _, lane in work.lanes if lane.wants]
    if asking and not work.pods and not any(work.slots.values()):
        models = ", ".join(dict.fromkeys(asking))
        return Situation(Reason.WAITING_FOR_MODEL, f"other runs use all slots of {models}")
    return None


def _gate(run: ObservedRun, work: Work | None) -> Verdict | None:
    """What the run's gate says; None if it has none.

    Args:
        run: The run.
        work: Its trials if it has ended.
    """
    if run.spec is None or run.spec.gate is None:
        return None
    found = work.stored.gate if work else None
    if found is None:
        return Verdict("GatePassed", "Unknown", Reason.NOT_FINISHED)
    told = "; ".join(check.told for check in found.checks if check.verdict == found.verdict)
    if found.verdict == "GO":
        return Verdict("GatePassed", "True", Reason.GATE_HOLDS, told)
    if found.verdict == "INCONCLUSIVE":
        return Verdict("GatePassed", "Unknown", Reason.GATE_INCONCLUSIVE, told)
    reason = Reason.BASELINE_NOT_FOUND if isinstance(run.baseline, Problem) else Reason.GATE_BROKEN
    return Verdict("GatePassed", "False", reason, told)


def _again(work: Work, now: datetime, *, more: bool, ended: bool) -> float | None:
    if more:
        return 0.0
    if ended:
        return None
    # Episodes that spend are asked what they have spent: the gate is to close while they can still stop.
    watched = work.reserved.trials > 0 and work.accepted.spec.budget is not None
    waits = [SPEND_AGAIN_S if watched else LOOK_AGAIN_S]
    at = now.timestamp()
    if work.book.breaker.open(at):
        waits.append(work.book.breaker.closes_in(at))
    left = patience(work.pods, work.accepted.spec.limits.pending_seconds, now)
    if left is not None:
        waits.append(left)
    return min(waits)


def _told_of_gate(work: Work, *, changes: bool) -> list[Event]:
    if not changes or not work.budget_closed:
        return []
    spent = dollars(work.book.spent)
    return [Event("Normal", "BudgetClosed", f"nothing more starts: {spent} of the budget is spent, the rest reserved")]


def _told_of_jobs(created: Sequence[Manifest]) -> list[Event]:
    jobs = [item for item in created if item["kind"] == "Job"]
    if not jobs:
        return []
    trials = sum(job["spec"]["completions"] for job in jobs)
    cells = list(dict.fromkeys(job["metadata"]["annotations"][ANNOTATION_CELL] for job in jobs))
    named = ", ".join(cells[:3]) + (f" and {len(cells) - 3} more cells" if len(cells) > 3 else "")
    return [Event("Normal", "JobsCreated", f"{len(jobs)} Jobs for {trials} trials of {named}")]
