"""The scheduler with attempts that tests end explicitly: no clock, no processes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.plans import make_attempt, make_cells

from opsgym.local.budget_gate import BudgetGate
from opsgym.local.scheduler import RETRY, Concurrency, Scheduler
from opsgym_api.kinds.evalrun import Budget
from opsgym_api.records.attempt import AttemptRecord, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import Control
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.planning.trials import PlannedTrial, plan_trials

EndAttempt = Callable[[PlannedTrial, int], AttemptRecord]


def passing(planned: PlannedTrial, attempt: int) -> AttemptRecord:
    return make_attempt(planned, attempt, Outcome.PASSED, cost_usd=1.0)


def infra_error(planned: PlannedTrial, attempt: int) -> AttemptRecord:
    return make_attempt(planned, attempt, Outcome.INFRA_ERROR, reason="gym_lost", message="gone")


class Observer:
    """Records what the scheduler reports."""

    def __init__(self) -> None:
        self.starts: list[TrialId] = []
        self.retry_delays: list[float] = []
        self.outcomes: dict[TrialId, Outcome | None] = {}

    def started(self, planned: PlannedTrial) -> None:
        self.starts.append(planned.key)

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        self.retry_delays.append(delay)

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        assert planned.key not in self.outcomes, "settled twice"
        self.outcomes[planned.key] = record.outcome


class Harness:
    """A scheduler with fake attempts, and what they did."""

    def __init__(
        self,
        end_attempt: EndAttempt = passing,
        *,
        ceilings: dict[str, int] | None = None,
        total: int = 8,
        infra_retries: int = 2,
        budget: float | None = None,
        sharing: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self.observer = Observer()
        self.ledger = AttemptLedger(infra_retries)
        self.attempts: list[tuple[TrialId, int]] = []
        self.running: Counter[str] = Counter()
        self.most_running: Counter[str] = Counter()
        self.controls: list[Control] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.retry_allowed = asyncio.Event()
        self.retry_allowed.set()
        self._end_attempt = end_attempt
        self.scheduler = Scheduler(
            self._attempt,
            Concurrency(ceilings or {"gold": 8, "other": 8}, total),
            self.ledger,
            BudgetGate(self.ledger, None if budget is None else Budget(max_usd=budget)),
            self.observer,
            self._publish,
            self._sleep,
            sharing or {},
        )

    async def _attempt(self, planned: PlannedTrial, number: int) -> AttemptRecord:
        self.attempts.append((planned.key, number))
        names = (planned.cell.model, "all")
        self.running.update(names)
        self.most_running |= self.running
        try:
            await asyncio.sleep(0)
            await self.may_end.wait()
        finally:
            self.running.subtract(names)
        record = self._end_attempt(planned, number)
        self.ledger.record(record)
        return record

    async def _publish(self, control: Control) -> None:
        self.controls.append(control)

    async def _sleep(self, delay: float) -> None:
        await self.retry_allowed.wait()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not condition():  # noqa: ASYNC110 - any condition, checked between steps of the event loop
                await asyncio.sleep(0)


def trials(tasks: int, *models: str, each: int = 1) -> list[PlannedTrial]:
    return plan_trials(make_cells(tasks, *models), each, frozenset())


def keys(planned: Sequence[PlannedTrial]) -> set[TrialId]:
    return {trial.key for trial in planned}


def test_every_trial_is_settled_once_with_its_first_attempt() -> None:
    async def scenario() -> None:
        harness = Harness()
        planned = trials(5, "gold", "other", each=2)
        assert await harness.scheduler.run(planned) == []
        assert harness.observer.outcomes == dict.fromkeys(keys(planned), Outcome.PASSED)
        assert sorted(harness.attempts) == sorted((key, 0) for key in keys(planned))

    asyncio.run(scenario())


def test_trials_start_in_the_order_of_the_plan() -> None:
    async def scenario() -> None:
        harness = Harness(total=2)
        planned = trials(4, "gold", "other")
        await harness.scheduler.run(planned)
        assert harness.observer.starts == [trial.key for trial in planned]

    asyncio.run(scenario())


@given(tasks=st.integers(1, 12), gold=st.integers(1, 5), other=st.integers(1, 5), total=st.integers(1, 8))
def test_no_ceiling_is_exceeded_and_none_is_left_unused(tasks: int, gold: int, other: int, total: int) -> None:
    async def scenario() -> None:
        harness = Harness(ceilings={"gold": gold, "other": other}, total=total)
        await harness.scheduler.run(trials(tasks, "gold", "other"))
        assert harness.most_running["gold"] <= gold
        assert harness.most_running["other"] <= other
        assert harness.most_running["all"] == min(total, min(gold, tasks) + min(other, tasks))

    asyncio.run(scenario())


def test_an_infra_error_is_retried_with_a_new_attempt_number_and_a_growing_delay() -> None:
    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        return (infra_error if attempt < 2 else passing)(planned, attempt)

    async def scenario() -> None:
        harness = Harness(end_attempt)
        (planned,) = trials(1)
        assert await harness.scheduler.run([planned]) == []
        assert harness.attempts == [(planned.key, 0), (planned.key, 1), (planned.key, 2)]
        assert harness.observer.retry_delays == [1.0, 2.0]
        assert harness.observer.outcomes == {planned.key: Outcome.PASSED}

    asyncio.run(scenario())


def test_a_trial_that_used_up_its_retries_does_not_stop_the_others() -> None:
    failing = trials(1)[0].key

    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        return (infra_error if planned.key == failing else passing)(planned, attempt)

    async def scenario() -> None:
        harness = Harness(end_attempt)
        await harness.scheduler.run(trials(3))
        assert [number for key, number in harness.attempts if key == failing] == [0, 1, 2]
        assert harness.observer.outcomes[failing] is Outcome.INFRA_ERROR
        assert Counter(harness.observer.outcomes.values()) == {Outcome.PASSED: 2, Outcome.INFRA_ERROR: 1}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("reason", "stopped"), [("model_quota", {"gold", "other"}), ("model_auth", {"gold"}), ("gym_lost", set())]
)
def test_a_used_up_quota_stops_every_model_of_its_account(reason: str, stopped: set[str]) -> None:
    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        if planned.cell.model == "gold":
            return make_attempt(planned, attempt, Outcome.INFRA_ERROR, reason=reason, message="no credit")
        return make_attempt(planned, attempt, Outcome.PASSED)

    async def scenario() -> None:
        harness = Harness(end_attempt, total=1, sharing={"gold": ["gold", "other"], "other": ["gold", "other"]})
        await harness.scheduler.run(trials(3, "gold", "other"))
        assert harness.scheduler.stopped.keys() == stopped

    asyncio.run(scenario())


@pytest.mark.parametrize("reason", ["model_quota", "model_auth", "model_unreachable"])
def test_an_error_of_every_attempt_stops_its_model_without_retries(reason: str) -> None:
    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        return make_attempt(planned, attempt, Outcome.INFRA_ERROR, reason=reason, message="no credit")

    async def scenario() -> None:
        harness = Harness(end_attempt, total=2)
        planned = trials(6)
        unstarted = await harness.scheduler.run(planned)
        assert [number for _, number in harness.attempts] == [0, 0]
        assert keys(unstarted) == keys(planned) - {key for key, _ in harness.attempts}
        assert harness.observer.outcomes.keys() == {key for key, _ in harness.attempts}
        assert [record.message for record in harness.scheduler.stopped.values()] == ["no credit"]

    asyncio.run(scenario())


def test_only_infra_errors_are_retried() -> None:
    async def attempts_of(outcome: Outcome) -> int:
        harness = Harness(lambda planned, attempt: make_attempt(planned, attempt, outcome))
        await harness.scheduler.run(trials(1))
        return len(harness.attempts)

    attempts = {outcome: asyncio.run(attempts_of(outcome)) for outcome in Outcome}
    assert attempts == {outcome: 3 if outcome is Outcome.INFRA_ERROR else 1 for outcome in Outcome}


def test_a_resumed_trial_continues_its_attempt_numbers_and_has_all_its_retries() -> None:
    async def scenario() -> None:
        (planned,) = trials(1)
        harness = Harness(infra_error, infra_retries=1)
        for number in range(4):
            harness.ledger.record(infra_error(planned, number))
        harness.ledger.reopen([planned.key])
        await harness.scheduler.run([planned])
        assert [number for _, number in harness.attempts] == [4, 5]

    asyncio.run(scenario())


def test_a_spent_budget_starts_no_further_trial_and_returns_the_rest() -> None:
    async def scenario() -> None:
        harness = Harness(ceilings={"gold": 1}, total=1, budget=2.5)
        planned = trials(5)
        skipped = await harness.scheduler.run(planned)
        assert [trial.key for trial in skipped] == [trial.key for trial in planned[3:]]
        assert harness.ledger.spent == 3.0
        assert harness.controls == [Control(), Control(start=False, proceed=False, reason="budget")]

    asyncio.run(scenario())


def test_trials_start_again_when_the_reservation_shrinks() -> None:
    dear = trials(1)[0].key

    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        return make_attempt(planned, attempt, Outcome.PASSED, cost_usd=4.0 if planned.key == dear else 0.1)

    async def scenario() -> None:
        harness = Harness(end_attempt, ceilings={"gold": 4}, total=4, budget=6.0)
        assert await harness.scheduler.run(trials(12)) == []
        assert Control(start=False, proceed=True, reason="budget") in harness.controls
        assert harness.controls[-1] == Control()

    asyncio.run(scenario())


def test_the_runners_gate_closes_during_an_episode() -> None:
    async def scenario() -> None:
        (planned,) = trials(1)
        ledger = AttemptLedger(0)
        gate = BudgetGate(ledger, Budget(max_usd=1))
        ledger.record(make_attempt(planned, 0, Outcome.CANCELLED, cost_usd=0.5))
        assert await gate.control() == Control()
        ledger.record(make_attempt(planned, 1, None, cost_usd=0.3))
        assert await gate.control() == Control()
        ledger.record(make_attempt(planned, 1, Outcome.PASSED, cost_usd=0.5))
        assert await gate.control() == Control(start=False, proceed=False, reason="budget")
        assert ledger.spent == 1.0

    asyncio.run(scenario())


def test_costs_of_earlier_attempts_count_towards_the_largest_trial() -> None:
    planned, _ = trials(2)
    ledger = AttemptLedger(0)
    gate = BudgetGate(ledger, Budget(max_usd=10))
    ledger.record(make_attempt(planned, 0, Outcome.CANCELLED, cost_usd=3.0))
    ledger.record(make_attempt(planned, 1, Outcome.PASSED, cost_usd=1.5))
    assert gate.control_with(in_flight=1).start
    assert not gate.control_with(in_flight=2).start, "4.5 spent, and 2 x 4.5 reserved"


async def cancel(run: asyncio.Task[list[PlannedTrial]]) -> None:
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


def test_cancelling_ends_running_attempts_and_starts_no_other() -> None:
    async def scenario() -> None:
        harness = Harness(ceilings={"gold": 2}, total=2)
        harness.may_end.clear()
        run = asyncio.create_task(harness.scheduler.run(trials(5)))
        await harness.until(lambda: harness.running["all"] == 2)
        await cancel(run)
        assert harness.running["all"] == 0
        assert harness.observer.outcomes == {}
        assert len(harness.attempts) == 2

    asyncio.run(scenario())


def test_an_attempt_that_ends_while_the_others_are_cancelled_is_settled_and_not_retried() -> None:
    async def scenario() -> None:
        harness = Harness(infra_error)
        (planned,) = trials(1)
        run = asyncio.create_task(harness.scheduler.run([planned]))
        await harness.until(lambda: len(harness.attempts) == 1)
        ended = next(iter(harness.scheduler._running))
        await harness.until(ended.done)
        await cancel(run)
        assert harness.observer.outcomes == {planned.key: Outcome.INFRA_ERROR}

    asyncio.run(scenario())


def test_a_trial_that_waits_for_its_retry_does_not_delay_cancelling() -> None:
    async def scenario() -> None:
        harness = Harness(infra_error, ceilings={"gold": 1}, total=1)
        harness.retry_allowed.clear()
        run = asyncio.create_task(harness.scheduler.run(trials(1)))
        await harness.until(lambda: bool(harness.observer.retry_delays))
        await cancel(run)
        assert len(harness.attempts) == 1

    asyncio.run(scenario())


def test_an_attempt_that_raises_ends_the_run_and_leaves_nothing_running() -> None:
    def end_attempt(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        raise ZeroDivisionError

    async def scenario() -> None:
        harness = Harness(end_attempt)
        with pytest.raises(ZeroDivisionError):
            await harness.scheduler.run(trials(9))
        assert harness.running["all"] == 0

    asyncio.run(scenario())


def test_retry_delays_are_bounded() -> None:
    assert [RETRY.delay(retry) for retry in (1, 2, 5, 6, 10)] == [1, 2, 16, 30, 30]


def silent(planned: PlannedTrial, attempt: int) -> AttemptRecord:
    return make_attempt(planned, attempt, Outcome.FAILED, reason="no_model_calls")


def test_a_cell_whose_first_five_trials_ask_nothing_of_their_model_stops_and_others_go_on() -> None:
    def end(planned: PlannedTrial, attempt: int) -> AttemptRecord:
        return silent(planned, attempt) if planned.cell.model == "gold" else passing(planned, attempt)

    async def scenario() -> None:
        harness = Harness(end, total=1)
        planned = trials(8, "gold", "other")
        unstarted = await harness.scheduler.run(planned)
        started = Counter(harness.observer.starts)
        assert sorted(trial.cell.model for trial in unstarted) == ["gold"] * 3
        assert not keys(unstarted) & started.keys()
        assert [record.cell.model for record in harness.scheduler.silent.values()] == ["gold"]

    asyncio.run(scenario())


def test_a_cell_of_which_one_of_the_first_trials_asked_its_model_goes_on() -> None:
    async def scenario() -> None:
        ended: list[TrialId] = []

        def end(planned: PlannedTrial, attempt: int) -> AttemptRecord:
            ended.append(planned.key)
            return passing(planned, attempt) if len(ended) == 4 else silent(planned, attempt)

        harness = Harness(end, total=1)
        assert await harness.scheduler.run(trials(12, "gold")) == []
        assert harness.scheduler.silent == {}

    asyncio.run(scenario())
