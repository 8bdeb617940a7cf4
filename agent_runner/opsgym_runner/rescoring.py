"""Verifies scored trials again from their stored final state, without an agent or a model.

Invariant: verifiers judge the saved state at the database time of the save. A database that cannot be restored exactly
is not judged.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace

import httpx
import zstandard
from pydantic import ValidationError

from opsgym_api.gym_http import COMPLETE_SEED
from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.attempt import TrialRecord, VerifierResult
from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Verifier
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.results.transcripts import TranscriptError, decode_record
from opsgym_core.store.base import Store
from opsgym_runner.episode import EpisodeResult
from opsgym_runner.errors import config_error, infra_error
from opsgym_runner.gyms.client import GymClient, Snapshot
from opsgym_runner.orchestrators import AgentResult
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_runner.verification.verifiers import Trajectory, verify

JUDGED = "response_check"
"""Verifier type whose recorded verdict is reused: a judge model gave it on an answer that has not changed. So is the
verdict of a `state_difference` of a day before the last one, whose state was not saved."""


@dataclass(frozen=True)
class SavedTrial:
    """A scored trial as stored: record, row, transcript, final databases and their differences."""

    record: TrialRecord
    task: Task
    """The row that the trial ran."""
    transcript: Transcript
    states: Mapping[str, bytes]
    """Final database by gym server, as an SQLite file."""
    differences: Mapping[str, StateDifference]
    """Whole state difference by gym server; gym servers of which it was not kept are left out."""

    @property
    def calls(self) -> Sequence[ToolCallResult]:
        """Every tool call, in order, failed calls included."""
        return [
            ToolCallResult(event.tool_name, event.arguments or {}, event.content, event.is_error, event.gym)
            for event in self.transcript.events
            if event.kind == "tool" and event.tool_name
        ]


def read_saved_trial(store: Store, run: str, record: TrialRecord, task: Task) -> SavedTrial:
    """Reads a scored trial from the store.

    Raises:
        NotScored: A final state, a state difference or the transcript is missing or cannot be read.
        StoreError: The store cannot be read.
    """
    keys = RunKeys(run).trial(record.cell, record.task_id, record.trial)
    states: dict[str, bytes] = {}
    for server in task.gym_servers_config:
        gym = server.mcp_server_name
        content = store.get(keys.state(gym))
        if content is None:
            problem = f"{store.name} has no {keys.state(gym)}: the gym server did not offer its final state"
            raise config_error(ConfigReason.UNSUPPORTED, problem)
        try:
            states[gym] = zstandard.decompress(content)
        except zstandard.ZstdError:
            message = f"{store.name}: {keys.state(gym)} is damaged"
            raise infra_error(InfraReason.STORE_LOST, message) from None
    content = store.get(keys.transcript)
    if content is None:
        raise infra_error(InfraReason.STORE_LOST, f"{store.name} has no {keys.transcript}")
    try:
        transcript = decode_record(content, Transcript)
    except TranscriptError as error:
        message = f"{store.name}: {keys.transcript} {error}"
        if error.damaged:
            raise infra_error(InfraReason.STORE_LOST, message) from None
        raise config_error(ConfigReason.UNSUPPORTED, message) from None
    return SavedTrial(record, task, transcript, states, _saved_differences(store, keys, record, task))


def _saved_differences(store: Store, keys: TrialKeys, record: TrialRecord, task: Task) -> dict[str, StateDifference]:
    """Whole state differences: the record's, or, where that is truncated, the one stored beside the transcript.

    Raises:
        NotScored: A stored difference cannot be read.
        StoreError: The store cannot be read.
    """
    differences: dict[str, StateDifference] = {}
    for server in task.gym_servers_config:
        gym = server.mcp_server_name
        recorded = record.state_differences.get(gym)
        if recorded is not None and not recorded.truncated:
            differences[gym] = recorded
            continue
        content = store.get(keys.difference(gym))
        if content is None:
            continue
        try:
            differences[gym] = StateDifference.model_validate_json(zstandard.decompress(content))
        except (zstandard.ZstdError, ValidationError):
            message = f"{store.name}: {keys.difference(gym)} is damaged"
            raise infra_error(InfraReason.STORE_LOST, message) from None
    return differences


async def rescored(
    saved: SavedTrial, task: Task, run: str, gyms: Mapping[str, str], http: httpx.AsyncClient
) -> TrialRecord:
    """The trial's record with new verifier results; everything else is copied from the recorded trial.

    Args:
        saved: The trial.
        task: The row whose verifiers are executed: the one that ran, or a corrected one.
        run: The run of the new record.
        gyms: Base URL by domain, for every domain of the task's gym servers.
        http: Connections to gym servers.

    Raises:
        NotScored: The trial cannot be verified with this row.
    """
    record = saved.record
    reused = _recorded_verdicts(saved, task)
    executed = [index for index in range(len(task.verifiers)) if index not in reused]
    async with _restored(saved, task, gyms, http) as clients:
        part = task.model_copy(update={"verifiers": [task.verifiers[index] for index in executed]})
        trajectory = Trajectory(saved.calls, record.answer, record.day_answers)
        verified = await verify(part, clients, trajectory, differences=_judged_differences(saved, task))
    results = reused | {index: replace(result, index=index) for index, result in zip(executed, verified, strict=True)}
    agent = AgentResult(record.answer, "answer" if record.stopped_by == "answer" else FailReason(record.stopped_by))
    result = EpisodeResult(agent, [results[index] for index in sorted(results)], {}, record.versions.catalogue_digest)
    return replace(
        record,
        run=run,
        outcome=result.outcome,
        reason=result.reason,
        score=int(result.passed),
        published_score=result.published_score,
        feasible=task.feasible,
        horizon=task.steps,
        variant=task.variant,
        tags=tuple(task.tags),
        verifiers=tuple(result.verifiers),
        versions=replace(record.versions, task_digest=task_digest(task)),
    )


def _judged_differences(saved: SavedTrial, task: Task) -> dict[str, StateDifference]:
    """Whole state differences of the gym servers with `state_difference` verifiers. A restored database cannot tell
    its own, because it is seeded with the final state.

    Raises:
        NotScored: A whole difference was not kept.
    """
    gyms = [server.mcp_server_name for server in task.gym_servers_config]
    judged = [gym for gym in gyms if task.state_differences(gym)]
    for gym in judged:
        if gym not in saved.differences:
            message = (
                f"gym {gym}: the run did not keep its whole state difference, which state_difference verifiers need"
            )
            raise config_error(ConfigReason.UNSUPPORTED, message)
    return {gym: saved.differences[gym] for gym in judged}


def _recorded_verdicts(saved: SavedTrial, task: Task) -> dict[int, VerifierResult]:
    """Recorded results of judge verifiers, and of those of earlier days, by the verifier's index in the new row.

    Raises:
        NotScored: Such a verifier is not in the row that ran.
    """
    recorded = [_question(verifier) for verifier in saved.task.verifiers]
    verdicts: dict[int, VerifierResult] = {}
    for index, verifier in enumerate(task.verifiers):
        is_of_day = verifier.verifier_type == "state_difference" and task.day_of(verifier) is not None
        if verifier.verifier_type != JUDGED and not is_of_day:
            continue
        if _question(verifier) not in recorded:
            name = verifier.name or "unnamed"
            why = "the states of earlier days were not saved" if is_of_day else "rescoring calls no judge"
            message = f"verifiers[{index}] ({name}): {verifier.verifier_type} differs from the run's, and {why}"
            raise config_error(ConfigReason.UNSUPPORTED, message)
        result = saved.record.verifiers[recorded.index(_question(verifier))]
        verdicts[index] = replace(result, index=index, name=verifier.name, category=verifier.category.value)
    return verdicts


def _question(verifier: Verifier) -> tuple[object, ...]:
    """The fields that decide a verifier's result."""
    return verifier.verifier_type, verifier.gym_name, verifier.dialect, verifier.validation_config


@asynccontextmanager
async def _restored(
    saved: SavedTrial, task: Task, gyms: Mapping[str, str], http: httpx.AsyncClient
) -> AsyncIterator[Mapping[str, GymClient]]:
    """The trial's final databases, restored on gym servers, in the row's order; deleted on exit."""
    clients: dict[str, GymClient] = {}
    try:
        for server in task.gym_servers_config:
            name = server.mcp_server_name
            if name not in saved.states:
                message = f"gym server {name} was not used in the run, so its final state is unknown"
                raise config_error(ConfigReason.UNKNOWN_GYM, message)
            clients[name] = gym = GymClient(http, gyms[server.domain], server)
            script = script_of(saved.states[name])
            # No tool is called on the state, so access does not matter.
            await gym.seed(Seed(sql=COMPLETE_SEED + script), Access.PUBLISHED)
            if name in saved.record.database_times:
                await gym.apply_event(time=saved.record.database_times[name])
            _require_same(name, script, await gym.snapshot())
        yield clients
    finally:
        await asyncio.shield(_deleted(list(clients.values())))


async def _deleted(clients: Sequence[GymClient]) -> None:
    for gym in clients:
        await gym.delete()


def _require_same(gym: str, script: str, snapshot: Snapshot | None) -> None:
    if snapshot is None or script_of(snapshot.content) != script:
        message = f"gym {gym}: the saved state cannot be restored exactly; was it saved by another release?"
        raise config_error(ConfigReason.SEED_REFUSED, message)


def script_of(state: bytes) -> str:
    """A final state as a seed: one INSERT for each row, in SQLite's dialect, in the file's order.

    Args:
        state: SQLite file.

    Raises:
        NotScored: The state is not an SQLite file.
    """
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(state)
            return "\n".join(_inserts(db))
    except sqlite3.Error as error:
        raise infra_error(InfraReason.STORE_LOST, f"a saved state is damaged: {error}") from None


def _inserts(db: sqlite3.Connection) -> Iterator[str]:
    named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
    tables = [name for (name,) in db.execute(named)]
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({_quoted(table)})")]
        names = ", ".join(map(_quoted, columns))
        values = ", ".join(map(_literal_in_sql, columns))
        for row in db.execute(f"SELECT {values} FROM {_quoted(table)} ORDER BY rowid"):  # noqa: S608 names from the file's own schema
            literals = ", ".join(_real(value) if isinstance(value, float) else value for value in row)
            yield f"INSERT INTO {_quoted(table)} ({names}) VALUES ({literals});"  # noqa: S608 quoted by SQLite


def _literal_in_sql(column: str) -> str:
    """A column's values as SQL literals, real numbers as they are: `quote` rounds some of them."""
    return f"CASE typeof({_quoted(column)}) WHEN 'real' THEN {_quoted(column)} ELSE quote({_quoted(column)}) END"


def _real(value: float) -> str:
    """The shortest literal that is exactly this number; SQLite has no word for infinity, and reads 9e999 as it."""
    return repr(value).replace("inf", "9e999")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
