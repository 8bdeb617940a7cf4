"""The attempt record while its attempt runs.

Invariant: what was spent is in the store within a step of being spent, and booked to whoever spent it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Timings, Usage
from opsgym_api.store import Store
from opsgym_runner.clock import Clock, utc_text
from opsgym_runner.job import Job
from opsgym_runner.model import ModelClient, Reply

SAVE_EVERY_S = 1.0
"""Seconds between two writes of a running attempt's record."""

Phase = Literal["seed_s", "connect_s", "model_s", "tools_s", "verify_s"]
PLANNER = "planner"
"""Whose replies are the planner's."""
JUDGE = "judge"
"""Whose replies are the judge's."""


@dataclass(frozen=True)
class RunnerEvent:
    """Something that whoever watches a run may want to show."""

    kind: Literal["started", "step", "finished"]
    record: AttemptRecord
    """The attempt as it stands."""


class Journal:
    """Keeps the books of one attempt."""

    def __init__(self, store: Store, job: Job, clock: Clock, on_event: Callable[[RunnerEvent], None] | None) -> None:
        self._store = store
        self._job = job
        self._clock = clock
        self._on_event = on_event
        self._key = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial).attempt(job.attempt)
        self._started = clock.monotonic()
        self._started_at = utc_text(clock.now())
        self._saved = self._started
        self._writing = asyncio.Lock()
        self._seconds: dict[Phase, float] = {}
        self.usage = Usage()
        self.planner_usage = Usage()
        self.judge_usage = Usage()
        self.cost_usd: float | None = 0.0
        self.judge_cost_usd: float | None = 0.0
        self.steps = 0
        self.tool_calls = 0
        self.tool_errors = 0
        self.model_retries = 0
        """Requests to models that were sent again."""
        self.rate_limits = 0
        """Requests to models that were refused as too many."""
        self._wait_s = 0.0
        """The part of `model_s` in which no request was under way."""

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Books the time inside to a phase."""
        began = self._clock.monotonic()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self._clock.monotonic() - began

    @contextmanager
    def traffic_of(self, client: ModelClient, *, supporter: bool = False) -> Iterator[None]:
        """Books what becomes of a client's requests inside, besides answers.

        Args:
            client: Whose requests.
            supporter: Whether it is asked outside the agent's steps: what it waits is no part of `model_s`.
        """
        before = client.traffic
        try:
            yield
        finally:
            met = client.traffic - before
            self.model_retries += met.retries
            self.rate_limits += met.rate_limits
            self._wait_s += 0.0 if supporter else met.wait_s

    def book(self, reply: Reply, by: str = "") -> None:
        """Books what a reply cost; once one is unknown, the sum is.

        Args:
            reply: The reply.
            by: Whose it is: `PLANNER`, `JUDGE`, or any part of the agent.
        """
        self.cost_usd = _sum(self.cost_usd, reply.cost_usd)
        if by == JUDGE:
            self.judge_usage += reply.usage
            self.judge_cost_usd = _sum(self.judge_cost_usd, reply.cost_usd)
            return
        self.usage += reply.usage
        if by == PLANNER:
            self.planner_usage += reply.usage

    def timings(self) -> Timings:
        """Seconds by phase up to now."""
        seconds = {phase: round(spent, 4) for phase, spent in self._seconds.items()}
        total = round(self._clock.monotonic() - self._started, 4)
        return Timings(started_at=self._started_at, total_s=total, wait_s=round(self._wait_s, 4), **seconds)

    def record(self, outcome: Outcome | None = None, reason: str = "", message: str = "") -> AttemptRecord:
        """The attempt as it stands."""
        return AttemptRecord(
            run=self._job.run,
            cell=self._job.cell,
            task_id=self._job.task.task_id,
            trial=self._job.trial,
            attempt=self._job.attempt,
            outcome=outcome,
            reason=reason,
            message=message,
            usage=self.usage,
            planner_usage=self.planner_usage,
            judge_usage=self.judge_usage,
            cost_usd=self.cost_usd,
            judge_cost_usd=self.judge_cost_usd,
            steps=self.steps,
            tool_calls=self.tool_calls,
            model_retries=self.model_retries,
            rate_limits=self.rate_limits,
            timings=self.timings(),
        )

    async def start(self) -> None:
        """Writes that the attempt runs.

        Raises:
            StoreError: The store cannot be written.
        """
        record = self.record()
        await self.save(record)
        self._tell("started", record)

    async def step(self) -> None:
        """Writes where the attempt stands, unless it was written a moment ago.

        Raises:
            StoreError: The store cannot be written.
        """
        record = self.record()
        if self._clock.monotonic() - self._saved >= SAVE_EVERY_S:
            await self.save(record)
        self._tell("step", record)

    async def save(self, record: AttemptRecord) -> None:
        """Writes a record of the attempt.

        Raises:
            StoreError: The store cannot be written.
        """
        self._saved = self._clock.monotonic()
        # Shielded and one at a time: a write that outlives its cancelled step must not land after a later one.
        await asyncio.shield(self._write(record.model_dump_json().encode()))

    async def _write(self, content: bytes) -> None:
        async with self._writing:
            await asyncio.to_thread(self._store.put, self._key, content)

    def finished(self, record: AttemptRecord) -> None:
        """Tells that the attempt is over."""
        self._tell("finished", record)

    def _tell(self, kind: Literal["started", "step", "finished"], record: AttemptRecord) -> None:
        if self._on_event is not None:
            self._on_event(RunnerEvent(kind, record))


def _sum(spent: float | None, more: float | None) -> float | None:
    return None if spent is None or more is None else spent + more
