"""A task over five gym servers through the real runner: each call reaches its own server, and each server is judged,
moved in time and changed by events on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest
from tests.calendar.house import ANA, HOUSE
from tests.csm.strict import EMAILS
from tests.csm.strict import SCRIPT as CSM_SCRIPT
from tests.email.mail import note
from tests.email.seed import HEADERS as ANN
from tests.email.seed import SEED as EMAIL_SCRIPT
from tests.hr.strict import SCRIPT as HR_SCRIPT
from tests.hr.strict import TOKENS as HR_TOKENS
from tests.itsm.strict import SCRIPT as ITSM_SCRIPT
from tests.itsm.strict import TOKENS as ITSM_TOKENS
from tests.runner.jobs import MemoryStore, make_job, make_task
from tests.runner.test_events import Played, play
from tests.support.gym import Gym

from opsgym_api.kinds.evalrun import Access, Agent
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.job import Job, ResolvedModel

pytestmark = pytest.mark.anyio

ToolNames = Literal["published", "qualified"]
NOW = "2026-04-01T12:30:00"
ITSM, CSM, CALENDAR, HR, EMAIL = (f"gym-{name}-mcp" for name in ("itsm", "csm", "calendar", "hr", "email"))
CONTEXTS: dict[str, dict[str, str]] = {
    ITSM: {"x-itsm-user-token": ITSM_TOKENS["agent"]},
    CSM: {"x-user-email": EMAILS["manager"]},
    CALENDAR: ANA,
    HR: {"x-hr-user-token": HR_TOKENS["agent"]},
    EMAIL: ANN,
}
SCRIPTS = {
    ITSM: ITSM_SCRIPT,
    CSM: CSM_SCRIPT,
    CALENDAR: HOUSE,
    HR: HR_SCRIPT,
    EMAIL: EMAIL_SCRIPT,
}
REVIEW = {"dateTime": "2026-04-03T09:00:00", "timeZone": "Europe/Berlin"}
READS: list[dict[str, Any]] = [
    {"gym": ITSM, "name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}},
    {"gym": CSM, "name": "search_cases", "arguments": {"case_id": 2}},
    {"gym": CALENDAR, "name": "list_events", "arguments": {"calendarId": "home"}},
    {"gym": HR, "name": "find_hr_case_by_number", "arguments": {"number": "HRC0000003"}},
    {"gym": EMAIL, "name": "list_messages", "arguments": {"userId": "me"}},
]
WRITES: list[dict[str, Any]] = [
    {"gym": ITSM, "name": "update_incident", "arguments": {"incident_id": "INC_001", "worknotes": "seen"}},
    {"gym": CSM, "name": "update_case", "arguments": {"case_id": 2, "short_description": "seen"}},
    {
        "gym": CALENDAR,
        "name": "create_event",
        "arguments": {
            "calendarId": "home",
            "summary": "Review",
            "start": REVIEW,
            "end": {**REVIEW, "dateTime": "2026-04-03T10:00:00"},
        },
    },
    {"gym": HR, "name": "update_hr_case", "arguments": {"hr_case_id": "3", "worknotes": "seen"}},
    {"gym": EMAIL, "name": "send_message", "arguments": note("ben@north.test")},
]
CHANGED = {ITSM: "incident", CSM: "customer_case", CALENDAR: "events", HR: "hr_case", EMAIL: "messages"}
"""A table that the writes change, by gym server."""


@pytest.fixture(scope="module")
def urls(gym_servers: Callable[[str], Gym]) -> dict[str, str]:
    return {domain: gym_servers(domain).url for domain in ("itsm", "csm", "calendar", "hr", "email")}


def state(gym: str, query: str, expected: Any, dialect: str = "sqlite") -> dict[str, Any]:
    config = {"query": query, "expected_value": expected}
    return {
        "verifier_type": "database_state", "name": gym, "gym_name": gym, "dialect": dialect, "validation_config": config
    }  # fmt: skip


def looked_up(gym: str | None, column: str, value: Any, *tools: str) -> dict[str, Any]:
    config = {"rows": [{"column": column, "value": value}], "writing_tools": tools}
    return {"verifier_type": "looked_up", "name": "looked_up", "gym_name": gym, "validation_config": config}


def job_of(
    urls: dict[str, str],
    actions: list[dict[str, Any]],
    *verifiers: dict[str, Any],
    access: Access = Access.PUBLISHED,
    tool_names: ToolNames = "qualified",
    **fields: Any,
) -> Job:
    servers = [{"mcp_server_name": name, "context": context} for name, context in CONTEXTS.items()]
    row = make_task(
        gym_servers_config=servers, verifiers=verifiers, gold_actions=actions, selected_tools=None, **fields
    )
    seeds = {gym: Seed(sql=f"-- now: {NOW}\n{script}") for gym, script in SCRIPTS.items()}
    job = make_job("", row, gyms=urls, seeds=seeds, access=access)
    agent = Agent.model_validate({"name": "agent", "toolNames": tool_names})
    return replace(job, agent=agent, model=ResolvedModel(name="m", model="replay/gold"))


def refusals(store: MemoryStore, played: Played) -> list[str]:
    events = store.transcript(played.keys.transcript).events
    return [f"{event.tool_name}: {event.content}" for event in events if event.kind == "tool" and event.is_error]


@pytest.mark.parametrize(("tool_names", "access"), [("published", Access.PUBLISHED), ("qualified", Access.STRICT)])
async def test_each_call_changes_its_own_gym_and_each_gym_is_judged(
    store: MemoryStore, urls: dict[str, str], tool_names: ToolNames, access: Access
) -> None:
    verifiers = [
        *(
            {"verifier_type": "state_difference", "name": gym, "gym_name": gym,
             "validation_config": {"rows": [], "nothing_else": True}}
            for gym in SCRIPTS
        ),
        state(ITSM, "SELECT worknotes FROM incident WHERE incident_id = 'INC_001'", "seen", "postgres"),
        state(CSM, "SELECT short_description FROM customer_case WHERE case_id = 2", "seen"),
        state(HR, "SELECT worknotes FROM hr_case WHERE hr_case_id = 3", "seen"),
        state(CALENDAR, "SELECT count(*) FROM events WHERE summary = 'Review'", 1),
    ]  # fmt: skip
    played = await play(store, job_of(urls, [*READS, *WRITES], *verifiers, access=access, tool_names=tool_names))

    assert refusals(store, played) == []
    differing = {
        gym: [table.table for table in difference.tables]
        for gym, difference in played.trial.state_differences.items()
    }  # fmt: skip
    assert {gym: CHANGED[gym] in tables for gym, tables in differing.items()} == dict.fromkeys(SCRIPTS, True)
    results = {(result.verifier_type, result.gym_name): result.passed for result in played.trial.verifiers}
    assert [results["state_difference", gym] for gym in SCRIPTS] == [False] * 5
    assert [passed for (kind, _), passed in results.items() if kind == "database_state"] == [True] * 4


async def test_permissions_of_a_gym_hold_for_its_calls_alone(store: MemoryStore, urls: dict[str, str]) -> None:
    """The acting user is an agent in ITSM, who may not write users, and a manager in CSM, who may."""
    new = {"first_name": "Eve", "last_name": "Tan", "email": "eve@acme.test", "active": True}
    actions = [
        {"gym": CSM, "name": "add_new_user", "arguments": {**new, "role": "customer", "location_id": 1}},
        {"gym": ITSM, "name": "update_user_details", "arguments": {"user_id": "USER_011", "active": False}},
    ]
    unchanged = state(ITSM, "SELECT active FROM users WHERE user_id = 'USER_011'", 1)
    added = state(CSM, "SELECT count(*) FROM user WHERE email = 'eve@acme.test'", 1)

    played = await play(store, job_of(urls, actions, unchanged, added, access=Access.STRICT))

    assert played.record.outcome == "passed"
    assert [refusal.split(":")[0] for refusal in refusals(store, played)] == ["update_user_details"]
    assert "PERMISSION_DENIED" in refusals(store, played)[0]


async def test_an_event_of_one_gym_follows_from_the_state_of_another_at_the_time_of_all(
    store: MemoryStore, urls: dict[str, str]
) -> None:
    events = [
        {
            "when_gym": HR, "when": "SELECT worknotes = 'seen' FROM hr_case WHERE hr_case_id = 3", "gym": ITSM,
            "sql": ["UPDATE incident SET worknotes = 'HR has seen it' WHERE incident_id = 'INC_001'"],
            "advance_seconds": 3600,
        }
    ]  # fmt: skip
    times = [state(gym, "SELECT datetime('now')", "2026-04-01 13:30:00") for gym in SCRIPTS]
    noted = state(ITSM, "SELECT worknotes FROM incident WHERE incident_id = 'INC_001'", "HR has seen it")
    played = await play(store, job_of(urls, [*READS, WRITES[3], READS[0]], noted, *times, events=events))
    assert [result.actual for result in played.trial.verifiers if not result.passed] == []
    assert played.notes[0][1].startswith(f"events[0] happened on gym {ITSM}")


@pytest.mark.parametrize(("gym", "passes"), [(HR, False), (ITSM, True), (None, True)])
async def test_only_calls_of_the_named_gym_count_as_looking_up(
    store: MemoryStore, urls: dict[str, str], gym: str | None, passes: bool
) -> None:
    """Both servers show a user by the key `user_id`; what one of them shows was not read in the other."""
    check = looked_up(gym, "user_id", "USER_011")
    read = {"gym": ITSM, "name": "get_user", "arguments": {"user_id": "USER_011"}}
    played = await play(store, job_of(urls, [read], check))
    assert (refusals(store, played), played.record.outcome == "passed") == ([], passes)


async def test_a_solution_that_published_names_would_play_on_another_gym_is_not_scored(
    store: MemoryStore, urls: dict[str, str]
) -> None:
    read = {"gym": HR, "name": "get_user", "arguments": {"user_id": "1"}}
    unchanged = state(HR, "SELECT 1", 1)

    played = await play(store, job_of(urls, [READS[0], read], unchanged, tool_names="published"))

    assert (played.record.outcome, played.record.reason) == ("config_error", "unsupported")
    assert played.record.message == (
        f"gold_actions[1] calls get_user of gym {HR}, but gym {ITSM} gets calls of that name; "
        "run the task with toolNames: qualified"
    )
    qualified = await play(store, job_of(urls, [READS[0], read], unchanged))
    assert (qualified.record.outcome, refusals(store, qualified)) == ("passed", [])
