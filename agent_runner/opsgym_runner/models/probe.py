"""One tool turn against a model's real endpoint, and what it shows about the endpoint.

Invariant: a probe sends at most four requests of a few hundred tokens, retries nothing that failed, and books every
reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import FinishReason
from opsgym_runner.clock import Clock
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.client import Message, ModelClient, Reply, Target
from opsgym_runner.models.direct import direct_provider
from opsgym_runner.models.endpoints import EndpointPool
from opsgym_runner.models.limiter import ConcurrencyLimiter
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.price_map import listed
from opsgym_runner.models.retry import Retrier, RetryPolicy
from opsgym_runner.models.sending import Connections
from opsgym_runner.models.streaming import is_streamed

TOOL: Message = {
    "type": "function",
    "function": {
        "name": "get_status",
        "description": "Returns the status of an incident.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "string", "description": "Number of the incident"}},
            "required": ["number"],
        },
    },
}
QUESTION = (
    "Call get_status for the incidents INC1 and INC2, both calls in one reply. Then answer with both statuses in one "
    "sentence."
)
_STATUS = "on hold"
_REASONING = ("reasoning", "reasoning_details", "reasoning_content", "reasoning_items", "thinking_blocks")


@dataclass(frozen=True)
class Probe:
    """What one tool turn showed."""

    calls: int
    """Well-formed calls in the first reply."""
    call_in_text: bool
    """Whether the first reply has a call in its text: the server's parser of tool calls is off or does not fit."""
    reasoning: bool
    """Whether the reply has reasoning that goes back into the conversation."""
    answered: bool
    """Whether the model used the tool's results in its answer."""
    finishes: tuple[str, ...]
    """Finish reason of each reply."""
    usage: Usage
    cost_usd: float | None
    """None if it is unknown."""
    rate_limit_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers about rate limits, of the last reply."""


async def probe(model: ResolvedModel, clock: Clock) -> Probe:
    """Asks a model for two tool calls, answers them and reads its answer.

    Raises:
        ModelFailure: The endpoint refuses or cannot be reached.
        AgentFailed: The provider's filter refuses the conversation, or it exceeds the model's context.
    """
    retrier = Retrier(EndpointPool(model.endpoints, clock), ConcurrencyLimiter(1), RetryPolicy(total_wait_s=0), clock)
    streamed = is_streamed(model.model, model.endpoints, model.stream)
    async with Connections() as connections:
        client = ModelClient(Target(model, model.model, streamed=streamed), retrier, clock, connections)
        messages: list[Message] = [{"role": "user", "content": QUESTION}]
        replies = [await client.complete(messages, [TOOL])]
        requests = replies[0].requests
        if requests:
            results = [{"role": "tool", "tool_call_id": call.id, "content": _STATUS} for call in requests]
            replies.append(await client.complete([*messages, replies[0].message, *results], [TOOL]))
    return Probe(
        calls=sum(call.name == "get_status" and not call.problem for call in requests),
        call_in_text=replies[0].finish is FinishReason.CALL_IN_TEXT,
        reasoning=_has_reasoning(replies[0].message),
        answered=len(replies) > 1 and _STATUS in replies[1].text.lower(),
        finishes=tuple(reply.finish.value for reply in replies),
        usage=sum((reply.usage for reply in replies), Usage()),
        cost_usd=_total(replies),
        rate_limit_headers=replies[-1].rate_limit_headers,
    )


def context_length(model: str) -> int | None:
    """Prompt tokens that a litellm id takes, by litellm's map; None if it is not listed."""
    if direct_provider(model) is not None:
        return (listed(model) or {}).get("max_input_tokens")
    try:
        size = load_litellm().get_model_info(model).get("max_input_tokens")
    except Exception:  # noqa: BLE001 litellm raises a bare Exception for an unmapped model
        return None
    return int(size) if size else None


def _has_reasoning(message: Mapping[str, Any]) -> bool:
    kept_by_litellm = message.get("provider_specific_fields") or {}
    return any(message.get(name) for name in _REASONING) or bool(kept_by_litellm.get("thought_signatures"))


def _total(replies: list[Reply]) -> float | None:
    costs = [reply.cost_usd for reply in replies]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
