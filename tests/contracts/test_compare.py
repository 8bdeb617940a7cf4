"""Comparison of two runs, with hand-made records whose differences are known."""

from __future__ import annotations

import pytest
from tests.contracts.test_scores import CSM, ITSM, run, trial

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_core.results.compare import Change, compare, rename_cells
from opsgym_core.results.paired import difference_interval, paired_mean
from opsgym_core.results.rows import RunRows, rows_of_records

OLD = ITSM.model_copy(update={"model": "old"})


def rows(cells: dict[Cell, list[str]], trials: list[TrialRecord], name: str = "r.1", suite: str = "d") -> RunRows:
    return RunRows(run(cells, name=name).model_copy(update={"suite_digest": suite}), rows_of_records(trials, []))


def test_trials_are_paired_by_task_and_number() -> None:
    before = rows(
        {ITSM: ["a", "b", "c", "gone"]},
        [
            trial("a", 1), trial("a", 1, number=1),
            trial("b", 1), trial("b", 0, number=1),
            trial("c", 0),
            trial("gone", 1),
        ],
    )  # fmt: skip
    after = rows(
        {ITSM: ["a", "b", "c", "new"]},
        [
            trial("a", 0), trial("a", 1, number=1),
            trial("b", 0), trial("b", 1, number=1),
            trial("c", 1), trial("c", 1, number=1),
            trial("new", 1),
        ],
        name="r.2",
    )  # fmt: skip
    comparison = compare(before, after)
    (cell,) = comparison.cells
    estimate = paired_mean([[-0.5, 0.0, 1.0]], 5)
    assert estimate is not None
    assert (
        cell.change
        == comparison.total
        == Change(
            tasks=3,
            trials=5,
            lost=2,
            won=2,
            before=0.5,
            after=2 / 3,
            difference=0.5 / 3,
            interval=difference_interval([-0.5, 0.0, 1.0], 5),
            p_value=estimate.p_value,
            only_before=1,
            only_after=2,
        )
    )
    assert [(pair.task_id, pair.lost, pair.won, pair.difference) for pair in comparison.flips] == [
        ("a", 1, 0, -0.5),
        ("b", 1, 1, 0.0),
        ("c", 0, 1, 1.0),
    ]


def test_a_run_compared_with_itself_has_not_changed() -> None:
    same = rows({ITSM: ["a", "b"], CSM: ["x"]}, [trial("a", 1), trial("b", 0), trial("x", 1, cell=CSM)])
    comparison = compare(same, same)
    total = comparison.total
    assert (total.lost, total.won, total.difference, total.p_value) == (0, 0, 0, 1)
    assert comparison.flips == []
    assert comparison.same_suite


def test_cells_of_only_one_run_are_named_and_not_compared() -> None:
    before = rows({ITSM: ["a"], CSM: ["x"]}, [trial("a", 1), trial("x", 1, cell=CSM)])
    after = rows({ITSM: ["a"], OLD: ["a"]}, [trial("a", 1), trial("a", 1, cell=OLD)], suite="other")
    comparison = compare(before, after)
    assert [cell.cell for cell in comparison.cells] == [ITSM]
    assert (comparison.only_before, comparison.only_after) == ([CSM], [OLD])
    assert comparison.total.trials == 1
    assert not comparison.same_suite


def test_a_common_cell_without_tasks_scored_in_both_runs_has_no_rates() -> None:
    before, after = rows({ITSM: ["a", "b"]}, [trial("a", 1)]), rows({ITSM: ["a", "b"]}, [trial("b", 1)])
    (cell,) = compare(before, after).cells
    assert (cell.change.before, cell.change.difference, cell.change.interval, cell.change.p_value) == (
        None, None, None, 1,
    )  # fmt: skip
    assert (cell.change.only_before, cell.change.only_after) == (1, 1)


def test_models_of_different_names_can_be_paired() -> None:
    before = rows({OLD: ["a", "b"]}, [trial("a", 1, cell=OLD), trial("b", 1, cell=OLD)])
    after = rows({ITSM: ["a", "b"]}, [trial("a", 1), trial("b", 0)])
    assert compare(before, after).cells == []
    comparison = compare(rename_cells(before, {"model": {"old": "m"}}), after)
    assert [pair.task_id for pair in comparison.flips] == ["b"]
    assert comparison.total.lost == 1


def test_an_unknown_name_is_refused_with_the_names_of_the_run() -> None:
    with pytest.raises(InputError, match="the run has no model 'gpt'; it has: old"):
        rename_cells(rows({OLD: ["a"]}, []), {"model": {"gpt": "m"}})


def test_two_renamed_cells_cannot_get_the_same_name() -> None:
    both = rows({OLD: ["a"], ITSM: ["a"]}, [])
    with pytest.raises(InputError, match="would give several cells the name n_react_oracle_itsm"):
        rename_cells(both, {"model": {"old": "n", "m": "n"}})


def test_two_models_of_one_run_are_compared() -> None:
    both = rows({OLD: ["a"], ITSM: ["a"]}, [trial("a", 1, cell=OLD), trial("a", 0)])
    comparison = compare(rename_cells(both, {"model": {"old": "m"}}, only_renamed=True), both)
    assert [cell.cell for cell in comparison.cells] == [ITSM]
    assert (comparison.total.lost, comparison.total.won) == (1, 0)


def test_the_total_counts_a_task_once_however_many_cells_have_it() -> None:
    """A change of one task in all of 8 cells is one change, not eight."""
    cells = [ITSM.model_copy(update={"model": f"m{number}"}) for number in range(8)]
    tasks = [f"t{number}" for number in range(20)]
    before, after = (
        rows(
            dict.fromkeys(cells, tasks),
            [trial(task, int(number >= lost), cell=cell) for cell in cells for number, task in enumerate(tasks)],
        )
        for lost in (0, 4)
    )
    comparison = compare(before, after)
    single = comparison.cells[0].change
    total = comparison.total
    assert (total.tasks, total.trials, total.lost) == (20, 160, 32)
    as_independent = paired_mean([[-1.0] * 32 + [0.0] * 128], 160)
    assert as_independent is not None
    assert total.difference == single.difference
    assert total.p_value > 1000 * as_independent.p_value
    assert total.interval is not None
    assert total.interval.high > -0.05
