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
from opsgym_api.tasks.facts import Declines, Reported
from opsgym_api.tasks.references import ReferenceFaultError, references_in
from opsgym_api.tasks.row_statements import insert_statement, update_statement

Text = Annotated[str, Field(min_length=1)]
_WORLD = pattern(r"^[a-z]+/\S+$", "DOMAIN/SEED, as itsm/quickstart or itsm/seeds/own.sql")
_ID = pattern(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$", "letters, digits, '.', '_' and '-', a letter or digit first")
_OF_STEP = ("as", "day", "gym", "why", "refused", "accept")


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
    accept: dict[str, Any] = {}
    """What the written row may have, by column, in place of the value that the call gives; see `TaskFile.accept`."""

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

    def changed(self, other: Other) -> Step:
        """The step as another way makes it."""
        changes = {**other.change.get(self.tool, {}), **other.change.get(self.name or "", {})}
        given = {**self.arguments, **changes}
        left_out = {name for name, value in changes.items() if value is None}
        return self.model_copy(update={"arguments": {name: given[name] for name in given if name not in left_out}})


class Other(_Strict):
    """Another way through the task, by its difference from the solution."""

    without: list[Text] = []
    """Steps that it leaves out, by the name of their result or their tool."""
    change: dict[str, dict[str, Any]] = {}
    """Arguments that it gives instead, by the step's name or tool; null leaves one out."""
    then: list[Step] = []
    """Calls that it makes at the end."""
    calls: list[Step] | None = None
    """All its calls, in place of those of the solution."""
    answer: str | None = None
    """Its final answer; that of the solution if absent."""
    day_answers: list[str] | None = None
    """Its answers on the days before the last one; those of the solution if absent."""
    refused: Text | None = None
    """Rule by which the server refuses one of its calls, if it does."""

    @model_validator(mode="after")
    def _differs(self) -> Other:
        if self.calls is not None and (self.without or self.change or self.then):
            raise ValueError("calls are all calls; leave without, change and then out")
        answers = (self.calls, self.answer, self.day_answers)
        if not (self.without or self.change or self.then or any(one is not None for one in answers)):
            raise ValueError("must differ from the solution by without, change, then, calls or answer")
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


class RowChange(_Strict):
    """A row that an event changes or adds."""

    table: Text
    """Table."""
    key: dict[str, Any] = {}
    """Key of the row that is changed, by column."""
    set: dict[str, Any] = {}
    """Columns that get other values."""
    replace: dict[str, Annotated[list[Text], Field(min_length=2, max_length=2)]] = {}
    """A part of a text and what takes its place, by column, where the rest may have changed meanwhile."""
    add: dict[str, Any] = {}
    """Columns of a row that is new."""

    @model_validator(mode="after")
    def _one_of_both(self) -> RowChange:
        changes = self.set or self.replace
        if bool(self.key and changes) == bool(self.add) or (self.add and (self.key or changes)):
            raise ValueError("needs `key` and `set` or `replace` for a row that changes, or `add` for a new one")
        return self

    @property
    def statement(self) -> str:
        """The change in Postgres' dialect."""
        if self.add:
            return insert_statement(self.table, self.add)
        return update_statement(self.table, self.key, self.set, self.replace)


class FileEvent(Event):
    """What happens without the agent; rows may be stated by `changes` in place of SQL."""

    changes: list[RowChange] = []
    """Effect: rows that change or are new, in order. What verifiers expect follows from them."""

    @property
    def has_effect(self) -> bool:
        """Whether anything happens."""
        return bool(self.changes) or super().has_effect

    @property
    def of_row(self) -> Event:
        """The event as the task's row has it."""
        fields = self.model_dump(exclude={"changes"}, exclude_none=True)
        return Event.model_validate({**fields, "sql": [*self.sql, *(change.statement for change in self.changes)]})


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
    events: list[FileEvent] = []
    """What happens without the agent."""
    deadlines: bool = True
    """Whether rows change when their time comes on a later day. Verifiers that are derived without a play ask for this;
    false if the first days of the solution forestall it."""
    solution: list[Step] = []
    """Calls that solve the task."""
    answer: str = ""
    """Final answer of the solution; `${case.number}` stands for a value that was read."""
    report: dict[str, Reported] = {}
    """Facts that the answer must state, by a label that says what it does: `names the caller`; see `facts`."""
    declines: Declines | None = None
    """What the answer must say where the request cannot be carried out."""
    evidence: list[Text | dict[str, Any]] = []
    """What must have been read: references, as `$case.case_id`, or a field and its value."""
    rules: dict[str, Text] = {}
    """Rules of the policy that the calls of a tool follow."""
    accept: dict[str, dict[str, Any]] = {}
    """What written rows may have in place of the values of the solution, by tool and column: a value, or a condition
    as `state_difference` verifiers write it (`{has: text}`, `{any_of: [a, b]}`, `{not_null: true}`), or `{may: …}`."""
    optional: list[Step] = []
    """Calls that another right solution may make, each or none of them."""
    in_any_order: list[str] = []
    """Figures of answers and texts that may change places: members of a list in no order."""
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

    def steps(self, other: Other | None = None) -> list[Step]:
        """The steps of the solution or of another way, each with the day on which it is made."""
        if other is None or other.calls is not None:
            return _with_days(self.solution if other is None else other.calls or [])
        steps = [step for step in _with_days(self.solution) if not {step.name, step.tool}.intersection(other.without)]
        return _with_days([*(step.changed(other) for step in steps), *other.then])

    @model_validator(mode="after")
    def _names_fit(self) -> TaskFile:
        problems = [*self._of_names(), *self._of_others()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _of_names(self) -> Iterator[str]:
        known: set[str] = set()
        tools = {step.tool for step in self.solution}
        for number, step in enumerate(self.solution):
            for reference in references_in(step.arguments):
                if reference.name not in known:
                    named = ", ".join(sorted(known)) or "none"
                    needed = f"needs an earlier step with `as: {reference.name}`; named are: {named}"
                    yield f"solution[{number}]: {reference.text} {needed}"
            if step.name in known:
                yield f"solution[{number}]: as: {step.name!r} names an earlier step"
            if step.name in tools:
                yield f"solution[{number}]: as: {step.name!r} is the name of a tool; choose another one"
            known |= {step.name} if step.name else set()
            if step.day is not None and step.day > len(self.days) + 1:
                yield f"solution[{number}]: day {step.day} does not exist; the task has {len(self.days) + 1}"

    def _of_others(self) -> Iterator[str]:
        called = sorted({step.tool for step in (*self.solution, *self.optional)})
        for tool in self.accept:
            if tool not in called:
                yield f"accept: {tool!r} is called by no step; those call {', '.join(called)}"
        steps = {name for step in self.solution for name in (step.name, step.tool) if name}
        for field, others in (("also", self.also), ("wrong", self.wrong)):
            for label, other in others.items():
                for name in [*other.without, *other.change]:
                    if name not in steps:
                        known = f"those are {', '.join(sorted(steps))}"
                        yield f"{field}.{label}: {name!r} is neither the name nor the tool of a step; {known}"


def _with_days(steps: Sequence[Step]) -> list[Step]:
    day, placed = 1, []
    for step in steps:
        day = step.day or day
        placed.append(step.model_copy(update={"day": day}))
    return placed
