"""Verifiers of a task row: the types of checks, and the configuration of each.

Invariant: a configuration that its type cannot judge is refused with the field. Configurations of the published types
keep fields that opsgym does not know; those of types of opsgym have none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from opsgym_api.tasks.expected_difference import ExpectedDifference
from opsgym_api.tasks.row import Row, decoded
from opsgym_api.validation import problems_of


class Category(StrEnum):
    """What a verifier judges."""

    TASK_COMPLETION = "task_completion"
    INTEGRITY = "integrity"
    PERMISSION_PROCESS = "permission_process"
    SIDE_EFFECT = "side_effect"
    REFUSAL = "refusal"


class Comparison(StrEnum):
    """How a query's value is compared with the expected one."""

    EQUALS = "equals"
    GREATER_THAN = "greater_than"
    LESS_THAN = "less_than"
    CONTAINS = "contains"


class DatabaseState(Row):
    """A query over the final database state, and the value it must return."""

    query: Annotated[str, Field(min_length=1)]
    """One read-only statement."""
    expected_value: Any
    """Value of the single cell returned, or of the row or list of rows."""
    comparison_type: Comparison = Comparison.EQUALS
    """How the two are compared."""


class ToolExecution(Row):
    """Tools the agent must have called."""

    selected_tools: list[str] = []
    """Every one of these must have been called."""
    minimum_tool_calls: Annotated[int, Field(ge=0)] = 1
    """Calls the agent must have made in all."""


class ResponseCheck(Row):
    """A judge model compares the answer with a query's result."""

    sql_query: Annotated[str, Field(min_length=1)]
    """What the judge is given to compare with."""
    comparison_prompt: Annotated[str, Field(min_length=1)]
    """What the judge is asked."""
    minimum_comparison_value: float = 7
    """Lowest mark, of ten, that passes."""


def compiled(pattern: str) -> str:
    """The pattern, if it is a regular expression.

    Raises:
        ValueError: It is not.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
    return pattern


class AnswerMatch(Row):
    """Patterns of which the final answer must match at least one."""

    patterns: Annotated[list[str], Field(min_length=1)]
    """Regular expressions, searched case-insensitively."""
    day: int | None = None
    """Day whose answer is searched, counted from 1; the last one if absent."""

    @field_validator("patterns")
    @classmethod
    def _compiles(cls, patterns: list[str]) -> list[str]:
        return [compiled(pattern) for pattern in patterns]


class LookedUpRow(BaseModel):
    """A row as agents see it: to be read before it is written, or whose sight triggers an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: Annotated[str, Field(min_length=1)]
    """Column that identifies it, as results of tools name it."""
    value: str | int
    """Its value there, and in the arguments of the call that writes."""


class LookedUp(BaseModel):
    """Rows that the agent must have looked up before it first wrote to them.

    Before the first successful call of a writing tool with a row's value among its arguments, at any depth, a
    successful call of another tool must have returned an object with that column and value. A row that no such call
    names passes. A number counts only in an argument that is named after the column, as `caseIds` or `parent_case_id`
    are after `case_id`: small numbers mean different things in different arguments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: Annotated[list[LookedUpRow], Field(min_length=1)]
    """Rows to look up."""
    writes: bool = False
    """Whether every tool that writes counts as a writing tool, as its gym server says when the verifier judges. Without
    writing tools the rows must have been looked up at all."""
    writing_tools: list[str] = []
    """Writing tools by name, instead of `writes`; a result of theirs does not count."""

    @model_validator(mode="after")
    def _either(self) -> LookedUp:
        if self.writes and self.writing_tools:
            raise ValueError("give writes or writing_tools, not both")
        return self


class ForbiddenCall(BaseModel):
    """Calls that the agent must not attempt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str | None = None
    """Name of the tool; any tool if absent."""
    arguments: str | None = None
    """Regular expression, searched case-insensitively in the JSON of the arguments; any arguments if absent."""

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        return None if pattern is None else compiled(pattern)

    @model_validator(mode="after")
    def _names_something(self) -> ForbiddenCall:
        if self.tool is None and self.arguments is None:
            raise ValueError("tool, arguments: at least one is required")
        return self


class NeverCalled(BaseModel):
    """Calls that the agent must not attempt, also where the gym server refuses them and nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: list[ForbiddenCall] = []
    """Forbidden calls."""
    writes: bool = False
    """Whether calls of every tool that writes are forbidden, as its gym server says when the verifier judges."""

    @model_validator(mode="after")
    def _forbids_something(self) -> NeverCalled:
        if not self.calls and not self.writes:
            raise ValueError("calls: at least one is required, or writes")
        return self


VerifierType = Literal[
    "database_state",
    "tool_execution",
    "response_check",
    "answer_match",
    "state_difference",
    "looked_up",
    "never_called",
]
CONFIG_OF: Mapping[VerifierType, type[BaseModel]] = {
    "database_state": DatabaseState,
    "tool_execution": ToolExecution,
    "response_check": ResponseCheck,
    "answer_match": AnswerMatch,
    "state_difference": ExpectedDifference,
    "looked_up": LookedUp,
    "never_called": NeverCalled,
}
Config = TypeVar("Config", bound=BaseModel)


class Verifier(Row):
    """One check of an episode's end."""

    verifier_type: VerifierType
    """What kind of check."""
    name: str = ""
    """Shown in results; several verifiers may share it."""
    description: str = ""
    """What it checks, for people."""
    gym_name: str | None = None
    """Gym server whose database is judged; the task's first one if absent. Of `looked_up` and `never_called`
    verifiers the one whose calls count; all if absent."""
    validation_config: Annotated[dict[str, Any], BeforeValidator(decoded)]
    """Fields of the check, by type: see `DatabaseState`, `ToolExecution`, `ResponseCheck`, `AnswerMatch`,
    `ExpectedDifference`, `LookedUp`, `NeverCalled`."""
    category: Category = Category.TASK_COMPLETION
    """What it judges."""
    dialect: Literal["sqlite", "postgres"] = "sqlite"
    """SQL dialect of its query."""

    @model_validator(mode="after")
    def _config_fits_type(self) -> Verifier:
        try:
            _ = self.config
        except ValidationError as error:
            config = CONFIG_OF[self.verifier_type]
            problems = "; ".join(str(problem) for problem in problems_of(error, "validation_config", config))
            raise ValueError(problems) from None
        return self

    @cached_property
    def config(self) -> BaseModel:
        """The check's fields, of its type's class; parsed once, since a suite asks for them many thousand times."""
        return CONFIG_OF[self.verifier_type].model_validate(self.validation_config)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with the fields of `update`."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("config", None)  # the copy may have another configuration
        return copy

    def _config_as(self, kind: type[Config]) -> Config:
        """The check's fields.

        Raises:
            TypeError: The verifier is of another type.
        """
        if not isinstance(self.config, kind):
            raise TypeError(f"a verifier of type {self.verifier_type} has no {kind.__name__}")
        return self.config

    @property
    def database_state(self) -> DatabaseState:
        """The check's fields; only for `database_state`."""
        return self._config_as(DatabaseState)

    @property
    def tool_execution(self) -> ToolExecution:
        """The check's fields; only for `tool_execution`."""
        return self._config_as(ToolExecution)

    @property
    def response_check(self) -> ResponseCheck:
        """The check's fields; only for `response_check`."""
        return self._config_as(ResponseCheck)

    @property
    def answer_match(self) -> AnswerMatch:
        """The check's fields; only for `answer_match`."""
        return self._config_as(AnswerMatch)

    @property
    def state_difference(self) -> ExpectedDifference:
        """The check's fields; only for `state_difference`."""
        return self._config_as(ExpectedDifference)

    @property
    def looked_up(self) -> LookedUp:
        """The check's fields; only for `looked_up`."""
        return self._config_as(LookedUp)

    @property
    def never_called(self) -> NeverCalled:
        """The check's fields; only for `never_called`."""
        return self._config_as(NeverCalled)
