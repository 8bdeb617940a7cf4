"""Results of earlier invocations of a run, read from single records or from chunks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial

from opsgym.local.record import COMPACT_FROM, compact_if_large, note_rows, prior_state, with_records
from opsgym_api.records.attempt import TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore

RUN = "demo.1"


def started(store: LocalStore, tasks: int, trials: int = 1) -> None:
    """Writes a run with a trial that passed after an infra error, and one that has no score."""
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=[f"t{number}" for number in range(tasks)])], trials=trials)
    put_attempt(store, RUN, "t0", Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=0.5)
    put_attempt(store, RUN, "t0", Outcome.PASSED, attempt=1, cost_usd=0.25)
    put_trial(store, RUN, "t0", Outcome.PASSED, attempt=1)
    put_attempt(store, RUN, "t1", Outcome.CONFIG_ERROR, reason="invalid_row", message="row 2: no verifiers")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def ledger_of(store: LocalStore) -> AttemptLedger:
    ledger = AttemptLedger(infra_retries=2)
    note_rows(ledger, load_rows(store, RUN))
    return ledger


def test_a_later_invocation_knows_scores_attempts_spend_and_problems(store: LocalStore) -> None:
    started(store, 3)
    prior, ledger = prior_state(load_rows(store, RUN)), ledger_of(store)
    first, second = TrialId(CELL.key, "t0", 0), TrialId(CELL.key, "t1", 0)
    assert prior.scored == {first}
    assert [ledger.state(key).attempts for key in (first, second)] == [2, 1]
    assert [ledger.state(key).cost_usd for key in (first, second)] == [0.75, 0.0]
    assert (prior.latest[second].message, prior.latest[second].run) == ("row 2: no verifiers", RUN)


def test_an_attempt_that_claims_a_score_without_a_trial_record_counts_as_lost(store: LocalStore) -> None:
    started(store, 3)
    put_attempt(store, RUN, "t2", Outcome.PASSED, cost_usd=1.0)
    lost = TrialId(CELL.key, "t2", 0)
    assert lost not in prior_state(load_rows(store, RUN)).scored
    assert ledger_of(store).state(lost).outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize(
    ("tasks", "trials", "chunks"),
    [(COMPACT_FROM - 1, 1, 0), (COMPACT_FROM, 1, 1), (COMPACT_FROM // 2, 2, 1), (COMPACT_FROM // 2 - 1, 2, 0)],
)
def test_only_large_runs_are_compacted_and_the_prior_state_is_unchanged(
    store: LocalStore, tasks: int, trials: int, chunks: int
) -> None:
    started(store, tasks, trials)
    prior = prior_state(load_rows(store, RUN))
    compact_if_large(store, load_record(store, RUN))
    assert len(list(store.keys(RunKeys(RUN).chunks))) == chunks
    assert prior_state(load_rows(store, RUN)) == prior


def test_an_attempt_that_the_store_could_not_take_still_counts(store: LocalStore) -> None:
    started(store, 3)
    open_attempt = put_attempt(store, RUN, "t2", None, cost_usd=0.125)
    ended = replace(open_attempt, outcome=Outcome.INFRA_ERROR, reason="store_lost", cost_usd=0.5)
    total = summarise(with_records(load_rows(store, RUN), [ended])).total
    assert total.not_scored == {"config_error/invalid_row": 1, "infra_error/store_lost": 1}
    assert total.cost_usd == 0.75 + 0.5
