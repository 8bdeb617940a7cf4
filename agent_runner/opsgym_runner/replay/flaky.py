"""Fault injection around a replay model (`replay/flaky`): provider faults at given rates.

Invariant: the fault of a request is a function of the seed, the attempt and the request's number in it, so a run meets
the same faults wherever and however often it runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from opsgym_api.base import Document
from opsgym_api.errors import Problem
from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.validation import problems_of
from opsgym_runner.errors import config_error
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.replay.completions import MALFORMED
from opsgym_runner.replay.scripts import FLAKY


class Fault(StrEnum):
    """Fault of one request."""

    RATE_LIMIT = "rate_limit"
    RATE_LIMIT_RETRY_AFTER = "rate_limit_retry_after"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CUT_STREAM = "cut_stream"
    MALFORMED_TOOL_CALL = "malformed_tool_call"


Rate = Annotated[float, Field(ge=0, le=1)]


class Rates(Document):
    """Share of requests that meet each fault; the rest are answered."""

    rate_limit: Rate = 0.0
    """HTTP 429 without `Retry-After`."""
    rate_limit_retry_after: Rate = 0.0
    """HTTP 429 with `Retry-After`."""
    server_error: Rate = 0.0
    """HTTP 500."""
    timeout: Rate = 0.0
    """No answer at all."""
    cut_stream: Rate = 0.0
    """The connection is closed in the middle of the answer."""
    malformed_tool_call: Rate = 0.0
    """The reply's tool call has truncated arguments, arguments that are not an object, or an unknown tool."""

    @model_validator(mode="after")
    def _shares_of_one(self) -> Rates:
        total = sum(self.of(fault) for fault in Fault)
        if total > 1 + 1e-9:
            raise ValueError(f"a request meets one fault at most, so rates sum to 1 at most; these sum to {total:g}")
        return self

    def of(self, fault: Fault) -> float:
        """Share of requests that meet a fault."""
        rate: float = getattr(self, fault.value)
        return rate


class FlakyParameters(Document):
    """Parameters of a `replay/flaky` model."""

    of: Literal["gold", "noop"] = "gold"
    """The replay model around which faults are injected."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the draws; runs with the same seed meet the same faults."""
    rates: Rates = Rates()
    """Share of requests by fault."""
    retry_after: Annotated[float, Field(ge=0, le=3600)] = 1.0
    """Seconds in the `Retry-After` of a 429."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 2.0
    """Timeout of a request in seconds."""


def flaky_problems(model: str, parameters: Mapping[str, Any]) -> list[Problem]:
    """Problems of a flaky model's parameters; empty for any other model."""
    if model != FLAKY:
        return []
    try:
        FlakyParameters.model_validate(parameters)
    except ValidationError as error:
        return problems_of(error, model=FlakyParameters)
    return []


@dataclass(frozen=True)
class Draw:
    """Draw for one request."""

    fault: Fault | None
    """None if the request is answered."""
    chance: float
    """From [0, 1), for choices within the fault."""


class Faults:
    """The faults of one attempt, request by request.

    Args:
        parameters: Seed and rates.
        attempt: Name of the attempt; other names give other faults.
    """

    def __init__(self, parameters: FlakyParameters, attempt: str) -> None:
        self.parameters = parameters
        self._attempt = attempt
        self._requests = 0

    def draw(self) -> Draw:
        """Draws for the next request."""
        key = f"{self.parameters.seed}/{self._attempt}/{self._requests}"
        self._requests += 1
        digest = hashlib.sha256(key.encode()).digest()
        chance, other = (int.from_bytes(part) / 2**64 for part in (digest[:8], digest[8:16]))
        for fault in Fault:
            rate = self.parameters.rates.of(fault)
            if chance < rate:
                return Draw(fault, other)
            chance -= rate
        return Draw(None, other)


def faults_of(model: ResolvedModel, job: Job, role: str = "") -> Faults:
    """The faults of a flaky model in a job's attempt.

    Args:
        model: The model.
        job: The attempt.
        role: `PLANNER`, `JUDGE`, or empty for the agent.

    Raises:
        NotScored: The model's parameters are invalid.
    """
    problems = flaky_problems(model.model, model.parameters)
    if problems:
        listed = "; ".join(str(problem) for problem in problems)
        raise config_error(ConfigReason.UNSUPPORTED, f"model {model.name}: parameters: {listed}")
    attempt = f"{model.name}/{role}/{job.cell.key}/{job.task.task_id}/{job.trial}/{job.attempt}"
    return Faults(FlakyParameters.model_validate(model.parameters), attempt)


async def faulty(fault: Fault, parameters: FlakyParameters, request: Request) -> Response:
    """The response to a request with a fault other than a malformed tool call."""
    if fault is Fault.TIMEOUT:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        return Response(status_code=504)  # the client has disconnected
    if fault is Fault.CUT_STREAM:
        return _CutResponse()
    if fault is Fault.SERVER_ERROR:
        return _refusal(500, "injected: the server failed")
    headers = {"Retry-After": f"{parameters.retry_after:g}"} if fault is Fault.RATE_LIMIT_RETRY_AFTER else {}
    return _refusal(429, "injected: too many requests", headers)


def _refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "type": "injected"}}, status, headers)


class _CutResponse(Response):
    """Announces a body and closes the connection in the middle of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Sends the beginning of the body."""
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id":', "more_body": False})


def malformed(message: Mapping[str, Any], chance: float) -> dict[str, Any]:
    """A reply with its first tool call malformed in one of three ways; a reply without a call is returned unchanged.

    Args:
        message: The reply.
        chance: From [0, 1); chooses the way.
    """
    if not message.get("tool_calls"):
        return dict(message)
    call = message["tool_calls"][0]
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    ways = (
        {"name": name, "arguments": arguments[:-1]},
        {"name": name, "arguments": json.dumps([arguments])},
        {"name": f"{name}_that_is_not_there", "arguments": arguments},
    )
    function = ways[int(chance * len(ways))]
    return {**message, "tool_calls": [{**call, "id": f"{MALFORMED}{call['id']}", "function": function}]}
