"""Scenario events of an episode: rows, permissions, time or rules that change during the task without the agent.

Invariant: an event happens once, before a step; events that are due together happen in the row's order, and events that
the clock passes happen in order of time, each at its own time. An event that cannot happen is a fault of the row and
ends the attempt without a score. What can be checked is checked before the first model call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.tasks.days import instant
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import Task
from opsgym_runner.errors import NotScored, config_error
from opsgym_runner.gyms.client import GymClient, QueryRefusedError
from opsgym_runner.gyms.clocks import WorldTime, spoken
from opsgym_runner.recording.transcript import TranscriptRecorder
from opsgym_runner.verification.looked_up import ToolCallResult, shows


@dataclass(frozen=True)
class Notice:
    """Something that the agent reads before its next step."""

    origin: Literal["tell", "amend", "clock"]
    text: str


class ScenarioEvents:
    """Pending scenario events of one episode, and the clock by which they happen.

    Args:
        task: The row.
        gyms: Its gym servers by name, in the row's order.
        transcript: Gets a note for each event; no model sees it.
    """

    def __init__(self, task: Task, gyms: Mapping[str, GymClient], transcript: TranscriptRecorder) -> None:
        self._task = task
        self._gyms = gyms
        self._pending = dict(enumerate(task.events))
        self._transcriber = transcript
        self._time = WorldTime(gyms)
        self._happened: dict[str, datetime | None] = {}
        """Time of events that happened, by name; None in a task that needs no clock."""
        self._called_for: set[int] = set()
        """Events that a successful call has triggered."""
        self._charged = 0
        """Steps whose time has passed."""
        self._shown: str | None = None
        """The time that the agent was last shown; None until the clock starts."""
        self._notices: list[Notice] = []

    async def check(self) -> None:
        """Checks that the gym servers support what the task needs and that every condition can be evaluated.

        Raises:
            NotScored: A server does not support events or has no clock, or refuses a condition, or a gym is lost.
        """
        for name in dict.fromkeys(self._gym_of(event).name for event in self._pending.values() if event.sql):
            await self._gyms[name].apply_event()
        await self._start_clock()
        for index, event in self._pending.items():
            if event.when is not None:
                await _is_true(index, event.when, self._condition_gym(event))

    async def apply_due(self, step: int) -> None:
        """Lets the time of the steps pass, and applies the events that are due.

        Args:
            step: Number of finished steps. Conditions are not evaluated before the first step.

        Raises:
            NotScored: An event was refused, or a gym is lost.
        """
        await self._start_clock()
        cost = self._task.clock.seconds_per_step * (step - self._charged)
        self._charged = step
        if cost:
            await self._move(self._time.now + timedelta(seconds=cost), step)
        for index in list(self._pending):
            if index in self._pending and await self._is_due(index, step):
                await self._happen(index, step)

    async def begin_day(self, begins_at: str, step: int) -> None:
        """Moves the clock to the begin of a day, unless it is later already.

        Raises:
            NotScored: An event on the way was refused, or a gym is lost.
        """
        await self._start_clock()
        if (time := instant(begins_at)) > self._time.now:
            await self._move(time, step)

    def tool_succeeded(self, gym: str, call: ToolCallResult) -> None:
        """Registers a successful call on a gym server."""
        self._called_for |= {index for index, event in self._pending.items() if _is_called_for(event, gym, call)}

    def take_notices(self) -> list[Notice]:
        """What the agent has to read before its next step, the time first; each is returned once."""
        notices, self._notices = self._notices, []
        shows = self._task.clock.shown and self._task.needs_clock and self._shown is not None
        if shows and (line := spoken(self._time.now)) != self._shown:
            self._shown = line
            notices.insert(0, Notice("clock", line))
        return notices

    def close(self) -> None:
        """Notes the events that never became due."""
        for index in self._pending:
            self._transcriber.note(f"events[{index}] never became due")

    async def _start_clock(self) -> None:
        if self._task.needs_clock and self._shown is None:
            await self._time.start()
            self._shown = spoken(self._time.now)

    def _gym_of(self, event: Event) -> GymClient:
        return self._gyms[event.gym or next(iter(self._gyms))]

    def _condition_gym(self, event: Event) -> GymClient:
        return self._gyms[event.when_gym] if event.when_gym else self._gym_of(event)

    async def _is_due(self, index: int, step: int) -> bool:
        event = self._pending[index]
        if event.after_step is not None:
            return step >= event.after_step
        if event.when is not None:
            return step > 0 and await _is_true(index, event.when, self._condition_gym(event))
        if event.follows_call:
            return index in self._called_for
        if event.after_event is not None and event.delay_seconds is None:
            return event.after_event in self._happened
        time = self._time_of(event)
        return time is not None and time <= self._time.now

    def _time_of(self, event: Event) -> datetime | None:
        """When an event happens that waits for a time; None if it waits for something else."""
        if event.at is not None:
            return instant(event.at)
        cause = self._happened.get(event.after_event or "")
        if cause is None or event.delay_seconds is None:
            return None
        return cause + timedelta(seconds=event.delay_seconds)

    async def _happen(self, index: int, step: int) -> None:
        event = self._pending.pop(index)
        if event.set_time is not None:
            await self._move(instant(event.set_time), step)
        elif event.advance_seconds is not None:
            await self._move(self._time.now + timedelta(seconds=event.advance_seconds), step)
        if event.name is not None:
            self._happened[event.name] = self._time.now if self._task.needs_clock else None
        effects = [*await self._changed_rows(index, event), *self._announced(event)]
        if event.moves_time:
            effects.append(f"the clock is at {self._time.now.isoformat()}")
        where = f" on gym {self._gym_of(event).name}" if event.sql else ""
        self._transcriber.note(f"events[{index}] happened{where}: {'; '.join(effects)}", step)
        for other, following in list(self._pending.items()):
            if following.after_event is not None and other in self._pending and await self._is_due(other, step):
                await self._happen(other, step)

    async def _changed_rows(self, index: int, event: Event) -> list[str]:
        if not event.sql:
            return []
        gym = self._gym_of(event)
        try:
            rows, _ = await gym.apply_event(event.sql)
        except QueryRefusedError as error:
            raise _refused(index, f"gym {gym.name} refused it, and nothing was changed: {error}") from None
        return [f"rows changed by statement: {', '.join(map(str, rows))}"]

    def _announced(self, event: Event) -> list[str]:
        effects = []
        if event.tell is not None:
            self._notices.append(Notice("tell", f"Message from the user:\n{event.tell}"))
            effects.append("a message of the user")
        if event.amend is not None:
            rule, text = event.amend.rule, event.amend.text
            self._notices.append(
                Notice("amend", f"Amendment of the policy, which applies from now on:\n- **{rule}** {text}")
            )
            effects.append(f"rule {rule} was amended")
        return effects

    async def _move(self, target: datetime, step: int) -> None:
        """Moves the clock. Events on the way happen at their own times."""
        if target > self._time.now:
            while (passed := self._first_until(target)) is not None:
                index, time = passed
                if time > self._time.now:
                    await self._time.move(time)
                await self._happen(index, step)
            if target <= self._time.now:
                return
        await self._time.move(target)

    def _first_until(self, target: datetime) -> tuple[int, datetime] | None:
        """The earliest pending event that waits for a time up to the target."""
        times = [(time, index) for index, event in self._pending.items() if (time := self._time_of(event)) is not None]
        time, index = min(times, default=(None, 0))
        return (index, time) if time is not None and time <= target else None


def _is_called_for(event: Event, gym: str, call: ToolCallResult) -> bool:
    """Whether a successful call on a gym server triggers an event."""
    if not event.follows_call or event.when_gym not in (None, gym):
        return False
    return call.tool == event.on_tool if event.when_read is None else shows(call, event.when_read)


async def _is_true(index: int, query: str, gym: GymClient) -> bool:
    """Value of a condition: false for an empty result.

    Raises:
        NotScored: The gym refused the query, or the result is more than one value.
    """
    try:
        rows: Sequence[Mapping[str, Any]] = await gym.run_sql(query, "postgres")
    except QueryRefusedError as error:
        raise _refused(index, f"when: gym {gym.name} refused it: {error}") from None
    if len(rows) > 1 or any(len(row) != 1 for row in rows):
        shape = f"{len(rows)} rows of {len(rows[0])} columns"
        raise _refused(index, f"when: the query returned {shape}; it must return one value, or no row")
    return any(bool(value) for row in rows for value in row.values())


def _refused(index: int, problem: str) -> NotScored:
    """The end of an attempt because of an event that cannot happen."""
    return config_error(ConfigReason.INVALID_ROW, f"events[{index}]: {problem}")
