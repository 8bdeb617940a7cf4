"""Prompt templates: texts in files, with named placeholders, which an agent may replace.

Invariant: every placeholder of a rendered prompt has a value, and values are never read as placeholders. Braces around
anything but a lower-case word are plain text, so a prompt can show JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from opsgym_api.records.outcomes import ConfigReason
from opsgym_runner.errors import config_error

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def load_prompts(package: str, *names: str) -> dict[str, str]:
    """Prompts of a package by name.

    Args:
        package: Dotted name of the package.
        names: Prompts, each the file `prompts/<name>.md` in the package's folder.
    """
    folder = files(package) / "prompts"
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8").strip() for name in names}


def placeholders_of(text: str) -> list[str]:
    """Placeholders of a prompt, each once, in order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def rendered(text: str, values: Mapping[str, str]) -> str:
    """A prompt with its placeholders replaced.

    Raises:
        KeyError: A placeholder has no value.
    """
    return _PLACEHOLDER.sub(lambda placeholder: values[placeholder[1]], text)


class Prompts:
    """The prompts of one agent.

    Args:
        agent: Name of the agent, for messages.
        defaults: Default prompts by name.
        replacements: The agent's replacements by name.

    Raises:
        NotScored: A replacement has an unknown name, or a placeholder that the default prompt does not have.
    """

    def __init__(self, agent: str, defaults: Mapping[str, str], replacements: Mapping[str, str]) -> None:
        for name, text in replacements.items():
            where = f"agent {agent}: prompts.{name}"
            if name not in defaults:
                known = f"known: {', '.join(defaults)}" if defaults else "the agent's orchestrator has none"
                raise config_error(ConfigReason.UNSUPPORTED, f"{where}: unknown prompt; {known}")
            unknown = [item for item in placeholders_of(text) if item not in placeholders_of(defaults[name])]
            if unknown:
                known = ", ".join(f"{{{item}}}" for item in placeholders_of(defaults[name])) or "none"
                message = f"{where}: unknown placeholder {{{unknown[0]}}}; known: {known}"
                raise config_error(ConfigReason.UNSUPPORTED, message)
        self._texts = {**defaults, **replacements}
        self.replaced = frozenset(replacements)
        """Names of the prompts that the agent replaces."""

    def text(self, name: str) -> str:
        """A prompt with its placeholders.

        Raises:
            KeyError: The agent has no prompt of this name.
        """
        return self._texts[name]

    def render(self, name: str, **values: str) -> str:
        """A prompt with its placeholders replaced.

        Raises:
            KeyError: The agent has no prompt of this name, or a placeholder has no value.
        """
        return rendered(self._texts[name], values)


def list_tools(tools: Sequence[Mapping[str, Any]]) -> str:
    """Tools as prompts list them: one line each, with name and description.

    Args:
        tools: In OpenAI's format.
    """
    functions = [tool["function"] for tool in tools]
    lines = (f"- {function['name']}: {' '.join(function['description'].split())}" for function in functions)
    return "\n".join(line.rstrip(": ") for line in lines)


def numbered(items: Sequence[str]) -> str:
    """Items as prompts list them: one line each, numbered from 1."""
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
