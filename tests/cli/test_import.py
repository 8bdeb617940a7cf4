"""`opsgym tasks import` converts published rows and seeds to a suite folder and reports their faults."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.world import World, row
from tests.itsm.seed import SEED
from tests.support.upstream import upstream

from opsgym.taskimport.sources import decoded, read_rows
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_core.results.load import load_run
from opsgym_core.results.transcripts import read_transcript

ARCHIVE = "Domain Wise DBs and Task-DB Mappings/itsm/dbs/desk.sql"


def published(task_id: str, **fields: Any) -> dict[str, Any]:
    """A row as it is published."""
    made = row(task_id, **fields)
    made["gym_servers_config"][0]["seed_database_file"] = ARCHIVE
    return {name: value for name, value in made.items() if not name.startswith("gold")} | {"mcp_endpoint": "/mcp"}


def checks(*verifiers: tuple[str, str, Any]) -> list[dict[str, Any]]:
    """Verifiers by name, query and expected value."""
    return [
        {
            "verifier_type": "database_state",
            "name": name,
            "validation_config": {"query": query, "expected_value": expected, "comparison_type": "equals"},
        }
        for name, query, expected in verifiers
    ]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def write_archive(world: World, **members: str) -> str:
    """A zip archive of seeds."""
    with zipfile.ZipFile(world.folder / "dbs.zip", "w") as archive:
        for name, content in {ARCHIVE: SEED, **members}.items():
            archive.writestr(name, content)
    return "dbs.zip"


def write_parquet(world: World, mode: str, rows: list[dict[str, Any]]) -> None:
    """A file of the data set, which keeps two fields as JSON in strings."""
    folder = world.folder / "data" / mode
    folder.mkdir(parents=True, exist_ok=True)
    strings = ("gym_servers_config", "verifiers")
    made = [row | {name: json.dumps(row[name]) for name in strings} for row in rows]
    parquet.write_table(pa.Table.from_pylist(made), folder / "itsm-00000-of-00001.parquet")


def imported(world: World, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    done = world.inline("tasks", "import", *arguments, "--out", "suite", "--format", "json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def kinds(report: dict[str, Any]) -> Counter[str]:
    return Counter(fault["kind"] for fault in report["faults"])


def test_parquet_of_several_modes_becomes_a_suite_for_each_and_runs(world: World) -> None:
    seeds = write_archive(world)
    write_parquet(world, "oracle", [published("first"), published("second")])
    write_parquet(world, "plus_5_tools", [published("first", selected_tools=["find_incident_by_id", "list_users"])])
    report, _ = imported(world, "data", "--seeds", seeds)
    assert report["rows"] == [
        {"mode": "oracle", "domain": "itsm", "rows": 2},
        {"mode": "plus_5_tools", "domain": "itsm", "rows": 1},
    ]
    suite = {"path": "suite/plus_5_tools", "modes": ["plus_5_tools"]}
    world.write_run({"noop": {"model": "replay/noop"}}, suite=suite)
    done = world.inline("run", "run.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == 1
    (cell,) = load_run(world.store, world.run).run.cells
    key = RunKeys(world.run).trial(cell.cell, "first", 0).transcript
    transcript = read_transcript(world.store, key)
    assert transcript is not None
    assert sorted(transcript.tools) == ["find_incident_by_id", "list_users"], "the tools published for the mode"


def test_queries_of_rows_with_built_in_seeds_are_run_on_them(world: World) -> None:
    verifiers = checks(
        ("exists", "SELECT count(*) FROM incident WHERE number IS NOT NULL", 0), ("bad", "SELECT nope", 1)
    )
    made = published("first", verifiers=verifiers, selected_tools=["find_incident"])
    made["gym_servers_config"][0]["seed_database_file"] = "builtin:quickstart"
    other = published("second")
    other["gym_servers_config"][0]["seed_database_file"] = "builtin:nope"
    (world.folder / "rows.json").write_text(json.dumps([made, other]))
    report, _ = imported(world, "rows.json")
    assert report["unchecked"] == {"itsm": 1}, "only the row whose seed does not exist"
    assert kinds(report) == {"unknown_tool": 1, "refused_query": 1, "missing_seed": 1}
    assert report["seeds"] == 0, "built-in seeds need no file"


def test_every_field_of_a_row_is_kept_including_unknown_ones(world: World) -> None:
    given = published("first", marks=["a", {"deep": 1}], note='{"text": "is decoded"}', empty=None)
    write_parquet(world, "oracle", [given | {"marks": json.dumps(given["marks"])}])
    imported(world, "data", "--seeds", write_archive(world))
    (line,) = (world.folder / "suite/oracle/itsm.jsonl").read_text().splitlines()
    made = json.loads(line)
    assert made == {**decoded(given), "domain": "itsm"} | {"gym_servers_config": made["gym_servers_config"]}
    assert Task.model_validate(made) == Task.model_validate({**given, "domain": "itsm"} | {"note": made["note"]})


@pytest.mark.parametrize(
    ("name", "mode", "task_id"),
    [
        ("oracle__itsm__task_7.json", "oracle", "task_7"),
        ("plus_10_tools__itsm__task__8.json", "plus_10_tools", "task__8"),
        ("+15_tools/task_9.json", "plus_15_tools", "task_9"),
        ("task_1.jsonl", "oracle", "task_1"),
    ],
)
def test_mode_and_id_of_a_row_default_to_its_file_name(tmp_path: Path, name: str, mode: str, task_id: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"user_prompt": "x"}))
    (record,) = read_rows([tmp_path])
    assert (record.mode.value, record.default_id) == (mode, task_id)


def test_faults_of_rows_are_reported_with_their_position(world: World) -> None:
    count = "SELECT COUNT(*) FROM incident WHERE 1 = 0"
    odd = checks(
        ("same", count, 5),
        ("same", count, 5),
        ("text", count, "5"),
        ("two", f"{count}; {count}", 1),
        ("time", "SELECT COUNT(*) FROM incident WHERE opened_at > datetime('now', '-5 minutes')", 1),
        ("done already", count, 0),
    )
    rows = [
        published("odd", verifiers=odd, selected_tools=["update_incident", "no_such_tool"]),
        published("idle", verifiers=checks(("none", count, 0))),
    ]
    (world.folder / "rows.json").write_text(json.dumps(rows))
    report, _ = imported(world, "rows.json", "--seeds", write_archive(world))
    assert kinds(report) == {
        "unknown_tool": 1, "shared_verifier_name": 1, "repeated_verifier": 1, "text_for_number": 1, "refused_query": 2,
        "relative_time": 1, "passes_untouched": 2, "needs_no_action": 1,
    }  # fmt: skip
    by_kind = {fault["kind"]: fault for fault in report["faults"]}
    assert by_kind["unknown_tool"]["detail"] == "no_such_tool"
    assert by_kind["repeated_verifier"]["where"] == "verifiers[1]"
    assert by_kind["needs_no_action"]["task_id"] == "idle"
    assert report["faults"] == json.loads((world.folder / "suite/faults.json").read_text())


SLAS = "SELECT COUNT(*) FROM sla_definition WHERE"


@pytest.mark.parametrize(
    ("query", "expected", "kind", "part"),
    [
        (f"{SLAS} metric = 'response' AND metric = 'resolution'", 1, "impossible_query", "no value of metric meets"),
        (f"{SLAS} LOWER(metric) = 'Response'", 1, "impossible_query", "LOWER(metric) = 'Response'"),
        (f"{SLAS} (name = 'a' OR name = 'b') AND name = 'c'", 0, "impossible_query", "name"),
        (f"{SLAS} name IS NULL AND name LIKE 'x%'", 0, "impossible_query", "name"),
        (f"{SLAS} target_mins > 30 AND target_mins < 20", 0, "impossible_query", "target_mins"),
        (f"{SLAS} sla_def_id = 'SLA_1'", 2, "impossible_query", "at most 1: equals 2 never holds"),
        (f"{SLAS} active = 1", -1, "impossible_query", "at least 0: equals -1 never holds"),
        (f"{SLAS} active = 1 GROUP BY metric", 0, "impossible_query", "at least 1: equals 0 never holds"),
        ("SELECT CASE WHEN EXISTS (SELECT 1 FROM incident) THEN 1 ELSE 0 END", 2, "impossible_query", "one of 0, 1"),
        ("SELECT name, metric FROM sla_definition", "x", "impossible_query", "returns 2 columns"),
        (f"{SLAS} target_mins = 'thirty'", 1, "mixed_types", "target_mins holds numbers"),
        (f"{SLAS} active = 'true'", 1, "mixed_types", "active holds numbers"),
        ("SELECT name FROM sla_definition", 7, "mixed_types", "name holds texts"),
        (f"{SLAS} active = 1", "1", "text_for_number", "expects the text '1'"),
    ],
)
def test_a_query_that_no_agent_can_satisfy_is_reported_without_a_seed(
    world: World, query: str, expected: Any, kind: str, part: str
) -> None:
    (world.folder / "rows.json").write_text(json.dumps(published("odd", verifiers=checks(("odd", query, expected)))))
    report, _ = imported(world, "rows.json")
    (fault,) = [fault for fault in report["faults"] if fault["kind"] != "missing_seed"]
    assert (fault["kind"], fault["where"]) == (kind, "verifiers[0] (odd)")
    assert part in fault["detail"]


@pytest.mark.parametrize(
    "condition",
    [
        "name = 'a' OR name = 'b'",
        "name LIKE '%a%' AND name LIKE '%b%'",
        "LOWER(name) = 'a' AND name <> 'a'",
        "target_mins = '30' AND active = true",
        "target_mins BETWEEN 20 AND 30 AND target_mins <> 20",
        "name = 'a' AND name IN ('b', 'a')",
        "date(created_at) = '2026-01-01' AND date(created_at) = '2026-01-02'",
    ],
)
def test_conditions_that_rows_can_meet_or_that_are_not_read_are_no_fault(world: World, condition: str) -> None:
    verifiers = checks(("fine", f"{SLAS} {condition}", 1))
    (world.folder / "rows.json").write_text(json.dumps(published("fine", verifiers=verifiers)))
    report, _ = imported(world, "rows.json")
    assert kinds(report) == {"missing_seed": 1}


def test_a_text_that_no_agent_can_know_and_a_tool_that_is_needed_and_not_shown_are_reported(world: World) -> None:
    request = "Close INC_001 with the note Printer replaced."
    notes = "SELECT COUNT(*) FROM incident WHERE close_notes ="
    verifiers = checks(
        ("said", f"{notes} 'printer replaced'", 1),
        ("unsaid", f"{notes} 'Toner was empty'", 1),
        ("nothing", f"{notes} 'Nothing of the kind'", 0),
        ("article", "SELECT COUNT(*) FROM knowledge WHERE title LIKE '%printer%'", 1),
    )
    tools = ["find_incident_by_id", "update_incident"]
    made = published("first", user_prompt=request, verifiers=verifiers, selected_tools=tools)
    (world.folder / "rows.json").write_text(json.dumps(made))
    report, _ = imported(world, "rows.json", "--seeds", write_archive(world))
    reported = [fault for fault in report["faults"] if fault["kind"] in ("unfounded_value", "hidden_tool")]
    assert [(fault["kind"], fault["where"]) for fault in reported] == [
        ("unfounded_value", "verifiers[1] (unsaid)"),
        ("hidden_tool", "verifiers[3] (article)"),
    ]
    assert "'Toner was empty'" in reported[0]["detail"]
    assert "create_knowledge_article" in reported[1]["detail"]


def test_invalid_rows_are_reported_and_excluded_from_the_suite(world: World) -> None:
    bad = published("bad", verifiers=[{"verifier_type": "database_state", "validation_config": {}}])
    elsewhere = published("elsewhere", verifiers=[row("x")["verifiers"][1] | {"gym_name": "gym-hr-mcp"}])
    lines = [*map(json.dumps, [published("good"), bad, elsewhere, published("good")]), "{"]
    (world.folder / "rows.jsonl").write_text("\n".join(lines))
    report, _ = imported(world, "rows.jsonl", "--seeds", write_archive(world), code=2)
    invalid = {fault["where"]: fault["detail"] for fault in report["faults"] if fault["kind"] == "invalid_row"}
    assert sorted(invalid) == [f"rows.jsonl row {number}" for number in (2, 3, 4, 5)]
    assert "unknown gym server" in invalid["rows.jsonl row 3"]
    assert "the same task_id" in invalid["rows.jsonl row 4"]
    assert "is not JSON" in invalid["rows.jsonl row 5"]
    tasks, broken = read_tasks(world.folder / "suite/oracle")
    assert ([task.task_id for task in tasks], broken) == (["good"], [])


def test_a_missing_seed_is_named_and_the_row_kept(world: World) -> None:
    (world.folder / "rows.json").write_text(json.dumps(published("first")))
    report, _ = imported(world, "rows.json")
    assert kinds(report) == {"missing_seed": 1}
    assert report["unchecked"] == {"itsm": 1}
    assert report["faults"][0]["detail"] == ARCHIVE


def test_members_of_an_archive_are_never_written_outside_the_suite_folder(world: World) -> None:
    seeds = write_archive(world, **{"../outside.sql": "x", "/tmp/opsgym-absolute.sql": "x", "__MACOSX/._desk.sql": "x"})
    rows = [published("a"), published("b")]
    rows[1]["gym_servers_config"][0]["seed_database_file"] = "../outside.sql"
    (world.folder / "rows.json").write_text(json.dumps(rows))
    imported(world, "rows.json", "--seeds", seeds)
    assert not (world.folder.parent / "outside.sql").exists()
    assert not (world.folder / "outside.sql").exists()
    assert sorted(file.name for file in (world.folder / "suite/seeds").iterdir()) == ["desk.sql"]


def test_tools_of_domains_that_are_not_installed_are_checked_against_files(world: World) -> None:
    row = published("payroll", selected_tools=["find_worker", "gone"], verifiers=checks(("c", "SELECT 1", 1)))
    row["gym_servers_config"][0]["mcp_server_name"] = "sn-payroll-internal"
    (world.folder / "rows.json").write_text(json.dumps(row))
    (world.folder / "tools").mkdir()
    (world.folder / "tools/payroll.json").write_text(json.dumps({"tools": [{"name": "find_worker"}]}))
    without, _ = imported(world, "rows.json", code=2)
    (refused,) = without["faults"]
    assert refused["detail"].startswith("unknown gym server 'sn-payroll-internal' (no domain 'payroll' is installed)")
    assert without["rows"] == []
    report, _ = imported(world, "rows.json", "--tools", "tools")
    assert [fault["detail"] for fault in report["faults"] if fault["kind"] == "unknown_tool"] == ["gone"]


@pytest.mark.parametrize(
    ("name", "content", "arguments", "problem"),
    [
        ("rows.parquet", b"not parquet", [], "cannot be read as Parquet"),
        ("rows.json", b"\xff", [], "is not UTF-8 text"),
        ("rows.json", b"{}", ["--seeds", "rows.json"], "not a zip archive"),
        ("other.txt", b"", [], "has no rows"),
        ("rows.json", b"{}", ["--tools", "bad"], "expected the result of tools/list"),
    ],
)
def test_an_unreadable_input_is_named(
    world: World, name: str, content: bytes, arguments: list[str], problem: str
) -> None:
    (world.folder / "bad").mkdir()
    (world.folder / "bad/itsm.json").write_text("7")
    (world.folder / "in").mkdir()
    (world.folder / "in" / name).write_bytes(content)
    (world.folder / "rows.json").write_text("{}")
    _, stderr = imported(world, "in", *arguments, code=2)
    assert problem in stderr


def test_the_table_counts_faults_and_lists_the_first_ones(world: World) -> None:
    rows = [published(f"task{number}") for number in range(5)]
    (world.folder / "rows.json").write_text(json.dumps(rows))
    done = world.inline("tasks", "import", "rows.json", "--out", "suite")
    assert "missing_seed: 5\n" in done.stdout
    assert "... 2 more in suite/faults.json" in done.stdout
    assert "suite/oracle" in done.stdout


@pytest.mark.parametrize("domain", ["csm", "itsm", "teams"])
def test_published_rows_convert_without_loss(world: World, domain: str) -> None:
    folder = upstream() / "tasks" / domain
    report, _ = imported(world, str(folder))
    files = {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json") if file.name[0] != "_"}
    assert [entry["rows"] for entry in report["rows"]] == [len(files)]
    for line in (world.folder / f"suite/oracle/{domain}.jsonl").read_text().splitlines():
        made = json.loads(line)
        given = files[made["task_id"]]
        assert {name: value for name, value in made.items() if name not in ("task_id", "domain")} == {
            name: value for name, value in decoded(given).items() if name not in ("task_id", "domain")
        }
        assert Task.model_validate(made) == Task.model_validate({**given, "task_id": made["task_id"], "domain": domain})
