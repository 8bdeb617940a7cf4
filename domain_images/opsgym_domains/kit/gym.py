"""Row access of a tool: one database, one transaction, one acting user.

Invariant: a tool reads and writes rows only through a `Gym`, so that identifiers, timestamps, owners, numbers, length
limits, references, uniqueness and the refusal of no-op updates are the same for every tool of every domain. What
needs no database is apart: conditions in `filters`, values in `fitting`, statements that count in `identifiers`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ForeignKey, FromClause, Integer, MetaData, cast, desc, func, inspect, literal_column, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import Select
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.kit.access import ORGANISATION, AccessRules, Scope, references
from opsgym_domains.kit.clock import Clock
from opsgym_domains.kit.constraint_errors import as_tool_error, missing_reference, not_found_code
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.filters import NO_FILTERS, among, matching
from opsgym_domains.kit.fitting import can_be_stored, changes, fit_key, fitted
from opsgym_domains.kit.identifiers import NEXT_UUIDS, count_up, ulid_of, uuid_of
from opsgym_domains.kit.schema import (
    ROW_ORDER,
    Row,
    as_dict,
    is_counted,
    key_column,
    searched_of,
    table_of,
    uniques_of,
)

R = TypeVar("R", bound=Row)
Key = str | int | tuple[str | int, ...]
"""Primary key of a row; a tuple if it has several columns."""


@dataclass(frozen=True)
class Actor:
    """The acting user of a call."""

    user_id: str | int
    org_id: str | None = None
    role: str | None = None
    active: bool = True
    """Whether the account is active."""
    anonymous: bool = False
    """Whether the call had no identity, so that the domain's default user acts."""


SYSTEM = Actor(user_id="system")
"""Actor of changes that no user makes."""


class Gym:
    """One call's view of a database.

    Rows outside the domain's scope are invisible. In access `strict` so are those outside the scope of its access
    rules, and every write is checked against the process rules.

    Attributes:
        actor: The acting user.
        database_id: Id by which clients know the database; published servers show it in results.
    """

    def __init__(
        self,
        session: AsyncSession,
        metadata: MetaData,
        actor: Actor,
        clock: Clock,
        strict: AccessRules | None = None,
        database_id: str = "",
        scope: Scope | None = None,
    ) -> None:
        self.actor = actor
        self.database_id = database_id
        self._scope = scope
        self._session = session
        self._metadata = metadata
        self._clock = clock
        self._strict = strict

    def now(self) -> datetime:
        """Current time of the database's clock."""
        return self._clock.now()

    @property
    def is_strict(self) -> bool:
        """Whether access is `strict`."""
        return self._strict is not None

    def by_system(self) -> Gym:
        """The same view for what the server does by itself: all rows are visible, no process rule applies, and the
        rows name no user as their author.
        """
        return Gym(self._session, self._metadata, SYSTEM, self._clock, None, self.database_id)

    def at(self, time: datetime) -> Gym:
        """The same view, by a clock that stands at another time."""
        clock = Clock(start=time)
        return Gym(self._session, self._metadata, self.actor, clock, self._strict, self.database_id, self._scope)

    def published(self) -> Gym:
        """The same call as access `published` has it: rows that only `strict` hides are found.

        For checks that depend on rows that the actor may not see. Do not return such a row, and do not write with it.
        """
        return Gym(self._session, self._metadata, self.actor, self._clock, None, self.database_id, self._scope)

    # --- reading ---------------------------------------------------------------------------------------------------

    async def get(self, kind: type[R], key: Any) -> R | None:
        """The row with a primary key, or None. A key of several columns is a tuple."""
        parts = fit_key(kind, key)
        if parts is None:
            return None
        if not self._visible(kind.__table__):
            return await self._session.get(kind, parts)
        columns = zip(kind.__table__.primary_key, parts, strict=True)
        statement = self._select(kind).where(*(column == part for column, part in columns))
        return (await self._session.scalars(statement)).first()

    async def fetch(self, kind: type[R], key: Key, *, field: str | None = None) -> R:
        """The row with a primary key.

        Args:
            kind: Row class.
            key: Primary key, a tuple if it has several columns.
            field: Argument that contained the key; None for the name of the first key column.

        Raises:
            ToolError: `<TABLE>_NOT_FOUND`.
        """
        row = await self.get(kind, key)
        if row is None:
            raise not_found(kind, key, field or key_column(kind))
        return row

    async def find(self, kind: type[R], **values: Any) -> R | None:
        """The oldest row with these values, or None."""
        if not all(map(can_be_stored, values.values())):
            return None
        return await self.first(kind, *(getattr(kind, name) == value for name, value in values.items()))

    async def first(self, kind: type[R], *conditions: ColumnElement[bool]) -> R | None:
        """The oldest row that meets all conditions, or None."""
        statement = _ordered(self._select(kind).where(*conditions), kind, newest_first=False)
        return (await self._session.scalars(statement.limit(1))).first()

    async def fetch_by(self, kind: type[R], **values: Any) -> R:
        """The oldest row with these values.

        Raises:
            ToolError: `<TABLE>_NOT_FOUND`.
        """
        row = await self.find(kind, **values)
        if row is None:
            raise not_found(kind, " ".join(map(str, values.values())), next(iter(values)))
        return row

    async def fetch_either(self, kind: type[R], **names: str | None) -> R:
        """The row for a tool that accepts one of several identifiers, for instance id or number.

        Raises:
            ToolError: `INVALID_IDENTIFIER` unless exactly one is given; `<TABLE>_NOT_FOUND`.
        """
        given = {name: value for name, value in names.items() if value}
        if len(given) != 1:
            first = next(iter(names))
            raise ToolError(
                "INVALID_IDENTIFIER", f"identify the {kind.label} by exactly one of {', '.join(names)}", first
            )
        return await self.fetch_by(kind, **given)

    async def exists(self, kind: type[R], **values: Any) -> bool:
        """Whether a row with these values exists."""
        return await self.find(kind, **values) is not None

    async def all(
        self,
        kind: type[R],
        *conditions: ColumnElement[bool],
        newest_first: bool | None = None,
        order: Sequence[ColumnElement[Any]] = (),
    ) -> Sequence[R]:
        """Rows that meet all conditions.

        Args:
            kind: Row class.
            conditions: Conditions.
            newest_first: Whether rows of the same place in `order` start with the newest; None for the row class's.
            order: What rows are sorted by first.
        """
        newest_first = kind.newest_first if newest_first is None else newest_first
        chosen = self._select(kind).where(*conditions).order_by(*order)
        statement = _ordered(chosen, kind, newest_first=newest_first)
        return (await self._session.scalars(statement)).all()

    async def some(
        self,
        kind: type[R],
        conditions: Sequence[ColumnElement[bool]],
        value: ColumnElement[Any],
        order: Sequence[ColumnElement[Any]] = (),
        start: int = 0,
        size: int | None = None,
    ) -> Sequence[tuple[R, Any]]:
        """Some of the rows that meet all conditions, for a table that can be large, each with a value.

        Args:
            kind: Row class.
            conditions: Conditions.
            value: What Postgres computes for each row in the same query, for instance from other tables.
            order: Order of the rows; of equal ones the newest row comes first.
            start: Number of rows before the first one.
            size: Number of rows; None for all from the first one on.
        """
        ordered = self._select(kind).where(*conditions).order_by(*order, desc(literal_column(_row_order(kind))))
        rows = await self._session.execute(ordered.add_columns(value).offset(start).limit(size))
        return [(row[0], row[1]) for row in rows]

    async def page(
        self,
        kind: type[R],
        conditions: Sequence[ColumnElement[bool]],
        order: Sequence[ColumnElement[Any]],
        start: int,
        size: int,
        *,
        newest_first: bool = True,
    ) -> tuple[Sequence[R], int]:
        """Some of the rows that meet all conditions, and the number of all of them, for a table that can be large.

        Args:
            kind: Row class.
            conditions: Conditions.
            order: Order of the rows.
            start: Number of rows before the page.
            size: Number of rows of the page.
            newest_first: Whether of rows of the same place in `order` the newest comes first, or the oldest.
        """
        inserted: ColumnElement[int] = literal_column(_row_order(kind))
        last = desc(inserted) if newest_first else inserted
        ordered = self._select(kind).where(*conditions).order_by(*order, last)
        statement = ordered.add_columns(func.count().over()).offset(start).limit(size)
        rows = (await self._session.execute(statement)).all()
        total = rows[0][1] if rows else await self.count(kind, NO_FILTERS, *conditions)
        return [row[0] for row in rows], total

    async def list(self, kind: type[R], filters: Mapping[str, Any], *conditions: ColumnElement[bool]) -> Sequence[R]:
        """Rows that match all filters of a list tool (see `matching`) and meet all conditions, in the default order.

        Filters of columns that are `searched` find a part of the text, ignoring case; all others match exactly.
        """
        return await self.all(kind, *matching(kind, filters, partial=searched_of(kind)), *conditions)

    async def grouped(
        self,
        by: InstrumentedAttribute[Any],
        aggregate: ColumnElement[Any],
        filters: Mapping[str, Any] = NO_FILTERS,
        *conditions: ColumnElement[bool],
    ) -> dict[str, Any]:
        """A count, sum or average by value of a column; rows where the column is NULL are omitted.

        Args:
            by: Column.
            aggregate: Aggregate to compute, for instance `func.count()`.
            filters: Filters of the rows, which match exactly (see `matching`).
            conditions: Further conditions of the rows.
        """
        kind: type[Row] = by.parent.class_
        where = (*matching(kind, filters), *conditions, *self._visible(kind.__table__))
        statement = select(by, aggregate).where(by.is_not(None), *where).group_by(by).order_by(by)
        return {row[0]: row[1] for row in await self._session.execute(statement)}

    async def measure(
        self,
        kind: type[R],
        aggregate: ColumnElement[Any],
        filters: Mapping[str, Any] = NO_FILTERS,
        *conditions: ColumnElement[bool],
    ) -> Any:
        """A count, sum or average over rows; None for a sum or average over no rows. Arguments as for `grouped`."""
        table = kind.__table__
        where = (*matching(kind, filters), *conditions, *self._visible(table))
        return await self._session.scalar(select(aggregate).select_from(table).where(*where))

    async def count(
        self, kind: type[R], filters: Mapping[str, Any] = NO_FILTERS, *conditions: ColumnElement[bool]
    ) -> int:
        """Number of rows. Arguments as for `grouped`."""
        return int(await self.measure(kind, func.count(), filters, *conditions))

    async def count_by(
        self,
        by: InstrumentedAttribute[Any],
        values: Sequence[Any] = (),
        filters: Mapping[str, Any] = NO_FILTERS,
        *conditions: ColumnElement[bool],
    ) -> dict[str, int]:
        """Number of rows by value of a column.

        Args:
            by: Column.
            values: Values to count, including those that do not occur; empty for every value that occurs.
            filters: Filters of the rows, which match exactly (see `matching`).
            conditions: Further conditions of the rows.
        """
        counts = await self.grouped(by, func.count(), filters, *among(by, values), *conditions)
        return dict.fromkeys(values, 0) | counts

    async def refuse_duplicate(self, kind: type[Row], code: str, *, but: Row | None = None, **values: Any) -> None:
        """Refuses values that another row of any organisation already has.

        Args:
            kind: Row class.
            code: Error code.
            but: Row that may have the values: the one that is being updated.
            values: Values by column; if one is None, nothing is checked.

        Raises:
            ToolError: Another row has the values; the message names it if the actor may see it. The error's field
                is the last column.
        """
        if None in values.values():
            return
        rows = await self._session.scalars(select(kind).filter_by(**values).limit(2))
        duplicate = next((row for row in rows if row is not but), None)
        if duplicate is not None:
            shown = ", ".join(f"{name} {short(value)}" for name, value in values.items())
            key = tuple(getattr(duplicate, column.name) for column in kind.__table__.primary_key)
            holder = (
                f"{kind.label} {_shown(key)}" if await self.get(kind, key) else f"a {kind.label} that you may not see"
            )
            raise ToolError(code, f"{holder} already has {shown}", list(values)[-1])

    # --- writing ---------------------------------------------------------------------------------------------------

    async def insert(self, row: R) -> R:
        """Adds a row; fills in what is not given and its row class declares: key, numbers, times, owner, defaults.

        Raises:
            ToolError: A value is too long or already taken, a constraint is violated, or a process rule refuses the
                write.
        """
        await self._add(row)
        await self._flush()
        return row

    async def insert_all(self, rows: Sequence[Row]) -> None:
        """Adds rows, of several classes or of one, in as few statements as there are classes; else as `insert`.

        Rows of one call do not see each other: no rule and no uniqueness that is looked up compares them.

        Raises:
            ToolError: As for `insert`.
        """
        keyless = [row for row in rows if type(row).has_uuid and getattr(row, key_column(type(row))) is None]
        for row, count in zip(keyless, await self._next_uuids(len(keyless)) if keyless else (), strict=True):
            setattr(row, key_column(type(row)), _uuid(type(row), count))
        with self._session.no_autoflush:
            for row in rows:
                await self._add(row)
        await self._flush()

    async def _add(self, row: Row) -> None:
        """Completes and checks a new row, and adds it to the session."""
        kind = type(row)
        absent = inspect(row).unloaded
        given = as_dict(row) | {name: value for name, value in kind.defaults.items() if name in absent}
        for name, value in fitted(kind, given).items():
            setattr(row, name, value)
        generated = await self._generate(row)
        await self._check_scope(row, None)
        await self._refuse_duplicates(row, set(given) - generated)
        await self._check_rules(row, None)
        self._session.add(row)

    async def _generate(self, row: Row) -> set[str]:
        """Sets the declared columns of a new row that have no value and returns the names of its key and numbers."""
        kind, key, generated = type(row), key_column(type(row)), set[str]()
        if getattr(row, key) is None:
            setattr(row, key, await self.next_id(kind))
            generated.add(key)
        for column, template in kind.numbers.items():
            if getattr(row, column) is None:
                setattr(row, column, await self._number(row, column, template))
                generated.add(column)
        now, actor = self.now(), self.actor
        values = ((kind.created, now), (kind.updated, now), (kind.owner, actor.org_id), (kind.actor, actor.user_id))
        for name, value in values:
            if name is not None and getattr(row, name) is None:
                setattr(row, name, value)
        return generated

    async def change(self, kind: type[R], key: Key | Mapping[str, str | None], fields: Mapping[str, Any]) -> R:
        """Looks up a row and updates it, for an update tool.

        Args:
            kind: Row class.
            key: Primary key, or several identifiers of which exactly one is given (see `fetch_either`).
            fields: New value by column, as the agent gave it.

        Raises:
            ToolError: In this order: `NO_FIELDS_TO_UPDATE` if `fields` is empty; a value does not fit its column;
                `<TABLE>_NOT_FOUND`; then as for `update`.
        """
        given = fitted(kind, changes(fields))
        row = await (self.fetch_either(kind, **key) if isinstance(key, Mapping) else self.fetch(kind, key))
        return await self._store(row, given)

    async def update(self, row: R, changes: Mapping[str, Any]) -> R:
        """Updates a row.

        Raises:
            ToolError: `NO_CHANGES_DETECTED` if nothing would change and the row class refuses no-op updates; a value
                is too long or already taken; a constraint is violated; a process rule refuses the write.
        """
        return await self._store(row, fitted(type(row), changes))

    async def _store(self, row: R, fitted: Mapping[str, Any]) -> R:
        """Carries out `update` with values that fit their columns."""
        kind = type(row)
        different = {name: value for name, value in fitted.items() if getattr(row, name) != value}
        if not different and kind.no_op_is_refused:
            raise ToolError("NO_CHANGES_DETECTED", "all given values are already stored; nothing was changed")
        before = None if self._strict is None else kind(**as_dict(row))
        for name, value in different.items():
            setattr(row, name, value)
        await self._check_scope(row, before)
        await self._refuse_duplicates(row, different)
        await self._check_rules(row, before)
        if kind.updated is not None:
            setattr(row, kind.updated, self.now())
        await self._flush()
        return row

    async def delete(self, rows: Iterable[Row]) -> int:
        """Deletes rows and returns their number.

        Raises:
            ToolError: `STILL_REFERENCED` if other rows refer to them; a process rule refuses the deletion.
        """
        deleted = list(rows)
        for row in deleted:
            if self._strict is not None:
                await self._strict.rulebook.check_delete(self, row)
            await self._session.delete(row)
        await self._flush()
        return len(deleted)

    async def remove(self, kind: type[R], filters: Mapping[str, Any]) -> Sequence[R]:
        """Deletes the rows that match all filters exactly (see `matching`) and returns them, in the default order.

        Raises:
            ToolError: `MISSING_FILTER` without a filter; `<TABLE>_NOT_FOUND` if no row matches and the row class
                refuses writes without effect; `STILL_REFERENCED` if other rows refer to one of the rows.
        """
        conditions = matching(kind, filters)
        if not conditions:
            raise ToolError("MISSING_FILTER", f"give at least one filter; deleting every {kind.label} is not allowed")
        deleted = await self.all(kind, *conditions)
        if not deleted and kind.no_op_is_refused:
            raise ToolError(not_found_code(kind.label), f"no {kind.label} matches; nothing was deleted")
        await self.delete(deleted)
        return deleted

    # --- identifiers -----------------------------------------------------------------------------------------------

    async def next_id(self, kind: type[Row]) -> str | int | None:
        """Next identifier of a table, counted over all organisations; None if the caller must supply it.

        For integer keys this is the next number that no row ever had; for prefixed keys the highest number in use plus
        one; for UUIDs the next of a sequence that is the same in every database.
        """
        table = table_of(kind)
        if is_counted(table):
            return int(await self._session.scalar(count_up(table)) or 0)
        if kind.has_uuid:
            return _uuid(kind, (await self._next_uuids(1))[0])
        if kind.id_prefix is None:
            return None
        return f"{kind.id_prefix}{await self._highest(kind, key_column(kind)) + 1:03d}"

    async def next_number(self, kind: type[Row], column: str, template: str, *conditions: ColumnElement[bool]) -> str:
        """Next value of a number column: the highest number in use plus one.

        Args:
            kind: Row class.
            column: Column of the number.
            template: Format string, for instance `INC-{:06d}`.
            conditions: Conditions of the rows whose numbers count, whether the actor sees them or not; none for all.
        """
        return template.format(await self._highest(kind, column, *conditions) + 1)

    async def _number(self, row: Row, column: str, template: str) -> str:
        """The declared number of a new row whose key is set."""
        if "{key" in template:
            return template.format(key=getattr(row, key_column(type(row))))
        return await self.next_number(type(row), column, template)

    async def _highest(self, kind: type[Row], column: str, *conditions: ColumnElement[bool]) -> int:
        digits = func.substring(kind.__table__.columns[column], r"\d+$")
        highest = await self._session.scalar(select(func.max(cast(digits, Integer))).where(*conditions))
        return highest or 0

    async def _next_uuids(self, number: int) -> Sequence[int]:
        last: int = await self._session.scalar(NEXT_UUIDS, {"number": number}) or 0
        return range(last - number + 1, last + 1)

    # --- access ----------------------------------------------------------------------------------------------------

    def _select(self, kind: type[R]) -> Select[R]:
        return select(kind).where(*self._visible(kind.__table__))

    def _visible(self, table: FromClause, *, published: bool = False) -> Sequence[ColumnElement[bool]]:
        """Conditions that select the rows that the actor may see, or would see in access `published`."""
        scopes = (self._scope, None if self._strict is None or published else self._strict.scope)
        return [condition for scope in scopes if scope is not None for condition in scope(table, self.actor)]

    async def _refuse_duplicates(self, row: Row, columns: Collection[str]) -> None:
        """Refuses values that another row has, where one of the columns is part of what must be unique."""
        kind = type(row)
        for unique in uniques_of(kind):
            if not set(columns).isdisjoint(unique.columns):
                values = {name: getattr(row, name) for name in unique.columns}
                await self.refuse_duplicate(kind, unique.code, but=row, **values)

    async def _check_rules(self, after: R, before: R | None) -> None:
        """Refuses a write that violates a process rule."""
        if self._strict is not None:
            await self._strict.rulebook.check_write(self, after, before)

    async def _check_scope(self, after: R, before: R | None) -> None:
        """Refuses a write that leaves the actor's scope."""
        if self._strict is not None and getattr(after, ORGANISATION, self.actor.org_id) != self.actor.org_id:
            raise ToolError("CROSS_ORGANIZATION_ACCESS", "records must belong to your own organisation", ORGANISATION)
        for key in references(after.__table__):
            name, value, target = key.parent.name, getattr(after, key.parent.name), key.column
            conditions = self._referable(key)
            if value is None or not conditions or (before is not None and getattr(before, name) == value):
                continue
            if await self._session.scalar(select(target).where(target == value, *conditions)) is None:
                raise missing_reference(target.table.info["label"], value, name)

    def _referable(self, key: ForeignKey) -> Sequence[ColumnElement[bool]]:
        """Conditions of the rows that a column may refer to."""
        unseen = () if self._strict is None else self._strict.unseen
        return self._visible(key.column.table, published=f"{key.parent.table.name}.{key.parent.name}" in unseen)

    async def _flush(self) -> None:
        try:
            await self._session.flush()
        except DBAPIError as error:
            refusal = as_tool_error(self._metadata, error)
            if refusal is None:
                raise
            raise refusal from None


def _uuid(kind: type[Row], count: int) -> str:
    """A generated key in the form of its row class."""
    return ulid_of(count) if kind.has_ulid else uuid_of(count)


def not_found(kind: type[Row], key: Key, field: str) -> ToolError:
    """The error for a missing row."""
    return missing_reference(kind.label, _shown(key), field)


def _shown(key: Key) -> str | int:
    """A primary key for a message."""
    if not isinstance(key, tuple):
        return key
    return ", ".join(map(str, key)) if len(key) > 1 else key[0]


def _row_order(kind: type[Row]) -> str:
    """Column that counts the rows of a table in the order of their insertion."""
    return f'"{kind.__tablename__}".{ROW_ORDER}'


def _ordered(statement: Select[R], kind: type[R], *, newest_first: bool) -> Select[R]:
    order: ColumnElement[int] = literal_column(_row_order(kind))
    if is_counted(table := table_of(kind)):
        (order,) = table.primary_key
    if not newest_first:
        return statement.order_by(order)
    keys: list[ColumnElement[Any]] = [desc(order)]
    if kind.created is not None:
        keys.insert(0, desc(getattr(kind, kind.created)).nulls_last())
    return statement.order_by(*keys)
