"""The everyday mail of a company: conversations and notices over months, the same every time.

Invariant: no message is later than the world's now, and none stands in a thread of a story.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from opsgym_domains.email.tables import Message
from opsgym_suites.email.seeds.description import Notice, Topic
from opsgym_suites.email.seeds.letters import exchange, notice, record
from opsgym_suites.email.seeds.world import World

QUIET = timedelta(days=3)
"""Everyday conversations ended this long before now: what is newer belongs to stories."""
RECENT = timedelta(days=40)
"""Colleagues keep everyday mail this long."""


def add_traffic(world: World) -> None:
    """Everyday mail of the owner, a little of everyone else, and the history of the last days."""
    _Traffic(world).add()


class _Traffic:
    def __init__(self, world: World) -> None:
        self._world, self._company = world, world.company
        self._draw = random.Random(f"{world.company.keys}traffic")  # noqa: S311 - the same every time

    def add(self) -> None:
        company, owner = self._company, self._world.user(self._company.owner)
        for time in self._times(company.messages):
            if (owner.messages_total or 0) >= company.messages:
                break
            if self._draw.random() < 0.38:
                self._notice(company.owner, self._draw.choice(company.notices), time)
            else:
                self._topic(company.owner, self._draw.choice(company.topics), time)
        others = [one.address for one in company.people if one.address != company.owner]
        for name in others:
            self._everyday(name)
        self._history()

    def _times(self, number: int) -> Iterator[datetime]:
        """Times of working days, spread evenly; the last ones are the newest."""
        first, last = self._company.founded + timedelta(days=7), self._world.now - QUIET - timedelta(days=5)
        step = (last - first) / (number * 0.62)
        moment = first
        while moment < last:
            day = moment + timedelta(minutes=self._draw.randrange(-200, 200))
            if day.weekday() < 5 or self._draw.random() < 0.1:
                yield day.replace(hour=7 + day.hour % 11, second=self._draw.randrange(60))
            moment += step * (5 / 7)

    def _slots(self) -> dict[str, Any]:
        chosen = {name: self._draw.choice(values) for name, values in self._company.slots.items()}
        return chosen | {
            "number": self._draw.randrange(20_000, 99_000),
            "count": self._draw.randrange(3, 48),
            "amount": f"{self._draw.randrange(12, 940) * 10}",
            "day": self._draw.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")),
            "hour": self._draw.randrange(9, 17),
        }

    def _topic(self, owner: str, topic: Topic, time: datetime) -> None:
        slots = self._slots()
        turns = topic.turns[: self._draw.randrange(1, len(topic.turns) + 1)]
        people = self._people(owner, topic)
        written = []
        for who, text in turns:
            author = owner if who == "me" else people[who]
            written.append((author, text.format_map(slots), time))
            time += timedelta(minutes=self._draw.randrange(12, 1900))
        label = [topic.label] if topic.label and owner == self._company.owner and self._draw.random() < 0.6 else []
        is_kept = self._draw.random() < 0.2
        extra = [
            *(["STARRED"] if self._draw.random() < 0.03 else []),
            *(["IMPORTANT"] if self._draw.random() < 0.1 else []),
        ]
        between = list(dict.fromkeys([written[0][0], owner, *people.values()]))
        exchange(
            self._world,
            topic.subject.format_map(slots),
            written,
            between=between,
            copied=[name for name in topic.copied if name not in between],
            labels={owner: [*(["INBOX"] if is_kept or not label else []), *label, *extra]},
            files=[topic.file.format_map(slots)] if topic.file else (),
            only=[owner],
            unread=[owner] if self._draw.random() < 0.08 else (),
        )

    def _people(self, owner: str, topic: Topic) -> dict[str, str]:
        names = {who: who for who, _text in topic.turns if who != "me"}
        others = [one.address for one in self._company.people if one.address != owner]
        return {who: name if name != owner else self._draw.choice(others) for who, name in names.items()}

    def _notice(self, owner: str, one: Notice, time: datetime) -> None:
        slots = self._slots()
        place = one.place if self._draw.random() < 0.7 or one.place in {"SPAM", "TRASH"} else ""
        labels = [*([place] if place else []), one.category, *(["UNREAD"] if self._draw.random() < 0.35 else [])]
        notice(self._world, owner, one.sender, one.subject.format_map(slots), one.body.format_map(slots), time, labels)

    def _everyday(self, name: str) -> None:
        """Conversations of a colleague in the last weeks."""
        topics = [topic for topic in self._company.topics if any(who == name for who, _text in topic.turns)]
        for _number in range(self._company.colleagues):
            back = timedelta(minutes=self._draw.randrange(0, int(RECENT.total_seconds() // 60)))
            time = self._world.now - QUIET - timedelta(days=6) - back
            if topics and self._draw.random() < 0.4:
                self._colleague_topic(name, self._draw.choice(topics), time)
            else:
                self._notice(name, self._draw.choice(self._company.notices), time)

    def _colleague_topic(self, name: str, topic: Topic, time: datetime) -> None:
        """A conversation with the owner, as the colleague's mailbox has it."""
        slots, owner = self._slots(), self._company.owner
        written = []
        for who, text in topic.turns:
            author = owner if who == "me" else who
            written.append((author, text.format_map(slots), time))
            time += timedelta(minutes=self._draw.randrange(12, 900))
        between = list(dict.fromkeys([written[0][0], owner, name]))
        exchange(self._world, topic.subject.format_map(slots), written, between=between, only=[name])

    def _history(self) -> None:
        """The history of the owner's newest everyday messages."""
        owner = self._world.user(self._company.owner)
        rows = sorted(self._world.all(Message, user_id=owner.id), key=lambda row: int(row.internal_date_ms or 0))
        for message in rows[-40:]:
            time = message.created_at
            assert time is not None
            record(self._world, message, "messageAdded", time, ["INBOX"])
