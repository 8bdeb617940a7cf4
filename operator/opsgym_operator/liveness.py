"""Whether the operator still does its work. Invariant: it is called dead only for what a restart mends.

An API server or a store that is away kills nobody: the operator waits for it. What a restart mends is a watch that says
nothing although something happened, and a pass that does not end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import structlog

from opsgym_operator.client import ApiError, Client, Kind
from opsgym_operator.settings import MANAGED
from opsgym_operator.watch import OURS, WATCHED, Watched

log = structlog.get_logger(__name__)

SWEEP_S = 45.0
"""Seconds between two looks at what the watches should know. A watch needs less than one to tell."""
LONGEST_PASS_S = 600.0
"""A pass that takes longer hangs: each request and each object of a store has a time limit of its own."""

Check: TypeAlias = Callable[[], str]
"""Says what is wrong, or nothing."""


class Health:
    """Checks that `/healthz` asks."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def add(self, check: Check) -> None:
        """Adds one more."""
        self._checks.append(check)

    @property
    def problems(self) -> list[str]:
        """What is wrong now; empty if all is well."""
        return [problem for check in self._checks if (problem := check())]


class WatchCheck:
    """Compares, now and then, what the watches told with what the API server holds.

    A change that the API server had at one look and that the watch still has not told at the next makes the watch dead.
    An object that was gone at both looks and is still remembered is forgotten: a watch that had to begin anew never
    tells of what was deleted meanwhile.

    Args:
        client: Whom to ask.
        watched: What the watches told.
        namespaces: Namespaces looked after; the whole cluster if empty.
        every: Seconds between two looks.
    """

    def __init__(self, client: Client, watched: Watched, namespaces: Sequence[str], every: float = SWEEP_S) -> None:
        self._client = client
        self._watched = watched
        self._namespaces: Sequence[str | None] = namespaces or (None,)
        self._every = every
        self._behind: dict[str, str] = {}
        self._ghosts: set[str] = set()
        self.problem = ""
        """What is wrong, or nothing."""

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            await asyncio.sleep(self._every)
            try:
                await self.look()
            except ApiError as error:
                # Then nothing can be told about watches either.
                log.warning("cannot compare watches with the API server", problem=str(error))
                self._behind, self._ghosts = {}, set()

    async def look(self) -> None:
        """Compares once.

        Raises:
            ApiError: The API server cannot be asked.
        """
        behind: dict[str, str] = {}
        ghosts: set[str] = set()
        dead: list[str] = []
        for kind in WATCHED:
            before = self._watched.versions(kind)
            there = await self._there(kind)
            told = self._watched.versions(kind)
            late = {uid: version for uid, version in there.items() if int(told.get(uid, 0)) < int(version)}
            if any(self._behind.get(uid) == version for uid, version in late.items()):
                dead.append(kind.plural)
            behind |= late
            # Only what was remembered before the list began: what came meanwhile is not in it.
            ghosts |= before.keys() & told.keys() - there.keys()
        for uid in ghosts & self._ghosts:
            self._watched.forget(uid)
        self._behind, self._ghosts = behind, ghosts
        self.problem = f"the watch of {', '.join(dead)} tells nothing" if dead else ""

    async def _there(self, kind: Kind) -> dict[str, str]:
        labels = MANAGED if kind in OURS else ""
        found: dict[str, str] = {}
        for namespace in self._namespaces:
            for item in await self._client.list(kind, namespace, labels, metadata_only=True):
                found[item["metadata"]["uid"]] = item["metadata"]["resourceVersion"]
        return found


def longest_pass(
    started: Callable[[], Iterable[tuple[str, float]]], clock: Callable[[], float] = time.monotonic
) -> Check:
    """A check that no pass over a namespace hangs.

    Args:
        started: Namespaces that a pass is under way in, and when it began.
        clock: Seconds, as `started` counts them.
    """

    def check() -> str:
        hanging = [namespace for namespace, at in started() if clock() - at > LONGEST_PASS_S]
        return f"the pass over {', '.join(hanging)} does not end" if hanging else ""

    return check
