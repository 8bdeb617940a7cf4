"""The orchestrator of agents that run outside opsgym: a caller, by the bridge of the episode, runs them.

Invariant: nothing that the agent says about itself is believed but its answer; steps and calls are what the bridge saw.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.types import ASGIApp

from opsgym_runner.bridge.server import Bridge
from opsgym_runner.orchestrators.base import AgentResult, Session


@dataclass(frozen=True)
class OpenEpisode:
    """An episode that waits for its agent."""

    session: Session
    bridge: Bridge
    app: ASGIApp
    """The bridge's application."""


class Remote:
    """Opens an episode and waits for the answer of its agent, which asks a model of its own."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[OpenEpisode] = asyncio.get_running_loop().create_future()
        """The episode, once it can be played."""

    async def __call__(self, session: Session) -> AgentResult:
        """Waits for the answer.

        Raises:
            AgentFailed: The agent has used up its steps or calls.
            NotScored: The gate is closed, an event cannot happen, or a gym is lost.
        """
        bridge = Bridge(session, own_model=True)
        async with bridge.open() as app:
            self.opened.set_result(OpenEpisode(session, bridge, app))
            await asyncio.wait({bridge.over})
        return AgentResult(bridge.over.result())
