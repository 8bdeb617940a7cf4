"""Compares an agent's writes with those of the reference solution.

Invariant: every write of the solution is done, done differently, or missing, and every successful write of the agent
belongs to one of the solution's or is extra. Wording of texts is not compared: it may differ in a correct solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_console.analysis.failures.trajectory import Call, Trajectory, is_lookup
from opsgym_console.analysis.failures.values import is_prose, is_reference, same


@dataclass(frozen=True)
class Deviation:
    """An argument of a write that differs from the solution's."""

    action: ToolCall
    """The write of the solution."""
    call: Call
    argument: str
    due: Any
    """Value of the solution; None if it does not set the argument."""
    given: Any
    """Value of the agent; None if it did not set the argument."""

    @property
    def names_another_record(self) -> bool:
        """Whether both values refer to records."""
        return is_reference(self.argument, self.due) and is_reference(self.argument, self.given)


@dataclass(frozen=True)
class Comparison:
    """An agent's writes compared with the solution's."""

    due: int
    """Writes of the solution."""
    done: Sequence[ToolCall]
    """Writes of the solution that the agent made, exactly or in several calls."""
    deviations: Sequence[Deviation]
    """Differences of writes made in another way; for refused writes, only references to records."""
    missing: Sequence[ToolCall]
    """Writes of the solution that the agent did not make."""
    extra: Sequence[Call]
    """Successful writes of the agent that belong to none of the solution's."""
    tried: int
    """Writes of the solution that were made, exactly or in another way."""


def compare(gold: Sequence[ToolCall], trajectory: Trajectory) -> Comparison:
    """Compares the agent's writes with the reference solution's."""
    due = [action for action in gold if not is_lookup(action.name)]
    free = list(trajectory.writes)
    done: list[ToolCall] = []
    left: list[ToolCall] = []
    for action in due:
        exact = next((call for call in free if call.tool == action.name and not _differing(action, call)), None)
        if exact is not None:
            free.remove(exact)
        (left if exact is None else done).append(action)
    in_parts = [action for action in left if _done_in_parts(action, trajectory)]
    left = [action for action in left if action not in in_parts]
    free = [call for call in free if not any(_is_part(call, action) for action in in_parts)]
    pairs = _pairs(left, [call for call in free if call.succeeded])
    paired = [action for action, _ in pairs]
    taken = [call.number for _, call in pairs]
    unpaired = [action for action in left if action not in paired]
    refused = _pairs(unpaired, [call for call in free if call.is_error])
    return Comparison(
        due=len(due),
        done=[*done, *in_parts],
        deviations=[
            deviation
            for action, call in (*pairs, *refused)
            for deviation in _differing(action, call)
            if call.succeeded or deviation.names_another_record
        ],
        missing=unpaired,
        extra=[call for call in free if call.succeeded and call.number not in taken],
        tried=len(done) + len(in_parts) + len(pairs),
    )


def _pairs(actions: Sequence[ToolCall], calls: Sequence[Call]) -> list[tuple[ToolCall, Call]]:
    """Pairs of remaining writes of the same tool, those with most in common first."""
    options = [
        (_in_common(action, call), place, call.number, action, call)
        for place, action in enumerate(actions)
        for call in calls
        if call.tool == action.name
    ]
    pairs: list[tuple[ToolCall, Call]] = []
    places: set[int] = set()
    numbers: set[int] = set()
    for _, place, number, action, call in sorted(options, key=lambda option: (-option[0], option[1], option[2])):
        if place not in places and number not in numbers:
            places.add(place)
            numbers.add(number)
            pairs.append((action, call))
    return pairs


def _in_common(action: ToolCall, call: Call) -> int:
    return sum(name in call.arguments and same(value, call.arguments[name]) for name, value in action.arguments.items())


def _differing(action: ToolCall, call: Call) -> list[Deviation]:
    deviations = [
        Deviation(action, call, name, value, call.arguments.get(name))
        for name, value in action.arguments.items()
        if not _fits(value, call.arguments.get(name))
    ]
    added = {name: value for name, value in call.arguments.items() if name not in action.arguments}
    # An additional argument of a creation is mostly a default; one of an update is a change.
    if call.tool.startswith("update"):
        deviations += [
            Deviation(action, call, name, None, value) for name, value in added.items() if not is_prose(value)
        ]
    return deviations


def _fits(due: Any, given: Any) -> bool:
    return (is_prose(due) and isinstance(given, str) and bool(given)) or same(due, given)


def _done_in_parts(action: ToolCall, trajectory: Trajectory) -> bool:
    """Whether several updates of one record together did what the solution does in one."""
    together: dict[str, Any] = {}
    for call in trajectory.written:
        if _is_part(call, action):
            together |= call.arguments
    return bool(together) and all(_fits(value, together.get(name)) for name, value in action.arguments.items())


def _is_part(call: Call, action: ToolCall) -> bool:
    return (
        call.tool == action.name and call.tool.startswith("update") and _key(call.arguments) == _key(action.arguments)
    )


def _key(arguments: Mapping[str, Any]) -> Any:
    """The record that a call concerns: its first reference."""
    return next(((name, value) for name, value in arguments.items() if is_reference(name, value)), None)
