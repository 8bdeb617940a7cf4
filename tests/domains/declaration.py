"""What a domain declares to be tested: rows, an example call of every tool, and what its tools read and write.

Invariant: an installed domain has a module `tests.domains.<name>` with a `DECLARATION`; every test of this folder runs
for it. Adding a domain adds that module and no test code.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import apsw
from tests.support.gym import Gym, GymDatabase

from opsgym_domains import registry
from opsgym_domains.kit.domain import Domain, checked_arguments
from opsgym_domains.kit.schema import sqlite_ddl
from opsgym_domains.kit.tools import Tool

SOAK = os.environ.get("OPSGYM_SOAK") == "1"
"""Whether rules of the kit are tried on every tool and every value instead of on a sample."""

T = TypeVar("T")
Tables = Mapping[str, Sequence[tuple[Any, ...]]]
"""Rows of each table, in the order of their insertion."""


@dataclass(frozen=True)
class ListTool:
    """A tool that lists the rows of one table.

    Attributes:
        table: Name of the table.
        partial: Filters that match a part of a text in any case; all others match exactly.
        columns: Column by filter, where the names differ. A date range `x_after`, `x_before` is of the column `x`,
            or of the time of creation if `x` is `created`.
        own_rules: Arguments that are neither; tests of the domain cover them.
        rows_in: Key of the result that holds the rows; None if the result is the list.
        order: How SQLite orders the rows; None for the domain's usual order.
        optional_fields: Fields of a result without a column, or that only some calls return.
        by_name: Query in SQLite's dialect by filter, from the value of the column to that of the filter, where the
            filter names the record that the column refers to.
        needs_filter: Whether a call without a filter is refused.
    """

    table: str
    partial: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    own_rules: tuple[str, ...] = ()
    rows_in: str | None = None
    order: str | None = None
    optional_fields: frozenset[str] = frozenset()
    by_name: Mapping[str, str] = field(default_factory=dict)
    needs_filter: bool = False


@dataclass(frozen=True)
class CreateTool:
    """A tool that makes one row.

    Attributes:
        table: Name of the table.
        filled: Columns of the row that the call does not give, or gives in another form, with their values.
        given: Arguments; the tool's example call if None.
        optional: Further arguments, each with a value that differs from the default.
        columns: Column by argument, where the names differ.
        also_writes: Other tables that the call adds rows to.
        by_name: Returned value by argument, where the call gives it in another form.
    """

    table: str
    filled: Mapping[str, Any]
    given: Mapping[str, Any] | None = None
    optional: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    also_writes: frozenset[str] = frozenset()
    by_name: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UpdateTool:
    """A tool that changes one row.

    Attributes:
        table: Name of the table.
        key: Argument that names the row.
        record: Row to change.
        missing: Error code for an unknown row.
        values: A new value for each argument; the tool's example call if empty, on the row which that names.
        columns: Column by argument, where the names differ.
        other_keys: Arguments that name the row instead of `key`.
        whole: Whether all arguments are required, so that no call is without a field to change.
        also_writes: Other tables that the call changes.
        by_name: Query in SQLite's dialect by argument, from the value of the column to that of the argument, where the
            two differ in form.
        always: Required arguments besides the key.
    """

    table: str
    key: str
    record: Any
    missing: str
    values: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    other_keys: tuple[str, ...] = ()
    whole: bool = False
    also_writes: frozenset[str] = frozenset()
    by_name: Mapping[str, str] = field(default_factory=dict)
    always: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeleteTool:
    """A tool that deletes rows of one table.

    Attributes:
        table: Name of the table.
        removes: Calls, each with the keys of the rows that it deletes.
        incomplete: Calls that select no rows, or not by a whole name; they are refused with `incomplete_code`.
        incomplete_code: Error code.
        misses: Calls that select rows which do not exist, each with its error code; None if 0 is reported instead.
    """

    table: str
    removes: Sequence[tuple[Mapping[str, Any], AbstractSet[Any]]]
    incomplete: Sequence[Mapping[str, Any]]
    incomplete_code: str
    misses: Sequence[tuple[Mapping[str, Any], str | None]]


@dataclass(frozen=True)
class StrictCase:
    """A call that a process rule refuses in access `strict`, and one that satisfies the rule.

    Attributes:
        rule: Number of the rule in the domain's policy.
        code: Error code of the refusal.
        tool: Name of the tool.
        wrong: Arguments of the refused call.
        right: Replaces arguments of the refused call (None removes one), so that it succeeds; None if nothing would.
        says: Part of the message.
        role: Role of the caller.
        helper: Role of the caller of the second call, where the first may not make it.
        given: Statements in SQLite's dialect after the seed's.
    """

    rule: str
    code: str
    tool: str
    wrong: Mapping[str, Any]
    right: Mapping[str, Any] | None
    says: str = ""
    role: str = "admin"
    helper: str | None = None
    given: str = ""

    @property
    def id(self) -> str:
        """Name of the test."""
        return f"{self.rule} {self.tool} {' '.join(self.wrong)}"


@dataclass(frozen=True)
class StrictDeclaration:
    """What access `strict` enforces in a domain.

    Attributes:
        seed: Rows: users of every role, and a record in every state that the rules distinguish.
        identities: Value of the identity header of an active user, by role.
        inactive: Value of the identity header of a user who may not act.
        reads: Whether a role may read a resource.
        changes: Whether a role may change a resource.
        tools_of_resource: A tool that reads and one that changes each resource, None if there is none.
        cases: At least one for each process rule.
        rules_of_identity: Numbers of the policy's rules on who may act, which no case covers.
        transitions: States that may follow a state, as the code enforces them; the policy shows the same table.
        denial: Role and tool of a call that must be denied, and what the refusal names; None if every role may use
            every tool.
    """

    seed: str
    identities: Mapping[str, str]
    inactive: str
    reads: Callable[[str, str], bool]
    changes: Callable[[str, str], bool]
    tools_of_resource: Mapping[str, tuple[str | None, str | None]]
    cases: Sequence[StrictCase]
    rules_of_identity: frozenset[str]
    transitions: Mapping[str, Collection[str]]
    denial: tuple[str, str, tuple[str, ...]] | None


@dataclass(frozen=True)
class DomainDeclaration:
    """A domain with everything that the tests of every domain need.

    Attributes:
        domain: The domain.
        tool_count: Number of its tools.
        seed: Rows, in SQLite's dialect.
        examples: A call of every tool that succeeds on the seed.
        identity: Value of the identity header of an admin.
        now: Time that tests stop the clock at; later than every row.
        order: How SQLite orders the rows of a list, with `{created}` for the table's creation time.
        unknown_key: A value of the keys' type that no row has.
        unnamed_arguments: Tools and required arguments of which the published refusal does not name the argument.
        argument_codes: Code by code of the kit, where the domain writes refused arguments in another form.
        other_writes: Tools that write and are none of these; tests of the domain cover them.
        refuses_no_op: Whether an update to the stored values is refused; otherwise it only moves the time of update.
        references: Error code of an argument that names a row of another table, by argument, for tools that write.
        dangling: Text of the seed, text that makes a reference of it dangle, and the row that the check then returns.
        column_of: Column whose values an argument takes, where the names differ.
        visible: Condition in SQLite's dialect of the rows that the admin sees, where a table has its column.
        selecting: Tools that write, and arguments of theirs that select rows although they are named as references.
    """

    domain: Domain
    tool_count: int
    seed: str
    examples: Mapping[str, Mapping[str, Any]]
    identity: str
    now: str
    order: str
    unknown_key: Any
    lists: Mapping[str, ListTool]
    creates: Mapping[str, CreateTool]
    updates: Mapping[str, UpdateTool]
    deletes: Mapping[str, DeleteTool]
    other_writes: frozenset[str]
    refuses_no_op: bool
    references: Mapping[str, str]
    strict: StrictDeclaration
    dangling: tuple[str, str, dict[str, Any]]
    unnamed_arguments: frozenset[tuple[str, str]] = frozenset()
    argument_codes: Mapping[str, str] = field(default_factory=dict)
    column_of: Mapping[str, str] = field(default_factory=dict)
    visible: str = "1"
    selecting: frozenset[tuple[str, str]] = frozenset()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The domain's tools, by name."""
        return self.domain.toolbox.tools

    @property
    def checks_by_schema(self) -> bool:
        """Whether arguments are checked by the tools' schemas, so that refusals have the codes of the kit."""
        return self.domain.accept is checked_arguments

    @property
    def headers(self) -> dict[str, str]:
        """Headers of calls by the admin."""
        return {self.domain.identity_header: self.identity}

    @contextmanager
    def database(self, gym: Gym, seed: str | None = None) -> Iterator[GymDatabase]:
        """A database of the seed that the admin uses, at a stopped clock; it is dropped afterwards.

        Args:
            gym: Server of the domain.
            seed: Rows instead of the declared ones.
        """
        made = gym.database(self.seed if seed is None else seed, **self.headers)
        made.set_clock(self.now)
        yield made
        gym.drop(made)

    @contextmanager
    def strict_database(
        self, gym: Gym, role: str = "admin", *, given: str = "", access: str = "strict"
    ) -> Iterator[GymDatabase]:
        """A database of the seed for access `strict`; it is dropped afterwards.

        Args:
            gym: Server of the domain.
            role: Role of the caller.
            given: Statements in SQLite's dialect after the seed's.
            access: Setting of the database.
        """
        headers = {self.domain.identity_header: self.strict.identities[role]}
        made = gym.database(self.strict.seed + given, access=access, **headers)
        made.set_clock(self.now)
        yield made
        gym.drop(made)

    def as_user(self, database: GymDatabase, identity: str | None) -> GymDatabase:
        """The same database, used by another user; without an identity header if the identity is None."""
        headers = {} if identity is None else {self.domain.identity_header: identity}
        return GymDatabase(database.client, database.id, headers)

    def sqlite(self) -> apsw.Connection:
        """The seed in SQLite, independent of the server."""
        return _sqlite(self.domain.name)

    def key_column(self, table: str) -> str:
        """Name of a table's first key column."""
        return str(next(iter(self.domain.metadata.tables[table].primary_key)).name)

    def time_column(self, table: str, kind: str) -> str | None:
        """Name of a table's time of creation (`created`) or of the last change (`updated`), None if it has none."""
        columns = self.domain.metadata.tables[table].columns
        names = [name for name in columns.keys() if name.removeprefix("sys_") in (f"{kind}_at", f"{kind}_on")]  # noqa: SIM118
        return names[0] if names else None

    def tables(self, database: GymDatabase) -> Tables:
        """The present rows of every table."""
        snapshot = database.sqlite()
        return {name: list(snapshot.execute(f'SELECT * FROM "{name}"')) for name in self.domain.metadata.tables}

    def visible_rows(self, table: str) -> str:
        """Condition of the rows of a table that the admin sees."""
        return self.visible if self.visible.split(" ")[0] in self.domain.metadata.tables[table].columns else "1"

    def as_argument(self, tool: str, argument: str, value: Any, by_name: Mapping[str, str]) -> Any:
        """A value that SQLite has as a tool's argument gives it: the name of a record instead of its key, if the
        argument has a query in `by_name`.
        """
        if argument in by_name:
            ((value,),) = self.sqlite().execute(by_name[argument], (value,))
        return as_argument(self.tools[tool], argument, value)

    def row(self, database: GymDatabase, table: str, key: Any) -> dict[str, Any]:
        """A row as SQLite has it."""
        query = f'SELECT * FROM "{table}" WHERE "{self.key_column(table)}" = {key!r}'
        (row,) = database.rows(query)
        return row

    def argument_code(self, code: str) -> str:
        """Error code that this domain writes for a refused argument."""
        return self.argument_codes.get(code, code)


@cache
def declared_domains() -> dict[str, DomainDeclaration]:
    """The declaration of every installed domain, by the domain's name."""
    return {name: importlib.import_module(f"tests.domains.{name}").DECLARATION for name in sorted(registry.domains())}


@cache
def _sqlite(domain: str) -> apsw.Connection:
    declaration = declared_domains()[domain]
    db = apsw.Connection(":memory:")
    db.execute(sqlite_ddl(declaration.domain.metadata))
    for _ in db.execute(declaration.seed):
        pass
    return db


def sample(items: Sequence[T], size: int = 3) -> Sequence[T]:
    """A few of the items, the same at every run and evenly spread; all of them when soaking."""
    if SOAK or len(items) <= size:
        return items
    return [items[index * (len(items) - 1) // (size - 1)] for index in range(size)]


def as_argument(tool: Tool, name: str, value: Any) -> Any:
    """A value that SQLite has, in the JSON type that a tool's argument takes."""
    parameter = tool.parameters[name]
    if "boolean" in parameter.schema["type"]:
        return bool(value)
    if parameter.allowed == ("true", "false"):
        return {1: "true", 0: "false"}[value]
    if "array" in parameter.schema["type"] or parameter.fields:
        return json.loads(value) if isinstance(value, str) else value
    return str(value) if isinstance(value, int) and "string" in parameter.schema["type"] else value
