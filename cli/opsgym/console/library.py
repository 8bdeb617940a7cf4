"""Runs and their pages, as fresh as they are asked for.

Invariant: memory is bounded: rows are kept of the runs asked for last, `ROWS` in all, and of any number of runs a few
numbers. A run is read by one thread at a time, however many look at it.
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

from opsgym.console.evalruns import ClusterRun, EvalRuns
from opsgym.console.reading import Reading
from opsgym.console.sources import Source
from opsgym.console.standing import Standing, standing
from opsgym.report.data import About, load_about, page_data
from opsgym.report.model import PageData
from opsgym.report.modes import Findings, analyse_sample
from opsgym_api.errors import InputError
from opsgym_api.layout import RunKeys
from opsgym_api.objects import read_object
from opsgym_api.records import GateRecord, RunRecord
from opsgym_api.rows import RunRows
from opsgym_api.scores import Score
from opsgym_api.store import StoreError

ROWS = 150_000
"""Rows kept in all; each takes some 4 kB. A run that alone has more is kept while it is looked at."""
MOST_RUNS = 64
"""Runs of which rows are kept."""
ANALYSIS_SECONDS = 5.0
"""How long a page waits until failed trials are looked into; they are in the next one otherwise."""
GateKey = str | None
"""When a gate decided; None if it has not."""
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class NoSuchRun(Exception):
    """No store holds the run."""

    def __init__(self, run: str) -> None:
        super().__init__(f"there is no run {run[:200]!r}")


@dataclass(frozen=True)
class Content:
    """JSON, as it goes over the wire."""

    json: bytes
    zipped: bytes
    etag: str
    """The same for the same content."""

    @classmethod
    def of(cls, content: bytes, same: bytes | None = None) -> Content:
        """Some JSON; `same` stands for it where two are the same that differ in when they were written."""
        etag = f'"{hashlib.sha256(content if same is None else same).hexdigest()[:32]}"'
        return cls(content, gzip.compress(content, 5, mtime=0), etag)


@dataclass(frozen=True)
class Page:
    """A page about a run."""

    data: PageData
    content: Content


@dataclass
class Entry:
    """A run that somebody asked for."""

    source: Source
    reading: Reading
    read_at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    abouts: OrderedDict[tuple[str | None, GateKey], About] = field(default_factory=OrderedDict)
    """What the store tells besides rows, by baseline and by what the gate said then."""
    pages: OrderedDict[str | None, tuple[object, Page]] = field(default_factory=OrderedDict)
    """Pages by baseline, and what they were made of."""
    analysis: tuple[int, asyncio.Future[Findings]] | None = None
    """What failed trials were found to have done, and the version of the reading that was looked at."""
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a page is made: whoever comes meanwhile takes the same."""


@dataclass(frozen=True)
class Seen:
    """A run as it stands."""

    record: RunRecord
    score: Score
    gate: GateRecord | None
    standing: Standing


@dataclass(frozen=True)
class _Aspect:
    """What a page says besides what its run has written."""

    stands: Standing
    evalrun: ClusterRun | None
    findings: Findings | None
    trouble: str
    """Why there are no findings."""

    @property
    def key(self) -> object:
        """The same for pages that say the same."""
        return self.stands, self.evalrun and self.evalrun.phase, self.findings is None, self.trouble


class Library:
    """The runs of some stores.

    Args:
        sources: The stores; where two hold a run, the first counts.
        evalruns: What the cluster says; None on one machine.
        clock: Seconds that only go forward.
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
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}

    async def seen(self, run: str, max_age: float) -> Seen:
        """How a run stands.

        Args:
            run: Its id.
            max_age: Seconds that may have passed since its store was asked.

        Raises:
            NoSuchRun: There is none.
            InputError: An object of it cannot be read.
            StoreError: Its store cannot be reached.
        """
        entry = await self._fresh(run, max_age)
        stands = await self._standing(entry)
        return Seen(entry.reading.record, entry.reading.score, entry.reading.gate, stands)

    async def page(self, run: str, baseline: str | None = None, max_age: float = 2.0) -> Page:
        """The page about a run.

        Args:
            run: Its id.
            baseline: Run to compare with; None for the one that its gate compared with.
            max_age: As for `seen`.

        Raises:
            NoSuchRun: There is none.
            InputError: There is no such baseline, or an object cannot be read.
            StoreError: Its store cannot be reached.
        """
        entry = await self._fresh(run, max_age)
        stands = await self._standing(entry)
        evalrun = await self._evalrun(run)
        findings, trouble = (None, "") if stands.live else await self._findings(entry)
        async with entry.making:
            return await self._made(entry, baseline, _Aspect(stands, evalrun, findings, trouble))

    async def _made(self, entry: Entry, baseline: str | None, aspect: _Aspect) -> Page:
        """The page, made anew only if it would say something else."""
        known = entry.pages.get(baseline)
        made_of = (entry.reading.version, aspect.key)
        if known is not None and known[0] == made_of:
            return known[1]
        about = replace(
            await self._about(entry, baseline),
            written_at=self._now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            gate=entry.reading.gate,
            findings=aspect.findings,
            live=aspect.stands.live,
            phase=aspect.evalrun.phase if aspect.evalrun else None,
            message=" ".join(filter(None, (aspect.stands.message, aspect.trouble))),
            details="server",
        )
        made = await asyncio.to_thread(_page, entry.reading.rows, about)
        entry.pages[baseline] = (made_of, made)
        _keep(entry.pages, 2)
        return made

    async def record(self, run: str) -> tuple[Source, RunRecord]:
        """A run's record, and the store that holds it.

        Raises:
            NoSuchRun: There is none.
            InputError: It cannot be read.
            StoreError: A store cannot be reached.
        """
        entry = self._entries.get(run)
        if entry is not None:
            return entry.source, entry.reading.record
        if RUN_ID.fullmatch(run) is None:
            raise NoSuchRun(run)
        for source in self.sources:
            question = partial(read_object, key=RunKeys(run).run_json, kind=RunRecord)
            found = await source.ask(question)
            if found is not None:
                return source, found
        raise NoSuchRun(run)

    async def _fresh(self, run: str, max_age: float) -> Entry:
        """A run that has been read not longer ago than that."""
        entry = await self._entry(run)
        async with entry.lock:
            if entry.reading.version == 0 or (self._clock() - entry.read_at >= max_age and not self._over(entry)):
                if not await entry.source.ask(entry.reading.read_new):
                    self._entries.pop(run, None)
                    raise NoSuchRun(run)
                entry.read_at = self._clock()
        self._forget(run)
        return entry

    async def _entry(self, run: str) -> Entry:
        async with self._opening.setdefault(run, asyncio.Lock()):
            try:
                if run not in self._entries:
                    source, record = await self.record(run)
                    self._entries[run] = Entry(source, Reading(record), self._clock())
                self._entries.move_to_end(run)
                return self._entries[run]
            finally:
                self._opening.pop(run, None)

    @staticmethod
    def _over(entry: Entry) -> bool:
        """Whether nothing of the run can change."""
        judged = entry.reading.gate is not None or not entry.reading.record.spec.get("gate")
        return judged and entry.reading.score.scored == entry.reading.score.total

    def _forget(self, keep: str) -> None:
        """Lets go of the runs that nobody asked for longest."""
        size = sum(entry.reading.size for entry in self._entries.values())
        for run in list(self._entries):
            if (size <= ROWS and len(self._entries) <= MOST_RUNS) or run == keep:
                continue
            size -= self._entries.pop(run).reading.size

    async def _evalrun(self, run: str) -> ClusterRun | None:
        return None if self.evalruns is None else (await self.evalruns.now()).get(run)

    async def _standing(self, entry: Entry) -> Standing:
        reading = entry.reading
        evalrun = await self._evalrun(reading.record.run)
        in_cluster = self.evalruns is not None
        return standing(reading.rows, reading.score, reading.gate, evalrun, self._now(), in_cluster=in_cluster)

    async def _about(self, entry: Entry, baseline: str | None) -> About:
        gate = entry.reading.gate
        key = (baseline, gate.decided_at if gate else None)
        known = entry.abouts.get(key)
        # A suite may be frozen after its run was.
        if known is None or not (known.summaries or entry.reading.rows.cells):
            question = partial(load_about, rows=entry.reading.rows, written_at="", baseline=baseline)
            known = entry.abouts[key] = await entry.source.ask(question)
            _keep(entry.abouts, 2)  # a baseline's rows are as many as the run's
        return known

    async def _findings(self, entry: Entry) -> tuple[Findings | None, str]:
        """What failed trials of a run that has ended were found to have done; None and why while that is not known."""
        if entry.analysis is None or entry.analysis[0] != entry.reading.version:
            asked = entry.source.ask(partial(analyse_sample, rows=entry.reading.rows))
            entry.analysis = (entry.reading.version, asyncio.ensure_future(asked))
        task = entry.analysis[1]
        done, _ = await asyncio.wait([task], timeout=ANALYSIS_SECONDS)
        if not done:
            return None, "Failed trials are being looked into; load the page again to see their failure modes."
        try:
            return task.result(), ""
        except (InputError, StoreError) as error:
            return None, f"Failed trials could not be looked into: {error}"


def _keep(found: OrderedDict[Any, Any], most: int) -> None:
    """Lets go of what was put in first."""
    while len(found) > most:
        found.popitem(last=False)


def _page(rows: RunRows, about: About) -> Page:
    data = page_data(rows, about)
    same = data.model_copy(update={"run": data.run.model_copy(update={"written_at": ""})})
    return Page(data, Content.of(as_json(data), as_json(same)))


def as_json(data: PageData) -> bytes:
    """A page as JSON in ASCII: half of a surrogate pair, which UTF-8 cannot hold, stays what it is."""
    return json.dumps(data.model_dump(), separators=(",", ":")).encode()
