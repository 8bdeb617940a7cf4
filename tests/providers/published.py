"""Requests of the published harness, field by field, and replies of providers to a scripted episode.

The bodies are facts: what the harness's LangChain clients send over HTTP for the same conversation. Where the runner's
client says the same in other words of the provider's API, `Family.normal` names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Calls:
    """A reply that requests tools, by name and arguments."""

    calls: Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Results:
    """Results of the calls of the reply before, in order."""

    texts: Sequence[str]


Turn = Calls | Results | str
"""After the first message: a reply's text, calls, results, or `User`."""


class User(str):
    """A later message of the user."""


@dataclass(frozen=True)
class Request:
    """A request: the system prompt (None without one), the first message of the user, and what followed."""

    system: str | None
    user: str
    turns: Sequence[Turn] = ()
    tools: bool = True


@dataclass(frozen=True)
class Family:
    """A family of providers: how it is called, how it replies, what the published harness sends to it."""

    model: str
    base: str
    reply: Callable[[Calls | str], Body]
    """Body of a reply."""
    body: Callable[[Request, Sequence[Body]], Body]
    """Published body of a request, given the tools as `{name, description, parameters}`."""
    normal: Callable[[Body], Body]
    """A body without differences that mean nothing to the provider."""
    parameters: Mapping[str, Any] = field(default_factory=dict)


# OpenAI's chat completions, and those that are compatible with them


def _chat_reply(turn: Calls | str) -> Body:
    message: Body = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if isinstance(turn, Calls):
        message["tool_calls"] = _chat_calls(turn)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if isinstance(turn, str) else "tool_calls"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _chat_calls(turn: Calls) -> list[Body]:
    return [
        {"type": "function", "id": f"call_{n}", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(turn.calls)
    ]


def _chat_messages(request: Request) -> list[Body]:
    messages: list[Body] = [] if request.system is None else [{"role": "system", "content": request.system}]
    messages.append({"role": "user", "content": request.user})
    for turn in request.turns:
        if isinstance(turn, Calls):
            messages.append({"role": "assistant", "content": None, "tool_calls": _chat_calls(turn)})
        elif isinstance(turn, Results):
            results = enumerate(turn.texts)
            messages += [{"role": "tool", "tool_call_id": f"call_{n}", "content": text} for n, text in results]
        else:
            messages.append({"role": "user" if isinstance(turn, User) else "assistant", "content": str(turn)})
    return messages


def _chat(**fixed: Any) -> Callable[[Request, Sequence[Body]], Body]:
    strict = fixed.pop("strict", {})

    def body(request: Request, tools: Sequence[Body]) -> Body:
        shown = [{"type": "function", "function": {**tool, **strict}} for tool in tools]
        return {
            **fixed,
            "stream": False,
            "messages": _chat_messages(request),
            **({"tools": shown} if request.tools else {}),
        }

    return body


def _normal_chat(body: Body) -> Body:
    """`stream: false` and `content: null` may be left out; on Azure the path names the model."""
    messages = [{name: value for name, value in one.items() if value is not None} for one in body["messages"]]
    return {**{name: value for name, value in body.items() if name not in ("stream", "model")}, "messages": messages}


# OpenAI's Responses


def _responses_reply(turn: Calls | str) -> Body:
    output: list[Body] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        output.append({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]})
    else:
        output += [{**call, "id": call["call_id"], "status": "completed"} for call in _responses_calls(turn)]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details},
    }  # fmt: skip


def _responses_calls(turn: Calls) -> list[Body]:
    return [
        {"type": "function_call", "call_id": f"call_{n}", "name": name, "arguments": json.dumps(arguments)}
        for n, (name, arguments) in enumerate(turn.calls)
    ]


def _responses(request: Request, tools: Sequence[Body]) -> Body:
    items: list[Body] = [] if request.system is None else [{"role": "system", "content": request.system}]
    items.append({"role": "user", "content": request.user})
    for turn in request.turns:
        if isinstance(turn, Calls):
            items += [{"type": "reasoning", "id": "rs_1", "summary": []}, *_responses_calls(turn)]
        elif isinstance(turn, Results):
            outputs = enumerate(turn.texts)
            items += [{"type": "function_call_output", "call_id": f"call_{n}", "output": text} for n, text in outputs]
        elif isinstance(turn, User):
            items.append({"role": "user", "content": str(turn)})
        else:
            items += [{"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "assistant", "content": turn}]
    shown = [{"type": "function", **tool, "strict": False} for tool in tools]
    fixed = {"model": "gpt-5", "max_output_tokens": 4096, "reasoning": {"effort": "high"}, "stream": False}
    return {**fixed, "input": items, **({"tools": shown} if request.tools else {})}


def _normal_responses(body: Body) -> Body:
    """`instructions` is a first system message; texts may be parts; items need no type, id of their own or status."""
    items = [{"role": "system", "content": body["instructions"]}] if "instructions" in body else []
    for item in [*items, *body["input"]]:
        one = {name: _text_of(value) for name, value in item.items() if name != "status"}
        if one.get("type") in (None, "message"):
            one = {"role": one["role"], "content": one["content"]}
        items.append(one)
    items = items[1:] if "instructions" in body else items
    return {**{name: value for name, value in body.items() if name != "instructions"}, "input": items}


def _text_of(value: Any) -> Any:
    parts = isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value)
    return "".join(part["text"] for part in value) if parts else value


# Anthropic


def _anthropic_reply(turn: Calls | str) -> Body:
    content = [{"type": "text", "text": turn}] if isinstance(turn, str) else _tool_uses(turn)
    reason, usage = "end_turn" if isinstance(turn, str) else "tool_use", {"input_tokens": 10, "output_tokens": 5}
    base = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
    return {**base, "content": content, "stop_reason": reason, "usage": usage}


def _tool_uses(turn: Calls) -> list[Body]:
    return [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": dict(arguments)}
        for n, (name, arguments) in enumerate(turn.calls)
    ]


def _anthropic(request: Request, tools: Sequence[Body]) -> Body:
    messages: list[Body] = [{"role": "user", "content": [{"type": "text", "text": request.user}]}]
    for turn in request.turns:
        if isinstance(turn, Calls):
            messages.append({"role": "assistant", "content": _tool_uses(turn)})
        elif isinstance(turn, Results):
            results = [
                {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": text, "is_error": False}
                for n, text in enumerate(turn.texts)
            ]
            messages.append({"role": "user", "content": results})
        else:
            role = "user" if isinstance(turn, User) else "assistant"
            messages.append({"role": role, "content": [{"type": "text", "text": str(turn)}]})
    shown = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in tools]
    fixed: Body = {"model": "claude-sonnet-4-5-20250929", "max_tokens": 4096, "temperature": 0.0, "messages": messages}
    system = {} if request.system is None else {"system": request.system}
    return {**fixed, **system, **({"tools": shown} if request.tools else {})}


def _normal_anthropic(body: Body) -> Body:
    """Cache markers change the price alone; `is_error` is false by default, a tool's type `custom`. Without tools the
    runner's client sends one that does nothing, because the API asks for tools where a conversation has calls.
    """
    plain = json.loads(json.dumps(body), object_hook=_unmarked)
    plain["tools"] = [tool for tool in plain.get("tools", []) if tool["name"] != "dummy_tool"]
    return {name: _text_of(value) if name == "system" else value for name, value in plain.items() if value != []}


def _unmarked(part: Body) -> Body:
    drop = {"cache_control": None, "is_error": False, "type": "custom"}
    return {name: value for name, value in part.items() if not (name in drop and drop[name] in (None, value))}


# Gemini


def _gemini_reply(turn: Calls | str) -> Body:
    parts = [{"text": turn}] if isinstance(turn, str) else _function_calls(turn)
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini"}


def _function_calls(turn: Calls) -> list[Body]:
    return [{"functionCall": {"name": name, "args": dict(arguments)}} for name, arguments in turn.calls]


def _gemini(request: Request, tools: Sequence[Body]) -> Body:
    contents: list[Body] = [{"role": "user", "parts": [{"text": request.user}]}]
    called: Sequence[tuple[str, Mapping[str, Any]]] = ()
    for turn in request.turns:
        if isinstance(turn, Calls):
            called = turn.calls
            contents.append({"role": "model", "parts": _function_calls(turn)})
        elif isinstance(turn, Results):
            parts = [
                {"functionResponse": {"name": name, "response": json.loads(text)}}
                for (name, _), text in zip(called, turn.texts, strict=True)
            ]
            contents.append({"role": "user", "parts": parts})
        else:
            contents.append({"role": "user" if isinstance(turn, User) else "model", "parts": [{"text": str(turn)}]})
    shown = {"tools": [{"functionDeclarations": list(tools)}]} if request.tools else {}
    system = {} if request.system is None else {"systemInstruction": {"parts": [{"text": request.system}]}}
    generation = {"temperature": 0.0, "candidateCount": 1, "maxOutputTokens": 4096}
    return {"contents": contents, **system, **shown, "generationConfig": generation, "safetySettings": []}


def _normal_gemini(body: Body) -> Body:
    """Names may be in snake case; one candidate and no safety settings are the defaults."""
    plain: Body = json.loads(json.dumps(body), object_hook=lambda part: {_CAMEL.get(n, n): v for n, v in part.items()})
    plain["generationConfig"].pop("candidateCount", None)
    return {name: value for name, value in plain.items() if value != []}


_CAMEL = {
    "system_instruction": "systemInstruction", "function_declarations": "functionDeclarations",
    "function_call": "functionCall", "function_response": "functionResponse", "max_output_tokens": "maxOutputTokens",
}  # fmt: skip


# Amazon Bedrock


def _bedrock_reply(turn: Calls | str) -> Body:
    content = [{"text": turn}] if isinstance(turn, str) else _bedrock_calls(turn)
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    reason = "end_turn" if isinstance(turn, str) else "tool_use"
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


def _bedrock_calls(turn: Calls) -> list[Body]:
    return [
        {"toolUse": {"toolUseId": f"tooluse_{n}", "name": name, "input": dict(arguments)}}
        for n, (name, arguments) in enumerate(turn.calls)
    ]


def _bedrock(request: Request, tools: Sequence[Body]) -> Body:
    messages: list[Body] = [{"role": "user", "content": [{"text": request.user}]}]
    for turn in request.turns:
        if isinstance(turn, Calls):
            content = _bedrock_calls(turn) if request.tools else [{"text": "[calls]"}]
            messages.append({"role": "assistant", "content": content})
        elif isinstance(turn, Results):
            results: list[Body] = [
                {"toolResult": {"toolUseId": f"tooluse_{n}", "content": [{"text": text}], "status": "success"}}
                for n, text in enumerate(turn.texts)
            ]
            messages.append({"role": "user", "content": results if request.tools else [{"text": "[results]"}]})
        else:
            role = "user" if isinstance(turn, User) else "assistant"
            messages.append({"role": role, "content": [{"text": str(turn)}]})
    specs = [
        {"name": t["name"], "description": t["description"], "inputSchema": {"json": t["parameters"]}} for t in tools
    ]
    system = {} if request.system is None else {"system": [{"text": request.system}]}
    shown = {"toolConfig": {"tools": [{"toolSpec": spec} for spec in specs]}} if request.tools else {}
    return {"messages": messages, **system, "inferenceConfig": {"maxTokens": 4096, "temperature": 0.0}, **shown}


def _normal_bedrock(body: Body) -> Body:
    """Cache points change the price alone; the default status is `success`, and by default no argument is required. In
    a request without tools both clients write calls and results as text, each in its own words.
    """
    plain: Body = json.loads(json.dumps(body), object_hook=_without_cache_points)
    for message in plain["messages"]:
        for word in ("call", "result"):
            if all(part.get("text", "").startswith(f"[tool {word}") for part in message["content"]):
                message["content"] = [{"text": f"[{word}s]"}]
    return plain


def _without_cache_points(part: Body) -> Body:
    lists = {
        name: [item for item in value if not (isinstance(item, dict) and item.keys() <= {"cachePoint"})]
        for name, value in part.items()
        if isinstance(value, list)
    }
    defaults = [("status", "success"), ("required", [])]
    return {name: value for name, value in {**part, **lists}.items() if (name, value) not in defaults}


_SAMPLED = {"max_completion_tokens": 4096, "temperature": 0.0}
_API = {"api_version": "2025-04-01-preview"}
_EFFORT = {"reasoning": {"effort": "high"}}

FAMILIES: Mapping[str, Family] = {
    "openai": Family("openai/gpt-4.1", "/v1", _chat_reply, _chat(**_SAMPLED), _normal_chat),
    "openai gpt-5": Family("openai/gpt-5", "/v1", _chat_reply, _chat(max_completion_tokens=4096), _normal_chat),
    "openai responses": Family(
        "openai/gpt-5", "/v1", _responses_reply, _responses, _normal_responses, {"reasoning_effort": "high"}
    ),
    "azure": Family("azure/gpt-4.1", "", _chat_reply, _chat(**_SAMPLED), _normal_chat, _API),
    "azure with effort": Family(
        "azure/gpt-5", "", _chat_reply,
        _chat(max_completion_tokens=4096, reasoning_effort="high", strict={"strict": False}), _normal_chat,
        {**_API, "reasoning_effort": "high"},
    ),
    "vllm": Family(
        "hosted_vllm/m", "/v1", _chat_reply, _chat(**_SAMPLED, **_EFFORT), _normal_chat, {"extra_body": _EFFORT}
    ),
    "deepseek": Family(
        "deepseek/deepseek-chat", "", _chat_reply, _chat(max_tokens=4096, temperature=0.0, **_EFFORT), _normal_chat,
        {"extra_body": _EFFORT},
    ),
    "anthropic": Family(
        "anthropic/claude-sonnet-4-5-20250929", "", _anthropic_reply, _anthropic, _normal_anthropic
    ),
    "gemini": Family("gemini/gemini-2.5-pro", "/v1beta", _gemini_reply, _gemini, _normal_gemini),
    "bedrock": Family(
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", _bedrock_reply, _bedrock, _normal_bedrock,
        {"aws_region_name": "us-west-2"},
    ),
}  # fmt: skip
