"""Model client that plays a script in this process.

Invariant: it differs from the client of a provider's model only in who answers: replies, usage, prices, limits and
spans take the same way. Neither litellm, whose import takes longer than an episode, nor a server is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.client import Call, Message, ModelClient, Reply, Target
from opsgym_runner.models.raw_answers import RawAnswer
from opsgym_runner.models.retry import Retrier
from opsgym_runner.replay.completions import completion
from opsgym_runner.replay.scripts import Script


class ScriptedClient(ModelClient):
    """Client of a replay model for one episode.

    Args:
        target: The model.
        script: What it plays.
        retrier: Limits its calls.
        clock: Source of time.
    """

    def __init__(self, target: Target, script: Script, retrier: Retrier, clock: Clock) -> None:
        super().__init__(target, retrier, clock)
        self._script = script

    async def ready(self) -> None:
        """Returns at once: nothing has to be imported."""

    def _arguments(self, messages: Sequence[Message], tools: Sequence[Message]) -> dict[str, Any]:
        request = {"model": self._target.litellm_id, "messages": list(messages)}
        return {**request, "tools": list(tools)} if tools else request

    async def _send(self, call: Call, endpoint: ModelEndpoint) -> tuple[Any, Reply]:
        with self._traced_request(call, endpoint):
            answer = completion(self._script, call.arguments, len(json.dumps(call.arguments)))
            response = _response(answer)
            return response, self._reply(response, RawAnswer(), ())


@dataclass(frozen=True)
class _Message:
    """A reply as clients read it."""

    fields: Mapping[str, Any]

    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        """The fields by name."""
        return {name: value for name, value in self.fields.items() if value is not None or not exclude_none}


def _response(answer: Mapping[str, Any]) -> Any:
    """A chat completion as an object with the attributes of litellm's."""
    (choice,) = answer["choices"]
    read = SimpleNamespace(message=_Message(choice["message"]), finish_reason=choice["finish_reason"])
    usage = SimpleNamespace(**answer["usage"])
    return SimpleNamespace(id=answer["id"], model=answer["model"], choices=[read], usage=usage)
