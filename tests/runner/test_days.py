"""World time through the real runner on real gym servers: days, messages, amendments, a clock that all gyms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.csm.strict import SCRIPT as CSM_SCRIPT
from tests.itsm.strict import SCRIPT, TOKENS
from tests.runner.jobs import MemoryStore, make_job, make_task
from tests.runner.test_events import INCIDENT, READ, Played, note, play, state, task
from tests.support.gym import Gym

from opsgym_api.kinds.evalrun import Access, Agent
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

NOW = "2026-11-16T10:00:00"
STANDS = f"-- now: {NOW}\n"
TUESDAY, THURSDAY = "2026-11-17T09:00:00", "2026-11-19T10:06:00"


@pytest.fixture(scope="module")
def itsm(gym_servers: Callable[[str], Gym]) -> str:
    return gym_servers("itsm").url


@pytest.fixture(scope="module")
def csm(gym_servers: Callable[[str], Gym]) -> str:
    return gym_servers("csm").url


def job_of(url: str, row: Task, orchestrator: str = "react") -> Job:
    job = make_job(
        url, row, gyms={"itsm": url}, seeds={"gym-itsm-mcp": Seed(sql=STANDS + SCRIPT)}, access=Access.STRICT
    )
    agent = Agent.model_validate({"name": "agent", "orchestrator": orchestrator})
    return replace(job, agent=agent, model=ResolvedModel(name="m", model="replay/gold"))


def timed(actions: list[dict[str, Any]], *verifiers: dict[str, Any], **fields: Any) -> Task:
    return task(actions, fields.pop("events", []), *verifiers, role="agent", **fields)


def answered(pattern: str, day: int | None = None) -> dict[str, Any]:
    config = {"patterns": [pattern]} | ({} if day is None else {"day": day})
    return {"verifier_type": "answer_match", "name": f"day {day}", "validation_config": config}


def entries(played: Played, store: MemoryStore, job: Job) -> list[tuple[int, str, str]]:
    """Day, origin and content of the user's messages."""
    events = store.transcript(played.keys.transcript).events
    return [(event.day, event.origin, event.content) for event in events if event.kind == "user" and not event.by]


DAYS: list[dict[str, Any]] = [
    {"message": "Write the second note.", "begins_at": TUESDAY},
    {"message": "Anything left?", "begins_at": THURSDAY},
]


async def test_an_answer_ends_a_day_and_the_next_message_follows_at_its_time(store: MemoryStore, itsm: str) -> None:
    actions = [READ, note("first") | {"day": 1}, note("second") | {"day": 2}]
    row = timed(
        actions,
        state(INCIDENT.format("worknotes"), "second"),
        state(INCIDENT.format("updated_at"), TUESDAY.replace("T", " ")),
        state("SELECT datetime('now')", THURSDAY.replace("T", " ")),
        answered("^one$", 1), answered("^two$", 2), answered("^three$", 3), answered("^three$"),
        days=DAYS, gold_answers=["one", "two", "three"],
    )  # fmt: skip
    job = job_of(itsm, row)

    played = await play(store, job)

    assert (played.record.outcome, played.record.message) == ("passed", "")
    assert (played.trial.day_answers, played.trial.answer, played.record.steps) == (("one", "two"), "three", 6)
    assert entries(played, store, job) == [
        (1, "", row.user_prompt),
        (2, "", "Write the second note."),
        (2, "clock", "It is Tuesday, 17 November 2026, 09:00 (UTC)."),
        (3, "", "Anything left?"),
        (3, "clock", "It is Thursday, 19 November 2026, 10:06 (UTC)."),
    ]
    assert [text for _, text in played.notes] == ["day 2 begins", "day 3 begins"]


async def test_an_answer_of_a_day_that_does_not_match_fails_the_task(store: MemoryStore, itsm: str) -> None:
    row = timed([READ], answered("two", 1), days=DAYS, gold_answers=["one", "two", "three"])
    played = await play(store, job_of(itsm, row))
    assert [result.name for result in played.trial.verifiers if not result.passed] == ["day 1"]


async def test_the_step_limit_holds_over_all_days(store: MemoryStore, itsm: str) -> None:
    row = timed([READ], answered("^$", 3), days=DAYS, gold_answers=["one", "two", "three"])
    job = job_of(itsm, row)
    job = replace(job, agent=job.agent.model_copy(update={"max_steps": 3}))

    played = await play(store, job)

    assert (played.trial.stopped_by, played.trial.day_answers, played.record.steps) == ("step_limit", ("one", "two"), 3)


@pytest.mark.parametrize("orchestrator", ["react", "planner_react", "decomposing"])
async def test_every_orchestrator_works_on_all_days(store: MemoryStore, itsm: str, orchestrator: str) -> None:
    row = timed([READ], state("SELECT datetime('now')", THURSDAY.replace("T", " ")), days=DAYS)
    played = await play(store, job_of(itsm, row, orchestrator))
    assert (played.record.outcome, len(played.trial.day_answers)) == ("passed", 2), played.record.message


async def test_what_the_user_says_and_amends_reaches_the_agent_before_its_next_step(
    store: MemoryStore, itsm: str
) -> None:
    events = [
        {"after_step": 1, "tell": "Please hurry."},
        {"on_tool": "update_incident", "amend": {"rule": "INC-9", "text": "Close at once."}},
    ]
    row = timed([READ, note("x"), READ], events=events)
    job = job_of(itsm, row)

    played = await play(store, job)

    assert entries(played, store, job)[1:] == [
        (1, "tell", "Message from the user:\nPlease hurry."),
        (1, "amend", "Amendment of the policy, which applies from now on:\n- **INC-9** Close at once."),
    ]
    assert [(step, text.split(":")[0]) for step, text in played.notes] == [
        (1, "events[0] happened"), (2, "events[1] happened"),
    ]  # fmt: skip
    assert played.record.outcome == "passed"


async def test_a_refused_call_is_no_trigger(store: MemoryStore, itsm: str) -> None:
    events = [{"on_tool": "find_incident_by_id", "tell": "Found."}]
    missing = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_404"}}
    played = await play(store, job_of(itsm, timed([missing], events=events)))
    assert played.notes == [(0, "events[0] never became due")]


async def test_events_that_the_clock_passes_happen_at_their_own_times(store: MemoryStore, itsm: str) -> None:
    def append(text: str) -> list[str]:
        return [f"UPDATE incident SET worknotes = concat(worknotes, '{text}') WHERE incident_id = 'INC_001'"]

    events = [
        {"at": "2026-11-18T08:00:00", "sql": append("c")},
        {"name": "reply", "at": "2026-11-17T08:00:00", "sql": append("a")},
        {"after_event": "reply", "delay_seconds": 3600, "sql": append("b")},
        {"after_step": 1, "set_time": THURSDAY},
        {"at": "2026-11-20T00:00:00", "sql": append("never")},
    ]
    row = timed([READ, READ], state(INCIDENT.format("worknotes"), "abc"), events=events)

    played = await play(store, job_of(itsm, row))

    happened = [text.split(" ")[0] for _, text in played.notes]
    assert happened == ["events[1]", "events[2]", "events[0]", "events[3]", "events[4]"]
    assert played.record.outcome == "passed"


@pytest.mark.parametrize("shown", [True, False])
async def test_steps_take_time_and_the_agent_is_shown_it_unless_the_task_hides_it(
    store: MemoryStore, itsm: str, shown: bool
) -> None:
    now = state("SELECT datetime('now')", "2026-11-16 10:10:00")
    row = timed([READ, READ], now, clock={"seconds_per_step": 300, "shown": shown})
    job = job_of(itsm, row)
    played = await play(store, job)
    assert played.record.outcome == "passed"
    lines = [content for _, origin, content in entries(played, store, job) if origin == "clock"]
    expected = [f"It is Monday, 16 November 2026, 10:{minute} (UTC)." for minute in ("05", "10")]
    assert lines == (expected if shown else [])


async def test_all_gym_servers_of_a_task_have_one_clock(store: MemoryStore, itsm: str, csm: str) -> None:
    gyms = [
        {"mcp_server_name": "gym-itsm-mcp", "context": {"x-itsm-user-token": TOKENS["agent"]}},
        {"mcp_server_name": "sn-csm-server", "context": {}},
    ]
    now = {"query": "SELECT datetime('now')", "expected_value": "2026-11-18 10:00:00"}
    verifiers = [
        {"verifier_type": "database_state", "name": gym["mcp_server_name"], "gym_name": gym["mcp_server_name"],
         "validation_config": now} for gym in gyms
    ]  # fmt: skip
    events = [{"after_step": 1, "advance_seconds": 172_800}]
    row = make_task(
        selected_tools=[], gym_servers_config=gyms, verifiers=verifiers, gold_actions=[READ, READ], events=events
    )
    # The second seed states no time: its database follows real time until the task begins.
    seeds = {"gym-itsm-mcp": Seed(sql=STANDS + SCRIPT), "sn-csm-server": Seed(sql=CSM_SCRIPT)}
    played = await play(store, make_job(itsm, row, gyms={"itsm": itsm, "csm": csm}, seeds=seeds))
    assert played.record.outcome == "passed", played.trial.verifiers


@pytest.mark.parametrize(
    "fields",
    [
        {"days": DAYS},
        {"clock": {"seconds_per_step": 60}},
        {"events": [{"at": TUESDAY, "tell": "Good morning."}]},
    ],
)
async def test_a_gym_without_a_clock_is_a_config_error_before_the_first_model_call(
    store: MemoryStore, gym_url: str, fields: dict[str, Any]
) -> None:
    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url, make_task(**fields)))
    assert (record.outcome, record.reason, record.usage.model_calls) == ("config_error", "unsupported", 0)
    assert record.message.startswith("gym notes has no clock (/api/clock), as published servers have none")
