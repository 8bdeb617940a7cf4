"""Counts and spend of the attempt ledger, and its circuit breaker."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.runs import put_attempt, put_run, put_trial
from tests.operator.fleet import START, summary

from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, Timings, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.accounting.breaker import Breaker, Fault
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.results.load import load_run
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore

CELL = Cell(model="m", agent="react", mode="oracle", domain="itsm")
OTHER = CELL.model_copy(update={"domain": "hr"})
SECOND = CELL.model_copy(update={"model": "n"})


def note(
    ledger: AttemptLedger, task: str, outcome: Outcome | None, *, attempt: int = 0, cost: float | None = 0.0,
    cell: Cell = CELL, trial: int = 0,
) -> bool:  # fmt: skip
    record = AttemptRecord(
        run="r",
        cell=cell,
        task_id=task,
        trial=trial,
        attempt=attempt,
        outcome=outcome,
        reason="gym_lost" if outcome is Outcome.INFRA_ERROR else "",
        cost_usd=cost,
        timings=Timings(started_at=START.isoformat(), total_s=attempt),
    )
    return ledger.record(record)


KEY = TrialId(CELL.key, "a", 0)


def test_a_lost_store_is_tried_again_beyond_the_infra_retries_but_not_without_end() -> None:
    ledger = AttemptLedger(0)
    settled = []
    for number in range(11):
        lost = Attempt(
            cell=CELL,
            task_id="a",
            trial=0,
            attempt=number,
            outcome=Outcome.INFRA_ERROR,
            reason="store_lost",
            timings=Timings(started_at=START.isoformat(), total_s=number),
        )
        ledger.record(lost)
        settled.append(ledger.is_settled(KEY))
    assert settled == [False] * 10 + [True]
    ledger.reopen([KEY])
    assert not ledger.is_settled(KEY)


def test_an_attempt_is_counted_once() -> None:
    ledger = AttemptLedger(2)
    assert note(ledger, "a", Outcome.PASSED, cost=0.5)
    assert not note(ledger, "a", Outcome.PASSED, cost=0.5)
    assert not note(ledger, "a", Outcome.FAILED, cost=0.7), "an attempt that has ended stays as it ended"
    assert (ledger.spent, ledger.scored, ledger.count(Outcome.PASSED)) == (0.5, 1, 1)


def test_each_record_of_an_attempt_updates_its_spend() -> None:
    ledger = AttemptLedger(2)
    assert not note(ledger, "a", None, cost=0.1)
    assert not note(ledger, "a", None, cost=0.3)
    assert ledger.spent == pytest.approx(0.3)
    assert not ledger.any_ended
    assert note(ledger, "a", Outcome.INFRA_ERROR, cost=0.4)
    assert note(ledger, "a", Outcome.PASSED, attempt=1, cost=0.5)
    assert ledger.spent == pytest.approx(0.9)
    assert ledger.largest == pytest.approx(0.9), "a trial costs what all its attempts cost"
    assert ledger.state(KEY).attempts == 2


def test_an_unknown_cost_makes_the_total_unknown() -> None:
    ledger = AttemptLedger(2)
    note(ledger, "a", None, cost=None)
    note(ledger, "b", Outcome.PASSED, cost=0.5)
    assert (ledger.cost_usd, ledger.spent) == (None, 0.5)
    note(ledger, "a", Outcome.PASSED, cost=0.25)
    assert ledger.cost_usd == 0.75


def test_a_trial_is_settled_by_a_score_or_without_retries_left() -> None:
    ledger = AttemptLedger(1)
    assert not ledger.is_settled(KEY)
    note(ledger, "a", Outcome.INFRA_ERROR)
    assert not ledger.is_settled(KEY)
    note(ledger, "a", Outcome.CANCELLED, attempt=1)
    assert not ledger.is_settled(KEY), "a cancelled attempt uses up no retry"
    note(ledger, "a", Outcome.INFRA_ERROR, attempt=2)
    assert ledger.is_settled(KEY)
    assert ledger.settled_in(CELL.key) == 1
    note(ledger, "b", Outcome.CONFIG_ERROR)
    note(ledger, "c", Outcome.BUDGET_SKIPPED)
    assert [ledger.is_settled(TrialId(CELL.key, task, 0)) for task in "bc"] == [True, False]
    assert ledger.settled_in(CELL.key) == 2


def test_a_score_after_the_last_retry_counts() -> None:
    ledger = AttemptLedger(0)
    note(ledger, "a", Outcome.INFRA_ERROR)
    note(ledger, "a", Outcome.PASSED, attempt=1)
    assert (ledger.state(KEY).outcome, ledger.settled_in(CELL.key), ledger.count(Outcome.INFRA_ERROR)) == (
        Outcome.PASSED, 1, 0,
    )  # fmt: skip


def test_a_score_is_never_replaced_and_the_newest_attempt_decides() -> None:
    ledger = AttemptLedger(2)
    note(ledger, "a", Outcome.FAILED, attempt=1)
    note(ledger, "a", Outcome.PASSED, attempt=2)
    note(ledger, "a", Outcome.INFRA_ERROR, attempt=0)
    assert ledger.state(KEY).outcome is Outcome.FAILED
    note(ledger, "b", Outcome.CANCELLED, attempt=1)
    note(ledger, "b", Outcome.INFRA_ERROR, attempt=0)
    assert ledger.state(TrialId(CELL.key, "b", 0)).outcome is Outcome.CANCELLED


def test_a_skipped_trial_starts_no_attempt() -> None:
    ledger = AttemptLedger(2)
    note(ledger, "a", Outcome.BUDGET_SKIPPED)
    assert not ledger.any_ended
    assert ledger.started_at is None


def test_success_is_a_mean_over_tasks() -> None:
    ledger = AttemptLedger(2)
    assert (ledger.success, ledger.scores()) == (None, {})
    for trial in range(3):
        note(ledger, "a", Outcome.PASSED, trial=trial)
    note(ledger, "b", Outcome.FAILED)
    note(ledger, "c", Outcome.PASSED, cell=OTHER)
    assert ledger.scores() == {
        CELL.key: {("a", 0): 1, ("a", 1): 1, ("a", 2): 1, ("b", 0): 0},
        OTHER.key: {("c", 0): 1},
    }
    assert ledger.success == pytest.approx(2 / 3)
    note(ledger, "a", Outcome.FAILED, cell=SECOND)
    assert ledger.success == pytest.approx(1.5 / 3), "a task of two cells counts once, with its mean over them"


attempts = st.builds(
    lambda cell, task, trial, attempt, outcome, cost: summary(cell, task, trial, attempt, outcome, cost, START),
    st.sampled_from([CELL, OTHER]),
    st.sampled_from("abc"),
    st.integers(0, 1),
    st.integers(0, 2),
    st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.INFRA_ERROR, Outcome.CANCELLED]),
    st.sampled_from([0.0, 0.25, 0.5]),
)


@given(st.lists(attempts, max_size=30), st.randoms(use_true_random=False))
def test_a_ledger_rebuilt_in_any_order_has_the_same_counts(attempts: list[Attempt], chance: random.Random) -> None:
    # The store has one record for each attempt, and a score ends its trial.
    once = {(item.cell.key, item.task_id, item.trial, item.attempt): item for item in attempts}
    last = {key[:3]: max(number for *trial, number in once if tuple(trial) == key[:3]) for key in once}
    records = [
        item
        for key, item in once.items()
        if item.outcome not in (Outcome.PASSED, Outcome.FAILED) or item.attempt == last[key[:3]]
    ]
    ledgers = [AttemptLedger(1), AttemptLedger(1)]
    for item in records:
        ledgers[0].record(item)
    chance.shuffle(records)
    for item in [*records, *records]:
        ledgers[1].record(item)
    one, other = ledgers
    for cell in (CELL, OTHER):
        assert one.settled_in(cell.key) == other.settled_in(cell.key)
        assert one.scores().get(cell.key) == other.scores().get(cell.key)
        settled = [one.is_settled(TrialId(cell.key, task, trial)) for task in "abc" for trial in range(2)]
        assert one.settled_in(cell.key) == sum(settled)
    assert one.spent == pytest.approx(other.spent)
    assert [one.count(outcome) for outcome in Outcome] == [other.count(outcome) for outcome in Outcome]


# The breaker


LOST = Fault("gym_lost", "the gym is gone")


def faults(breaker: Breaker, count: int, at: float = 0.0, fault: Fault | None = LOST) -> None:
    for _ in range(count):
        breaker.record(at, fault)


def test_a_few_infra_errors_do_not_open_the_breaker() -> None:
    breaker = Breaker()
    faults(breaker, 4)
    assert not breaker.is_open(0)
    breaker = Breaker()
    for _ in range(20):
        faults(breaker, 1, fault=None)
        faults(breaker, 1)
    assert not breaker.is_open(0), "half of the attempts is not more than half"


def test_many_infra_errors_open_the_breaker_for_a_pause() -> None:
    breaker = Breaker()
    faults(breaker, 5, at=100)
    assert [breaker.is_open(now) for now in (100, 159.9, 160)] == [True, True, False]
    assert [breaker.closes_in(now) for now in (100, 130, 170)] == [60, 30, 0]


def test_a_used_up_quota_opens_the_breaker_of_its_model_and_not_that_of_the_run() -> None:
    ledger, at = AttemptLedger(2), START.timestamp()
    ledger.record(ended("a", "model_quota", START))
    assert ledger.used_up_quotas(at).keys() == {CELL.model}
    assert not ledger.breaker.is_open(at)
    assert ledger.used_up_quotas(at + 60) == {}


def test_one_used_up_quota_opens_the_breaker() -> None:
    breaker = Breaker()
    faults(breaker, 9, fault=None)
    faults(breaker, 1, fault=Fault("model_quota", "no credit"))
    assert (breaker.is_open(0), breaker.cause.reason) == (True, "model_quota")
    assert breaker.cause.message.endswith("no credit")


def test_old_scores_leave_the_window_of_the_breaker() -> None:
    breaker = Breaker()
    faults(breaker, 50, fault=None)
    faults(breaker, 5)
    assert not breaker.is_open(0)
    faults(breaker, 1)
    assert breaker.is_open(0)


def test_an_open_breaker_ignores_attempts_that_end() -> None:
    breaker = Breaker()
    faults(breaker, 5)
    faults(breaker, 50, at=30)
    faults(breaker, 1, at=30, fault=None)
    assert (breaker.is_open(59), breaker.is_open(60)) == (True, False)


def test_a_failed_probe_opens_the_breaker_for_twice_as_long() -> None:
    breaker = Breaker()
    now, pauses = 0.0, []
    faults(breaker, 5)
    for _ in range(6):
        pauses.append(breaker.closes_in(now))
        now += breaker.closes_in(now)
        assert not breaker.is_open(now)
        faults(breaker, 3, at=now)
    assert pauses == [60, 120, 240, 480, 600, 600]


def test_a_scored_probe_closes_the_breaker() -> None:
    breaker = Breaker()
    faults(breaker, 5)
    faults(breaker, 2, at=60)
    faults(breaker, 1, at=61, fault=None)
    faults(breaker, 3, at=62)
    assert not breaker.is_open(62), "it takes as much as at first again"
    faults(breaker, 2, at=63)
    assert breaker.closes_in(63) == 60


def test_the_breaker_names_the_most_frequent_cause() -> None:
    breaker = Breaker()
    for message in ("first", "second", "third"):
        breaker.record(0, Fault("model_auth", message))
    faults(breaker, 2)
    assert breaker.cause == Fault("model_auth", "3 of the last 5 attempts ended for this reason; third")


# As the tables have it


def test_the_ledger_counts_equal_the_score_tables(tmp_path: Path) -> None:
    store, chance, run = LocalStore(tmp_path), random.Random(7), "r.1"
    cells = [PlannedCell(cell=cell, task_ids=[f"t{number}" for number in range(20)]) for cell in (CELL, OTHER, SECOND)]
    put_run(store, run, cells, trials=2)
    for cell, task, trial in (
        (planned.cell, task, trial) for planned in cells for task in planned.task_ids for trial in (0, 1)
    ):
        outcome = chance.choice([Outcome.PASSED, Outcome.FAILED, Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR, None])
        cost = chance.choice([0.0, 0.25, 1.5])
        lost = chance.randrange(3) if outcome is not Outcome.INFRA_ERROR else 2
        for attempt in range(lost):
            put_attempt(store, run, task, Outcome.INFRA_ERROR, trial=trial, attempt=attempt, cell=cell, cost_usd=0.125)
        put_attempt(store, run, task, outcome, trial=trial, attempt=lost, cell=cell, cost_usd=cost)
        if outcome in (Outcome.PASSED, Outcome.FAILED):
            put_trial(store, run, task, outcome, cell, trial=trial, attempt=lost, cost_usd=cost)
    results = load_run(store, run)
    ledger = AttemptLedger(2)
    for record in results.attempts:
        ledger.record(record)
    summary = summarise(results)
    assert ledger.cost_usd == pytest.approx(summary.total.cost_usd)
    assert ledger.success == pytest.approx(summary.total.success_rate)
    assert {key: (sum(scores.values()), len(scores)) for key, scores in ledger.scores().items()} == {
        cell.cell.key: (cell.score.passed, cell.score.scored) for cell in summary.cells if cell.score.scored
    }
    assert (ledger.count(Outcome.PASSED), ledger.count(Outcome.FAILED)) == (summary.total.passed, summary.total.failed)
    assert ledger.count(Outcome.CONFIG_ERROR) == summary.total.count_not_scored(Outcome.CONFIG_ERROR)


def ended(task: str, reason: str, at: datetime) -> Attempt:
    return Attempt(
        cell=CELL,
        task_id=task,
        trial=0,
        attempt=0,
        outcome=Outcome.INFRA_ERROR,
        reason=reason,
        timings=Timings(started_at=at.isoformat(), total_s=0),
    )


def test_a_node_whose_clock_is_ahead_does_not_keep_the_breaker_open() -> None:
    ledger = AttemptLedger(2)
    for number in range(5):
        ledger.record(ended(f"t{number}", "gym_lost", START + timedelta(hours=1)), START)
    assert ledger.breaker.is_open(START.timestamp())
    assert ledger.breaker.closes_in(START.timestamp()) == 60


def test_a_node_whose_clock_is_behind_does_not_close_the_breaker_early() -> None:
    behind = timedelta(minutes=12)
    live, rebuilt = AttemptLedger(2), AttemptLedger(2)
    for number in range(5):
        live.record(ended(f"t{number}", "gym_lost", START - behind), START, live=True)
        rebuilt.record(ended(f"t{number}", "gym_lost", START - behind), START)
    assert live.breaker.closes_in(START.timestamp()) == 60
    assert not rebuilt.breaker.is_open(START.timestamp())


def test_an_attempt_of_unknown_cost_books_the_largest_seen() -> None:
    ledger = AttemptLedger(2)
    note(ledger, "a", Outcome.PASSED, cost=0.25)
    note(ledger, "b", Outcome.FAILED, cost=1.0)
    note(ledger, "c", None, cost=0.5)
    note(ledger, "c", Outcome.FAILED, cost=None)
    note(ledger, "d", Outcome.INFRA_ERROR, cost=None)
    assert (ledger.spent, ledger.unknown, ledger.cost_usd) == (1.25, 2, None)
    assert ledger.booked == 1.25 + 2 * 1.0
    note(ledger, "e", Outcome.PASSED, cost=3.0)
    assert ledger.booked == 4.25 + 2 * 3.0


def test_costs_that_are_all_unknown_use_up_any_budget_after_a_few_attempts() -> None:
    ledger = AttemptLedger(2)
    booked = []
    for number in range(4):
        note(ledger, f"t{number}", Outcome.PASSED, cost=None)
        booked.append(ledger.booked)
    assert booked == [0, 0, math.inf, math.inf]
    note(ledger, "known", Outcome.PASSED, cost=0.5)
    assert ledger.booked == 5 * 0.5


def test_an_outage_of_the_store_does_not_open_the_breaker() -> None:
    ledger = AttemptLedger(2)
    for number in range(20):
        ledger.record(ended(f"t{number}", "store_lost", START))
    assert not ledger.breaker.is_open(START.timestamp())
