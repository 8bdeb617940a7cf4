"""The start gate of a run (`control.json`): whether episodes may start, and whether running ones may continue.

Invariant: what may still be spent is reserved when a trial is planned, not when its pod starts, because pods start
without asking the operator. With `n` trials planned, `seen` the largest cost known when the last of them was planned,
and `largest` the largest cost of any trial in the end: final spend <= cap + largest + n * (largest - seen). See
`opsgym_core.planning.budget`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from opsgym_api.records.run import Control
from opsgym_core.planning.budget import affordable_trials, budget_gate
from opsgym_operator.plan.run.progress import RunProgress

OPEN = Control()
"""Pods treat an absent `control.json` as this."""


def start_gate(progress: RunProgress, now: datetime) -> Control:
    """The start gate as it should be."""
    if progress.resolved.spec.suspend:
        return Control(start=False, proceed=False, reason="suspended")
    gate = _budget_gate(progress)
    if gate.start and progress.ledger.breaker.is_open(now.timestamp()):
        return Control(start=False, reason="breaker")
    stopped = sorted(progress.used_up_quotas(now)) if gate.start else []
    return gate.model_copy(update={"stopped": stopped}) if stopped else gate


def _budget_gate(progress: RunProgress) -> Control:
    """Whether running trials may continue, and whether the trial that was planned last may still start.

    The trials planned before that one may start too; no further ones are planned. The spend of a trial in flight is
    part of its reservation, hence it is subtracted.
    """
    budget, ledger, reserved = progress.resolved.spec.budget, progress.ledger, progress.reserved
    gate = budget_gate(budget, ledger.booked, 0, 0.0)
    last = budget_gate(budget, ledger.booked - reserved.spent, max(0, reserved.trials - 1), ledger.largest)
    return last if gate.proceed and not last.start else gate


def budget_closed(gate: Control) -> bool:
    """Whether the budget lets no further trial start."""
    return gate.reason == "budget"


def affordable(progress: RunProgress, pending: Sequence[int]) -> Sequence[int]:
    """How many of the pending trials of each pod group the budget allows, shared evenly among the groups."""
    budget, ledger = progress.resolved.spec.budget, progress.ledger
    if budget is None:
        return pending
    if ledger.largest == 0:
        return pending if ledger.booked < budget.max_usd else [0] * len(pending)
    planned, spent = progress.reserved.trials, ledger.booked - progress.reserved.spent
    allowed = affordable_trials(budget, spent, ledger.largest, sum(pending) + planned)
    return shared_evenly(allowed - planned, pending)


def shared_evenly(total: int, demands: Sequence[int]) -> Sequence[int]:
    """Shares that differ by at most one, except where less is asked for; earlier ones are the larger."""
    left, level = max(0, total), 0
    for number, most in enumerate(ordered := sorted(demands)):
        further = min(most - level, left // (len(ordered) - number))
        level, left = level + further, left - further * (len(ordered) - number)
        if level < most:
            break
    shares = [min(most, level) for most in demands]
    for number, most in enumerate(demands):
        if left and most > level:
            shares[number], left = level + 1, left - 1
    return shares
