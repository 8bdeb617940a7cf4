"""What happens in a task without the agent: rows, permissions or time that change in mid-episode.

Invariant: an event has one trigger and at least one effect. It happens once, before a model call: the first one, or one
after all tool calls of a step; the agent is not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_TRIGGERS = ("after_step", "when")
_EFFECTS = ("sql", "set_time", "advance_seconds")


class Event(BaseModel):
    """A change that comes from outside of the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    after_step: Annotated[int, Field(ge=0)] | None = None
    """Trigger: this many model calls were answered, and what they asked for was done; 0 is before the first one."""
    when: Annotated[str, Field(min_length=1)] | None = None
    """Trigger: a query in Postgres' dialect, asked after every step. It returns one value, or no row; the event happens
    once the value is neither null, false, 0 nor empty."""
    gym: Annotated[str, Field(min_length=1)] | None = None
    """Gym server it happens on; the task's first one if absent."""
    sql: list[Annotated[str, Field(min_length=1)]] = []
    """Effect: INSERT, UPDATE and DELETE statements in Postgres' dialect, all or none of them."""
    set_time: str | None = None
    """Effect: time that the database's clock stands at from then on (ISO 8601, UTC unless it names a zone)."""
    advance_seconds: Annotated[float, Field(gt=0, lt=1e10)] | None = None
    """Effect: how far the database's clock moves; from then on it stands."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, event: object) -> object:
        """Drops nulls: a table has every column in every row."""
        if not isinstance(event, Mapping):
            return event
        return {name: value for name, value in event.items() if value is not None}

    @field_validator("set_time")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a time; use a form like 2026-01-31T09:00:00") from None
        return value

    @model_validator(mode="after")
    def _one_trigger_and_an_effect(self) -> Event:
        if sum(getattr(self, name) is not None for name in _TRIGGERS) != 1:
            raise ValueError(f"exactly one of {', '.join(_TRIGGERS)} is required")
        if self.set_time is not None and self.advance_seconds is not None:
            raise ValueError("set_time and advance_seconds exclude each other")
        if not any(getattr(self, name) for name in _EFFECTS):
            raise ValueError(f"at least one of {', '.join(_EFFECTS)} is required")
        return self
