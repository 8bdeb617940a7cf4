"""Conversation with a person: what the model of an agent is shown, as text, and what they type, as a reply.

Invariant: a person sees what a model sees and nothing else: policy, request, tools, results.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opsgym_core.common.foreign import visible

HELP = """\
  TOOL name=value …     call a tool; a value that is JSON is read as JSON: limit=5 active=true tags='["a"]'
  TOOL {"name": "…"}    the same, with all arguments as JSON
  answer TEXT           end the task, or the day; without TEXT, lines up to one with a single full stop
  tools, tools WORD     the tools, or those with a word in their name
  help TOOL             a tool's description and arguments
  policy, request       show them again"""
END = "."


class Left(Exception):
    """The person ended the input without an answer."""


class Person:
    """Answers chat completions requests by asking a person.

    Args:
        read: Shows a prompt and returns the next line, without its line break; raises EOFError if there is none.
        write: Shows a text of one or more lines.
    """

    def __init__(self, read: Callable[[str], str], write: Callable[[str], object]) -> None:
        self._read = read
        self._write = write
        self._shown = 0
        self._calls = 0

    def reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The message with which the person goes on.

        Args:
            body: A request in OpenAI's format. Its messages extend those of the request before it.

        Raises:
            Left: The input has ended.
        """
        messages: Sequence[Mapping[str, Any]] = body["messages"]
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}
        for message in messages[self._shown :]:
            self._write("\n".join(_shown(message)))
        if not self._shown:
            self._write(f"{len(tools)} tools ({', '.join(tools)})\n\n{HELP}")
        self._shown = len(messages) + 1
        try:
            while (made := self._typed(self._read("> ").strip(), messages, tools)) is None:
                pass
        except EOFError:
            raise Left from None
        return {"role": "assistant", "content": None, **made}

    def _typed(
        self, line: str, messages: Sequence[Mapping[str, Any]], tools: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any] | None:
        """The reply that a line is; None if it only asks to see something, or cannot be read."""
        word, _, rest = line.partition(" ")
        if word == "answer":
            return {"content": rest or "\n".join(self._lines())}
        if word in tools:
            return self._call(word, rest)
        if line:
            self._write("\n".join(_looked_up(word, rest.strip(), messages, tools)))
        return None

    def _lines(self) -> Iterator[str]:
        while (line := self._read("")) != END:
            yield line

    def _call(self, tool: str, text: str) -> dict[str, Any] | None:
        try:
            arguments = arguments_in(text)
        except ValueError as error:
            self._write(f"{tool}: {error}")
            return None
        self._calls += 1
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return {"tool_calls": [{"id": f"call_{self._calls}", "type": "function", "function": function}]}


def arguments_in(text: str) -> dict[str, Any]:
    """Arguments of a call as a person writes them: one JSON object, or `name=value` pairs.

    Raises:
        ValueError: The text is neither.
    """
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"the arguments are not JSON: {error}") from None
    pairs = [part.partition("=") for part in shlex.split(text)]
    if bad := [name for name, equals, _ in pairs if not equals]:
        raise ValueError(f"{bad[0]!r} has no =; write name=value, with quotes around a value with blanks")
    return {name: _value(value) for name, _, value in pairs}


def _value(text: str) -> Any:
    value = _json(text)
    return text if value is None and text != "null" else value


def _shown(message: Mapping[str, Any]) -> Iterator[str]:
    """Lines of a message that is new."""
    content = visible(message.get("content") or "")
    if message["role"] == "system":
        yield f"Policy: {len(content.splitlines())} lines; type policy to read it"
    elif message["role"] == "user":
        yield f"\nRequest\n{content}\n"
    elif message["role"] == "tool":
        yield visible(_indented(message.get("content") or ""))


def _indented(result: str) -> str:
    """The text of a tool's result, without the envelope around it, as indented JSON if it is JSON."""
    content = _json(result)
    if isinstance(content, dict) and isinstance(content.get("content"), list):
        failed = "Error: " if content.get("isError") else ""
        return failed + "\n".join(_indented(part["text"]) for part in content["content"] if "text" in part)
    return result if content is None else json.dumps(content, indent=2, ensure_ascii=False)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _looked_up(
    word: str, rest: str, messages: Sequence[Mapping[str, Any]], tools: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Lines that answer what is not a reply."""
    roles = {"policy": "system", "request": "user"}
    if word in roles:
        yield from (visible(message["content"]) for message in messages if message["role"] == roles[word])
    elif word == "tools":
        yield from (f"  {name}  {_first_line(tools[name])}" for name in tools if rest in name)
    elif word == "help" and rest in tools:
        yield visible(tools[rest].get("description", ""))
        yield from _parameters(tools[rest].get("parameters", {}))
    elif word == "help" and not rest:
        yield HELP
    else:
        name = rest if word == "help" else word
        near = difflib.get_close_matches(name, list(tools), n=1)
        yield f"unknown tool {visible(name)!r}; " + (f"did you mean {near[0]}?" if near else "type tools to list them")


def _first_line(tool: Mapping[str, Any]) -> str:
    return visible(tool.get("description", "").strip().partition("\n")[0])


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        kind = field.get("type") or " or ".join(str(one.get("type", "?")) for one in field.get("anyOf", ()))
        values = f", one of {', '.join(map(str, field['enum']))}" if "enum" in field else ""
        needed = "required" if name in required else "optional"
        yield f"  {name}  ({kind}{values}, {needed})  {visible(field.get('description', ''))}"
