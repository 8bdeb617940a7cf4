"""Looks at runs with rounds: levels, decisions and the errors they make together.

The simulated shares have a standard error of at most 1.6 points at 200 runs; the bounds here are three of them wider
than the 5 % that a gate promises.
"""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest
from benchmarks.coverage import adaptive_runs

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import EvalRunSpec, Gate, ModelEntry, Suite
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import Look
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_core.gates.judge import Baseline, CellScores, JudgedRun, RunScores
from opsgym_core.gates.looks import take_look
from opsgym_core.gates.spending import confidences_at, levels
from opsgym_core.planning.rounds import current_look, due_look, first_trials, rounds_between, rounds_of

CELL = Cell(model="m", agent="react", mode="oracle", domain="itsm")
AT = "2026-01-01T00:00:00Z"
RUNS = 200


@pytest.mark.parametrize(
    ("first", "most", "ends"),
    [
        (1, 1, (1,)),
        (1, 2, (1, 2)),
        (1, 3, (1, 2, 3)),
        (1, 4, (1, 2, 4)),
        (1, 5, (1, 2, 5)),
        (2, 3, (2, 3)),
        (4, 5, (4, 5)),
        (3, 20, (3, 6, 12, 20)),
        (1, 1000, (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)),
    ],
)
def test_rounds_double_the_trials_up_to_the_most(first: int, most: int, ends: tuple[int, ...]) -> None:
    assert rounds_between(first, most) == ends


def test_a_run_without_min_trials_has_no_rounds() -> None:
    models = [ModelEntry(name="m", ref="m")]
    fixed = EvalRunSpec(suite=Suite(builtin="q"), models=models, trials=3, gate=Gate(min_success_rate=0.5))
    assert (rounds_of(fixed), first_trials(fixed)) == ((), 3)
    adaptive = fixed.model_copy(update={"gate": Gate(min_success_rate=0.5, min_trials=2)})
    assert (rounds_of(adaptive), first_trials(adaptive)) == ((2, 3), 2)


def record(rounds: tuple[int, ...] = (1, 2, 4)) -> RunRecord:
    return RunRecord(
        run="demo.1",
        name="demo",
        spec={},
        task_ids=["t"],
        cells=[PlannedCell(cell=CELL, task_ids=["t"])],
        trials=4,
        rounds=rounds,
        suite_digest="s",
        opsgym="1",
        created_at=AT,
    )


def test_a_record_has_the_trials_of_its_round_and_keeps_those_of_a_stop() -> None:
    stops = take(Gate(min_success_rate=0.5), passed=30, of=30)
    assert stops is not None
    goes_on = stops.model_copy(update={"stops": False})
    begun, second, stopped = (record().with_looks(looks) for looks in ([], [goes_on], [stops]))
    assert [run.trials for run in (begun, second, stopped)] == [1, 2, 1]
    assert [look.number if (look := due_look(run)) else None for run in (begun, second, stopped)] == [1, 2, None]
    assert (second.stopped, stopped.stopped) == (None, stops)
    last = record().with_looks([goes_on, goes_on])
    assert (last.trials, due_look(last)) == (4, None)
    fixed = record(())
    assert fixed.with_looks([]) is fixed
    assert current_look(fixed) is None


def test_the_levels_of_all_looks_together_are_that_of_the_gate() -> None:
    """The share of random walks that cross the boundary anywhere, against 5 %: three standard errors are 0.5 points."""
    rounds, walks = (1, 2, 4), 20_000
    bounds = [NormalDist().inv_cdf(1 - level) for level in levels(rounds, 0.05)]
    draw, crossed = random.Random(1), 0
    for _ in range(walks):
        total, before = 0.0, 0
        for bound, trials in zip(bounds, rounds, strict=True):
            total += draw.gauss(0, math.sqrt(trials - before))
            before = trials
            if total > bound * math.sqrt(trials):
                crossed += 1
                break
    assert crossed / walks == pytest.approx(0.05, abs=0.005)


def test_a_single_look_spends_everything_and_early_ones_little() -> None:
    assert levels((5,), 0.05) == pytest.approx((0.05,))
    first, second, last = levels((1, 2, 4), 0.05)
    assert first == pytest.approx(0.05 / 16)
    assert first < second < last < 0.05
    fixed, early = confidences_at(None, 0.95), confidences_at(Look(rounds=(1, 2, 4), number=1), 0.95)
    assert (fixed.means, fixed.guards, fixed.spent) == (0.95, 0.95, 1.0)
    assert (early.means, early.guards, early.spent) == pytest.approx((1 - first, 1 - 0.05 / 16, 1 / 16))


def test_guards_spend_no_more_than_the_gate_has() -> None:
    rounds = (1, 2, 4, 8)
    spent = [1 - confidences_at(Look(rounds=rounds, number=number), 0.95).guards for number in (1, 2, 3, 4)]
    assert sum(spent) == pytest.approx(0.05)


def scores(passed: int, of: int, run: str = "demo.1") -> RunScores:
    return RunScores(run, "s", [CellScores(CELL, {(f"t{number}", 0): int(number < passed) for number in range(of)})])


def take(gate: Gate, passed: int, of: int, baseline: Baseline | Problem | None = None, lost: int = 0):  # type: ignore[no-untyped-def]
    run = JudgedRun(scores(passed, of), total=of, lost={"infra_error": lost} if lost else {}, cost_usd=1.0)
    return take_look(gate, run, baseline, Look(rounds=(1, 2, 4), number=1), AT)


def test_a_look_stops_a_run_on_go_and_on_no_go_and_counts_what_is_not_played() -> None:
    gate = Gate(min_success_rate=0.5)
    verdicts = {passed: take(gate, passed, 30) for passed in (30, 15, 0)}
    chosen = {passed: (look.stops, look.judged.verdict, look.not_played) for passed, look in verdicts.items()}
    assert chosen == {30: (True, "GO", 90), 15: (False, "INCONCLUSIVE", 0), 0: (True, "NO-GO", 90)}


def test_a_look_needs_more_than_the_last_verdict_does() -> None:
    assert take(Gate(min_success_rate=0.5), 21, 30).judged.verdict == "INCONCLUSIVE"
    assert take(Gate(min_success_rate=0.5, confidence=0.5), 21, 30).judged.verdict == "GO"


def test_the_first_run_of_a_series_is_not_decided_by_having_no_baseline() -> None:
    gate = Gate(last_good=True, max_regression=0.1)
    assert not take(gate, 30, 30, Baseline(None)).stops
    assert take(gate, 0, 30, Baseline(scores(30, 30, "demo.0"))).stops


def test_a_spent_limit_and_a_missing_baseline_decide_at_once() -> None:
    assert take(Gate(min_success_rate=0.5, max_cost_usd=0.5), 15, 30).stops
    gate = Gate(baseline="gone", max_regression=0.1)
    assert take(gate, 30, 30, Problem("spec.gate", "holds no run 'gone'")).stops


def test_no_look_is_taken_at_a_round_that_infrastructure_errors_lost() -> None:
    assert take(Gate(min_success_rate=0.5), 30, 30, lost=1) is None
    assert take(Gate(min_success_rate=0.5, max_infra_error_rate=1), 30, 30, lost=1) is not None


def test_runs_with_rounds_keep_the_errors_of_a_gate_and_play_fewer_trials() -> None:
    sizes, rounds, most = (30, 30), (1, 2), 0.2
    same, limit, worse = (adaptive_runs(sizes, rounds, most, change, RUNS) for change in (0.0, -most, -2 * most))
    assert limit.share("GO") <= 0.1
    assert limit.share("NO-GO") <= 0.1
    assert min(one.held(0.95, corrected=True) for one in (same, limit, worse)) >= 0.9 - 0.05
    assert same.share("GO") >= 0.9
    assert worse.share("NO-GO") >= 0.8
    assert same.played < 0.8
    assert worse.played < 0.8
