"""Spans of real episodes, as a collector receives them."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.runner.jobs import KEY, NO_JITTER, FakeTime, MemoryStore, make_job, make_task, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, refuses, says
from tests.tracing.collector import Collector

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.job import Job
from opsgym_runner.runner import Runner
from opsgym_runner.tracing.spans import EVALUATION, REQUEST
from opsgym_runner.tracing.tracer import ENV_CONTENT, FLUSH_S, Tracing, start_tracing

INTERNAL, CLIENT = 1, 3
PRICES = Prices(input_usd=1, output_usd=2)
ANSWERS = (
    calls(("rename_note", {"id": 1, "text": "done"}), ("nonsense", {})),
    refuses(429, "later", {"retry-after": "3"}),
    refuses(500, "broken"),
    says("Both are done."),
)


@pytest.fixture
def tracing() -> Iterator[Tracing]:
    """What the environment says; sends everything when the test ends, if the test has not."""
    tracing = start_tracing()
    yield tracing
    tracing.close()


async def run(job: Job, store: MemoryStore, tracing: Tracing) -> AttemptRecord:
    """Runs an attempt in which waiting takes no time, and sends its spans."""
    async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER, tracing=tracing) as runner:
        record = await runner.run(job)
    tracing.close()
    return record


@pytest.mark.anyio
async def test_an_episode_is_a_tree_of_spans(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    record = await run(make_job(gym_url), store, tracing)

    assert record.outcome is Outcome.PASSED
    root = traced.root()
    assert (root.name, root.kind, root.failed) == ("invoke_agent react", INTERNAL, False)
    assert traced.children(root) == [
        "seed", "connect", "chat m", "execute_tool rename_note", "chat m", "execute_tool add_note", "chat m", "verify",
    ]  # fmt: skip
    assert {span.parent_id for span in traced.spans} == {"", root.span_id}
    assert {span.trace_id for span in traced.spans} == {root.trace_id}
    assert {span.resource["service.name"] for span in traced.spans} == {"opsgym-runner"}


@pytest.mark.anyio
async def test_the_root_span_has_the_episodes_identity_and_outcome(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    record = await run(make_job(gym_url, trial=2, attempt=1), store, tracing)

    attributes = dict(traced.root().attributes)
    cost = attributes.pop("opsgym.cost_usd")
    assert attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "react",
        "gen_ai.provider.name": "replay",
        "gen_ai.request.model": "gold",
        "gen_ai.conversation.id": "demo.0123456789ab/m_react_oracle_notes/rename-first/2/1",
        "gen_ai.usage.input_tokens": record.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": record.usage.completion_tokens,
        "opsgym.run": "demo.0123456789ab",
        "opsgym.model": "m",
        "opsgym.agent": "react",
        "opsgym.mode": "oracle",
        "opsgym.domain": "notes",
        "opsgym.task": "rename-first",
        "opsgym.trial": 2,
        "opsgym.attempt": 1,
        "opsgym.outcome": "passed",
        "opsgym.steps": 3,
        "opsgym.tool_calls": 2,
        "opsgym.model_retries": 0,
    }
    assert cost == 0.0
    shared = {name: root for name, root in traced.root().attributes.items() if name in SHARED}
    assert all(span.attributes.items() >= shared.items() for span in traced.spans)


SHARED = ("gen_ai.conversation.id", "opsgym.run", "opsgym.task", "opsgym.trial", "opsgym.attempt")


@pytest.mark.anyio
async def test_tokens_and_dollars_of_model_calls_add_up_to_the_records(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel(*ANSWERS).app) as url:
        record = await run(make_job(gym_url, model=stub_model(url, prices=PRICES)), store, tracing)

    chats = traced.named("chat ")
    sums = {name: sum(chat.attributes.get(name, 0) for chat in chats) for name in SUMMED}
    assert sums == {
        "gen_ai.usage.input_tokens": record.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": record.usage.completion_tokens,
        "opsgym.cost_usd": pytest.approx(record.cost_usd),
    }
    assert record.usage.prompt_tokens == 2000
    assert {name: traced.root().attributes[name] for name in SUMMED} == sums


SUMMED = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "opsgym.cost_usd")


@pytest.mark.anyio
async def test_every_request_of_a_model_call_is_an_event_with_its_result(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel(*ANSWERS).app) as url:
        model = stub_model(url, prices=PRICES, parameters={"temperature": 0.5, "max_tokens": 100})
        await run(make_job(gym_url, model=model), store, tracing)

    first, second = traced.named("chat m")
    assert (first.kind, first.failed, second.failed) == (CLIENT, False, False)
    assert [event.get("error.type") for event in second.events_named(REQUEST)] == [
        "model_rate_limited", "model_unavailable", None,
    ]  # fmt: skip
    assert [event["opsgym.request.number"] for event in second.events_named(REQUEST)] == [1, 2, 3]
    assert second.events_named(REQUEST)[0]["opsgym.request.retry_after_seconds"] == 3.0
    assert {event["server.address"] for event in second.events_named(REQUEST)} == {"127.0.0.1"}
    attributes = {name: first.attributes[name] for name in ("gen_ai.operation.name", "gen_ai.provider.name")}
    assert attributes == {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
    assert (first.attributes["gen_ai.request.model"], first.attributes["gen_ai.response.model"]) == ("stub", "stub")
    assert first.attributes["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert (first.attributes["gen_ai.request.temperature"], first.attributes["gen_ai.request.max_tokens"]) == (0.5, 100)


@pytest.mark.anyio
async def test_a_tool_call_with_an_error_result_is_a_failed_span(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel(*ANSWERS).app) as url:
        await run(make_job(gym_url, model=stub_model(url, prices=PRICES)), store, tracing)

    good, bad = traced.named("execute_tool ")
    assert (good.name, good.failed, good.attributes["opsgym.gym"]) == ("execute_tool rename_note", False, "notes")
    assert good.attributes["gen_ai.tool.call.id"] == "call_0"
    assert (bad.name, bad.failed, bad.attributes["error.type"]) == ("execute_tool _OTHER", True, "tool_error")
    assert "opsgym.gym" not in bad.attributes


@pytest.mark.anyio
async def test_each_verifiers_result_is_an_event(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel(says("I did nothing.")).app) as url:
        await run(make_job(gym_url, model=stub_model(url, prices=PRICES)), store, tracing)

    (verify,) = traced.named("verify")
    trial = store.trial()
    assert trial is not None
    labels = ["pass" if result.passed else "fail" for result in trial.verifiers]
    assert [event["gen_ai.evaluation.score.label"] for event in verify.events_named(EVALUATION)] == labels
    assert labels == ["fail", "fail"]
    assert [event["opsgym.verifier.category"] for event in verify.events_named(EVALUATION)] == [
        "task_completion", "integrity",
    ]  # fmt: skip


@pytest.mark.anyio
async def test_an_attempt_that_is_not_scored_is_a_failed_span_with_its_reason(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel(refuses(401, "your key is bad")).app) as url:
        await run(make_job(gym_url, model=stub_model(url, prices=PRICES)), store, tracing)

    root, (chat,) = traced.root(), traced.named("chat ")
    assert (root.failed, root.attributes["error.type"]) == (True, "model_auth")
    assert (root.attributes["opsgym.outcome"], root.attributes["opsgym.reason"]) == ("infra_error", "model_auth")
    assert (chat.failed, chat.attributes["error.type"]) == (True, "model_auth")
    assert "your key is bad" not in traced.content()


@pytest.mark.anyio
async def test_a_cancelled_attempt_ends_its_spans(traced: Collector, tracing: Tracing, gym_url: str) -> None:
    requested = asyncio.Event()

    async def never() -> Any:
        requested.set()
        await asyncio.Event().wait()

    with serving(StubModel(never).app) as url:
        async with Runner(MemoryStore(), tracing=tracing) as runner:
            work = asyncio.create_task(runner.run(make_job(gym_url, model=stub_model(url, prices=PRICES))))
            async with asyncio.timeout(60):
                while not requested.is_set():  # noqa: ASYNC110 - set in the server's thread
                    await asyncio.sleep(0.01)
            work.cancel()
            await asyncio.wait({work})
    tracing.close()

    assert (traced.root().failed, traced.root().attributes["opsgym.outcome"]) == (True, "cancelled")
    assert [span.failed for span in traced.named("chat ")] == [True]


MARKS = ("MARK-policy", "MARK-request", "MARK-argument", "MARK-answer")


def marked_task() -> Any:
    """A task whose every text is recognised."""
    return make_task(system_prompt="MARK-policy", user_prompt=f"MARK-request {KEY}")


MARKED = (calls(("add_note", {"text": f"MARK-argument Bearer {KEY}"})), says(f"MARK-answer {KEY}"))


@pytest.mark.anyio
async def test_no_content_is_sent(traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str) -> None:
    with serving(StubModel(*MARKED).app) as url:
        await run(make_job(gym_url, marked_task(), model=stub_model(url, prices=PRICES)), store, tracing)

    assert traced.named("execute_tool add_note")
    assert [mark for mark in (*MARKS, KEY) if mark in traced.content()] == []


@pytest.mark.anyio
async def test_content_is_sent_if_capture_is_on_and_keys_never(
    traced: Collector, monkeypatch: pytest.MonkeyPatch, store: MemoryStore, gym_url: str
) -> None:
    monkeypatch.setenv(ENV_CONTENT, "true")
    with serving(StubModel(*MARKED).app) as url:
        job = make_job(gym_url, marked_task(), model=stub_model(url, prices=PRICES))
        await run(job, store, start_tracing())

    assert [mark for mark in MARKS if mark not in traced.content()] == []
    assert KEY not in traced.content()
    first, second = traced.named("chat ")
    (reply,) = json.loads(first.attributes["gen_ai.output.messages"])
    assert reply["finish_reason"] == "tool_calls"
    assert reply["parts"][0]["name"] == "add_note"
    roles = [message["role"] for message in json.loads(second.attributes["gen_ai.input.messages"])]
    assert roles == ["system", "user", "assistant", "tool"]
    (call,) = traced.named("execute_tool ")
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"text": "MARK-argument Bearer [secret]"}
    assert "content" in json.loads(call.attributes["gen_ai.tool.call.result"])


@pytest.mark.anyio
async def test_episodes_at_once_keep_their_spans_apart(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym_url: str
) -> None:
    async with Runner(store, tracing=tracing) as runner:
        await asyncio.gather(*(runner.run(make_job(gym_url, trial=trial)) for trial in range(6)))
    tracing.close()

    traces = {span.trace_id for span in traced.spans}
    assert len(traces) == 6
    for trace in traces:
        own = [span for span in traced.spans if span.trace_id == trace]
        assert len(own) == 9
        assert len({span.attributes["opsgym.trial"] for span in own}) == 1
        assert {span.parent_id for span in own} == {"", next(span.span_id for span in own if not span.parent_id)}


@pytest.mark.anyio
async def test_gym_servers_receive_the_calling_span(
    traced: Collector, tracing: Tracing, store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    await run(make_job(gym_url), store, tracing)

    tools = traced.named("execute_tool ")
    assert len(tools) == 2
    for span, headers in zip(tools, gym.headers, strict=True):
        version, trace_id, span_id, flags = headers["traceparent"].split("-")
        assert (version, trace_id, span_id) == ("00", span.trace_id, span.span_id)
        assert int(flags, 16) & 1, "the span is recorded"


@pytest.mark.anyio
async def test_without_a_collector_no_span_and_no_trace_header_is_sent(
    collector: Collector, store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    await run(make_job(gym_url), store, start_tracing({}))

    assert collector.bodies == []
    assert not any("traceparent" in headers for headers in gym.headers)


@pytest.mark.parametrize(
    "environment",
    [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_TRACES_SAMPLER": "always_off"}],
)
@pytest.mark.anyio
async def test_opentelemetrys_off_switches_are_respected(
    traced: Collector,
    monkeypatch: pytest.MonkeyPatch,
    store: MemoryStore,
    gym: StubGym,
    gym_url: str,
    environment: dict[str, str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    record = await run(make_job(gym_url), store, start_tracing())

    assert record.outcome is Outcome.PASSED
    assert traced.spans == []
    assert not any("traceparent" in headers for headers in gym.headers)


def lost(events: Sequence[Any]) -> list[str]:
    return [event["problem"] for event in events if event["event"] == "spans lost"]


@pytest.mark.parametrize(("status", "logged"), [(401, True), (400, True), (200, False)])
@pytest.mark.anyio
async def test_a_refusing_collector_costs_one_log_line(
    traced: Collector, store: MemoryStore, gym_url: str, status: int, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    traced.status = status
    caplog.set_level(logging.CRITICAL, logger="opentelemetry")
    with capture_logs() as events:
        record = await run(make_job(gym_url), store, start_tracing())

    assert record.outcome is Outcome.PASSED
    assert lost(events) == ["it does not answer or refuses them"] * logged


@pytest.mark.parametrize("hangs", [True, False])
@pytest.mark.anyio
async def test_an_unreachable_collector_delays_the_end_by_at_most_the_flush_timeout(
    traced: Collector, monkeypatch: pytest.MonkeyPatch, store: MemoryStore, gym_url: str, hangs: bool
) -> None:
    traced.hangs = hangs
    if not hangs:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:MARK-pass@127.0.0.1:9")
    tracing = start_tracing()
    with capture_logs() as events:
        async with Runner(store, tracing=tracing) as runner:
            record = await runner.run(make_job(gym_url))
        began = time.monotonic()
        tracing.close()
        took = time.monotonic() - began

    assert record.outcome is Outcome.PASSED
    assert took < FLUSH_S + 1
    assert lost(events)
    assert "MARK-pass" not in str(events)


def test_an_unsupported_trace_protocol_is_logged_and_stops_nothing(
    traced: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with capture_logs() as events:
        tracing = start_tracing()
        tracing.close()
    assert [event["problem"] for event in events] == ["ValueError: spans are sent by http/protobuf, not grpc"]
