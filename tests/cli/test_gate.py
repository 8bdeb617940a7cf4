"""GO or NO-GO, with the number that decided."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial

from opsgym_api.errors import InputError
from opsgym_api.evalrun import Gate
from opsgym_api.gate import Check, Standing, check_gate, find_baseline, standing_of
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell, PlannedCell
from opsgym_api.results import load_run
from opsgym_api.scores import summarise
from opsgym_api.store import LocalStore

OTHER = Cell(model="m", agent="react", mode="oracle", domain="hr")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def summary(store: LocalStore, run: str = "demo.1", **passed_of: tuple[int, int]) -> Standing:
    """A run with passed-of-scored trials by domain."""
    cells = {"itsm": CELL, "hr": OTHER}
    plan = [
        PlannedCell(cell=cells[domain], task_ids=[f"t{n}" for n in range(max(total, 1))])
        for domain, (_, total) in passed_of.items()
    ]
    put_run(store, run, plan)
    for domain, (passed, total) in passed_of.items():
        for number in range(total):
            outcome = Outcome.PASSED if number < passed else Outcome.FAILED
            put_trial(store, run, f"t{number}", outcome, cells[domain])
    return standing_of(summarise(load_run(store, run)))


def only(checks: list[Check]) -> Check:
    (check,) = checks
    return check


def test_the_worst_cell_decides_about_the_success_rate(store: LocalStore) -> None:
    found = summary(store, itsm=(3, 4), hr=(1, 2))
    check = only(check_gate(Gate(min_success_rate=0.5), found, None))
    assert check.holds
    assert check.told == "success rate 50.0% in m/react/oracle/hr, the worst cell; at least 50.0% is required"
    assert not only(check_gate(Gate(min_success_rate=0.51), found, None)).holds


def test_a_cell_without_a_score_is_never_a_go(store: LocalStore) -> None:
    check = only(check_gate(Gate(min_success_rate=0), summary(store, itsm=(1, 1), hr=(0, 0)), None))
    assert check == Check(False, "success rate is not known: nothing is scored in m/react/oracle/hr")


def test_an_unknown_cost_is_never_a_go(store: LocalStore) -> None:
    found = summary(store, itsm=(1, 2))
    assert only(check_gate(Gate(max_cost_usd=0.5), found, None)).holds
    assert not only(check_gate(Gate(max_cost_usd=0.49), found, None)).holds
    put_trial(store, "demo.1", "t0", Outcome.PASSED, cost_usd=None)
    found = standing_of(summarise(load_run(store, "demo.1")))
    check = only(check_gate(Gate(max_cost_usd=1000), found, None))
    assert check == Check(False, "cost unknown; at most $1000.00 is allowed")


def test_infra_errors_are_a_share_of_all_trials(store: LocalStore) -> None:
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c", "d"])])
    for task_id in ("a", "b", "c"):
        put_trial(store, "demo.1", task_id, Outcome.PASSED)
    put_attempt(store, "demo.1", "d", Outcome.INFRA_ERROR, reason="gym_lost")
    found = standing_of(summarise(load_run(store, "demo.1")))
    check = only(check_gate(Gate(max_infra_error_rate=0.25), found, None))
    assert check == Check(True, "infra errors 1 of 4 trials, 25.0%; at most 25.0% is allowed")
    assert not only(check_gate(Gate(max_infra_error_rate=0.2), found, None)).holds


def test_the_largest_drop_against_the_baseline_decides(store: LocalStore) -> None:
    before = summary(store, "demo.1", itsm=(8, 10), hr=(5, 10))
    now = summary(store, "demo.2", itsm=(7, 10), hr=(9, 10))
    gate = Gate(baseline="demo.1", max_regression=0.1)
    check = only(check_gate(gate, now, before))
    told = "success rate down 10.0 points in m/react/oracle/itsm against demo.1; a drop of 10.0 points is allowed"
    assert check == Check(True, told)
    assert not only(check_gate(gate.model_copy(update={"max_regression": 0.09}), now, before)).holds


def test_runs_without_a_common_cell_cannot_be_compared(store: LocalStore) -> None:
    before, now = summary(store, "demo.1", hr=(1, 1)), summary(store, "demo.2", itsm=(1, 1))
    check = only(check_gate(Gate(baseline="demo.1", max_regression=1), now, before))
    assert check == Check(False, "regression is not known: no cell is scored here and in demo.1")


def test_a_baseline_named_like_the_run_means_the_one_before_it(store: LocalStore) -> None:
    put_run(store, "demo.1", [], created_at="2026-01-01T00:00:00Z")
    put_run(store, "demo.2", [], created_at="2026-01-02T00:00:00Z")
    put_run(store, "demo.3", [], created_at="2026-01-03T00:00:00Z")
    assert find_baseline(store, "demo", own="demo.3").run == "demo.2"
    assert find_baseline(store, "demo.1", own="demo.3").run == "demo.1"


def test_a_run_is_not_its_own_baseline(store: LocalStore) -> None:
    put_run(store, "demo.1", [])
    with pytest.raises(InputError, match="is this run itself"):
        find_baseline(store, "demo", own="demo.1")
    with pytest.raises(InputError, match="holds no run 'other'"):
        find_baseline(store, "other", own="demo.1")


def test_every_condition_is_told(store: LocalStore) -> None:
    gate = Gate(min_success_rate=0.5, max_cost_usd=1, max_infra_error_rate=0)
    assert [check.holds for check in check_gate(gate, summary(store, itsm=(1, 1)), None)] == [True, True, True]
