"""What happens in an episode without the agent: rows, permissions or time that change in mid-task.

Invariant: an event happens once, before a step, and if several are due, in the row's order. One that cannot happen
is the row's fault and ends the attempt unscored; whatever can be known of that is known before the first model call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_api.event import Event
from opsgym_api.outcomes import ConfigReason
from opsgym_api.task import Task
from opsgym_runner.errors import NotScored, config_error
from opsgym_runner.gym import GymClient, QueryRefusedError
from opsgym_runner.transcript import Transcriber


class Events:
    """The events of one episode that have not happened yet.

    Args:
        task: The row.
        gyms: Its gym servers by name, in the row's order.
        transcriber: Takes note of what happened; no model sees it.
    """

    def __init__(self, task: Task, gyms: Mapping[str, GymClient], transcriber: Transcriber) -> None:
        first = next(iter(gyms))
        self._pending = {index: (event, gyms[event.gym or first]) for index, event in enumerate(task.events)}
        self._transcriber = transcriber

    async def check(self) -> None:
        """Makes sure that gym servers carry out events, and that every condition can be asked.

        Raises:
            NotScored: One does not or cannot, or a gym is lost.
        """
        for gym in {gym.name: gym for _, gym in self._pending.values()}.values():
            await gym.apply_event()
        for index, (event, gym) in self._pending.items():
            await _is_due(index, event, gym, step=1)

    async def happen(self, step: int) -> None:
        """Lets happen what is due now.

        Args:
            step: Steps that are done; conditions are not asked before the first.

        Raises:
            NotScored: An event was refused, or a gym is lost.
        """
        for index, (event, gym) in list(self._pending.items()):
            if await _is_due(index, event, gym, step):
                del self._pending[index]
                self._transcriber.note(await _carry_out(index, event, gym), step)

    def close(self) -> None:
        """Takes note of what never came due."""
        for index in self._pending:
            self._transcriber.note(f"events[{index}] never came due")


async def _is_due(index: int, event: Event, gym: GymClient, step: int) -> bool:
    if event.after_step is not None:
        return step >= event.after_step
    if step == 0:
        return False
    try:
        rows = await gym.run_sql(event.when or "", "postgres")
    except QueryRefusedError as error:
        raise _refused(index, f"when: gym {gym.name} refused it: {error}") from None
    return _truth(index, rows)


def _truth(index: int, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a condition's answer says yes; no row says no."""
    if len(rows) > 1 or any(len(row) != 1 for row in rows):
        found = f"{len(rows)} rows of {len(rows[0])} columns"
        raise _refused(index, f"when: it returned {found}; let it return one value, or no row")
    return any(bool(value) for row in rows for value in row.values())


async def _carry_out(index: int, event: Event, gym: GymClient) -> str:
    """Makes an event happen; what to note of it."""
    try:
        rows, time = await gym.apply_event(event.sql, event.set_time, event.advance_seconds)
    except QueryRefusedError as error:
        raise _refused(index, f"gym {gym.name} refused it, and nothing of it happened: {error}") from None
    moved = event.set_time is not None or event.advance_seconds is not None
    effects = [*([f"rows changed by statement: {', '.join(map(str, rows))}"] if rows else []),
               *([f"its clock stands at {time}"] if moved else [])]  # fmt: skip
    return f"events[{index}] happened on gym {gym.name}: {'; '.join(effects)}"


def _refused(index: int, problem: str) -> NotScored:
    return config_error(ConfigReason.INVALID_ROW, f"events[{index}]: {problem}")
