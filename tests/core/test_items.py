"""Items: numbers with known values, and what a fault in a task looks like."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from tests.cli.runs import verifier
from tests.contracts.test_scores import ITSM, run, trial

from opsgym_api.records.attempt import VerifierResult
from opsgym_core.results.items import Items, correlation, intraclass, items_of
from opsgym_core.results.score import Ratio, RunResults, rows_of


def items_from(outcomes: Mapping[str, Mapping[str, tuple[int, ...]]]) -> Items:
    """Items of scores by model and task."""
    cells = {model: ITSM.model_copy(update={"model": model}) for model in outcomes}
    records = [
        trial(task, score, number=number, cell=cells[model])
        for model, tasks in outcomes.items()
        for task, scores in tasks.items()
        for number, score in enumerate(scores)
    ]
    planned = {cells[model]: list(tasks) for model, tasks in outcomes.items()}
    return items_of([(rows_of(RunResults(run(planned), records)), {})])


def test_a_task_at_which_better_agents_do_worse_comes_first() -> None:
    ladder = {f"t{n}": n for n in range(1, 6)}
    outcomes = {
        f"m{skill}": {task: (int(skill >= hard),) for task, hard in ladder.items()} | {"wrong": (int(skill < 3),)}
        for skill in range(1, 6)
    }
    items = items_from(outcomes)
    first = items.tasks[0]
    assert (first.task_id, first.unanimous) == ("wrong", "")
    assert first.discrimination is not None
    assert first.discrimination < -0.8
    assert all((task.discrimination or 0) > 0 for task in items.tasks[1:-1])
    assert [task.unanimous for task in items.tasks if task.task_id == "t1"] == ["passed"]


def test_two_agents_give_no_discrimination_and_one_no_unanimity() -> None:
    assert items_from({"a": {"x": (1,), "y": (0,)}, "b": {"x": (1,), "y": (1,)}}).tasks[0].discrimination is None
    assert items_from({"a": {"x": (1,), "y": (0,)}}).tasks[0].unanimous == ""


def test_flips_and_the_intraclass_correlation_of_repeated_trials() -> None:
    (agent,) = items_from({"a": {"x": (1, 1), "y": (0, 0), "z": (1, 0), "once": (1,)}}).agents
    assert (agent.tasks, agent.repeated) == (4, 3)
    assert agent.flips == pytest.approx(1 / 3)
    assert agent.icc == pytest.approx((0.5 - 1 / 6) / (0.5 + 1 / 6))
    assert (intraclass([Ratio(2, 2), Ratio(0, 2)]), intraclass([Ratio(1, 2)]), intraclass([Ratio(2, 2)] * 3)) == (
        1.0,
        None,
        None,
    )


def test_the_intraclass_correlation_finds_the_share_of_variance_between_tasks() -> None:
    """Tasks with rates of a beta distribution of size s have 1 / (s + 1) of the variance between them."""
    draw = random.Random(1)
    counts = []
    for number in range(4000):
        rate, trials = draw.betavariate(1.0, 1.0), 2 + number % 3
        counts.append(Ratio(sum(draw.random() < rate for _ in range(trials)), trials))
    assert intraclass(counts) == pytest.approx(1 / 3, abs=0.03)


def test_a_correlation_without_variance_is_not_known() -> None:
    assert correlation([(1, 0.2), (1, 0.4), (1, 0.6)]) is None
    assert correlation([(0, 0.2), (0.5, 0.4), (1, 0.6)]) == pytest.approx(1)


def test_verifiers_that_fail_every_agent_or_decide_every_near_pass_alone_are_suspicious() -> None:
    cells = [ITSM.model_copy(update={"model": name}) for name in ("a", "b")]

    def results(*passed: bool) -> tuple[VerifierResult, ...]:
        return tuple(verifier(index, passed=one) for index, one in enumerate(passed))

    records = [trial("x", 0, cell=cell, verifiers=results(True, True, False)) for cell in cells]
    records += [
        trial("y", score, number=number, cell=cells[0], verifiers=results(True, bool(score), True))
        for number, score in enumerate((0, 0, 1))
    ]
    planned = {cell: ["x", "y"] for cell in cells}
    items = items_of([(rows_of(RunResults(run(planned), records)), {})])
    assert {(one.task_id, one.index): (one.suspicious, one.alone) for one in items.verifiers if one.suspicious} == {
        ("x", 2): ("fails all", 2),
        ("y", 1): ("decides alone", 2),
    }
