"""The rewriting of a built-in seed for a variant, and the seed that results.

Invariant: a replacement is distinct from every other and from every word of the seed; the keys of a table are the same
numbers with one offset, whichever rows they belong to, so what the server generates next is shifted alike.
"""

from __future__ import annotations

import itertools
import random
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, MetaData, Table

from opsgym_api.kinds.variants import LAST
from opsgym_domains.kit import sqlite
from opsgym_domains.kit.schema import PREFIXES, Kind, is_counted, load_order
from opsgym_domains.variants.rewriting import Rewriting, Shift
from opsgym_domains.variants.words import (
    AMBIGUOUS,
    CITIES,
    COMPANY_WORDS,
    FAMILY_NAMES,
    GIVEN_NAMES,
    SITE_WORDS,
    STREET_WORDS,
    TITLE_WORDS,
    ZONES,
)

YEARS = (-17, -11, 11, 17, 28)
"""Shifts between years whose days fall on the same weekdays, from March before the year of the seed to February after
it: month names, weekdays and distances in days stay right. Clocks change on the same days too, which leaves out years
before 2007: an hour of the wall clock keeps its distance from UTC in every zone of the seeds."""
FACTORS = (2, 3, 4, 6, 7, 8, 9)
"""What amounts of money are multiplied by, as if they were of another currency. A whole number keeps them whole."""
_LISTS = {
    Kind.GIVEN_NAME: GIVEN_NAMES,
    Kind.FAMILY_NAME: FAMILY_NAMES,
    Kind.COMPANY: COMPANY_WORDS,
    Kind.STREET: STREET_WORDS,
    Kind.TITLE: TITLE_WORDS,
}
ADDRESSES = (Kind.DOMAIN, Kind.EMAIL, Kind.ADDRESS)
"""Kinds of host names and of addresses with them."""
_FORM_OF_UUID = (0xF << 76) | (0x3 << 62)
"""Bits of a UUID that state its version and variant."""
_STREET_KINDS = {"Street", "Road", "Way", "Lane", "Avenue", "Place", "Rue"}
_NUMBERED = re.compile(r"\d+$")
_TITLED = re.compile(r"(Project|Room) (\w+)")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class World:
    """Rows of a seed, by table; every row has all columns of its table."""

    now_line: str
    tables: Sequence[tuple[Table, Sequence[tuple[Any, ...]]]]

    def texts(self, kind: Kind) -> list[str]:
        """The distinct texts of a kind, sorted."""
        return sorted({text for table, rows in self.tables for text in _texts(table, rows, kind)})

    def cities(self) -> list[tuple[str, str]]:
        """The distinct cities with their countries, sorted by country."""
        cities: set[tuple[str, str]] = set()
        for table, rows in self.tables:
            names = list(table.columns.keys())
            places = [names.index(name) for name, kind in table.info["kinds"].items() if kind is Kind.CITY]
            cities |= {(row[names.index("country")], row[place]) for row in rows for place in places}
        return [(city, country) for country, city in sorted(cities)]

    def columns(self, kind: Kind) -> frozenset[str]:
        """Names of the columns of a kind."""
        return frozenset(name for table, _ in self.tables for name, of in table.info["kinds"].items() if of is kind)


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


Source = tuple[MetaData, str]
"""Tables and script of a seed."""


def rewriting(metadata: MetaData, script: str, variant: int) -> Rewriting:
    """The rewriting of a seed for a variant.

    Raises:
        ValueError: A list of words is shorter than the seed's names.
    """
    world = read_world(metadata, script)
    draw = random.Random(f"opsgym {variant}")  # noqa: S311 - repeatable, not secret
    names = _Replaced.drawn(world, script, draw)
    keys, numbers = _shifts(world, lambda _table: draw)
    return replace(_rewriting(world, script, names, draw), keys=keys, numbers=numbers)


def company_rewritings(sources: Sequence[Source], variant: int) -> list[Rewriting]:
    """Rewritings of the seeds of one company, in their order. They replace names, times and record numbers alike, and
    differ in the keys and amounts of their own tables.

    Cities stay, since systems disagree on which cities there are.

    Raises:
        ValueError: A list of words is shorter than the company's names.
    """
    worlds, script = [read_world(*source) for source in sources], "\n".join(script for _, script in sources)
    whole = World(worlds[0].now_line, [table for world in worlds for table in world.tables])
    draw = random.Random(f"opsgym {variant}")  # noqa: S311 - repeatable, not secret
    common = _rewriting(whole, script, _Replaced.drawn(whole, script, draw, cities=False), draw)

    def by_table(table: Table) -> random.Random:
        return random.Random(f"opsgym {variant} {table.name}")  # noqa: S311 - repeatable, not secret

    shifts = [_shifts(world, by_table) for world in worlds]
    numbers = {prefix: shift for _, of_world in shifts for prefix, shift in of_world.items()}
    return [
        replace(common, keys=keys, numbers=numbers | own, amounts=world.columns(Kind.AMOUNT))
        for world, (keys, own) in zip(worlds, shifts, strict=True)
    ]


@dataclass(frozen=True)
class _Replaced:
    """Replacements of names and codes."""

    words: Mapping[str, str]
    codes: Mapping[str, str]
    products: Mapping[str, str]
    parts: Mapping[str, str]

    @classmethod
    def drawn(cls, world: World, script: str, draw: random.Random, *, cities: bool = True) -> _Replaced:
        words = _Names(world, script, draw, cities=cities).words()
        codes = _codes(world, script, draw)
        products = {name: _recoded(name, codes) for name in _product_codes(world)}
        return cls(words, codes, products, _parts(world, words))


def _rewriting(world: World, script: str, names: _Replaced, draw: random.Random) -> Rewriting:
    """A rewriting without keys and numbers."""
    years = sorted(int(year) for year in set(re.findall(r"'(\d{4})-\d\d-\d\d", script)))
    return Rewriting(
        words={**_in_lower_case(world, names.words), **names.words, **names.products},
        parts=names.parts,
        codes=names.codes,
        numbers={},
        keys={},
        years=draw.choice(YEARS),
        first_year=years[0] if years else 0,
        last_year=years[-1] + 1 if years else 0,
        digits=draw.randrange(101, 899),
        bits=draw.getrandbits(128) & ~_FORM_OF_UUID,
        amounts=world.columns(Kind.AMOUNT),
        factor=draw.choice(FACTORS),
        moments=bool(world.columns(Kind.MOMENT)),
    )


class _Names:
    """Draws replacements of names.

    Names of which one ends where the other goes on (`Carr`, `Carre`), or that differ in one letter, remain alike:
    tasks rely on namesakes.
    """

    def __init__(self, world: World, script: str, draw: random.Random, *, cities: bool) -> None:
        self._world = world
        self._cities = cities
        words = {*_WORD.findall(script)}
        self._taken = {word.lower() for word in words}
        lower = {word.capitalize() for word in words if word.islower()}
        self._common = lower - _words_of_addresses(world) | {
            word for name in _plain_names(world) for word in name.split()
        }
        """Words of which a text may mean something else than a name."""
        self._draw = draw
        self._words: dict[str, str] = {}

    def words(self) -> dict[str, str]:
        """Replacement by name."""
        titles = [match for text in self._world.texts(Kind.TITLE) if (match := _TITLED.match(text))]
        self._replace(Kind.TITLE, sorted({match[2] for match in titles}))
        not_given = {match[1] for match in titles}
        people = [name.partition(" ") for name in self._world.texts(Kind.PERSON)]
        given = sorted({*self._world.texts(Kind.GIVEN_NAME), *(first for first, _, _ in people)})
        self._replace(Kind.GIVEN_NAME, [name for name in given if name not in not_given])
        self._replace(
            Kind.FAMILY_NAME, sorted({*self._world.texts(Kind.FAMILY_NAME), *(last for _, _, last in people)})
        )
        companies = {self._distinctive(name) for name in self._world.texts(Kind.COMPANY)}
        self._replace(Kind.COMPANY, sorted(companies | self._hosts({name.replace(" ", "") for name in companies})))
        if self._cities:
            self._replace_cities()
        streets = {word for name in self._world.texts(Kind.STREET) for word in name.split()} - _STREET_KINDS
        self._replace(Kind.STREET, sorted(word for word in streets if word[0].isupper() and word not in self._common))
        self._replace_sites()
        return self._words

    def _replace_cities(self) -> None:
        for country, cities in CITIES.items():
            self._replace(Kind.CITY, [city for city, of in self._world.cities() if of == country], cities)
        self._trade_cities()
        for zone in self._world.texts(Kind.ZONE):
            if zone in ZONES:
                city, cities = ZONES[zone]
                self._replace(Kind.CITY, [city], cities)

    def _trade_cities(self) -> None:
        """Lets cities of countries without a list trade places, and their countries with them."""
        pairs = [(city, country) for city, country in self._world.cities() if country not in CITIES]
        self._draw.shuffle(pairs)
        for pair, other in zip(pairs, [*pairs[1:], *pairs[:1]], strict=True):
            for name, replacement in zip(pair, other, strict=True):
                spellings = dict(zip(_spellings(name), _spellings(replacement), strict=True))
                self._words |= {**spellings, name: replacement}

    def _replace_sites(self) -> None:
        """Replaces the first word of each site that has nothing in it which is replaced already."""
        names = self._world.texts(Kind.PLACE)
        same = [name for name in names if not any(f" {word} " in f" {name} " for word in self._words)]
        starts = sorted({tuple(name.split()[:2]) for name in same if " " in name})
        free = [word for word in SITE_WORDS if not self._is_taken(word)]
        for start, word in zip(starts, self._draw.sample(free, len(starts)), strict=True):
            self._words[" ".join(start)] = f"{word} {start[1]}"

    def _hosts(self, companies: Collection[str]) -> set[str]:
        """First labels of host names that do not begin with a company's name, as a company of that name is written."""
        labels = {_label(name) for kind in (Kind.DOMAIN, Kind.ADDRESS) for name in self._world.texts(kind)}
        return {label.capitalize() for label in labels if not any(label.startswith(name.lower()) for name in companies)}

    def _distinctive(self, company: str) -> str:
        """The first word of a company's name; the first two if the first has another meaning as well."""
        words = company.split()
        return words[0] if words[0] not in self._common else " ".join(words[:2])

    def _replace(self, kind: Kind, names: Sequence[str], words: Sequence[str] | None = None) -> None:
        names = [name for name in names if name.replace(" ", "").isalpha() and name not in self._words]
        free = [word for word in words or _LISTS[kind] if not self._is_taken(word)]
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


def _spellings(code: str) -> tuple[str, str, str]:
    """A city or country as its column spells it, and in texts: `new_york`, `new york`, `New York`; `uk`, `uk`, `UK`."""
    words = code.replace("_", " ")
    return code, words, words.upper() if len(code) < 4 else words.title()


def _plain_names(world: World) -> Iterator[str]:
    """Names of rows that stay as they are: of teams, services and the like."""
    for table, rows in world.tables:
        if "name" in table.columns and "name" not in table.info["kinds"]:
            index = list(table.columns.keys()).index("name")
            yield from (row[index] for row in rows)


def _label(address: str) -> str:
    """First label of the host name of an address."""
    return address.rpartition("@")[2].partition(".")[0]


def _words_of_addresses(world: World) -> set[str]:
    addresses = [address for kind in ADDRESSES for address in world.texts(kind)]
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


def _codes(world: World, script: str, draw: random.Random) -> dict[str, str]:
    """Replacement by first letter of a code; none makes a word that the seed has."""
    codes = _product_codes(world)
    taken = {*re.findall(r"\w+", script)} if codes else set()
    letters = sorted({code[0] for code in codes})
    free = sorted(set("ABCDEFGHJKLMNPQRSTVWXYZ") - set(letters))
    free = [initial for initial in free if taken.isdisjoint(initial + code[1:] for code in codes)]
    draw.shuffle(free)
    return dict(zip(letters, free, strict=False))


def _recoded(code: str, codes: Mapping[str, str]) -> str:
    return codes.get(code[0], code[0]) + code[1:]


def _parts(world: World, words: Mapping[str, str]) -> dict[str, str]:
    """Replacements in addresses: names in lower case, and host names that begin with the name of their company."""
    parts = {form: word.lower() for name, word in words.items() for form in (_without_accents(name), name.lower())}
    for address in (address for kind in ADDRESSES for address in world.texts(kind)):
        label = _label(address)
        for name in world.texts(Kind.COMPANY):
            company = next((start for start in (name.split()[0], " ".join(name.split()[:2])) if start in words), "")
            joined = company.replace(" ", "").lower()
            if joined and label.startswith(joined):
                parts.setdefault(label, label.replace(joined, words[company].lower(), 1))
    return parts


def _without_accents(name: str) -> str:
    """A name as addresses spell it."""
    return unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()


def _in_lower_case(world: World, words: Mapping[str, str]) -> dict[str, str]:
    """Replacements in texts without capitals: of names that mean nothing else, and of full names."""
    kinds = (
        Kind.TITLE,
        Kind.DOMAIN,
        Kind.ADDRESS,
        Kind.GIVEN_NAME,
        Kind.FAMILY_NAME,
        Kind.PERSON,
        Kind.CITY,
        Kind.ZONE,
    )
    names = {word.lower() for kind in kinds for text in world.texts(kind) for word in _WORD.findall(text)} - AMBIGUOUS
    lower = {name.lower(): word.lower() for name, word in words.items()}
    people = [name.lower() for kind in (Kind.FULL_NAME, Kind.PERSON) for name in world.texts(kind)]
    full = {name: " ".join(lower.get(word, word) for word in name.split()) for name in people}
    phrases = {" ".join(name.lower().split()[:2]) for name in world.texts(Kind.PLACE)}
    return full | {name: word for name, word in lower.items() if name in names or name in phrases}


def _shifts(world: World, draws: Callable[[Table], random.Random]) -> tuple[dict[str, Shift], dict[str, Shift]]:
    """Replacements of integer keys, by column, and of prefixed identifiers and record numbers, by prefix."""
    keys: dict[str, Shift] = {}
    prefixes: dict[str, Shift] = {}
    for table, rows in world.tables:
        if table.info["presets"]:
            continue
        draw = draws(table)
        offset = draw.randrange(1000, 8000)
        by_key = Shift(offset, _traded(table, rows, draw))
        if is_counted(table) and next(iter(table.primary_key)).autoincrement:
            keys |= dict.fromkeys(_columns_of_key(world, table), by_key)
        prefixes |= dict.fromkeys(table.info[PREFIXES], Shift(offset))
        for number in _texts(table, rows, Kind.NUMBER):
            prefixes[_NUMBERED.sub("", number)] = Shift(offset)
        prefixes |= dict.fromkeys({_NUMBERED.sub("", row[0]) for row in rows if _is_prefixed(row[0])}, by_key)
    return keys, prefixes


def _is_prefixed(key: Any) -> bool:
    """Whether a key is a prefix and a number, as in `INC_494`."""
    return isinstance(key, str) and re.fullmatch(r"[A-Z]+[_-]\d+", key) is not None


def _traded(table: Table, rows: Sequence[tuple[Any, ...]], draw: random.Random) -> dict[int, int]:
    """Numbers of keys that trade places, so that lists show the rows in another order.

    Where keys are in the order of creation, they stay so: only rows of the same time trade. The row with the highest
    number keeps it, since a server may give that number again once the row is removed.
    """
    if len(table.primary_key) > 1 or not (is_counted(table) or all(_is_prefixed(row[0]) for row in rows)):
        return {}
    created = table.info["created"]
    place = list(table.columns.keys()).index(created) if created else None
    times = sorted((_number_of(row[0]), "" if place is None else str(row[place])) for row in rows)
    if any(time > later for (_, time), (_, later) in itertools.pairwise(times)):
        times = [(number, "") for number, _ in times]
    traded: dict[int, int] = {}
    for _, group in itertools.groupby(times[:-1], key=lambda of: of[1]):
        numbers = [number for number, _ in group]
        traded |= zip(numbers, draw.sample(numbers, len(numbers)), strict=True)
    return traded


def _number_of(key: Any) -> int:
    """The number in a key."""
    digits = _NUMBERED.search(str(key))
    return int(digits[0]) if digits else 0


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


def varied_script(metadata: MetaData, script: str, variant: int, change: Rewriting | None = None) -> str:
    """The seed script of a variant, in SQLite's dialect; `change` is the rewriting of the seed alone if None."""
    change = change or rewriting(metadata, script, variant)
    world = read_world(metadata, script)
    inserts = (_insert(table, rows, change) for table, rows in world.tables)
    return "\n".join([change.text(world.now_line), "BEGIN;", *inserts, "COMMIT;", ""])


def _insert(table: Table, rows: Sequence[tuple[Any, ...]], change: Rewriting) -> str:
    names = [column.name for column in table.columns]
    known: dict[tuple[str, Any], Any] = {}  # times, names and references repeat in most rows of a large seed

    def replaced(name: str, value: Any) -> Any:
        if (name, value) not in known:
            known[name, value] = change.value(value, name)
        return known[name, value]

    varied = [tuple(replaced(name, value) for name, value in zip(names, row, strict=True)) for row in rows]
    if len(table.primary_key) == 1:
        varied.sort(key=lambda row: (len(str(row[0])), str(row[0])))
    values = ",\n".join(f"({', '.join(map(_literal, row))})" for row in varied)
    columns = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{table.name}" ({columns}) VALUES\n{values};'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class SeedScripts(Mapping[str, Callable[[], str]]):
    """Readers of a domain's built-in seeds: by name, and by `NAME@VARIANT`; iteration gives the names only."""

    def __init__(
        self,
        metadata: MetaData,
        seeds: Mapping[str, Callable[[], str]],
        rewritings: Callable[[str, int], Rewriting] | None = None,
    ) -> None:
        """Remembers the readers.

        Args:
            metadata: The domain's tables.
            seeds: Readers of the seeds as they are written.
            rewritings: Gives the rewriting of a seed for a variant; each seed is rewritten alone if None.
        """
        self._metadata = metadata
        self._seeds = seeds
        self._rewritings = rewritings
        self._varied = lru_cache(maxsize=4)(self._vary)

    def __getitem__(self, name: str) -> Callable[[], str]:
        """The reader of a seed.

        Raises:
            KeyError: There is no seed of this name, or the variant is not a number; see `opsgym_api.kinds.variants`.
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
        change = None if self._rewritings is None else self._rewritings(name, variant)
        return varied_script(self._metadata, self._seeds[name](), variant, change)


def is_variant(number: str) -> bool:
    """Whether a text is the number of a variant as seeds are named by it."""
    return re.fullmatch(r"[1-9]\d{0,18}", number) is not None and int(number) <= LAST
