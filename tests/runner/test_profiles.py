"""Profiles: what an agent does under `profile: published`, and under each of its switches alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.responses import JSONResponse, Response
from tests.runner.jobs import MemoryStore, make_job, make_task, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import Answer, StubModel, calls, completion, refuses, says

from opsgym_api.kinds.evalrun import Agent, Limits
from opsgym_api.kinds.profiles import OPSGYM, PUBLISHED, PUBLISHED_DECOMPOSING, Switches
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.gyms import client as gym_client
from opsgym_runner.gyms.client import http_client
from opsgym_runner.models.published import accepts_temperature, first_text, litellm_id, sampling_parameters
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

RENAME = ("rename_note", {"id": 1, "text": "done"})
ADD = ("add_note", {"text": "more"})


async def run(
    store: MemoryStore, gym_url: str, *answers: Answer, agent: Mapping[str, Any], **fields: Any
) -> tuple[AttemptRecord, StubModel]:
    """Runs the task with a stub model, which is called by the id `model` and with `parameters`."""
    model = StubModel(*answers)
    resolved = stub_model(model=fields.pop("model", "openai/stub"))
    with serving(model.app) as url:
        resolved = replace(resolved, endpoints=stub_model(url).endpoints, parameters=fields.pop("parameters", {}))
        job = make_job(gym_url, fields.pop("task", None), model=resolved, agent=agent_of(**agent), **fields)
        async with Runner(store) as runner:
            return await runner.run(job), model


def agent_of(**fields: Any) -> Agent:
    return Agent.model_validate({"name": "react", **fields})


def results(model: StubModel, request: int = -1) -> list[str]:
    """Tool results in a request."""
    return [message["content"] for message in model.requests[request]["messages"] if message["role"] == "tool"]


# The type


def test_an_agent_has_the_switches_of_its_profile_unless_it_sets_them() -> None:
    assert switches(agent_of()) == OPSGYM
    assert switches(agent_of(profile="published")) == PUBLISHED
    assert switches(agent_of(profile="published", orchestrator="decomposing")) == PUBLISHED_DECOMPOSING
    assert agent_of(profile="published", toolErrors="shown").tool_errors == "shown"
    assert agent_of(profile="published", tool_errors="shown").tool_errors == "shown"
    assert agent_of(toolErrors="published").tool_schemas == "gym"


def switches(agent: Agent) -> Switches:
    return Switches(**{name: getattr(agent, name) for name in Switches.model_fields})


def test_every_switch_of_the_published_profile_can_be_set_back_alone() -> None:
    for name, field in Switches.model_fields.items():
        agent = agent_of(profile="published", **{str(field.alias): getattr(OPSGYM, name)})
        assert switches(agent) == PUBLISHED.model_copy(update={name: getattr(OPSGYM, name)})


def test_a_profile_is_named_with_the_switches_that_differ_from_it() -> None:
    assert agent_of().profile_label == "opsgym"
    assert agent_of(profile="published", orchestrator="decomposing").profile_label == "published"
    assert agent_of(profile="published", maxSteps=60, toolErrors="shown").profile_label == (
        "published, toolErrors: shown, maxSteps: 60"
    )


def test_an_agent_survives_its_own_json() -> None:
    for agent in (agent_of(maxSteps=7), agent_of(profile="published", orchestrator="decomposing", answers="all_text")):
        assert Agent.model_validate_json(agent.model_dump_json(by_alias=True)) == agent


def test_an_unknown_profile_or_value_is_refused() -> None:
    for fields in ({"profile": "paper"}, {"toolErrors": "hidden"}, {"profile": "published", "maxSteps": 0}):
        with pytest.raises(ValidationError):
            agent_of(**fields)


async def test_records_name_the_profile(store: MemoryStore, gym_url: str) -> None:
    record, _ = await run(store, gym_url, says("?"), agent={"profile": "published", "toolErrors": "shown"})

    trial = store.trial()
    assert trial is not None
    assert record.profile == trial.profile == trial.without_texts().profile == "published, toolErrors: shown"


# Tools


NULLABLE = {"type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": ["text"]}


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ({}, NULLABLE),
        ({"toolSchemas": "published"}, {"type": "object", "properties": {"text": {"type": "string"}}, "required": []}),
    ],
)
async def test_schemas_are_shown_as_the_switch_says(
    store: MemoryStore, gym: StubGym, gym_url: str, agent: dict[str, Any], shown: dict[str, Any]
) -> None:
    gym.tools[0]["inputSchema"] = NULLABLE

    _, model = await run(store, gym_url, says("?"), agent=agent)

    assert model.requests[0]["tools"][0]["function"]["parameters"] == shown


async def test_schemas_decide_the_digest_of_the_catalogue(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.tools[0]["inputSchema"] = NULLABLE
    digests = set()
    for agent in ({}, {"toolSchemas": "published"}):
        store = MemoryStore()
        await run(store, gym_url, says("?"), agent=agent)
        trial = store.trial()
        assert trial is not None
        digests.add(trial.versions.catalogue_digest)

    assert len(digests) == 2


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        (None, "null"),
        (JSONResponse({"detail": "bad"}, 422), "{}"),
        (JSONResponse({"detail": "down"}, 500), "{}"),
    ],
    ids=["JSON-RPC error", "HTTP 422", "HTTP 500"],
)
async def test_errors_of_a_gym_server_are_shown_as_the_published_harness_does(
    store: MemoryStore, gym: StubGym, gym_url: str, broken: Response | None, shown: str
) -> None:
    gym.tools.append({"name": "rpc_error", "inputSchema": {"type": "object"}})
    gym.broken = {} if broken is None else {"rpc_error": broken}
    task = make_task(selected_tools=["rpc_error", "add_note", "rename_note"])
    answers = (calls(("rpc_error", {})), calls(RENAME, ADD), says("Done."))

    record, model = await run(store, gym_url, *answers, agent={"toolErrors": "published"}, task=task)

    assert (record.outcome, record.tool_errors, results(model, 1)) == (Outcome.PASSED, 1, [shown])


async def test_a_call_without_an_answer_in_time_is_an_empty_result_in_the_published_harness(
    store: MemoryStore, gym: StubGym, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = asyncio.Event()

    class Hanging(Response):
        async def __call__(self, *_: Any) -> None:
            await asyncio.wait_for(hang.wait(), 5)

    gym.broken = {"idle_0": Hanging()}
    monkeypatch.setattr("opsgym_runner.runner.http_client", lambda **fields: http_client(0.3, **fields))
    task = make_task(selected_tools=["idle_0", "add_note", "rename_note"])
    answers = (calls(("idle_0", {})), calls(RENAME, ADD), says("Done."))

    record, model = await run(store, gym_url, *answers, agent={"toolErrors": "published"}, task=task)
    default, _ = await run(MemoryStore(), gym_url, *answers, agent={}, task=task)

    assert (record.outcome, results(model, 1)) == (Outcome.PASSED, ["{}"])
    assert (default.outcome, default.reason) == (Outcome.INFRA_ERROR, "gym_lost")
    assert gym_client.CALL_TIMEOUT_S == 30


async def test_a_gym_that_cannot_be_reached_is_no_fault_of_the_published_agent(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    gym.forgets_politely = True

    def lose_the_database() -> Response:
        gym.databases.clear()
        return calls(ADD)

    async def answer() -> Response:
        return lose_the_database()

    record, _ = await run(store, gym_url, answer, agent={"profile": "published"})

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "gym_lost")


# Calls that are malformed, or of no tool


@pytest.mark.parametrize("arguments", ["{", "[1]", '"text"'])
async def test_a_malformed_call_ends_the_loop(store: MemoryStore, gym: StubGym, gym_url: str, arguments: str) -> None:
    answers = (calls(("add_note", arguments)), says("never said"))

    record, model = await run(store, gym_url, *answers, agent={"malformedCalls": "end"})

    assert (record.outcome, record.reason, record.steps, gym.calls) == (Outcome.FAILED, "verifiers", 1, [])
    assert len(model.requests) == 1
    notes = [event.content for event in store.transcript().events if event.kind == "note"]
    assert notes[0].startswith("malformed call of add_note dropped: the arguments ")


async def test_well_formed_calls_beside_a_malformed_one_are_executed(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    answers = (calls(RENAME, ("add_note", "{")), says("Done."))

    record, model = await run(store, gym_url, *answers, agent={"malformedCalls": "end"})

    assert (record.steps, [name for name, _ in gym.calls]) == (2, ["rename_note"])
    assistant, result = model.requests[1]["messages"][2:]
    assert [call["id"] for call in assistant["tool_calls"]] == [result["tool_call_id"]]


async def test_a_call_without_arguments_is_well_formed(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    await run(store, gym_url, calls(("idle_0", "")), says("."), agent={"malformedCalls": "end"},
              task=make_task(selected_tools=["idle_0"]))  # fmt: skip

    assert gym.calls == [("idle_0", {})]


@pytest.mark.parametrize("reply", [says(""), says("", finish_reason="error")], ids=["empty", "malformed"])
async def test_a_reply_that_cannot_be_used_ends_the_loop(store: MemoryStore, gym_url: str, reply: Answer) -> None:
    answers = (calls(RENAME, ADD), reply, says("never said"))

    record, model = await run(store, gym_url, *answers, agent={"profile": "published"}, model="openrouter/a/b")

    assert (record.outcome, record.steps, len(model.requests)) == (Outcome.PASSED, 2, 2)


async def test_an_unknown_tool_fails_the_trial_whatever_the_state(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    answers = (calls(RENAME, ADD), calls(("fly", {})), says("never said"))

    record, _ = await run(store, gym_url, *answers, agent={"unknownTools": "fail"})

    trial = store.trial()
    assert trial is not None
    assert (record.outcome, record.reason, trial.stopped_by) == (Outcome.FAILED, "unknown_tool", "unknown_tool")
    assert (trial.score, trial.published_score) == (0, 0)
    assert all(verifier.passed for verifier in trial.verifiers)
    assert record.message == "the agent called the unknown tool 'fly'; tools: add_note, rename_note"


async def test_an_episode_that_an_error_ended_is_played_again_and_paid(store: MemoryStore, gym_url: str) -> None:
    answers = (calls(RENAME), calls(("fly", {})), calls(RENAME, ADD), says("Done."))

    record, model = await run(store, gym_url, *answers, agent={"unknownTools": "fail", "sampleRetries": 1})

    trial = store.trial()
    assert trial is not None
    assert (record.outcome, trial.published_score, record.sample_retries) == (Outcome.PASSED, 1, 1)
    assert (record.steps, record.tool_calls, record.usage.model_calls, len(model.requests)) == (2, 2, 4, 4)
    assert not results(model, 2), "the second episode begins anew"


async def test_an_episode_is_played_again_only_as_often_as_the_agent_says(store: MemoryStore, gym_url: str) -> None:
    record, model = await run(store, gym_url, *[calls(("fly", {}))] * 5, says("."), agent={"profile": "published"})

    assert (record.outcome, record.reason, record.sample_retries) == (Outcome.FAILED, "unknown_tool", 4)
    assert len(model.requests) == 5


async def test_a_wrong_state_is_not_played_again(store: MemoryStore, gym_url: str) -> None:
    record, model = await run(store, gym_url, says("Done."), says("never said"), agent={"sampleRetries": 4})

    assert (record.reason, record.sample_retries, len(model.requests)) == ("verifiers", 0, 1)


async def test_an_unknown_tool_is_sent_to_the_first_gym(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    answers = (calls(("fly", {"to": "x"})), says("Done."))

    _, model = await run(store, gym_url, *answers, agent={"unknownTools": "first_gym"})

    assert gym.calls == [("fly", {"to": "x"})]
    assert "nothing happens" in results(model)[0]


# Steps, answers, time


async def test_steps_are_counted_by_conversation(store: MemoryStore, gym_url: str) -> None:
    agent = {"orchestrator": "planner_react", "maxSteps": 2}
    plan = says("A plan.")
    counted, _ = await run(MemoryStore(), gym_url, plan, calls(("idle_0", {})), agent=agent)
    free, _ = await run(store, gym_url, plan, calls(("idle_0", {})), agent={**agent, "stepLimit": "conversation"})

    assert (counted.steps, counted.reason) == (2, "step_limit")
    assert (free.steps, free.reason) == (3, "step_limit")


@pytest.mark.parametrize(
    ("agent", "answer"), [({}, "Working on it."), ({"answers": "published"}, '"text": "{\\"id\\": 3}"')]
)
async def test_the_answer_at_the_step_limit(
    store: MemoryStore, gym_url: str, agent: dict[str, Any], answer: str
) -> None:
    talks = {"role": "assistant", "content": "Working on it."}
    tool_call = {"id": "c", "type": "function", "function": {"name": "add_note", "arguments": '{"text": "more"}'}}
    reply = completion({**talks, "tool_calls": [tool_call]})

    await run(store, gym_url, reply, agent={"maxSteps": 1, **agent})

    trial = store.trial()
    assert trial is not None
    assert answer in trial.answer


def test_the_answer_is_the_first_text_block() -> None:
    blocks = [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]

    assert [first_text(content) for content in (blocks, blocks[:1], "All.", None)] == ["One.", "", "All.", ""]


async def test_an_agent_without_time_limit_may_take_longer(store: MemoryStore, gym_url: str) -> None:
    async def slow() -> Response:
        await asyncio.sleep(1.2)
        return calls(RENAME, ADD)

    limits = Limits(task_timeout_seconds=1)
    record, _ = await run(store, gym_url, slow, says("Done."), agent={"timeLimit": "none"}, limits=limits)

    assert record.outcome == Outcome.PASSED


# Requests


@pytest.mark.parametrize(
    ("model", "parameters", "added"),
    [
        ("openai/gpt-4.1", {}, {"temperature": 0.0, "max_completion_tokens": 4096}),
        ("openai/gpt-4.1", {"temperature": 0.6, "max_tokens": 16384}, {}),
        ("openai/gpt-4.1", {"max_completion_tokens": 99}, {"temperature": 0.0}),
        ("openai/gpt-4.1", {"reasoning_effort": "low"}, {"max_completion_tokens": 4096}),
        ("openai/gpt-5", {}, {"max_completion_tokens": 4096}),
        ("openai/responses/gpt-5", {}, {"max_completion_tokens": 4096}),
        ("openai/gpt-5-chat-latest", {}, {"temperature": 0.0, "max_completion_tokens": 4096}),
        ("azure/gpt-5.2", {"reasoning_effort": "high"}, {"max_completion_tokens": 4096}),
        ("azure/gpt-4.1", {}, {"temperature": 0.0, "max_completion_tokens": 4096}),
        ("anthropic/claude-x", {}, {"temperature": 0.0, "max_tokens": 4096}),
        ("bedrock/claude-x", {"thinking": {"type": "enabled"}}, {"max_tokens": 4096}),
        ("hosted_vllm/m", {}, {"temperature": 0.0, "max_completion_tokens": 4096}),
        (
            "deepseek/m",
            {},
            {
                "temperature": 0.0,
                "max_tokens": 4096,
                "extra_body": {"reasoning": {"enabled": True, "effort": "medium"}},
            },
        ),
        ("deepseek/m", {"reasoning_effort": "low"}, {"temperature": 0.0, "max_tokens": 4096}),
    ],
)
def test_the_published_harness_sends_a_temperature_and_a_limit_of_tokens_unless_configured(
    model: str, parameters: dict[str, Any], added: dict[str, Any]
) -> None:
    assert sampling_parameters(model, parameters) == added
    assert accepts_temperature(model, parameters) is ("temperature" in {**added, **parameters})


@pytest.mark.parametrize(
    ("model", "effort", "called"),
    [
        ("openai/gpt-5", "high", "openai/responses/gpt-5"),
        ("openai/gpt-5", None, "openai/gpt-5"),
        ("openai/responses/gpt-5", "high", "openai/responses/gpt-5"),
        ("azure/gpt-5", "high", "azure/gpt-5"),
        ("openrouter/openai/gpt-5", "high", "openrouter/openai/gpt-5"),
    ],
)
def test_the_published_harness_calls_models_of_openai_with_an_effort_over_responses(
    model: str, effort: str | None, called: str
) -> None:
    parameters = {} if effort is None else {"reasoning_effort": effort}

    assert litellm_id(model, parameters, PUBLISHED) == called
    assert litellm_id(model, parameters, OPSGYM) == model


@pytest.mark.parametrize(
    ("agent", "temperature", "tokens"),
    [
        ({}, None, None),
        ({"sampling": "published"}, 0.0, 4096),
        ({"profile": "published"}, 0.0, 4096),
        ({"profile": "published", "sampling": "parameters"}, None, None),
    ],
)
async def test_sampling_is_sent_as_the_switch_says(
    store: MemoryStore, gym_url: str, agent: dict[str, Any], temperature: float | None, tokens: int | None
) -> None:
    _, model = await run(store, gym_url, says("?"), agent=agent)

    assert model.requests[0].get("temperature") == temperature
    assert model.requests[0].get("max_completion_tokens") == tokens


@pytest.mark.parametrize(
    ("agent", "effort", "strict"),
    [({}, "high", False), ({}, None, None), ({"strictTools": "unset"}, "high", None)],
)
async def test_strict_mode_of_tools_is_disabled_for_models_that_reason(
    store: MemoryStore, gym_url: str, agent: dict[str, Any], effort: str | None, strict: bool | None
) -> None:
    parameters = {"reasoning_effort": effort} if effort else {}

    _, model = await run(store, gym_url, says("?"), agent=agent, model="openai/gpt-5", parameters=parameters)

    assert [tool["function"].get("strict") for tool in model.requests[0]["tools"]] == [strict] * 2


async def test_a_refused_request_and_a_filtered_reply_have_different_reasons(store: MemoryStore, gym_url: str) -> None:
    refused, _ = await run(
        MemoryStore(),
        gym_url,
        refuses(400, "blocked", type="invalid_request_error", code="content_policy_violation"),
        agent={},
    )
    filtered, _ = await run(store, gym_url, says("", finish_reason="content_filter"), agent={})

    assert (refused.reason, filtered.reason) == ("request_filter", "content_filter")
