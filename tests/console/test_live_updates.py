"""Updates of runs are read once for all viewers, and sent without queues."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
from tests.console.harness import Running

from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.server import live_updates
from opsgym_console.server.live_updates import RunWatch, RunWatches, ServerEvent, TooManyViewers, Viewer
from opsgym_console.server.run_cache import RunCache
from opsgym_console.server.sources import StoreSource
from opsgym_core.store.local import LocalStore

POLL = 0.02


class CountingSource(StoreSource):
    """A store that counts reads."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.reads = 0
        self.read_done = asyncio.Condition()

    async def read(self, query: Callable[[Any], Any]) -> Any:
        """Reads the store."""
        try:
            return await super().read(query)
        finally:
            async with self.read_done:
                self.reads += 1
                self.read_done.notify_all()

    async def after(self, reads: int) -> None:
        """Waits for so many more reads."""
        last = self.reads + reads
        async with self.read_done:
            await self.read_done.wait_for(lambda: self.reads >= last)


def follow(store: LocalStore, story: Callable[[RunWatches, CountingSource], Coroutine[Any, Any, None]]) -> None:
    """Plays a story in an event loop."""

    async def play() -> None:
        source = CountingSource(str(store.root))
        watches = RunWatches(RunCache([source]), POLL)
        try:
            async with asyncio.timeout(30):
                await story(watches, source)
        finally:
            watches.close()
            source.close()

    asyncio.run(play())


async def next_page(events: AsyncGenerator[ServerEvent, None]) -> dict[str, Any]:
    """The next page."""
    event = await anext(events)
    assert event.name == "page"
    page: dict[str, Any] = json.loads(event.data)
    return page


def test_a_viewer_gets_only_new_trials(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c")
    run.end("a")

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        first = await next_page(events)
        assert (first["trials"]["offset"], len(first["trials"]["cell"]), first["run"]["live"]) == (0, 1, True)
        run.end("b", outcome=Outcome.FAILED)
        second = await next_page(events)
        assert (second["trials"]["offset"], len(second["trials"]["cell"])) == (1, 1)
        assert second["tasks"][second["trials"]["task"][0]]["id"] == "b"
        assert second["total"]["passed"] == 1
        await events.aclose()

    follow(store, story)


def test_a_run_is_read_once_for_all_viewers_and_not_after_the_last_one(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b")

    async def story(watches: RunWatches, source: CountingSource) -> None:
        viewers = [watches.watch(run.run).events(Viewer(None)) for _ in range(20)]
        for viewer in viewers:
            await next_page(viewer)
        assert len(watches) == 1
        assert source.reads < 10
        for viewer in viewers[1:]:
            await viewer.aclose()
        assert len(watches) == 1
        await viewers[0].aclose()
        assert len(watches) == 0
        assert not [task for task in asyncio.all_tasks() if "_follow" in repr(task) and not task.cancelling()]

    follow(store, story)


def test_a_slow_viewer_skips_states_and_ends_with_the_same_trials(store: LocalStore) -> None:
    tasks = [f"t{number}" for number in range(8)]
    run = Running.begin(store, "demo.1", *tasks, models=["gpt"])

    async def story(watches: RunWatches, _: CountingSource) -> None:
        watch = watches.watch(run.run)
        slow, quick = watch.events(Viewer(None)), watch.events(Viewer(None))
        await next_page(slow)
        sent = len((await next_page(quick))["trials"]["cell"])
        for task_id in tasks:
            run.end(task_id)
            news = await next_page(quick)
            sent = news["trials"]["offset"] + len(news["trials"]["cell"])
        assert sent == len(tasks)
        late = await next_page(slow)
        assert (late["trials"]["offset"], len(late["trials"]["cell"])) == (0, len(tasks))
        await slow.aclose()
        await quick.aclose()

    follow(store, story)


def test_changed_rows_are_sent_again(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c", models=["gpt"])
    run.end("b")
    run.end("c")

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        first = await next_page(events)
        ids = [first["tasks"][place]["id"] for place in first["trials"]["task"]]
        assert ids == ["b", "c"]
        run._ended = 0  # a pod whose record arrives late: it ended before those
        run.end("a")
        page = await next_page(events)
        first_ids = ids[: page["trials"]["offset"]]
        assert {*first_ids, *(page["tasks"][place]["id"] for place in page["trials"]["task"])} == {"a", "b", "c"}
        assert page["trials"]["offset"] < 2
        await events.aclose()

    follow(store, story)


def test_a_deleted_run_is_reported_as_gone(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await next_page(events)

        shutil.rmtree(store.root / "runs" / run.run)
        assert await anext(events) == ServerEvent("gone", "")
        assert [event async for event in events] == []

    follow(store, story)


def test_a_record_that_cannot_be_read_for_a_while_counts_as_not_scored_until_then(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await next_page(events)
        broken = RunKeys(run.run).trial(run.plan[0].cell, "a", 0).record
        store.put(broken, b"half a rec")
        total = (await next_page(events))["total"]
        assert (total["passed"], sum(total["not_scored"].values())) == (0, 2)
        run.end("a")
        assert (await next_page(events))["total"]["passed"] == 1
        await events.aclose()

    follow(store, story)


def test_streams_end_when_the_console_stops(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await next_page(events)
        rest = asyncio.create_task(anext(events, None))
        await asyncio.sleep(0)
        watches.close()
        assert await rest is None

    follow(store, story)


def test_the_number_of_viewers_is_limited(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_updates, "MAX_VIEWERS", 1)
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: RunWatches, _: CountingSource) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await next_page(events)
        with pytest.raises(TooManyViewers):
            watches.watch(run.run)
        await events.aclose()
        assert isinstance(watches.watch(run.run), RunWatch)

    follow(store, story)
