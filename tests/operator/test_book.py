"""What is known of a run's attempts, and when too many of them are lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.runs import put_attempt, put_run, put_trial
from tests.operator.fleet import START, summary

from opsgym_api.orders import AttemptSummary
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, PlannedCell, Timings
from opsgym_api.results import load_run
from opsgym_api.scores import summarise
from opsgym_api.store import LocalStore
from opsgym_operator.book import Book
from opsgym_operator.breaker import Breaker, Fault

CELL = Cell(model="m", agent="react", mode="oracle", domain="itsm")
OTHER = CELL.model_copy(update={"domain": "hr"})


def note(
    book: Book, task: str, outcome: Outcome | None, *, attempt: int = 0, cost: float | None = 0.0, cell: Cell = CELL,
    trial: int = 0,
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
    return book.note(record)


KEY = (CELL.key, "a", 0)


def test_an_attempt_is_booked_once_however_often_it_is_noted() -> None:
    book = Book(2)
    assert note(book, "a", Outcome.PASSED, cost=0.5)
    assert not note(book, "a", Outcome.PASSED, cost=0.5)
    assert not note(book, "a", Outcome.FAILED, cost=0.7), "an attempt that has ended stays as it ended"
    assert (book.spent, book.scored, book.count(Outcome.PASSED)) == (0.5, 1, 1)


def test_spend_grows_while_an_attempt_runs_and_outlives_it() -> None:
    book = Book(2)
    assert not note(book, "a", None, cost=0.1)
    assert not note(book, "a", None, cost=0.3)
    assert book.spent == pytest.approx(0.3)
    assert not book.any_ended
    assert note(book, "a", Outcome.INFRA_ERROR, cost=0.4)
    assert note(book, "a", Outcome.PASSED, attempt=1, cost=0.5)
    assert book.spent == pytest.approx(0.9)
    assert book.largest == pytest.approx(0.9), "a trial costs what all its attempts cost"
    assert book.state(KEY).attempts == 2


def test_an_unknown_cost_makes_the_sum_unknown_and_not_smaller() -> None:
    book = Book(2)
    note(book, "a", None, cost=None)
    note(book, "b", Outcome.PASSED, cost=0.5)
    assert (book.cost_usd, book.spent) == (None, 0.5)
    note(book, "a", Outcome.PASSED, cost=0.25)
    assert book.cost_usd == 0.75


def test_a_trial_is_settled_by_a_score_or_when_its_retries_are_used_up() -> None:
    book = Book(1)
    assert not book.settled(KEY)
    note(book, "a", Outcome.INFRA_ERROR)
    assert not book.settled(KEY)
    note(book, "a", Outcome.CANCELLED, attempt=1)
    assert not book.settled(KEY), "whoever was told to stop has not used up a try"
    note(book, "a", Outcome.INFRA_ERROR, attempt=2)
    assert book.settled(KEY)
    assert book.settled_in(CELL.key) == 1
    note(book, "b", Outcome.CONFIG_ERROR)
    note(book, "c", Outcome.BUDGET_SKIPPED)
    assert [book.settled((CELL.key, task, 0)) for task in "bc"] == [True, False]
    assert book.settled_in(CELL.key) == 2


def test_a_score_that_comes_after_the_retries_were_used_up_counts() -> None:
    book = Book(0)
    note(book, "a", Outcome.INFRA_ERROR)
    note(book, "a", Outcome.PASSED, attempt=1)
    assert (book.state(KEY).outcome, book.settled_in(CELL.key), book.count(Outcome.INFRA_ERROR)) == (
        Outcome.PASSED, 1, 0,
    )  # fmt: skip


def test_a_score_is_never_replaced_and_an_older_attempt_never_speaks_for_a_newer() -> None:
    book = Book(2)
    note(book, "a", Outcome.FAILED, attempt=1)
    note(book, "a", Outcome.PASSED, attempt=2)
    note(book, "a", Outcome.INFRA_ERROR, attempt=0)
    assert book.state(KEY).outcome is Outcome.FAILED
    note(book, "b", Outcome.CANCELLED, attempt=1)
    note(book, "b", Outcome.INFRA_ERROR, attempt=0)
    assert book.state((CELL.key, "b", 0)).outcome is Outcome.CANCELLED


def test_what_was_skipped_is_no_sign_of_what_a_trial_costs() -> None:
    book = Book(2)
    note(book, "a", Outcome.BUDGET_SKIPPED)
    assert not book.any_ended
    assert book.started_at is None


def test_success_is_a_mean_over_tasks() -> None:
    book = Book(2)
    assert (book.success, book.scores()) == (None, {})
    for trial in range(3):
        note(book, "a", Outcome.PASSED, trial=trial)
    note(book, "b", Outcome.FAILED)
    note(book, "c", Outcome.PASSED, cell=OTHER)
    assert book.scores() == {
        CELL.key: {("a", 0): 1, ("a", 1): 1, ("a", 2): 1, ("b", 0): 0},
        OTHER.key: {("c", 0): 1},
    }
    assert book.success == pytest.approx(2 / 3)


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
def test_a_book_made_anew_in_any_order_says_the_same(found: list[AttemptSummary], chance: random.Random) -> None:
    # The store has one record for each attempt, and a score ends its trial.
    once = {(item.cell.key, item.task_id, item.trial, item.attempt): item for item in found}
    last = {key[:3]: max(number for *trial, number in once if tuple(trial) == key[:3]) for key in once}
    records = [
        item
        for key, item in once.items()
        if item.outcome not in (Outcome.PASSED, Outcome.FAILED) or item.attempt == last[key[:3]]
    ]
    books = [Book(1), Book(1)]
    for item in records:
        books[0].note(item)
    chance.shuffle(records)
    for item in [*records, *records]:
        books[1].note(item)
    one, other = books
    for cell in (CELL, OTHER):
        assert one.settled_in(cell.key) == other.settled_in(cell.key)
        assert one.scores().get(cell.key) == other.scores().get(cell.key)
        settled = [one.settled((cell.key, task, trial)) for task in "abc" for trial in range(2)]
        assert one.settled_in(cell.key) == sum(settled)
    assert one.spent == pytest.approx(other.spent)
    assert [one.count(outcome) for outcome in Outcome] == [other.count(outcome) for outcome in Outcome]


# The breaker


LOST = Fault("gym_lost", "the gym is gone")


def faults(breaker: Breaker, count: int, at: float = 0.0, fault: Fault | None = LOST) -> None:
    for _ in range(count):
        breaker.note(at, fault)


def test_a_few_infra_errors_open_nothing() -> None:
    breaker = Breaker()
    faults(breaker, 4)
    assert not breaker.open(0)
    breaker = Breaker()
    for _ in range(20):
        faults(breaker, 1, fault=None)
        faults(breaker, 1)
    assert not breaker.open(0), "half of the attempts is not more than half"


def test_many_infra_errors_open_it_for_a_while() -> None:
    breaker = Breaker()
    faults(breaker, 5, at=100)
    assert [breaker.open(now) for now in (100, 159.9, 160)] == [True, True, False]
    assert [breaker.closes_in(now) for now in (100, 130, 170)] == [60, 30, 0]


def test_old_successes_leave_the_window() -> None:
    breaker = Breaker()
    faults(breaker, 50, fault=None)
    faults(breaker, 5)
    assert not breaker.open(0)
    faults(breaker, 1)
    assert breaker.open(0)


def test_what_ends_while_it_is_open_says_nothing() -> None:
    breaker = Breaker()
    faults(breaker, 5)
    faults(breaker, 50, at=30)
    faults(breaker, 1, at=30, fault=None)
    assert (breaker.open(59), breaker.open(60)) == (True, False)


def test_a_probe_that_fails_opens_it_for_twice_as_long() -> None:
    breaker = Breaker()
    now, pauses = 0.0, []
    faults(breaker, 5)
    for _ in range(6):
        pauses.append(breaker.closes_in(now))
        now += breaker.closes_in(now)
        assert not breaker.open(now)
        faults(breaker, 3, at=now)
    assert pauses == [60, 120, 240, 480, 600, 600]


def test_a_probe_that_is_scored_closes_it() -> None:
    breaker = Breaker()
    faults(breaker, 5)
    faults(breaker, 2, at=60)
    faults(breaker, 1, at=61, fault=None)
    faults(breaker, 3, at=62)
    assert not breaker.open(62), "it takes as much as at first again"
    faults(breaker, 2, at=63)
    assert breaker.closes_in(63) == 60


def test_it_names_what_fails_most_often_with_its_last_message() -> None:
    breaker = Breaker()
    for message in ("first", "second", "third"):
        breaker.note(0, Fault("model_auth", message))
    faults(breaker, 2)
    assert breaker.cause == Fault("model_auth", "3 of the last 5 attempts ended so; third")


# As the tables have it


def test_the_book_counts_as_the_tables_do(tmp_path: Path) -> None:
    store, chance, run = LocalStore(tmp_path), random.Random(7), "r.1"
    cells = [PlannedCell(cell=cell, task_ids=[f"t{number}" for number in range(20)]) for cell in (CELL, OTHER)]
    put_run(store, run, cells, trials=2)
    for cell, task, trial in (
        (found.cell, task, trial) for found in cells for task in found.task_ids for trial in (0, 1)
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
    book = Book(2)
    for record in results.attempts:
        book.note(record)
    summary = summarise(results)
    assert book.cost_usd == pytest.approx(summary.total.cost_usd)
    assert book.success == pytest.approx(summary.total.success_rate)
    assert {key: (sum(scores.values()), len(scores)) for key, scores in book.scores().items()} == {
        found.cell.key: (found.score.passed, found.score.scored) for found in summary.cells if found.score.scored
    }
    assert (book.count(Outcome.PASSED), book.count(Outcome.FAILED)) == (summary.total.passed, summary.total.failed)
    assert book.count(Outcome.CONFIG_ERROR) == summary.total.ended_as(Outcome.CONFIG_ERROR)
