"""The heartbeat by which a pod's liveness probe tells a container that hangs from one that waits.

Invariant: the number in the file grows only while the event loop, or in a preflight the interpreter, goes on. Waiting
for a model, a store or a start gate is progress; a process that is stopped, deadlocked or stuck in a call is not.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from opsgym_api.jobs.heartbeat import ENV_HEARTBEAT

T = TypeVar("T")

BEAT_S = 5.0
"""Seconds between two heartbeats; the probe asks every 20."""
STACKS_S = 45.0
"""Seconds without a heartbeat after which all threads' stacks are logged: before the kubelet ends the container."""


class Heartbeat:
    """The heartbeat of this process; without a file it does nothing.

    Args:
        environment: Environment variables of the container.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        name = environment.get(ENV_HEARTBEAT)
        self._file = Path(name) if name else None
        self._beats = 0

    def beat(self) -> None:
        """Counts on. A file that cannot be written, on a full volume, stays as it is."""
        if self._file is None:
            return
        self._beats += 1
        # A thread of its own, which does not need the interpreter's lock, logs where the process hangs.
        faulthandler.dump_traceback_later(STACKS_S)
        try:
            self._file.write_text(f"{os.getpid()}-{self._beats}\n")
        except OSError:
            return

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits something, with heartbeats of the event loop meanwhile."""
        beats = asyncio.create_task(self._keep())
        try:
            return await work
        finally:
            beats.cancel()

    async def _keep(self) -> None:
        while True:
            self.beat()
            await asyncio.sleep(BEAT_S)

    @contextmanager
    def in_thread(self) -> Iterator[None]:
        """Heartbeats of the interpreter while the context is open, for a program without an event loop."""
        ended = threading.Event()

        def keep() -> None:
            while not ended.wait(BEAT_S):
                self.beat()

        self.beat()
        threading.Thread(target=keep, daemon=True).start()
        try:
            yield
        finally:
            ended.set()
