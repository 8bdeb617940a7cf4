"""Model client that plays a script in this process.

Invariant: it differs from the client of a provider's model only in who answers: replies, usage, prices, limits and
spans take the same way. Neither litellm, whose import takes longer than an episode, nor a server is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import httpx

from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.chat_replies import chat_answer
from opsgym_runner.models.client import Call, Message, ModelClient, Reply, Target
from opsgym_runner.models.forward import AgentRequest, AnswerSink
from opsgym_runner.models.forwarder import Forwarder, RefusedRequestError
from opsgym_runner.models.raw_answers import RawAnswer
from opsgym_runner.models.replies import Answer
from opsgym_runner.models.retry import Retrier
from opsgym_runner.models.sending import Connections
from opsgym_runner.models.stream_shapes import DONE
from opsgym_runner.replay.completions import completion
from opsgym_runner.replay.scripts import Script


class ScriptedClient(ModelClient):
    """Client of a replay model for one episode.

    Args:
        target: The model.
        script: What it plays.
        retrier: Limits its calls.
        clock: Source of time.
        connections: Not used.
    """

    def __init__(
        self, target: Target, script: Script, retrier: Retrier, clock: Clock, connections: Connections
    ) -> None:
        super().__init__(target, retrier, clock, connections)
        self._script = script

    @property
    def script(self) -> Script:
        """What it plays."""
        return self._script

    async def ready(self) -> None:
        """Returns at once: nothing has to be imported."""

    def _arguments(self, messages: Sequence[Message], tools: Sequence[Message]) -> dict[str, Any]:
        request = {"model": self._target.litellm_id, "messages": list(messages)}
        return {**request, "tools": list(tools)} if tools else request

    async def _send(self, call: Call, endpoint: ModelEndpoint) -> tuple[Answer | None, Reply]:
        with self._traced_request(call, endpoint):
            body = completion(self._script, call.arguments, len(json.dumps(call.arguments)))
            answer = chat_answer(body, {})
            assert answer is not None
            return answer, self._reply(answer, RawAnswer(), ())


class ScriptedForwarder(Forwarder):
    """Answers one request of an agent that is not ours by the script of its model.

    Args:
        client: Client of the replay model.
        connections: Not used.
        clock: Source of time.
    """

    def __init__(self, client: ScriptedClient, connections: Connections, clock: Clock) -> None:
        super().__init__(client, connections, clock)
        self._script = client.script

    async def send(self, request: AgentRequest, sink: AnswerSink, agent: AgentClock) -> Reply:
        """Answers a chat completion; see `Forwarder.send`."""
        if request.wire != "chat":
            raise RefusedRequestError("a replay model is asked at /v1/chat/completions")
        return await self._retrier.call(partial(self._played, request, sink), agent=agent)

    async def _played(self, request: AgentRequest, sink: AnswerSink, _endpoint: ModelEndpoint) -> Reply:
        try:
            answer = completion(self._script, {**request.body, "model": self._target.model.name}, len(request.text))
        except (AttributeError, KeyError, TypeError):
            raise RefusedRequestError("messages must be a list of chat messages") from None
        raw, content = RawAnswer(), json.dumps(answer).encode()
        raw.read(httpx.Response(200), content)
        streamed = request.body.get("stream") is True
        sink.begin(200, {"content-type": "text/event-stream" if streamed else "application/json"})
        sink.write(_events_of(answer, request) if streamed else content)
        return self._reply(request, raw)


def _events_of(answer: Mapping[str, Any], request: AgentRequest) -> bytes:
    """A chat completion as a stream of one part, and its usage if the request asks for it."""
    (choice,) = answer["choices"]
    calls = [{"index": number, **call} for number, call in enumerate(choice["message"].get("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    head = {name: answer[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    part = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}]}
    parts = [part, {**head, "choices": [], "usage": answer["usage"]}] if request.asks_for_usage else [part]
    return "".join(f"data: {text}\n\n" for text in [*map(json.dumps, parts), DONE]).encode()
