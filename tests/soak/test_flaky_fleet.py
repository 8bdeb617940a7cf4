"""Thousands of episodes on a model whose every sixth request or so goes wrong, in one process, on a real gym.

Invariants proved here: every trial ends scored, or not scored with its reason; no fault of the surroundings makes an
agent fail; nothing is recorded twice; memory and file descriptors stay flat; the budget's bound holds.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil
import pytest
from tests.support.gym import Gym

from opsgym.local.budget_gate import BudgetGate
from opsgym.local.scheduler import Concurrency, Scheduler
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Access, Agent, Budget, Limits, Mode
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialId, TrialRecord
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_api.tasks.task import Task
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.backoff import Backoff
from opsgym_core.planning.trials import PlannedTrial
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.local import LocalStore
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.replay.flaky import Fault
from opsgym_runner.runner import Runner, RunnerEvent

pytestmark = pytest.mark.anyio

SOAK = os.environ.get("OPSGYM_SOAK") == "1"
EPISODES = 10_000 if SOAK else 150
PACE = pytest.mark.timeout(14_400 if SOAK else 900)
CONCURRENCY = 16
CEILING = 4
WARM_UP = 10
"""Samples, of 50, before anything is compared."""
GROWTH = 1.10
"""Memory and descriptors at the end, against after the warm-up."""
SAMPLE_EVERY = EPISODES // 50
RATES = {fault.value: 0.05 for fault in Fault}
RUN = "flaky.0123456789ab"
CELLS = [Cell(model=f"flaky-{n}", agent="react", mode="oracle", domain="itsm") for n in range(4)]
"""One a model: with a tenth of its requests refused, each model's own limit settles at three or four in flight."""
SWIFT = RetryPolicy(Backoff(initial_s=0.005, maximum_s=0.02, jitter=0.5), total_wait_s=0.025)
"""Gives a call up after some three failures in a row, so that some attempts, and a few trials, are not scored."""
PRICES = Prices(input_usd=1, output_usd=4)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def itsm(gym_servers: Callable[[str], Gym]) -> Gym:
    return gym_servers("itsm")


@dataclass
class Fleet:
    """Trials of one cell, run as local mode runs them."""

    gym: Gym
    store: LocalStore
    budget: Budget | None = None
    events: Counter[str] = field(default_factory=Counter)
    """Attempts that were started and that finished."""
    endings: list[tuple[TrialId, Outcome | None, str]] = field(default_factory=list)
    """How each trial was settled: its key, outcome and reason."""
    samples: list[tuple[int, int]] = field(default_factory=list)
    """Resident bytes and descriptors, now and then."""
    most_running: int = 0
    in_flight: int = 0
    retries: int = 0
    """Attempts after a trial's first."""

    def __post_init__(self) -> None:
        self.ledger = AttemptLedger(infra_retries=1)
        self._process = psutil.Process()
        self._began = time.monotonic()

    async def run(self, trials: list[PlannedTrial]) -> list[PlannedTrial]:
        """Runs trials; returns those that the budget did not allow to start."""
        concurrency = Concurrency({cell.model: CEILING for cell in CELLS}, CONCURRENCY)
        gate = BudgetGate(self.ledger, self.budget)
        async with Runner(self.store, gate=gate, retry=SWIFT, on_event=self._on_event) as runner:

            async def attempt(planned: PlannedTrial, number: int) -> AttemptRecord:
                return await runner.run(self._job(planned, number))

            scheduler = Scheduler(attempt, concurrency, self.ledger, gate, self, self._publish, sleep=self._rest)
            left = await scheduler.run(trials)
            assert all(limit.in_flight == limit.waiting == 0 for limit in runner.limits.values())
            return left

    def _on_event(self, event: RunnerEvent) -> None:
        self.ledger.record(event.record)
        self.events[event.kind] += 1

    async def _publish(self, control: Control) -> None:
        """Ignores the record."""

    async def _rest(self, _seconds: float) -> None:
        await asyncio.sleep(0.01)

    def started(self, planned: PlannedTrial) -> None:
        self.in_flight += 1
        self.most_running = max(self.most_running, self.in_flight)

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        self.in_flight -= 1
        self.retries += 1

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        self.in_flight -= 1
        self.endings.append((planned.key, record.outcome, record.reason))
        if len(self.endings) % SAMPLE_EVERY == 0:
            print(f"{len(self.endings)} trials after {time.monotonic() - self._began:.0f} s", flush=True)
            self.samples.append((self._process.memory_info().rss, self._process.num_fds()))

    def _job(self, planned: PlannedTrial, number: int) -> Job:
        parameters = {"rates": RATES, "seed": 11, "retry_after": 0.005, "timeout": 0.5}
        model = ResolvedModel(
            name=planned.cell.model,
            model="replay/flaky",
            parameters=parameters,
            max_concurrency=CEILING,
            prices=PRICES,
        )
        return Job(
            run=RUN,
            cell=planned.cell,
            task=planned.task,
            trial=planned.trial,
            attempt=number,
            model=model,
            agent=Agent(name="react"),
            mode=Mode.ORACLE,
            limits=Limits(),
            access=Access.PUBLISHED,
            gyms={"itsm": self.gym.url},
            seeds={server.mcp_server_name: Seed(builtin="quickstart") for server in planned.task.gym_servers_config},
        )


def trials_of(count: int) -> list[PlannedTrial]:
    """Trials of the quickstart's tasks that are solved in the fewest steps."""
    tasks = sorted((task for task in load_suite("quickstart") if task.gold_actions), key=_length)[:4]
    places = list(itertools.product(CELLS, tasks))
    return [PlannedTrial(*places[number % len(places)], number // len(places)) for number in range(count)]


def _length(task: Task) -> int:
    return len(task.gold_actions or ())


def attempts_in(store: LocalStore) -> Iterator[AttemptRecord]:
    for key in store.keys(RunKeys(RUN).cells):
        if is_attempt_record(key):
            yield AttemptRecord.from_json(store.get(key) or b"")


def records_in(store: LocalStore) -> Iterator[TrialRecord]:
    for key in store.keys(RunKeys(RUN).cells):
        if is_trial_record(key):
            yield TrialRecord.from_json(store.get(key) or b"")


@PACE
async def test_every_episode_of_a_flaky_fleet_ends_scored_or_with_its_reason(itsm: Gym, tmp_path: Path) -> None:
    fleet = Fleet(itsm, LocalStore(tmp_path))

    left = await fleet.run(trials_of(EPISODES))

    outcomes = Counter(outcome for _, outcome, _ in fleet.endings)
    print(f"{EPISODES} trials, {fleet.retries} attempts again: {dict(outcomes)}")
    assert left == []
    assert len({key for key, _, _ in fleet.endings}) == len(fleet.endings) == EPISODES
    for _, outcome, reason in fleet.endings:
        assert outcome is Outcome.PASSED or (outcome is Outcome.INFRA_ERROR and reason in _NOT_OURS), (outcome, reason)
    attempts = list(attempts_in(fleet.store))
    _require_one_record_each(fleet, attempts)
    _require_faults(fleet, attempts)
    _require_flat(fleet)


_NOT_OURS = frozenset(InfraReason) - {InfraReason.RUNNER_ERROR}
"""Reasons that lie around the runner. A machine that is busy enough may lose a gym server for a moment, too."""


def _require_one_record_each(fleet: Fleet, attempts: list[AttemptRecord]) -> None:
    scored = {key for key, outcome, _ in fleet.endings if outcome is Outcome.PASSED}
    assert {(record.cell.key, record.task_id, record.trial) for record in records_in(fleet.store)} == scored
    assert len(attempts) == fleet.events["started"] == fleet.events["finished"] == EPISODES + fleet.retries
    passed = Counter((a.cell.key, a.task_id, a.trial) for a in attempts if a.outcome is Outcome.PASSED)
    assert set(passed) == scored
    assert set(passed.values()) == {1}
    lost = [attempt for attempt in attempts if attempt.outcome is not Outcome.PASSED]
    assert len(lost) >= fleet.retries > 0
    print(f"attempts that were not scored: {dict(Counter(attempt.reason for attempt in lost))}")
    strange = [a for a in lost if a.outcome is not Outcome.INFRA_ERROR or a.reason not in _NOT_OURS or not a.message]
    assert strange == []
    assert fleet.ledger.spent == pytest.approx(sum(attempt.cost_usd or 0 for attempt in attempts))


def _require_faults(fleet: Fleet, attempts: list[AttemptRecord]) -> None:
    """What was injected arrived: one request in four met a fault of its transport, one call in twenty was spoiled."""
    lost = sum(attempt.outcome is Outcome.INFRA_ERROR for attempt in attempts)
    failed, answered = lost + sum(a.model_retries for a in attempts), sum(a.usage.model_calls for a in attempts)
    assert failed / (failed + answered) == pytest.approx(0.25, abs=0.05)
    records = list(records_in(fleet.store))
    assert sum(r.tool_errors for r in records) / sum(r.tool_calls for r in records) == pytest.approx(0.06, abs=0.03)


def _require_flat(fleet: Fleet) -> None:
    spare = {"resident bytes": 0, "descriptors": CONCURRENCY}  # episodes hold connections while they are in flight
    for what, measured in zip(spare, zip(*fleet.samples, strict=True), strict=True):
        warm, end = (median(part) for part in (measured[WARM_UP : WARM_UP + 5], measured[-5:]))
        print(f"{what}: {warm:.0f} after the warm-up, {end:.0f} at the end, {end / warm:.3f} ×")
        assert end <= warm * GROWTH + spare[what], f"{what} grew: {measured}"


@PACE
async def test_spend_stays_within_the_budgets_bound_under_every_fault(itsm: Gym, tmp_path: Path) -> None:
    sample = Fleet(itsm, LocalStore(tmp_path / "sample"))
    await sample.run(trials_of(8))
    cap = sample.ledger.spent * 5
    fleet = Fleet(itsm, LocalStore(tmp_path / "capped"), Budget(max_usd=cap))

    left = await fleet.run(trials_of(80))

    by_trial: defaultdict[TrialId, float] = defaultdict(float)
    for attempt in attempts_in(fleet.store):
        by_trial[attempt.trial_id] += attempt.cost_usd or 0
    spent, largest = sum(by_trial.values()), max(by_trial.values())
    print(f"cap {cap:.4f}, spent {spent:.4f}, largest trial {largest:.4f}, at most {fleet.most_running} in flight")
    assert left
    assert cap / 2 < spent <= cap + fleet.most_running * largest
    assert fleet.most_running <= CONCURRENCY
