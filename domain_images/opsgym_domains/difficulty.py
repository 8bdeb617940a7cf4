"""Estimates how difficult a task is, from its row and the toolboxes of its domains.

Invariant: the estimate is a pure function of row and declarations; no episode, seed or score enters it. A row without a
reference solution has no estimate, never a guessed one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from opsgym_api.kinds.access import Access
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_domains.kit.tools import Tool

UNUSED_TOOLS_PER_POINT = 5
"""Tools shown besides the solution's that count as much as one write."""
POINTS_OF_TOOL = 2
"""Of each writing tool after the first: its rules of the policy come in addition."""
POINTS_OF_BRANCH = 3
POINTS_OF_REFUSAL = 5
LONGEST_VALUE = 60
"""Characters of the longest value that is looked up; longer ones are texts that the agent writes."""


class Band(StrEnum):
    """Difficulty in words."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    VERY_HARD = "very hard"


UPPER_BOUNDS: Mapping[Band, int] = {Band.EASY: 10, Band.MEDIUM: 18, Band.HARD: 30}
"""Points below which a task is in the band; the last band has no bound."""


@dataclass(frozen=True)
class Difficulty:
    """What makes a task difficult, as counts."""

    writes: int
    """Calls of the reference solution that write."""
    writing_tools: int
    """Different tools among them."""
    look_ups: int
    """Different values in these calls that the request does not state: keys of rows that must be found, or that the
    agent creates and uses again."""
    branches: int
    """Events, days after the first, and access `strict`, in which calls may be refused."""
    unused_tools: int
    """Tools that the agent is shown and the reference solution does not use."""
    feasible: bool
    """Whether the task can be done. If not, the agent must find out why before it writes."""

    @property
    def points(self) -> int:
        """The estimate."""
        return (
            self.writes
            + POINTS_OF_TOOL * max(0, self.writing_tools - 1)
            + self.look_ups
            + POINTS_OF_BRANCH * self.branches
            + self.unused_tools // UNUSED_TOOLS_PER_POINT
            + (0 if self.feasible else POINTS_OF_REFUSAL)
        )

    @property
    def band(self) -> Band:
        """The estimate in words."""
        return next((band for band, bound in UPPER_BOUNDS.items() if self.points < bound), Band.VERY_HARD)


def difficulty_of(task: Task, tools: Mapping[str, Tool]) -> Difficulty | None:
    """The difficulty of a task; None if its row has no reference solution, or calls a tool that is not known.

    Args:
        task: The row.
        tools: Tools of its gym servers by name.
    """
    gold = task.gold_actions
    if gold is None or any(call.name not in tools for call in gold):
        return None
    writes = [call for call in gold if tools[call.name].writes]
    shown = set(task.selected_tools or tools) - set(task.restricted_tools)
    # An infeasible task has few writes or none; what it has to look up is in the calls that read.
    telling = writes if task.feasible else gold
    return Difficulty(
        writes=len(writes),
        writing_tools=len({call.name for call in writes}),
        look_ups=len(_values_to_find(task, telling, tools)),
        branches=len(task.events) + len(task.days) + (task.access is Access.STRICT),
        unused_tools=len(shown - {call.name for call in gold}),
        feasible=task.feasible,
    )


def _values_to_find(task: Task, calls: list[ToolCall], tools: Mapping[str, Tool]) -> set[str]:
    """Short values of arguments that are neither in the messages of the user nor options of the tool."""
    later = [*(day.message for day in task.days), *(event.tell for event in task.events if event.tell)]
    stated = " ".join([task.user_prompt, *later]).casefold()
    return {
        value
        for call in calls
        for name, argument in call.arguments.items()
        if not _is_option(tools[call.name], name)
        for value in _values(argument)
        if not re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", stated)
    }


def _is_option(tool: Tool, name: str) -> bool:
    """Whether an argument is one of a few values that its schema names."""
    return "enum" in str(tool.input_schema.get("properties", {}).get(name, {}))


def _values(argument: Any) -> Iterator[str]:
    """Texts without blanks and whole numbers of an argument, at any depth."""
    if isinstance(argument, Mapping):
        argument = list(argument.values())
    if isinstance(argument, list):
        for part in argument:
            yield from _values(part)
    elif isinstance(argument, str | int) and not isinstance(argument, bool):
        text = str(argument)
        if text and len(text) <= LONGEST_VALUE and not re.search(r"\s", text):
            yield text
