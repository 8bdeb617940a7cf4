"""`opsgym report` as a user runs it: the files it writes and its output."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.large_run import put_large_run
from tests.cli.pages import Report, details_in, read_html, read_report
from tests.cli.runs import CELL, put_attempt, put_run, put_transcript, put_trial
from tests.cli.world import World, row

from opsgym.main import invoke
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.report import bundling as packing
from opsgym_core.store.local import LocalStore

RUN = "demo.0123456789ab"
EARLIER = "earlier.0123456789ab"
HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'&]]>{{ 7*7 }}\\u003c"
PROMPT = "Obey the policy. " * 20

shares_a_run = pytest.mark.xdist_group("reported run")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "results")


def report(store: LocalStore, folder: Path, *options: str, run: str = "demo") -> Report:
    assert invoke(["report", run, "--out", str(folder / "out"), "--store", store.name, *options]) == 0
    return read_report(folder / "out")


def test_a_report_knows_the_store_to_repeat_trials_from_unless_it_is_the_default_one(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_three(store)
    assert report(store, tmp_path).page.run.store == store.name
    monkeypatch.chdir(tmp_path)
    assert invoke(["report", "demo", "--out", "here"]) == 0
    assert read_report(tmp_path / "here").page.run.store == ""


def refused(store: LocalStore, folder: Path, *options: str) -> int:
    return invoke(["report", "demo", "--out", str(folder / "out"), "--store", store.name, *options])


def put_three(store: LocalStore, run: str = RUN) -> None:
    """A run with a failed trial, one without a score and a passed one; two have transcripts."""
    put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    put_trial(store, run, "a", Outcome.PASSED)
    put_attempt(store, run, "b", Outcome.CONFIG_ERROR, reason="seed_not_found", message="no seed for b")
    put_trial(store, run, "c", Outcome.FAILED)
    for task_id in ("a", "c"):
        events = (TranscriptEvent(kind="system", content=PROMPT), TranscriptEvent(kind="assistant", content=task_id))
        put_transcript(store, run, task_id, *events)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, desk_url: dict[str, str]) -> World:
    """A finished run of a model that does the tasks and one that does nothing, twice each."""
    world = World(tmp_path_factory.mktemp("reported"), desk_url)
    called = {"verifier_type": "tool_execution", "name": "looked", "validation_config": {"minimum_tool_calls": 1}}
    change = {"name": "update_incident", "arguments": {"incident_id": "INC_001", "category": "network"}}
    first = row("first", selected_tools=["update_incident"], gold_actions=[change])
    world.write_suite([first | {"verifiers": [*first["verifiers"], called]}, row("second", horizon=7)])
    world.write_run({"gold": {"model": "replay/gold"}, "noop": {"model": "replay/noop"}}, trials=2)
    done = world.inline("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    written = world.inline("report", "demo", "--out", "page")
    assert written.returncode == 0, written.stderr
    return world


def results(world: World, by: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(world.inline("results", "demo", "--format", "json", "--by", by).stdout)
    return document


@shares_a_run
def test_scores_equal_the_results_command(world: World) -> None:
    page = read_report(world.folder / "page").page
    document = results(world, "cell")
    views = [(cell.score, row) for cell, row in zip(page.cells, document["rows"], strict=True)]
    assert [cell.cell.model_dump() for cell in page.cells] == [
        {name: row[name] for name in ("model", "agent", "mode", "domain")} for row in document["rows"]
    ]
    views += [(agent.score, row) for agent, row in zip(page.agents, document["averages"], strict=True)]
    for score, numbers in [*views, (page.total, document["total"])]:
        interval = score.success.interval
        assert interval is not None
        assert {
            "total": score.total, "passed": score.passed, "failed": score.failed, "tasks": score.success.tasks,
            "success_rate": score.success.rate, "success_low": interval.low, "success_high": interval.high,
            "published_success_rate": score.published.rate, "verifiers_passed": score.verifiers.passed,
            "verifiers_executed": score.verifiers.total, "cost_usd": score.cost_usd,
            "cost_per_task": score.cost_per_task, "cost_per_success": score.cost_per_success,
            "mean_steps": score.mean_steps, "mean_tool_calls": score.mean_tool_calls,
            "mean_seconds": score.mean_seconds, **score.usage.to_dict(),
        }.items() <= numbers.items()  # fmt: skip
    total, numbers = page.total, document["total"]
    assert (total.fail_reasons, total.not_scored) == (numbers["fail_reasons"], numbers["not_scored_reasons"])
    assert {name: share.total for name, share in total.categories.items()} == {
        name: share["executed"] for name, share in numbers["categories"].items()
    }
    assert {name: horizon.rate for name, horizon in total.horizons.items()} == {
        name: horizon["success_rate"] for name, horizon in numbers["horizons"].items()
    }
    assert [agent.success_over_domains for agent in page.agents] == [
        row["success_over_domains"] for row in document["averages"]
    ]


@shares_a_run
def test_every_trial_is_a_row_with_the_figures_of_the_results_command(world: World) -> None:
    report = read_report(world.folder / "page")
    columns, page = report.page.trials, report.page
    rows = results(world, "trial")["rows"]
    assert len(columns.cell) == len(rows) == 8
    for one in rows:
        cell = [cell_page.cell.model for cell_page in page.cells].index(one["model"])
        place = report.row(one["task_id"], one["trial"], cell)
        assert page.outcomes[columns.outcome[place]] == one["outcome"]
        assert page.reasons[columns.reason[place]] == one["reason"]
        assert {
            "cost_usd": columns.cost_usd[place], "steps": columns.steps[place],
            "tool_calls": columns.tool_calls[place], "tool_errors": columns.tool_errors[place],
            "total_s": columns.seconds[place], "verifiers_passed": columns.verifiers_passed[place],
            "verifiers_executed": columns.verifiers[place], "horizon": columns.horizon[place],
            "published_score": columns.published_score[place],
        }.items() <= one.items()  # fmt: skip


@shares_a_run
def test_details_equal_the_records(world: World) -> None:
    report = read_report(world.folder / "page")
    for record in world.trials():
        cell = [cell_page.cell for cell_page in report.page.cells].index(record.cell)
        detail = report.detail(report.row(record.task_id, record.trial, cell))
        assert detail.scored == replace(record, state_differences={})
        assert detail.differences == record.state_differences
        changed = record.task_id == "first" and record.cell.model == "gold"
        assert [table.table for table in detail.differences["gym-itsm-mcp"].tables] == ["incident"] * changed
        assert [attempt.outcome for attempt in detail.attempts] == [record.outcome]
        assert detail.tools == ["update_incident" if record.task_id == "first" else "find_incident_by_id"]


@shares_a_run
def test_the_summary_of_a_task_is_its_prompt(world: World) -> None:
    page = read_report(world.folder / "page").page
    assert {task.id: task.summary for task in page.tasks} == {
        name: f"Look at incident INC_001 for {name}." for name in ("first", "second")
    }


@shares_a_run
def test_failure_modes_equal_the_failures_command(world: World) -> None:
    written = read_report(world.folder / "page")
    page = written.page
    analysis = json.loads(world.inline("failures", "demo", "--format", "json").stdout)
    modes = page.failure_modes
    assert modes is not None
    counted = {mode.mode: {"primary": sum(mode.primary), "all": sum(mode.trials)} for mode in modes.modes}
    of_command = {name: count for name, count in analysis["modes"].items() if name != "unexplained"}
    assert counted == {name: {"primary": one["primary"], "all": one["all"]} for name, one in of_command.items()} != {}
    shares = {
        mode.mode: (mode.share, mode.interval and [mode.interval.low, mode.interval.high]) for mode in modes.modes
    }
    assert shares == {name: (count["share"], count["interval"]) for name, count in of_command.items()}
    assert (modes.analysed, modes.failed) == (4, 4)
    assert modes.modes[0].description.endswith(".")
    for trial in analysis["trials"]:
        cell = [one.cell.model_dump() for one in page.cells].index(trial["cell"])
        place = written.row(trial["task_id"], trial["trial"], cell)
        names = [finding["mode"] for finding in trial["findings"]]
        bits = page.trials.modes[place]
        assert [mode.mode for bit, mode in enumerate(modes.modes) if bits >> bit & 1] == [
            mode.mode for mode in modes.modes if mode.mode in names
        ]
        assert [finding.mode for finding in written.detail(place).findings] == names


def test_an_unfinished_run_has_a_page(store: LocalStore, tmp_path: Path) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c", "d"])])
    put_trial(store, RUN, "a", Outcome.PASSED)
    put_attempt(store, RUN, "b", None)
    put_attempt(store, RUN, "c", Outcome.INFRA_ERROR, reason="gym_lost")
    page = report(store, tmp_path).page
    assert page.total.not_scored == {"infra_error/gym_lost": 1, "pending": 2}
    assert [page.tasks[place].id for place in page.trials.task] == ["c", "a"]
    put_trial(store, RUN, "c", Outcome.FAILED, attempt=1)
    put_trial(store, RUN, "b", Outcome.PASSED)
    page = report(store, tmp_path).page
    assert page.total.not_scored == {"pending": 1}
    assert [page.tasks[place].id for place in page.trials.task] == ["c", "a", "b"]


def test_a_run_without_scored_trials_has_a_page(store: LocalStore, tmp_path: Path) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["t"])])
    page = report(store, tmp_path).page
    assert page.total.success.rate is None
    assert page.trials.cell == []
    assert page.total.not_scored == {"pending": 1}


def test_a_run_without_cells_has_a_page(store: LocalStore, tmp_path: Path) -> None:
    put_run(store, RUN, [])
    page = report(store, tmp_path).page
    assert (page.cells, page.agents, page.tasks, page.total.total) == ([], [], [], 0)


def test_hostile_text_cannot_end_the_data_block_of_the_page(store: LocalStore, tmp_path: Path) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["t"])], spec={"suite": {"path": HOSTILE}})
    put_trial(store, RUN, "t", Outcome.FAILED, answer=HOSTILE)
    call = TranscriptEvent(kind="tool", tool_name=HOSTILE, arguments={HOSTILE: [HOSTILE]}, content=HOSTILE * 9)
    put_transcript(store, RUN, "t", TranscriptEvent(kind="system", content=HOSTILE * 9), call)
    written = report(store, tmp_path)
    assert "alert(" not in written.html
    assert written.page.run.suite == HOSTILE
    assert written.transcript(0) == [HOSTILE * 9] * 2
    assert written.detail(0).transcript[1].event == call
    beside = report(store, tmp_path, "--transcripts", "beside")
    assert "alert(" not in (tmp_path / "out" / "trials" / "0.js").read_text()
    assert beside.detail(0) == written.detail(0)


def test_an_unknown_cost_stays_unknown(store: LocalStore, tmp_path: Path) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["t"])])
    put_trial(store, RUN, "t", Outcome.PASSED, cost_usd=None)
    page = report(store, tmp_path).page
    assert page.trials.cost_usd == [None]
    assert page.total.cost_usd is None


def test_a_shared_prompt_is_stored_in_the_page_once(store: LocalStore, tmp_path: Path) -> None:
    put_three(store)
    written = report(store, tmp_path)
    assert written.page.details == "inline"
    assert written.page.texts == [PROMPT]
    assert written.transcript(written.row("a")) == [PROMPT, "a"]
    assert written.transcript(written.row("b")) == []
    assert written.transcript(written.row("c")) == [PROMPT, "c"]


def test_transcripts_that_are_too_large_are_written_beside_the_page(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_three(store)
    inside = report(store, tmp_path)
    monkeypatch.setattr(packing, "INLINE_BYTES", inside_bytes := 600)
    monkeypatch.setattr(packing, "PER_FILE", 1)
    beside = report(store, tmp_path)
    assert beside.page.details == "beside"
    assert beside.page.details_per_file == 1
    assert beside.inside == {}
    files = sorted(path.name for path in (tmp_path / "out" / "trials").iterdir())
    assert files == ["0.js", "1.js", "2.js"]
    assert [beside.detail(row) for row in range(3)] == [inside.detail(row) for row in range(3)]
    assert len((tmp_path / "out" / "trials" / "0.js").read_bytes()) > inside_bytes
    assert "3 trials are in trials/ beside the page" in capsys.readouterr().out


def test_detail_files_of_an_earlier_page_are_removed(store: LocalStore, tmp_path: Path) -> None:
    put_three(store)
    report(store, tmp_path, "--transcripts", "beside")
    other = tmp_path / "out" / "trials" / "other.js"
    other.write_text("by the user")
    page = report(store, tmp_path, "--transcripts", "none").page
    assert (page.details, page.details_per_file, page.texts) == ("none", 0, [])
    assert [path.name for path in (tmp_path / "out" / "trials").iterdir()] == ["other.js"]


def test_a_very_large_run_omits_transcripts_and_names_the_option(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_three(store)
    monkeypatch.setattr("opsgym_console.report.write.BESIDE_TRIALS", 2)
    written = report(store, tmp_path)
    assert written.page.details == "none"
    assert "--transcripts beside writes them" in capsys.readouterr().out
    modes = written.page.failure_modes
    assert modes is not None
    assert (modes.analysed, modes.failed) == (1, 1)
    assert report(store, tmp_path, "--transcripts", "inline").page.details == "inline"


def test_failure_modes_none_analyses_no_trial(store: LocalStore, tmp_path: Path) -> None:
    put_three(store)
    written = report(store, tmp_path, "--failure-modes", "none")
    assert written.page.failure_modes is None
    assert all(detail.findings == [] for detail in written.inside.values())


def test_failure_modes_of_a_sample_are_reported_as_a_sample(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    for task_id in ("a", "b", "c"):
        put_trial(store, RUN, task_id, Outcome.FAILED)
        put_transcript(store, RUN, task_id, TranscriptEvent(kind="assistant", content="Done."))
    for module in ("opsgym_console.report.write", "opsgym.commands.report"):
        monkeypatch.setattr(f"{module}.SAMPLE", 2)
    modes = report(store, tmp_path, "--transcripts", "none").page.failure_modes
    assert modes is not None
    assert (modes.analysed, modes.failed) == (2, 3)
    assert "failure modes cover 2 of 3 failed trials; --failure-modes all covers all" in capsys.readouterr().out
    modes = report(store, tmp_path, "--transcripts", "none", "--failure-modes", "all").page.failure_modes
    assert modes is not None
    assert modes.analysed == 3


def put_earlier(store: LocalStore) -> None:
    """A run of the same cell in which the first task failed and the third passed."""
    put_run(store, EARLIER, [PlannedCell(cell=CELL, task_ids=["a", "c"])])
    put_trial(store, EARLIER, "a", Outcome.FAILED)
    put_trial(store, EARLIER, "c", Outcome.PASSED)


def test_the_comparison_equals_the_compare_command(
    store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_three(store)
    put_earlier(store)
    written = report(store, tmp_path, "--baseline", "earlier")
    capsys.readouterr()
    assert invoke(["compare", EARLIER, RUN, "--format", "json", "--store", store.name]) == 0
    document = json.loads(capsys.readouterr().out)
    page = written.page
    assert page.baseline is not None
    assert (page.baseline.run, page.baseline.name, page.baseline.same_suite) == (EARLIER, "earlier", True)
    for change, numbers in [
        (page.baseline.total, document["total"]),
        (page.baseline.cells[0].change, document["cells"][0]),
    ]:
        assert {name: value for name, value in vars(change).items() if name in numbers}.items() <= numbers.items()
        assert change.interval is not None
        bounds = numbers["difference_low"], numbers["difference_high"]
        assert (change.interval.low, change.interval.high) == bounds
    assert [(page.tasks[flip.task].id, flip.before.passed, flip.after.passed) for flip in page.baseline.flips] == [
        (row["task_id"], row["passed_before"], row["passed_after"]) for row in document["flips"]
    ]
    assert [page.trials.flip[written.row(task_id)] for task_id in ("a", "b", "c")] == [1, 0, -1]


def test_the_default_baseline_is_that_of_the_gate(store: LocalStore, tmp_path: Path) -> None:
    put_three(store)
    put_earlier(store)
    gate = GateRecord(run=RUN, verdict="NO-GO", checks=[], baseline=EARLIER, decided_at="2026-01-02T00:00:00Z")
    store.put(RunKeys(RUN).gate_json, gate.model_dump_json().encode())
    page = report(store, tmp_path).page
    assert page.run.gate == gate
    assert page.baseline is not None
    assert page.baseline.run == EARLIER
    gone = gate.model_copy(update={"baseline": "gone.1"})
    store.put(RunKeys(RUN).gate_json, gone.model_dump_json().encode())
    assert report(store, tmp_path).page.baseline is None


def test_an_unusable_baseline_is_refused(store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_three(store)
    put_run(store, EARLIER, [PlannedCell(cell=CELL.model_copy(update={"model": "other"}), task_ids=["a"])])
    for name, message in {
        "nothing": "holds no run 'nothing'",
        "demo": f"{RUN}: baseline: is this run itself; name an earlier one",
        "earlier": f"{EARLIER}: baseline: has no cell in common with {RUN}; its cells: other/react/oracle/itsm",
    }.items():
        assert refused(store, tmp_path, "--baseline", name) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_to_store_writes_the_report_below_its_run(
    store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_three(store)
    options = ["--to-store", "--store", store.name, "--transcripts", "beside"]
    assert invoke(["report", "demo", *options]) == 0
    assert f"{store.name}/runs/{RUN}/report/index.html: 2 scored trials" in capsys.readouterr().out
    html = store.get(RunKeys(RUN).report + "index.html")
    script = store.get(RunKeys(RUN).report + "trials/0.js")
    assert html is not None
    assert script is not None
    assert read_html(html.decode(), tmp_path).page.details == "beside"
    assert len(details_in(script.decode(), 0)) == 3
    assert invoke(["results", "demo", "--store", store.name]) == 0, "a report does not count as a record"


@pytest.mark.parametrize("options", [[], ["--out", "x", "--to-store"]])
def test_exactly_one_destination_is_required(
    options: list[str], store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["report", "demo", "--store", store.name, *options]) == 2
    assert "choose where to write: --out DIR or --to-store" in capsys.readouterr().err


def test_a_damaged_transcript_is_named_on_the_page_of_its_trial(store: LocalStore, tmp_path: Path) -> None:
    put_three(store)
    key = RunKeys(RUN).trial(CELL, "a", 0).transcript
    store.put(key, b"half a transcr")
    assert invoke(["report", "demo", "--out", str(tmp_path / "out"), "--store", store.name]) == 0
    report = read_report(tmp_path / "out")
    assert any(f"{key}: is damaged" in problem for problem in report.detail(report.row("a")).problems)


def test_a_folder_that_cannot_be_written_is_named(
    store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_three(store)
    (tmp_path / "file").write_text("")
    assert invoke(["report", "demo", "--out", str(tmp_path / "file" / "x"), "--store", store.name]) == 2
    assert "--out: cannot be written: Not a directory" in capsys.readouterr().err


def test_the_page_of_a_large_run_takes_less_than_60_bytes_per_trial(
    store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_large_run(store, 4, 125)
    written = report(store, tmp_path, "--transcripts", "none", run="large")
    capsys.readouterr()
    assert invoke(["results", "large", "--store", store.name, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    columns, page = written.page.trials, written.page
    assert [cell.score.passed for cell in page.cells] == [row["passed"] for row in document["rows"]]
    passed = page.outcomes.index("passed")
    for place, cell_row in enumerate(document["rows"]):
        rows_of_cell = [n for n, cell in enumerate(columns.cell) if cell == place]
        assert len(rows_of_cell) == 125
        assert sum(columns.outcome[n] == passed for n in rows_of_cell) == cell_row["passed"]
    data = re.search(r'id="page-data">([^<]*)<', written.html)
    assert data is not None
    assert len(data[1]) < 60 * len(columns.cell)
