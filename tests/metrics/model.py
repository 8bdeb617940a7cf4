"""A model endpoint on real HTTP whose answer depends on the name of the task."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.runner.servers import serving
from tests.runner.stub_model import completion, refuses, says

INPUT_USD = 1e6 / 2**16
OUTPUT_USD = 1e6 / 2**20
"""Prices of a million tokens in USD. The cost of a reply is a binary fraction, so sums of costs are exact."""


@dataclass
class NamedModel:
    """Solves `good-…`, fails `bad-…`, refuses the first `busy-…` with 429, answers `gone-…` without a reply, blocks on
    `held-…`.
    """

    url: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    """Number of requests by task name."""
    released: bool = False
    available: bool = False
    """Whether `gone-…` is solved, too."""

    async def _complete(self, request: Request) -> Response:
        prompt = (await request.json())["messages"][-1]["content"]
        task = prompt.rstrip(".").rpartition(" ")[2]
        self.requests[task] += 1
        match task.partition("-")[0]:
            case "bad":
                return says("I do not know.")
            case "busy" if self.requests[task] == 1:
                return refuses(429, headers={"Retry-After": "0.2"})
            case "gone" if not self.available:
                return completion({}, choices=[])
            case "held":
                while not self.released and not await request.is_disconnected():  # noqa: ASYNC110 - set by a thread
                    await asyncio.sleep(0.01)
        return says("All done.")

    @property
    def inline(self) -> dict[str, Any]:
        """The model as an EvalRun has it."""
        prices = {"inputUsd": INPUT_USD, "outputUsd": OUTPUT_USD}
        return {"model": "openai/stub", "endpoints": [{"url": self.url}], "prices": prices, "maxConcurrency": 8}

    @classmethod
    @contextmanager
    def serving(cls) -> Iterator[NamedModel]:
        """Serves one."""
        model = cls()
        app = Starlette(routes=[Route("/v1/chat/completions", model._complete, methods=["POST"])])
        with serving(app) as url:
            model.url = f"{url}/v1"
            yield model
            model.released = True
