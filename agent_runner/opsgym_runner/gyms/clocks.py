"""The common clock of a task's gym servers.

Invariant: if the task needs a clock, the databases of all its gym servers stand at the same time whenever the agent
acts; a move reaches each of them before the next tool call.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from opsgym_api.tasks.days import instant
from opsgym_runner.gyms.client import GymClient


class WorldTime:
    """The time of one episode's world.

    Args:
        gyms: Its gym servers by name, in the row's order.
    """

    def __init__(self, gyms: Mapping[str, GymClient]) -> None:
        self._gyms = gyms
        self._now: datetime | None = None

    @property
    def now(self) -> datetime:
        """Current time; only after `start`."""
        if self._now is None:
            raise RuntimeError("the world's clock was not started")
        return self._now

    async def start(self) -> None:
        """Sets all clocks to that of the first gym server whose clock stands, otherwise to that of the first one.

        Raises:
            NotScored: A server has no clock, or is lost.
        """
        if self._now is not None:
            return
        clocks = [(gym, *(await gym.clock())) for gym in self._gyms.values()]
        time = next((time for _, time, stands in clocks if stands), clocks[0][1])
        for gym, its_time, stands in clocks:
            if not stands or its_time != time:
                await gym.apply_event(time=time)
        self._now = instant(time)

    async def move(self, time: datetime) -> None:
        """Moves all clocks. What time does by itself is done in each database.

        Raises:
            NotScored: A gym is lost.
        """
        for gym in self._gyms.values():
            await gym.apply_event(time=time.isoformat())
        self._now = time


def spoken(time: datetime) -> str:
    """The sentence that shows the agent the time."""
    return f"It is {time:%A}, {time.day} {time:%B %Y}, {time:%H:%M} (UTC)."
