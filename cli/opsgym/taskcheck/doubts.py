"""What makes one doubt a published row: faults that public audits of the data found, read off the row alone.

Invariant: a doubt is a warning. Published rows run as they are, and a doubt may be wrong: a value may be known to an
agent in other words, and a tool may write a table that it does not declare.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opsgym.taskcheck.queries import QueryFailedError, SeedDatabases
from opsgym_api.tasks.task import GymServer, Task
from opsgym_api.tasks.verifiers import Comparison, DatabaseState, Verifier
from opsgym_domains import registry
from opsgym_runner.verification.comparison import holds
from opsgym_runner.verification.verifiers import value_of

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table
    from sqlglot import exp

    from opsgym_domains.kit.domain import Domain
    from opsgym_domains.kit.tools import Tool

_SHOWN = 3
"""Tools that a message names."""
_SHORTEST = 3
"""Characters of the shortest value that is looked for."""
_TIME = re.compile(r"\d{4}-\d\d|\d\d:\d\d")
_SERVERS_OWN = re.compile(r"[A-Za-z]{2,6}[-_]?\d+")
"""Numbers that the server gives to new records."""
_WILDCARDS = re.compile(r"[%_]+")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_NOTHING: tuple[Any, ...] = (0, "0", None, "", [], {})


class DoubtKind(StrEnum):
    """Kind of a doubt."""

    UNFOUNDED_VALUE = "unfounded_value"
    """A verifier wants a text that stands in no message to the agent, in no policy, tool and seed."""
    IMPOSSIBLE_QUERY = "impossible_query"
    """No state meets the conditions of a query, or the query never gives the expected value."""
    MIXED_TYPES = "mixed_types"
    """A query compares a column of numbers with a text, or its texts are compared with a number."""
    TEXT_FOR_NUMBER = "text_for_number"
    """The expected value is a number written as text, which the published harness never finds equal to a number."""
    HIDDEN_TOOL = "hidden_tool"
    """A verifier wants a change of tables that tools write, of which the agent is shown none."""


@dataclass(frozen=True)
class Doubt:
    """A doubt about a verifier."""

    kind: DoubtKind
    index: int
    """Position of the verifier in the row."""
    message: str
    """What is wrong, and what to do."""

    def where(self, task: Task) -> str:
        """The verifier in its row: its position and its name."""
        return f"verifiers[{self.index}] ({task.verifiers[self.index].name or 'unnamed'})"


@dataclass(frozen=True)
class Start:
    """What is known of the state that a row starts from."""

    seeds: Sequence[str] = ()
    """SQL of the seeds of all gym servers; none if one of them is missing."""
    values: Mapping[int, Any] = field(default_factory=dict)
    """Values of the verifiers' queries before any action, by position; a query that fails is left out."""

    def may_need(self, index: int, check: DatabaseState) -> bool:
        """Whether a verifier wants something that is not there yet."""
        if index not in self.values or check.comparison_type is Comparison.LESS_THAN:
            return False
        wants_nothing = check.comparison_type is Comparison.EQUALS and check.expected_value in _NOTHING
        return not wants_nothing and not holds(self.values[index], check.expected_value, check.comparison_type)


def start_of(task: Task, databases: SeedDatabases, seeds: Mapping[str, str]) -> Start:
    """What is known of the state that a row starts from.

    Args:
        task: The row.
        databases: Databases of its seeds.
        seeds: Names of the row's seeds by gym server, without those that are missing.
    """
    run = databases.queries_of(task, seeds)
    if run is None:
        return Start()
    values: dict[int, Any] = {}
    for index, verifier in enumerate(task.verifiers):
        if is_read(verifier):
            with suppress(QueryFailedError):
                values[index] = value_of(run(server_of(task, verifier).mcp_server_name, verifier.database_state.query))
    return Start(
        [databases.text(server.domain, seeds[server.mcp_server_name]) for server in task.gym_servers_config], values
    )


def is_read(verifier: Verifier) -> bool:
    """Whether a verifier has a query in SQLite's dialect."""
    return verifier.verifier_type == "database_state" and verifier.dialect == "sqlite"


def doubts_of(task: Task, start: Start) -> Iterator[Doubt]:
    """Doubts about the queries of a row whose domains are installed, in the order of its verifiers."""
    from opsgym.taskcheck import statements

    known = _known_texts(task, start) if start.values else ()
    for index, verifier in enumerate(task.verifiers):
        if not is_read(verifier):
            continue
        check = verifier.database_state
        domain = registry.load(server_of(task, verifier).domain)
        tree = statements.parsed(check.query)
        if tree is None:
            continue  # the query is refused where it is run, which is reported
        doubts = [
            *_of_statement(tree, check, domain.metadata),
            *_text_for_number(tree, check, start.values.get(index), domain.metadata),
        ]
        if start.may_need(index, check) and not task.events:
            doubts += [*_unfounded(tree, check, domain.metadata, known), *_hidden(tree, domain, task)]
        yield from (Doubt(kind, index, message) for kind, message in doubts)


def server_of(task: Task, verifier: Verifier) -> GymServer:
    """The gym server whose database a verifier reads."""
    name = verifier.gym_name or task.gym_servers_config[0].mcp_server_name
    return next(server for server in task.gym_servers_config if server.mcp_server_name == name)


Found = tuple[DoubtKind, str]


def _of_statement(tree: exp.Expr, check: DatabaseState, metadata: MetaData) -> Iterator[Found]:
    """Doubts that hold in every state."""
    from opsgym.taskcheck import statements

    for conditions in statements.unmet(tree, metadata):
        sql = " ".join(conditions.sql.split())
        if conditions.mixes_types:
            advice = "compare it with a number, or another column with the text"
            yield DoubtKind.MIXED_TYPES, f"{conditions.column} holds numbers, and no row can meet {sql}; {advice}"
        else:
            advice = "remove or correct one of the conditions"
            yield DoubtKind.IMPOSSIBLE_QUERY, f"no value of {conditions.column} meets {sql}; {advice}"
    if reason := statements.never_gives(tree, check.expected_value, check.comparison_type, metadata):
        yield DoubtKind.IMPOSSIBLE_QUERY, f"the query {reason}; correct the query or the expected value"
    column = statements.text_column(tree, metadata)
    if column and isinstance(check.expected_value, int | float) and check.comparison_type is Comparison.EQUALS:
        advice = "write the expected value as a text"
        yield DoubtKind.MIXED_TYPES, f"{column} holds texts, and {check.expected_value!r} is a number; {advice}"


def _text_for_number(tree: exp.Expr, check: DatabaseState, actual: Any, metadata: MetaData) -> Iterator[Found]:
    from opsgym.taskcheck import statements

    expected = check.expected_value
    is_number = isinstance(actual, int | float) or statements.gives_numbers(tree, metadata)
    is_text = isinstance(expected, str) and _NUMBER.fullmatch(expected.strip())
    if is_number and is_text and check.comparison_type is Comparison.EQUALS:
        advice = "write the expected value as a number"
        yield DoubtKind.TEXT_FOR_NUMBER, f"expects the text {expected!r}, the query returns numbers; {advice}"


# --- values --------------------------------------------------------------------------------------------------------


def _known_texts(task: Task, start: Start) -> Sequence[str]:
    """What an agent can know, in the form of `_plain`."""
    shown = [tool.input_schema for domain in _domains(task) for tool in _shown_tools(task, domain)]
    messages = [task.user_prompt, task.system_prompt, *(day.message for day in task.days)]
    texts = [*messages, json.dumps(shown, ensure_ascii=False), json.dumps([s.headers for s in task.gym_servers_config])]
    return [*map(_plain, texts), *map(_plain_seed, start.seeds)]


def _plain(text: str) -> str:
    """Letters and digits of a text, without case: `Awaiting acceptance` and `awaiting_acceptance` are equal."""
    return "".join(character for character in text.casefold() if character.isalnum())


_plain_seed = lru_cache(maxsize=4)(_plain)


def _unfounded(tree: exp.Expr, check: DatabaseState, metadata: MetaData, known: Sequence[str]) -> Iterator[Found]:
    from opsgym.taskcheck import statements

    for column, values in statements.wanted_texts(tree, check.expected_value, metadata):
        if not any(_is_known(value, known) for value in values):
            shown = " or ".join(map(repr, values[:_SHOWN]))
            where = "stands in no message, policy, tool or row of the seed"
            advice = "tell the agent the value, or judge what it can know"
            yield DoubtKind.UNFOUNDED_VALUE, f"{column} is to be {shown}, which {where}; {advice}"


def _is_known(value: str, known: Sequence[str]) -> bool:
    if _TIME.search(value) or _SERVERS_OWN.fullmatch(value):
        return True
    parts = [_plain(part) for part in _WILDCARDS.split(value)] if "%" in value else [_plain(value)]
    return all(len(part) < _SHORTEST or any(part in text for text in known) for part in parts)


# --- tools ---------------------------------------------------------------------------------------------------------


def _hidden(tree: exp.Expr, domain: Domain, task: Task) -> Iterator[Found]:
    from opsgym.taskcheck import statements

    read = {table.name for table in statements.tables_of(tree, domain.metadata)}
    if not read or read & _reached(_shown_tools(task, domain), domain.metadata):
        return
    writers = [tool.name for tool in domain.toolbox.tools.values() if read & _effects([tool])]
    if writers:
        more = " or another" if len(writers) > _SHOWN else ""
        tables = ", ".join(sorted(read))
        advice = f"show {' or '.join(writers[:_SHOWN])}{more}"
        yield DoubtKind.HIDDEN_TOOL, f"wants a change of {tables}, which no tool shown writes; {advice}"


def _domains(task: Task) -> list[Domain]:
    return [registry.load(name) for name in dict.fromkeys(server.domain for server in task.gym_servers_config)]


def _shown_tools(task: Task, domain: Domain) -> list[Tool]:
    tools = domain.toolbox.tools.values()
    shown = [tool for tool in tools if not task.selected_tools or tool.name in task.selected_tools]
    return [tool for tool in shown if tool.name not in task.restricted_tools]


def _effects(tools: Sequence[Tool]) -> set[str]:
    return {tool.effect.row.__tablename__ for tool in tools if tool.effect is not None}


def _reached(tools: Sequence[Tool], metadata: MetaData) -> set[str]:
    """Tables that tools may write: those of their effects, those whose rows belong to these, and those that a new row
    refers to, since a tool may add both (a draft and its message).
    """
    own = _effects(tools)
    added = _effects([tool for tool in tools if tool.effect is not None and tool.effect.operation == "adds"])
    belonging = {name for name, table in metadata.tables.items() if own & _referred(table)}
    return own | belonging | {name for table in added for name in _referred(metadata.tables[table])}


def _referred(table: Table) -> set[str]:
    return {key.column.table.name for key in table.foreign_keys}
