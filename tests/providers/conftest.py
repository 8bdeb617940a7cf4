"""What the providers' tests share: a conversation of two turns through the runner's own client."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest
from pydantic import SecretStr
from tests.providers.stubs import ANSWER, ARGUMENTS
from tests.runner.jobs import NO_JITTER, FakeTime, make_job

from opsgym_api.kinds.evalmodel import Streaming
from opsgym_runner.clients import ModelRegistry
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.client import Message, Reply
from opsgym_runner.models.prices import known_prices

KEY = "key-5e1f0c2b9d"
SYSTEM = "Obey the policy."
ASKED = "What of INC1 and INC2?"
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Finds an incident.",
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]},
    },
}
Talk = Callable[..., Awaitable[Sequence[Reply]]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_credentials_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.startswith(("AWS_", "GOOGLE_", "VERTEX")):
            monkeypatch.delenv(name)


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    """Asks, carries out both calls, asks again; checks what every provider must bring about."""
    clients = ModelRegistry(NO_JITTER, FakeTime().clock)

    async def converse(
        model: str, url: str, key: str | None = KEY, stream: Streaming = "auto", **parameters: Any
    ) -> Sequence[Reply]:
        endpoint = ModelEndpoint(url, None if key is None else SecretStr(key))
        prices = known_prices(model)
        resolved = ResolvedModel("m", model, (endpoint,), {"timeout": 20, **parameters}, stream, prices=prices)
        messages: list[Message] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
        async with clients.client_of(resolved, make_job("http://gym")) as client:
            first = await client.complete(messages, [TOOL], math.inf)
            results = (
                {"role": "tool", "tool_call_id": request.id, "content": f"{request.arguments} is open"}
                for request in first.requests
            )
            messages += [first.message, *results]
            second = await client.complete(messages, [TOOL], math.inf)
        assert [(request.name, request.arguments, request.problem) for request in first.requests] == [
            ("find", arguments, "") for arguments in ARGUMENTS
        ]
        assert len({request.id for request in first.requests}) == 2
        assert (second.text, second.requests) == (ANSWER, ())
        return first, second

    yield converse
    await clients.close()
