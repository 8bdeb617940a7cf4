"""The rewriting of a built-in seed for a variant, and the seed that results.

Invariant: a replacement is distinct from every other and from every word of the seed; keys and record numbers keep
their order and their distances, so what the server generates next is shifted alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, MetaData, Table

from opsgym_domains.kit import sqlite
from opsgym_domains.kit.schema import PREFIXES, Kind, is_counted, load_order
from opsgym_domains.variants.rewriting import Rewriting
from opsgym_domains.variants.words import COMPANY_WORDS, FAMILY_NAMES, GIVEN_NAMES, STREET_WORDS

_YEARS = (11, 28, -28)
"""Shifts between years whose days fall on the same weekdays, from March before the year of the seed to February after
it: month names, weekdays and distances in days stay right."""
_LISTS = {
    Kind.GIVEN_NAME: GIVEN_NAMES,
    Kind.FAMILY_NAME: FAMILY_NAMES,
    Kind.COMPANY: COMPANY_WORDS,
    Kind.STREET: STREET_WORDS,
}
_STREET_KINDS = {"Street", "Road", "Way", "Lane", "Avenue", "Place", "Rue"}
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class World:
    """Rows of a seed, by table; every row has all columns of its table."""

    now_line: str
    tables: Sequence[tuple[Table, Sequence[tuple[Any, ...]]]]

    def texts(self, kind: Kind) -> list[str]:
        """The distinct texts of a kind, sorted."""
        return sorted({text for table, rows in self.tables for text in _texts(table, rows, kind)})


def _texts(table: Table, rows: Sequence[tuple[Any, ...]], kind: Kind) -> Iterator[str]:
    kinds: Mapping[str, Kind] = table.info["kinds"]
    for index, column in enumerate(table.columns):
        if kinds.get(column.name) is kind:
            yield from (row[index] for row in rows if isinstance(row[index], str))


def read_world(metadata: MetaData, script: str) -> World:
    """The rows that a seed script inserts. Rows that every database has anyway are left out."""
    db = sqlite.open_empty(metadata)
    try:
        for _ in db.execute(script):
            pass
        tables = [(table, _rows(db, table)) for table in load_order(metadata)]
    finally:
        db.close(True)
    first = script.partition("\n")[0]
    return World(first if first.startswith("--") else "", [(table, rows) for table, rows in tables if rows])


def _rows(db: Any, table: Table) -> list[tuple[Any, ...]]:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    return list(db.execute(f'SELECT {names} FROM "{table.name}" ORDER BY rowid'))  # noqa: S608 - our own names


def rewriting(metadata: MetaData, script: str, variant: int) -> Rewriting:
    """The rewriting of a seed for a variant.

    Raises:
        ValueError: A list of words is shorter than the seed's names.
    """
    world = read_world(metadata, script)
    draw = random.Random(f"opsgym {variant}")  # noqa: S311 - repeatable, not secret
    words = _Names(world, script, draw).words()
    codes = _codes(world, draw)
    products = {name: _recoded(name, codes) for name in _product_codes(world)}
    keys, offsets = _offsets(world, draw)
    years = sorted(int(year) for year in set(re.findall(r"'(\d{4})-\d\d-\d\d", script)))
    return Rewriting(
        words=words | products,
        parts=_parts(world, words),
        codes=codes,
        offsets=offsets,
        keys=keys,
        years=draw.choice(_YEARS),
        first_year=years[0] if years else 0,
        last_year=years[-1] + 1 if years else 0,
        digits=draw.randrange(101, 899),
    )


class _Names:
    """Draws replacements of names.

    Names of which one ends where the other goes on (`Carr`, `Carre`), or that differ in one letter, remain alike:
    tasks rely on namesakes.
    """

    def __init__(self, world: World, script: str, draw: random.Random) -> None:
        self._world = world
        self._taken = {word.lower() for word in _WORD.findall(script)}
        lower = {word.capitalize() for word in _WORD.findall(script) if word.islower()}
        self._common = lower - _words_of_addresses(world) | {
            word for name in _plain_names(world) for word in name.split()
        }
        """Words of which a text may mean something else than a name."""
        self._draw = draw
        self._words: dict[str, str] = {}

    def words(self) -> dict[str, str]:
        """Replacement by name."""
        self._replace(Kind.GIVEN_NAME, self._world.texts(Kind.GIVEN_NAME))
        self._replace(Kind.FAMILY_NAME, self._world.texts(Kind.FAMILY_NAME))
        self._replace(Kind.COMPANY, sorted({self._distinctive(name) for name in self._world.texts(Kind.COMPANY)}))
        streets = {word for name in self._world.texts(Kind.STREET) for word in name.split()} - _STREET_KINDS
        self._replace(Kind.STREET, sorted(word for word in streets if word[0].isupper() and word not in self._common))
        return self._words

    def _distinctive(self, company: str) -> str:
        """The first word of a company's name; the first two if the first has another meaning as well."""
        words = company.split()
        return words[0] if words[0] not in self._common else " ".join(words[:2])

    def _replace(self, kind: Kind, names: Sequence[str]) -> None:
        names = [name for name in names if name.replace(" ", "").isalpha() and name not in self._words]
        free = [word for word in _LISTS[kind] if not self._is_taken(word)]
        self._draw.shuffle(free)
        for name in names:
            like = next((other for other in names if other in self._words and _are_alike(other, name)), None)
            word = f"{self._words[like]}e" if like is not None else ""
            if not word or self._is_taken(word):
                if not free:
                    raise ValueError(f"the list of words for {kind.value} is too short for the seed's {len(names)}")
                word = free.pop()
            self._words[name] = word
            self._taken.add(word.lower())

    def _is_taken(self, word: str) -> bool:
        return word.lower() in self._taken


def _plain_names(world: World) -> Iterator[str]:
    """Names of rows that stay as they are: of teams, services and the like."""
    for table, rows in world.tables:
        if "name" in table.columns and "name" not in table.info["kinds"]:
            index = list(table.columns.keys()).index("name")
            yield from (row[index] for row in rows)


def _words_of_addresses(world: World) -> set[str]:
    addresses = [*world.texts(Kind.DOMAIN), *world.texts(Kind.EMAIL)]
    return {word.capitalize() for address in addresses for word in _WORD.findall(address)}


def _are_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 3 or len(longer) - len(shorter) > 1:
        return False
    if len(shorter) == len(longer):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    return longer.startswith(shorter)


def _product_codes(world: World) -> set[str]:
    """Codes of products: a letter and a number at the end of a name, as in `Gateway G100`."""
    last = {name.split()[-1] for name in world.texts(Kind.PRODUCT)}
    return {word for word in last if re.fullmatch(r"[A-Z]\d{1,3}", word)}


def _codes(world: World, draw: random.Random) -> dict[str, str]:
    letters = sorted({code[0] for code in _product_codes(world)})
    free = sorted(set("ABCDEFGHJKLMNPQRSTVWXYZ") - set(letters))
    draw.shuffle(free)
    return dict(zip(letters, free, strict=False))


def _recoded(code: str, codes: Mapping[str, str]) -> str:
    return codes.get(code[0], code[0]) + code[1:]


def _parts(world: World, words: Mapping[str, str]) -> dict[str, str]:
    """Replacements in addresses: names in lower case, and host names that begin with the name of their company."""
    parts = {name.lower(): word.lower() for name, word in words.items()}
    for address in [*world.texts(Kind.DOMAIN), *world.texts(Kind.EMAIL)]:
        label = address.rpartition("@")[2].partition(".")[0]
        for name in world.texts(Kind.COMPANY):
            company = next((start for start in (name.split()[0], " ".join(name.split()[:2])) if start in words), "")
            joined = company.replace(" ", "").lower()
            if joined and label.startswith(joined):
                parts.setdefault(label, label.replace(joined, words[company].lower(), 1))
    return parts


def _offsets(world: World, draw: random.Random) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers added to integer keys, by column, and to prefixed identifiers and record numbers, by prefix."""
    keys: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    for table, rows in world.tables:
        if table.info["presets"]:
            continue
        offset = draw.randrange(1000, 8000)
        if is_counted(table):
            keys |= dict.fromkeys(_columns_of_key(world, table), offset)
        prefixes |= dict.fromkeys(table.info[PREFIXES], offset)
        for number in _texts(table, rows, Kind.NUMBER):
            prefixes[re.sub(r"\d+$", "", number)] = offset
    return keys, prefixes


def _columns_of_key(world: World, table: Table) -> set[str]:
    """Columns of all tables that hold keys of a table."""
    (key,) = table.primary_key
    referring = {
        column.name
        for other, _ in world.tables
        for column in other.columns
        if isinstance(column.type, Integer)
        for reference in column.foreign_keys
        if reference.column is key
    }
    return {key.name, *referring}


def varied_script(metadata: MetaData, script: str, variant: int) -> str:
    """The seed script of a variant, in SQLite's dialect."""
    change = rewriting(metadata, script, variant)
    world = read_world(metadata, script)
    inserts = (_insert(table, rows, change) for table, rows in world.tables)
    return "\n".join([change.text(world.now_line), "BEGIN;", *inserts, "COMMIT;", ""])


def _insert(table: Table, rows: Sequence[tuple[Any, ...]], change: Rewriting) -> str:
    names = [column.name for column in table.columns]
    values = ",\n".join(
        f"({', '.join(_literal(change.value(value, name)) for name, value in zip(names, row, strict=True))})"
        for row in rows
    )
    columns = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{table.name}" ({columns}) VALUES\n{values};'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class SeedScripts(Mapping[str, Callable[[], str]]):
    """Readers of a domain's built-in seeds: by name, and by `NAME@VARIANT`; iteration gives the names only."""

    def __init__(self, metadata: MetaData, seeds: Mapping[str, Callable[[], str]]) -> None:
        self._metadata = metadata
        self._seeds = seeds
        self._varied = lru_cache(maxsize=4)(self._vary)

    def __getitem__(self, name: str) -> Callable[[], str]:
        """The reader of a seed.

        Raises:
            KeyError: There is no seed of this name, or the variant is not a number from 1 to 9999.
        """
        base, at, number = name.partition("@")
        if not at:
            return self._seeds[base]
        if base not in self._seeds or not is_variant(number):
            raise KeyError(name)
        return lambda: self._varied(base, int(number))

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._seeds)

    def __len__(self) -> int:
        return len(self._seeds)

    def _vary(self, name: str, variant: int) -> str:
        return varied_script(self._metadata, self._seeds[name](), variant)


def is_variant(number: str) -> bool:
    """Whether a text is the number of a variant as seeds are named by it."""
    return re.fullmatch(r"[1-9]\d{0,3}", number) is not None
