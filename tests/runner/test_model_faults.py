"""What models and their providers do to an attempt, over real HTTP and the real litellm."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from tests.runner.jobs import KEY, KEYS, NO_JITTER, FakeTime, MemoryStore, make_job, make_task, notes_equal, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import CutConnection, StubModel, calls, completion, refuses, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent, Limits
from opsgym_api.records.attempt import AttemptRecord, FinishCounts
from opsgym_core.common.backoff import Backoff
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.checks import TOOL_LIMITS, tool_limit
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

SOLUTION = (
    calls(("rename_note", {"id": 1, "text": "done"}), ("add_note", {"text": "more"})),
    says("Both are done."),
)


async def attempt(
    store: MemoryStore, gym_url: str, model: StubModel, time: FakeTime | None = None, **fields: Any
) -> AttemptRecord:
    parameters = fields.pop("parameters", {})
    prices = fields.pop("prices", None)
    with serving(model.app) as url:
        job = make_job(gym_url, model=stub_model(url, parameters=parameters, prices=prices), **fields)
        async with Runner(store, clock=(time or FakeTime()).clock, retry=NO_JITTER) as runner:
            return await runner.run(job)


async def test_calls_of_one_reply_run_in_order_and_are_rendered_as_in_the_published_harness(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    model = StubModel(*SOLUTION)

    record = await attempt(store, gym_url, model)

    assert record.outcome == "passed"
    assert [name for name, _ in gym.calls] == ["rename_note", "add_note"]
    shown = model.requests[1]["messages"]
    assert [message["role"] for message in shown] == ["system", "user", "assistant", "tool", "tool"]
    assert set(shown[2]) - {"content"} == {"role", "tool_calls"}
    assert shown[4]["tool_call_id"] == "call_1"
    assert shown[4]["content"] == (
        '{"meta": null, "content": [{"type": "text", "text": "{\\"id\\": 3}", "annotations": null, "meta": null}], '
        '"structuredContent": null, "isError": false}'
    )


async def test_tools_reach_the_model_with_the_gyms_own_schema(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    model = StubModel(*SOLUTION)

    await attempt(store, gym_url, model)

    offered = {tool["function"]["name"]: tool["function"] for tool in model.requests[0]["tools"]}
    assert list(offered) == ["add_note", "rename_note"]
    assert offered["rename_note"]["parameters"] == gym.tools[1]["inputSchema"]
    assert offered["rename_note"]["description"] == gym.tools[1]["description"]


async def test_an_endpoint_of_ones_own_needs_no_key(
    store: MemoryStore, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = StubModel(*SOLUTION)

    with serving(model.app) as url:
        keyless = stub_model(url, endpoints=(ModelEndpoint(f"{url}/v1"),))
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=keyless))

    assert record.outcome == "passed"


@pytest.mark.parametrize("header", ["2", "Mon, 05 Jan 2026 08:00:02 GMT"])
async def test_a_429_is_retried_after_its_retry_after(store: MemoryStore, gym_url: str, header: str) -> None:
    time = FakeTime()

    record = await attempt(store, gym_url, StubModel(refuses(429, headers={"Retry-After": header}), *SOLUTION), time)

    assert (record.outcome, record.model_retries, time.slept) == ("passed", 1, [2.0])


async def test_a_retry_after_beyond_the_policys_total_wait_ends_the_attempt_at_once(
    store: MemoryStore, gym_url: str
) -> None:
    time = FakeTime()
    model = StubModel(refuses(429, headers={"Retry-After": "3600"}))

    record = await attempt(store, gym_url, model, time)

    assert (record.outcome, record.reason, time.slept) == ("infra_error", "model_rate_limited", [])
    assert "3600" in record.message


async def test_a_persistent_429_is_an_infra_error_after_the_policys_total_wait(
    store: MemoryStore, gym_url: str
) -> None:
    time = FakeTime()

    record = await attempt(store, gym_url, StubModel(refuses(429)), time, limits=Limits(task_timeout_seconds=100))

    assert (record.outcome, record.reason) == ("infra_error", "model_rate_limited")
    assert time.slept == [0.5, 1, 2, 4, 8, 16, *[30] * 18]
    assert record.model_retries == 24


async def test_server_errors_are_retried_with_growing_waits(store: MemoryStore, gym_url: str) -> None:
    time = FakeTime()
    model = StubModel(refuses(500), refuses(503), Response("<html>bad gateway</html>", 502), *SOLUTION)

    record = await attempt(store, gym_url, model, time)

    assert (record.outcome, record.model_retries, time.slept) == ("passed", 3, [0.5, 1, 2])


async def test_server_errors_that_stay_are_an_infra_error(store: MemoryStore, gym_url: str) -> None:
    record = await attempt(store, gym_url, StubModel(refuses(500, "boom")))

    assert (record.outcome, record.reason) == ("infra_error", "model_unavailable")
    assert "boom" in record.message


@pytest.mark.parametrize(
    "broken",
    [
        CutConnection(),
        Response("<html>a proxy's page</html>"),
        completion({}, choices=[]),
    ],
    ids=["cut connection", "not JSON", "no choices"],
)
async def test_a_broken_reply_is_requested_again(store: MemoryStore, gym_url: str, broken: Response) -> None:
    record = await attempt(store, gym_url, StubModel(broken, *SOLUTION))

    assert (record.outcome, record.model_retries) == ("passed", 1)


async def test_answers_that_are_no_reply_are_booked_counted_and_end_the_attempt(
    store: MemoryStore, gym_url: str
) -> None:
    model = StubModel(SOLUTION[0], completion({}, choices=[]))

    record = await attempt(store, gym_url, model, prices=Prices(input_usd=1, output_usd=10))

    assert (record.outcome, record.reason, len(model.requests)) == ("infra_error", "model_unavailable", 3)
    assert (record.usage.model_calls, record.usage.prompt_tokens) == (3, 3000)
    assert record.cost_usd == pytest.approx(3 * 0.002)
    assert record.finish_reasons == FinishCounts(malformed=2)


async def test_a_web_page_in_place_of_a_reply_makes_the_cost_unknown(store: MemoryStore, gym_url: str) -> None:
    page = Response("<html>a proxy's page</html>", media_type="text/html")

    record = await attempt(store, gym_url, StubModel(page, *SOLUTION), prices=Prices(input_usd=1, output_usd=10))

    assert (record.outcome, record.cost_usd, record.usage.model_calls) == ("passed", None, 3)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1000, "total_tokens": 1000},
        {"prompt_tokens": 1000, "completion_tokens": None, "total_tokens": 1100},
        {"completion_tokens": 100, "total_tokens": 100},
    ],
)
async def test_usage_that_leaves_out_a_count_makes_the_cost_unknown(
    store: MemoryStore, gym_url: str, usage: dict[str, Any]
) -> None:
    model = StubModel(*SOLUTION[:-1], says("Done.", usage=usage))
    record = await attempt(store, gym_url, model, prices=Prices(input_usd=1, output_usd=10))
    assert (record.cost_usd, record.usage.model_calls) == (None, len(SOLUTION))
    free = await attempt(store, gym_url, StubModel(*model.answers), prices=Prices(input_usd=0, output_usd=0))
    assert free.cost_usd == 0


async def test_an_endpoint_that_refuses_connections_is_an_infra_error(store: MemoryStore, gym_url: str) -> None:
    with serving(StubModel(says("")).app) as url:
        pass
    async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
        record = await runner.run(make_job(gym_url, model=stub_model(url)))

    assert (record.outcome, record.reason) == ("infra_error", "model_unavailable")


async def test_a_request_that_is_never_answered_times_out_and_is_sent_again(store: MemoryStore, gym_url: str) -> None:
    async def never() -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    record = await attempt(store, gym_url, StubModel(never, *SOLUTION), parameters={"timeout": 0.2})

    assert (record.outcome, record.model_retries) == ("passed", 1)


async def test_a_model_that_never_answers_is_an_infra_error_when_the_tasks_time_is_over(
    store: MemoryStore, gym_url: str
) -> None:
    async def never() -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    record = await attempt(store, gym_url, StubModel(never), limits=Limits(task_timeout_seconds=1))

    assert (record.outcome, record.reason) == ("infra_error", "model_unavailable")


async def test_a_tasks_time_that_ran_out_on_a_failing_endpoint_is_an_infra_error(
    store: MemoryStore, gym_url: str
) -> None:
    async def never() -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    model = StubModel(SOLUTION[0], refuses(503, "overloaded"), never)

    record = await attempt(store, gym_url, model, limits=Limits(task_timeout_seconds=1))

    assert (record.outcome, record.reason) == ("infra_error", "model_unavailable")
    assert "overloaded" in record.message


async def test_a_providers_rate_limit_decides_no_trial(store: MemoryStore, gym_url: str) -> None:
    """Eight agents of 0.9 s of model time each, at a provider that bears two of them, within a limit of 3 s."""
    in_flight = 0

    async def answer(messages: int) -> Response:
        nonlocal in_flight
        if in_flight == 2:
            return refuses(429)
        in_flight += 1
        await asyncio.sleep(0.15)
        in_flight -= 1
        step = messages // 2
        return calls(("rename_note", {"id": 1, "text": "done"})) if step < 5 else SOLUTION[step - 5]

    class Throttled(StubModel):
        async def _complete(self, request: Request) -> Response:
            return await answer(len((await request.json())["messages"]))

    swift = RetryPolicy(Backoff(initial_s=0.05, maximum_s=0.1))
    with serving(Throttled().app) as url:
        model = stub_model(url)
        async with Runner(store, retry=swift) as runner:
            jobs = [make_job(gym_url, model=model, trial=n, limits=Limits(task_timeout_seconds=3)) for n in range(8)]
            records = await asyncio.gather(*map(runner.run, jobs))

    assert [record.outcome for record in records] == ["passed"] * 8
    assert sum(record.rate_limits for record in records) > 0
    assert max(record.timings.total_s for record in records) > 3


async def test_a_task_whose_time_is_over_fails_and_its_verifiers_still_run(store: MemoryStore, gym_url: str) -> None:
    async def never() -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    model = StubModel(SOLUTION[0], never)

    record = await attempt(store, gym_url, model, limits=Limits(task_timeout_seconds=1))

    assert (record.outcome, record.reason) == ("failed", "task_timeout")
    trial = store.trial()
    assert trial is not None
    assert [result.passed for result in trial.verifiers] == [True, True]
    assert (trial.score, trial.published_score, trial.stopped_by) == (0, None, "task_timeout")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "model_refused_request"),
        (401, "model_auth"),
        (402, "model_quota"),
        (403, "model_auth"),
        (404, "model_not_found"),
        (422, "model_refused_request"),
    ],
)
async def test_a_permanent_failure_is_not_retried(store: MemoryStore, gym_url: str, status: int, reason: str) -> None:
    model = StubModel(refuses(status, f"refused for {KEY}"))

    record = await attempt(store, gym_url, model)

    assert (record.outcome, record.reason, len(model.requests)) == ("infra_error", reason, 1)
    assert "refused for [secret]" in record.message


@pytest.mark.parametrize(("switch", "outcome"), [("failed", "failed"), ("unscored", "config_error")])
async def test_a_conversation_that_is_refused_after_an_answer_while_others_are_answered_caused_it(
    store: MemoryStore, gym_url: str, switch: Any, outcome: str
) -> None:
    model = StubModel(SOLUTION[0], refuses(400, "messages.4: unexpected role"), says("Yes."))

    record = await attempt(
        store,
        gym_url,
        model,
        prices=Prices(input_usd=1, output_usd=1),
        agent=Agent(name="react", refused_conversations=switch),
    )

    assert (record.outcome, record.reason) == (outcome, "conversation_refused")
    assert "messages.4: unexpected role" in record.message
    assert "(refused after 1 answered requests" in record.message
    assert [len(request["messages"]) for request in model.requests] == [2, 5, 1]
    assert record.cost_usd == pytest.approx(2 * 1100 / 1e6)


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (400, "Your workspace has reached its usage limits.", "model_quota"),
        (403, "This key was revoked.", "model_auth"),
        (404, "The model was retired.", "model_not_found"),
        (400, "Something else.", "model_refused_request"),
    ],
)
async def test_a_refusal_that_a_second_conversation_meets_too_is_the_accounts(
    store: MemoryStore, gym_url: str, status: int, message: str, reason: str
) -> None:
    model = StubModel(SOLUTION[0], refuses(status, message))

    record = await attempt(store, gym_url, model)

    assert (record.outcome, record.reason, len(model.requests)) == ("infra_error", reason, 3)


async def test_a_model_that_writes_all_its_calls_as_text_is_the_servers_fault(store: MemoryStore, gym_url: str) -> None:
    written = says('<tool_call>\n{"name": "add_note", "arguments": {"text": "more"}}\n</tool_call>')

    record = await attempt(store, gym_url, StubModel(written))

    assert (record.outcome, record.reason) == ("infra_error", "model_calls_in_text")
    assert "switch on the server's parser of tool calls" in record.message
    assert record.finish_reasons == FinishCounts(call_in_text=2)


async def test_a_call_written_as_text_after_real_ones_is_the_models_fault(store: MemoryStore, gym_url: str) -> None:
    record = await attempt(store, gym_url, StubModel(SOLUTION[0], says("<function=add_note>{}</function>")))

    assert (record.outcome, record.reason) == ("failed", "malformed_reply")


async def test_a_key_echoed_by_a_provider_is_not_stored(
    store: MemoryStore, gym_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = StubModel(refuses(401, f"Incorrect API key provided: {KEY}", headers={"x-key": KEY}))

    await attempt(store, gym_url, model)
    await attempt(store, gym_url, StubModel(refuses(500, f"failed: Bearer {KEY}"), *SOLUTION), attempt=1)

    assert model.keys == [f"Bearer {KEY}"]
    assert KEYS.record in store.objects
    everything = b"".join(store.objects.values()) + store.transcript().model_dump_json().encode()
    printed = capfd.readouterr()
    assert KEY.encode() not in everything
    assert KEY not in printed.out + printed.err


async def test_a_conversation_beyond_the_models_context_fails_the_trial(store: MemoryStore, gym_url: str) -> None:
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    overflow = refuses(400, message, code="context_length_exceeded", param="messages")

    record = await attempt(store, gym_url, StubModel(calls(("add_note", {"text": "more"})), overflow))

    assert (record.outcome, record.reason) == ("failed", "context_overflow")
    trial = store.trial()
    assert trial is not None
    assert [result.executed for result in trial.verifiers] == [True, True]


async def test_a_reply_stopped_by_the_content_filter_fails_the_trial(store: MemoryStore, gym_url: str) -> None:
    record = await attempt(store, gym_url, StubModel(says("", finish_reason="content_filter")))

    assert (record.outcome, record.reason) == ("failed", "content_filter")


async def test_the_tokens_of_a_filtered_reply_are_booked(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(says("", finish_reason="content_filter"))

    record = await attempt(store, gym_url, model, prices=Prices(input_usd=1, output_usd=10))

    assert (record.usage.prompt_tokens, record.usage.completion_tokens, len(model.requests)) == (1000, 100, 1)
    assert record.cost_usd == pytest.approx(0.002)


async def test_every_step_records_how_its_reply_ended(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(SOLUTION[0], says(""), says("Both a", finish_reason="length"))

    record = await attempt(store, gym_url, model)

    assert (record.outcome, record.usage.model_calls, record.steps) == ("passed", 3, 2)
    assert record.finish_reasons == FinishCounts(length=1, empty=1)
    replies = [event for event in store.transcript().events if event.kind == "assistant"]
    assert [(event.finish_reason, event.replaced) for event in replies] == [("tool_calls", ""), ("length", "empty")]


async def test_more_tools_than_the_provider_takes_is_a_config_error_before_any_request(
    store: MemoryStore, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOOL_LIMITS, "azure/", 1)
    model = StubModel(*SOLUTION)

    with serving(model.app) as url:
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(url, model="azure/gpt-5")))

    assert (record.outcome, record.reason, model.requests) == ("config_error", "too_many_tools", [])
    assert "azure/gpt-5 takes at most 1 tools in a request, and the task shows 2" in record.message


@pytest.mark.parametrize(
    ("model", "url", "limit"),
    [
        ("openai/gpt-5", None, 128),
        ("openai/gpt-5", "https://eu.api.openai.com/v1", 128),
        ("openai/qwen", "http://vllm:8000/v1", None),
        ("azure/gpt-5", "https://east.openai.azure.com", 128),
        ("azure/gpt-5", "https://gateway.example.org", 128),
        ("anthropic/claude-sonnet-4-5", None, None),
    ],
)
def test_a_providers_tool_limit_holds_at_its_own_addresses(model: str, url: str | None, limit: int | None) -> None:
    assert tool_limit(model, [ModelEndpoint(url)]) == limit


async def test_a_model_that_loops_on_one_call_reaches_the_step_limit(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    model = StubModel(calls(("rename_note", {"id": 2, "text": "again"})))

    record = await attempt(store, gym_url, model, agent=Agent(name="react", max_steps=4))

    assert (record.outcome, record.reason, record.steps) == ("failed", "step_limit", 4)
    assert len(gym.calls) == 4


async def test_a_trial_at_its_step_limit_is_judged_by_its_final_state(store: MemoryStore, gym_url: str) -> None:
    record = await attempt(store, gym_url, StubModel(*SOLUTION), agent=Agent(name="react", max_steps=1))

    assert (record.outcome, record.reason) == ("passed", "")
    trial = store.trial()
    assert trial is not None
    assert (trial.stopped_by, trial.published_score) == ("step_limit", 1)


@pytest.mark.parametrize(
    ("garbled", "message"),
    [
        (("add_note", '{"text": '), "not valid JSON"),
        (("add_note", "[1, 2]"), "must be a JSON object, not list"),
        (("delete_all", "{}"), "unknown tool 'delete_all'. Tools: add_note, rename_note"),
        (("idle_3", "{}"), "unknown tool 'idle_3'"),
        (("", "{}"), "has no tool name"),
    ],
    ids=["cut JSON", "a list", "unknown tool", "tool that is not shown", "no name"],
)
async def test_a_malformed_call_is_reported_to_the_model_and_the_episode_continues(
    store: MemoryStore, gym: StubGym, gym_url: str, garbled: tuple[str, str], message: str
) -> None:
    model = StubModel(calls(garbled), *SOLUTION)

    record = await attempt(store, gym_url, model)

    assert (record.outcome, record.tool_calls) == ("passed", 3)
    assert len(gym.calls) == 2
    reply, result = model.requests[1]["messages"][2:4]
    tool_result = json.loads(result["content"])
    assert tool_result["isError"] is True
    assert message in tool_result["content"][0]["text"]
    assert isinstance(json.loads(reply["tool_calls"][0]["function"]["arguments"]), dict)
    trial = store.trial()
    assert trial is not None
    assert trial.tool_errors == 1


async def test_line_breaks_and_tabs_may_stand_in_texts_of_arguments(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    """Models write long texts so, and the published harness reads them."""
    raw = '{"id": 1, "text": "Dear all,\n\tit is done."}'
    record = await attempt(store, gym_url, StubModel(calls(("rename_note", raw)), *SOLUTION))

    assert record.outcome == "passed"
    assert gym.calls[0] == ("rename_note", {"id": 1, "text": "Dear all,\n\tit is done."})
    trial = store.trial()
    assert trial is not None
    assert trial.tool_errors == 0


async def test_a_tool_call_without_id_and_arguments_is_executed(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    bare = {"type": "function", "function": {"name": "idle_0", "arguments": None}}
    message = {"role": "assistant", "content": None, "tool_calls": [bare]}

    model = StubModel(completion(message), *SOLUTION)
    record = await attempt(store, gym_url, model, task=make_task(selected_tools=None))

    assert record.outcome == "passed"
    assert gym.calls[0] == ("idle_0", {})
    reply, result = model.requests[1]["messages"][2:4]
    assert reply["tool_calls"][0]["id"] == result["tool_call_id"] != ""


async def test_tokens_and_cost_are_recorded_with_the_given_prices(store: MemoryStore, gym_url: str) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 60},
    }
    message = {"role": "assistant", "content": "no"}
    prices = Prices(input_usd=2, output_usd=10, cached_input_usd=0.5)

    record = await attempt(store, gym_url, StubModel(completion(message, usage=usage)), prices=prices)

    assert record.cost_usd == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    booked = record.usage.to_dict()
    assert booked == {
        "model_calls": 1,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "cached_tokens": 400,
        "cache_write_tokens": 0,
        "reasoning_tokens": 60,
    }


async def test_cost_before_an_infra_error_is_recorded(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(SOLUTION[0], refuses(401))

    record = await attempt(store, gym_url, model, prices=Prices(input_usd=1, output_usd=1))

    assert (record.outcome, record.steps, record.tool_calls) == ("infra_error", 1, 2)
    assert record.cost_usd == pytest.approx(1100 / 1e6)
    assert store.attempt() == record
    assert [event.kind for event in store.transcript(KEYS.failed_transcript(0)).events][:3] == [
        "system",
        "user",
        "assistant",
    ]


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        (StubModel(says("no")), None),
        (StubModel(says("no", usage=None)), Prices(input_usd=1, output_usd=1)),
    ],
    ids=["no price known", "tokens not counted"],
)
async def test_an_unknown_cost_is_none_and_never_zero(
    store: MemoryStore, gym_url: str, model: StubModel, prices: Prices | None
) -> None:
    record = await attempt(store, gym_url, model, prices=prices)

    assert (record.outcome, record.cost_usd) == ("failed", None)


async def test_a_failing_endpoint_is_passed_over_without_waiting(store: MemoryStore, gym_url: str) -> None:
    time, broken, sound = FakeTime(), StubModel(refuses(500)), StubModel(*SOLUTION)
    with serving(broken.app) as first, serving(sound.app) as second:
        async with Runner(store, clock=time.clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(first, second)))

    assert (record.outcome, record.model_retries, time.slept) == ("passed", 1, [])
    assert (len(broken.requests), len(sound.requests)) == (1, 2)


async def test_parameters_reach_the_endpoint_and_cannot_displace_the_conversation(
    store: MemoryStore, gym_url: str
) -> None:
    model = StubModel(says("no"))

    await attempt(store, gym_url, model, parameters={"temperature": 0.5, "stream": True, "messages": []})

    assert model.requests[0]["temperature"] == 0.5
    assert not model.requests[0].get("stream")
    assert len(model.requests[0]["messages"]) == 2


async def test_the_human_plan_is_shown_only_to_an_agent_that_gets_one(store: MemoryStore, gym_url: str) -> None:
    planned, plain = StubModel(says("no")), StubModel(says("no"))
    task = make_task(plan=["Rename note 1.", "Add a note."])

    await attempt(store, gym_url, planned, task=task, agent=Agent(name="planned", plan="human"))
    await attempt(store, gym_url, plain, task=task, attempt=1)

    assert planned.requests[0]["messages"][1]["content"].endswith("1. Rename note 1.\n2. Add a note.")
    assert plain.requests[0]["messages"][1]["content"] == task.user_prompt


async def test_answer_and_tool_verifiers_judge_the_trajectory(store: MemoryStore, gym_url: str) -> None:
    verifiers = [
        {"verifier_type": "answer_match", "name": "a", "validation_config": {"patterns": ["nothing", "BOTH are"]}},
        {"verifier_type": "tool_execution", "name": "t", "validation_config": {"selected_tools": ["add_note"]}},
        {
            "verifier_type": "tool_execution",
            "name": "u",
            "validation_config": {"selected_tools": ["idle_1"], "minimum_tool_calls": 2},
        },
    ]

    await attempt(store, gym_url, StubModel(*SOLUTION), task=make_task(verifiers=verifiers))

    trial = store.trial()
    assert trial is not None
    assert [result.passed for result in trial.verifiers] == [True, True, False]
    assert (trial.outcome, trial.reason) == ("failed", "verifiers")


async def test_verifiers_with_the_same_name_stay_separate_where_the_published_harness_merges_them(
    store: MemoryStore, gym_url: str
) -> None:
    verifiers = [
        notes_equal("SELECT count(*) FROM notes", 99, name="same"),
        notes_equal("SELECT count(*) FROM notes", 3, name="same"),
    ]

    await attempt(store, gym_url, StubModel(*SOLUTION), task=make_task(verifiers=verifiers))

    trial = store.trial()
    assert trial is not None
    assert [result.passed for result in trial.verifiers] == [False, True]
    assert (trial.score, trial.published_score) == (0, 1)


async def test_a_second_runner_reaches_the_endpoints_of_the_first(store: MemoryStore, gym_url: str) -> None:
    with serving(StubModel(says("no")).app) as url:
        for number in range(2):
            async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
                record = await runner.run(make_job(gym_url, attempt=number, model=stub_model(url)))

            assert (record.outcome, record.model_retries) == ("failed", 0)


async def test_connections_to_models_are_closed_with_the_runner(store: MemoryStore, gym_url: str) -> None:
    closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.split("content-length:")[1].split()[0]))
        body = says("no").body
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
        writer.write(b"content-length: %d\r\n\r\n" % len(body) + bytes(body))
        assert await reader.read() == b""
        writer.close()
        closed.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Runner(store) as runner:
            await runner.run(make_job(gym_url, model=stub_model(f"http://127.0.0.1:{port}")))
            assert not closed.is_set()
        await asyncio.wait_for(closed.wait(), 10)
