"""Follows runs for the people who look at them.

Invariant: a run is followed once, however many look at it, from the first who comes until the last has gone. A viewer
holds no queue, only how many rows of the trials it has are still right: who is slow skips states and never costs
memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass

import structlog

from opsgym.console.library import Library, NoSuchRun, Page, as_json
from opsgym.report.model import PageData, TrialColumns
from opsgym_api.errors import InputError
from opsgym_api.store import StoreError

POLL_SECONDS = 2.0
"""How often a store is asked for what is new, at most."""
SHARE = 10
"""A question is asked again only after so many times as long as its answer took: a large run on a slow store is asked
less often."""
MOST_VIEWERS = 500

log = structlog.get_logger()


class TooManyViewers(Exception):
    """More people look at runs than the console lets."""


@dataclass(frozen=True)
class Event:
    """What a viewer is told: `page` with the data of a page, or `gone` once there is no such run any more."""

    name: str
    data: str


class Viewer:
    """Somebody who looks at a run."""

    def __init__(self, baseline: str | None) -> None:
        self.baseline = baseline
        self.rows = 0
        """Rows of the trials it has that are still right."""
        self.news = asyncio.Event()


class Watch:
    """A run that is followed.

    Args:
        run: Its id.
        library: Where it is read.
        poll: Seconds between questions at least.
    """

    def __init__(self, run: str, library: Library, poll: float = POLL_SECONDS) -> None:
        self.run = run
        self.viewers: set[Viewer] = set()
        self.ended = False
        """Whether nobody is told anything any more."""
        self._gone = False
        self._wanted = asyncio.Event()
        """Somebody has come who has not seen anything yet."""
        self._library = library
        self._poll = poll
        self._pages: dict[str | None, Page] = {}
        self._written: dict[tuple[str, int], str] = {}
        """What was written of a page for viewers that have so many rows; forgotten with the next page."""
        self._task = asyncio.create_task(self._follow())

    def close(self) -> None:
        """Stops following, and lets viewers go."""
        self._task.cancel()
        self._end()

    async def events(self, viewer: Viewer) -> AsyncGenerator[Event, None]:
        """What a viewer is told, until the run is gone or nobody follows it any more."""
        self.viewers.add(viewer)
        self._wanted.set()
        if viewer.baseline in self._pages:
            viewer.news.set()
        try:
            while not self.ended:
                await viewer.news.wait()
                viewer.news.clear()
                page = self._pages.get(viewer.baseline)
                if page is not None and not self.ended:
                    yield Event("page", await self._news(viewer, page))
            if self._gone:
                yield Event("gone", "")
        finally:
            self.viewers.discard(viewer)
            if not self.viewers:
                self.close()

    async def _news(self, viewer: Viewer, page: Page) -> str:
        offset = viewer.rows
        viewer.rows = len(page.data.trials.cell)
        # By page: it may be replaced while it is written.
        key = (page.content.etag, offset)
        if key not in self._written:
            self._written[key] = await asyncio.to_thread(lambda: as_json(_from_row(page.data, offset)).decode())
        return self._written[key]

    async def _follow(self) -> None:
        await self._wanted.wait()
        while not self.ended:
            self._wanted.clear()
            began = time.monotonic()
            for baseline in {viewer.baseline for viewer in self.viewers}:
                await self._look(baseline)
            pause = max(self._poll, SHARE * (time.monotonic() - began))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), pause)

    async def _look(self, baseline: str | None) -> None:
        try:
            page = await self._library.page(self.run, baseline, max_age=self._poll / 2)
        except NoSuchRun:
            self._gone = True
            self._end()
            return
        except (InputError, StoreError) as error:
            # What is shown stays; the store may answer again.
            log.warning("run_not_read", run=self.run, problem=str(error))
            return
        before = self._pages.get(baseline)
        if before is page:
            return
        self._pages[baseline] = page
        self._written.clear()
        stay = same_rows(before.data, page.data) if before else 0
        for viewer in self.viewers:
            if viewer.baseline == baseline:
                viewer.rows = min(viewer.rows, stay)
                viewer.news.set()

    def _end(self) -> None:
        self.ended = True
        for viewer in self.viewers:
            viewer.news.set()


class Watches:
    """The runs that are followed now.

    Args:
        library: Where they are read.
        poll: Seconds between questions about a run at least.
    """

    def __init__(self, library: Library, poll: float = POLL_SECONDS) -> None:
        self._library = library
        self._poll = poll
        self._watches: dict[str, Watch] = {}

    def __len__(self) -> int:
        """Number of runs that are followed."""
        self._watches = {run: watch for run, watch in self._watches.items() if not watch.ended}
        return len(self._watches)

    def watch(self, run: str) -> Watch:
        """Follows a run, if nobody does yet.

        Raises:
            TooManyViewers: Others have to go first.
        """
        if sum(len(watch.viewers) for watch in self._watches.values()) >= MOST_VIEWERS:
            raise TooManyViewers
        watch = self._watches.get(run)
        if watch is None or watch.ended:
            watch = self._watches[run] = Watch(run, self._library, self._poll)
        return watch

    def close(self) -> None:
        """Stops following everything."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()


def same_rows(before: PageData, after: PageData) -> int:
    """Number of rows at the beginning of the trials that say the same in both pages."""
    names = (_names(before), _names(after))
    if any(theirs != ours[: len(theirs)] for theirs, ours in zip(*names, strict=True)):
        return 0  # positions mean something else now
    columns = [name for name in TrialColumns.model_fields if name != "offset"]
    return min(_same(getattr(before.trials, name), getattr(after.trials, name)) for name in columns)


def _names(page: PageData) -> tuple[list[object], ...]:
    """What positions in columns of trials point to."""
    modes = [mode.mode for mode in page.failure_modes.modes] if page.failure_modes else []
    cells = [view.cell for view in page.cells]
    return [*cells], [task.id for task in page.tasks], [*page.outcomes], [*page.reasons], [*modes]


def _same(before: list[object], after: list[object]) -> int:
    if before == after[: len(before)]:
        return len(before)
    differ = (place for place, (then, now) in enumerate(zip(before, after, strict=False)) if then != now)
    return next(differ, len(after))


def _from_row(page: PageData, offset: int) -> PageData:
    columns = {name: getattr(page.trials, name)[offset:] for name in TrialColumns.model_fields if name != "offset"}
    return page.model_copy(update={"trials": TrialColumns.model_construct(offset=offset, **columns)})
