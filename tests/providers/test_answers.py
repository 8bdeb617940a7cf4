"""What answers of providers mean at their place in a conversation, through real HTTP and the runner's own client.

The table is in words of our own: no wording of a provider decides here, and none is repeated from the client's code.
Beside the upstream folder there may be a table of answers that real servers gave (`cases/provider-answers.jsonl`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from tests.providers.conftest import ASKED, TOOL
from tests.providers.stubs import (
    Stub,
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    openai_chat,
    openai_responses,
)
from tests.providers.test_errors import AZURE, REGION, client_of

from opsgym_runner.errors import AgentFailed, NotScored
from opsgym_runner.models.client import Message, Reply
from opsgym_runner.models.retry import ModelFailure

pytestmark = pytest.mark.anyio

RESULT = "state 4711"
"""Result of the tools, by which the second request of the conversation is known."""
REPEATS = 3
"""Times that the answer is given in a row; then the endpoint is well again."""


@dataclass
class Conversation(Stub):
    """An endpoint that answers the first request of a conversation and gives the case's answer to the second one."""

    answer: Any = None
    of_account: bool = False
    """Whether requests of other conversations meet the case's answer too."""
    first: bool = False
    """Whether the first request of the conversation meets it."""
    given: int = 0
    witnesses: list[dict[str, Any]] = field(default_factory=list)

    def respond(self, path: str, reply: Any, request: dict[str, Any]) -> Response:
        call, final = self.replies
        text = json.dumps(request)
        if ASKED not in text:
            self.witnesses.append(request)
            return self._case() if self.of_account else JSONResponse(final)
        if RESULT not in text:
            return self._case() if self.first else JSONResponse(call)
        return self._case() if self.given < REPEATS else JSONResponse(final)

    def _case(self) -> Response:
        self.given += 1
        if isinstance(self.answer, str):
            return HTMLResponse(self.answer, self.status)
        return Response(status_code=self.status) if self.answer is None else JSONResponse(self.answer, self.status)


def shape_of(model: str) -> tuple[tuple[dict[str, Any], ...], str, dict[str, Any]]:
    """Good replies of a model's API, what its address ends with, and its parameters."""
    provider = model.partition("/")[0]
    if model.startswith("openai/responses/"):
        return openai_responses(), "/v1", {}
    replies = {"anthropic": anthropic_messages, "bedrock": bedrock_converse, "gemini": gemini_generate}
    given = {"azure": AZURE, "bedrock": REGION}.get(provider, {})
    base = "" if provider in (*replies, "azure", "deepseek") else "/v1"
    return replies.get(provider, openai_chat)(), base, given


async def outcome_of(stub: Conversation, model: str) -> str:
    """How a conversation of two turns ends: a reason, or how the reply to the second request ended."""
    replies, base, parameters = shape_of(model)
    stub.replies = replies
    messages: list[Message] = [{"role": "user", "content": ASKED}]
    async with client_of(stub, model, base, "never", **parameters) as client:
        try:
            if not stub.first:
                called = await client.complete(messages, [TOOL])
                results = [{"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in called.requests]
                messages += [called.message, *results]
            reply: Reply = await client.complete(messages, [TOOL])
            reply.require_usable()
        except (AgentFailed, ModelFailure) as failure:
            return str(failure.reason)
        except NotScored as failure:
            return f"{failure.outcome}/{failure.reason}"
        return "waited" if client.statistics.retries >= REPEATS else f"reply/{reply.finish.value}"


GPT, VLLM, CLAUDE, BEDROCK = (
    "openai/gpt-4o",
    "hosted_vllm/q",
    "anthropic/claude-sonnet-4-5",
    "bedrock/anthropic.claude-v2",
)
ROUTER, GEMINI = "openrouter/qwen/qwen3-30b-a3b", "gemini/gemini-2.5-pro"


def says(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


def chat(reason: str | None, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": None, **message}}
    return {**openai_chat()[1], "choices": [choice]}


QUOTED = "the customer wrote: insufficient balance, quota exceeded, prompt is too long"
ANSWERS: dict[str, tuple[str, int, Any, bool, str]] = {
    # By position: whatever the words, another conversation is answered.
    "words never heard": (VLLM, 400, says("Nein, danke."), False, "conversation_refused"),
    "no words": (VLLM, 422, None, False, "conversation_refused"),
    "a list of faults with the input": (VLLM, 422, {"detail": [
        {"loc": ["body", "messages"], "msg": "value is not valid", "type": "value_error", "input": QUOTED}]},
        False, "conversation_refused"),
    "the request quoted": (VLLM, 400, says(f'cannot render "{QUOTED}"'), False, "conversation_refused"),
    "a refused address in mid-conversation": (GPT, 404, says("nothing here"), False, "conversation_refused"),
    "a refused key in mid-conversation": (GPT, 403, says("go away"), False, "conversation_refused"),
    # By a second witness.
    "a key that was revoked": (GPT, 403, says("go away"), True, "model_auth"),
    "a model that was taken away": (GPT, 404, says("nothing here"), True, "model_not_found"),
    "an account that has no money": (CLAUDE, 400, says("Your account ran out of credits."), True, "model_quota"),
    "an endpoint that refuses everything": (VLLM, 400, says("Nein, danke."), True, "model_refused_request"),
    # A server that says that it is in trouble itself.
    "a server that broke down": (VLLM, 400, says("The worker has crashed."), False, "waited"),
    "a server that is busy behind a gateway": (
        ROUTER, 400, says("no", metadata={"raw": '{"message": "temporarily out of service"}'}), False, "waited"),
    # By status.
    "401": (GPT, 401, says("who are you?"), False, "model_auth"),
    "402": (ROUTER, 402, says("pay first"), False, "model_quota"),
    "413": (VLLM, 413, None, False, "context_overflow"),
    **{str(status): (VLLM, status, says("later"), False, "waited")
        for status in (408, 409, 424, 425, 429, 498, 499, 503, 529)},
    **{f"a web page with {status}": (VLLM, status, "<html>wait</html>", False, "waited")
        for status in (400, 403, 429, 502)},
    "500 that quotes": (VLLM, 500, says(f"cannot render {{'content': '{QUOTED}'}}"), False, "waited"),
    # By the error's own fields.
    "a code": (GPT, 400, says("no", code="context_window_exceeded"), False, "context_overflow"),
    "words about length": (
        VLLM, 400, says("The sequence has 9000 tokens, more than the limit of 8192."), False, "context_overflow"),
    "a server that fails on length": (
        VLLM, 500, says("The prompt exceeds the context size of this slot."), False, "context_overflow"),
    "an upstream's words": (
        ROUTER, 400, says("upstream", metadata={"raw": '{"error": {"message": "Context window overflow"}}'}),
        False, "context_overflow"),
    "a filter": (GPT, 400, says("no", code="content_policy_violation"), False, "request_filter"),
    "a limit of the day": (GPT, 429, says("You may send 10 tokens per day."), True, "model_quota"),
    "words of a quota, but others are answered": (GPT, 429, says("Quota exhausted."), False, "waited"),
    "a quota without an owner": (GPT, 429, says("Quota exhausted."), True, "waited"),
    "a quota that throttles": (
        GPT, 429, says("Raise your quota: it is exhausted.", code="Throttling.Quota"), True, "waited"),
    "a quota of the account": (GPT, 429, says("Your quota is exhausted."), True, "model_quota"),
    "an account that is closed": (GPT, 429, says("The account was suspended."), True, "model_quota"),
    "MiniMax without credit": (
        GPT, 200, {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "no"}}, False, "model_quota"),
    "an error with status 200": (
        VLLM, 200, {"object": "error", "message": "Nein, danke.", "type": "BadRequestError", "code": 400},
        False, "conversation_refused"),
    "an error of an older API with status 200": (
        VLLM, 200, {"error_code": 4711, "error_msg": "too many input tokens, the maximum is 9"},
        False, "context_overflow"),
    # What the model wrote.
    "a call that the server cannot read": (
        VLLM, 400, says("The tool call could not be parsed.", failed_generation="x"), False, "malformed_reply"),
    "a server that fails on a call": (
        VLLM, 500, says("invalid function call: unexpected end"), False, "malformed_reply"),
    # Replies.
    "an unknown end": (VLLM, 200, chat("tired", content="I will"), False, "malformed_reply"),
    "no end": (VLLM, 200, chat(None, content="Done."), False, "reply/stop"),
    "a call that is missing": (VLLM, 200, chat("tool_calls", content="I look."), False, "malformed_reply"),
    "the older form of calls": (
        VLLM, 200, chat("function_call", function_call={"name": "find", "arguments": "{}"}), False, "reply/tool_calls"),
    "a list of parts": (VLLM, 200, chat("stop", content=[{"type": "text", "text": "Done."}]), False, "reply/stop"),
    "a call in the text": (
        VLLM, 200, chat("stop", content='[{"name": "find", "arguments": {}}]'), False, "malformed_reply"),
    "JSON without arguments": (VLLM, 200, chat("stop", content='{"name": "find", "is": "open"}'), False, "reply/stop"),
    "an error inside a choice": (
        ROUTER, 200, {"choices": [{**chat("error")["choices"][0], "error": {"code": 502}}]}, False, "waited"),
    "Gemini's recitation": (GEMINI, 200, {**gemini_generate()[1], "candidates": [
        {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": "RECITATION"}]},
        False, "content_filter"),
}  # fmt: skip
"""Model, status and body, whether other conversations meet it too, and what it means after an answered request."""


@pytest.mark.parametrize("case", ANSWERS)
async def test_an_answer_after_an_answered_request_means(case: str) -> None:
    model, status, answer, of_account, meaning = ANSWERS[case]

    assert await outcome_of(Conversation((), status, answer=answer, of_account=of_account), model) == meaning


FIRST: dict[str, tuple[int, Any, str]] = {
    "400": (400, says("Nein, danke."), "model_refused_request"),
    "403": (403, says("go away"), "model_auth"),
    "404": (404, says("nothing here"), "model_not_found"),
    "404 as a page": (404, "<html>nothing here</html>", "model_not_found"),
    "a parameter": (400, says("temperature: input should be less than 1"), "model_refused_request"),
    "an answer that is too long": (
        400, says("max_tokens: 9000 > 8192, the most output tokens"), "model_refused_request"),
    "a server that broke down": (400, says("The worker has crashed."), "model_refused_request"),
    "a plan that is too small": (400, says("Your balance is insufficient."), "model_quota"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIRST)
async def test_a_refusal_before_any_answer_is_final_after_one_request(case: str) -> None:
    status, answer, meaning = FIRST[case]
    stub = Conversation((), status, answer=answer, first=True)

    assert (await outcome_of(stub, VLLM), len(stub.seen)) == (meaning, 1)


async def test_the_witness_is_a_request_for_one_token_with_the_same_key() -> None:
    stub = Conversation((), 400, answer=says("no"))

    await outcome_of(stub, GPT)

    (witness,) = stub.witnesses
    assert (len(witness["messages"]), witness["max_tokens"], "tools" in witness) == (1, 1, False)
    assert len({seen.headers["authorization"] for seen in stub.seen}) == 1


async def test_a_request_after_the_models_fault_has_another_seed() -> None:
    stub = Conversation((), 200, answer=chat("tired"))

    await outcome_of(stub, GPT)

    first, second, third = (seen.body["seed"] for seen in stub.seen)
    assert (first, (first + 1) % 2**31) == (second, third)


def _table() -> list[dict[str, Any]]:
    upstream = os.environ.get("OPSGYM_UPSTREAM")
    file = Path(upstream or "").parent / "cases" / "provider-answers.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n") if upstream and file.is_file() else []
    return [json.loads(line) for line in lines if line.strip()]


_REFUSED = frozenset({"context_overflow", "request_filter", "content_filter", "conversation_refused"})
_AGAIN = frozenset({"waited", "malformed_reply", "reply/empty", "model_unavailable"})
_MEANINGS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("failed/", _REFUSED.__contains__),
    ("infra/model_quota", "model_quota".__eq__),
    ("infra/model_not_found", "model_not_found".__eq__),
    ("infra|config", lambda meaning: meaning in ("model_refused_request", "conversation_refused")),
    ("model's own fault", lambda meaning: meaning in ("malformed_reply", "reply/tool_calls")),
    ("infra", "waited".__eq__),
    ("reply/content_filter", "content_filter".__eq__),
    ("reply/context_overflow", lambda meaning: meaning in ("context_overflow", "reply/length")),
    ("reply/length", "reply/length".__eq__),
    ("reply/stop", "reply/stop".__eq__),
    ("reply/tool_calls", "reply/tool_calls".__eq__),
    ("reply/2", "reply/tool_calls".__eq__),
    ("", _AGAIN.__contains__),
)
"""What an answer of the table means, by the begin of its `expected`."""


@pytest.mark.skipif(not _table(), reason="no table of answers beside OPSGYM_UPSTREAM")
async def test_answers_of_real_servers_are_judged_rightly() -> None:
    wrong = []
    for row in _table():
        of_account = row["expected"].startswith("infra/model_")
        stub = Conversation(
            (), row["status"], answer=row.get("body"), of_account=of_account, first=row.get("turn") == 1
        )
        if row["litellm_id"].startswith("cohere"):
            continue
        meaning = await outcome_of(stub, row["litellm_id"])
        if not next(accepts for begin, accepts in _MEANINGS if row["expected"].startswith(begin))(meaning):
            wrong.append(f"{row['id']}: {row['expected']}, not {meaning}")

    assert len(wrong) <= 0.05 * len(_table()), wrong
