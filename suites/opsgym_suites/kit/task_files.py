"""Tasks that are files: what their authors state, as drafts from which rows and verifiers are derived.

Invariant: a file names no record that its calls have not read. The values of its references were found when it was
last played (`tools.play_tasks`); a file whose calls have changed since is refused, so no row holds another play.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Date, DateTime

from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.facts import Declines, condition_of, patterns_of
from opsgym_api.tasks.references import Reference, parse, replaced, typed
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.task_file import FileEvent, Other, RowChange, Step, TaskFile
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_core.common.strict_yaml import model_of, parts_of
from opsgym_domains import registry
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Person, Solution, full_name
from opsgym_suites.kit.effects import RowType, WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Between, Has, HasAll, Matches, May, Present, answer_refuses, answer_says
from opsgym_suites.kit.world import World

FOLDER = Path(__file__).parents[2] / "tasks"
"""The tasks, in a folder for each domain and seed."""
VALUES = "values.jsonl"
"""File of a folder of tasks with the values of their references, a line for each task."""


@dataclass(frozen=True)
class FileTasks:
    """The files of a domain, and what they leave to it."""

    domain: str
    """Domain, and name of the folder."""
    users: Callable[[Any], Iterable[Person]]
    """The users of a world who may act."""
    with_verifiers: Callable[..., Draft]
    """Derives verifiers; see `VerifierBuilder.with_verifiers`."""

    def of_seed(self, seed: str) -> Callable[[Any], Sequence[Draft]]:
        """Writes the tasks of a seed in its world.

        Raises:
            InputError: A file is not valid, or has not been played since its calls changed.
        """

        def write(world: Any) -> list[Draft]:
            played = values_played(FOLDER / self.domain)
            files = task_files(FOLDER / self.domain / seed)
            return [FileDraft(self, world, file, values_of(path, file, played)).draft() for path, file in files]

        return write

    def user(self, world: Any, text: str) -> Person:
        """The user with an address or, if only one has it, a full name.

        Raises:
            LookupError: None or several users are meant.
        """
        users = list(self.users(world))
        matching = [one for one in users if one.email == text] or [one for one in users if full_name(one) == text]
        if len(matching) != 1:
            raise LookupError(f"{len(matching)} users of {self.domain} are called {text}")
        return matching[0]


def task_files(folder: Path) -> Sequence[tuple[Path, TaskFile]]:
    """The task files of a folder, by name.

    Raises:
        InputError: One is not valid; names file, field and line of each problem.
    """
    return [(path, read_task(path)) for path in sorted(folder.glob("*.yaml"))]


def read_task(path: Path) -> TaskFile:
    """A task file.

    Raises:
        InputError: It is not valid; names file, field and line of each problem.
    """
    (part,) = parts_of(str(path), path.read_text(encoding="utf-8"))
    return model_of(str(path), part, TaskFile)


def played_digest(file: TaskFile) -> str:
    """Digest of what decides the values of a file's references."""
    decides = {"world", "actor", "access", "days", "events", "solution"}
    text = file.model_dump_json(include=decides, exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def values_of(path: Path, file: TaskFile, played: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Values of a file's references, as it was last played.

    Raises:
        InputError: Its calls have changed since.
    """
    known = played.get(file.id, {})
    if known.get("digest") != played_digest(file):
        problem = Problem("solution", f"has changed since it was played; run `python -m tools.play_tasks {path}`")
        raise InputError(str(path), [problem])
    values: Mapping[str, Any] = known["values"]
    return values


def values_played(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """What the last plays of a domain's tasks have found: digest and values, by the task's id."""
    path = folder / VALUES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line["id"]: line for line in map(json.loads, lines)}


@dataclass(frozen=True)
class FileDraft:
    """One file as a draft."""

    tasks: FileTasks
    world: Any
    file: TaskFile
    values: Mapping[str, Any]
    """Values of the file's references."""

    def draft(self) -> Draft:
        """The draft, with derived verifiers."""
        file = self.file
        calls = [self._call(step) for step in file.steps()]
        mistakes = {label: other.then for label, other in file.wrong.items() if _is_addition(other)}
        event, events = self._events()
        draft = Draft(
            slug=file.id.removeprefix(f"{self.tasks.domain}-core-"),
            actor=self.tasks.user(self.world, file.actor),
            prompt=file.request.strip(),
            plan=tuple(file.plan),
            gold=tuple(calls),
            answer=self._text(file.answer),
            verifiers=(*self._declines(), *self._reported()),
            tools=tuple(file.tools),
            feasible=file.feasible,
            tags=tuple(file.tags),
            access=file.access,
            events=events,
            days=tuple(Day(begins_at=day.at, message=day.message) for day in file.days),
            day_answers=tuple(self._text(day.answer) for day in file.days),
            mistakes={label: tuple(map(self._call, steps)) for label, steps in mistakes.items()},
            refused={index: step.refused for index, step in enumerate(file.solution) if step.refused},
            negative_trajectories={
                label: self._trajectory(other) for label, other in file.wrong.items() if label not in mistakes
            },
            also={label: self._solution(other) for label, other in file.also.items()},
            in_any_order=tuple(file.in_any_order),
            wordings=tuple(file.wordings),
            evidence=tuple(self._read_row(one) for one in file.evidence),
        )
        return self.tasks.with_verifiers(
            self.world,
            draft,
            event,
            rules=file.rules,
            expect=self._accepted(),
            optional=[self._call(step) for step in file.optional],
        )

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, step: Step) -> ToolCall:
        properties = registry.load(self.tasks.domain).toolbox.tools[step.tool].input_schema.get("properties", {})
        made = self._value(step.arguments)
        arguments = {name: typed(value, properties.get(name, {})) for name, value in made.items()}
        return ToolCall(name=step.tool, arguments=arguments, day=step.day if self.file.days else None)

    def _value(self, value: Any) -> Any:
        return replaced(value, self._value_of)

    def _text(self, text: str) -> str:
        return str(self._value(text.strip()))

    def _value_of(self, reference: Reference) -> Any:
        if reference.text not in self.values:
            raise InputError(
                self.file.id, [Problem("", f"{reference.text} was not played; run `python -m tools.play_tasks`")]
            )
        return self.values[reference.text]

    def _calls_of(self, other: Other) -> tuple[ToolCall, ...]:
        return tuple(map(self._call, self.file.steps(other)))

    def _trajectory(self, other: Other) -> NegativeTrajectory:
        answer = self._text(self.file.answer if other.answer is None else other.answer)
        days = None if other.day_answers is None else [self._text(text) for text in other.day_answers]
        return NegativeTrajectory(self._calls_of(other), answer, other.refused, days)

    def _solution(self, other: Other) -> Solution:
        only_words = other.model_fields_set == {"answer"}
        answer = None if other.answer is None else self._text(other.answer)
        return Solution(None if only_words else self._calls_of(other), answer)

    def _read_row(self, evidence: str | Mapping[str, Any]) -> tuple[str, Any]:
        if isinstance(evidence, str):
            return parse(evidence).field, self._value(evidence)
        ((column, value),) = evidence.items()
        return column, self._value(value)

    # --- answers -----------------------------------------------------------------------------------------------------

    def _declines(self) -> Sequence[Verifier]:
        if self.file.declines is None:
            return ()
        stated = self._value(self.file.declines.model_dump())
        return answer_refuses(*Declines.model_validate(stated).reasons)

    def _reported(self) -> Iterator[Verifier]:
        for label, report in self.file.report.items():
            yield answer_says(
                label.replace(" ", "_"),
                report.says(label),
                *patterns_of(self._value(report.fact)),
                category=report.category or Category.TASK_COMPLETION,
                day=report.day,
            )

    # --- rows --------------------------------------------------------------------------------------------------------

    def _accepted(self) -> Mapping[str, Any]:
        by_tool = {tool: self._conditions(tool, columns) for tool, columns in self.file.accept.items()}
        of_steps = [step for step in self.file.solution if step.accept]
        return {
            **by_tool,
            **{tool: self._of_steps(tool, by_tool.get(tool, {})) for tool in {step.tool for step in of_steps}},
        }

    def _of_steps(self, tool: str, common: Mapping[str, Any]) -> Callable[[WrittenRow], Mapping[str, Any]]:
        """Conditions of the rows that single steps write."""
        stated = [
            (self._call(step).arguments, self._conditions(tool, step.accept))
            for step in self.file.solution
            if step.tool == tool and step.accept
        ]

        def conditions(row: WrittenRow) -> Mapping[str, Any]:
            given = [values for of, values in row.calls if of == tool]
            made = [more for arguments, more in stated for values in given if _are_those(arguments, values)]
            return {**common, **{column: value for more in made for column, value in more.items()}}

        return conditions

    def _conditions(self, tool: str, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        effect = registry.load(self.tasks.domain).toolbox.tools[tool].effect
        kind = effect.row if effect else None
        return {name: _condition(self._value(value), kind, name) for name, value in columns.items()}

    def _events(self) -> tuple[ScenarioEvent[Any] | None, tuple[Event, ...]]:
        """What changes rows, and the events of the row."""
        ends = [datetime.fromisoformat(day.at) for day in self.file.days if self.file.deadlines]
        moved = sum(event.advance_seconds or 0 for event in self.file.events)
        advance = ends[-1] - self.world.now if ends else timedelta(seconds=moved)
        if not advance and not any(event.changes for event in self.file.events):
            return None, tuple(_as_event(event, []) for event in self.file.events)
        scenario, events = ScenarioEvent[Any](self.world, advance), []
        for event in self.file.events:
            before = len(scenario.statements)
            for change in event.changes:
                self._apply(scenario, change)
            events.append(_as_event(event, scenario.statements[before:]))
        return scenario, tuple(events)

    def _apply(self, scenario: ScenarioEvent[Any], change: RowChange) -> None:
        kind = _kind(self.world, change.table)
        if change.add:
            scenario.add(kind(**_stored(kind, self._value(change.add))))
        else:
            row = self.world.one(kind, **_stored(kind, self._value(change.key)))
            scenario.change(row, change.replace, **_stored(kind, self._value(change.set)))


def _is_addition(other: Other) -> bool:
    """Whether a mistake is the solution and calls more."""
    return other.model_fields_set == {"then"}


def _are_those(arguments: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a row was written with these arguments: their texts and numbers stand in its columns."""
    given = "\n".join(map(str, values.values()))
    return all(leaf in given or json.dumps(leaf)[1:-1] in given for leaf in map(str, _leaves(arguments)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def _as_event(event: FileEvent, statements: Sequence[str]) -> Event:
    fields = event.model_dump(exclude={"changes"}, exclude_none=True)
    return Event.model_validate({**fields, "sql": [*event.sql, *statements]})


def _kind(world: World, table: str) -> RowType:
    return next(kind for kind in world.kinds if kind.__tablename__ == table)


def _stored(kind: RowType, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _of_column(kind, name, value) for name, value in values.items()}


def _of_column(kind: RowType, column: str, value: Any) -> Any:
    """A value as a column holds it."""
    declared = kind.__table__.columns[column].type
    if isinstance(value, str) and isinstance(declared, DateTime):
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if isinstance(value, str) and isinstance(declared, Date) else value


def _condition(value: Any, kind: RowType | None, column: str) -> Any:
    """A condition as verifiers are derived from it."""
    match condition_of(value):
        case {"may": inner}:
            return May(_condition(inner, kind, column))
        case {"has": list() as texts}:
            return HasAll(tuple(texts))
        case {"has": text}:
            return Has(text)
        case {"not_null": True}:
            return Present()
        case {"matches": pattern}:
            return Matches(pattern)
        case {"at_least": first, "at_most": last}:
            return Between(datetime.fromisoformat(first), datetime.fromisoformat(last))
        case {"any_of": values}:
            return [_condition(one, kind, column) for one in values]
        case stated:
            return stated if kind is None else _of_column(kind, column, stated)
