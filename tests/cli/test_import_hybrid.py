"""A row in the published form of tasks on several gym servers is imported, read and played.

Such a row lists its servers, has one list of tools for all of them, and names a server only in its verifiers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World
from tests.support.gym import Gym

from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.reading import read_tasks
from opsgym_core.results.load import load_run
from opsgym_core.results.transcripts import read_transcript

TOOLS = [
    "find_incident_by_number", "search_cases", "get_calendar_list", "update_incident", "update_case", "create_calendar",
]  # fmt: skip
SERVERS = {
    "gym-itsm-mcp": ("builtin:quickstart", {"x-itsm-user-token": "agent_token_ines_carvalho_001"}),
    "sn-csm-server": ("builtin:desk", {"x-user-email": "yuki.tanabe@larkspur.example"}),
    "gym-calendar-mcp": ("builtin:offices", {"x-access-token": "8489771b-5a35-4452-a265-b7c69361bc5e"}),
}
"""Built-in seed and identity header of each server; a server of customer service has its published name."""
QUERIES = {
    "gym-itsm-mcp": ("SELECT worknotes FROM incident WHERE number = 'INC-004197'", "See CS-0003544."),
    "sn-csm-server": ("SELECT COUNT(*) FROM customer_case WHERE number = 'CS-0003544' AND state = 'in_progress'", 1),
    "gym-calendar-mcp": ("SELECT COUNT(*) FROM calendars WHERE summary = 'Printer and probe'", 1),
}
NOTE = {"tool": "update_incident", "arguments": {"incident_id": "INC_067", "worknotes": "See CS-0003544."}}
CALLS: list[dict[str, Any]] = [
    {"tool": "find_incident_by_number", "arguments": {"number": "INC-004197"}},
    {"tool": "search_cases", "arguments": {"number": "CS-0003544"}},
    {"tool": "get_calendar_list", "arguments": {}},
    {"tool": "update_case", "arguments": {"case_id": 327, "state": "in_progress"}},
    {"tool": "create_calendar", "arguments": {"summary": "Printer and probe"}},
    NOTE,
]


def published() -> dict[str, Any]:
    """A row as it is published, in our own words."""
    return {
        "task_id": "printer-and-probe",
        "system_prompt": "You keep the records of three systems, and you change only what you are asked to change.",
        "user_prompt": "CS-0003544 is reopened: set it to work in progress and note 'See CS-0003544.' in INC-004197. "
        "Then make a calendar 'Printer and probe' for the visits.",
        "number_of_runs": 1,
        "reset_database_between_runs": True,
        "mcp_endpoint": "/mcp",
        "restricted_tools": [],
        "selected_tools": TOOLS,
        "gym_servers_config": [
            {
                "mcp_server_name": name,
                "mcp_server_url": f"http://localhost:80{place:02}",
                "seed_database_file": seed,
                "context": context,
            }
            for place, (name, (seed, context)) in enumerate(SERVERS.items(), start=1)
        ],
        "verifiers": [
            {
                "verifier_type": "database_state",
                "name": f"State of {name}",
                "description": None,
                "gym_name": name,
                "validation_config": {"query": query, "expected_value": expected, "comparison_type": "equals"},
            }
            for name, (query, expected) in QUERIES.items()
        ],
    }


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    (tmp_path / "rows.json").write_text(json.dumps([published()]))
    done = made.inline("tasks", "import", "rows.json", "--out", "suite", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["faults"] == []
    return made


def test_a_published_row_on_several_servers_is_read_as_a_hybrid_task(world: World) -> None:
    (task,), bad = read_tasks(world.folder / "suite" / "oracle")
    assert bad == []
    assert task.domain_name == "hybrid"
    assert [server.mcp_server_name for server in task.gym_servers_config] == list(SERVERS)
    assert [verifier.gym_name for verifier in task.verifiers] == list(SERVERS)
    assert task.selected_tools == TOOLS


@pytest.mark.timeout(300)
def test_a_recording_with_published_tool_names_is_judged_on_each_server(
    world: World, gym_servers: Callable[[str], Gym]
) -> None:
    world = World(world.folder, {domain: gym_servers(domain).url for domain in ("itsm", "csm", "calendar")})
    recordings = {"whole": CALLS, "without-note": [call for call in CALLS if call is not NOTE]}
    for name, calls in recordings.items():
        lines = [*calls, {"answer": "CS-0003544 is in progress, INC-004197 names it, and the calendar is there."}]
        text = "".join(json.dumps({"task_id": "printer-and-probe", **line}) + "\n" for line in lines)
        (world.folder / f"{name}.jsonl").write_text(text)
    models = {name: {"model": f"replay/{name}.jsonl"} for name in recordings}
    world.write_run(models, suite={"path": "suite/oracle"})
    done = world.inline("run", "run.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr

    passed = {
        trial.cell.model: {result.gym_name: result.passed for result in trial.verifiers} for trial in world.trials()
    }
    assert passed == {
        "whole": dict.fromkeys(SERVERS, True),
        "without-note": {**dict.fromkeys(SERVERS, True), "gym-itsm-mcp": False},
    }
    for cell in load_run(world.store, world.run).run.cells:
        key = RunKeys(world.run).trial(cell.cell, "printer-and-probe", 0).transcript
        transcript = read_transcript(world.store, key)
        assert transcript is not None
        assert sorted(transcript.tools) == sorted(TOOLS), "the one list holds for all servers"
        assert not any(event.is_error for event in transcript.events if event.kind == "tool")
