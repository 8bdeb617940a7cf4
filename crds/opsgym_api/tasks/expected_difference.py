"""What a `state_difference` verifier expects of the difference between a gym's seed and its final database.

Invariant: an expectation that cannot be judged as written (an unknown condition, a reference to no row, a changed row
without a key) is refused with the field, never ignored. Columns are compared with values as SQLite snapshots have them:
booleans are 0 and 1, times are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from opsgym_api.records.state_difference import Change

_WORDS = ("equals", "has", "any_of", "not_null", "matches", "at_least", "at_most", "text", "key_of")
_BOUNDS = {"at_least", "at_most"}
_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Condition(_Strict):
    """What a column's value must be: one of these fields, or `at_least` together with `at_most`.

    Anything but an object stands for itself: `"resolved"` means `{"equals": "resolved"}`.
    """

    equals: Any = None
    """This value. Numbers compare by value, also if written as text; times by instant, with a blank or a T."""
    has: Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_texts), Field(min_length=1)] | None = (
        None
    )
    """A text that contains all of these, whatever their case and white space."""
    any_of: Annotated[list[Any], Field(min_length=1)] | None = None
    """One of these values, compared as by `equals`."""
    not_null: Literal[True] | None = None
    """Any value but null."""
    matches: str | None = None
    """A text in which this regular expression is found; it distinguishes case."""
    at_least: int | float | str | None = None
    """A number, or a time, that is not below this one."""
    at_most: int | float | str | None = None
    """A number, or a time, that is not above this one."""
    text: str | None = None
    """This text, whatever its case, white space and final punctuation."""
    key_of: str | None = None
    """Primary key of the added row whose expectation has this name in `as`. Of a key of several columns, the one with
    the judged column's name."""

    @model_validator(mode="before")
    @classmethod
    def _plain_value_or_words(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return {"equals": value}
        unknown = [str(word) for word in value if word not in _WORDS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not a valid condition; allowed: {', '.join(_WORDS)}")
        if len(value) != 1 and set(value) != _BOUNDS:
            raise ValueError("must have exactly one condition, or at_least with at_most")
        empty = [word for word, given in value.items() if given is None and word != "equals"]
        if empty:
            raise ValueError(f"{empty[0]}: must not be null")
        return value

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return pattern


def _free_columns(value: object) -> object:
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(name, str) for name in value) else value


class ExpectedRow(_Strict):
    """A row that must, or may, differ from the seed."""

    table: Annotated[str, Field(min_length=1)]
    """Table."""
    change: Change
    """How it differs."""
    keys: Annotated[list[Annotated[dict[str, Any], Field(min_length=1)]], Field(min_length=1)] | None = None
    """Primary keys of the changed or removed rows, each of which is expected. Removed rows of a table without a primary
    key are named by any of their columns."""
    values: dict[str, Condition] = {}
    """Conditions by column. A changed row's column must also differ from the seed."""
    may: Annotated[dict[str, Condition | None], BeforeValidator(_free_columns)] = {}
    """Columns that may differ: a list, or a condition (null: none) by column. All other columns of an added row are
    null."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of such added rows."""
    optional: bool = False
    """Whether the row may be missing. A row that meets an optional expectation in part does not meet it."""
    name: Annotated[str, Field(min_length=1)] | None = Field(default=None, alias="as")
    """Name of an added row, for `key_of`."""

    @model_validator(mode="after")
    def _fields_fit_the_change(self) -> ExpectedRow:
        if self.change == "added" and self.keys is not None:
            raise ValueError("keys: an added row has no key to expect; give its columns in values")
        if self.change != "added" and self.keys is None:
            raise ValueError(f"keys: is required for {self.change} rows")
        if self.change != "added" and self.count != 1:
            raise ValueError("count: is for added rows; give a key for each row in keys")
        if self.change != "added" and self.name is not None:
            raise ValueError("as: is for added rows; the key of any other row is known")
        if self.name is not None and self.count != 1:
            raise ValueError("as: must name one row; its count is more than 1")
        if self.change == "removed" and (self.values or self.may):
            raise ValueError("values, may: a removed row has no columns to judge")
        if self.change == "changed" and not (self.values or self.may):
            raise ValueError("values, may: at least one is required for changed rows")
        both = sorted(self.values.keys() & self.may.keys())
        if both:
            raise ValueError(f"may: {both[0]} has a condition in values already")
        return self

    @cached_property
    def references(self) -> set[str]:
        """Names of the rows that its conditions refer to."""
        conditions = [*self.values.values(), *self.may.values()]
        return {condition.key_of for condition in conditions if condition is not None and condition.key_of is not None}


class Either(_Strict):
    """Several ways of which exactly one is expected."""

    either: Annotated[list[list[ExpectedRow]], Field(min_length=2)]
    """Alternatives: the rows of each. One without rows makes those of the others optional, all or none."""

    @model_validator(mode="after")
    def _differ(self) -> Either:
        if any(one == other for one, other in combinations(self.either, 2)):
            raise ValueError("either: two alternatives are the same")
        return self


def _row_or_either(value: object) -> object:
    if isinstance(value, BaseModel):
        return value
    is_either = isinstance(value, Mapping) and "either" in value
    return Either.model_validate(value) if is_either else ExpectedRow.model_validate(value)


class ExpectedDifference(_Strict):
    """Configuration of a `state_difference` verifier.

    A task's verifiers of this type for a gym and a day are judged together: an added row serves one of their
    expectations, and `nothing_else` reports what none of them expects.
    """

    rows: list[Annotated[ExpectedRow | Either, BeforeValidator(_row_or_either)]] = []
    """Expected rows, in any order."""
    nothing_else: bool = False
    """Whether rows, and columns of changed rows, that no verifier of the gym expects make this one fail."""
    day: int | None = None
    """Day at whose end the difference is judged, counted from 1; the end of the episode if absent."""
    ignored: dict[str, list[str]] = {}
    """Columns that are never judged, by table: those the server fills itself. `*` means a table that is not judged."""

    @model_validator(mode="after")
    def _judges_something(self) -> ExpectedDifference:
        if not self.rows and not self.nothing_else:
            raise ValueError("rows: at least one is required, or nothing_else")
        return self

    @property
    def alternatives(self) -> Sequence[Sequence[Sequence[ExpectedRow]]]:
        """For each of `rows` its alternatives: a single row has one."""
        return [item.either if isinstance(item, Either) else [[item]] for item in self.rows]

    def every_row(self) -> Iterator[ExpectedRow]:
        """Each row of each alternative."""
        return (row for alternatives in self.alternatives for alternative in alternatives for row in alternative)


def reference_problems(expected: Mapping[str, ExpectedDifference]) -> list[str]:
    """What is wrong with the names of added rows over the verifiers of one gym; keys say where each stands.

    A name belongs to one row, or to one row in each of several alternatives of one `either`.
    """
    names: set[str] = set()
    problems: list[str] = []
    for where, difference in expected.items():
        for position, alternatives in enumerate(difference.alternatives):
            in_alternatives: set[str] = set()
            for alternative in alternatives:
                given = [row.name for row in alternative if row.name is not None]
                twice = {name for name in given if given.count(name) > 1 or name in names}
                problems += [f"{where}.rows[{position}]: as: {name!r} names several rows" for name in sorted(twice)]
                in_alternatives.update(given)
            names |= in_alternatives
    for where, difference in expected.items():
        unknown = {name for row in difference.every_row() for name in row.references} - names
        problems += [f"{where}: key_of: no added row is named {name!r} by as" for name in sorted(unknown)]
    return problems
