"""A task as its author writes it.

Invariant: no task states an id. Users and records are looked up in the seed's world by name, so a task and its seed
cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Verifier


class Person(Protocol):
    """The columns that users of every domain have."""

    @property
    def user_id(self) -> Any:
        """Identifier."""

    @property
    def first_name(self) -> Any:
        """First name."""

    @property
    def last_name(self) -> Any:
        """Last name."""

    @property
    def email(self) -> Any:
        """Address."""


@dataclass(frozen=True)
class NegativeTrajectory:
    """Calls and answer of an agent that misses an event or ignores the process; verifiers must not pass it."""

    calls: Sequence[ToolCall]
    answer: str
    rule: str | None = None
    """Number of the rule that the server's refusal names; None if only verifiers notice."""
    day_answers: Sequence[str] | None = None
    """Answers on the days before the last one; those of the reference solution if None."""


@dataclass(frozen=True)
class Solution:
    """Another correct solution; what it leaves out is as in the reference solution."""

    calls: Sequence[ToolCall] | None = None
    answer: str | None = None


@dataclass(frozen=True)
class Draft:
    """A task before it becomes a row of its suite."""

    slug: str
    """Last part of the task id."""
    actor: Person
    """The user who asks, and in whose name the agent calls tools; of several gym servers that of the first."""
    prompt: str
    plan: tuple[str, ...]
    """Steps as a human expert would write them."""
    gold: tuple[ToolCall, ...]
    """Calls of the reference solution."""
    answer: str
    """Final answer of the reference solution."""
    verifiers: tuple[Verifier, ...]
    tools: tuple[str, ...] = ()
    """Tools of the oracle set that `gold` does not call."""
    feasible: bool = True
    tags: tuple[str, ...] = ()
    """Marks by which results show scores with and without the task."""
    access: Access = Access.PUBLISHED
    """How strictly the gym server enforces the process."""
    events: tuple[Event, ...] = ()
    """Events that happen without the agent."""
    days: tuple[Day, ...] = ()
    """Days after the first one; calls of `gold` name the day on which they are made."""
    day_answers: tuple[str, ...] = ()
    """Answers of the reference solution on the days before the last one."""
    mistakes: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    """Calls that an agent must not make in addition to `gold`, by a label for the mistake; on the last day unless they
    name another one. Tests prove that verifiers notice each of them."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Rules by index of a call of `gold` that the server refuses with that rule: the agent learns of the rule by it."""
    negative_trajectories: Mapping[str, NegativeTrajectory] = field(default_factory=dict)
    """Other ways to work on the task, by a label; tests prove that none of them passes."""
    also: Mapping[str, Solution] = field(default_factory=dict)
    """Other correct solutions, by a label; tests prove that each of them passes."""
    actors: Mapping[str, Person] = field(default_factory=dict)
    """Acting users by gym server, of a task on several; the order is that of its gym servers."""
    in_any_order: tuple[str, ...] = ()
    """Figures of answers and texts that may change places: members of a list in no order."""
    wordings: tuple[str, ...] = ()
    """Other wordings of the request, which variants of the suite use in turn."""
    evidence: tuple[Any, ...] = ()
    """Rows of the seed that an agent must read to decide; for tasks that cannot be done, those that show why. Pairs of
    a field of results and its value stand for rows without a key in results."""

    @property
    def request(self) -> str:
        """All that the user says, on all days."""
        messages = (event.tell for event in self.events if event.tell)
        return "\n".join([self.prompt, *(day.message for day in self.days), *messages])

    @property
    def accepted_calls(self) -> tuple[ToolCall, ...]:
        """Calls of `gold` that the server carries out."""
        return tuple(call for index, call in enumerate(self.gold) if index not in self.refused)


def call(tool: str, /, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(name=tool, arguments=arguments)


def on_gym(gym: str, *calls: ToolCall) -> tuple[ToolCall, ...]:
    """Calls of tools of a gym server of a task on several."""
    return tuple(made.model_copy(update={"gym": gym}) for made in calls)


def on_day(day: int, *calls: ToolCall) -> tuple[ToolCall, ...]:
    """Calls of a day of a task, counted from 1."""
    return tuple(made.model_copy(update={"day": day}) for made in calls)


def full_name(person: Person) -> str:
    """First and last name."""
    return f"{person.first_name} {person.last_name}"
