"""Who looks at a run is told what is new, once for all viewers and without queues."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
from tests.console.desk import Running

from opsgym.console import watching
from opsgym.console.library import Library
from opsgym.console.sources import StoreSource
from opsgym.console.watching import Event, TooManyViewers, Viewer, Watch, Watches
from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.store import LocalStore

POLL = 0.02


class Counted(StoreSource):
    """A store that counts the questions."""

    asked = 0

    async def ask(self, question: Callable[[Any], Any]) -> Any:
        """Asks the store."""
        self.asked += 1
        return await super().ask(question)


def follow(store: LocalStore, story: Callable[[Watches, Counted], Coroutine[Any, Any, None]]) -> None:
    """Plays a story in an event loop."""

    async def play() -> None:
        source = Counted(str(store.root))
        watches = Watches(Library([source]), POLL)
        try:
            async with asyncio.timeout(30):
                await story(watches, source)
        finally:
            watches.close()
            source.close()

    asyncio.run(play())


async def told(events: AsyncGenerator[Event, None]) -> dict[str, Any]:
    """The next page."""
    event = await anext(events)
    assert event.name == "page"
    found: dict[str, Any] = json.loads(event.data)
    return found


def test_a_viewer_is_told_only_the_trials_that_are_new(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c")
    run.end("a")

    async def story(watches: Watches, _: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        first = await told(events)
        assert (first["trials"]["offset"], len(first["trials"]["cell"]), first["run"]["live"]) == (0, 1, True)
        run.end("b", outcome=Outcome.FAILED)
        second = await told(events)
        assert (second["trials"]["offset"], len(second["trials"]["cell"])) == (1, 1)
        assert second["tasks"][second["trials"]["task"][0]]["id"] == "b"
        assert second["total"]["passed"] == 1
        await events.aclose()

    follow(store, story)


def test_a_run_is_followed_once_and_no_longer_than_somebody_looks(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b")

    async def story(watches: Watches, source: Counted) -> None:
        viewers = [watches.watch(run.run).events(Viewer(None)) for _ in range(20)]
        for viewer in viewers:
            await told(viewer)
        assert len(watches) == 1
        assert source.asked < 10
        for viewer in viewers[1:]:
            await viewer.aclose()
        assert len(watches) == 1
        await viewers[0].aclose()
        assert len(watches) == 0
        before = source.asked
        await asyncio.sleep(5 * POLL)
        assert source.asked == before

    follow(store, story)


def test_a_slow_viewer_skips_states_and_ends_with_the_same_trials(store: LocalStore) -> None:
    tasks = [f"t{number}" for number in range(8)]
    run = Running.begin(store, "demo.1", *tasks, models=["gpt"])

    async def story(watches: Watches, _: Counted) -> None:
        watch = watches.watch(run.run)
        slow, quick = watch.events(Viewer(None)), watch.events(Viewer(None))
        await told(slow)
        seen = len((await told(quick))["trials"]["cell"])
        for task_id in tasks:
            run.end(task_id)
            news = await told(quick)
            seen = news["trials"]["offset"] + len(news["trials"]["cell"])
        assert seen == len(tasks)
        late = await told(slow)
        assert (late["trials"]["offset"], len(late["trials"]["cell"])) == (0, len(tasks))
        await slow.aclose()
        await quick.aclose()

    follow(store, story)


def test_rows_that_came_out_otherwise_are_told_again(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c", models=["gpt"])
    run.end("b")
    run.end("c")

    async def story(watches: Watches, _: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        first = await told(events)
        ids = [first["tasks"][place]["id"] for place in first["trials"]["task"]]
        assert ids == ["b", "c"]
        run._ended = 0  # a pod whose record arrives late: it ended before those
        run.end("a")
        page = await told(events)
        kept = ids[: page["trials"]["offset"]]
        assert {*kept, *(page["tasks"][place]["id"] for place in page["trials"]["task"])} == {"a", "b", "c"}
        assert page["trials"]["offset"] < 2
        await events.aclose()

    follow(store, story)


def test_a_run_that_is_no_longer_there_is_told_as_gone(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: Watches, _: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await told(events)

        shutil.rmtree(store.root / "runs" / run.run)
        assert await anext(events) == Event("gone", "")
        assert [event async for event in events] == []

    follow(store, story)


def test_a_store_that_fails_for_a_while_keeps_what_is_shown(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])

    async def story(watches: Watches, source: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await told(events)
        broken = RunKeys(run.run).trial(run.plan[0].cell, "a", 0).record
        store.put(broken, b"half a rec")
        before = source.asked
        while source.asked < before + 3:  # noqa: ASYNC110 - counted by the console, which knows no test
            await asyncio.sleep(POLL)
        run.end("a")
        assert (await told(events))["total"]["passed"] == 1
        await events.aclose()

    follow(store, story)


def test_viewers_are_let_go_when_the_console_stops(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: Watches, _: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await told(events)
        rest = asyncio.create_task(anext(events, None))
        await asyncio.sleep(0)
        watches.close()
        assert await rest is None

    follow(store, story)


def test_there_is_an_end_to_how_many_may_look(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_VIEWERS", 1)
    run = Running.begin(store, "demo.1", "a")

    async def story(watches: Watches, _: Counted) -> None:
        events = watches.watch(run.run).events(Viewer(None))
        await told(events)
        with pytest.raises(TooManyViewers):
            watches.watch(run.run)
        await events.aclose()
        assert isinstance(watches.watch(run.run), Watch)

    follow(store, story)
