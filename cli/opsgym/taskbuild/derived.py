"""Verifiers that follow from the play of a solution: its rows, nothing else, what was read, and what was reported.

Invariant: a column is required only where the value follows from the request or a call. Keys, numbers and times that
the server makes are never required, and of prose that stands in no request only that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Date, DateTime

from opsgym.taskbuild.playing import Played
from opsgym.taskbuild.provenance import Sources
from opsgym_api.records.state_difference import RowDifference, StateDifference
from opsgym_api.tasks.answer_patterns import NOT_DONE
from opsgym_api.tasks.facts import Declines, condition_of, patterns_of
from opsgym_api.tasks.references import parse, resolved
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.task_file import TaskFile
from opsgym_domains import registry
from opsgym_domains.kit.schema import Row, is_counted

Verifiers = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class Derivation:
    """Derives the verifiers of one task."""

    file: TaskFile
    row: Task
    played: Played
    more: Mapping[str, StateDifference]
    """Differences with the optional calls, by gym server."""

    def verifiers(self) -> list[dict[str, Any]]:
        """The verifiers, as fields of the row."""
        return [*_without_idle_names(list(self._states())), *self._reported(), *self._read(), *self._attempts()]

    def _states(self) -> Verifiers:
        for server in self.row.gym_servers_config:
            gym, before = server.mcp_server_name, StateDifference()
            for day, by_gym in enumerate(self.played.by_day, start=1):
                if by_gym[gym] != before:
                    yield from self._rows(gym, server.domain, by_gym[gym], day)
                before = by_gym[gym]
            yield from self._rows(gym, server.domain, self.played.differences[gym], None)
            yield {
                "verifier_type": "state_difference",
                "name": "nothing_else_changes",
                "description": "Nothing else has been added, changed or removed",
                "category": "side_effect",
                "gym_name": gym,
                "validation_config": {
                    **({"rows": rows} if (rows := self._optional_rows(gym, server.domain)) else {}),
                    "nothing_else": True,
                    "ignored": _ignored(server.domain),
                },
            }

    def _rows(self, gym: str, domain: str, difference: StateDifference, day: int | None) -> Verifiers:
        added = _added_keys(difference)
        for table in difference.tables:
            rows = [row for one in table.rows if (row := self._expected(domain, table.table, one, added)) is not None]
            if rows:
                ending = "" if day is None else f"_on_day_{day}"
                yield {
                    "verifier_type": "state_difference",
                    "name": f"{table.table}{ending}",
                    "description": f"Rows of {table.table} are as the request and the policy ask{self._cited()}",
                    "gym_name": gym,
                    "validation_config": {"rows": rows, **({} if day is None else {"day": day})},
                }

    def _optional_rows(self, gym: str, domain: str) -> list[dict[str, Any]]:
        """Rows that only the optional calls write."""
        known = {(table.table, str(row.key)) for table in self.played.differences[gym].tables for row in table.rows}
        rows = [
            self._expected(domain, table.table, row, {})
            for table in self.more[gym].tables
            for row in table.rows
            if (table.table, str(row.key)) not in known
        ]
        return [{**row, "optional": True} for row in rows if row is not None]

    def _cited(self) -> str:
        called = {call.name for call in self.played.calls}
        rules = dict.fromkeys(rule for tool, rule in self.file.rules.items() if tool in called)
        return f" [{', '.join(rules)}]" if rules else ""

    def _expected(
        self, domain: str, table: str, row: RowDifference, added: Mapping[tuple[str, str], str]
    ) -> dict[str, Any] | None:
        if row.neutral:
            return None
        ignored = set(_ignored(domain).get(table, ()))
        if row.change == "removed":
            return {"table": table, "change": "removed", "keys": [row.key]}
        changed = row.change == "changed"
        conditions = {
            name: self._condition(domain, table, name, value, added)
            for name, value in row.after.items()
            if name not in ignored and (changed or value is not None)
        }
        free = [name for name, condition in conditions.items() if condition is _FREE]
        accepted = self._accepted(domain, table, row)
        sure = {
            name: condition
            for name, condition in ({**conditions, **accepted}).items()
            if condition is not _FREE and not _is_free(condition)
        }
        free += [name for name, condition in accepted.items() if _is_free(condition) and name not in free]
        may = {"may": {name: accepted.get(name, {}).get("may") for name in free} if accepted else free} if free else {}
        if changed:
            parts = {**({"values": sure} if sure else {}), **may}
            return {"table": table, "change": "changed", "keys": [row.key], **parts} if parts else None
        name = {"as": label} if (label := _label(row, added)) else {}
        return {"table": table, "change": "added", "values": sure, **may, **name}

    def _accepted(self, domain: str, table: str, row: RowDifference) -> dict[str, Any]:
        """What the file accepts in a row in place of the values of the solution, by column."""
        tools = registry.load(domain).toolbox.tools
        of_table = {name for name, tool in tools.items() if tool.effect and tool.effect.row.__tablename__ == table}
        stated = [columns for tool, columns in self.file.accept.items() if tool in of_table]
        stated += [
            step.accept
            for step in self.file.solution
            if step.tool in of_table and _has(row, resolved(step.arguments, self.played.named))
        ]
        return {
            name: condition_of(resolved(value, self.played.named))
            for columns in stated
            for name, value in columns.items()
        }

    def _condition(self, domain: str, table: str, column: str, value: Any, added: Mapping[tuple[str, str], str]) -> Any:
        """What a column must have; `_FREE` if the server or the agent chooses."""
        if referred := added.get(_reference_to(column, value)):
            return {"key_of": referred}
        if not isinstance(value, str) or not value.strip():
            return value
        if _is_made(domain, table, column) and value not in _argument_texts(self.played):
            return _FREE
        if " " in value.strip() and not _is_time(domain, table, column):
            read = Sources(f"{self.file.messages}\n{self.row.system_prompt}", self.played.read)
            return {"text": value} if read.has(value) else {"not_null": True}
        return value

    def _reported(self) -> Verifiers:
        if self.file.declines is not None:
            declines = Declines.model_validate(resolved(self.file.declines.model_dump(), self.played.named))
            yield _answer("says_it_was_not_done", "The answer says that nothing was done", [NOT_DONE], "refusal")
            yield _answer("says_why", "The answer names the record and the reason", declines.reasons, "refusal")
        for label, report in self.file.report.items():
            name = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
            category = report.category or ("task_completion" if self.file.feasible else "refusal")
            patterns = patterns_of(resolved(report.fact, self.played.named))
            yield _answer(name, report.says(label), patterns, category, report.day)

    def _read(self) -> Verifiers:
        rows = list(self._changed_and_read())
        if rows:
            yield {
                "verifier_type": "looked_up",
                "name": "looked_up_before_writing",
                "description": "What is written to was read before",
                "category": "permission_process",
                "validation_config": {"rows": rows, "writes": True},
            }
        if self.file.evidence:
            named = [pair for one in self.file.evidence for pair in self._read_row(one)]
            yield {
                "verifier_type": "looked_up",
                "name": "looked_up_what_decides",
                "description": "The records that decide were read",
                "category": "permission_process",
                "validation_config": {"rows": [{"column": column, "value": value} for column, value in named]},
            }

    def _read_row(self, evidence: str | Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        if isinstance(evidence, str):
            yield parse(evidence).field, resolved(evidence, self.played.named)
        else:
            yield from resolved(evidence, self.played.named).items()

    def _changed_and_read(self) -> Iterator[dict[str, Any]]:
        """Keys of rows that were changed or removed and that a reading call has shown."""
        for server in self.row.gym_servers_config:
            gym = server.mcp_server_name
            tools = registry.load(server.domain).toolbox.tools
            reads = [call for call in self.played.results if call.gym == gym and not tools[call.tool].writes]
            for table in self.played.differences[gym].tables:
                for row in table.rows:
                    for column, value in row.key.items() if row.change != "added" and len(row.key) == 1 else ():
                        if any(str(fields.get(column)) == str(value) for call in reads for fields in call.objects):
                            yield {"column": column, "value": value}

    def _attempts(self) -> Verifiers:
        if not self.file.feasible and not any(step.refused for step in self.file.solution):
            yield {
                "verifier_type": "never_called",
                "name": "attempts_nothing",
                "description": "Nothing was attempted that the policy forbids",
                "category": "refusal",
                "validation_config": {"writes": True},
            }


def _answer(
    name: str, description: str, patterns: Sequence[str], category: str, day: int | None = None
) -> dict[str, Any]:
    config = {"patterns": list(patterns), **({} if day is None else {"day": day})}
    fields = {"name": name, "description": description, "category": category, "validation_config": config}
    return {"verifier_type": "answer_match", **fields}


_FREE = object()
"""Condition of a column that the server or the agent chooses."""


def _is_free(condition: Any) -> bool:
    return isinstance(condition, Mapping) and condition.keys() == {"may"}


def _has(row: RowDifference, arguments: Mapping[str, Any]) -> bool:
    """Whether a row has the values of a call, in the columns that both have."""
    columns = {**row.after, **row.key}
    return all(str(columns[name]) == str(value) for name, value in arguments.items() if name in columns)


def _row_class(domain: str, table: str) -> type[Row]:
    metadata = registry.load(domain).metadata
    return next(
        mapper.class_
        for mapper in Row.registry.mappers
        if mapper.class_.__table__.metadata is metadata and mapper.class_.__tablename__ == table
    )


def _ignored(domain: str) -> dict[str, list[str]]:
    """Columns by table that the server fills itself in every row."""
    metadata = registry.load(domain).metadata
    kinds = {m.class_.__tablename__: m.class_ for m in Row.registry.mappers if m.class_.__table__.metadata is metadata}
    made = {}
    for name, kind in kinds.items():
        counted = kind.id_prefix is not None or kind.has_uuid or is_counted(metadata.tables[name])
        keys = [str(column.name) for column in kind.__table__.primary_key] if counted else []
        made[name] = [column for column in (*keys[:1], kind.created, kind.updated) if column is not None]
    return {name: columns for name, columns in sorted(made.items()) if columns}


def _added_keys(difference: StateDifference) -> dict[tuple[str, str], str]:
    """Names of added rows, of those with a key of one column, by what refers to them: any column that has a key of
    letters, or the column of the key's name that has a number.
    """
    added = [(table.table, row) for table in difference.tables for row in table.rows if row.change == "added"]
    return {
        _reference_to(column, value): f"{table} {value}"
        for table, row in added
        if len(row.key) == 1
        for column, value in row.key.items()
    }


def _reference_to(column: str, value: Any) -> tuple[str, str]:
    return (column if str(value).isdecimal() else "", str(value))


def _label(row: RowDifference, added: Mapping[tuple[str, str], str]) -> str | None:
    return next((name for key in row.key.items() if (name := added.get(_reference_to(*key)))), None)


def _without_idle_names(verifiers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Verifiers in which only rows have names to which others refer."""
    rows = [row for one in verifiers for row in one["validation_config"].get("rows", [])]
    conditions = [condition for row in rows for condition in row.get("values", {}).values()]
    named = {condition["key_of"] for condition in conditions if isinstance(condition, dict) and "key_of" in condition}
    for row in rows:
        if row.get("as") not in named:
            row.pop("as", None)
    return verifiers


def _is_made(domain: str, table: str, column: str) -> bool:
    """Whether the server gives new rows a value in a column: numbers and times."""
    return column in _row_class(domain, table).numbers or _is_time(domain, table, column)


def _is_time(domain: str, table: str, column: str) -> bool:
    return isinstance(registry.load(domain).metadata.tables[table].columns[column].type, Date | DateTime)


def _argument_texts(played: Played) -> set[str]:
    """Texts of all arguments, times also as tables have them."""
    texts = {text for call in played.calls for text in _texts(call.arguments)}
    return texts | {text.replace("T", " ").removesuffix("Z") for text in texts} | {f"{text} 00:00:00" for text in texts}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _texts(part)
    else:
        yield str(value)
