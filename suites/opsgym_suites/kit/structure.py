"""Which tasks ask for the same decisions, as far as rows and declarations tell it.

Invariant: names, ids, figures and wordings do not enter a structure, so a re-skinned task has that of the original.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from opsgym_api.tasks.task import ToolCall
from opsgym_suites.kit.authoring_rules import SuiteTask


@dataclass(frozen=True)
class Structure:
    """The structure of a reference solution and where the facts that decide it are read."""

    writes: frozenset[tuple[str, bool]]
    """Writing tools with their gym server, and whether the solution calls them more than once."""
    reads: frozenset[str]
    """Tools, with their gym server, that return what the solution depends on."""
    days: int
    """Days after the first."""
    events: int
    """Changes of the world while the agent acts."""
    feasible: bool
    """Whether the task can be done."""


def structure_of(authored: SuiteTask) -> Structure:
    """The structure of a task; two tasks with the same one differ in names and figures, or in one argument."""
    task = authored.task
    calls = [*(task.gold_actions or [])]
    counts = Counter(_tool(call) for call in calls if authored.writes(call))
    return Structure(
        writes=frozenset((tool, count > 1) for tool, count in counts.items()),
        reads=frozenset(_tool(call) for call in calls if not authored.writes(call)),
        days=len(task.days),
        events=len(task.events),
        feasible=task.feasible,
    )


def _tool(call: ToolCall) -> str:
    return call.name if call.gym is None else f"{call.gym} {call.name}"
