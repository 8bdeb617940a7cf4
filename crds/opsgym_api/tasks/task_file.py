"""A task as its author writes it: one YAML file with the request and the solution as calls of tools.

Invariant: what the file states is what the agent could know. Arguments are literal, from the request or the policy, or
references to results of earlier calls (`references`); everything else of the task's row is derived by playing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.patterns import pattern
from opsgym_api.tasks.event import Event, require_time
from opsgym_api.tasks.references import ReferenceFaultError, references_in

Text = Annotated[str, Field(min_length=1)]
_WORLD = pattern(r"^[a-z]+/\S+$", "DOMAIN/SEED, as itsm/quickstart or itsm/seeds/own.sql")
_ID = pattern(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$", "letters, digits, '.', '_' and '-', a letter or digit first")
_OF_STEP = ("as", "day", "gym", "why", "refused")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(_Strict):
    """A call of the solution: `{find_case: {number: CS-1}, as: case}`. The tool's name is the one other field."""

    tool: Text
    """Tool."""
    arguments: dict[str, Any] = {}
    """Arguments by name: literals and references."""
    name: Text | None = Field(default=None, alias="as")
    """Name of its result for references."""
    day: Annotated[int, Field(ge=1)] | None = None
    """Day from which on calls are made; that of the step before if absent."""
    gym: Text | None = None
    """Domain of the gym server, in a world of several."""
    why: dict[str, Text] = {}
    """How the value of an argument follows from what was read, where it stands nowhere: `{due: Two days later}`."""
    refused: Text | None = None
    """Rule by which the server refuses the call, if it does."""

    @model_validator(mode="before")
    @classmethod
    def _one_tool(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "tool" in value:
            return value
        tools = [name for name in value if name not in _OF_STEP]
        if len(tools) != 1:
            raise ValueError(
                f"must name one tool, as {{find_case: {{number: CS-1}}}}; found {', '.join(tools) or 'none'}"
            )
        known = {name: value[name] for name in _OF_STEP if name in value}
        return {**known, "tool": tools[0], "arguments": value[tools[0]] or {}}

    @model_validator(mode="after")
    def _fits(self) -> Step:
        try:
            list(references_in(self.arguments))
        except ReferenceFaultError as error:
            raise ValueError(str(error)) from None
        unknown = self.why.keys() - self.arguments.keys()
        if unknown:
            raise ValueError(f"why: {min(unknown)} is not an argument of the call")
        return self


class Other(_Strict):
    """Another way through the task, by its difference from the solution."""

    without: list[Text] = []
    """Steps that it leaves out, by the name of their result or their tool."""
    change: dict[str, dict[str, Any]] = {}
    """Arguments that it gives instead, by the step's name or tool."""
    then: list[Step] = []
    """Calls that it makes at the end."""
    answer: str | None = None
    """Its final answer; that of the solution if absent."""

    @model_validator(mode="after")
    def _differs(self) -> Other:
        if not (self.without or self.change or self.then or self.answer is not None):
            raise ValueError("must differ from the solution by without, change, then or answer")
        return self


class FileDay(_Strict):
    """A day after the first one."""

    at: str
    """Time at which it begins (ISO 8601)."""
    message: Text
    """What the user says on it."""
    answer: str = ""
    """The solution's answer on the day before."""

    @field_validator("at")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        return require_time(value)


class TaskFile(_Strict):
    """One task."""

    id: Annotated[str, Field(pattern=_ID)]
    """Task id."""
    world: (
        Annotated[str, Field(pattern=_WORLD)]
        | Annotated[list[Annotated[str, Field(pattern=_WORLD)]], Field(min_length=1)]
    )
    """Domain and seed, as `hr/hospital`, or `itsm/seeds/own.sql` for a file; a list for several gym servers."""
    actor: Text
    """Name of the user who asks, or the value that identifies them."""
    access: Access = Access.PUBLISHED
    """How strictly the gym server judges calls."""
    policy: Text | None = None
    """Policy: a file beside this one; that of the domain if absent."""
    request: Text
    """What the user asks."""
    wordings: list[Text] = []
    """Other wordings of the request, which state the same facts."""
    days: list[FileDay] = []
    """Days after the first one."""
    events: list[Event] = []
    """What happens without the agent."""
    solution: list[Step] = []
    """Calls that solve the task."""
    answer: str = ""
    """Final answer of the solution; `${case.number}` stands for a value that was read."""
    report: dict[str, Text] = {}
    """Facts that the answer must state, by a label: a text or a reference."""
    evidence: list[Text] = []
    """References to what must have been read, as `$case.case_id`."""
    rules: dict[str, Text] = {}
    """Rules of the policy that the calls of a tool follow."""
    also: dict[str, Other] = {}
    """Other right ways, by a label."""
    wrong: dict[str, Other] = {}
    """Mistakes, by a label; none of them may pass."""
    plan: list[Text] = []
    """Steps as an expert would write them."""
    tools: list[Text] = []
    """Tools that are shown besides those of the solution."""
    feasible: bool = True
    """False if nothing may change."""
    tags: list[Text] = []
    """Marks, as `hostile`."""

    @property
    def worlds(self) -> Sequence[tuple[str, str]]:
        """Domain and seed of each gym server."""
        names = [self.world] if isinstance(self.world, str) else self.world
        return [(domain, seed) for domain, _, seed in (name.partition("/") for name in names)]

    @property
    def messages(self) -> str:
        """All that the user says, on all days."""
        of_events = (event.tell for event in self.events if event.tell)
        return "\n".join([self.request, *(day.message for day in self.days), *of_events])

    @model_validator(mode="after")
    def _names_fit(self) -> TaskFile:
        problems = [*self._of_names(), *self._of_others()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _of_names(self) -> Iterator[str]:
        known: set[str] = set()
        for number, step in enumerate(self.solution):
            for reference in references_in(step.arguments):
                if reference.name not in known:
                    named = ", ".join(sorted(known)) or "none"
                    needed = f"needs an earlier step with `as: {reference.name}`; named are: {named}"
                    yield f"solution[{number}]: {reference.text} {needed}"
            if step.name in known:
                yield f"solution[{number}]: as: {step.name!r} names an earlier step"
            known |= {step.name} if step.name else set()
            if step.day is not None and step.day > len(self.days) + 1:
                yield f"solution[{number}]: day {step.day} does not exist; the task has {len(self.days) + 1}"

    def _of_others(self) -> Iterator[str]:
        steps = {name for step in self.solution for name in (step.name, step.tool) if name}
        for field, others in (("also", self.also), ("wrong", self.wrong)):
            for label, other in others.items():
                for name in [*other.without, *other.change]:
                    if name not in steps:
                        known = f"those are {', '.join(sorted(steps))}"
                        yield f"{field}.{label}: {name!r} is neither the name nor the tool of a step; {known}"
