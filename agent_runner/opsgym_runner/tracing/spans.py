"""Names, events and attributes of spans, after OpenTelemetry's conventions for generative AI where they exist.

Invariant: no attribute contains content (prompts, answers, arguments, results), except those of `chat_content`,
`reply_content` and `tool_content`, which are computed only if content capture is on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from opsgym_api.records.attempt import AttemptRecord, VerifierResult
from opsgym_runner.job import Job, ModelEndpoint, ResolvedModel
from opsgym_runner.tracing.tracer import Attributes

REQUEST = "opsgym.model.request"
"""Event of a `chat` span: one request was answered or failed."""
EVALUATION = "gen_ai.evaluation.result"
"""Event of the span `verify`: the result of one verifier."""
UNKNOWN_TOOL = "_OTHER"
"""Tool name in spans of calls to unknown tools: the real name is text of the model."""
TOOL_ERROR = "tool_error"
"""Error type of a tool call with an error result, by the conventions for MCP."""

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""Provider names of the conventions, by litellm's prefix where the two differ."""
_PARAMETERS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
}


def episode_name(job: Job) -> str:
    """Name of an episode's span."""
    return f"invoke_agent {job.agent.name}"


def shared_attributes(job: Job) -> Attributes:
    """Attributes of every span of an episode, which identify the attempt."""
    cell = job.cell
    return {
        "gen_ai.conversation.id": f"{job.run}/{cell.key}/{job.task.task_id}/{job.trial}/{job.attempt}",
        "opsgym.run": job.run,
        "opsgym.task": job.task.task_id,
        "opsgym.trial": job.trial,
        "opsgym.attempt": job.attempt,
    }


def episode_attributes(job: Job) -> Attributes:
    """Attributes of an episode's span, known at its start."""
    cell = job.cell
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": job.agent.name,
        **_model(job.model),
        "opsgym.model": cell.model,
        "opsgym.agent": cell.agent,
        "opsgym.mode": cell.mode,
        "opsgym.domain": cell.domain,
    }


def outcome_attributes(record: AttemptRecord) -> Attributes:
    """Attributes of an episode's span, known at its end."""
    return {
        "opsgym.outcome": None if record.outcome is None else record.outcome.value,
        "opsgym.reason": record.reason or None,
        "opsgym.steps": record.steps,
        "opsgym.tool_calls": record.tool_calls,
        "opsgym.model_retries": record.model_retries,
        "opsgym.cost_usd": record.cost_usd,
        "gen_ai.usage.input_tokens": record.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": record.usage.completion_tokens,
    }


def chat_attributes(model: ResolvedModel, role: str, seed: int | None = None) -> Attributes:
    """Attributes of a model call, known at its start.

    Args:
        model: The model.
        role: `planner`, `judge`, or empty for the agent.
        seed: Seed of the trial's requests; None for none, or one that the model's parameters set.
    """
    sent = {**({} if seed is None else {"seed": seed}), **model.parameters}
    parameters = {_PARAMETERS[name]: sent[name] for name in _PARAMETERS if name in sent}
    return {
        "gen_ai.operation.name": "chat",
        **_model(model),
        **parameters,
        "opsgym.model": model.name,
        "opsgym.role": role or None,
    }


def reply_attributes(reply: Any, answer: Any) -> Attributes:
    """Attributes of a model call, known at its end.

    Args:
        reply: The `client.Reply`.
        answer: The `replies.Answer`; None if the provider answered with an error about what its model wrote.
    """
    usage = reply.usage
    return {
        "gen_ai.response.id": _text(answer and (answer.id or None)),
        "gen_ai.response.model": _text(answer and (answer.provenance.model or None)),
        "gen_ai.response.finish_reasons": [answer.finish_reason] if answer else [],
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "opsgym.cost_usd": reply.cost_usd,
    }


def request_attributes(
    number: int, endpoint: ModelEndpoint, seconds: float, failure: BaseException | None
) -> Attributes:
    """Attributes of one request of a model call.

    Args:
        number: Number of the request, from 1; those after the first are retries.
        endpoint: Where it was sent.
        seconds: Duration of the request.
        failure: The exception that it ended with; None if it was answered.
    """
    return {
        "opsgym.request.number": number,
        "opsgym.request.seconds": round(seconds, 6),
        "opsgym.request.retry_after_seconds": getattr(failure, "retry_after_s", None),
        "error.type": None if failure is None else str(getattr(failure, "reason", type(failure).__qualname__)),
        **server_attributes(endpoint),
    }


def server_attributes(endpoint: ModelEndpoint) -> Attributes:
    """Address of an endpoint; empty for the provider's public one."""
    if endpoint.url is None:
        return {}
    address = urlsplit(endpoint.url)
    return {"server.address": address.hostname, "server.port": address.port}


def tool_attributes(name: str, call_id: str, gym: str | None) -> Attributes:
    """Attributes of a tool call.

    Args:
        name: The gym's own name of the tool.
        call_id: The model's id of the call.
        gym: Gym server of the tool; None for an unknown tool.
    """
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call_id,
        "opsgym.gym": gym,
    }


def evaluation_attributes(result: VerifierResult) -> Attributes:
    """Attributes of a verifier's result."""
    return {
        "gen_ai.evaluation.name": result.name or f"verifier {result.index}",
        "gen_ai.evaluation.score.value": float(result.passed),
        "gen_ai.evaluation.score.label": "pass" if result.passed else "fail",
        "opsgym.verifier.index": result.index,
        "opsgym.verifier.type": result.verifier_type,
        "opsgym.verifier.category": str(result.category),
    }


def chat_content(messages: Sequence[Mapping[str, Any]]) -> Attributes:
    """The messages of a model call."""
    return {"gen_ai.input.messages": [_message_parts(message) for message in messages]}


def reply_content(message: Mapping[str, Any], finish_reason: str) -> Attributes:
    """The reply of a model call."""
    return {"gen_ai.output.messages": [{**_message_parts(message), "finish_reason": finish_reason}]}


def tool_content(arguments: Mapping[str, Any], result: Mapping[str, Any] | None) -> Attributes:
    """Arguments and result of a tool call."""
    return {"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result}


def _model(model: ResolvedModel) -> Attributes:
    prefix, separator, name = model.model.partition("/")
    if not separator:
        return {"gen_ai.request.model": model.model}
    return {"gen_ai.provider.name": _PROVIDERS.get(prefix, prefix), "gen_ai.request.model": name}


def _message_parts(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in OpenAI's shape as the conventions have it: a role and parts."""
    role, content = str(message.get("role", "")), message.get("content")
    if role == "tool":
        answer = {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}
        return {"role": role, "parts": [answer]}
    texts = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    parts = [{"type": "text", "content": part["text"]} for part in texts if part.get("text")]
    calls = [
        {"type": "tool_call", "id": call.get("id"), **_called(call.get("function") or {})}
        for call in message.get("tool_calls") or ()
    ]
    return {"role": role, "parts": [*parts, *calls]}


def _called(function: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": function.get("name"), "arguments": function.get("arguments")}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
