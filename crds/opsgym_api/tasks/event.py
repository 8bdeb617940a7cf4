"""What happens in a task without the agent's doing: rows, permissions, time or rules that change in mid-episode, and
messages of the user.

Invariant: an event has one trigger and at least one effect. It happens once, before a model call: the first one, or one
after all tool calls of a step. The agent learns only of effects that address it (`tell`, `amend`) and of the new time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from opsgym_api.patterns import pattern
from opsgym_api.tasks.verifiers import LookedUpRow

_TRIGGERS = ("after_step", "when", "at", "after_event", "on_tool", "when_read")
_EFFECTS = ("sql", "set_time", "advance_seconds", "tell", "amend")

Seconds = Annotated[float, Field(gt=0, lt=1e10)]
"""A duration that a clock can move by."""
Name = Annotated[str, Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]


def require_time(value: str) -> str:
    """Checks that a text is an ISO 8601 time.

    Raises:
        ValueError: It is not.
    """
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a time; use a form like 2026-01-31T09:00:00") from None
    return value


_RULE = pattern(r"^([A-Z]+-)?[A-Z]{2,4}-\d{1,2}$", "the number of a rule, such as INC-9 or ITSM-INC-9")


class Amendment(BaseModel):
    """A change of the policy: a rule that is new, or that replaces the rule of the same number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: Annotated[str, Field(pattern=_RULE)]
    """Number of the rule, as the policy writes it: `INC-9`, `ITSM-INC-9`."""
    text: Text
    """The rule as it reads from then on."""


class Event(BaseModel):
    """A change that comes from outside of the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = None
    """Name by which `after_event` of other events refers to it; unique in the task."""
    after_step: Annotated[int, Field(ge=0)] | None = None
    """Trigger: this many model calls were answered, and what they asked for was done; 0 is before the first one."""
    when: Text | None = None
    """Trigger: a query in Postgres' dialect, asked after every step. It returns one value, or no row; the event happens
    once the value is neither null, false, 0 nor empty."""
    at: str | None = None
    """Trigger: the world's clock reaches this time (ISO 8601, UTC unless it names a zone). If the clock jumps over it,
    the event happens on the way, at this time."""
    after_event: Name | None = None
    """Trigger: the event of this name happened, `delay_seconds` ago by the world's clock."""
    delay_seconds: Seconds | None = None
    """Delay of `after_event`; none if absent."""
    on_tool: Name | None = None
    """Trigger: a call of this tool succeeded. The tool's own name on its gym server."""
    when_read: LookedUpRow | None = None
    """Trigger: the result of a successful call shows this row, so that the agent has seen it as it was."""
    when_gym: Name | None = None
    """Gym server of the trigger, for `when`, `on_tool` and `when_read`. If absent: for `when` the gym server of the
    effect, for the others every gym server."""
    gym: Name | None = None
    """Gym server whose rows change; the task's first one if absent."""
    sql: list[Text] = []
    """Effect: INSERT, UPDATE and DELETE statements in Postgres' dialect, all or none of them. If the event also moves
    the clock, they run at the new time, after what time does by itself."""
    set_time: str | None = None
    """Effect: time at which the clocks of all gym servers stand from then on (ISO 8601, UTC unless it names a zone)."""
    advance_seconds: Seconds | None = None
    """Effect: how far the clocks of all gym servers move; from then on they stand."""
    tell: Text | None = None
    """Effect: a message of the user, which the agent reads before its next step."""
    amend: Amendment | None = None
    """Effect: a change of the policy, which the agent reads before its next step."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, event: object) -> object:
        """Drops nulls: a table has every column in every row."""
        if not isinstance(event, Mapping):
            return event
        return {name: value for name, value in event.items() if value is not None}

    @field_validator("set_time", "at")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        return require_time(value)

    @model_validator(mode="after")
    def _one_trigger_and_an_effect(self) -> Event:
        if sum(getattr(self, name) is not None for name in _TRIGGERS) != 1:
            raise ValueError(f"exactly one of {', '.join(_TRIGGERS)} is required")
        if self.set_time is not None and self.advance_seconds is not None:
            raise ValueError("set_time and advance_seconds exclude each other")
        if not self.has_effect:
            raise ValueError(f"at least one of {', '.join(_EFFECTS)} is required")
        if self.delay_seconds is not None and self.after_event is None:
            raise ValueError("delay_seconds belongs to after_event, which is absent")
        if self.when_gym is not None and self.when is None and not self.follows_call:
            raise ValueError("when_gym belongs to when, on_tool or when_read; all are absent")
        return self

    @property
    def has_effect(self) -> bool:
        """Whether anything happens."""
        return any(getattr(self, name) for name in _EFFECTS)

    @property
    def follows_call(self) -> bool:
        """Whether the trigger is a successful call of a tool."""
        return self.on_tool is not None or self.when_read is not None

    @property
    def moves_time(self) -> bool:
        """Whether the event moves the clock."""
        return self.set_time is not None or self.advance_seconds is not None

    @property
    def needs_clock(self) -> bool:
        """Whether trigger or effect is a matter of the world's time."""
        return self.moves_time or self.at is not None or self.delay_seconds is not None
