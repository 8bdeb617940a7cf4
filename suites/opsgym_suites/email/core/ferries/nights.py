"""Days of the ferries' tasks, and what happens in the nights between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Message, MessageLabel
from opsgym_domains.kit.schema import Row
from opsgym_suites.email.seeds.letters import Letter, named, put, sign
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at

NIGHT, SECOND_DAY = at("06-15 21:00"), at("06-16 08:15")
"""When what changes over night changes, and when the second day begins."""


LATER = 900_000
"""From which number on labels of arriving messages are counted, so that none meets a number that the server gave."""


def second_day(message: str) -> tuple[Day, ...]:
    """The second day of a task."""
    return (Day(message=message, begins_at=SECOND_DAY.isoformat()),)


def two_days(first: Sequence[ToolCall], second: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls of two days."""
    return (*on_day(1, *first), *on_day(2, *second))


def amended(rule: str, text: str) -> Event:
    """A rule of the policy that is new or reads differently from the second day on."""
    return Event(at=NIGHT.isoformat(), amend=Amendment(rule=rule, text=text))


class _Recording:
    """The rows after an event, to which what is added becomes a part of the event."""

    def __init__(self, event: ScenarioEvent[Any]) -> None:
        self._event = event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._event.after, name)

    def add(self, row: Row) -> Row:
        """Adds a row without the agent."""
        if isinstance(row, MessageLabel):
            row.id = LATER + len(self._event.after.all(MessageLabel))
        self._event.add(row)
        return row


def arrives(
    event: ScenarioEvent[Any], world: World, sender: str, owner: str, subject: str, text: str, time: datetime
) -> Message:
    """A message that arrives without the agent; what it counts up is left to the server."""
    written = Letter(
        sender=named(world, sender),
        to=[named(world, owner)],
        subject=subject,
        text=sign(world, sender, owner, text),
        time=time,
    )
    user = event.after.user(world.address(owner))
    before = user.messages_total, user.threads_total
    recording: Any = _Recording(event)
    message = put(recording, user, written, ["INBOX", "UNREAD"])
    user.messages_total, user.threads_total = before
    return message
