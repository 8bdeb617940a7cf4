"""Sends updates of runs to the browsers that show them.

Invariant: a run is read by one task, however many viewers it has, from the first viewer until the last. A viewer has no
queue, only the number of its rows that are still valid: a slow viewer skips states and costs no memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from opsgym_api.errors import InputError
from opsgym_console.report.model import PageData, TrialColumns
from opsgym_console.server.run_cache import NoSuchRun, Page, RunCache, as_json
from opsgym_core.store.base import StoreError

POLL_SECONDS = 2.0
"""Shortest time between two reads of a run."""
POLL_SHARE = 10
"""A run is read again only after so many times as long as the last read took: a large run on a slow store is read less
often."""
MAX_VIEWERS = 500
"""Viewers of all runs together."""

log = structlog.get_logger()


class TooManyViewers(Exception):
    """The console has `MAX_VIEWERS` viewers."""


@dataclass(frozen=True)
class ServerEvent:
    """An event of a stream: `page` with data of a page, or `gone` when the run has been deleted."""

    name: str
    data: str


class Viewer:
    """A browser that shows a run.

    Args:
        baseline: Run that it compares with; None for the gate's.
    """

    def __init__(self, baseline: str | None) -> None:
        self.baseline = baseline
        self.rows = 0
        """Rows of its table of trials that are still valid."""
        self.updated = asyncio.Event()


class RunWatch:
    """Reads a run for its viewers.

    Args:
        run: Id of the run.
        run_cache: Reads runs.
        poll: Shortest time in seconds between two reads.
        clock: Monotonic time in seconds.
    """

    def __init__(
        self, run: str, run_cache: RunCache, poll: float = POLL_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.run = run
        self.viewers: set[Viewer] = set()
        self.ended = False
        """Whether no more updates are sent."""
        self._gone = False
        self._joined = asyncio.Event()
        """Set when a viewer joins, so that it does not wait for the next poll."""
        self._run_cache = run_cache
        self._poll = poll
        self._clock = clock
        self._pages: dict[str | None, Page] = {}
        self._serialized: dict[tuple[str, int], str] = {}
        """Updates as JSON by page and number of valid rows; cleared with the next page."""
        self._task = asyncio.create_task(self._follow())

    def close(self) -> None:
        """Stops reading, and ends the viewers' streams."""
        self._task.cancel()
        self._end()

    async def events(self, viewer: Viewer) -> AsyncGenerator[ServerEvent, None]:
        """Updates for a viewer, until the run is deleted or the watch is closed."""
        self.viewers.add(viewer)
        self._joined.set()
        if viewer.baseline in self._pages:
            viewer.updated.set()
        try:
            while not self.ended:
                await viewer.updated.wait()
                viewer.updated.clear()
                page = self._pages.get(viewer.baseline)
                if page is not None and not self.ended:
                    yield ServerEvent("page", await self._update(viewer, page))
            if self._gone:
                yield ServerEvent("gone", "")
        finally:
            self.viewers.discard(viewer)
            if not self.viewers:
                self.close()

    async def _update(self, viewer: Viewer, page: Page) -> str:
        offset = viewer.rows
        viewer.rows = len(page.data.trials.cell)
        # By page: it may be replaced while it is serialized.
        key = (page.content.etag, offset)
        if key not in self._serialized:
            self._serialized[key] = await asyncio.to_thread(lambda: as_json(_from_row(page.data, offset)).decode())
        return self._serialized[key]

    async def _follow(self) -> None:
        await self._joined.wait()
        while not self.ended:
            self._joined.clear()
            started = self._clock()
            for baseline in {viewer.baseline for viewer in self.viewers}:
                await self._read(baseline)
            pause = max(self._poll, POLL_SHARE * (self._clock() - started))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._joined.wait(), pause)

    async def _read(self, baseline: str | None) -> None:
        try:
            page = await self._run_cache.page(self.run, baseline, max_age=self._poll / 2)
        except NoSuchRun:
            self._gone = True
            self._end()
            return
        except (InputError, StoreError) as error:
            # Viewers keep what they show; the next read may succeed.
            log.warning("run_not_read", run=self.run, problem=str(error))
            return
        before = self._pages.get(baseline)
        if before is page:
            return
        self._pages[baseline] = page
        self._serialized.clear()
        valid = same_rows(before.data, page.data) if before else 0
        for viewer in self.viewers:
            if viewer.baseline == baseline:
                viewer.rows = min(viewer.rows, valid)
                viewer.updated.set()

    def _end(self) -> None:
        self.ended = True
        for viewer in self.viewers:
            viewer.updated.set()


class RunWatches:
    """The runs that have viewers.

    Args:
        run_cache: Reads runs.
        poll: Shortest time in seconds between two reads of a run.
    """

    def __init__(self, run_cache: RunCache, poll: float = POLL_SECONDS) -> None:
        self._run_cache = run_cache
        self._poll = poll
        self._watches: dict[str, RunWatch] = {}

    def __len__(self) -> int:
        """Number of runs that have viewers."""
        self._watches = {run: watch for run, watch in self._watches.items() if not watch.ended}
        return len(self._watches)

    def watch(self, run: str) -> RunWatch:
        """The watch of a run; begins one if the run has no viewers yet.

        Raises:
            TooManyViewers: There are `MAX_VIEWERS` already.
        """
        if sum(len(watch.viewers) for watch in self._watches.values()) >= MAX_VIEWERS:
            raise TooManyViewers
        watch = self._watches.get(run)
        if watch is None or watch.ended:
            watch = self._watches[run] = RunWatch(run, self._run_cache, self._poll)
        return watch

    def close(self) -> None:
        """Ends all watches."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()


def same_rows(before: PageData, after: PageData) -> int:
    """Number of rows at the beginning of the table of trials that are equal in both pages."""
    names = (_names(before), _names(after))
    if any(old != new[: len(old)] for old, new in zip(*names, strict=True)):
        return 0  # positions have another meaning now
    columns = [name for name in TrialColumns.model_fields if name != "offset"]
    return min(_same(getattr(before.trials, name), getattr(after.trials, name)) for name in columns)


def _names(page: PageData) -> tuple[list[object], ...]:
    """The lists that positions in the table of trials refer to."""
    modes = [mode.mode for mode in page.failure_modes.modes] if page.failure_modes else []
    cells = [view.cell for view in page.cells]
    return [*cells], [task.id for task in page.tasks], [*page.outcomes], [*page.reasons], [*modes]


def _same(before: list[object], after: list[object]) -> int:
    if before == after[: len(before)]:
        return len(before)
    differences = (row for row, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    return next(differences, len(after))


def _from_row(page: PageData, offset: int) -> PageData:
    columns = {name: getattr(page.trials, name)[offset:] for name in TrialColumns.model_fields if name != "offset"}
    return page.model_copy(update={"trials": TrialColumns.model_construct(offset=offset, **columns)})
