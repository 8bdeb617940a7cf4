"""One attempt from its first record to its last.

Invariant: once a finding exists its writing is not interrupted, so that an attempt is never recorded as cancelled whose
trial is scored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord
from opsgym_api.scrub import scrub
from opsgym_api.store import Store, StoreError
from opsgym_runner.asking import Desk
from opsgym_runner.episode import Finding
from opsgym_runner.errors import NotScored
from opsgym_runner.gate import require_open
from opsgym_runner.job import Job
from opsgym_runner.results import write_scored, write_transcript

log = structlog.get_logger()


class Attempt:
    """Carries an attempt through, whatever happens in it."""

    def __init__(self, store: Store, job: Job, desk: Desk) -> None:
        self._store = store
        self._job = job
        self._desk = desk
        self._writing: asyncio.Task[AttemptRecord] | None = None

    async def run(self, episode: Callable[[], Awaitable[Finding]]) -> AttemptRecord:
        """Runs the episode; failures of every kind become the outcome of the record returned.

        Args:
            episode: Runs it.

        Raises:
            asyncio.CancelledError: The attempt was cancelled; `cancel` then writes its record.
        """
        journal = self._desk.journal
        try:
            require_open(await self._desk.gate.control(), starting=True)
            await journal.start()
            finding = await episode()
            self._writing = asyncio.create_task(self._write(finding))
            return await asyncio.shield(self._writing)
        except NotScored as end:
            record = journal.record(end.outcome, end.reason, str(end))
        except StoreError as error:
            record = self._store_lost(str(error))
        except Exception as error:  # noqa: BLE001 the outermost layer: one attempt's bug must not end the run
            record = self._broken(error)
        return await self._close(record)

    async def cancel(self) -> AttemptRecord:
        """Ends the attempt as cancelled, unless its finding is already being written."""
        if self._writing is None:
            return await self._close(self._desk.journal.record(Outcome.CANCELLED, message="cancelled while it ran"))
        try:
            return await self._writing
        except StoreError as error:
            return await self._close(self._store_lost(str(error)))

    async def _write(self, finding: Finding) -> AttemptRecord:
        journal = self._desk.journal
        await write_scored(self._store, self._job, finding, journal, self._desk.transcriber.packed())
        record = journal.record(finding.outcome, finding.reason, finding.message)
        await journal.save(record)
        return record

    async def _close(self, record: AttemptRecord) -> AttemptRecord:
        """Writes an attempt that was not scored; returns what there is to say then."""
        desk = self._desk
        try:
            if not desk.transcriber.silent:
                await write_transcript(self._store, self._job, desk.transcriber.packed())
            await desk.journal.save(record)
        except StoreError as error:
            if record.reason == InfraReason.STORE_LOST:
                return record
            return self._store_lost(f"{error} (the attempt had ended as {record.outcome}: {record.message})")
        return record

    def _store_lost(self, message: str) -> AttemptRecord:
        return self._desk.journal.record(Outcome.INFRA_ERROR, InfraReason.STORE_LOST, message)

    def _broken(self, error: Exception) -> AttemptRecord:
        message = scrub(f"unexpected {type(error).__name__}: {error}", self._job.secrets)
        log.error("attempt broke", exc_info=error)
        return self._desk.journal.record(Outcome.INFRA_ERROR, InfraReason.RUNNER_ERROR, message)
