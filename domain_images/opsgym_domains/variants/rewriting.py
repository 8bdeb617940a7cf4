"""Rewrites texts and keys of a world.

Invariant: a rewriting replaces each text in one pass, so no replacement is replaced again, and equal texts become equal
ones whether they are in a row of the seed, a prompt, an argument or a pattern.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from opsgym_domains.kit.identifiers import from_base_32, in_base_32

CONDITIONS = {"equals", "has", "any_of", "not_null", "matches", "at_least", "at_most", "text", "key_of"}
"""Words of conditions of `state_difference` verifiers, which stand between a column and its value."""
_PATTERN_CLASS = re.compile(r"(\\[bBsSwWdDAZ])")
_BETWEEN_WORDS = r"[\s_-]+"
"""What patterns of answers accept between the words of a name."""
_BLANK = re.compile(r"(?<!\\) ")
_PART = re.compile(r"[a-z0-9]+")
_LOWER_WORD = re.compile(r"(?<![A-Za-z0-9])[a-z]{3,}(?![A-Za-z0-9])")
_NUMBER = re.compile(r"\d+")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")
_INSERT = re.compile(r'(INSERT INTO "?\w+"? \()([^)]*)(\) VALUES )(.*)', re.IGNORECASE | re.DOTALL)
_VALUE_ROW = re.compile(r"\(((?:'(?:[^']|'')*'|[^()'])*)\)")
_LITERAL = re.compile(r"\s*('(?:[^']|'')*'|[^,']+)\s*(?:,|$)")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - texts state no zone
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_ULID = r"01[0-9A-HJKMNP-TV-Z]{24}"
"""A ULID of the years 2004 to 2039, in which seeds lie. Those that a server counts begin otherwise."""
_COUNTED = "0" * 8
"""Digits after the time of a ULID that a server counts up within a millisecond."""
_START, _END = r"(?<![^\W_])", r"(?![^\W_]|['\u2019]t\b)"
"""Boundaries of a word; `Don` does not end where `Don't` goes on."""


def is_amount(value: Any) -> bool:
    """Whether a value of a column of amounts is a number, also one that is written as text."""
    return isinstance(value, int | float) or (isinstance(value, str) and _AMOUNT.fullmatch(value) is not None)


def _multiplied(value: Any, factor: int) -> Any:
    return str(Decimal(value) * factor) if isinstance(value, str) else value * factor


@dataclass(frozen=True)
class Shift:
    """What becomes of the numbers in a table's keys."""

    offset: int
    """Added to every number, also to those that the server counts up later."""
    moved: Mapping[int, int] = field(default_factory=dict)
    """Numbers of the seed's rows that trade places, by number."""

    def __call__(self, number: int) -> int:
        """The replacement of a number."""
        return self.moved.get(number, number) + self.offset


@dataclass(frozen=True)
class Rewriting:
    """What a variant replaces.

    Attributes:
        words: Replacement by word or phrase, as it is spelled; a plural in `s` is replaced as well.
        parts: Replacement by lower-case part of an address, user name or token.
        codes: Replacement by the first letter of a product's code.
        numbers: Replacement of the digits that follow a prefix, of identifiers and record numbers.
        keys: Replacement of integer keys, by column.
        years: Years added to dates between `first_year` and `last_year`.
        digits: Number added to the last digits of phone and serial numbers, which keep their length.
        bits: Bits that are inverted in UUIDs of version 4, and after the time of ULIDs. Other versions are the
            server's, which counts them.
        amounts: Columns that hold amounts of money.
        factor: What these are multiplied by.
        moments: Whether numbers of milliseconds since 1970 are dates too.
        figures: Amounts that texts state as bare numbers. Which ones do depends on the task.
    """

    words: Mapping[str, str]
    parts: Mapping[str, str]
    codes: Mapping[str, str]
    numbers: Mapping[str, Shift]
    keys: Mapping[str, Shift]
    years: int
    first_year: int
    last_year: int
    digits: int
    bits: int = 0
    amounts: frozenset[str] = frozenset()
    factor: int = 1
    figures: frozenset[str] = frozenset()
    moments: bool = False

    def text(self, text: str) -> str:
        """A text in which everything is replaced."""
        return self._pattern.sub(self._replace, text)

    def pattern(self, pattern: str) -> str:
        r"""A regular expression; `\b` and the like are boundaries of words in it, and names may be in lower case.

        What stands between the words of a name (`[\s_-]+`) counts as a blank.
        """
        if _BETWEEN_WORDS in pattern:
            blanks = _BLANK.sub("\0", pattern).replace(_BETWEEN_WORDS, " ")
            return _BLANK.sub(lambda _: _BETWEEN_WORDS, self.pattern(blanks)).replace("\0", " ")
        pieces = enumerate(_PATTERN_CLASS.split(pattern))
        return "".join(piece if index % 2 else self._in_any_case(self.text(piece)) for index, piece in pieces)

    def _in_any_case(self, text: str) -> str:
        return _LOWER_WORD.sub(lambda word: self.parts.get(word[0], word[0]), text)

    def key(self, column: str, value: Any) -> Any:
        """An integer key, also one that is written as text; other values are returned as they are.

        The name of an argument may go on after that of a column, as `assigned_to_user_id` does.
        """
        shift = self.keys.get(column, self._shift_of_argument(column))
        if shift is None or value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return shift(value)
        return str(shift(int(value))) if isinstance(value, str) and value.isdigit() else value

    def _shift_of_argument(self, name: str) -> Shift | None:
        if not name.endswith("_id"):
            return None
        columns = [column for column in self.keys if name.startswith(f"{column}_")]
        return self.keys[max(columns, key=len)] if columns else None

    def value(self, value: Any, column: str = "") -> Any:
        """A JSON value with everything in it replaced.

        Args:
            value: A row, a condition, arguments of a call.
            column: Name under which the value stands, which says whether an integer is a key.
        """
        if isinstance(value, Mapping):
            if value.keys() == {"column", "value"}:
                return {**value, "value": self.value(value["value"], str(value["column"]))}
            return {
                name: self.pattern(item)
                if name == "matches" and isinstance(item, str)
                else self.value(item, column if name in CONDITIONS else str(name))
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item, column) for item in value]
        if column in self.amounts and is_amount(value):
            return _multiplied(value, self.factor)
        key = self.key(column, value)
        return self.text(key) if isinstance(key, str) and key == value else key

    def sql(self, statement: str) -> str:
        """A statement whose conditions, assignments and inserted rows name keys by their columns."""
        if (insert := _INSERT.fullmatch(statement)) is not None:
            columns = [name.strip(' "') for name in insert[2].split(",")]
            rows = _VALUE_ROW.sub(lambda row: f"({self._inserted(columns, row[1])})", insert[4])
            return self.text(f"{insert[1]}{insert[2]}{insert[3]}{rows}")
        return self.text(self._compared_keys.sub(self._compared, statement) if self.keys else statement)

    def _inserted(self, columns: list[str], row: str) -> str:
        literals = [literal[1].strip() for literal in _LITERAL.finditer(row)]
        return ", ".join(
            _NUMBER.sub(lambda digits, column=column: self.key(column, digits[0]), literal)
            if re.fullmatch(r"'?\d+'?", literal) and column in self.keys
            else literal
            for column, literal in zip(columns, literals, strict=True)
        )

    def _compared(self, match: re.Match[str]) -> str:
        shifted = _NUMBER.sub(lambda digits: self.key(match["column"], digits[0]), match["literals"])
        return f"{match['column']}{match['operator']}{shifted}"

    @cached_property
    def _compared_keys(self) -> re.Pattern[str]:
        names = "|".join(sorted(self.keys, key=len, reverse=True))
        literals = r"'?\d+'?(?!\w)|\((?:\s*'?\d+'?\s*,?)+\)"
        return re.compile(rf"\b(?P<column>{names})\b(?P<operator>\"?\s*(?:=|<>|IN|NOT IN)\s*)(?P<literals>{literals})")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?P<{name}>{form})" for name, form in self._forms()))

    def _forms(self) -> Iterator[tuple[str, str]]:
        """Forms of what is replaced, the more specific ones first."""
        yield "uuid", rf"(?<![0-9a-f]){_UUID}(?:-[0-9a-f]{{8}})?(?![0-9a-f])"
        yield "ulid", rf"(?<![0-9A-Za-z]){_ULID}(?![0-9A-Za-z])"
        if self.moments:
            yield "moment", r"(?<![\w.-])1[0-9]\d{11}(?!\d)"
        yield "phone", r"\+\d[\d -]{6,}\d(?!\d)"
        if self.numbers:
            prefixes = "|".join(map(re.escape, sorted(self.numbers, key=len, reverse=True)))
            yield "number", rf"(?<![A-Za-z0-9])(?:{prefixes})\d{{3,}}(?![A-Za-z0-9])"
        yield "serial", r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{1,4}-(?:\d\d-)?\d{3,}(?:-[A-Z0-9]+)?(?![A-Za-z0-9])"
        yield "address", r"(?<![A-Za-z0-9])[a-z][a-z0-9]*(?:\\?[._@-][a-z0-9]+)+(?![A-Za-z0-9])"
        if self.words:
            phrases = [re.escape(word).replace(r"\ ", r"\\?\ ") for word in self.words if " " in word]
            alternatives = "|".join([*sorted(phrases, key=len, reverse=True), r"[^\W\d_]+[0-9]*"])
            yield "word", f"{_START}(?:{alternatives}){_END}"
        if self.figures:
            yield (
                "figure",
                rf"(?<![\w.,:+-])(?:{'|'.join(sorted(self.figures, key=len, reverse=True))})(?![\w:]|[.,]\d)",
            )
        yield "date", r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:19|20)\d\d(?!\d)"
        yield "stamp", r"(?<!\d)(?:19|20)\d{6}(?=T\d{6})"
        yield "year", r"(?<![\w.,+-])(?:19|20)\d\d(?:-02-29)?(?!\w|[.,]\d)"

    def _replace(self, match: re.Match[str]) -> str:
        kind, text = match.lastgroup, match[0]
        match kind:
            case "uuid" | "ulid":
                return self._uuid(text) if kind == "uuid" else self._ulid(text)
            case "moment":
                return self._moment(text)
            case "phone":
                return self._phone(text)
            case "number":
                return self._number(text)
            case "serial":
                return self._serial(text)
            case "address":
                return self.words.get(text) or _PART.sub(lambda part: self.parts.get(part[0], part[0]), text)
            case "word":
                return self._word(text)
            case "figure":
                return str(_multiplied(text, self.factor))
            case "date":
                return f"{text[:-4]}{self._year(text[-4:])}"
            case _:
                return self._year(text)

    def _uuid(self, text: str) -> str:
        """A UUID, after which its first eight digits may stand again."""
        key = UUID(text[:36])
        changed = str(UUID(int=key.int ^ self.bits)) if key.version == 4 else str(key)
        return f"{changed}-{changed[:8]}" if text[36:] == f"-{text[:8]}" else changed + text[36:]

    def _ulid(self, text: str) -> str:
        """A ULID, at the same time of the same day of another year."""
        time, rest = text[:10], text[10:]
        if not rest.startswith(_COUNTED):
            rest = in_base_32(from_base_32(rest) ^ self.bits, len(rest))
        return in_base_32(self._moved(from_base_32(time)), len(time)) + rest

    def _moment(self, text: str) -> str:
        """Milliseconds since 1970, at the same time of the same day of another year."""
        return str(self._moved(int(text)))

    def _moved(self, milliseconds: int) -> int:
        time = _EPOCH + timedelta(milliseconds=milliseconds)
        if not self.first_year <= time.year <= self.last_year:
            return milliseconds
        moved = datetime.fromisoformat(f"{self._year(f'{time:%Y-%m-%d}')}T{time.time().isoformat()}")
        return (moved - _EPOCH) // timedelta(milliseconds=1)

    def _word(self, text: str) -> str:
        if "\\" in text:
            return self._word(text.replace("\\", "")).replace(" ", r"\ ")
        if text in self.words or text[-1:] != "s" or text[:-1] not in self.words:
            return self.words.get(text, text)
        return f"{self.words[text[:-1]]}s"

    def _phone(self, text: str) -> str:
        places = [index for index, character in enumerate(text) if character.isdigit()][-3:]
        shifted = f"{(int(''.join(text[place] for place in places)) + self.digits) % 1000:03d}"
        characters = list(text)
        for place, digit in zip(places, shifted, strict=True):
            characters[place] = digit
        return "".join(characters)

    def _number(self, text: str) -> str:
        digits = re.search(r"\d+$", text)
        assert digits is not None
        number = self.numbers[text[: digits.start()]](int(digits[0]))
        return f"{text[: digits.start()]}{number:0{len(digits[0])}d}"

    def _serial(self, text: str) -> str:
        series, _, rest = text.partition("-")
        number = re.search(r"\d{3,}", rest)
        assert number is not None
        size = len(number[0])
        shifted = f"{(int(number[0]) + self.digits * 37) % 10**size:0{size}d}"
        if series[1:].isdigit():
            series = self.codes.get(series[0], series[0]) + series[1:]
        return f"{series}-{rest[: number.start()]}{shifted}{rest[number.end() :]}"

    def _year(self, text: str) -> str:
        """A year, after which a month and a day may stand."""
        year = int(text[:4])
        if not self.first_year <= year <= self.last_year:
            return text
        day = "-02-28" if text[4:] == "-02-29" and not calendar.isleap(year + self.years) else text[4:]
        return f"{year + self.years}{day}"
