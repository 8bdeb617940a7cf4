"""Verdicts of quality gates, their messages, and the choice of the baseline run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial

from opsgym.commands.gate import read_gate
from opsgym.main import invoke
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import GateCheck, GateRecord, Verdict
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.gates.baseline import find_baseline, find_last_good
from opsgym_core.gates.judge import Baseline, CellScores, JudgedRun, Judgement, RunScores, judge, judged_run, run_scores
from opsgym_core.gates.power import Assumptions, Design, power_of, task_rate, tasks_needed
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.paired import difference_interval
from opsgym_core.results.score import summarise
from opsgym_core.results.statistics import mean_interval
from opsgym_core.store.local import LocalStore

OTHER = Cell(model="m", agent="react", mode="oracle", domain="hr")
CELLS = {"itsm": CELL, "hr": OTHER}


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def scores(run: str = "demo.1", suite: str = "s", **passed_of: tuple[int, int]) -> RunScores:
    """Passed-of-scored tasks by domain, one trial each; the first ones pass."""
    cells = [
        CellScores(CELLS[domain], {(f"t{n:04}", 0): int(n < passed) for n in range(total)})
        for domain, (passed, total) in passed_of.items()
    ]
    return RunScores(run, suite, cells)


def standing(scores_of_run: RunScores, **fields: Any) -> JudgedRun:
    return replace(JudgedRun(scores_of_run, total=10, lost={}, cost_usd=0.5), **fields)


def only(judgement: Judgement) -> GateCheck:
    """The only condition besides infra errors, which every gate judges, and the guard of cells."""
    (check,) = [
        check
        for check in judgement.checks
        if check.condition not in {"maxInfraErrorRate", "maxUnscoredRate", "maxCellRegression"}
    ]
    return check


def named(judgement: Judgement, condition: str) -> GateCheck:
    (check,) = [check for check in judgement.checks if check.condition == condition]
    return check


# Success


@pytest.mark.parametrize(
    ("passed", "total", "least", "verdict"),
    [
        (20, 20, 0.88, "GO"),
        (20, 20, 0.89, "INCONCLUSIVE"),
        (0, 20, 0.11, "INCONCLUSIVE"),
        (0, 20, 0.12, "NO-GO"),
        (50, 100, 0.41, "GO"),
        (50, 100, 0.42, "INCONCLUSIVE"),
        (50, 100, 0.58, "INCONCLUSIVE"),
        (50, 100, 0.59, "NO-GO"),
        (1, 1, 0.0, "GO"),
        (1, 1, 0.9, "INCONCLUSIVE"),
        (0, 1, 1.0, "NO-GO"),
    ],
)
def test_the_bounds_of_a_success_rate_decide(passed: int, total: int, least: float, verdict: Verdict) -> None:
    """Each bound has the confidence of the gate: together they are an interval of 90 %."""
    check = only(judge(Gate(min_success_rate=least), standing(scores(itsm=(passed, total))), None))
    assert check.verdict == verdict
    interval = mean_interval([1.0] * passed + [0.0] * (total - passed), total, 0.9)
    assert interval is not None
    assert (check.verdict == "GO") == (interval.low >= least)
    assert (check.verdict == "NO-GO") == (interval.high < least)


@pytest.mark.parametrize("ends", ["low", "high"])
def test_a_bound_that_is_exactly_the_minimum_meets_it(ends: str) -> None:
    interval = mean_interval([1.0] * 7 + [0.0] * 3, 10, 0.9)
    measured = standing(scores(itsm=(7, 10)))
    verdict = only(judge(Gate(min_success_rate=getattr(interval, ends)), measured, None)).verdict
    assert verdict == {"low": "GO", "high": "INCONCLUSIVE"}[ends]


def test_a_lower_confidence_needs_fewer_tasks_for_a_verdict() -> None:
    measured = standing(scores(itsm=(9, 10)))
    sure, fair = (judge(Gate(min_success_rate=0.7, confidence=share), measured, None) for share in (0.95, 0.8))
    assert (sure.verdict, fair.verdict) == ("INCONCLUSIVE", "GO")
    assert "(one-sided 80% bounds " in only(fair).message


def test_ten_trials_of_a_task_widen_the_interval_compared_with_ten_tasks() -> None:
    often = {(f"t{n}", trial): int(n < 9) for n in range(10) for trial in range(10)}
    measured = standing(RunScores("demo.1", "s", [CellScores(CELL, often)]))
    assert judge(Gate(min_success_rate=0.75), measured, None).verdict == "INCONCLUSIVE"
    assert judge(Gate(min_success_rate=0.75), standing(scores(itsm=(90, 100))), None).verdict == "GO"


def test_the_mean_over_the_tasks_of_all_cells_decides() -> None:
    measured = standing(scores(itsm=(95, 100), hr=(5, 10)))
    check = only(judge(Gate(min_success_rate=0.8), measured, None))
    assert check == GateCheck(
        condition="minSuccessRate",
        verdict="GO",
        message="success rate 90.9% (one-sided 95% bounds 85.4% and 94.5%, 110 tasks); at least 80.0% is required",
    )


def test_cells_are_guarded_by_tests_that_are_corrected_for_their_number() -> None:
    gate = Gate(min_cell_success_rate=0.8)
    measured = standing(scores(itsm=(95, 100), hr=(5, 10)))
    check = only(judge(gate, measured, None))
    assert (check.verdict, check.condition) == ("NO-GO", "minCellSuccessRate")
    assert check.message.startswith("success rate 50.0% in m/react/oracle/hr (p = 0.018); at least 80.0%")
    assert only(judge(gate, standing(scores(itsm=(95, 100), hr=(7, 10))), None)).verdict == "GO"


def test_a_chance_low_of_one_of_many_cells_is_no_no_go() -> None:
    """A cell that alone would be significant is not among 32."""
    cells = [Cell(model=f"m{number}", agent="react", mode="oracle", domain="itsm") for number in range(32)]
    passed = dict.fromkeys(cells, 50) | {cells[0]: 41}
    results = {
        count: judge(
            Gate(min_cell_success_rate=0.5),
            standing(
                RunScores(
                    "demo.1",
                    "s",
                    [
                        CellScores(cell, {(f"t{n}", 0): int(n < passed[cell]) for n in range(100)})
                        for cell in cells[:count]
                    ],
                )
            ),
            None,
        ).verdict
        for count in (1, 32)
    }
    assert results == {1: "NO-GO", 32: "GO"}


def test_a_cell_without_scored_trials_is_never_a_go() -> None:
    check = only(judge(Gate(min_success_rate=0), standing(scores(itsm=(1, 1), hr=(0, 0))), None))
    assert (check.verdict, check.message) == (
        "INCONCLUSIVE",
        "success rate is not known: nothing is scored in m/react/oracle/hr",
    )
    assert judge(Gate(min_success_rate=0), standing(scores()), None).verdict == "INCONCLUSIVE"
    assert judge(Gate(min_success_rate=0.5), standing(scores(itsm=(0, 99), hr=(0, 0))), None).verdict == "NO-GO"
    assert only(judge(Gate(min_cell_success_rate=0.5), standing(scores(itsm=(0, 0))), None)).verdict == "GO"


def estimated_tasks(message: str) -> int:
    return int(message.partition("; about ")[2].split()[0])


@pytest.mark.parametrize(("passed", "total", "least"), [(12, 12, 0.9), (40, 50, 0.75), (60, 100, 0.55)])
def test_the_estimated_number_of_further_tasks_reaches_a_verdict(passed: int, total: int, least: float) -> None:
    gate = Gate(min_success_rate=least)
    estimate = estimated_tasks(only(judge(gate, standing(scores(itsm=(passed, total))), None)).message)

    def verdict(tasks: int) -> Verdict:
        larger = scores(itsm=(round(passed * tasks / total), tasks))
        return judge(gate, standing(larger), None).verdict

    assert verdict(total + estimate * 3 // 4) == "INCONCLUSIVE"
    assert verdict(total + estimate * 5 // 4 + 1) != "INCONCLUSIVE"


def test_a_rate_equal_to_the_minimum_gets_no_estimate_of_further_tasks() -> None:
    check = only(judge(Gate(min_success_rate=0.5), standing(scores(itsm=(5, 10))), None))
    assert check.message.endswith("; that is too near to be distinguished by more tasks")


# Cost and infrastructure errors


def test_an_unknown_cost_is_never_a_go() -> None:
    measured = scores(itsm=(1, 2))
    assert only(judge(Gate(max_cost_usd=0.5), standing(measured), None)).verdict == "GO"
    assert only(judge(Gate(max_cost_usd=0.49), standing(measured), None)).verdict == "NO-GO"
    check = only(judge(Gate(max_cost_usd=1000), standing(measured, cost_usd=None), None))
    assert (check.verdict, check.message) == ("NO-GO", "cost unknown; at most $1000.00 is allowed")


def test_the_infra_error_rate_is_a_share_of_all_trials(store: LocalStore) -> None:
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c", "d"])])
    for task_id in ("a", "b", "c"):
        put_trial(store, "demo.1", task_id, Outcome.PASSED)
    put_attempt(store, "demo.1", "d", Outcome.INFRA_ERROR, reason="gym_lost")
    rows = load_rows(store, "demo.1")
    measured = judged_run(rows, summarise(rows), {})
    check = named(judge(Gate(max_infra_error_rate=0.25), measured, None), "maxInfraErrorRate")
    assert (check.verdict, check.message) == ("GO", "infra errors 1 of 4 trials, 25.0%; at most 25.0% is allowed")
    assert judge(Gate(max_infra_error_rate=0.2), measured, None).verdict == "NO-GO"
    assert judge(Gate(max_infra_error_rate=0), standing(scores(), total=0), None).verdict == "GO"


def test_a_gate_tolerates_2_percent_infra_errors_unless_it_says_otherwise() -> None:
    verdicts = [
        judge(Gate(), standing(scores(), total=100, lost={"infra_error/gym_lost": count}), None).verdict
        for count in (2, 3)
    ]
    assert verdicts == ["GO", "NO-GO"]
    assert (
        judge(
            Gate(max_infra_error_rate=1, max_unscored_rate=1),
            standing(scores(), total=3, lost={"infra_error": 3}),
            None,
        ).verdict
        == "GO"
    )


# Regression

REGRESSION = Gate(baseline="demo.0", max_regression=0.1)


@pytest.mark.parametrize(
    ("before", "after", "total", "most", "verdict"),
    [
        (50, 50, 100, 0.1, "GO"),
        (50, 50, 20, 0.1, "INCONCLUSIVE"),
        (50, 70, 100, 0.0, "GO"),
        (100, 80, 100, 0.1, "NO-GO"),
        (100, 90, 100, 0.1, "INCONCLUSIVE"),
        (100, 95, 100, 0.1, "GO"),
        (100, 0, 100, 1.0, "GO"),
    ],
)
def test_the_interval_of_paired_differences_decides_a_regression(
    before: int, after: int, total: int, most: float, verdict: Verdict
) -> None:
    then, now = scores("demo.0", itsm=(before, total)), scores(itsm=(after, total))
    judgement = judge(REGRESSION.model_copy(update={"max_regression": most}), standing(now), Baseline(then))
    assert only(judgement).verdict == verdict
    differences = [float(n < after) - float(n < before) for n in range(total)]
    interval = difference_interval(differences, total, 0.9)
    assert interval is not None
    assert (verdict == "GO") == (interval.low >= -most)
    assert (verdict == "NO-GO") == (interval.high < -most)
    assert judgement.regression == pytest.approx((min(before, total) - min(after, total)) / total)


def test_equal_means_are_inconclusive_when_other_tasks_fail() -> None:
    """The verdict depends on paired differences of tasks, not on the two means alone."""
    then = scores("demo.0", itsm=(50, 100))
    swapped = RunScores("demo.1", "s", [CellScores(CELL, {(f"t{n:04}", 0): int(n >= 50) for n in range(100)})])
    assert judge(REGRESSION, standing(scores(itsm=(50, 100))), Baseline(then)).verdict == "GO"
    assert judge(REGRESSION, standing(swapped), Baseline(then)).verdict == "INCONCLUSIVE"


def test_the_mean_over_the_tasks_of_all_cells_decides_a_regression() -> None:
    then = scores("demo.0", itsm=(80, 100), hr=(50, 100))
    judgement = judge(REGRESSION, standing(scores(itsm=(75, 100), hr=(52, 100))), Baseline(then))
    assert only(judgement).message == (
        "success rate down 1.5 points (one-sided 95% bounds down 3.9 points and up 0.9 points, 200 tasks) "
        "against demo.0; a drop of 10.0 points is allowed"
    )
    assert (judgement.verdict, judgement.baseline) == ("GO", "demo.0")
    assert judgement.regression == pytest.approx(0.015)


def test_a_cell_that_is_shown_to_have_fallen_is_a_no_go() -> None:
    then = scores("demo.0", itsm=(80, 100), hr=(50, 100))
    judgement = judge(REGRESSION, standing(scores(itsm=(40, 100), hr=(90, 100))), Baseline(then))
    assert (only(judgement).verdict, judgement.verdict) == ("GO", "NO-GO")
    guard = named(judgement, "maxCellRegression")
    assert guard.message.startswith("success rate down 40.0 points in m/react/oracle/itsm (p = ")
    loose = REGRESSION.model_copy(update={"max_cell_regression": 0.5})
    assert judge(loose, standing(scores(itsm=(40, 100), hr=(90, 100))), Baseline(then)).verdict == "GO"


def test_a_task_of_many_cells_counts_once() -> None:
    cells = [Cell(model=f"m{number}", agent="react", mode="oracle", domain="itsm") for number in range(8)]

    def run(name: str, passed: int) -> RunScores:
        return RunScores(
            name, "s", [CellScores(cell, {(f"t{n}", 0): int(n < passed) for n in range(20)}) for cell in cells]
        )

    judgement = judge(REGRESSION, standing(run("demo.1", 20)), Baseline(run("demo.0", 20)))
    assert "20 tasks)" in only(judgement).message


def test_only_common_tasks_are_compared_and_the_message_notes_different_suites() -> None:
    then = scores("demo.0", "old", itsm=(100, 100))
    judgement = judge(REGRESSION, standing(scores(suite="new", itsm=(100, 150))), Baseline(then))
    assert judgement.verdict == "GO"
    assert "100 tasks) against demo.0" in only(judgement).message
    assert "; the runs' suites differ, and only tasks of both count" in only(judgement).message


def test_trials_beyond_those_of_the_baseline_narrow_the_bounds() -> None:
    """Every other task fails one trial of two: the first trials alone say that half of the tasks are lost."""

    def run(name: str, trials: int) -> RunScores:
        results = {(f"t{n:02}", trial): int(trial > 0 or n % 2) for n in range(40) for trial in range(trials)}
        return RunScores(name, "s", [CellScores(CELL, results)])

    before = RunScores("demo.0", "s", [CellScores(CELL, {(f"t{n:02}", 0): 1 for n in range(40)})])
    gate = Gate(baseline="demo.0", max_regression=0.3)
    drops = [judge(gate, standing(run("demo.1", trials)), Baseline(before)).regression for trials in (1, 4)]
    assert drops == [0.5, 0.125]
    assert named(judge(gate, standing(run("demo.1", 4)), Baseline(before)), "maxRegression").verdict == "GO"


def test_a_cell_without_common_scored_tasks_is_inconclusive() -> None:
    then = scores("demo.0", itsm=(100, 100), hr=(0, 0))
    judgement = judge(REGRESSION, standing(scores(itsm=(100, 100), hr=(1, 1))), Baseline(then))
    assert (only(judgement).verdict, only(judgement).message) == (
        "INCONCLUSIVE",
        "regression is not known: no task of m/react/oracle/hr is scored here and in demo.0",
    )
    worse = judge(REGRESSION, standing(scores(itsm=(0, 100), hr=(1, 1))), Baseline(then))
    assert worse.verdict == "NO-GO", "a NO-GO of one cell does not need the other cell"


def test_a_cell_missing_from_the_baseline_is_excluded_and_named() -> None:
    then = scores("demo.0", itsm=(100, 100))
    judgement = judge(REGRESSION, standing(scores(itsm=(100, 100), hr=(0, 9))), Baseline(then))
    assert judgement.verdict == "GO"
    assert only(judgement).message.endswith("; not compared, since that run does not have it: m/react/oracle/hr")
    apart = judge(REGRESSION, standing(scores(hr=(1, 1))), Baseline(then))
    assert (apart.verdict, apart.regression) == ("INCONCLUSIVE", None)


def test_without_an_earlier_good_run_max_regression_is_a_go_with_a_note() -> None:
    judgement = judge(Gate(last_good=True, max_regression=0.1), standing(scores(itsm=(0, 9))), Baseline(None))
    assert (judgement.verdict, judgement.baseline, judgement.regression) == ("GO", "", None)
    assert "no earlier run is good" in only(judgement).message


def test_a_missing_baseline_run_is_a_no_go() -> None:
    gone = Problem("spec.gate.baseline", "holds no run 'demo.0'")
    judgement = judge(REGRESSION, standing(scores(itsm=(9, 9))), gone)
    assert (judgement.verdict, only(judgement).message) == ("NO-GO", "spec.gate.baseline: holds no run 'demo.0'")


# Verdict of all conditions


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ((), "GO"),
        (("GO", "GO"), "GO"),
        (("GO", "INCONCLUSIVE"), "INCONCLUSIVE"),
        (("NO-GO", "INCONCLUSIVE", "GO"), "NO-GO"),
    ],
)
def test_the_worst_condition_is_the_verdict(verdicts: tuple[Verdict, ...], whole: Verdict) -> None:
    checks = tuple(GateCheck(condition="c", verdict=verdict, message="") for verdict in verdicts)
    assert Judgement(checks).verdict == whole


def test_every_condition_is_reported() -> None:
    gate = Gate(min_success_rate=0.5, max_cost_usd=1, max_infra_error_rate=0, baseline="demo.0", max_regression=0.5)
    judgement = judge(gate, standing(scores(itsm=(10, 10))), Baseline(scores("demo.0", itsm=(10, 10))))
    assert [check.condition for check in judgement.checks] == [
        "minSuccessRate", "maxCostUsd", "maxInfraErrorRate", "maxUnscoredRate", "maxRegression",
    ]  # fmt: skip
    assert judgement.verdict == "GO"


def test_a_task_whose_row_changed_is_not_paired_and_is_named() -> None:
    """Ten rows became so hard that every trial fails; that says nothing about the agent."""
    then, now = scores("demo.0", "old", itsm=(100, 100)), scores(suite="new", itsm=(90, 100))
    digests = {f"t{n:04}": "1" for n in range(100)}
    changed = digests | {f"t{n:04}": "2" for n in range(90, 100)}
    assert judge(REGRESSION, standing(now), Baseline(then)).regression == pytest.approx(0.1)
    judgement = judge(REGRESSION, standing(replace(now, digests=changed)), Baseline(replace(then, digests=digests)))
    assert (judgement.regression, judgement.verdict) == (0, "GO")
    assert "90 tasks) against demo.0" in only(judgement).message
    names = ", ".join(f"t00{n}" for n in range(90, 100))
    assert only(judgement).message.endswith(f"; not compared, because their rows differ: {names}")


def test_a_gate_whose_every_row_changed_is_inconclusive_and_says_why() -> None:
    then = replace(scores("demo.0", itsm=(1, 2)), digests={"t0000": "1", "t0001": "1"})
    now = replace(scores(itsm=(1, 2)), digests={"t0000": "2", "t0001": "2"})
    judgement = judge(REGRESSION, standing(now), Baseline(then))
    assert judgement.verdict == "INCONCLUSIVE"
    assert only(judgement).message.endswith("; not compared, because their rows differ: t0000, t0001")


# Which run a gate compares with


def put_index(store: LocalStore, run: str, **digests: str) -> None:
    entries = [SuiteEntry(task_id=name, domain="itsm", gyms=["itsm"], digest=one) for name, one in digests.items()]
    store.put(RunKeys(run).suite_index, SuiteIndex(entries=entries).model_dump_json().encode())


def test_a_baseline_with_the_runs_own_name_means_the_previous_run(store: LocalStore) -> None:
    put_run(store, "demo.1", [], created_at="2026-01-01T00:00:00Z")
    put_run(store, "demo.2", [], created_at="2026-01-02T00:00:00Z")
    put_run(store, "demo.3", [], created_at="2026-01-03T00:00:00Z")
    assert chosen(find_baseline(store, "demo", own="demo.3")) == "demo.2"
    assert chosen(find_baseline(store, "demo.1", own="demo.3")) == "demo.1"


def test_a_baseline_never_comes_from_another_namespace_unless_that_shares_its_runs(store: LocalStore) -> None:
    put_run(store, "a.nightly.1", [], created_at="2026-01-01T00:00:00Z", name="nightly")
    put_run(store, "b.nightly.2", [], created_at="2026-01-02T00:00:00Z", name="nightly")
    assert chosen(find_baseline(store, "nightly", "a.nightly.3", ["a"])) == "a.nightly.1"
    for foreign in ("b.nightly.2", "b.", "weekly"):
        with pytest.raises(InputError) as caught:
            find_baseline(store, foreign, "a.nightly.3", ["a"])
        assert "b.nightly.2;" not in str(caught.value), "its name is not shown"
    assert chosen(find_baseline(store, "nightly", "a.nightly.3", ["a", "b"])) == "b.nightly.2"


def test_a_baseline_is_found_without_reading_runs_of_other_names(store: LocalStore) -> None:
    read: set[str] = set()

    class RecordingStore(LocalStore):
        def get(self, key: str) -> bytes | None:
            read.add(key.split("/")[1])
            return super().get(key)

    runs = {"a.release.1": "release", "a.release.2": "release", "a.release.x.3": "release.x", "a.nightly.4": "nightly"}
    for day, (run, name) in enumerate(runs.items(), 1):
        put_run(store, run, [], created_at=f"2026-01-{day:02}T00:00:00Z", name=name)
    meant = {"release": "a.release.2", "a.release.1": "a.release.1", "a.release.x": "a.release.x.3"}
    for reference, run in meant.items():
        read.clear()
        assert chosen(find_baseline(RecordingStore(store.root), reference, "a.own.5", ["a"])) == run
        assert "a.nightly.4" not in read


def test_a_run_is_not_its_own_baseline(store: LocalStore) -> None:
    put_run(store, "demo.1", [])
    with pytest.raises(InputError, match="is this run itself"):
        find_baseline(store, "demo", own="demo.1")
    with pytest.raises(InputError, match="holds no run 'other'"):
        find_baseline(store, "other", own="demo.1")


def chosen(baseline: Baseline) -> str | None:
    return baseline.scores.run if baseline.scores else None


PLAN = [PlannedCell(cell=CELL, task_ids=["a", "b"])]


def put_judged(store: LocalStore, run: str, verdict: Verdict, day: int, **fields: Any) -> None:
    at = f"2026-01-{day:02}T00:00:00Z"
    judged = {name: fields.pop(name) for name in ("success", "anchor") if name in fields}
    put_run(store, run, fields.pop("plan", PLAN), created_at=at, **fields)
    record = GateRecord(run=run, verdict=verdict, checks=[], decided_at=at, **judged)
    store.put(RunKeys(run).gate_json, record.model_dump_json().encode())


def last_good(store: LocalStore, own: str) -> str | None:
    return chosen(find_last_good(store, load_record(store, own)))


def test_the_last_good_run_is_the_latest_run_of_the_same_name_with_verdict_go(store: LocalStore) -> None:
    put_run(store, "demo.own", PLAN)
    assert last_good(store, "demo.own") is None
    put_judged(store, "demo.a", "GO", 1)
    put_judged(store, "demo.b", "GO", 2)
    put_judged(store, "demo.c", "INCONCLUSIVE", 3)
    put_judged(store, "demo.d", "NO-GO", 4)
    put_judged(store, "other.e", "GO", 5)
    put_judged(store, "demo.more.f", "GO", 6, name="demo.more")
    assert last_good(store, "demo.own") == "demo.b"
    put_judged(store, "demo.own", "GO", 7)
    assert last_good(store, "demo.own") == "demo.b", "a run is not its own baseline"


def test_runs_of_a_schedule_are_compared_with_runs_of_that_schedule_and_namespace(store: LocalStore) -> None:
    put_judged(store, "team.nightly-100.u1", "GO", 1, name="nightly-100", schedule="nightly")
    put_judged(store, "team.nightly-200.u2", "GO", 2, name="nightly-200")
    put_judged(store, "team.nightly-x-300.u3", "GO", 3, name="nightly-x-300", schedule="nightly-x")
    put_judged(store, "desk.nightly-400.u4", "GO", 4, name="nightly-400", schedule="nightly")
    put_run(store, "team.nightly-500.u5", PLAN, name="nightly-500", schedule="nightly")
    assert last_good(store, "team.nightly-500.u5") == "team.nightly-100.u1"
    put_run(store, "team.nightly-200.u6", PLAN, name="nightly-200")
    assert last_good(store, "team.nightly-200.u6") == "team.nightly-200.u2"


def test_a_good_run_without_common_tasks_is_not_a_baseline(store: LocalStore) -> None:
    put_judged(store, "demo.a", "GO", 1)
    put_judged(store, "demo.b", "GO", 2, plan=[PlannedCell(cell=OTHER, task_ids=["a"])])
    put_judged(store, "demo.c", "GO", 3, plan=[PlannedCell(cell=CELL, task_ids=["z"])])
    put_run(store, "demo.own", PLAN)
    assert last_good(store, "demo.own") == "demo.a"


def test_a_good_run_whose_common_tasks_are_other_rows_is_not_a_baseline(store: LocalStore) -> None:
    for day, (run, digests) in enumerate({"demo.a": ("1", "2"), "demo.b": ("8", "9")}.items(), 1):
        put_judged(store, run, "GO", day, suite_digest=run)
        put_index(store, run, a=digests[0], b=digests[1])
    put_run(store, "demo.own", PLAN, suite_digest="own")
    put_index(store, "demo.own", a="1", b="3")
    baseline = find_last_good(store, load_record(store, "demo.own"))
    assert chosen(baseline) == "demo.a"
    assert baseline.scores is not None
    assert baseline.scores.digests == {"a": "1", "b": "2"}


def test_the_best_of_the_last_good_runs_is_chosen_by_its_recorded_success_rate(store: LocalStore) -> None:
    for day, success in enumerate((0.9, 0.6, 0.7, 0.5), 1):
        put_judged(store, f"demo.{day}", "GO", day, success=success)
    put_run(store, "demo.own", PLAN)
    record = load_record(store, "demo.own")
    assert [chosen(find_last_good(store, record, best_of)) for best_of in (1, 2, 3, 9)] == [
        "demo.4", "demo.3", "demo.3", "demo.1",
    ]  # fmt: skip


def test_drift_is_counted_from_the_first_good_run_of_the_series(store: LocalStore) -> None:
    put_judged(store, "demo.1", "GO", 1)
    put_judged(store, "demo.2", "GO", 2, anchor="demo.1")
    put_run(store, "demo.own", PLAN)
    baseline = find_last_good(store, load_record(store, "demo.own"))
    assert (chosen(baseline), baseline.anchor and baseline.anchor.run) == ("demo.2", "demo.1")
    put_judged(store, "demo.3", "GO", 3, anchor="demo.gone")
    baseline = find_last_good(store, load_record(store, "demo.own"))
    assert (chosen(baseline), baseline.anchor) == ("demo.3", None)
    assert baseline.note == "drift is counted from demo.3, since demo.gone cannot be compared any more"


def test_small_losses_cannot_add_up_unnoticed() -> None:
    """Each night loses 3 points, which a gate of 10 points allows; the sum of them is a NO-GO."""
    gate = Gate(last_good=True, max_regression=0.1)
    first = previous = scores("demo.0", itsm=(180, 200))
    verdicts = []
    for night in range(1, 8):
        now = scores(f"demo.{night}", itsm=(180 - 6 * night, 200))
        anchor = None if previous is first else first
        judgement = judge(gate, standing(now), Baseline(previous, anchor))
        verdicts.append(judgement.verdict)
        assert judgement.anchor == "demo.0"
        if judgement.verdict == "GO":
            previous = now
    assert verdicts[:4] == ["GO"] * 4
    assert verdicts[4:] == ["NO-GO"] * 3


def test_only_records_of_the_chosen_baseline_are_read(store: LocalStore) -> None:
    read: list[str] = []

    class RecordingStore(LocalStore):
        def get(self, key: str) -> bytes | None:
            read.append(key)
            return super().get(key)

    for number in range(1, 6):
        put_judged(store, f"demo.{number}", "GO", number)
        for task_id in ("a", "b"):
            put_trial(store, f"demo.{number}", task_id, Outcome.PASSED)
    put_run(store, "demo.own", PLAN)
    recording_store = RecordingStore(store.root)
    baseline = find_last_good(recording_store, load_record(recording_store, "demo.own"))
    assert baseline.scores is not None
    assert [cell.scores for cell in baseline.scores.cells] == [{("a", 0): 1, ("b", 0): 1}]
    opened = {key.split("/")[1] for key in read if "/cells/" in key}
    assert opened == {"demo.5"}


# The command


PASSED = "success rate 90.0% (one-sided 95% bounds 73.8% and 97.3%, 20 tasks); at least 50.0% is required"
RUN = """
apiVersion: opsgym.dev/v1alpha1
kind: EvalRun
metadata: {name: n}
spec:
  suite: {builtin: q}
  models: [{name: m, inline: {model: replay/gold}}]
"""


@pytest.fixture
def finished(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Judges a finished run of 20 tasks, 18 of them passed, that cost $5."""
    tasks = [f"t{n}" for n in range(20)]
    gate = {"minSuccessRate": 0.5}
    spec = {"suite": {"builtin": "q"}, "models": [{"name": "m", "inline": {"model": "replay/gold"}}], "gate": gate}
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=tasks)], spec=spec)
    for number, task_id in enumerate(tasks):
        put_trial(store, "demo.1", task_id, Outcome.PASSED if number < 18 else Outcome.FAILED)

    def judged(*arguments: str) -> tuple[int, str, str]:
        code = invoke(["gate", "demo", "--store", str(store.root), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return judged


@pytest.mark.parametrize(
    ("gate", "code", "verdict"),
    [("minSuccessRate: 0.6", 0, "GO"), ("maxCostUsd: 4", 3, "NO-GO"), ("minSuccessRate: 0.9", 4, "INCONCLUSIVE")],
)
def test_a_finished_run_is_judged_by_the_gate_of_a_file(
    finished: Callable[..., tuple[int, str, str]], tmp_path: Path, gate: str, code: int, verdict: str
) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(gate)
    ended, out, err = finished("--gate", str(file))
    assert (ended, out.splitlines()[0], err) == (code, f"gate: {verdict}", "")
    assert GateRecord.model_validate_json(finished("--gate", str(file), "--format", "json")[1]).verdict == verdict


def test_a_finished_run_is_judged_by_its_own_gate_and_nothing_is_written(
    finished: Callable[..., tuple[int, str, str]], store: LocalStore
) -> None:
    code, out, _ = finished()
    assert (code, out.splitlines()) == (
        0,
        [
            "gate: GO",
            f"  GO            {PASSED}",
            "  GO            infra errors 0 of 20 trials, 0.0%; at most 2.0% is allowed",
            "  GO            not scored 0 of 20 trials, 0.0%; at most 5.0% is allowed",
        ],
    )
    assert store.get(RunKeys("demo.1").gate_json) is None


def test_a_run_that_has_not_ended_is_judged_with_a_warning(
    finished: Callable[..., tuple[int, str, str]], store: LocalStore, tmp_path: Path
) -> None:
    cells = [PlannedCell(cell=CELL, task_ids=[f"t{n}" for n in range(23)])]
    put_run(store, "demo.1", cells)
    file = tmp_path / "gate.yaml"
    file.write_text("minSuccessRate: 0.5")
    code, _, err = finished("--gate", str(file))
    assert (code, err) == (3, "3 trials of demo.1 have not ended; they count as not scored\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("minSuccess: 1", "minSuccess (line 1)"),
        ("minSuccessRate: 2", "minSuccessRate (line 1)"),
        ("[]", "gate.yaml"),
        ("a: 1\n---\nb: 2", "gate.yaml"),
        ("maxRegression: 0.1", "maxRegression goes with baseline or lastGood"),
        (RUN, "spec.gate: is missing"),
    ],
)
def test_a_file_without_a_gate_is_refused_with_its_place(
    finished: Callable[..., tuple[int, str, str]], tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text(text)
    code, out, err = finished("--gate", str(file))
    assert (code, out) == (2, "")
    assert problem in err
    assert "Traceback" not in err


def test_a_missing_gate_file_is_refused(finished: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = finished("--gate", "nowhere.yaml")
    assert (code, err) == (2, "nowhere.yaml: cannot be read: No such file or directory\n")


def test_the_gate_of_an_evalrun_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(f"{RUN}  gate: {{maxCostUsd: 2}}\n")
    assert read_gate(file) == Gate(max_cost_usd=2)


def test_scores_of_a_run_are_those_of_its_records(store: LocalStore) -> None:
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b"]), PlannedCell(cell=OTHER, task_ids=["a"])])
    put_trial(store, "demo.1", "a", Outcome.PASSED)
    put_trial(store, "demo.1", "b", Outcome.FAILED)
    measured = run_scores(load_rows(store, "demo.1"), {})
    assert {cell.cell.domain: cell.scores for cell in measured.cells} == {"itsm": {("a", 0): 1, ("b", 0): 0}, "hr": {}}


# The page


PAGE = Path(__file__).parents[2] / "docs" / "gates.md"


def table(name: str) -> list[list[str]]:
    """Rows of a table of docs/gates.md, its head first."""
    text = PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [rows[0], *rows[2:]]


def test_the_page_states_the_tasks_needed_for_a_success_rate() -> None:
    head, *rows = table("success")
    assert len(rows) == 6
    for least, *counts in rows:
        for confidence, count in zip(head[1:], counts, strict=True):
            gate, tasks = Gate(min_success_rate=float(least), confidence=float(confidence)), int(count)
            assert judge(gate, standing(scores(itsm=(tasks, tasks))), None).verdict == "GO"
            assert judge(gate, standing(scores(itsm=(tasks - 1, tasks - 1))), None).verdict == "INCONCLUSIVE"


def test_the_page_states_the_tasks_needed_for_a_regression() -> None:
    head, *rows = table("regression")
    assert head[1:] == ["10 %, 80 %", "10 %, 90 %", "20 %, 80 %", "20 %, 90 %", "40 %, 80 %", "40 %, 90 %"]
    columns = [(flips, power) for flips in (0.1, 0.2, 0.4) for power in (0.8, 0.9)]
    assert len(rows) == 6
    stated = {most: [int(count.replace(",", "")) for count in counts] for most, *counts in rows}
    assert stated == {
        most: [tasks_needed(float(most), power, flips, 0.95) for flips, power in columns] for most in stated
    }


# Power


def domains(*sizes: int) -> dict[Cell, list[str]]:
    return {
        Cell(model="m", agent="react", mode="oracle", domain=f"d{number}"): [f"t{n}" for n in range(size)]
        for number, size in enumerate(sizes)
    }


@pytest.mark.parametrize(("sizes", "most"), [((20,) * 8, 0.1), ((60,) * 8, 0.06), ((5,) * 8, 0.2)])
def test_an_unchanged_nightly_over_8_domains_is_a_go_in_four_of_five_nights(
    sizes: tuple[int, ...], most: float
) -> None:
    gate = Gate(last_good=True, max_regression=most)
    shares = power_of(gate, Design(domains(*sizes), 1), 0.0, Assumptions(), 200).shares
    assert shares["GO"] >= 0.8
    assert shares["NO-GO"] <= 0.05


def test_a_drop_of_the_allowed_size_passes_in_one_of_twenty_nights() -> None:
    gate = Gate(last_good=True, max_regression=0.1)
    shares = power_of(gate, Design(domains(*(20,) * 8), 1), -0.1, Assumptions(), 300).shares
    assert shares["GO"] <= 0.08
    assert shares["NO-GO"] <= 0.08


def test_the_number_of_tasks_for_a_power_gives_that_power_when_simulated() -> None:
    tasks = tasks_needed(0.1, 0.8, 0.2, 0.95)
    assert tasks is not None
    gate = Gate(last_good=True, max_regression=0.1)
    shares = power_of(gate, Design(domains(tasks), 1), 0.0, Assumptions(), 400).shares
    assert shares["GO"] == pytest.approx(0.8, abs=0.06)


def test_trials_reduce_the_tasks_needed() -> None:
    once, often = (tasks_needed(0.1, 0.8, 0.2, 0.95, trials) for trials in (1, 4))
    assert once is not None
    assert often is not None
    assert often < once / 3
    assert tasks_needed(0.0, 0.8, 0.2, 0.95) is None


def test_the_power_of_a_gate_is_printed_before_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.yaml"
    text = RUN.replace("builtin: q", "builtin: csm-core")
    file.write_text(f"{text}  gate: {{lastGood: true, maxRegression: 0.1}}\n")
    assert invoke(["gate", "--plan", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("power of the gate over ")
    assert [line.split()[0] for line in lines[3:8]] == ["none", "-5.0", "-10.0", "-15.0", "-20.0"]
    assert "variance of a result: between tasks 0.150, between trials of a task 0.100" in lines
    assert "maxRegression: twice the tasks narrow the bounds by 29%, twice the trials by 29%" in lines[-2]
    assert "for an unchanged agent with 80 % power from 127 tasks, with 90 % from 173 tasks" in lines[-1]


def test_the_variance_of_results_is_split_between_tasks_and_trials_as_simulated() -> None:
    assumptions, draw = Assumptions(0.6, 0.2), random.Random(3)
    rates = [task_rate(assumptions, draw) for _ in range(20_000)]
    variance = assumptions.variance
    assert variance.tasks == pytest.approx(pvariance(rates), rel=0.03)
    assert variance.trials == pytest.approx(fmean(rate * (1 - rate) for rate in rates), rel=0.03)
    halves = [
        pvariance([fmean(draw.random() < rate for _ in range(trials)) for rate in rates]) ** 0.5 for trials in (2, 4)
    ]
    assert variance.narrowing(2) == pytest.approx(1 - halves[1] / halves[0], abs=0.01)
    assert Assumptions(0.6, 1.0).variance.narrowing(1) == pytest.approx(1 - 0.5**0.5)
    assert Assumptions(1.0, 0.2).variance.narrowing(1) == 0


def test_a_gate_without_a_condition_on_scores_has_no_power(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(f"{RUN}  gate: {{maxCostUsd: 2}}\n")
    assert invoke(["gate", "--plan", str(file)]) == 2
    assert "add maxRegression or minSuccessRate" in capsys.readouterr().err
