"""`opsgym tasks validate` names what is wrong with a row before a run does, and proves rows on gym servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row

from opsgym_api.tasks.suite import FrozenTask
from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import suite_rows


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def validated(world: World, *rows: dict[str, Any], code: int = 2) -> list[str]:
    """What validation of a suite prints to stderr."""
    world.write_suite(rows)
    done = world.inline("tasks", "validate", "suite")
    assert done.returncode == code, done.stderr
    return [line.removeprefix("tasks.json row 1: a: ") for line in done.stderr.splitlines()]


def check(query: str, **fields: Any) -> dict[str, Any]:
    config = {"query": query, "expected_value": 1, "comparison_type": "equals", **fields}
    return {"verifier_type": "database_state", "name": "check", "validation_config": config}


def difference(**config: Any) -> dict[str, Any]:
    return {"verifier_type": "state_difference", "name": "difference", "validation_config": config}


def server(**fields: Any) -> list[dict[str, Any]]:
    return [{**row("a")["gym_servers_config"][0], **fields}]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("selected_tool", "selected_tools"),
        ("feasable", "feasible"),
        ("gold_answr", "gold_answer"),
        ("goldActions", "gold_actions"),
    ],
)
def test_a_misspelt_optional_field_is_answered_with_the_one_meant(world: World, name: str, meant: str) -> None:
    problems = validated(world, row("a", **{name: None}))
    assert problems == [
        f"{name}: is not a field here; did you mean {meant}?",
        "suite: 1 of 1 row is not valid",
    ]


def test_misspelt_fields_inside_of_verifiers_are_named_by_their_paths(world: World) -> None:
    verifier = {**check("SELECT 1", comparison="equals"), "categry": "integrity"}
    problems = validated(world, row("a", verifiers=[verifier]))
    assert problems[:2] == [
        "verifiers[0].categry: is not a field here; did you mean category?",
        "verifiers[0].validation_config.comparison: is not a field here; did you mean comparison_type?",
    ]


def test_fields_of_other_programs_are_a_warning_and_published_ones_are_not_mentioned(world: World) -> None:
    more = {"owner": "ops", "_note": "mine", "number_of_runs": 1, "mcp_endpoint": "/mcp", "selected_tools_count": 3}
    assert validated(world, row("a", **more), code=0) == [
        "warning: owner: is not a field of a task and has no effect",
        "warning: selected_tools_count: is not a field of a task and has no effect",
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"selected_tools": ["list_user"]}, "selected_tools: unknown tool 'list_user'; did you mean list_users?"),
        (
            {"gold_actions": [{"name": "find_incident_by_numbr"}]},
            "gold_actions[0].name: unknown tool 'find_incident_by_numbr'; did you mean find_incident_by_number?",
        ),
        (
            {"gold_actions": [{"name": "find_incident_by_id", "arguments": {"incident_id": "a", "incidentid": "b"}}]},
            "gold_actions[0].arguments: unknown argument of find_incident_by_id 'incidentid'; did you mean incident_id",
        ),
        (
            {"gold_actions": [{"name": "find_incident_by_id"}]},
            "gold_actions[0].arguments: find_incident_by_id refuses them: incident_id: this argument is required",
        ),
        (
            {"verifiers": [check("SELECT count(*) FROM incidnt")]},
            "verifiers[0].validation_config.query: fails on the seed: no such table: incidnt",
        ),
        (
            {"verifiers": [check("SELECT statu FROM incident")]},
            "verifiers[0].validation_config.query: fails on the seed: no such column: statu",
        ),
        (
            {"verifiers": [difference(rows=[{"table": "incidents", "change": "added"}])]},
            "verifiers[0].validation_config: unknown table 'incidents'; did you mean incident?",
        ),
        (
            {
                "verifiers": [difference(day=1, rows=[{"table": "incidents", "change": "added"}])],
                "days": [{"begins_at": "2026-12-01T09:00:00", "message": "Good morning."}],
            },
            "verifiers[0].validation_config: unknown table 'incidents'; did you mean incident?",
        ),
        (
            {"verifiers": [difference(nothing_else=True, ignored={"incident": ["updated"]})]},
            "verifiers[0].validation_config: unknown column of incident 'updated'; did you mean updated_at?",
        ),
        (
            {"events": [{"on_tool": "close_it", "tell": "Stop."}]},
            "events[0].on_tool: unknown tool 'close_it'; `opsgym gym explore itsm` lists all tools and tables",
        ),
        (
            {"gym_servers_config": server(seed_database_file="builtin:nope")},
            "gym_servers_config[0].seed_database_file: unknown built-in seed of itsm 'nope'; known:",
        ),
        (
            {"gym_servers_config": server(context={"x-itsm-user-token": "nope"})},
            "gym_servers_config[0].context.x-itsm-user-token: no user of the seed has 'nope'; `opsgym",
        ),
        (
            {"gym_servers_config": server(mcp_server_name="gym-chess-mcp")},
            "gym_servers_config[0].mcp_server_name: unknown gym server 'gym-chess-mcp' (no domain 'chess' is",
        ),
        (
            {"gym_servers_config": server(mcp_server_name="gym-googledrive-mcp")},
            "gym_servers_config[0].mcp_server_name: unknown gym server 'gym-googledrive-mcp' (no domain 'googledrive'",
        ),
    ],
)  # fmt: skip
def test_what_would_end_or_falsify_trials_is_a_problem_of_its_field(
    world: World, fields: dict[str, Any], problem: str
) -> None:
    assert any(line.startswith(problem) for line in validated(world, row("a", **fields)))


def test_a_missing_seed_file_is_named_with_the_folders_searched(world: World) -> None:
    problem, _ = validated(world, row("a", gym_servers_config=server(seed_database_file="gone.sql")))
    assert "neither gone.sql nor a file gone.sql in" in problem


def test_a_context_that_names_no_acting_user_is_a_warning(world: World) -> None:
    (warning,) = validated(world, row("a", gym_servers_config=server(context={"x-user-id": "7"})), code=0)
    assert "names no acting user: itsm knows the acting user by the header x-itsm-user-token" in warning


def test_a_gold_action_is_checked_against_the_gym_server_that_it_names(world: World) -> None:
    csm = {"mcp_server_name": "sn-csm-server", "seed_database_file": "builtin:quickstart"}
    shared = {"name": "list_users", "arguments": {}, "gym": "sn-csm-server"}
    servers = {"gym_servers_config": [*server(), csm], "gold_actions": [{**shared, "name": "find_incident_by_id"}]}
    assert validated(world, row("a", **servers))[0] == (
        "gold_actions[0].gym: gym server sn-csm-server has no tool find_incident_by_id"
    )
    warnings = validated(world, row("a", **servers | {"gold_actions": [shared]}), code=0)
    assert any("only agents with `toolNames: qualified` can call it" in warning for warning in warnings)


def test_duplicates_are_named_with_their_files(world: World) -> None:
    world.write_suite([row("b"), row("a")])
    (world.folder / "suite" / "more.json").write_text(json.dumps(row("a")))
    done = world.inline("tasks", "validate", "suite")
    assert done.returncode == 2
    assert "task_id: 'a' names several rows: more.json, tasks.json row 2;" in done.stderr


def test_texts_beside_the_rows_are_included_and_missing_ones_are_named(world: World) -> None:
    world.write_suite([row("a", system_prompt="Policy:\n{{include policy.md}}\nEnd.")])
    missing = world.inline("tasks", "validate", "suite")
    assert missing.returncode == 2
    assert "system_prompt: cannot include policy.md from the folder of the rows: No such file" in missing.stderr
    (world.folder / "suite" / "policy.md").write_text("1. Be kind.\n")
    assert world.inline("tasks", "validate", "suite").returncode == 0
    world.write_run({"gold": {"model": "replay/gold"}})
    assert world.inline("run", "run.yaml").returncode == 0
    stored = FrozenTask.model_validate_json(next(world.folder.glob("results/**/suite/tasks/a.json")).read_bytes())
    assert stored.row["system_prompt"] == "Policy:\n1. Be kind.\nEnd."


@pytest.mark.parametrize("name", ["../secret.md", "/etc/passwd", "policy.sql", ""])
def test_only_texts_in_the_folder_of_the_rows_are_included(world: World, name: str) -> None:
    problem, _ = validated(world, row("a", system_prompt=f"{{{{include {name}}}}}"))
    assert f"cannot include {name!r}: expected the name of a .md or .txt file beside the rows" in problem


def test_rows_of_a_stored_suite_are_read(world: World) -> None:
    stored = FrozenTask(row=Task.model_validate(row("a")).model_dump(mode="json"), seeds={})
    world.write_suite([row("b")])
    (world.folder / "suite" / "stored.json").write_text(stored.model_dump_json())
    done = world.inline("tasks", "validate", "suite")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "suite: 2 tasks, all valid")


def test_every_row_of_the_quickstart_is_valid(world: World) -> None:
    (world.folder / "tasks.json").write_text(json.dumps(suite_rows("quickstart")))
    done = world.inline("tasks", "validate", "tasks.json")
    assert (done.returncode, done.stderr) == (0, "")


CLOSED = "SELECT count(*) FROM incident WHERE incident_id = 'INC_001' AND status = 'closed'"


def test_a_proof_names_wrong_solutions_idle_passes_and_verifiers_that_cannot_fail(world: World) -> None:
    """One run of gym servers for all of them."""
    answers, untouched = row("a")["verifiers"]
    guards = [check("SELECT count(*) FROM incident WHERE status = 'nowhere'", expected_value=0), check("SELECT 1")]
    world.write_suite(
        [
            row("right", verifiers=[answers, untouched, check(CLOSED, expected_value=0)]),
            row("wrong", verifiers=[answers, check(CLOSED)]),
            row("idle", verifiers=[untouched]),
            row("guarded", verifiers=[answers, *guards]),
            row("unsolved", gold_actions=None),
        ]
    )
    done = world.inline("tasks", "validate", "suite", "--prove")
    assert done.returncode == 2
    lines = [line.partition(": ")[2] for line in done.stderr.splitlines() if line.startswith("tasks.json")]
    assert lines == [
        (
            "wrong: warning: verifiers[1] (check): unfounded_value: status is to be 'closed', which stands in no "
            "message, policy, tool or row of the seed; tell the agent the value, or judge what it can know"
        ),
        (
            "wrong: warning: verifiers[1] (check): hidden_tool: wants a change of incident, which no tool shown "
            "writes; show create_incident or update_incident"
        ),
        "wrong: verifiers[1] (check): fails after the gold actions: expected 1 (equals), got 0",
        "idle: verifiers: an agent that does nothing and answers nothing passes",
        "guarded: warning: verifiers[2] (check): passes with the gold actions, without any, and in every state tried",
        "unsolved: gold_actions: is required for a proof: give the tool calls that solve the task",
    ]
    assert "suite: 3 of 5 rows are not valid" in done.stderr
