"""`opsgym results`, `compare`, `leaderboard` and `compact`: their output and files for runs in a store."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from tests.cli.runs import CELL, put_attempt, put_run, put_trial, verifier

from opsgym.command_line.group import cli
from opsgym.formats.breakdowns import BREAKDOWNS
from opsgym.main import invoke
from opsgym.taskimport.faults import FaultKind
from opsgym.taskimport.known_faults import published_faults
from opsgym_api.kinds.profiles import Switches
from opsgym_api.records.attempt import Cell, Usage, Versions
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.store.local import LocalStore

HR = CELL.model_copy(update={"domain": "hr"})
OTHER = CELL.model_copy(update={"model": "other"})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    return tmp_path


def passed(store: LocalStore, run: str, cell: Cell, scores: Mapping[str, Sequence[int]], **more: Any) -> None:
    for task, of_task in scores.items():
        for number, score in enumerate(of_task):
            outcome = Outcome.PASSED if score else Outcome.FAILED
            verifiers = [verifier(0), verifier(1, passed=bool(score), category="integrity")]
            put_trial(store, run, task, outcome, cell, trial=number, verifiers=verifiers, **more)


@pytest.fixture
def store() -> LocalStore:
    """Two runs of the same tasks; in the later one, one task is lost and one won."""
    store = LocalStore("results")
    first = {"a": (1, 1), "b": (0, 1), "c": (0, 0)}
    second = {"a": (0, 0), "b": (0, 1), "c": (1, 0)}
    for run, created, scores in (("old.1", "2026-01-01", first), ("new.1", "2026-01-02", second)):
        cells = [PlannedCell(cell=CELL, task_ids=list(scores)), PlannedCell(cell=HR, task_ids=["h"])]
        put_run(store, run, cells, trials=2, created_at=f"{created}T00:00:00Z")
        passed(store, run, CELL, scores, horizon=6, tags=("hostile",))
        put_attempt(store, run, "h", Outcome.INFRA_ERROR, cell=HR, reason="gym_lost", cost_usd=None)
    return store


def stdout_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert invoke(arguments) == code
    return capsys.readouterr().out


def records(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_intervals_several_trials_and_gold_steps(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line.split() for line in stdout_of(capsys, "results", "new").splitlines()]
    cell = next(line for line in lines if line[:4] == ["m", "react", "oracle", "itsm"])
    assert cell[4:6] == ["33.3%", "3.1–88.8%"]
    cell_of = ["m", "react", "oracle"]
    for columns, itsm, hr in (
        (
            ["pass@2", "pass^2", "tasks", "with", "2"],
            ["66.7%", "(20.8–93.9%)", "0.0%", "(0.0–56.1%)", "3"],
            ["–", "–", "0"],
        ),
        (
            ["5-8", "gold", "steps", "unknown", "gold", "steps"],
            ["2/6", "33.3%", "–"],
            ["–", "–"],
        ),
        (["hostile"], ["2/6", "33.3%"], ["–"]),
        (["task_completion", "integrity"], ["6/6", "100.0%", "2/6", "33.3%"], ["–", "–"]),
    ):
        place = lines.index(["model", "agent", "mode", "domain", *columns])
        assert lines[place + 1 : place + 3] == [[*cell_of, "itsm", *itsm], [*cell_of, "hr", *hr]]


def test_csv_has_unrounded_numbers_and_empty_fields_for_unknown_values(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    itsm, hr = records(stdout_of(capsys, "results", "new", "--format", "csv"))
    assert (itsm["domain"], itsm["scored"], itsm["passed"], float(itsm["success_rate"])) == ("itsm", "6", "2", 1 / 3)
    assert (itsm["k"], round(float(itsm["pass_at_k"]), 4), itsm["pass_all_k"]) == ("2", 0.6667, "0.0")
    assert (float(itsm["cost_per_task"]), float(itsm["cost_per_success"])) == (0.25, 0.75)
    assert (hr["success_rate"], hr["cost_usd"], hr["cost_per_task"], hr["not_scored"]) == ("", "", "", "2")


def test_json_has_every_figure(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(stdout_of(capsys, "results", "new", "--format", "json"))
    assert (document["run"], document["by"], len(document["rows"])) == ("new.1", "cell", 2)
    itsm, hr = document["rows"]
    assert itsm["categories"]["integrity"] == {"passed": 2, "executed": 6, "pass_rate": pytest.approx(1 / 3)}
    assert itsm["horizons"]["5-8"]["tasks"] == 3
    (repeat,) = itsm["repeats"]
    assert (repeat["k"], repeat["tasks"], repeat["pass_all_k"], repeat["pass_all_k_low"]) == (2, 3, 0, 0)
    assert (repeat["pass_at_k"], repeat["pass_all_k_high"]) == pytest.approx((2 / 3, 0.5615), abs=1e-4)
    assert hr["not_scored_reasons"] == {"infra_error/gym_lost": 1, "pending": 1}
    assert document["total"]["cost_usd"] is None
    assert document["averages"][0]["success_over_domains"] == pytest.approx(1 / 3)


def test_scores_are_shown_with_and_without_the_tasks_of_a_tag(capsys: pytest.CaptureFixture[str]) -> None:
    store = LocalStore("results")
    put_run(store, "t.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    passed(store, "t.1", CELL, {"a": (0,)}, tags=("hostile",))
    passed(store, "t.1", CELL, {"b": (1,), "c": (1,)})
    rows = records(stdout_of(capsys, "results", "t", "--by", "tag", "--format", "csv"))
    assert [(row["tag"], row["tasks"], float(row["success_rate"])) for row in rows] == [
        ("hostile", "1", 0.0),
        ("not hostile", "2", 1.0),
    ]
    lines = [line.split() for line in stdout_of(capsys, "results", "t").splitlines()]
    place = lines.index(["model", "agent", "mode", "domain", "hostile", "not", "hostile"])
    assert lines[place + 1][4:] == ["0/1", "0.0%", "2/2", "100.0%"]
    (cell,) = json.loads(stdout_of(capsys, "results", "t", "--format", "json"))["rows"]
    assert cell["tags"]["not hostile"]["passed"] == 2


def test_every_breakdown_is_available_in_every_format(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for by, form in product(BREAKDOWNS, ("table", "markdown", "csv", "json")):
        out = stdout_of(capsys, "results", "new", "--by", by, "--format", form)
        if "react" not in out or (form == "json" and json.loads(out)["by"] != by):
            wrong.append((by, form))
    assert wrong == []


def test_variants_of_a_suite_are_compared(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Newest run of each variant; runs that differ in anything else are left out."""
    for run, variant, scores in (("v.0", 1, (0, 0)), ("v.1", 1, (1, 0)), ("w.1", 2, (1, 1)), ("x.1", None, (0, 0))):
        suite = {"builtin": "csm-core"} | ({"variant": variant} if variant else {})
        spec = {"suite": suite, "trials": 2, "budget": {"maxUsd": variant or 1}}
        cells = [PlannedCell(cell=CELL, task_ids=["a"])]
        put_run(store, run, cells, trials=2, spec=spec, created_at=f"2026-02-1{run[-1]}T00:00:00Z")
        passed(store, run, CELL, {"a": scores})
    rows = records(stdout_of(capsys, "results", "w.1", "--by", "variant", "--format", "csv"))
    assert [(row["variant"], float(row["success_rate"])) for row in rows] == [
        ("0", 0),
        ("1", 0.5),
        ("2", 1),
        ("mean", 0.5),
    ]
    over = {name: float(rows[-1][name]) for name in ("spread", "lowest", "highest", "success_low", "success_high")}
    assert over == pytest.approx({"spread": 0.5, "lowest": 0, "highest": 1, "success_low": 0, "success_high": 1})
    alone = records(stdout_of(capsys, "results", "new", "--by", "variant", "--format", "csv"))
    assert {(row["variant"], row["spread"]) for row in alone} == {("0", "")}


def test_a_held_out_run_stands_beside_no_other_variant_since_seeds_have_no_names(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in ("v.0", "v.1"):
        spec = {"suite": {"builtin": "csm-core", "heldOut": True}}
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a"])], spec=spec)
        passed(store, run, CELL, {"a": (int(run == "v.0"),)})
    rows = records(stdout_of(capsys, "results", "v.0", "--by", "variant", "--format", "csv"))
    assert [(row["variant"], float(row["success_rate"])) for row in rows] == [("held-out", 1)]


def test_the_command_offers_every_breakdown() -> None:
    (option,) = (parameter for parameter in cli.commands["results"].params if parameter.name == "by")
    assert list(option.type.choices) == list(BREAKDOWNS)  # type: ignore[attr-defined]


def test_trials_without_a_score_are_rows_too(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    rows = records(stdout_of(capsys, "results", "new", "--by", "trial", "--format", "csv"))
    assert len(rows) == 7
    lost = next(row for row in rows if row["task_id"] == "h")
    assert (lost["outcome"], lost["reason"], lost["score"], lost["cost_usd"]) == ("infra_error", "gym_lost", "", "")
    scored = next(row for row in rows if (row["task_id"], row["trial"]) == ("c", "0"))
    assert (scored["outcome"], scored["verifiers_passed"], scored["verifiers_executed"]) == ("passed", "2", "2")


def test_parquet_has_a_row_for_each_trial_with_types(store: LocalStore, folder: Path) -> None:
    assert invoke(["results", "new", "--format", "parquet", "--out", "trials.parquet"]) == 0
    table = parquet.read_table(folder / "trials.parquet")
    assert table.num_rows == 7
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["task_id"], types["score"], types["cost_usd"], types["feasible"]) == (
        "string", "int64", "double", "bool",
    )  # fmt: skip
    assert table.column("cost_usd").to_pylist().count(None) == 1
    assert sum(score or 0 for score in table.column("score").to_pylist()) == 2
    assert invoke(["results", "new", "--format", "parquet", "--by", "verifier", "--out", "v.parquet"]) == 0
    assert parquet.read_table(folder / "v.parquet").num_rows == 12


def test_without_pyarrow_the_error_names_the_package_to_install(
    store: LocalStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert invoke(["results", "new", "--format", "parquet", "--out", "x"]) == 2
    assert "needs pyarrow, which is not installed: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["results", "--format", "parquet"], "without a RUN, --format is one of table, markdown, csv, json"),
        (["results", "new", "--format", "parquet"], "needs --out FILE"),
        (["results", "new", "--format", "xml"], "'xml' is not one of"),
        (["results", "new", "--format", "csv", "--out", "no/such/folder.csv"], "cannot be written: No such file"),
        (["compare", "old", "week"], "holds no run 'week'"),
        (["compare", "old", "new", "--map", "model:m"], "is not of the form PART:BEFORE=AFTER"),
        (["compare", "old", "new", "--map", "domain:itsm=hr"], "is not of the form PART:BEFORE=AFTER"),
        (["compare", "old", "new", "--map", "model:x=y"], "the run has no model 'x'; it has: m"),
        (["compare", "old", "new", "--map", "model:m=gpt"], "have no cell in common; pair names with --map"),
        (["leaderboard"], "Missing argument 'RUN...'"),
        (["compact", "week"], "holds no run 'week'"),
    ],
)
def test_bad_arguments_of_results_and_compare_are_reported(
    store: LocalStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert invoke(arguments) == 2
    assert message in capsys.readouterr().err


def test_out_writes_the_file_and_prints_nothing(
    store: LocalStore, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    printed = stdout_of(capsys, "results", "new", "--format", "csv")
    assert stdout_of(capsys, "results", "new", "--format", "csv", "--out", "new.csv") == ""
    assert (folder / "new.csv").read_text() == printed
    assert [path.name for path in folder.iterdir() if path.suffix == ".tmp"] == []


def test_a_comparison_shows_losses_first(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.split() for line in stdout_of(capsys, "compare", "old", "new").splitlines()]
    total = next(line for line in lines if line[:1] == ["total"])
    assert total[1:6] == ["3", "6", "50.0%", "33.3%", "-16.7"]
    assert total[8:11] == ["2", "1", "0.768"]
    assert [line[0] for line in lines if line[1:5] == ["m", "react", "oracle", "itsm"]] == ["a", "c"]


def test_a_comparison_as_json(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(stdout_of(capsys, "compare", "old", "new", "--format", "json"))
    assert (document["before"], document["after"], document["same_suite"]) == ("old.1", "new.1", True)
    assert (document["total"]["lost"], document["total"]["won"], document["total"]["p_value"]) == (
        2,
        1,
        pytest.approx(0.768, abs=0.001),
    )
    assert [(flip["task_id"], flip["passed_before"], flip["passed_after"]) for flip in document["flips"]] == [
        ("a", 2, 0),
        ("c", 0, 1),
    ]


def put_suite(store: LocalStore, run: str, **digests: str) -> None:
    entries = [SuiteEntry(task_id=task, domain="itsm", gyms=["itsm"], digest=one) for task, one in digests.items()]
    store.put(RunKeys(run).suite_index, SuiteIndex(entries=entries).model_dump_json().encode())


def test_tasks_are_compared_by_digest_and_every_difference_is_named(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    def put(run: str, digest: str, temperature: float, catalogue: str, trials: Mapping[str, tuple[int, ...]]) -> None:
        inline = {"model": "openai/gpt", "parameters": {"temperature": temperature}}
        spec = {
            "suite": {"builtin": "q"},
            "models": [{"name": "m", "inline": inline}],
            "agents": [{"name": "react", "prompts": {"system": f"Work {temperature}."}}],
            "budget": {"maxUsd": temperature},
        }
        cells = [PlannedCell(cell=CELL, task_ids=["a", "b"])]
        put_run(store, run, cells, spec=spec, suite_digest=digest, versions={"orchestrator:own": digest})
        put_suite(store, run, a="same", b=digest)
        versions = Versions(opsgym="1", python="3", litellm=digest, task_digest="d", catalogue_digest=catalogue)
        passed(store, run, CELL, trials, versions=versions)

    put("then.1", "1", 0.0, "c1", {"a": (1,), "b": (1,)})
    put("now.1", "2", 0.5, "c2", {"a": (1,), "b": (0,)})
    document = json.loads(stdout_of(capsys, "compare", "then", "now", "--format", "json"))
    assert (document["total"]["tasks"], document["changed_tasks"]) == (1, ["b"])
    assert [tuple(difference.values()) for difference in document["differences"]] == [
        ("models.m.inline.parameters.temperature", "0.0", "0.5"),
        ("agents.react.prompts.system", "Work 0.0.", "Work 0.5."),
        ("orchestrator:own", "1", "2"),
        ("litellm", "1", "2"),
        ("catalogue", "c1", "c2"),
    ]
    out = stdout_of(capsys, "compare", "then", "now")
    assert "not compared, because their rows differ: b\n" in out
    assert "differs: models.m.inline.parameters.temperature: 0.0 → 0.5\n" in out


def test_a_comparison_names_a_profile_with_each_of_its_switches(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """A switch that one spec sets to its default and the other leaves out does not differ."""
    spec = {"suite": {"builtin": "q"}, "models": [{"name": "m", "inline": {"model": "openai/gpt"}}]}
    agents = ({"name": "react", "strictTools": "disabled"}, {"name": "react", "profile": "published", "maxSteps": 9})
    for run, agent in zip(("plain.1", "paper.1"), agents, strict=True):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a"])], spec=spec | {"agents": [agent]})
        passed(store, run, CELL, {"a": (1,)})
    document = json.loads(stdout_of(capsys, "compare", "plain", "paper", "--format", "json"))
    differences = {one["name"]: (one["before"], one["after"]) for one in document["differences"]}
    assert differences.pop("agents.react.profile") == ("opsgym", "published")
    assert differences.pop("agents.react.maxSteps") == ("50", "9")
    assert differences.pop("agents.react.strictTools", None) is None
    alike = {"max_steps", "strict_tools", "refused_conversations"}
    switches = {field.alias for name, field in Switches.model_fields.items() if name not in alike}
    assert differences.keys() == {f"agents.react.{name}" for name in switches}
    assert [cell["profile"] for cell in document["cells"]] == ["published, maxSteps: 9"]


def test_a_comparison_reads_the_versions_of_every_common_task(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    for run, litellm in (("then.1", {"a": "1", "b": "1", "c": "1"}), ("now.1", {"a": "1", "b": "2", "c": "3"})):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
        for task, one in litellm.items():
            versions = Versions(opsgym="1", python=run, litellm=one, task_digest="d")
            put_trial(store, run, task, Outcome.PASSED, versions=versions)
    document = json.loads(stdout_of(capsys, "compare", "then", "now", "--format", "json"))
    assert document["differences"] == [
        {"name": "python", "before": "then.1", "after": "now.1"},
        {"name": "litellm (2 of 3 tasks, in m/react/oracle/itsm)", "before": "1", "after": "2, 3"},
    ]
    store.put(RunKeys("now.1").trial(CELL, "a", 0).record, b"{")
    assert "litellm: 1 → 2, 3\n" in stdout_of(capsys, "compare", "then", "now")


def test_two_models_of_one_run_are_compared_with_their_settings(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    other = CELL.model_copy(update={"model": "n"})
    spec = {"models": [{"name": name, "inline": {"model": f"replay/{name}"}} for name in ("m", "n")]}
    put_run(store, "both.1", [PlannedCell(cell=cell, task_ids=["a"]) for cell in (CELL, other)], spec=spec)
    passed(store, "both.1", CELL, {"a": (1,)})
    passed(store, "both.1", other, {"a": (0,)})
    document = json.loads(stdout_of(capsys, "compare", "both", "both", "--map", "model:m=n", "--format", "json"))
    assert [(cell["model"], cell["lost"]) for cell in document["cells"]] == [("n", 1)]
    assert document["differences"] == [{"name": "models.n.inline.model", "before": "replay/m", "after": "replay/n"}]


def test_a_regression_above_the_maximum_is_a_no_go(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    out = stdout_of(capsys, "compare", "old", "new", "--max-regression", "0.1", code=4)
    assert "INCONCLUSIVE  regression is not known: no task of m/react/oracle/hr is scored here and in old.1" in out
    gone = [PlannedCell(cell=CELL, task_ids=[f"t{n}" for n in range(40)])]
    for run, scores in (("before.1", (1,)), ("after.1", (0,))):
        put_run(store, run, gone)
        passed(store, run, CELL, {f"t{n}": scores for n in range(40)})
    assert "GO            success rate" in stdout_of(capsys, "compare", "after", "before", "--max-regression", "0.1")
    out = stdout_of(capsys, "compare", "before", "after", "--max-regression", "0.1", code=3)
    assert "NO-GO         success rate down 100.0 points" in out


def test_a_leaderboard_has_the_best_first_and_domains_in_the_published_order(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    put_run(store, "third.1", [PlannedCell(cell=cell, task_ids=["h"]) for cell in (OTHER, HR)])
    passed(store, "third.1", OTHER.model_copy(update={"domain": "csm"}), {"h": (1,)})
    lines = stdout_of(capsys, "leaderboard", "new", "third", "--format", "markdown").splitlines()
    assert lines[0].startswith("| rank | model | run | csm | itsm | hr | mean over tasks |")
    assert [line.split(" | ")[:2] for line in lines[2:5]] == [["| 1–3*", "other"], ["| 1–3*", "m"], ["| 1–3*", "m"]]
    assert "not comparable, because their means cover fewer domains: other, m" in lines
    assert "mean over domains: as in the published full leaderboard" in lines
    rows = records(stdout_of(capsys, "leaderboard", "new", "third", "--format", "csv"))
    assert [(row["model"], row["success_csm"], row["domains"]) for row in rows] == [
        ("other", "1.0", "1"),
        ("m", "", "1"),
        ("m", "", "0"),
    ]


def test_a_leaderboard_tests_models_pairwise_and_gives_rank_intervals(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [f"t{n}" for n in range(40)]
    cells = {name: CELL.model_copy(update={"model": name}) for name in ("strong", "similar", "weak")}
    put_run(store, "race.1", [PlannedCell(cell=cell, task_ids=tasks) for cell in cells.values()])
    for name, count in (("strong", 30), ("similar", 28), ("weak", 8)):
        passed(store, "race.1", cells[name], {task: (int(n < count),) for n, task in enumerate(tasks)})
    document = json.loads(stdout_of(capsys, "leaderboard", "race", "race.1", "--format", "json"))
    assert [(row["model"], row["rank"]) for row in document["rows"]] == [
        ("strong", "1–2"), ("similar", "1–2"), ("weak", "3"),
    ]  # fmt: skip
    pairs = {(pair["first"]["model"], pair["second"]["model"]): pair for pair in document["pairs"]}
    assert pairs["strong", "similar"]["p_value"] == 0.5
    assert pairs["strong", "weak"]["p_value"] == pytest.approx(3 * 2 * 0.5**22)
    assert {pair["tasks"] for pair in document["pairs"]} == {40}


def test_tasks_without_a_score_are_rows_with_what_they_could_have_reached(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    put_run(store, "half.1", [PlannedCell(cell=CELL, task_ids=["a", "b"])], trials=2)
    passed(store, "half.1", CELL, {"a": (1,)}, horizon=3)
    put_attempt(store, "half.1", "a", Outcome.INFRA_ERROR, trial=1, reason="gym_lost", cost_usd=0.5)
    a, b = records(stdout_of(capsys, "results", "half", "--by", "task", "--format", "csv"))
    assert (a["task_id"], a["success_rate"], a["success_worst"], a["success_best"]) == ("a", "1.0", "0.5", "1.0")
    assert (a["total"], a["not_scored"], a["horizon"], a["attempts"], a["cost_usd"]) == ("2", "1", "3", "2", "0.75")
    assert (b["task_id"], b["success_rate"], b["success_worst"], b["success_best"]) == ("b", "", "0.0", "1.0")
    assert (b["total"], b["not_scored"], b["horizon"]) == ("2", "2", "")


@pytest.mark.parametrize("command", [["results"], ["results", "half", "--by", "horizon"], ["leaderboard", "half"]])
def test_a_rate_with_unscored_trials_has_its_worst_and_best_case_beside_it(
    store: LocalStore, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """One of four trials passed, one failed, two were lost, one of them twice."""
    put_run(store, "half.1", [PlannedCell(cell=CELL, task_ids=["a", "b"])], trials=2)
    passed(store, "half.1", CELL, {"a": (1,), "b": (0,)}, horizon=3)
    for task, number in (("a", 0), ("b", 0), ("b", 1)):
        put_attempt(store, "half.1", task, Outcome.INFRA_ERROR, trial=1, attempt=number, reason="gym_lost")
    row = next(
        row for row in records(stdout_of(capsys, *command, "--format", "csv")) if "half.1" in row.get("run", "half.1")
    )
    assert (row["success_worst"], row["success_best"], row["attempts_per_scored"]) == ("0.25", "0.75", "2.5")
    head = stdout_of(capsys, *command, "--format", "markdown").splitlines()[0]
    assert "| worst | best |" in head
    assert "| attempts |" in head


def test_a_leaderboard_leaves_out_rows_that_are_known_to_be_faulty(
    store: LocalStore, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    put_run(store, "race.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    passed(store, "race.1", CELL, {"a": (1,), "b": (1,), "c": (0,)})
    faults = [
        ("oracle", "a", "needs_no_action"),
        ("oracle", "c", "passes_untouched"),
        ("all_tools", "b", "relative_time"),
    ]
    file = folder / "faults.json"
    file.write_text(json.dumps([{"mode": mode, "task_id": task, "kind": kind} for mode, task, kind in faults]))
    document = json.loads(stdout_of(capsys, "leaderboard", "race", "--format", "json", "--faults", str(file)))
    (row,) = document["rows"]
    assert (row["scored"], row["mean_over_tasks"], row["faulty"]) == (2, 0.5, 1)
    assert (row["tasks_with_faulty"], row["domains_with_faulty"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    known = "published rows that are known to be faulty"
    note = f"left out: 1 task (1 needs_no_action), {known}, and those of {file}; the averages 'with faulty' count them"
    assert note in document["notes"]
    file.write_text("{}x")
    assert invoke(["leaderboard", "race", "--store", str(store.root), "--faults", str(file)]) == 2
    assert "is not the faults.json of `opsgym tasks import`" in capsys.readouterr().err


def test_a_leaderboard_leaves_out_published_rows_that_are_known_to_be_faulty_and_prints_both_averages(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = CELL.model_copy(update={"domain": "teams"})
    relative = "task_20251126_070103_077_501bbb2c_7c7c4ea6"
    user = "task_20260106_071510_179_0a1b2c3d_4e5f6071"  # its whole id is not known
    fine = "task_20260106_071510_17"
    put_run(store, "race.1", [PlannedCell(cell=cell, task_ids=[relative, user, fine, "x"])])
    passed(store, "race.1", cell, {relative: (1,), user: (1,), fine: (1,), "x": (0,)})
    lines = stdout_of(capsys, "leaderboard", "race", "--format", "markdown").splitlines()
    row = dict(zip(lines[0].split(" | "), lines[2].split(" | "), strict=True))
    assert (row["mean over tasks"], row["tasks, with faulty"], row["faulty tasks"]) == ("50.0%", "75.0%", "2")
    assert (row["mean over domains"], row["domains, with faulty"]) == ("50.0%", "75.0%")
    (note,) = (line for line in lines if line.startswith("left out"))
    assert note.startswith("left out: 2 tasks (1 relative_time, 1 wrong_user), published rows that are known")


def test_a_leaderboard_of_rows_without_known_faults_says_so(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    put_run(store, "race.1", [PlannedCell(cell=CELL, task_ids=["task_20251126_070103_077_501bbb2c_7c7c4ea6"])])
    passed(store, "race.1", CELL, {"task_20251126_070103_077_501bbb2c_7c7c4ea6": (1,)})
    lines = stdout_of(capsys, "leaderboard", "race", "--format", "markdown").splitlines()
    assert "with faulty" not in lines[0]
    advice = "--faults FILE adds those that `opsgym tasks import` found"
    assert f"no task of these runs is known to be faulty; {advice}" in lines


def test_known_faults_name_a_kind_of_the_import_and_each_row_once() -> None:
    faults = published_faults()
    assert {fault.kind for fault in faults} <= {kind.value for kind in FaultKind}
    assert len({fault.task_id for fault in faults}) == len(faults) >= 10
    assert all(fault.task_id.startswith("task_") and fault.detail.endswith(".") for fault in faults)


def test_a_compacted_run_has_the_same_results(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    before = stdout_of(capsys, "results", "new", "--format", "json")
    assert stdout_of(capsys, "compact", "new") == "new.1: 7 attempts compacted\n"
    assert stdout_of(capsys, "compact", "new") == "new.1: nothing to compact\n"
    assert len(list(store.keys(RunKeys("new.1").chunks))) == 1
    assert stdout_of(capsys, "results", "new", "--format", "json") == before


def test_judges_are_shown_apart(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    put_run(store, "judged.1", [PlannedCell(cell=CELL, task_ids=["a"])])
    passed(store, "judged.1", CELL, {"a": (1,)}, judge_cost_usd=0.05, judge_usage=Usage(model_calls=1, prompt_tokens=9))
    (row,) = records(stdout_of(capsys, "results", "judged", "--format", "csv"))
    assert (row["cost_usd"], row["judge_cost_usd"], row["judge_prompt_tokens"]) == ("0.25", "0.05", "9")
    assert float(row["agent_cost_usd"]) == float(row["cost_per_task"]) == pytest.approx(0.2)
    assert "judge" in stdout_of(capsys, "results", "judged").split("\n")[2]
    assert "judge" not in stdout_of(capsys, "results", "new").split("\n")[2]


def test_tables_name_the_profile_of_each_agent(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [CELL, CELL.model_copy(update={"agent": "paper"})]
    spec = {"agents": [{"name": "react"}, {"name": "paper", "profile": "published", "toolErrors": "shown"}]}
    put_run(store, "both", [PlannedCell(cell=cell, task_ids=["a"]) for cell in cells], spec=spec)
    for cell in cells:
        put_trial(store, "both", "a", Outcome.PASSED, cell=cell)

    averages = json.loads(stdout_of(capsys, "results", "both", "--format", "json"))["averages"]
    rows = records(stdout_of(capsys, "leaderboard", "both", "--format", "csv"))
    printed = stdout_of(capsys, "results", "both")

    assert [row["profile"] for row in averages] == ["opsgym", "published, toolErrors: shown"]
    assert {row["profile"] for row in rows} == {"opsgym", "published, toolErrors: shown"}
    assert "published, toolErrors: shown" in printed
    for by in BREAKDOWNS:
        table = records(stdout_of(capsys, "results", "both", "--format", "csv", "--by", by))
        unnamed = [row for row in table if row["profile"] not in {"opsgym", "published, toolErrors: shown"}]
        assert unnamed == [], by
