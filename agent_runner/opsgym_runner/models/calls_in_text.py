"""Recognises tool calls in the text of a reply: the server's parser of calls is off, or does not fit the model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from opsgym_runner.json_text import values_in

_MARK = re.compile(
    r"<[|｜]?/?(antml:)?(tool[_▁ ]?calls?|function(_calls?|=)|invoke\b|python_tag)|<\|channel\|>|\[/?tool_calls?\]"
    r"|to=functions\.",
    re.IGNORECASE,
)
"""Begins of calls in the templates of Qwen, Hermes, DeepSeek, Kimi, GLM, Mistral, Llama, gpt-oss and Claude."""
CALLS_IN_TEXT = "writes calls as text: switch on the server's parser of tool calls"
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")


def has_call_in_text(text: str, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a text has a call in the form of a template, or one of the tools in JSON or in Python.

    Args:
        text: Text of a reply without calls.
        tools: Tools that the model was shown, in OpenAI's format.
    """
    if _MARK.search(text):
        return True
    names = {str(tool["function"]["name"]) for tool in tools}
    named = [name for name in names if name in text]
    if not named:
        return False
    written = re.compile(rf"^\W*(functions\.)?({'|'.join(map(re.escape, named))})\s*\(.*\)\W*$", re.DOTALL)
    return bool(written.search(text.strip())) or any(_is_call(value, names) for value in values_in(text))


def _is_call(value: Any, names: Collection[str]) -> bool:
    if isinstance(value, list):
        return any(_is_call(part, names) for part in value)
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("function"), dict):
        value = value["function"]
    called = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), None)
    return called in names and any(name in value for name in _ARGUMENTS)
