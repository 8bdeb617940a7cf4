"""The attempt record while its attempt runs.

Invariant: cost and usage are in the store at most one step after they arise, under the role of the model that caused
them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from opsgym_api.records.attempt import NO_FINISHES, AttemptRecord, Timings, TrialRecord, Usage
from opsgym_api.records.outcomes import FinishReason, Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.clock import utc_text
from opsgym_core.common.foreign import storable
from opsgym_core.store.base import Store
from opsgym_runner.clock import Clock
from opsgym_runner.job import JUDGE, PLANNER, Job
from opsgym_runner.models.client import Reply, Requester
from opsgym_runner.models.prices import added_cost

SAVE_EVERY_S = 1.0
"""Seconds after which a running attempt's record is written again although its cost is the same."""

Phase = Literal["seed_s", "connect_s", "model_s", "tools_s", "verify_s"]
EventKind = Literal["started", "step", "finished"]


COUNTED = (
    "usage", "planner_usage", "judge_usage", "cost_usd", "judge_cost_usd", "steps", "tool_calls", "tool_errors",
    "internal_errors", "model_retries", "rate_limits", "refused_requests",
    "sample_retries", "finish_reasons",
)  # fmt: skip
"""Fields of an attempt that the journal adds up, under the same names."""


@dataclass(frozen=True)
class RunnerEvent:
    """Progress of one attempt, for observers."""

    kind: EventKind
    record: AttemptRecord
    """The attempt's record at this moment."""


def record_json(record: AttemptRecord | TrialRecord) -> bytes:
    """The stored form of a record, whatever text is in it: a record that cannot be written would cost the attempt."""
    try:
        return record.to_json()
    except ValueError:
        return json.dumps(storable(record.to_dict())).encode()


class Journal:
    """Counters, cost and timings of one attempt, and the writes of its record.

    Args:
        store: Where the record is written.
        job: The attempt.
        clock: Source of time.
        on_event: Called in the event loop at the start, each step and the end; must not block.
    """

    def __init__(self, store: Store, job: Job, clock: Clock, on_event: Callable[[RunnerEvent], None] | None) -> None:
        self._store = store
        self._job = job
        self._clock = clock
        self._on_event = on_event
        self._key = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial).attempt(job.attempt)
        self._started = clock.monotonic()
        self._started_at = utc_text(clock.now())
        self._saved = self._started
        self._saved_cost: float | None = 0.0
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
        self.internal_errors = 0
        self.model_retries = 0
        """Requests to models that repeated a failed one."""
        self.rate_limits = 0
        """Requests to models that were answered with HTTP 429."""
        self.refused_requests = 0
        """Requests of an agent with a command that ask its model's provider to act."""
        self.sample_retries = 0
        self.finish_reasons = NO_FINISHES
        self.snapshots: dict[str, None] = {}
        """Names of the agent's model in the answers of its provider, in the order in which they came."""
        self._wait_s = 0.0
        """Part of `model_s` during which no request was in flight."""

    def begin_again(self) -> None:
        """Counts steps and tool calls from 0 for an episode that is played again; what was spent stays."""
        self.sample_retries += 1
        self.steps = self.tool_calls = self.tool_errors = self.internal_errors = 0

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Adds the duration of the block to a phase."""
        began = self._clock.monotonic()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self._clock.monotonic() - began

    @contextmanager
    def count_requests(self, client: Requester, role: str = "", *, support: bool = False) -> Iterator[None]:
        """Adds the retries, rate limits, waits and lost replies that a client's requests inside the block meet.

        Args:
            client: The client.
            role: See `add_reply`.
            support: Whether it is called outside the agent's steps; its waits are then not part of `model_s`.
        """
        before = client.statistics
        try:
            yield
        finally:
            added = client.statistics - before
            self.model_retries += added.retries
            self.rate_limits += added.rate_limits
            self._wait_s += 0.0 if support else added.wait_s
            lost = client.take_lost()
            self._add(lost.usage, lost.cost_usd, [FinishReason.MALFORMED] * lost.unreadable, role)

    def add_reply(self, reply: Reply, role: str = "") -> None:
        """Adds the usage, cost and finish reason of a reply. One unknown cost makes the sum unknown (None).

        Args:
            reply: The reply.
            role: `PLANNER`, `JUDGE`, or the agent's own role.
        """
        finishes = [reason for reason in (reply.replaced, reply.finish) if reason is not None]
        self._add(reply.usage, reply.cost_usd, finishes, role)
        if role not in (JUDGE, PLANNER) and reply.provenance.model:
            self.snapshots[reply.provenance.model] = None

    def add_cost(self, usage: Usage, cost_usd: float | None) -> None:
        """Adds replies of the agent's model outside the conversation."""
        self._add(usage, cost_usd, (), "")

    def _add(self, usage: Usage, cost_usd: float | None, finishes: Iterable[FinishReason], role: str) -> None:
        self.cost_usd = added_cost(self.cost_usd, cost_usd)
        if role == JUDGE:
            self.judge_usage += usage
            self.judge_cost_usd = added_cost(self.judge_cost_usd, cost_usd)
            return
        self.usage += usage
        for reason in finishes:
            self.finish_reasons = self.finish_reasons.plus_one(reason)
        if role == PLANNER:
            self.planner_usage += usage

    def timings(self) -> Timings:
        """Seconds by phase so far."""
        seconds = {phase: round(duration, 4) for phase, duration in self._seconds.items()}
        total = round(self._clock.monotonic() - self._started, 4)
        return Timings(started_at=self._started_at, total_s=total, wait_s=round(self._wait_s, 4), **seconds)

    def record(self, outcome: Outcome | None = None, reason: str = "", message: str = "") -> AttemptRecord:
        """The attempt's record at this moment.

        Args:
            outcome: None while the attempt runs.
            reason: Reason of the outcome; empty for none.
            message: Details for a reader; empty for none.
        """
        return AttemptRecord(**self.values(), outcome=outcome, reason=reason, message=message)

    def values(self) -> dict[str, Any]:
        """Fields of `AttemptRecord` up to now, without how the attempt ended."""
        return {
            "run": self._job.run,
            "cell": self._job.cell,
            "task_id": self._job.task.task_id,
            "trial": self._job.trial,
            "attempt": self._job.attempt,
            "profile": self._job.agent.profile_label,
            "timings": self.timings(),
            **{name: getattr(self, name) for name in COUNTED},
        }

    async def start(self) -> None:
        """Writes the first record and reports the start.

        Raises:
            StoreError: The store cannot be written.
        """
        record = self.record()
        await self.save(record)
        self._report("started", record)

    async def step(self) -> None:
        """Reports a step, and writes the record if its cost has changed, or it was written `SAVE_EVERY_S` ago.

        Raises:
            StoreError: The store cannot be written.
        """
        record = self.record()
        if record.cost_usd != self._saved_cost or self._clock.monotonic() - self._saved >= SAVE_EVERY_S:
            await self.save(record)
        self._report("step", record)

    async def save(self, record: AttemptRecord) -> None:
        """Writes a record of the attempt.

        Raises:
            StoreError: The store cannot be written.
        """
        self._saved, self._saved_cost = self._clock.monotonic(), record.cost_usd
        # Shielded and one at a time: a write that outlives its cancelled step must not land after a later one.
        await asyncio.shield(self._write(record_json(record)))

    async def _write(self, content: bytes) -> None:
        async with self._writing:
            await asyncio.to_thread(self._store.put, self._key, content)

    def finished(self, record: AttemptRecord) -> None:
        """Reports the end of the attempt."""
        self._report("finished", record)

    def _report(self, kind: EventKind, record: AttemptRecord) -> None:
        if self._on_event is not None:
            self._on_event(RunnerEvent(kind, record))
