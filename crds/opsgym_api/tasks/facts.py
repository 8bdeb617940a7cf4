"""Facts that an answer or a message must state, as a task file writes them, and the patterns that they mean.

A text means itself as words of their own, `/…/` a regular expression, a whole number its digits. Maps mean more:

    {number: 3}             in digits or in words        {all: [A, B]}     every one of them, in any order
    {date: 2026-11-16}      in any usual form            {any: [A, B]}     one of them
    {time: "14:00"}         of 24 or of 12 hours         {sequence: [A, B]}  in this order
    {span: [A, B]}          from A to B, not the other way round
    {not: A}                A is not found               not_done          that something was not done

Invariant: what a fact accepts is decided in `answer_patterns` alone, so a task says what must be stated, never how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from opsgym_api.tasks.answer_patterns import (
    NOT_DONE,
    all_of,
    at_time,
    figure,
    number,
    on_date,
    sequence,
    span,
    term,
    without,
)
from opsgym_api.tasks.references import references_in
from opsgym_api.tasks.verifiers import Category

_FORMS = "a text, a number, or a map with one of {}"


def pattern_of(fact: Any) -> str:
    """The pattern of what must be stated.

    Raises:
        ValueError: The fact has another form.
    """
    if isinstance(fact, int) and not isinstance(fact, bool):
        return figure(fact)
    if isinstance(fact, str) and fact:
        return fact[1:-1] if len(fact) > 2 and fact[0] == fact[-1] == "/" else _NAMED.get(fact) or term(fact)
    if isinstance(fact, Mapping) and len(fact) == 1:
        ((form, value),) = fact.items()
        if form in _OF_FORM:
            return _OF_FORM[form](value)
    raise ValueError(f"{fact!r} is not a fact; write {_FORMS.format(', '.join(_OF_FORM))}")


def patterns_of(fact: Any) -> list[str]:
    """The patterns of what must be stated, one of them.

    Raises:
        ValueError: The fact has another form.
    """
    return _each(fact["any"]) if isinstance(fact, Mapping) and fact.keys() == {"any"} else [pattern_of(fact)]


def _each(value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{value!r} is not a list of facts")
    return [pattern_of(part) for part in value]


def _span(value: Any) -> str:
    facts = _each(value)
    if len(facts) != 2:
        raise ValueError(f"{value!r} is not a list of two facts, the first and the last")
    return all_of(span(*facts))


def _number(value: Any) -> str:
    if not str(value).isdecimal():
        raise ValueError(f"{value!r} is not a whole number")
    return number(int(value))


_OF_FORM: Mapping[str, Callable[[Any], str]] = {
    "number": _number,
    "date": lambda value: on_date(date.fromisoformat(str(value))),
    "time": lambda value: at_time(datetime.strptime(str(value), "%H:%M")),  # noqa: DTZ007 - only the time of day counts
    "all": lambda value: all_of(_each(value)),
    "any": lambda value: f"(?:{'|'.join(_each(value))})",
    "sequence": lambda value: sequence(_each(value)),
    "span": _span,
    "not": lambda value: without(pattern_of(value)),
}
_NAMED: Mapping[str, str] = {"not_done": NOT_DONE}
_OF_REPORT = ("rule", "category", "day", "described")


def readable(fact: Any) -> Any:
    """A fact, if it has a pattern.

    Raises:
        ValueError: It has another form, or its expression is not valid.
    """
    try:
        for pattern in () if contains_reference(fact) else patterns_of(fact):
            re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{fact!r} is not a regular expression: {error}") from None
    return fact


def contains_reference(value: Any) -> bool:
    """Whether a fact names a value that an earlier call has read."""
    return next(references_in(value), None) is not None


Fact = Annotated[Any, AfterValidator(readable)]


class Report(BaseModel):
    """What the answer of a day must state: a fact, or a map with the fact and what is said of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fact: Fact
    """The fact."""
    rule: str | None = None
    """Rule of the policy that asks for it."""
    category: Category | None = None
    """Category of the verifier; that of the work if absent."""
    day: Annotated[int, Field(ge=1)] | None = None
    """Day whose answer states it; the last one if absent."""
    described: str | None = None
    """What the verifier says, if its label does not say it."""

    def says(self, label: str) -> str:
        """What the verifier says."""
        cited = f" [{self.rule}]" if self.rule else ""
        return f"{self.described or f'The answer {label}'}{cited}"


def _report(value: object) -> object:
    if isinstance(value, Mapping) and "fact" in value:
        return value
    if isinstance(value, Mapping):
        known = {name: value[name] for name in _OF_REPORT if name in value}
        return {"fact": {name: part for name, part in value.items() if name not in known}, **known}
    return {"fact": value}


Reported = Annotated[Report, BeforeValidator(_report)]


class Declines(BaseModel):
    """What the answer to a request that cannot be carried out must say, besides that nothing was done."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: Fact | None = None
    """The record or the person that it names, as a fact."""
    because: Annotated[list[Fact], Field(min_length=1)]
    """What stands in the way, as facts: one of them."""

    @property
    def reasons(self) -> list[str]:
        """Patterns of an answer that names the record and a reason, one of them."""
        subject = [] if self.names is None else [pattern_of(self.names)]
        return [all_of([*subject, reason]) if subject else reason for reason in map(pattern_of, self.because)]


def condition_of(value: Any) -> Any:
    """A condition of a file as `state_difference` verifiers write it: `{states: [A, B]}` becomes a pattern."""
    if isinstance(value, Mapping) and value.keys() == {"states"}:
        return {"matches": f"(?i){all_of(_each(value['states']))}"}
    if isinstance(value, Mapping) and value.keys() == {"any_of"}:
        return {"any_of": [condition_of(one) for one in value["any_of"]]}
    return value
