"""Runs and their pages, read from stores and cached.

Invariant: memory is bounded: rows are kept for the most recently requested runs, `MAX_ROWS` in total. A run is read by
one thread at a time, however many clients request it.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from opsgym_api.errors import InputError
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.report.data import PageContext, load_context, page_data
from opsgym_console.report.model import PageData
from opsgym_console.report.modes import Findings, analyse_sample
from opsgym_console.server.evalruns import ClusterRun, EvalRuns
from opsgym_console.server.incremental_reader import IncrementalReader
from opsgym_console.server.run_status import RunStatus, run_status
from opsgym_console.server.sources import Source
from opsgym_core.common.clock import utc_text
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary
from opsgym_core.store.base import StoreError
from opsgym_core.store.objects import read_object

MAX_ROWS = 150_000
"""Rows kept in total, about 4 kB each. A single run with more rows is kept as long as it is requested."""
MAX_RUNS = 64
"""Runs whose rows are kept."""
MAX_PAGES = 2
"""Pages kept of a run, one for each baseline; the rows of a baseline are as many as the run's."""
ANALYSIS_SECONDS = 5.0
"""How long a page waits for the analysis of failed trials; a later page contains its findings."""
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class NoSuchRun(Exception):
    """No store has the run."""

    def __init__(self, run: str) -> None:
        super().__init__(f"unknown run {run[:200]!r}")


@dataclass(frozen=True)
class JsonContent:
    """A JSON response."""

    json: bytes
    zipped: bytes
    """The same, compressed with gzip."""
    etag: str

    @classmethod
    def of(cls, content: bytes, identity: bytes | None = None) -> JsonContent:
        """A response.

        Args:
            content: The JSON.
            identity: What the ETag is derived from, if not the content: responses that differ only in the time at
                which they were written have one ETag.
        """
        etag = f'"{hashlib.sha256(content if identity is None else identity).hexdigest()[:32]}"'
        return cls(content, gzip.compress(content, 5, mtime=0), etag)


@dataclass(frozen=True)
class Page:
    """Data of a run's page."""

    data: PageData
    content: JsonContent


@dataclass
class CachedRun:
    """A requested run."""

    source: Source
    reader: IncrementalReader
    read_at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while records are read."""
    contexts: OrderedDict[tuple[str | None, str | None], PageContext] = field(default_factory=OrderedDict)
    """Page contexts by baseline and by when the gate decided."""
    pages: OrderedDict[str | None, tuple[object, Page]] = field(default_factory=OrderedDict)
    """Pages by baseline, each with the version of everything that it was made of."""
    analysis: tuple[int, asyncio.Future[Findings]] | None = None
    """Findings of failed trials, and the reader's version that was analysed."""
    page_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a page is made: concurrent requests share the page."""


@dataclass(frozen=True)
class RunSnapshot:
    """A run at the time of a request."""

    record: RunRecord
    summary: Summary
    gate: GateRecord | None
    status: RunStatus


class RunCache:
    """The runs of some stores.

    Args:
        sources: The stores; where two have a run of the same id, the first one's is used.
        evalruns: EvalRuns of the cluster; None outside a cluster.
        clock: Monotonic time in seconds.
        now: The time.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        evalruns: EvalRuns | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.sources = sources
        self.evalruns = evalruns
        self._clock = clock
        self._now = now
        self._runs: OrderedDict[str, CachedRun] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}

    async def snapshot(self, run: str, max_age: float) -> RunSnapshot:
        """A run's score and status.

        Args:
            run: Id of the run.
            max_age: Seconds since the last read of its store after which the store is read again.

        Raises:
            NoSuchRun: No store has the run.
            InputError: An object of it is not valid.
            StoreError: Its store cannot be reached.
        """
        cached = await self._fresh(run, max_age)
        reader = cached.reader
        status = self._status(reader, await self._evalrun(run))
        return RunSnapshot(reader.record, reader.summary, reader.gate, status)

    async def page(self, run: str, baseline: str | None = None, max_age: float = 2.0) -> Page:
        """Data of a run's page; made anew only if it changes.

        Args:
            run: Id of the run.
            baseline: Run to compare with; None for the one that its gate compared with.
            max_age: As for `snapshot`.

        Raises:
            NoSuchRun: No store has the run.
            InputError: There is no such baseline, or an object is not valid.
            StoreError: Its store cannot be reached.
        """
        cached = await self._fresh(run, max_age)
        evalrun = await self._evalrun(run)
        status = self._status(cached.reader, evalrun)
        findings, problem = (None, "") if status.live else await self._findings(cached)
        phase = evalrun.phase if evalrun else None
        async with cached.page_lock:
            version = (cached.reader.version, status, phase, findings is None, problem)
            known = cached.pages.get(baseline)
            if known is not None and known[0] == version:
                return known[1]
            context = replace(
                await self._context(cached, baseline),
                written_at=utc_text(self._now(), "seconds"),
                gate=cached.reader.gate,
                findings=findings,
                live=status.live,
                phase=phase,
                message=" ".join(filter(None, (status.message, problem))),
                details="server",
            )
            page = await asyncio.to_thread(_page, cached.reader.rows, context)
            cached.pages[baseline] = (version, page)
            _evict(cached.pages, MAX_PAGES)
            return page

    async def record(self, run: str) -> tuple[Source, RunRecord]:
        """A run's record, and the store that has it.

        Raises:
            NoSuchRun: No store has the run.
            InputError: The record is not valid.
            StoreError: A store cannot be reached.
        """
        cached = self._runs.get(run)
        if cached is not None:
            return cached.source, cached.reader.record
        if RUN_ID.fullmatch(run) is None:
            raise NoSuchRun(run)
        for source in self.sources:
            query = partial(read_object, key=RunKeys(run).run_json, kind=RunRecord)
            record = await source.read(query)
            if record is not None:
                return source, record
        raise NoSuchRun(run)

    async def _fresh(self, run: str, max_age: float) -> CachedRun:
        """A run whose store was read at most so many seconds ago."""
        cached = await self._cached(run)
        async with cached.lock:
            old = self._clock() - cached.read_at >= max_age and not _is_final(cached.reader)
            if cached.reader.version == 0 or old:
                if not await cached.source.read(cached.reader.read_new):
                    self._runs.pop(run, None)
                    raise NoSuchRun(run)
                cached.read_at = self._clock()
        self._evict_runs(keep=run)
        return cached

    async def _cached(self, run: str) -> CachedRun:
        async with self._opening.setdefault(run, asyncio.Lock()):
            try:
                if run not in self._runs:
                    source, record = await self.record(run)
                    self._runs[run] = CachedRun(source, IncrementalReader(record), self._clock())
                self._runs.move_to_end(run)
                return self._runs[run]
            finally:
                self._opening.pop(run, None)

    def _evict_runs(self, keep: str) -> None:
        """Drops the least recently requested runs."""
        size = sum(cached.reader.size for cached in self._runs.values())
        for run in list(self._runs):
            if (size <= MAX_ROWS and len(self._runs) <= MAX_RUNS) or run == keep:
                continue
            size -= self._runs.pop(run).reader.size

    async def _evalrun(self, run: str) -> ClusterRun | None:
        return None if self.evalruns is None else (await self.evalruns.now()).get(run)

    def _status(self, reader: IncrementalReader, evalrun: ClusterRun | None) -> RunStatus:
        in_cluster = self.evalruns is not None
        return run_status(reader.rows, reader.summary.total, reader.gate, evalrun, self._now(), in_cluster=in_cluster)

    async def _context(self, cached: CachedRun, baseline: str | None) -> PageContext:
        gate = cached.reader.gate
        key = (baseline, gate.decided_at if gate else None)
        context = cached.contexts.get(key)
        # The suite of a run may be stored after its record.
        if context is None or not (context.summaries or cached.reader.rows.cells):
            query = partial(load_context, rows=cached.reader.rows, written_at="", baseline=baseline)
            context = cached.contexts[key] = await cached.source.read(query)
            _evict(cached.contexts, MAX_PAGES)
        return context

    async def _findings(self, cached: CachedRun) -> tuple[Findings | None, str]:
        """Findings of failed trials; None and a message for users while there are none."""
        if cached.analysis is None or cached.analysis[0] != cached.reader.version:
            analysis = cached.source.read(partial(analyse_sample, rows=cached.reader.rows))
            cached.analysis = (cached.reader.version, asyncio.ensure_future(analysis))
        task = cached.analysis[1]
        done, _ = await asyncio.wait([task], timeout=ANALYSIS_SECONDS)
        if not done:
            return None, "Failed trials are being analysed; reload the page to see their failure modes."
        try:
            return task.result(), ""
        except (InputError, StoreError) as error:
            return None, f"Failed trials could not be analysed: {error}"


def _is_final(reader: IncrementalReader) -> bool:
    """Whether nothing about the run can change."""
    judged = reader.gate is not None or not reader.record.spec.get("gate")
    return judged and reader.summary.total.scored == reader.summary.total.total


def _evict(cache: OrderedDict[Any, Any], size: int) -> None:
    """Drops the oldest entries."""
    while len(cache) > size:
        cache.popitem(last=False)


def _page(rows: RunRows, context: PageContext) -> Page:
    data = page_data(rows, context)
    identity = data.model_copy(update={"run": data.run.model_copy(update={"written_at": ""})})
    return Page(data, JsonContent.of(as_json(data), as_json(identity)))


def as_json(data: PageData) -> bytes:
    """A page as JSON in ASCII, which can hold lone surrogates; UTF-8 cannot."""
    return json.dumps(data.model_dump(), separators=(",", ":")).encode()
