"""What agents of others send to their model and read of it, by real clients against recording endpoints."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.runner.jobs import KEY, NO_JITTER, MemoryStore, make_job
from tests.runner.servers import serving

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.forward import with_fields
from opsgym_runner.runner import Runner

PRICES = Prices(input_usd=1.0, output_usd=10.0)
CHAT_USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
SPENT = (1000, 100, 0.002)
"""Tokens read and written, and cost, of each answer of the endpoints."""


@dataclass
class Endpoint:
    """Records what arrives, and answers in order, with the last answer for ever."""

    answers: Sequence[Response | bytes | tuple[int, dict[str, Any]]]
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        self.headers.append(dict(request.headers))
        self.paths.append(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        if isinstance(answer, tuple):
            return JSONResponse(answer[1], answer[0])
        return Response(answer, media_type="text/event-stream") if isinstance(answer, bytes) else answer


def events(*parts: dict[str, Any], named: bool = False) -> bytes:
    """A stream of events."""
    lines = [(f"event: {part['type']}\n" if named else "") + f"data: {json.dumps(part)}\n\n" for part in parts]
    return "".join([*lines, "" if named else "data: [DONE]\n\n"]).encode()


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "stub-1", "choices": choices, **fields}


CHAT = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "stub-1", "usage": CHAT_USAGE,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Bye."}}],
}  # fmt: skip
CHAT_STREAM = events(
    chunk({"role": "assistant", "content": "By"}), chunk({"content": "e."}), chunk({}, "stop"),
    chunk(None, usage=CHAT_USAGE),
)  # fmt: skip
RESPONSE = {
    "id": "r", "object": "response", "created_at": 1, "model": "stub-1", "status": "completed",
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    "usage": {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100},
    "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Bye.", "annotations": []}]}],
}  # fmt: skip
RESPONSE_STREAM = events(
    {"type": "response.created", "sequence_number": 0, "response": {**RESPONSE, "status": "in_progress", "output": []}},
    {"type": "response.completed", "sequence_number": 1, "response": RESPONSE},
    named=True,
)
MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "stub-1", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Bye."}], "usage": {"input_tokens": 1000, "output_tokens": 100},
}  # fmt: skip
MESSAGE_STREAM = events(
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None,
                                          "usage": {"input_tokens": 1000, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Bye."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 100}},
    {"type": "message_stop"},
    named=True,
)  # fmt: skip

OPENAI = """
import openai, os, sys
client = openai.OpenAI(max_retries=0)
"""
RAW = """
import http.client, json, os, sys
def send(path, body, **headers):
    connection = http.client.HTTPConnection(os.environ["OPSGYM_URL"].removeprefix("http://"))
    connection.request("POST", path, body.encode(), {"authorization": "Bearer " + os.environ["OPSGYM_KEY"], **headers})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
"""


@contextmanager
def endpoint(
    *answers: Any, model: str = "openai/stub-1", path: str = "/v1"
) -> Iterator[tuple[Endpoint, ResolvedModel]]:
    stub = Endpoint(answers)
    with serving(stub.app) as url:
        yield stub, ResolvedModel("m", model, (ModelEndpoint(url + path, SecretStr(KEY)),), prices=PRICES)


def play(store: MemoryStore, gym_url: str, code: str, model: ResolvedModel, **fields: Any) -> AttemptRecord:
    """Runs an agent whose text on stdout is its answer file."""
    agent = Agent.model_validate({"name": "mine", "command": [sys.executable, "-c", code], "maxSteps": 8, **fields})

    async def run() -> AttemptRecord:
        async with Runner(store, retry=NO_JITTER) as runner:
            return await runner.run(make_job(gym_url, agent=agent, model=model))

    return asyncio.run(run())


def answer_of(store: MemoryStore) -> str:
    trial = store.trial()
    assert trial is not None
    return trial.answer


def spent(record: AttemptRecord) -> tuple[int, int, float | None]:
    cost = record.cost_usd
    return record.usage.prompt_tokens, record.usage.completion_tokens, None if cost is None else round(cost, 9)


# The OpenAI client


CHAT_CALL = (
    OPENAI
    + """
reply = client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "Hi"}])
open("answer.txt", "w").write(f"{reply.choices[0].message.content} {reply.usage.total_tokens} {reply.model}")
"""
)
CHAT_STREAM_CALL = (
    OPENAI
    + """
parts = list(client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "Hi"}], stream=True))
text = "".join(part.choices[0].delta.content or "" for part in parts)
open("answer.txt", "w").write(f"{text} {[part.usage for part in parts]}")
"""
)
RESPONSE_CALL = (
    OPENAI
    + """
reply = client.responses.create(model="gpt", input="Hi", instructions="Obey.")
open("answer.txt", "w").write(f"{reply.output_text} {reply.usage.total_tokens}")
"""
)
RESPONSE_STREAM_CALL = (
    OPENAI
    + """
for event in client.responses.create(model="gpt", input="Hi", stream=True):
    last = event
open("answer.txt", "w").write(f"{last.response.output_text} {last.response.usage.total_tokens}")
"""
)


@pytest.mark.parametrize(
    ("code", "answer", "path", "expected"),
    [
        (CHAT_CALL, (200, CHAT), "/v1/chat/completions", "Bye. 1100 stub-1"),
        (CHAT_STREAM_CALL, CHAT_STREAM, "/v1/chat/completions", "Bye. [None, None, None]"),
        (RESPONSE_CALL, (200, RESPONSE), "/v1/responses", "Bye. 1100"),
        (RESPONSE_STREAM_CALL, RESPONSE_STREAM, "/v1/responses", "Bye. 1100"),
    ],
)
def test_the_openai_client_talks_to_the_model_as_if_nothing_was_between(
    store: MemoryStore, gym_url: str, code: str, answer: Any, path: str, expected: str
) -> None:
    with endpoint(answer) as (stub, model):
        record = play(store, gym_url, code, model)

    assert answer_of(store) == expected, record.message
    assert stub.paths == [path]
    assert json.loads(stub.bodies[0])["model"] == "stub-1"
    assert (stub.headers[0]["authorization"], record.steps) == (f"Bearer {KEY}", 1)
    assert spent(record) == SPENT
    assert [event.content for event in store.transcript().events if event.kind in ("user", "assistant")] == [
        "Hi",
        "Bye.",
    ]


# Bytes


@pytest.mark.parametrize(
    ("wire", "model", "base", "body", "answer", "path"),
    [
        ("/v1/chat/completions", "openai/stub-1", "/v1", {"messages": [{"role": "user", "content": "ö"}]}, CHAT,
         "/v1/chat/completions"),
        ("/v1/responses?x=1", "openai/stub-1", "/v1", {"input": [{"role": "user", "content": "ö"}]}, RESPONSE,
         "/v1/responses?x=1"),
        ("/v1/messages?beta=true", "anthropic/stub-1", "",
         {"system": [{"type": "text", "text": "ö"}], "messages": [{"role": "user", "content": "Hi"}]}, MESSAGE,
         "/v1/messages?beta=true"),
    ],
)  # fmt: skip
def test_bodies_go_on_and_come_back_unchanged_but_for_the_model(
    store: MemoryStore, gym_url: str, wire: str, model: str, base: str, body: dict[str, Any], answer: dict[str, Any],
    path: str,
) -> None:  # fmt: skip
    rest = json.dumps({**body, "metadata": [1.50, 1e400, "\ud83d\ude00"]}, ensure_ascii=True)[1:].replace(
        "Infinity", "1e400"
    )
    written = '{ "model" :\n "mine",\t' + rest
    returned = json.dumps(answer, indent=3).encode()
    code = f"{RAW}\nopen('answer.txt', 'w').write(send({wire!r}, {written!r}, **{{'anthropic-beta': 'b1'}})[1])"

    with endpoint(Response(returned, media_type="application/json"), model=model, path=base) as (stub, resolved):
        record = play(store, gym_url, code, resolved)

    assert stub.bodies == [written.replace('"mine"', '"stub-1"').encode()]
    assert answer_of(store) == returned.decode()
    assert stub.paths == [path]
    assert stub.headers[0]["anthropic-beta"] == "b1"
    assert stub.headers[0]["x-api-key" if "anthropic" in model else "authorization"].endswith(KEY)
    assert spent(record) == SPENT


@pytest.mark.parametrize(
    ("wire", "model", "base", "stream", "part"),
    [
        ("/v1/chat/completions", "openai/stub-1", "/v1", CHAT_STREAM,
         '"messages": [], "stream_options": {"include_usage": true}'),
        ("/v1/responses", "openai/stub-1", "/v1", RESPONSE_STREAM, '"input": "Hi"'),
        ("/v1/messages", "anthropic/stub-1", "", MESSAGE_STREAM, '"messages": []'),
    ],
)  # fmt: skip
def test_streams_come_back_unchanged_and_their_usage_is_priced(
    store: MemoryStore, gym_url: str, wire: str, model: str, base: str, stream: bytes, part: str
) -> None:
    body = f'{{"model": "x", "stream": true, {part}}}'
    code = f"{RAW}\nopen('answer.txt', 'w').write(send({wire!r}, {body!r})[1])"

    with endpoint(stream, model=model, path=base) as (stub, resolved):
        record = play(store, gym_url, code, resolved)

    assert answer_of(store) == stream.decode().strip()
    assert part in stub.bodies[0].decode()
    assert spent(record) == SPENT
    assert [event.content for event in store.transcript().events if event.kind == "assistant"] == ["Bye."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{"model": "m"}'),
        (' {"a":{"model":1}} ', ' {"a":{"model":1}, "model": "m"} '),
        ('{"model":null,"b":[1, {"c":"}"}]}', '{"model":"m","b":[1, {"c":"}"}]}'),
        ('{"model":"a","x":1,"model":"b"}', '{"model":"m","x":1,"model":"m"}'),
    ],
)
def test_one_field_of_an_object_is_replaced_in_its_text(text: str, expected: str) -> None:
    assert with_fields(text, {"model": "m"}) == expected


# Faults


def test_an_error_about_the_request_is_the_agents_to_read(store: MemoryStore, gym_url: str) -> None:
    refusal = {"error": {"message": f"no such field, key {KEY}", "type": "invalid_request_error", "param": "own"}}
    code = f"{RAW}\nprint(send('/v1/chat/completions', '{{\"messages\": []}}'), flush=True); sys.exit(1)"

    with endpoint((400, refusal)) as (stub, model):
        record = play(store, gym_url, code, model)

    assert (record.outcome, record.reason, record.steps) == (Outcome.FAILED, "agent_error", 0)
    assert "no such field, key [secret]" in record.message
    assert len(stub.bodies) == 1


@pytest.mark.parametrize(("status", "reason"), [(401, "model_auth"), (402, "model_quota"), (404, "model_not_found")])
def test_an_error_of_the_account_is_not_the_agents(store: MemoryStore, gym_url: str, status: int, reason: str) -> None:
    code = f"{RAW}\nprint(send('/v1/chat/completions', '{{\"messages\": []}}'), flush=True)"

    with endpoint((status, {"error": {"message": "no"}})) as (_, model):
        record = play(store, gym_url, code, model)

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, reason)


def test_a_request_is_repeated_while_its_agent_has_read_nothing(store: MemoryStore, gym_url: str) -> None:
    busy = (429, {"error": {"message": "slow down"}})
    with endpoint(busy, (503, {}), (200, CHAT)) as (stub, model):
        record = play(store, gym_url, CHAT_CALL, model)

    assert len(stub.bodies) == 3
    assert (record.steps, record.model_retries, record.rate_limits) == (1, 2, 1)
    assert answer_of(store) == "Bye. 1100 stub-1"


def test_a_stream_that_breaks_off_is_of_unknown_cost_and_not_repeated(store: MemoryStore, gym_url: str) -> None:
    half = events(chunk({"role": "assistant", "content": "By"})).removesuffix(b"data: [DONE]\n\n")
    code = f"{RAW}\nsend('/v1/chat/completions', '{{\"messages\": [], \"stream\": true}}')"

    with endpoint(half) as (stub, model):
        record = play(store, gym_url, code, model)

    assert len(stub.bodies) == 1
    assert (record.cost_usd, record.finish_reasons.malformed) == (None, 1)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("nonsense", 400),
        ("[]", 400),
        pytest.param("[" * 3_000, 400, id="nested"),
        ('{"messages": [], "tools": [], "tools": [{"type": "web_search"}]}', 400),
    ],
)
def test_a_request_that_is_no_json_is_refused_and_reaches_no_model(
    store: MemoryStore, gym_url: str, body: str, status: int
) -> None:
    code = f"{RAW}\nbody = {body!r}\nopen('answer.txt', 'w').write(str(send('/v1/chat/completions', body)[0]) +"
    code += " str(send('/v1/chat/completions', '{\"messages\": []}')[0]))"

    with endpoint((200, CHAT)) as (stub, model):
        play(store, gym_url, code, model)

    assert (answer_of(store), len(stub.bodies)) == (f"{status}200", 1)


def test_a_protocol_that_the_provider_does_not_speak_is_refused_with_the_one_that_it_does(
    store: MemoryStore, gym_url: str
) -> None:
    code = f"{RAW}\nprint(send('/v1/chat/completions', '{{\"messages\": []}}'), flush=True); sys.exit(1)"

    with endpoint((200, MESSAGE), model="anthropic/stub-1", path="") as (stub, model):
        record = play(store, gym_url, code, model)

    assert "the provider of model m is asked at /v1/messages" in record.message
    assert stub.bodies == []


# What a provider may not do


SEARCH = (
    OPENAI
    + """
try:
    client.responses.create(model="gpt", input="Hi", tools=[{"type": "web_search"}])
except openai.BadRequestError as error:
    print(error.body["message"])
reply = client.responses.create(model="gpt", input="Hi", tools=[{"type": "function", "name": "f", "parameters": {}}])
print(reply.output_text, flush=True)
"""
)


def test_a_request_for_the_providers_own_tools_is_refused_in_words_and_counted(
    store: MemoryStore, gym_url: str
) -> None:
    with endpoint((200, RESPONSE)) as (stub, model):
        record = play(store, gym_url, SEARCH, model)

    assert [json.loads(body)["tools"][0]["type"] for body in stub.bodies] == ["function"]
    assert (record.refused_requests, record.steps) == (1, 1)
    trial = store.trial()
    assert trial is not None
    assert trial.refused_requests == 1
    notes = [event.content for event in store.transcript().events if event.kind == "note"]
    assert "opsgym refused a request of the agent to its model: tools[0] of type web_search" in notes
    assert any("/mcp/notes; mcp.json has the key\nBye." in note for note in notes), notes


# Tools


def test_the_mcp_client_lists_and_calls_the_tools_of_the_mode(store: MemoryStore, gym_url: str) -> None:
    code = """
import asyncio, json, httpx, openai
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
server = json.load(open("mcp.json"))["mcpServers"]["notes"]
async def main():
    async with httpx.AsyncClient(headers=server["headers"]) as http:
        async with streamable_http_client(server["url"], http_client=http) as (read, write, *_):
            async with ClientSession(read, write) as session:
                await session.initialize()
                names = [tool.name for tool in (await session.list_tools()).tools]
                await session.call_tool("rename_note", {"id": 1, "text": "done"})
                added = await session.call_tool("add_note", {"text": "more"})
                wrong = await session.call_tool("rename_note", {"id": 9, "text": "done"})
                return [names, added.content[0].text, wrong.is_error]
openai.OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
open("answer.txt", "w").write(json.dumps(asyncio.run(main())))
"""
    record = play(store, gym_url, code, ResolvedModel(name="m", model="replay/gold"))

    assert record.outcome is Outcome.PASSED, record.message
    assert json.loads(answer_of(store)) == [["add_note", "rename_note"], '{"id": 3}', True]
    assert (record.tool_calls, record.tool_errors) == (3, 1)
