"""An agent's trajectory, read from its transcript.

Invariant: calls are in the order in which they were made, with the results that the model got. Transcripts do not say
which tools write, so names decide: a tool is a lookup if its first word, after the name of a domain, is a verb such as
`find` or `list`, or if its last word is `count`; every other tool writes. Tests compare this with the registries of
the domains. A lookup may keep a row about itself, as a download of Drive does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_console.analysis.failures.values import canonical, is_reference, leaves, snake

_LOOKING = frozenset({
    "average", "avg", "check", "count", "describe", "download", "export", "fetch", "find", "get", "has", "is", "list",
    "look", "query", "read", "retrieve", "search", "show", "total", "verify", "view",
})  # fmt: skip
_CREATING = frozenset({
    "add", "append", "copy", "create", "draft", "enlist", "import", "insert", "link", "map", "onboard", "post",
    "register", "send",
})  # fmt: skip
_REMOVING = frozenset({
    "cancel", "clear", "delete", "detach", "empty", "offboard", "purge", "remove", "revoke", "soft", "trash", "unlink",
    "unset",
})  # fmt: skip
_DOMAIN = "email_"
"""First word of the published tools that are named after their domain."""
_WRITES_ALL_THE_SAME = frozenset({"verify_send_as_alias"})
"""Tools whose verb is one of looking and that write: Gmail's `verify` sends a message."""


def is_lookup(tool: str) -> bool:
    """Whether a tool only reads, by its name."""
    return tool not in _WRITES_ALL_THE_SAME and (_verb(tool) in _LOOKING or tool.endswith("_count"))


def creates(tool: str) -> bool:
    """Whether a tool creates a record, by its name."""
    return _verb(tool) in _CREATING


def removes(tool: str) -> bool:
    """Whether a tool removes a record, by its name."""
    return _verb(tool) in _REMOVING


def _verb(tool: str) -> str:
    return snake(tool).removeprefix(_DOMAIN).partition("_")[0]


@dataclass(frozen=True)
class Call:
    """A tool call and its result."""

    number: int
    """Position among the calls, from 0."""
    step: int
    tool: str
    arguments: Mapping[str, Any]
    text: str
    """Text of the result."""
    data: Any
    """The result decoded as JSON; None if it is not JSON."""
    is_error: bool

    @property
    def writes(self) -> bool:
        """Whether it could have changed anything."""
        return not is_lookup(self.tool)

    @property
    def succeeded(self) -> bool:
        """Whether the tool carried it out."""
        return not self.is_error

    @property
    def empty_handed(self) -> bool:
        """Whether it was refused or returned nothing."""
        if self.is_error:
            return True
        value = self.data.get("value", self.data) if isinstance(self.data, Mapping) else self.data
        return value in ({}, [])

    @property
    def signature(self) -> str:
        """Tool and arguments; equal calls have equal signatures."""
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


class Trajectory:
    """The calls of an attempt, with its prompts."""

    def __init__(self, transcript: Transcript) -> None:
        self.tools_shown: Sequence[str] = transcript.tools
        self.request = "\n".join(event.content for event in transcript.events if event.kind == "user")
        self.policy = "\n".join(event.content for event in transcript.events if event.kind == "system")
        made = [event for event in transcript.events if event.kind == "tool"]
        self.calls: Sequence[Call] = [_call(number, event) for number, event in enumerate(made)]

    @cached_property
    def writes(self) -> list[Call]:
        """Calls that could have changed something."""
        return [call for call in self.calls if call.writes]

    @cached_property
    def written(self) -> list[Call]:
        """Writes that were carried out."""
        return [call for call in self.writes if call.succeeded]

    @cached_property
    def lookups(self) -> list[Call]:
        """Calls that only read."""
        return [call for call in self.calls if not call.writes]

    def knows(self, value: str | int, before: Call) -> bool:
        """Whether prompts or results before a call contain a record's id."""
        prompts = f"{self.policy}\n{self.request}"
        if re.search(rf"(?<![\w-]){re.escape(str(value))}(?![\w-])", prompts):
            return True
        earlier = self.calls[: before.number]
        if isinstance(value, int):
            return any(value in call_ids for call_ids in map(_numbers, earlier))
        return any(value in call.text for call in earlier)


def _numbers(call: Call) -> set[Any]:
    """Numbers in a call's result that point at records."""
    return {canonical(value) for name, value in leaves(call.data) if is_reference(name, value)}


def _call(number: int, event: TranscriptEvent) -> Call:
    text = _result_text(event.content)
    return Call(number, event.step, event.tool_name or "", event.arguments or {}, text, _decoded(text), event.is_error)


def _result_text(rendered: str) -> str:
    """Text of a result, without the MCP object around it."""
    result = _decoded(rendered)
    content = result.get("content") if isinstance(result, Mapping) else None
    if not isinstance(content, list):
        return rendered
    return "\n".join(str(item.get("text", "")) for item in content if isinstance(item, Mapping))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
