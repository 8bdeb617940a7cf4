"""Events through the real runner on a real ITSM server: what changes in mid-episode, and what ends an attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.itsm.strict import SCRIPT, TOKENS
from tests.runner.jobs import MemoryStore, make_job, make_task
from tests.runner.servers import serving
from tests.support.gym import Gym

from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.task import GymServer, Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.client import GymClient, http_client
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

READ = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}
REVOKE = "UPDATE role_permission SET perm_id = 'incidents:read' WHERE role_id = 'ROLE_3' AND perm_id = 'incidents:crud'"
INCIDENT = "SELECT {} FROM incident WHERE incident_id = 'INC_001'"


@pytest.fixture(scope="module")
def itsm(gym_servers: Callable[[str], Gym]) -> str:
    return gym_servers("itsm").url


def note(text: str) -> dict[str, Any]:
    """A write on the first incident."""
    return {"name": "update_incident", "arguments": {"incident_id": "INC_001", "worknotes": text}}


def state(query: str, expected: Any) -> dict[str, Any]:
    config = {"query": query, "expected_value": expected, "comparison_type": "equals"}
    return {"verifier_type": "database_state", "name": "state", "validation_config": config}


def task(
    actions: list[dict[str, Any]], events: list[dict[str, Any]], *verifiers: dict[str, Any], role: str, **fields: Any
) -> Task:
    gym = {"mcp_server_name": "gym-itsm-mcp", "context": {"x-itsm-user-token": TOKENS[role]}}
    always = state("SELECT count(*) FROM organization", 2)
    return make_task(
        selected_tools=[],
        gym_servers_config=[gym],
        verifiers=[always, *verifiers],
        gold_actions=actions,
        events=events,
        **fields,
    )


def job_of(url: str, task: Task, access: Access = Access.STRICT, **fields: Any) -> Job:
    seeds = {"gym-itsm-mcp": Seed(sql=SCRIPT)}
    return make_job(url, task, gyms={"itsm": url}, seeds=seeds, access=access, **fields)


class Played:
    """An episode that was played, and what it left."""

    def __init__(self, store: MemoryStore, job: Job, record: AttemptRecord) -> None:
        self.record = record
        self._store = store
        self.keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)

    @property
    def trial(self) -> TrialRecord:
        trial = self._store.trial(self.keys)
        assert trial is not None, self.record
        return trial

    @property
    def notes(self) -> list[tuple[int, str]]:
        """Step and text of the harness' notes."""
        events = self._store.transcript(self.keys.transcript).events
        return [(event.step, event.content) for event in events if event.kind == "note"]

    @property
    def calls(self) -> list[tuple[int, str | None, bool]]:
        """Step, tool, and whether it was refused."""
        events = self._store.transcript(self.keys.transcript).events
        return [(event.step, event.tool_name, event.is_error) for event in events if event.kind == "tool"]

    @property
    def results(self) -> list[str]:
        """Results of tools as the model read them."""
        return [event.content for event in self._store.transcript(self.keys.transcript).events if event.kind == "tool"]

    @property
    def messages(self) -> str:
        """Content of all messages to the model."""
        events = self._store.transcript(self.keys.transcript).events
        return "".join(event.content for event in events if event.kind != "note")


async def play(store: MemoryStore, job: Job) -> Played:
    async with Runner(store) as runner:
        return Played(store, job, await runner.run(job))


async def test_a_permission_revoked_after_a_step_holds_from_the_next_call(store: MemoryStore, itsm: str) -> None:
    events = [{"after_step": 2, "sql": [REVOKE]}]
    actions = [READ, note("first"), note("second"), READ]
    checked = state(INCIDENT.format("worknotes"), "first")

    played = await play(store, job_of(itsm, task(actions, events, checked, role="agent")))

    assert [is_error for _, _, is_error in played.calls] == [False, False, True, False]
    assert played.notes == [(2, "events[0] happened on gym gym-itsm-mcp: rows changed by statement: 1")]
    assert "role_permission" not in played.messages
    assert (played.record.outcome, played.trial.tool_errors) == ("passed", 1)


async def test_a_row_changes_once_the_agent_has_seen_it(store: MemoryStore, itsm: str) -> None:
    changed = "UPDATE incident SET worknotes = 'by the desk' WHERE incident_id = 'INC_001'"
    events = [{"when_read": {"column": "incident_id", "value": "INC_001"}, "sql": [changed]}]
    missing = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_404"}}

    played = await play(store, job_of(itsm, task([missing, READ, READ], events, role="agent")))

    assert played.notes == [(2, "events[0] happened on gym gym-itsm-mcp: rows changed by statement: 1")]
    assert ["by the desk" in result for result in played.results] == [False, False, True]


async def test_an_event_after_step_0_happens_before_the_first_call(store: MemoryStore, itsm: str) -> None:
    events: list[dict[str, Any]] = [
        {"after_step": 0, "set_time": "2026-11-16T10:30:00", "sql": ["UPDATE incident SET worknotes = 'set'"]},
        {"when": "SELECT true", "sql": ["UPDATE incident SET worknotes = concat(worknotes, ', asked')"]},
    ]
    checked = [
        state(INCIDENT.format("worknotes"), "set, asked"),
        state("SELECT datetime('now')", "2026-11-16 10:30:00"),
    ]

    played = await play(store, job_of(itsm, task([READ], events, *checked, role="agent")))

    assert [(step, text.split(" ")[0]) for step, text in played.notes] == [(0, "events[0]"), (1, "events[1]")]
    assert played.calls == [(1, READ["name"], False)]
    assert played.record.outcome == "passed"


async def test_a_condition_makes_an_event_happen_once_and_before_the_next_call(store: MemoryStore, itsm: str) -> None:
    when = "SELECT worknotes = 'go' FROM incident WHERE incident_id = 'INC_001'"
    events = [{"when": when, "sql": ["UPDATE incident SET description = concat(description, '!')"]}]
    actions = [READ, note("wait"), note("go"), READ, READ]
    checked = state(INCIDENT.format("description"), "Takes a minute!")

    played = await play(store, job_of(itsm, task(actions, events, checked, role="agent")))

    assert played.record.outcome == "passed"
    assert played.notes == [(3, "events[0] happened on gym gym-itsm-mcp: rows changed by statement: 5")]


async def test_a_condition_without_a_row_is_false(store: MemoryStore, itsm: str) -> None:
    events = [{"when": "SELECT 1 FROM incident WHERE worknotes = 'never'", "sql": ["DELETE FROM organization"]}]

    played = await play(store, job_of(itsm, task([READ], events, role="agent")))

    assert (played.record.outcome, played.notes) == ("passed", [(0, "events[0] never became due")])


async def test_time_that_an_event_moves_is_the_time_of_tools_and_verifiers(store: MemoryStore, itsm: str) -> None:
    create = {
        "name": "create_incident",
        "arguments": {"caller_id": "USER_002", "short_description": "late", "assignment_group": "GROUP_001"},
    }
    events: list[dict[str, Any]] = [
        {"after_step": 1, "set_time": "2027-05-01T08:00:00Z"},
        {"after_step": 2, "advance_seconds": 3 * 86_400},
    ]
    made = "SELECT group_concat(created_at) FROM incident WHERE short_description = 'late'"
    checks = [
        state(made, "2027-05-01 08:00:00,2027-05-04 08:00:00"),
        state("SELECT datetime('now')", "2027-05-04 08:00:00"),
    ]

    played = await play(store, job_of(itsm, task([READ, create, create], events, *checks, role="agent")))

    assert played.record.outcome == "passed"
    assert list(played.trial.database_times.values()) == ["2027-05-04T08:00:00"]
    assert played.notes == [
        (1, "events[0] happened: the clock is at 2027-05-01T08:00:00"),
        (2, "events[1] happened: the clock is at 2027-05-04T08:00:00"),
    ]


async def test_a_ticket_that_has_to_wait_is_closed_once_the_clock_has_moved(store: MemoryStore, itsm: str) -> None:
    resolve = {
        "status": "resolved",
        "resolution_code": "User error",
        "resolution_notes": "n",
        "resolved_by": "USER_002",
    }
    close = {
        "name": "update_incident",
        "arguments": {"incident_id": "INC_001", "status": "closed", "close_notes": "settled"},
    }
    actions = [{"name": "update_incident", "arguments": {"incident_id": "INC_001", **resolve}}, close, close]
    events = [{"after_step": 2, "advance_seconds": 3 * 86_400}]
    checked = state(INCIDENT.format("status"), "closed")

    played = await play(store, job_of(itsm, task(actions, events, checked, role="agent")))

    assert played.record.outcome == "passed"
    assert [is_error for _, _, is_error in played.calls] == [False, True, False]


async def test_events_that_are_due_at_once_happen_in_the_rows_order(store: MemoryStore, itsm: str) -> None:
    events: list[dict[str, Any]] = [
        {"after_step": 2, "sql": ["UPDATE incident SET worknotes = concat(worknotes, 'a')"]},
        {
            "when": INCIDENT.format("worknotes = 'xa'"),
            "sql": ["UPDATE incident SET worknotes = concat(worknotes, 'b')"],
        },
        {"after_step": 1, "sql": ["UPDATE incident SET worknotes = 'x'"]},
    ]
    checked = state(INCIDENT.format("worknotes"), "xab")

    played = await play(store, job_of(itsm, task([READ, READ, READ], events, checked, role="agent")))

    assert [text.split(" ")[0] for _, text in played.notes] == ["events[2]", "events[0]", "events[1]"]
    assert played.record.outcome == "passed"


@pytest.mark.parametrize(
    ("event", "calls", "message"),
    [
        (
            {"when": "SELECT x FROM incident", "sql": ["DELETE FROM notification"]},
            0,
            'events[0]: when: gym gym-itsm-mcp refused it: column "x" does not exist',
        ),
        (
            {"when": "SELECT 1 FROM incident", "sql": ["DELETE FROM notification"]},
            0,
            "events[0]: when: the query returned 5 rows of 1 columns; it must return one value, or no row",
        ),
        (
            {"when": "SELECT 1 AS a, 2 AS b", "sql": ["DELETE FROM notification"]},
            0,
            "events[0]: when: the query returned 1 rows of 2 columns; it must return one value, or no row",
        ),
        (
            {"after_step": 1, "sql": ["DELETE FROM notification", "DELETE FROM users"]},
            1,
            "events[0]: gym gym-itsm-mcp refused it, and nothing was changed: statement 2: ",
        ),
    ],
)
async def test_an_event_that_cannot_happen_is_a_config_error(
    store: MemoryStore, itsm: str, event: dict[str, Any], calls: int, message: str
) -> None:
    played = await play(store, job_of(itsm, task([READ, READ], [event], role="agent")))

    assert (played.record.outcome, played.record.reason) == ("config_error", "invalid_row")
    assert played.record.message.startswith(message)
    assert played.record.usage.model_calls == calls


async def test_missing_support_of_events_is_detected_before_the_first_model_call(
    store: MemoryStore, gym_url: str
) -> None:
    events = [{"after_step": 1, "sql": ["DELETE FROM notes"]}]
    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url, make_task(events=events)))

    assert (record.outcome, record.reason, record.usage.model_calls) == ("config_error", "unsupported", 0)
    assert (
        record.message
        == "gym notes does not support scenario events, as published servers do not; serve it with opsgym"
    )


@pytest.mark.parametrize(
    ("status", "detail", "outcome", "reason"),
    [
        (404, "Not Found", "config_error", "unsupported"),
        (405, "Method Not Allowed", "config_error", "unsupported"),
        (404, "there is no database 'ID'", "infra_error", "gym_lost"),
        (503, "Postgres went away", "infra_error", "gym_lost"),
    ],
)
async def test_a_lost_database_is_distinguished_from_missing_support_of_events(
    status: int, detail: str, outcome: str, reason: str
) -> None:
    async def answer(request: Request) -> Response:
        database_id = (await request.json())["database_id"]
        return JSONResponse({"detail": detail.replace("ID", database_id)}, status_code=status)

    async def query(request: Request) -> Response:
        return JSONResponse({"data": []}, status_code=404 if "ID" in detail else 200)

    routes = [Route("/api/apply-event", answer, methods=["POST"]), Route("/api/sql-runner", query, methods=["POST"])]
    with serving(Starlette(routes=routes)) as url:
        async with http_client() as http:
            with pytest.raises(NotScored) as ended:
                await GymClient(http, url, GymServer(mcp_server_name="notes")).apply_event()

    assert (ended.value.outcome, ended.value.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("run", "task_access", "refused"),
    [
        (Access.STRICT, None, True),
        (Access.STRICT, "published", True),
        (Access.PUBLISHED, "strict", True),
        (Access.PUBLISHED, "published", False),
        (Access.PUBLISHED, None, False),
    ],
)
async def test_a_database_is_strict_if_the_run_or_the_task_requires_it(
    store: MemoryStore, itsm: str, run: Access, task_access: str | None, refused: bool
) -> None:
    checked = state(INCIDENT.format("worknotes"), None if refused else "mine")
    row = task([READ, note("mine")], [], checked, role="reporter")
    row = Task.model_validate(row.model_dump(mode="json") | {"access": task_access})
    job = replace(job_of(itsm, row, run), model=ResolvedModel(name="m", model="replay/gold"))

    played = await play(store, job)

    assert [is_error for _, _, is_error in played.calls] == [False, refused]
    assert ("PERMISSION_DENIED" in played.messages) == refused
    assert played.record.outcome == "passed"
