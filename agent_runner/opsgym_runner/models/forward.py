"""Requests of an agent that is not ours, sent on to its model; what they cost and say is read from a copy.

Invariant: the agent's bytes reach the provider as they are, but for `model`, and for `stream_options` where a stream
would not state its usage; the provider's bytes reach the agent as they are. A request is repeated only while the agent
has read nothing of its answer. No credential of a provider is in what the agent reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from opsgym_api.records.outcomes import FinishReason
from opsgym_core.common.foreign import read_json
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.direct import direct_provider
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import REPLAY
from opsgym_runner.models.raw_answers import RawAnswer
from opsgym_runner.models.replies import Provenance, finish_of, provenance_of, text_of
from opsgym_runner.models.stream_shapes import AnthropicAnswer, ChatAnswer, ResponsesAnswer, StreamedAnswer

Wire = Literal["chat", "responses", "messages"]
"""Protocols of agents: OpenAI's chat completions and Responses, Anthropic's messages."""
PATHS: Mapping[Wire, str] = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}
"""End of a protocol's address."""
SHAPES: Mapping[Wire, type[StreamedAnswer]] = {
    "chat": ChatAnswer,
    "responses": ResponsesAnswer,
    "messages": AnthropicAnswer,
}
SENT_HEADERS = ("content-type", "accept", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta")
"""Headers of the agent that its provider gets; all others stay here."""
READ_HEADERS = ("content-type", "request-id", "x-request-id")
"""Headers of the provider that the agent gets."""
_ANTHROPIC = "anthropic"
_BASES = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    _ANTHROPIC: "https://api.anthropic.com",
    "mistral": "https://api.mistral.ai/v1",
}
"""Addresses of providers that litellm knows by name and states no address of."""
_USAGE = {"include_usage": True}


class AnswerSink(Protocol):
    """Takes an answer for the agent, as it arrives."""

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Takes status and headers; called once, before any content."""
        ...

    def write(self, content: bytes) -> None:
        """Takes a part of the body."""
        ...


@dataclass(frozen=True)
class AgentRequest:
    """A request of an agent to its model."""

    wire: Wire
    text: str
    """The body as the agent wrote it."""
    body: Mapping[str, Any]
    """The same, read."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With names in lower case."""
    query: str = ""

    @classmethod
    def read(cls, wire: Wire, content: bytes, headers: Mapping[str, str], query: str = "") -> AgentRequest:
        """Reads a request.

        Raises:
            ValueError: The body is not a JSON object, or has a field twice, of which its provider may read the other.
        """
        text = content.decode()
        body = read_json(text, unique=True)
        if not isinstance(body, dict):
            raise ValueError("it is not an object")  # noqa: TRY004 of the agent's, as any other JSON
        return cls(wire, text, body, headers, query)

    @property
    def asks_for_usage(self) -> bool:
        """Whether the answer states its usage without being asked by us."""
        options = self.body.get("stream_options")
        includes = isinstance(options, dict) and options.get("include_usage") is True
        return self.wire != "chat" or self.body.get("stream") is not True or includes

    def for_provider(self, model: str) -> str:
        """The body with the name by which the provider knows the model."""
        changes: dict[str, Any] = {"model": model}
        if not self.asks_for_usage:
            options = self.body.get("stream_options")
            changes["stream_options"] = {**(options if isinstance(options, dict) else {}), **_USAGE}
        return with_fields(self.text, changes)

    @property
    def messages(self) -> list[dict[str, str]]:
        """System and user messages as texts, in order, for the transcript; other messages are empty."""
        opening = self.body.get("system") if self.wire == "messages" else self.body.get("instructions")
        listed = self.body.get("input") if self.wire == "responses" else self.body.get("messages")
        items = [{"role": "user", "content": listed}] if isinstance(listed, str) else listed
        messages = [{"role": "system", "content": opening}] if opening else []
        messages += [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        return [_spoken(message) for message in messages]


def _spoken(message: Mapping[str, Any]) -> dict[str, str]:
    role = "system" if message.get("role") == "developer" else str(message.get("role") or "")
    text = text_of(message.get("content"))
    return {"role": role if role in ("system", "user") and text else "", "content": text}


_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
"""Finds where values end; what they are does not matter."""
_SPACE = re.compile(r"[ \t\r\n]*")


def with_fields(text: str, changes: Mapping[str, Any]) -> str:
    """A JSON object with other values of some fields; every other character stays as it is.

    Args:
        text: The object.
        changes: Values by field. A field that the object lacks is added at its end.
    """
    written = {name: json.dumps(value) for name, value in changes.items()}
    end = 0
    parts: list[str] = []
    missing = dict(written)
    position = _after_space(text, _after_space(text, 0) + 1)
    empty = text[position] == "}"
    while text[position] != "}":
        name, position = _DECODER.raw_decode(text, position)
        start = _after_space(text, _after_space(text, position) + 1)
        _, position = _DECODER.raw_decode(text, start)
        if name in written:
            parts += [text[end:start], written[name]]
            missing.pop(name, None)
            end = position
        position = _after_space(text, position)
        if text[position] == ",":
            position = _after_space(text, position + 1)
    added = ", ".join(f"{json.dumps(name)}: {value}" for name, value in missing.items())
    separator = ", " if added and not empty else ""
    return "".join([*parts, text[end:position], separator, added, text[position:]])


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


@dataclass(frozen=True)
class Provider:
    """How a model's provider is called."""

    model: str
    """Name by which it knows the model."""
    base: str
    """Its public address; empty if it has none."""
    key: str | None
    """Key in its usual variable; None if there is none."""
    anthropic: bool
    """Whether it speaks Anthropic's protocol."""

    def takes(self, wire: Wire, url: str | None) -> bool:
        """Whether it takes a protocol. A server at an address of its own may take all, and says itself if not.

        Args:
            wire: The protocol.
            url: Address of the endpoint; None for the public one.
        """
        return wire == "messages" if self.anthropic else wire != "messages" or url is not None

    def address(self, wire: Wire, url: str | None) -> str:
        """Where requests of a protocol go."""
        base = (url or self.base).rstrip("/")
        if base.endswith(PATHS[wire]):
            return base
        version = "/v1" if self.anthropic and not base.endswith("/v1") else ""
        return f"{base.removesuffix(PATHS['chat'])}{version}{PATHS[wire]}"

    def authorisation(self, key: str | None) -> dict[str, str]:
        """Headers with a key, or with that of the usual variable."""
        used = key or self.key
        if used is None:
            return {}
        return {"x-api-key": used} if self.anthropic else {"authorization": f"Bearer {used}"}


def provider_of(model: str, environment: Mapping[str, str]) -> Provider | None:
    """How a model's provider is called; None if it speaks neither OpenAI's protocols nor Anthropic's.

    Args:
        model: litellm id.
        environment: Environment variables.
    """
    if (direct := direct_provider(model)) is not None:
        return Provider(
            model.partition("/")[2], direct.base_in(environment), direct.key_in(environment), anthropic=False
        )
    litellm = load_litellm()
    try:
        name, provider, key, base = litellm.get_llm_provider(model)
    except Exception:  # noqa: BLE001 litellm raises errors of its own for an unknown provider
        return None
    if provider not in _BASES and provider not in litellm.openai_compatible_providers:
        return None
    usual = environment.get(f"{provider.upper()}_API_KEY") or key
    address = base or _BASES.get(provider, "")
    return Provider(name.removeprefix("responses/"), address, usual, provider == _ANTHROPIC)


def unforwardable(model: str, environment: Mapping[str, str]) -> str | None:
    """Message for a model that no agent with a command can use; None if it can."""
    if provider_of(model, environment) is not None:
        return None
    return (
        f"{model}: its provider speaks neither OpenAI's protocols nor Anthropic's, one of which an agent with a command"
        " needs; name a model of such a provider, or a server that translates (EvalModel endpoints)"
    )


def keys_of(model: ResolvedModel, environment: Mapping[str, str]) -> set[str]:
    """Keys with which a model is called, also that of its provider's usual variable."""
    provider = None if model.model.startswith(REPLAY) else provider_of(model.model, environment)
    usual = [] if provider is None or provider.key is None else [provider.key]
    return {*model.secrets, *usual}


class EventReader:
    """Splits a stream into its events, with the bytes of each."""

    def __init__(self) -> None:
        self.rest = b""
        """Bytes of an event that has not ended."""

    def read(self, content: bytes) -> Iterator[tuple[bytes, str]]:
        """Bytes and data of each event that ends with this part; the data of a comment is empty."""
        self.rest += content
        while end := _EVENT_END.search(self.rest):
            event, self.rest = self.rest[: end.end()], self.rest[end.end() :]
            yield event, data_of(event)


_EVENT_END = re.compile(rb"\r?\n\r?\n")


def data_of(event: bytes) -> str:
    """Data of one event."""
    lines = (line.removesuffix("\r") for line in event.decode("utf-8", "replace").split("\n"))
    return "\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines if line.startswith("data:"))


def only_states_usage(data: str) -> bool:
    """Whether an event of a chat completion is the one that `include_usage` adds."""
    try:
        event = json.loads(data)
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("choices") == [] and event.get("usage") is not None


@dataclass(frozen=True)
class ReplyContent:
    """What an answer says, in the form of a chat completion."""

    message: dict[str, Any]
    calls: Sequence[Mapping[str, Any]]
    provenance: Provenance
    finish: FinishReason


def reply_in(wire: Wire, raw: RawAnswer) -> ReplyContent:
    """Reads an answer in a protocol's own shape."""
    body = raw.fields
    message = {"chat": _chat, "responses": _response, "messages": _anthropic}[wire](body)
    calls = message.get("tool_calls") or []
    refused = bool(message.pop("refusal", None))
    provenance = provenance_of(body.get("model"), body.get("system_fingerprint"), body.get("id"), raw.headers)
    finish = finish_of(raw.finish_reasons or ["stop"], message, refused=refused)
    return ReplyContent(message, calls, provenance, finish)


def _chat(body: Mapping[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = dict(first.get("message") or {})
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    return {**message, "role": "assistant", "content": message.get("content")}


def _anthropic(body: Mapping[str, Any]) -> dict[str, Any]:
    blocks = _dicts(body.get("content"))
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    calls = [
        _call(block.get("id"), block.get("name"), block.get("input")) for block in blocks if block["type"] == "tool_use"
    ]
    thoughts = [block for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
    return _message("".join(texts), calls, thinking_blocks=thoughts)


def _response(body: Mapping[str, Any]) -> dict[str, Any]:
    items = _dicts(body.get("output"))
    texts = [text_of(item.get("content")) for item in items if item.get("type") == "message"]
    calls = [
        _call(item.get("call_id"), item.get("name"), item.get("arguments"))
        for item in items
        if item.get("type") == "function_call"
    ]
    return _message("".join(texts), calls, reasoning_items=[i for i in items if i.get("type") == "reasoning"])


def _message(text: str, calls: Sequence[Mapping[str, Any]], **thoughts: Sequence[Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = list(calls)
    return message | {name: list(blocks) for name, blocks in thoughts.items() if blocks}


def _call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [{"type": "", **item} for item in value if isinstance(item, dict)] if isinstance(value, list) else []
