"""What transcripts, reasoning records and catalogues keep of each step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.responses import Response
from tests.runner.jobs import KEY, KEYS, NO_JITTER, FakeTime, MemoryStore, make_job, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, completion, refuses, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import Usage
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import CatalogueRecord, TranscriptEvent
from opsgym_core.results.transcripts import read_reasoning
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio
RENAME = ("rename_note", {"id": 1, "text": "done"})
ADD = ("add_note", {"text": "more"})


async def played(store: MemoryStore, gym_url: str, *replies: Response, **fields: Any) -> list[TranscriptEvent]:
    """Runs attempts with these replies of the model; returns the transcript of the scored one."""
    prices = fields.pop("prices", None)
    with serving(StubModel(*replies).app) as url:
        job = make_job(gym_url, model=stub_model(url, prices=prices), **fields)
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            await runner.run(job)
    return store.transcript().events


def of_kind(events: list[TranscriptEvent], kind: str) -> list[TranscriptEvent]:
    return [event for event in events if event.kind == kind]


async def test_a_step_records_its_usage_cost_and_who_answered(store: MemoryStore, gym_url: str) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 600}}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, **details}
    first = calls(RENAME, ADD, usage=usage, model="stub-2026-01-05", system_fingerprint="fp_1", id="chatcmpl-1")
    first.headers["x-request-id"] = "req_1"
    prices = Prices(input_usd=1.0, output_usd=10.0, cached_input_usd=0.5)

    events = await played(store, gym_url, first, says("Both are done."), prices=prices)

    call = of_kind(events, "assistant")[0].call
    assert call is not None
    assert call.usage == Usage(model_calls=1, prompt_tokens=1000, completion_tokens=100, cached_tokens=600)
    assert call.cost_usd == pytest.approx((400 * 1.0 + 600 * 0.5 + 100 * 10.0) / 1e6)
    assert (call.model, call.fingerprint, call.request_id) == ("stub-2026-01-05", "fp_1", "req_1")


async def test_the_usage_of_the_steps_adds_up_to_the_attempts(store: MemoryStore, gym_url: str) -> None:
    events = await played(store, gym_url, calls(RENAME, ADD), says("Both are done."))

    calls_made = [event.call for event in of_kind(events, "assistant") if event.call]
    assert sum((call.usage for call in calls_made), Usage()) == store.attempt().usage


async def test_an_answer_without_a_request_id_is_named_by_its_own_id(store: MemoryStore, gym_url: str) -> None:
    events = await played(store, gym_url, calls(RENAME, ADD, id="chatcmpl-7"), says("Both are done."))

    assert (call := of_kind(events, "assistant")[0].call) is not None
    assert call.request_id == "chatcmpl-7"


async def test_a_step_counts_its_retries_and_rate_limits(store: MemoryStore, gym_url: str) -> None:
    replies = (refuses(429), refuses(500), calls(RENAME, ADD), says("Both are done."))

    events = await played(store, gym_url, *replies)

    counted = [(event.call.retries, event.call.rate_limits) for event in of_kind(events, "assistant") if event.call]
    assert counted == [(2, 1), (0, 0)]


async def test_a_scored_trial_names_the_snapshots_that_answered(store: MemoryStore, gym_url: str) -> None:
    first, last = calls(RENAME, ADD, model="stub-1"), says("Both are done.", model="stub-2")

    await played(store, gym_url, first, last)

    trial = store.trial()
    assert trial is not None
    assert trial.versions.model_snapshot == "stub-1, stub-2"


async def test_reasoning_is_stored_apart_from_the_transcript(store: MemoryStore, gym_url: str) -> None:
    function = {"name": "rename_note", "arguments": json.dumps(RENAME[1])}
    call = {"id": "call_0", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Rename it first."}

    events = await played(store, gym_url, completion(message), says("Done."))

    assert "Rename it first." not in repr(events)
    reasoning = read_reasoning(store, KEYS.reasoning)
    assert {events[position].step: step.text for position, step in reasoning.items()} == {1: "Rename it first."}
    assert {events[position].kind for position in reasoning} == {"assistant"}


async def test_a_trial_without_reasoning_has_no_reasoning_record(store: MemoryStore, gym_url: str) -> None:
    await played(store, gym_url, calls(RENAME, ADD), says("Both are done."))

    assert KEYS.reasoning not in store.objects
    assert read_reasoning(store, KEYS.reasoning) == {}


async def test_an_unscored_attempt_keeps_the_reasoning_before_its_end(store: MemoryStore, gym_url: str) -> None:
    thinking = completion({"role": "assistant", "content": None, "reasoning_content": "Look.", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "add_note", "arguments": "{}"}}]})  # fmt: skip
    with serving(StubModel(thinking, refuses(401)).app) as url:
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(url)))

    assert record.outcome == "infra_error"
    assert [step.text for step in read_reasoning(store, KEYS.failed_reasoning(0)).values()] == ["Look."]


@pytest.mark.parametrize("malformed_calls", ["answered", "end"])
async def test_the_arguments_of_a_malformed_call_are_kept_as_written(
    store: MemoryStore, gym_url: str, malformed_calls: str
) -> None:
    agent = Agent.model_validate({"name": "react", "maxSteps": 8, "malformedCalls": malformed_calls})

    events = await played(store, gym_url, calls(("rename_note", '{"id": 1, "te')), says("Done."), agent=agent)

    (refused,) = (call for event in of_kind(events, "assistant") for call in event.refused_calls)
    assert (refused.name, refused.raw) == ("rename_note", '{"id": 1, "te')
    assert "not valid JSON" in refused.problem


async def test_a_tool_call_names_the_gym_server_that_executed_it(store: MemoryStore, gym_url: str) -> None:
    events = await played(store, gym_url, calls(RENAME, ("no_such_tool", {}), ADD), says("Both are done."))

    assert [(event.tool_name, event.gym) for event in of_kind(events, "tool")] == [
        ("rename_note", "notes"), ("no_such_tool", None), ("add_note", "notes"),
    ]  # fmt: skip


async def test_the_catalogue_is_stored_once_as_it_was_shown(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    model = StubModel(*(calls(RENAME, ADD), says("Both are done.")) * 2)
    with serving(model.app) as url:
        for trial in range(2):  # two processes: neither knows what the other wrote
            async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
                await runner.run(make_job(gym_url, model=stub_model(url), trial=trial))

    trial_record = store.trial()
    assert trial_record is not None
    digest = trial_record.versions.catalogue_digest
    key = RunKeys("demo.0123456789ab").catalogue(digest)
    assert [written for written in store.writes if "/catalogues/" in written] == [key]
    record = CatalogueRecord.model_validate_json(store.objects[key])
    assert record.digest == digest == store.transcript().catalogue_digest
    assert record.tools == model.requests[0]["tools"]


async def test_no_record_of_a_step_has_the_key(store: MemoryStore, gym_url: str) -> None:
    await played(store, gym_url, calls(RENAME, ADD), says("Both are done."))

    assert [key for key, content in store.objects.items() if KEY.encode() in content] == []
