"""The database that a recording began with, as far as it can be inferred.

Invariant: every row that the recording shows from the beginning is there with the values it shows; rows that calls made
are not. Values that no call shows are made up such that no recorded answer changes: no read that did not show an added
row finds it, and a new row gets the recorded identifier, because the one before it is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count
from typing import Any

from sqlalchemy import Boolean, Column, Date, DateTime, Integer, Numeric
from tools.conformance.checks import breaks_a_check
from tools.conformance.inference import Fact, Findings, Grouping, Known, Removal
from tools.conformance.tables import Tables, Values

LONG_AGO = "2020-01-01 00:00:00"
"""Time of rows whose time is unknown: before anything recorded."""
_NUMBERED = re.compile(r"([A-Za-z _:/-]*)(\d{1,12})")
"""What is counted: `INC_024`, `CS-0001233`; not `8763f182-f9e4-…`."""
_UNKNOWN = -1
"""Call index of a value that no call shows."""


@dataclass(frozen=True)
class Identity:
    """How a domain's header names the acting user."""

    table: str
    column: str
    """Column that the header's value stands in."""
    staff: Values
    """What makes a user one who may do everything."""


@dataclass
class World:
    """Rows to begin with, by table and key."""

    rows: dict[tuple[str, Any], dict[str, Fact]] = field(default_factory=dict)
    identity: str | None = None
    """The identity header's value for the acting user."""


def build(findings: Findings, tables: Tables, identity: Identity | None = None, header: str | None = None) -> World:
    """The world that findings call for.

    Args:
        findings: Inferred from the recording.
        tables: The domain's tables.
        identity: How the acting user is found; None where everybody may act.
        header: The recorded identity; None if it is not known, which makes it a user who may do everything.
    """
    return _Builder(findings, tables).build(identity, header)


class _Builder:
    def __init__(self, findings: Findings, tables: Tables) -> None:
        self._findings = findings
        self._tables = tables
        self._rows: dict[tuple[str, Any], dict[str, Fact]] = {}
        self._spares: dict[str, Any] = {}
        """Key of the row that references point to if no call shows which, by table."""
        self._people: str | None = None
        """Table of users: that two rows refer to the same one follows from nothing."""
        self._open: list[tuple[str, Any]] = []
        """Rows with columns that are still to be filled in."""

    def build(self, identity: Identity | None, header: str | None) -> World:
        self._people = identity.table if identity is not None else None
        for row in self._findings.rows.values():
            if row.made_by is None:
                self._add(row.table, row.key, dict(row.initial))
        for row in self._findings.rows.values():
            self._add_parents(row)
        for table in self._tables.keys:
            self._hold_sequence(table)
        for removal in self._findings.removals:
            self._add_removed(removal)
        actor = self._actor(identity, header) if identity is not None else None
        self._complete_all()
        for grouping in self._findings.groupings:
            self._add_counted(grouping)
            self._complete_all()
        return World(self._rows, actor)

    # --- which rows --------------------------------------------------------------------------------------------------

    def _add(self, table: str, key: Any, values: dict[str, Fact] | None = None) -> dict[str, Fact]:
        """A row of the world; an existing one learns what it does not know."""
        row = self._rows.get((table, key))
        if row is None:
            row = self._rows[table, key] = {self._tables.keys[table]: Fact(key, _UNKNOWN)}
            self._open.append((table, key))
        for name, fact in (values or {}).items():
            row.setdefault(name, fact)
        return row

    def _add_parents(self, row: Known) -> None:
        """What a row refers to, at first or later, was there unless a call made it."""
        values = {name: fact.value for name, fact in row.initial.items()}
        for source in (values, row.current):
            for name, value in source.items():
                if value is None or name not in self._tables.columns(row.table):
                    continue
                parent = self._tables.parent(row.table, name)
                if parent is not None and not self._made(parent, value):
                    self._add(parent, value, self._shared(row.table, parent, name, values or row.current))
                for target, referred in self._tables.named_parents(row.table, name):
                    self._add_named(target, referred, value)

    def _made(self, table: str, key: Any) -> bool:
        row = self._findings.rows.get((table, key))
        return row is not None and row.made_by is not None

    def _shared(self, table: str, parent: str, column: str, values: Mapping[str, Any]) -> dict[str, Fact]:
        """References that a row and what it refers to have in common: a case's contact is of the case's account."""
        findings: dict[str, Fact] = {}
        for name in self._tables.columns(parent):
            target = self._tables.parent(parent, name)
            if target is None or target == self._people:
                continue
            same = [
                own
                for own in self._tables.columns(table)
                if self._tables.parent(table, own) == target and own != column
            ]
            own = name if name in same else same[0] if len(same) == 1 else None
            value = values.get(own) if own is not None else None
            if value is not None and not self._made(target, value):
                findings[name] = Fact(value, _UNKNOWN)
        return findings

    def _hold_sequence(self, table: str) -> None:
        """Takes the identifier before the first that a call made."""
        first = self._first(table)
        key = _before(first.key) if first is not None else None
        if first is None or key is None:
            return
        values = {
            name: Fact(before, _UNKNOWN)
            for name, value in first.current.items()
            if self._tables.is_text(table, name) and name != self._tables.keys[table]
            if value not in self._findings.mentioned and (before := _before(value)) is not None
        }
        if (table, key) not in self._rows:
            self._spares.setdefault(table, key)
        self._add(table, key, values)

    def _of(self, table: str) -> Iterator[Any]:
        return (key for name, key in self._rows if name == table)

    def _add_removed(self, removal: Removal) -> None:
        """Rows that were removed and never shown."""
        facts = {name: Fact(value, removal.call) for name, value in removal.values.items() if value is not None}
        values = {name: fact.value for name, fact in facts.items()}
        for _ in range(removal.count - self._agreeing(removal.table, values)):
            self._add(removal.table, self._free_key(removal.table), facts)

    def _add_counted(self, grouping: Grouping) -> None:
        """Rows that were counted and never shown."""
        for value, shown_count in grouping.counts.items():
            values = {**grouping.filters, grouping.column: value}
            for _ in range(shown_count - self._agreeing(grouping.table, values)):
                facts = {name: Fact(value, grouping.call) for name, value in values.items()}
                self._add(grouping.table, self._free_key(grouping.table), facts)

    def _agreeing(self, table: str, values: Mapping[str, Any]) -> int:
        """How many rows are known to have these values."""
        return sum(name == table and _agrees(row, values) is True for (name, _), row in self._rows.items())

    def _actor(self, identity: Identity, header: str | None) -> str:
        """The acting user's header value: the recorded one, or that of a user who may do everything."""
        people = {key: row for (table, key), row in self._rows.items() if table == identity.table}
        if header is not None:
            if not any(_value(row, identity.column) == header for row in people.values()):
                key, values = self._implied(identity)
                values |= {identity.column: Fact(header, _UNKNOWN)} | _facts(identity.staff)
                self._add(identity.table, key or self._free_key(identity.table), values)
            return header
        for key, row in people.items():
            known = _value(row, identity.column) is not None and _agrees(row, identity.staff)
            if known and not self._findings.rows[identity.table, key].touched:
                return str(row[identity.column].value)
        key = self._spare(identity.table)
        row = self._add(identity.table, key, _facts(identity.staff))
        self._complete(identity.table, key)
        return str(row[identity.column].value)

    def _implied(self, identity: Identity) -> tuple[Any, dict[str, Fact]]:
        """What new rows show of the user who made them, unasked: the key, and what both refer to."""
        key: Any = None
        values: dict[str, Fact] = {}
        for row in self._findings.rows.values():
            unasked = {} if row.made_by is None else {n: v for n, v in row.current.items() if n not in row.ordered}
            for name, value in unasked.items():
                target = self._tables.parent(row.table, name) if name in self._tables.columns(row.table) else None
                if value is None or target is None:
                    continue
                if target == identity.table and _value(self._rows[target, value], identity.column) is None:
                    key = value
                elif (
                    self._tables.parent(identity.table, name) == target
                    if name in self._tables.columns(identity.table)
                    else False
                ):
                    values[name] = Fact(value, _UNKNOWN)
        return key, values

    # --- which values ------------------------------------------------------------------------------------------------

    def _complete_all(self) -> None:
        while self._open:
            self._complete(*self._open.pop())

    def _complete(self, table: str, key: Any) -> None:
        row = self._rows[table, key]
        for name, column in self._tables.columns(table).items():
            if name not in row:
                row[name] = Fact(self._fill(table, key, column), _UNKNOWN)
        self._mend(table, row)
        for name in self._tables.columns(table):
            parent = self._tables.parent(table, name)
            if row[name].value is None:
                continue
            if parent is not None and not self._made(parent, row[name].value):
                self._add(parent, row[name].value)
            for target, referred in self._tables.named_parents(table, name):
                self._add_named(target, referred, row[name].value)

    def _add_named(self, table: str, column: str, value: Any) -> None:
        """A row that is referred to by something else than its key."""
        if not any(_value(row, column) == value for (name, _), row in self._rows.items() if name == table):
            self._add(table, self._free_key(table), {column: Fact(value, _UNKNOWN)})

    def _mend(self, table: str, row: dict[str, Fact]) -> None:
        """Gives a row that a check would refuse one of the values it may do without."""
        declared = self._tables.by_name[table]
        values = {name: fact.value for name, fact in row.items()}
        for name, fact in list(row.items()):
            parent = self._tables.parent(table, name)
            if not breaks_a_check(declared, values):
                return
            if fact.call == _UNKNOWN and parent is not None:
                values[name] = self._spare(parent) if fact.value is None else self._free_key(parent)
                row[name] = Fact(values[name], _UNKNOWN)

    def _fill(self, table: str, key: Any, column: Column[Any]) -> Any:
        """A value for a column that no call shows, such that no recorded read changes."""
        parent = self._tables.parent(table, column.name)
        created, updated = self._tables.stamps(table)
        if column.name in (created, updated):
            return LONG_AGO
        if column.nullable:
            return None
        if parent is not None:
            hidden = self._hidden(table, key, column.name)
            return next(other for other in self._others(parent) if other not in hidden)
        options = self._tables.choices(table, column.name) or _defaults(column)
        if not options:
            return f"{table}.{column.name}.{key}" + ("@example.test" if "mail" in column.name else "")
        hidden = self._hidden(table, key, column.name)
        unseen = [value for value in options if value not in hidden]
        uncounted = [value for value in unseen if not self._is_full(table, self._rows[table, key], column.name, value)]
        return next(iter([*uncounted, *unseen, *options]))

    def _hidden(self, table: str, key: Any, column: str) -> list[Any]:
        """Values that would have shown a row in an answer that did not show it."""
        row = self._rows[table, key]
        known = self._findings.rows.get((table, key))
        return [
            listing.filters[column]
            for listing in self._findings.listings
            if listing.table == table and column in listing.filters and key not in listing.keys
            if not (known is not None and known.gone is not None and known.gone < listing.call)
            if _agrees(row, {name: value for name, value in listing.filters.items() if name != column}) is not False
        ]

    def _is_full(self, table: str, row: Mapping[str, Fact], column: str, value: Any) -> bool:
        """Whether so many rows were counted with a value that this one cannot be among them."""
        return any(
            self._agreeing(table, {**grouping.filters, column: value}) >= grouping.counts.get(value, 0)
            for grouping in self._findings.groupings
            if (grouping.table, grouping.column) == (table, column) and _agrees(row, grouping.filters) is not False
        )

    def _spare(self, table: str) -> Any:
        """A row that nothing recorded is about."""
        if table not in self._spares:
            first = self._first(table)
            held = _before(first.key) if first is not None else None
            self._spares[table] = next(self._free_below(table), None) or held or self._free_key(table)
            self._add(table, self._spares[table])
        return self._spares[table]

    def _others(self, table: str) -> Iterator[Any]:
        """Rows to refer to if no call shows which: the spare one, then any, then new ones."""
        yield self._spare(table)
        yield from list(self._of(table))
        yield from self._free_from(table, 1)

    def _first(self, table: str) -> Known | None:
        """The first row that a call made."""
        made = [row for row in self._findings.rows.values() if row.table == table and row.made_by is not None]
        return min(made, key=lambda row: row.made_by or 0, default=None)

    def _free_key(self, table: str) -> Any:
        """An identifier that no row has, if there is one below those that calls made."""
        return next(chain(self._free_below(table), self._free_from(table, self._first_made(table))))

    def _free_below(self, table: str) -> Iterator[Any]:
        """Identifiers below those that calls made, those that no call names first."""
        limit = min(self._first_made(table), len(self._taken(table)) + len(self._findings.mentioned) + 2)
        free = [key for key in map(self._form(table), range(1, limit)) if key not in self._taken(table)]
        return iter(sorted(free, key=lambda key: key in self._findings.mentioned))

    def _free_from(self, table: str, number: int) -> Iterator[Any]:
        return (key for key in map(self._form(table), count(number)) if key not in self._taken(table))

    def _first_made(self, table: str) -> int:
        """Number of the lowest identifier that a call made; a large one if none did."""
        made = [row.key for row in self._findings.rows.values() if row.table == table and row.made_by is not None]
        return min((_number(key) or 1 for key in made), default=1_000_000)

    def _taken(self, table: str) -> set[Any]:
        return {*self._of(table), *(key for name, key in self._findings.rows if name == table)}

    def _form(self, table: str) -> Callable[[int], Any]:
        """How a table's identifiers are made of numbers."""
        if isinstance(self._tables.by_name[table].columns[self._tables.keys[table]].type, Integer):
            return int
        some = next((key for name, key in [*self._rows, *self._findings.rows] if name == table), None)
        pattern = _NUMBERED.fullmatch(some) if isinstance(some, str) else None
        prefix, digits = (pattern[1], len(pattern[2])) if pattern else (f"{table}-", 3)
        return lambda number: f"{prefix}{number:0{digits}d}"


def _agrees(row: Mapping[str, Fact], values: Mapping[str, Any]) -> bool | None:
    """Whether a row has these values; None if it is not known of one of them, and no other differs."""
    shown_count = [_value(row, name) == value if name in row else None for name, value in values.items()]
    return False if False in shown_count else None if None in shown_count else True


def _value(row: Mapping[str, Fact], column: str) -> Any:
    return row[column].value if column in row else None


def _facts(values: Mapping[str, Any]) -> dict[str, Fact]:
    return {name: Fact(value, _UNKNOWN) for name, value in values.items()}


def _defaults(column: Column[Any]) -> tuple[Any, ...]:
    match column.type:
        case Boolean():
            return (True, False)
        case Integer() | Numeric():
            return (0, 1)
        case DateTime():
            return (LONG_AGO,)
        case Date():
            return (LONG_AGO[:10],)
    return ()


def _number(key: Any) -> int | None:
    """The number an identifier ends with."""
    if isinstance(key, int):
        return key
    numbered = _NUMBERED.fullmatch(key) if isinstance(key, str) else None
    return int(numbered[2]) if numbered else None


def _before(value: Any) -> Any:
    """The identifier or number that is counted before this one; None if it is the first, or is not counted."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value - 1 if value > 1 else None
    numbered = _NUMBERED.fullmatch(value) if isinstance(value, str) else None
    if numbered is None or int(numbered[2]) <= 1:
        return None
    return f"{numbered[1]}{int(numbered[2]) - 1:0{len(numbered[2])}d}"


# --- as a seed -------------------------------------------------------------------------------------------------------


def script(world: World, tables: Tables) -> str:
    """The world as a seed: inserts in SQLite's dialect, rows in the order of their identifiers."""
    lines = []
    for table in tables.by_name:
        keys = sorted((key for name, key in world.rows if name == table), key=lambda key: (_number(key) or 0, str(key)))
        for key in keys:
            row = world.rows[table, key]
            names = ", ".join(f'"{name}"' for name in row)
            values = ", ".join(_literal(fact.value) for fact in row.values())
            lines.append(f'INSERT INTO "{table}" ({names}) VALUES ({values});')  # noqa: S608 - inferred rows
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def moments(findings: Findings) -> list[datetime | None]:
    """When each call was made: as it wrote it, else as the call before it; the first known time before that."""
    times: list[datetime | None] = []
    last = next((moment for moment in findings.moments if moment is not None), None)
    for moment in findings.moments:
        last = max(last, moment) if last is not None and moment is not None else last
        times.append(last)
    return times


def is_counted(key: Any) -> bool:
    """Whether an identifier is one of a sequence, so that a server that counts gives the same one."""
    return _number(key) is not None
