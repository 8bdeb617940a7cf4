"""Orchestrators: the built-in ones, and those of installed packages under the same protocol."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from opsgym_api.kinds.profiles import Algorithm
from opsgym_api.records.outcomes import ConfigReason
from opsgym_runner.errors import NotScored, config_error
from opsgym_runner.job import PLANNER
from opsgym_runner.models.client import Message, Reply, ToolRequest
from opsgym_runner.orchestrators.base import AgentResult, Orchestrator, Session, initial_messages
from opsgym_runner.orchestrators.decomposing import Decomposing
from opsgym_runner.orchestrators.planner_react import PlannerReact
from opsgym_runner.orchestrators.published import PublishedDecomposing, PublishedPlannerReact
from opsgym_runner.orchestrators.react import act, react

__all__ = [
    "ENTRY_POINTS", "PLANNER", "AgentResult", "Message", "Orchestrator", "Reply", "Session", "ToolRequest", "act",
    "find_orchestrator", "initial_messages", "prompts_of",
]  # fmt: skip

ENTRY_POINTS = "opsgym.orchestrators"
"""Entry-point group in which installed packages register orchestrators."""

_BUILT_IN: Mapping[str, Orchestrator] = {
    "react": react,
    "planner_react": PlannerReact(),
    "decomposing": Decomposing(),
}
_PUBLISHED: Mapping[str, Orchestrator] = {
    **_BUILT_IN,
    "planner_react": PublishedPlannerReact(),
    "decomposing": PublishedDecomposing(),
}
"""Orchestrators of agents with `algorithm: published`."""


def find_orchestrator(name: str, algorithm: Algorithm = "opsgym") -> Orchestrator:
    """An orchestrator by name: built in, or registered by an installed package.

    Args:
        name: Name of the orchestrator.
        algorithm: See `Switches.algorithm`; without effect on those of installed packages.

    Raises:
        NotScored: The name is unknown, or the registered object is not an orchestrator.
    """
    built_in = _PUBLISHED if algorithm == "published" else _BUILT_IN
    if name in built_in:
        return built_in[name]
    registered = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in registered:
        known = ", ".join(sorted({*_BUILT_IN, *registered}))
        raise config_error(ConfigReason.UNSUPPORTED, f"unknown orchestrator {name!r}; known: {known}")
    return _loaded(registered[name])


def _loaded(point: EntryPoint) -> Orchestrator:
    try:
        loaded = point.load()
    except Exception as error:  # noqa: BLE001 code of an installed package may fail in any way
        raise _unusable(point, f"{type(error).__name__}: {error}") from None
    if not callable(loaded) or isinstance(loaded, type):
        raise _unusable(point, "it is neither an async function nor an object that can be called like one")
    prompts = getattr(loaded, "prompts", {})
    texts = [*prompts.items()] if isinstance(prompts, Mapping) else [(prompts, None)]
    if not all(isinstance(item, str) for pair in texts for item in pair):
        raise _unusable(point, "its attribute prompts does not map names to texts")
    orchestrator: Orchestrator = loaded
    return orchestrator


def _unusable(point: EntryPoint, problem: str) -> NotScored:
    message = f"orchestrator {point.name!r} ({point.value}) cannot be used: {problem}"
    return config_error(ConfigReason.UNSUPPORTED, message)


def prompts_of(orchestrator: Orchestrator) -> dict[str, str]:
    """Default prompts of an orchestrator by name; empty if it has none."""
    return dict(getattr(orchestrator, "prompts", {}))
