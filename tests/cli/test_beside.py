"""Own rows beside the published ones, and the facts of the published tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_run, put_trial

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_console.report.data import PageContext, page_data
from opsgym_core.results.load import load_rows
from opsgym_core.results.published import TABLES, passed_of, published_results, published_table
from opsgym_core.store.local import LocalStore

SIZES = {"teams": 61, "csm": 103, "email": 67, "itsm": 103, "calendar": 61, "hr": 102, "drive": 64, "hybrid": 88}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    return LocalStore("results")


def play(store: LocalStore, run: str, sizes: dict[str, int], passes: int, mode: str = "oracle") -> None:
    """A run of published rows; of each domain one task in `passes` passes."""
    cells = []
    for domain, count in sizes.items():
        cell = CELL.model_copy(update={"domain": domain, "mode": mode, "model": "ours"})
        tasks = [f"task_20251219_111447_{number:03}_{domain}" for number in range(count)]
        cells.append(PlannedCell(cell=cell, task_ids=tasks))
        for number, task in enumerate(tasks):
            put_trial(store, run, task, Outcome.FAILED if number % passes else Outcome.PASSED, cell)
    put_run(store, run, cells, spec={"suite": {"path": "rows"}})


def test_the_stated_averages_follow_from_the_cells_except_one_that_is_marked() -> None:
    """Averages: the README's as the table says, the site's over tasks, the paper's with 26 infeasible tasks."""
    wrong = set()
    for name in TABLES:
        table = published_table(name)
        for entry, row in zip(table.entries, table.rows, strict=True):
            assert row.mean_over_tasks is not None
            averages = {"readme": row.average, "site": row.mean_over_tasks}
            if "infeasible" in entry and "paper" in entry["averages"]:
                both = row.tasks * row.mean_over_tasks + 26 * entry["infeasible"] / 100
                averages["paper"] = both / (row.tasks + 26)
            for source, average in averages.items():
                stated = entry["averages"].get(source)
                if stated is not None and average is not None and abs(100 * average - stated) > 0.1:
                    wrong.add((name, row.model))
                    assert entry["note"]
    assert wrong == {("public-split", "GPT-5-Mini")}


def test_all_but_one_cell_of_the_public_split_is_a_whole_number_of_tasks() -> None:
    table = published_table("public-split")
    counts = [
        passed_of(percent, table.tasks[domain])
        for entry in table.entries
        for domain, percent in entry["percent"].items()
    ]
    assert (len(counts), sum(count != round(count) for count in counts)) == (112, 1)


def test_every_fact_has_a_known_source() -> None:
    content = published_results()
    facts = [row for table in content["tables"].values() for row in table["rows"]]
    facts += [*content["plans"]["rows"], *content["later"]]
    sources = [fact.get("sources", content["plans"]["sources"]) for fact in facts]
    assert all(source in content["sources"] for each in sources for source in each)
    assert len(content["disagreements"]) == 6


def test_an_own_row_stands_among_the_published_ones_with_a_test_against_each(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    play(store, "mine.1", SIZES, passes=3)
    assert invoke(["leaderboard", "mine", "--beside", "public-split", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    models = [row["model"] for row in document["rows"]]
    assert models[:3] == ["Claude Opus 4.5", "ours", "Claude Sonnet 4.5"]
    (own,) = [row for row in document["rows"] if row["model"] == "ours"]
    assert (own["tasks"], own["average"]) == (649, pytest.approx(1 / 3, abs=0.01))
    tests = {test["published"]: test for test in document["tests"]}
    assert len(tests) == 14
    assert tests["Claude Sonnet 4.5"]["p_value"] > 0.05 > tests["Qwen3-4B (Think)"]["p_value"]
    assert all(
        (test["difference_low"] * test["difference_high"] > 0) is (test["p_value"] < 0.05) for test in tests.values()
    )
    assert invoke(["leaderboard", "mine", "--beside", "public-split"]) == 0
    text = capsys.readouterr().out
    assert "average: the mean over every task, as in the published public-split table" in text
    assert "GPT-5-Mini: the published average does not follow from the row's own cells" in text


@pytest.mark.parametrize(
    ("sizes", "mode", "table", "reason"),
    [
        (SIZES | {"teams": 20}, "oracle", "public-split", "it has 20 of 61 teams tasks"),
        ({"itsm": 103}, "oracle", "public-split", "it has 0 of 61 teams tasks"),
        (SIZES, "all_tools", "public-split", "the table is of mode oracle, which the run does not have"),
        (SIZES, "oracle", "main", "it has 61 of 100 teams tasks"),
    ],
)
def test_runs_of_other_rows_or_modes_are_refused_with_one_sentence(
    store: LocalStore, capsys: pytest.CaptureFixture[str], sizes: dict[str, int], mode: str, table: str, reason: str
) -> None:
    play(store, "mine.1", sizes, passes=3, mode=mode)
    assert invoke(["leaderboard", "mine", "--beside", table]) == 2
    assert f"mine.1 cannot stand beside the published {table} table: {reason}\n" in capsys.readouterr().err


def test_a_built_in_suite_is_refused(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    put_run(store, "own.1", [PlannedCell(cell=CELL, task_ids=["itsm-qs-001"])])
    assert invoke(["leaderboard", "own", "--beside", "public-split"]) == 2
    assert "its suite has tasks such as itsm-qs-001, which are not published rows" in capsys.readouterr().err


def test_the_page_of_a_run_of_the_published_rows_has_it_among_the_published_ones(store: LocalStore) -> None:
    play(store, "mine.1", SIZES, passes=3)
    data = page_data(load_rows(store, "mine.1"), PageContext(written_at="2026-01-01T00:00:00Z"))
    assert data.beside is not None
    assert [row.model for row in data.beside.rows if row.own] == ["ours"]
    assert len(data.beside.tests) == 14
    play(store, "other.1", {"itsm": 3}, passes=3)
    assert page_data(load_rows(store, "other.1"), PageContext(written_at="2026-01-01T00:00:00Z")).beside is None
