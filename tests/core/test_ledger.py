"""The attempt ledger by cell, and trials that a repeated command tries again."""

from __future__ import annotations

from typing import Any

from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger

CELL = Cell(model="gold", agent="react", mode="oracle", domain="itsm")
OTHER = Cell(model="other", agent="react", mode="oracle", domain="itsm")
KEY = TrialId(CELL.key, "a", 0)


def attempt(
    outcome: Outcome | None, number: int = 0, task_id: str = "a", cell: Cell = CELL, **fields: Any
) -> AttemptRecord:
    return AttemptRecord(
        run="demo.0", cell=cell, task_id=task_id, trial=0, attempt=number, outcome=outcome,
        timings=Timings(started_at="2026-11-22T00:00:00Z"), **fields,
    )  # fmt: skip


def test_an_unknown_cost_affects_the_cost_of_its_own_cell_only() -> None:
    ledger = AttemptLedger(0)
    ledger.record(attempt(Outcome.PASSED, cost_usd=None))
    ledger.record(attempt(Outcome.PASSED, cell=OTHER, cost_usd=2.0))
    assert (ledger.cost_in(CELL.key), ledger.cost_in(OTHER.key)) == (None, 2.0)


def test_a_cell_counts_unscored_trials_by_their_latest_reason() -> None:
    ledger = AttemptLedger(2)
    ledger.record(attempt(Outcome.INFRA_ERROR, reason="gym_lost"))
    ledger.record(attempt(Outcome.CANCELLED, task_id="b"))
    ledger.record(attempt(Outcome.PASSED, task_id="c"))
    assert ledger.reasons_in(CELL.key) == {"gym_lost": 1, "cancelled": 1}
    assert ledger.ended_in(CELL.key) == 3
    ledger.record(attempt(Outcome.INFRA_ERROR, 1, reason="model_timeout"))
    assert ledger.reasons_in(CELL.key) == {"model_timeout": 1, "cancelled": 1}
    ledger.record(attempt(Outcome.PASSED, 2))
    assert ledger.reasons_in(CELL.key) == {"cancelled": 1}
    assert ledger.reasons_in(OTHER.key) == {}


def test_a_reopened_trial_has_all_its_retries_and_keeps_its_numbers_and_spend() -> None:
    ledger = AttemptLedger(1)
    for number in range(2):
        ledger.record(attempt(Outcome.INFRA_ERROR, number, reason="gym_lost", cost_usd=1.0))
    assert ledger.is_settled(KEY)
    ledger.reopen([KEY, TrialId(CELL.key, "never attempted", 0)])
    assert not ledger.is_settled(KEY)
    assert (ledger.settled_in(CELL.key), ledger.ended_in(CELL.key), ledger.reasons_in(CELL.key)) == (0, 0, {})
    assert (ledger.state(KEY).attempts, ledger.spent, ledger.largest) == (2, 2.0, 2.0)
    ledger.record(attempt(Outcome.INFRA_ERROR, 2, reason="gym_lost"))
    assert not ledger.is_settled(KEY)
    ledger.record(attempt(Outcome.INFRA_ERROR, 3, reason="gym_lost"))
    assert ledger.is_settled(KEY)


def test_a_scored_trial_stays_scored_when_reopened() -> None:
    ledger = AttemptLedger(0)
    ledger.record(attempt(Outcome.FAILED, reason="verifiers"))
    ledger.reopen([KEY])
    assert (ledger.scored, ledger.settled_in(CELL.key)) == (1, 1)


def test_a_reopened_trial_that_is_skipped_again_is_counted_by_its_earlier_attempt() -> None:
    ledger = AttemptLedger(0)
    skipped = attempt(Outcome.BUDGET_SKIPPED, reason="budget")
    assert ledger.record(skipped)
    ledger.reopen([KEY])
    assert ledger.count_in(CELL.key, Outcome.BUDGET_SKIPPED) == 0
    for _ in range(2):
        assert not ledger.record(skipped)
        assert (ledger.count_in(CELL.key, Outcome.BUDGET_SKIPPED), ledger.reasons_in(CELL.key)) == (1, {"budget": 1})
    ledger.reopen([KEY])
    assert ledger.record(attempt(Outcome.PASSED, 1))
    assert not ledger.record(skipped)
    assert (ledger.scored, ledger.count_in(CELL.key, Outcome.BUDGET_SKIPPED)) == (1, 0)
