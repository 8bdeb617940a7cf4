"""Replaces the processes of a pod's gym servers, and of its Postgres, between two trials.

Invariant: the next trial begins only when every gym server of ours answers from a process, on a Postgres, that no trial
has used. Servers of other images are not replaced; like every server they keep a database for each trial.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import httpx

from opsgym_api.gym_http import PROCESS_PATH
from opsgym_api.records.outcomes import InfraReason
from opsgym_runner.clock import Clock
from opsgym_runner.errors import infra_error
from opsgym_runner.gyms.client import http_client

START_S = 120.0
"""Seconds within which a server and its Postgres must be replaced; the kubelet may have to restart a container."""
POLL_S = 0.02
"""Seconds between two requests to a server that is starting."""


class GymProcesses:
    """Gym servers that can be replaced.

    Args:
        admin_tokens: Tokens of their admin endpoints by base URL; servers of other images have none.
        clock: Source of time.
        start_s: Seconds within which a server must be replaced.
    """

    def __init__(self, admin_tokens: Mapping[str, str], clock: Clock, start_s: float = START_S) -> None:
        self._urls = tuple(admin_tokens)
        self._http = http_client(admin_tokens=admin_tokens)
        self._clock = clock
        self._start_s = start_s
        self._generation = 0

    async def __aenter__(self) -> Self:
        """Returns itself; connections open on first use."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def replace(self) -> None:
        """Replaces every server.

        Raises:
            NotScored: A server refuses, or is not replaced in time.
        """
        self._generation += 1
        until = self._clock.monotonic() + self._start_s
        await asyncio.gather(*(self._replace(url, until) for url in self._urls))

    async def _replace(self, url: str, until: float) -> None:
        problem = "it does not answer"
        while self._clock.monotonic() < until:
            # Repeating the request changes nothing, and a server that a container's restart set back gets it again.
            with contextlib.suppress(httpx.HTTPError):
                answer = await self._http.post(url + PROCESS_PATH, json={"generation": self._generation})
                if answer.status_code == httpx.codes.OK:
                    return
                problem = f"HTTP {answer.status_code}: {answer.text[:300]}"
                if answer.is_error:
                    break
            await asyncio.sleep(POLL_S)
        raise infra_error(
            InfraReason.GYM_LOST, f"the gym server at {url} is not replaced for the next trial: {problem}"
        )
