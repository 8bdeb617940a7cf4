"""The list of runs.

Invariant: the list is available at once, even of a large store: it shows what `run.json` and the cluster say, and
numbers are added as runs are read, newest first. A run that cannot change is read once. Stores are not read while no
client requests the list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

import structlog

from opsgym_api.base import Stored
from opsgym_api.errors import InputError
from opsgym_api.records.gate import Verdict
from opsgym_api.records.run import RunRecord, profile_of
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.server.evalruns import ClusterRun
from opsgym_console.server.run_cache import RUN_ID, NoSuchRun, RunCache, RunSnapshot
from opsgym_console.server.run_status import State, cluster_state
from opsgym_console.server.sources import Source
from opsgym_core.results.score import PENDING, AgentScore
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.objects import READERS, read_object

LIST_SECONDS = 3.0
"""Age after which the stores are listed again."""
LIVE_SECONDS = 5.0
"""Age after which the numbers of a live run are read again."""
QUIET_SECONDS = 60.0
"""Age after which the numbers of a stopped run, or of one without all scores, are read again: it may be resumed."""
IDLE_SECONDS = 30.0
"""Time after the last request during which numbers are kept up to date."""
WAIT_SECONDS = 0.5
"""Pause between checks for runs to read."""

log = structlog.get_logger()


class AgentRate(Stored):
    """Success of a model with an agent in a mode."""

    name: str
    """The model, with agent and mode where these differ."""
    model: str
    agent: str
    mode: str
    rate: float | None
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    worst: float | None
    """Success rate if every trial without a score failed."""
    scored: int
    total: int
    """Trials planned."""
    cost_per_task: float | None


class Numbers(Stored):
    """Progress and results of a run."""

    total: int
    """Trials planned."""
    ended: int
    """Trials that have ended, scored or not."""
    scored: int
    passed: int
    rate: float | None
    """Success rate: the mean over tasks."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end."""
    worst: float | None
    """Success rate if every trial without a score failed; None without a planned trial."""
    best: float | None
    """Success rate if every trial without a score passed."""
    attempts_per_scored: float | None
    """Attempts per scored trial; None without a score."""
    cost_usd: float | None
    """None if a part of it is unknown."""
    running: int
    """Attempts in progress."""
    agents: list[AgentRate]
    """From the best to the worst."""


class RunRow(Stored):
    """A row of the list."""

    run: str
    name: str
    namespace: str
    """Empty for a local run."""
    schedule: str
    created_at: str
    suite: str
    models: list[str]
    profiles: list[str]
    """Profiles of its agents, with the switches that differ from them; empty for an EvalRun that no store has."""
    stored: bool
    """Whether a store has it; a new EvalRun exists in the cluster only."""
    state: State | None
    """None until the run is read."""
    phase: str | None
    """Phase of its EvalRun."""
    message: str
    verdict: Verdict | None
    """Verdict of its gate."""
    numbers: Numbers | None
    """None until the run is read."""


class RunListing(Stored):
    """The list."""

    runs: list[RunRow]
    """Newest first."""
    counting: int
    """Runs whose numbers have not been read yet."""
    stores: list[str]
    problems: list[str]
    """What could not be read, for users."""


@dataclass(frozen=True)
class _CountedRun:
    """The last read of a run."""

    snapshot: RunSnapshot | None
    """None if the run could not be read."""
    problem: str
    due: float
    """When it is to be read again; infinite for a run that cannot change."""


class RunList:
    """Lists the runs of a cache.

    Args:
        run_cache: Reads runs.
        clock: Monotonic time in seconds.
    """

    def __init__(self, run_cache: RunCache, clock: Callable[[], float] = time.monotonic) -> None:
        self._run_cache = run_cache
        self._clock = clock
        self._records: dict[str, RunRecord] = {}
        self._counted: dict[str, _CountedRun] = {}
        self._problems: dict[str, str] = {}
        self._unreadable: dict[str, Sequence[str]] = {}
        """By store: why the records of some runs cannot be read."""
        self._listed_at = -LIST_SECONDS
        self._requested_at = -IDLE_SECONDS
        self._listing = asyncio.Lock()
        self._counting: asyncio.Task[None] | None = None

    async def list(self) -> RunListing:
        """The list as far as it is known; numbers are read in the background.

        Raises:
            StoreError: No store can be reached.
        """
        self._requested_at = self._clock()
        async with self._listing:
            if self._clock() - self._listed_at >= LIST_SECONDS:
                await self._list_stores()
                self._listed_at = self._clock()
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._count())
        cluster = self._run_cache.evalruns
        evalruns: Mapping[str, ClusterRun] = {} if cluster is None else await cluster.now()
        rows = [self._row(record, evalruns.get(run)) for run, record in self._records.items()]
        rows += [_waiting_row(evalrun) for run, evalrun in evalruns.items() if run not in self._records]
        return RunListing(
            runs=sorted(rows, key=lambda row: (row.created_at, row.run), reverse=True),
            counting=sum(run not in self._counted for run in self._records),
            stores=[source.name for source in self._run_cache.sources],
            problems=list(self._all_problems()),
        )

    def close(self) -> None:
        """Stops reading numbers."""
        if self._counting is not None:
            self._counting.cancel()

    async def _list_stores(self) -> None:
        """Lists the runs of every store; a store that fails keeps its last list."""
        listed: dict[str, RunRecord] = {}
        failed: list[StoreError] = []
        for source in reversed(self._run_cache.sources):  # the first store's runs replace those of later ones
            try:
                records, self._unreadable[source.name] = await self._records_of(source)
                listed |= records
            except StoreError as error:
                failed.append(error)
                self._problems[source.name] = str(error)
            else:
                self._problems.pop(source.name, None)
        if len(failed) == len(self._run_cache.sources):
            raise failed[-1]
        self._records = {**self._records, **listed} if failed else listed
        self._counted = {run: counted for run, counted in self._counted.items() if run in self._records}

    async def _records_of(self, source: Source) -> tuple[dict[str, RunRecord], Sequence[str]]:
        """Records of a store's runs, and why others cannot be read."""
        known = self._records

        def read(store: Store) -> tuple[dict[str, RunRecord], Sequence[str]]:
            runs = [run for run in store.folders("runs") if RUN_ID.fullmatch(run)]
            new = [run for run in runs if run not in known]
            with ThreadPoolExecutor(READERS) as pool:
                records = dict(zip(new, pool.map(partial(_record, store), new), strict=True))
            both = {run: known.get(run) or records[run] for run in runs}
            problems = [str(item) for item in both.values() if isinstance(item, InputError)]
            return {run: item for run, item in both.items() if isinstance(item, RunRecord)}, problems

        return await source.read(read)

    def _all_problems(self) -> Iterator[str]:
        yield from self._problems.values()
        yield from chain.from_iterable(self._unreadable.values())
        if self._run_cache.evalruns is not None and self._run_cache.evalruns.problem:
            yield self._run_cache.evalruns.problem
        yield from (counted.problem for counted in self._counted.values() if counted.problem)

    async def _count(self) -> None:
        """Reads the runs whose numbers are due, until the list has not been requested for `IDLE_SECONDS`."""
        while self._clock() - self._requested_at < IDLE_SECONDS:
            due = [run for run in self._records if run not in self._counted or self._counted[run].due <= self._clock()]
            if not due:
                await asyncio.sleep(WAIT_SECONDS)
                continue
            new = [run for run in due if run not in self._counted]
            run = max(new or due, key=lambda run: self._records[run].created_at)
            self._counted[run] = await self._read(run)

    async def _read(self, run: str) -> _CountedRun:
        before = self._counted.get(run)
        later = self._clock() + QUIET_SECONDS
        try:
            snapshot = await self._run_cache.snapshot(run, max_age=LIVE_SECONDS)
        except NoSuchRun:
            return _CountedRun(None, "", later)
        except (InputError, StoreError) as error:
            log.warning("run_not_counted", run=run, problem=str(error))
            return _CountedRun(before.snapshot if before else None, str(error), later)
        if snapshot.status.live:
            return _CountedRun(snapshot, "", self._clock() + LIVE_SECONDS)
        return _CountedRun(snapshot, "", float("inf") if snapshot.status.complete else later)

    def _row(self, record: RunRecord, evalrun: ClusterRun | None) -> RunRow:
        counted = self._counted.get(record.run)
        snapshot = counted.snapshot if counted else None
        state = cluster_state(evalrun) if evalrun else snapshot.status.state if snapshot else None
        message = evalrun.message if evalrun else snapshot.status.message if snapshot else ""
        return RunRow(
            run=record.run,
            name=record.name,
            namespace=evalrun.namespace if evalrun else _namespace(record),
            schedule=record.schedule,
            created_at=record.created_at,
            suite=record.suite,
            models=sorted({plan.cell.model for plan in record.cells}),
            profiles=sorted({profile_of(record.spec, plan.cell.agent) for plan in record.cells} - {""}),
            stored=True,
            state=state,
            phase=evalrun.phase if evalrun else None,
            message=(counted.problem if counted else "") or message,
            verdict=snapshot.gate.verdict if snapshot and snapshot.gate else None,
            numbers=_numbers(snapshot) if snapshot else None,
        )


def _record(store: Store, run: str) -> RunRecord | InputError | None:
    """A run's record, or why it cannot be read; None if there is none."""
    try:
        return read_object(store, RunKeys(run).run_json, RunRecord)
    except InputError as error:
        log.warning("run_not_listed", run=run, problem=str(error))
        return error


def _namespace(record: RunRecord) -> str:
    """The namespace in the id of a cluster's run, `<namespace>.<name>.<uid>`; names may contain dots, uids do not."""
    namespace, separator, _ = record.run.rpartition(f".{record.name}.")
    return namespace if separator else ""


def _numbers(snapshot: RunSnapshot) -> Numbers:
    score = snapshot.summary.total
    interval = score.success.interval
    return Numbers(
        total=score.total,
        ended=score.total - score.not_scored.get(PENDING, 0),
        scored=score.scored,
        passed=score.passed,
        rate=score.success_rate,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        worst=score.worst_rate,
        best=score.best_rate,
        attempts_per_scored=score.attempts_per_scored,
        cost_usd=score.cost_usd,
        running=snapshot.status.running,
        agents=_ranked(snapshot.summary.agents),
    )


def _ranked(agents: Sequence[AgentScore]) -> list[AgentRate]:
    """Agents from the best to the worst, by the rate if every trial without a score failed."""
    parts = ("model", "agent", "mode")
    named = [part for part in parts if part == "model" or len({getattr(one, part) for one in agents}) > 1]
    ranked = sorted(agents, key=lambda one: -(one.score.worst_rate or 0))
    return [_agent_rate(one, " / ".join(getattr(one, part) for part in named)) for one in ranked]


def _agent_rate(agent: AgentScore, name: str) -> AgentRate:
    score = agent.score
    interval = score.success.interval
    return AgentRate(
        name=name,
        model=agent.model,
        agent=agent.agent,
        mode=agent.mode,
        rate=score.success_rate,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        worst=score.worst_rate,
        scored=score.scored,
        total=score.total,
        cost_per_task=score.cost_per_task,
    )


def _waiting_row(evalrun: ClusterRun) -> RunRow:
    """The row of an EvalRun that has written nothing yet."""
    return RunRow(
        run=evalrun.run,
        name=evalrun.name,
        namespace=evalrun.namespace,
        schedule=evalrun.schedule,
        created_at=evalrun.created_at,
        suite=evalrun.suite,
        models=list(evalrun.models),
        profiles=[],
        stored=False,
        state=cluster_state(evalrun),
        phase=evalrun.phase,
        message=evalrun.message,
        verdict=None,
        numbers=None,
    )
