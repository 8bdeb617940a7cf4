"""Execution of published seeds, and of published queries on snapshots, in SQLite.

Invariant: a query returns what it returns on a published server. Tables have the published declarations, rows are in
insertion order, and `now` is the database's clock, so that no SQL is translated between dialects.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw
import apsw.ext
from sqlalchemy import Boolean, Column, Date, DateTime, Float, Integer, MetaData, Numeric, Table

from opsgym_api.gym_http import COMPLETE_SEED
from opsgym_domains.kit.errors import QueryError, SeedError
from opsgym_domains.kit.schema import COMPLETION, sqlite_ddl

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERY_SECONDS = 10.0
"""Limit of a query in seconds of processor time; published clients time out after 30 seconds.

A query waits on a busy machine, and a limit of elapsed time would make a verdict depend on what else runs.
"""
_PROGRESS_STEPS = 20_000
"""Virtual-machine steps between two checks of the time limit: about a millisecond."""
_JULIAN_EPOCH_MS = 210_866_760_000_000
"""1970-01-01 in milliseconds since the start of the Julian period, the unit of SQLite's clock."""

_current_time: ContextVar[datetime | None] = ContextVar("sqlite_current_time", default=None)
_time_was_read: ContextVar[bool] = ContextVar("sqlite_time_was_read", default=False)


class _ClockVfs(apsw.VFS):
    """SQLite's interface to the operating system, with the database's clock for `now` and CURRENT_TIMESTAMP."""

    def __init__(self) -> None:
        super().__init__("opsgym-clock", "")

    def xCurrentTimeInt64(self) -> int:  # noqa: N802 - SQLite's name
        _time_was_read.set(True)
        now = _current_time.get()
        seconds = time.time() if now is None else now.replace(tzinfo=UTC).timestamp()
        return _JULIAN_EPOCH_MS + int(seconds * 1000)

    def xCurrentTime(self) -> float:  # noqa: N802 - SQLite's name
        return self.xCurrentTimeInt64() / 86_400_000


_VFS = _ClockVfs()


@contextmanager
def at(now: datetime) -> Iterator[None]:
    """Sets the time that SQLite reads, in UTC without time zone."""
    token = _current_time.set(now)
    try:
        yield
    finally:
        _current_time.reset(token)


def open_empty(metadata: MetaData) -> apsw.Connection:
    """An in-memory database with the domain's tables."""
    db = apsw.Connection(":memory:", vfs="opsgym-clock")
    db.execute(sqlite_ddl(metadata))
    return db


@dataclass(frozen=True)
class Seeded:
    """Tables after a seed script was executed."""

    db: apsw.Connection
    timeless: bool
    """Whether the script does not read the time, so that it always produces the same rows."""


def run_seed(metadata: MetaData, sql: str, now: datetime) -> Seeded:
    """Executes a seed script on empty tables.

    Args:
        metadata: The domain's tables.
        sql: Inserts in SQLite's dialect; may contain transactions and pragmas.
        now: Time that `datetime('now')` returns.

    Raises:
        SeedError: A statement fails, or attaches another database.
    """
    db = open_empty(metadata)
    db.authorizer = _allow_within_database
    _time_was_read.set(False)
    try:
        with at(now):
            for _ in db.execute(sql):
                pass
            complete = metadata.info.get(COMPLETION)
            if complete is not None and not sql.startswith(COMPLETE_SEED):
                complete(db)
        if not db.get_autocommit():
            db.execute("COMMIT")
    except apsw.Error as error:
        db.close(True)
        raise SeedError(str(error)) from None
    db.authorizer = None
    return Seeded(db, timeless=not _time_was_read.get())


def _allow_within_database(operation: int, *_details: str | None) -> int:
    outside = operation in (apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH)
    return int(apsw.SQLITE_DENY if outside else apsw.SQLITE_OK)


def postgres_rows(db: apsw.Connection, table: Table) -> list[tuple[Any, ...]]:
    """A table's rows in insertion order, converted to Postgres' types.

    Raises:
        SeedError: A value does not fit its column; the message names table, column and value.
    """
    columns = list(table.columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    readers = [_reader(table, column) for column in columns]
    rows = db.execute(f'SELECT {names} FROM "{table.name}" ORDER BY rowid')  # noqa: S608 - names of our own tables
    return [tuple(read(value) for read, value in zip(readers, row, strict=True)) for row in rows]


def _reader(table: Table, column: Column[Any]) -> Callable[[Any], Any]:
    convert = _conversion(column)

    def read(value: Any) -> Any:
        if value is None:
            return None
        try:
            return convert(value)
        except (ValueError, TypeError, ArithmeticError):
            kind = type(column.type).__name__.lower()
            raise SeedError(f"{table.name}.{column.name}: {value!r} is not a valid {kind}") from None

    return read


def _conversion(column: Column[Any]) -> Callable[[Any], Any]:
    if isinstance(column.type, Boolean):
        return _boolean
    if isinstance(column.type, DateTime):
        return _timestamp
    if isinstance(column.type, Date):
        return lambda value: _timestamp(value).date()
    if isinstance(column.type, Float):
        return float
    if isinstance(column.type, Numeric):
        return lambda value: Decimal(str(value))
    return _whole if isinstance(column.type, Integer) else str


def _whole(value: Any) -> int:
    number = int(value)
    if isinstance(value, float) and value != number:
        raise ValueError(value)
    return number


def _boolean(value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    raise ValueError(value)


def _timestamp(value: Any) -> datetime:
    parsed = datetime.fromisoformat(value)
    return parsed.astimezone(UTC).replace(tzinfo=None) if parsed.tzinfo else parsed


def sqlite_value(value: Any) -> Any:
    """A Postgres value as SQLite stores it; NUMERIC affinity turns whole numbers into integers."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return value


def snapshot(metadata: MetaData, rows_by_table: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> apsw.Connection:
    """A SQLite copy of a database's rows, which are given by table in insertion order."""
    db = open_empty(metadata)
    with db:
        for name, rows in rows_by_table:
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                values = ([sqlite_value(value) for value in row] for row in rows)
                db.executemany(f'INSERT INTO "{name}" VALUES ({marks})', values)  # noqa: S608 - names of our own tables
    return db


@dataclass(frozen=True)
class QueryResult:
    """Result of a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def query(db: apsw.Connection, sql: str, now: datetime) -> QueryResult:
    """Runs one read-only statement.

    Raises:
        QueryError: The statement fails, writes, contains several statements, or takes longer than `QUERY_SECONDS`.
    """
    deadline = time.thread_time() + QUERY_SECONDS
    db.set_progress_handler(lambda: time.thread_time() > deadline, _PROGRESS_STEPS)
    db.authorizer = _allow_reading
    try:
        with at(now):
            info = apsw.ext.query_info(db, sql)
            if info.query_remaining and apsw.ext.query_info(db, info.query_remaining).has_vdbe:
                raise QueryError("only one statement is allowed")
            if not info.has_vdbe:
                raise QueryError("the query is empty")
            columns = tuple(name for name, _kind in info.description)
            rows = tuple(db.execute(sql))
    except apsw.AuthError:
        raise QueryError("only a read-only SELECT is allowed") from None
    except apsw.InterruptError:
        raise QueryError(f"the query took longer than {QUERY_SECONDS:.0f} s") from None
    except apsw.Error as error:
        raise QueryError(str(error)) from None
    finally:
        db.authorizer = None
        db.set_progress_handler(None)
    return QueryResult(columns, rows)


@contextmanager
def changed(db: apsw.Connection, sql: str, values: Sequence[Any]) -> Iterator[None]:
    """Runs a statement whose changes last as long as the context.

    Raises:
        QueryError: The statement fails.
    """
    db.execute("SAVEPOINT changed")
    try:
        try:
            db.execute(sql, values)
        except apsw.Error as error:
            raise QueryError(str(error)) from None
        yield
    finally:
        db.execute("ROLLBACK TO changed")
        db.execute("RELEASE changed")


_READS = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE})


def _allow_reading(operation: int, *_details: str | None) -> int:
    return int(apsw.SQLITE_OK if operation in _READS else apsw.SQLITE_DENY)
