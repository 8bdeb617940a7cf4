"""The list of runs.

Invariant: the list is there at once, also for a large store: it tells what `run.json` and the cluster say, and numbers
are added as runs are read, the newest first. A run that cannot change any more is read once. Nothing is read while
nobody asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import structlog

from opsgym.console.evalruns import ClusterRun
from opsgym.console.library import RUN_ID, Library, NoSuchRun, Seen
from opsgym.console.sources import Source
from opsgym.console.standing import State, cluster_state
from opsgym.report.data import suite_name
from opsgym_api.base import Stored
from opsgym_api.errors import InputError
from opsgym_api.layout import RunKeys
from opsgym_api.objects import READERS, read_object
from opsgym_api.records import RunRecord, Verdict
from opsgym_api.scores import PENDING
from opsgym_api.store import Store, StoreError

LIST_SECONDS = 3.0
"""How old the list of runs may be."""
LIVE_SECONDS = 5.0
"""How old the numbers of a run may be that goes on."""
QUIET_SECONDS = 60.0
"""The same of one that has ended without all its scores, or was stopped: somebody may make it go on."""
ASKED_SECONDS = 30.0
"""How long after the last question numbers are kept fresh."""

log = structlog.get_logger()


class Numbers(Stored):
    """What a run has come to."""

    total: int
    """Trials planned."""
    ended: int
    """Trials that are over, scored or not."""
    scored: int
    passed: int
    rate: float | None
    """Success rate: the mean over tasks."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end."""
    cost_usd: float | None
    """None if some of it is not known."""
    running: int
    """Attempts under way."""


class RunRow(Stored):
    """A row of the list."""

    run: str
    name: str
    namespace: str
    """Empty for a run of one machine."""
    schedule: str
    created_at: str
    suite: str
    models: list[str]
    stored: bool
    """Whether a store knows it; an EvalRun that has just been made is in the cluster only."""
    state: State | None
    """None while it is not known yet."""
    phase: str | None
    """What its EvalRun says."""
    message: str
    verdict: Verdict | None
    """What its gate says."""
    numbers: Numbers | None
    """None while nobody has counted."""


class RunList(Stored):
    """The list."""

    runs: list[RunRow]
    """The newest first."""
    counting: int
    """Runs whose numbers are still to come."""
    stores: list[str]
    problems: list[str]
    """What could not be read, for people."""


@dataclass(frozen=True)
class _Counted:
    """What was found when a run was last read."""

    seen: Seen | None
    """None if it could not be read."""
    problem: str
    due: float
    """When it is to be read again; infinite for one that cannot change."""


class Catalogue:
    """The runs of a library.

    Args:
        library: Where runs are read.
        clock: Seconds that only go forward.
    """

    def __init__(self, library: Library, clock: Callable[[], float] = time.monotonic) -> None:
        self._library = library
        self._clock = clock
        self._records: dict[str, RunRecord] = {}
        self._counted: dict[str, _Counted] = {}
        self._problems: dict[str, str] = {}
        self._listed_at = -LIST_SECONDS
        self._asked_at = -ASKED_SECONDS
        self._listing = asyncio.Lock()
        self._counting: asyncio.Task[None] | None = None

    async def list(self) -> RunList:
        """The list as it is known now; counting goes on in the background.

        Raises:
            StoreError: No store can be reached.
        """
        self._asked_at = self._clock()
        async with self._listing:
            if self._clock() - self._listed_at >= LIST_SECONDS:
                await self._look()
                self._listed_at = self._clock()
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._count())
        evalruns = await self._evalruns()
        rows = [self._row(record, evalruns.get(run)) for run, record in self._records.items()]
        rows += [_waiting(evalrun) for run, evalrun in evalruns.items() if run not in self._records]
        return RunList(
            runs=sorted(rows, key=lambda row: (row.created_at, row.run), reverse=True),
            counting=sum(run not in self._counted for run in self._records),
            stores=[source.name for source in self._library.sources],
            problems=list(self._told()),
        )

    def close(self) -> None:
        """Stops counting."""
        if self._counting is not None:
            self._counting.cancel()

    async def _evalruns(self) -> Mapping[str, ClusterRun]:
        return {} if self._library.evalruns is None else await self._library.evalruns.now()

    async def _look(self) -> None:
        """Lists the runs of every store; of one that does not answer, what was known stays."""
        found: dict[str, RunRecord] = {}
        failed: list[StoreError] = []
        for source in reversed(self._library.sources):  # where two hold a run, the first counts
            try:
                found |= await self._records_of(source)
            except StoreError as error:
                failed.append(error)
                self._problems[source.name] = str(error)
            else:
                self._problems.pop(source.name, None)
        if len(failed) == len(self._library.sources):
            raise failed[-1]
        self._records = {**self._records, **found} if failed else found
        self._counted = {run: counted for run, counted in self._counted.items() if run in self._records}

    async def _records_of(self, source: Source) -> Mapping[str, RunRecord]:
        known = self._records

        def read(store: Store) -> dict[str, RunRecord]:
            runs = [run for run in store.folders("runs") if RUN_ID.fullmatch(run)]
            new = [run for run in runs if run not in known]
            with ThreadPoolExecutor(READERS) as pool:
                records = dict(zip(new, pool.map(partial(_record, store), new), strict=True))
            both = {run: known.get(run) or records[run] for run in runs}
            return {run: record for run, record in both.items() if record is not None}

        return await source.ask(read)

    def _told(self) -> Iterator[str]:
        yield from self._problems.values()
        if self._library.evalruns is not None and self._library.evalruns.problem:
            yield self._library.evalruns.problem
        yield from (counted.problem for counted in self._counted.values() if counted.problem)

    async def _count(self) -> None:
        """Reads the runs whose numbers are due, as long as somebody asks."""
        while self._clock() - self._asked_at < ASKED_SECONDS:
            due = [run for run in self._records if run not in self._counted or self._counted[run].due <= self._clock()]
            if not due:
                await asyncio.sleep(0.5)
                continue
            new = [run for run in due if run not in self._counted]
            run = max(new or due, key=lambda run: self._records[run].created_at)
            self._counted[run] = await self._counted_now(run)

    async def _counted_now(self, run: str) -> _Counted:
        before = self._counted.get(run)
        try:
            seen = await self._library.seen(run, max_age=LIVE_SECONDS)
        except NoSuchRun:
            return _Counted(None, "", self._clock() + QUIET_SECONDS)
        except (InputError, StoreError) as error:
            log.warning("run_not_counted", run=run, problem=str(error))
            return _Counted(before.seen if before else None, str(error), self._clock() + QUIET_SECONDS)
        if seen.standing.live:
            return _Counted(seen, "", self._clock() + LIVE_SECONDS)
        return _Counted(seen, "", float("inf") if seen.standing.complete else self._clock() + QUIET_SECONDS)

    def _row(self, record: RunRecord, evalrun: ClusterRun | None) -> RunRow:
        counted = self._counted.get(record.run)
        seen = counted.seen if counted else None
        state = cluster_state(evalrun) if evalrun else seen.standing.state if seen else None
        message = evalrun.message if evalrun else seen.standing.message if seen else ""
        return RunRow(
            run=record.run,
            name=record.name,
            namespace=evalrun.namespace if evalrun else _namespace(record),
            schedule=record.schedule,
            created_at=record.created_at,
            suite=suite_name(record.spec),
            models=sorted({plan.cell.model for plan in record.cells}),
            stored=True,
            state=state,
            phase=evalrun.phase if evalrun else None,
            message=(counted.problem if counted else "") or message,
            verdict=seen.gate.verdict if seen and seen.gate else None,
            numbers=_numbers(seen) if seen else None,
        )


def _record(store: Store, run: str) -> RunRecord | None:
    """A run's record; None if there is none yet, or none that this version can read."""
    try:
        return read_object(store, RunKeys(run).run_json, RunRecord)
    except InputError as error:
        log.warning("run_not_listed", run=run, problem=str(error))
        return None


def _namespace(record: RunRecord) -> str:
    """The namespace in the id of a cluster's run: `<namespace>.<name>.<uid>`; names may hold dots, uids do not."""
    before, found, _ = record.run.rpartition(f".{record.name}.")
    return before if found else ""


def _numbers(seen: Seen) -> Numbers:
    score = seen.score
    interval = score.success.interval
    return Numbers(
        total=score.total,
        ended=score.total - score.not_scored.get(PENDING, 0),
        scored=score.scored,
        passed=score.passed,
        rate=score.success_rate,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        cost_usd=score.cost_usd,
        running=seen.standing.running,
    )


def _waiting(evalrun: ClusterRun) -> RunRow:
    """The row of an EvalRun that has written nothing yet."""
    return RunRow(
        run=evalrun.run,
        name=evalrun.name,
        namespace=evalrun.namespace,
        schedule=evalrun.schedule,
        created_at=evalrun.created_at,
        suite=evalrun.suite,
        models=list(evalrun.models),
        stored=False,
        state=cluster_state(evalrun),
        phase=evalrun.phase,
        message=evalrun.message,
        verdict=None,
        numbers=None,
    )
