"""Declaration of a domain's tables, once for Postgres (storage) and SQLite (seeds and verifiers).

Invariant: both dialects have the same tables and columns in the same order, so that rows can be copied in both
directions without loss. SQLite keeps the published declarations (`VARCHAR(32)`, `DATETIME`), because column affinity
decides comparisons.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, get_args

import apsw
from sqlalchemy import (
    DDL,
    Boolean,
    Date,
    DateTime,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    Text,
    UniqueConstraint,
    event,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeEngine

NAMING = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
COUNTERS = "_counter"
"""Table with the last key of each counted table, like SQLite's `sqlite_sequence`; in every Postgres database."""
ROW_ORDER = "_rowid"
"""Column with the insertion order, like SQLite's rowid; in every Postgres table, never shown."""
PREFIXES = "prefixes"
"""Key of a table's `info`: what stands before the digits of identifiers and numbers that the server makes."""
CHOICES, SEARCHED, FORM_CODE = "choices", "searched", "form_code"
"""Keys of a column's `info`: the values of its enumeration; whether filters match a part of its text; the error code
for a text of the wrong form."""


def varchar(length: int) -> TypeEngine[str]:
    """Text type with a length that tools enforce. Postgres stores plain text, because published seeds may exceed the
    length.
    """
    return String(length).with_variant(Text(), "postgresql")


def says(
    words: str,
    *arguments: Any,
    choices: Any = None,
    searched: bool = False,
    form_code: str | None = None,
    **keywords: Any,
) -> Any:
    """A column with its description, which arguments of the same name take over.

    Args:
        words: What the value means, without a full stop, its length or the table of the record that it refers to.
        arguments: Further arguments of `mapped_column`.
        choices: Allowed values, as a `Literal`; None for any.
        searched: Whether filters match a part of the text, ignoring case.
        form_code: Error code of an argument with the wrong pattern or format; None for the general code.
        keywords: Further keywords of `mapped_column`.
    """
    info = {CHOICES: get_args(choices) or None, SEARCHED: searched or None, FORM_CODE: form_code}
    present = {key: value for key, value in info.items() if value is not None}
    return mapped_column(*arguments, doc=words, info=present, **keywords)


class Kind(StrEnum):
    """Kind of a text that variants of a world replace."""

    GIVEN_NAME = "given names"
    FAMILY_NAME = "family names"
    FULL_NAME = "full names"
    """Given name and family name of a person, of which both have columns of their own."""
    PERSON = "people"
    """Given name and family name of a person, in tables that have no columns for them apart."""
    COMPANY = "companies"
    """Name of a company; its first word is replaced."""
    DOMAIN = "host names"
    EMAIL = "e-mail addresses"
    ADDRESS = "e-mail addresses of companies"
    """An address whose host name is that of a company; the first label of the host is replaced as such a name is."""
    MOMENT = "times in milliseconds"
    """A time as the number of milliseconds since 1970, which moves by whole years as dates do."""
    PLACE = "places"
    """Name of a place, of which the name of a company or a city may be a part; otherwise its first word is replaced."""
    TITLE = "titles"
    """Title that may be `Room` or `Project` and a name, which is replaced."""
    STREET = "streets"
    CITY = "cities"
    """City, which is replaced by another one of the `country` of the same row; an enumerated one trades its place."""
    ZONE = "time zones"
    """Name of a time zone, which is replaced together with the name of its city."""
    AMOUNT = "amounts of money"
    """A number that is multiplied; sums, differences and order stay right."""
    PRODUCT = "products"
    """Name of a product; the letter of the code at its end is replaced."""
    NUMBER = "record numbers"
    """A prefix and digits, which are shifted."""


Str20 = Annotated[str, 20]
Str30 = Annotated[str, 30]
Str32 = Annotated[str, 32]
Str40 = Annotated[str, 40]
Str50 = Annotated[str, 50]
Str60 = Annotated[str, 60]
Str80 = Annotated[str, 80]
Str100 = Annotated[str, 100]
Str120 = Annotated[str, 120]
Str255 = Annotated[str, 255]
Str500 = Annotated[str, 500]
Str2000 = Annotated[str, 2000]
Money = Annotated[Decimal, "money"]


@dataclass(frozen=True)
class Unique:
    """Columns whose values no two rows have together, of whichever organisation; NULL equals nothing."""

    code: str
    """Error code of a write that would repeat them."""
    columns: tuple[str, ...]


def unique(code: str, *columns: str) -> Unique:
    """A uniqueness that tools keep and the table does not: published seeds may break it."""
    return Unique(code, columns)


class Row(DeclarativeBase):
    """Base class of all row classes. Each domain derives a base class with its own metadata.

    `Gym.insert` fills in what a row class declares.

    Attributes:
        label: Name of a row in messages; the table's name unless given.
        id_prefix: Prefix of generated identifiers; None where the caller supplies the key or the key is an integer.
            Integer keys are counted up and never reused.
        created: Column with the creation time, None if there is none.
        updated: Column with the time of the last update, None if there is none.
        owner: Column with the organisation of a new row, which is that of the acting user; None if there is none.
        actor: Column of a new row that is the acting user unless given; None if there is none.
        numbers: Format of a new row's number by column. `{}` is the highest number in use plus one, for instance
            `INC-{:06d}`; `{key}` is the generated key, for instance `CS-{key:07d}`.
        defaults: Value of a new row by column that is not given.
        uniques: What must be unique beyond the table's constraints, in the order in which it is asked.
        kinds: Kind of text by column; variants of a world replace such texts wherever they occur.
        has_presets: Whether the table has rows that no seed wrote; worlds of suites leave it out.
        newest_first: Whether lists start with the newest row; otherwise with the lowest key.
        no_op_is_refused: Whether an update that changes nothing and a deletion that matches nothing are refused.
            Otherwise the update only sets `updated`.
        blank_is_null: Whether a blank text is stored as NULL.
        blank_is_missing: Whether a blank text counts as no value where a column must have one; optional columns keep it
            unless `blank_is_null`.
        has_uuid: Whether generated keys are UUIDs. They are counted in each database, so that a fixed order of calls
            repeats them.
        has_ulid: Whether these keys are written as 26 letters and digits, as ULIDs are, instead of with hyphens.
    """

    __abstract__ = True
    label: ClassVar[str] = ""
    id_prefix: ClassVar[str | None] = None
    created: ClassVar[str | None] = None
    updated: ClassVar[str | None] = None
    owner: ClassVar[str | None] = None
    actor: ClassVar[str | None] = None
    numbers: ClassVar[Mapping[str, str]] = MappingProxyType({})
    defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    uniques: ClassVar[Sequence[Unique]] = ()
    kinds: ClassVar[Mapping[str, Kind]] = MappingProxyType({})
    has_presets: ClassVar[bool] = False
    newest_first: ClassVar[bool] = True
    no_op_is_refused: ClassVar[bool] = True
    blank_is_null: ClassVar[bool] = True
    blank_is_missing: ClassVar[bool] = False
    has_uuid: ClassVar[bool] = False
    has_ulid: ClassVar[bool] = False

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        **{Annotated[str, n]: varchar(n) for n in (20, 30, 32, 40, 50, 60, 80, 100, 120, 255, 500, 2000)},
        str: Text(),
        int: Integer(),
        bool: Boolean(),
        date: Date(),
        datetime: DateTime(),
        Money: Numeric(10, 2),
    }

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__tablename__" in vars(cls):
            cls.label = cls.label or cls.__tablename__.replace("_", " ")
            table = table_of(cls)
            table.info.update(label=cls.label, description=inspect.getdoc(cls))
            table.info.update(kinds=dict(cls.kinds), presets=cls.has_presets, created=cls.created)
            templates = [cls.id_prefix or "", *cls.numbers.values()]
            table.info[PREFIXES] = [prefix for text in templates if (prefix := text.partition("{")[0])]
            table.dialect_options["sqlite"]["autoincrement"] = is_counted(table)


UNENFORCED = "unenforced references"
"""Key of a metadata's `info`: whether references are declared and not enforced."""
COMPLETION = "completion of seeds"
"""Key of a metadata's `info`: function that completes the rows of a seed script in SQLite, or None."""


def new_metadata(
    *,
    references_are_enforced: bool = True,
    complete_seed: Callable[[apsw.Connection], None] | None = None,
    functions: Sequence[str] = (),
) -> MetaData:
    """Metadata with the constraint names that `constraint_errors` recognises in Postgres' errors.

    Args:
        references_are_enforced: Whether Postgres refuses writes that leave a reference without its row.
        complete_seed: Adds what the published server adds to every seed after its script was executed.
        functions: Statements that create functions in Postgres before the tables, whose indexes may use them.
    """
    info = {UNENFORCED: not references_are_enforced, COMPLETION: complete_seed}
    metadata = MetaData(naming_convention=NAMING, info=info)
    for function in functions:
        event.listen(metadata, "before_create", DDL(function.replace("%", "%%")))  # type: ignore[no-untyped-call]
    return metadata


def table_of(row_class: type[Row]) -> Table:
    """The table of a row class."""
    table = row_class.__table__
    assert isinstance(table, Table)
    return table


@cache
def is_counted(table: Table) -> bool:
    """Whether a table's keys are counted up, as with SQLite's AUTOINCREMENT."""
    keys = list(table.primary_key)
    return len(keys) == 1 and isinstance(keys[0].type, Integer)


def load_order(metadata: MetaData) -> list[Table]:
    """Tables in the order of declaration, which is also the order of snapshots."""
    return list(metadata.tables.values())


@cache
def columns_of(row_class: type[Row]) -> tuple[str, ...]:
    """Names of a table's columns, in order."""
    return tuple(column.name for column in row_class.__table__.columns)


def columns_but(row_class: type[Row], *excluded: str) -> tuple[str, ...]:
    """Names of a table's columns without the given ones."""
    return tuple(name for name in columns_of(row_class) if name not in excluded)


def as_dict(row: Row) -> dict[str, Any]:
    """A row's values by column, in the table's order."""
    return {name: getattr(row, name) for name in columns_of(type(row))}


def key_column(row_class: type[Row]) -> str:
    """Name of the first column of the primary key."""
    return str(next(iter(row_class.__table__.primary_key)).name)


@cache
def searched_of(row_class: type[Row]) -> tuple[str, ...]:
    """Names of the columns in which a list's filter finds a part of the text."""
    return tuple(column.name for column in row_class.__table__.columns if column.info.get(SEARCHED))


@cache
def uniques_of(row_class: type[Row]) -> tuple[Unique, ...]:
    """What is unique in a table: the declarations of the row class, then the table's constraints with an error code."""
    constraints = [c for c in table_of(row_class).constraints if isinstance(c, UniqueConstraint) and "code" in c.info]
    stored = [Unique(c.info["code"], tuple(c.columns.keys())) for c in constraints]
    declared = [declared.columns for declared in row_class.uniques]
    stored = [one for one in stored if not any(set(columns) <= set(one.columns) for columns in declared)]
    return (*row_class.uniques, *sorted(stored, key=lambda one: one.columns))


def sqlite_ddl(metadata: MetaData) -> str:
    """Script that creates the tables in SQLite."""
    dialect = sqlite.dialect()
    return ";\n".join(str(CreateTable(table).compile(dialect=dialect)) for table in load_order(metadata)) + ";"


def foreign_keys(table: Table) -> Sequence[ForeignKeyConstraint]:
    """Foreign keys of a table, sorted by name."""
    return sorted(table.foreign_key_constraints, key=lambda key: str(key.name))
