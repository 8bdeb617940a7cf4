"""Records of an attempt reach the store in the order in which they were written."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from tests.runner.jobs import MemoryStore, make_job

from opsgym_api.records.attempt import AttemptRecord
from opsgym_runner.clock import Clock
from opsgym_runner.recording.journal import Journal


class SlowStore(MemoryStore):
    """A store whose first write waits to be let through."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let_through = threading.Event(), threading.Event()

    def put(self, key: str, content: bytes) -> None:
        if not self.begun.is_set():
            self.begun.set()
            assert self.let_through.wait(60)
        super().put(key, content)


def test_a_write_that_outlives_its_cancelled_step_never_lands_after_a_later_one() -> None:
    async def play() -> bytes:
        store = SlowStore()
        journal = Journal(store, make_job("http://gym"), Clock(), None)
        first = asyncio.create_task(journal.save(journal.record(message="first")))
        await asyncio.to_thread(store.begun.wait, 60)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        later = asyncio.create_task(journal.save(journal.record(message="later")))
        await asyncio.sleep(0)
        store.let_through.set()
        await later
        (content,) = store.objects.values()
        return content

    assert AttemptRecord.from_json(asyncio.run(play())).message == "later"
