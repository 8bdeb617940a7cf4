"""The episodes of a service: each is an attempt of a runner, whose agent the caller runs.

Invariant: an episode is scored by the runner, as a trial of a run is, or not at all. Its databases are deleted when it
ends: by an answer, by its time, by `DELETE`, or with the service.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, Self

from opsgym.episodes.api import EpisodeRequest, RefusedError
from opsgym.episodes.memory import MemoryStore
from opsgym.episodes.offer import Offer, OfferedTask
from opsgym.episodes.rewards import reward_of
from opsgym.local.gym_servers import GymLostError
from opsgym_api.kinds.evalrun import Agent, Limits
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.clock import utc_now, utc_text
from opsgym_core.planning.suite_rows import domains_of
from opsgym_runner.bridge.remote import OpenEpisode, Remote
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.prices import FREE
from opsgym_runner.replay.scripts import NOOP
from opsgym_runner.runner import Runner

RUN = "episodes"
AGENT = "trainer"
"""Model and agent of the cells that episodes are attempts of."""
_OWN_MODEL = ResolvedModel(name=AGENT, model=NOOP, prices=FREE)
"""The trainer's model, which opsgym neither sees nor calls."""


class Gyms(Protocol):
    """Gym servers that are running; see `GymServers`."""

    @property
    def urls(self) -> Mapping[str, str]:
        """Base URL of each server, by domain."""
        ...

    @property
    def admin_tokens(self) -> Mapping[str, str]:
        """Tokens of the servers' admin endpoints by base URL."""
        ...

    async def ready(self, domains: list[str]) -> None:
        """Waits until the servers of some domains are healthy."""
        ...


class OpenGate:
    """The start gate of episodes, which nothing closes."""

    async def control(self) -> Control:
        """Lets episodes start and continue."""
        return Control()


@dataclass(frozen=True)
class Episode:
    """An episode and its end."""

    id: str
    request: EpisodeRequest
    open: OpenEpisode
    running: asyncio.Task[AttemptRecord]
    expires_at: datetime
    timer: asyncio.TimerHandle
    scored: list[TrialRecord] = field(default_factory=list)
    """The trial record, once there is one."""

    def facts(self) -> dict[str, Any]:
        """What the episode is, and its verdict if it has ended."""
        request = self.request.model_dump(by_alias=True, mode="json", include={"task", "split", "mode", "variant"})
        known = {"id": self.id, **request, "expiresAt": utc_text(self.expires_at, "seconds")}
        return {**known, "state": "running"} if not self.running.done() else {**known, **self._verdict()}

    def _verdict(self) -> dict[str, Any]:
        record = self.running.result()
        ended = {
            "state": "finished",
            "outcome": record.outcome,
            "reason": record.reason,
            "message": record.message,
            "steps": record.steps,
            "toolCalls": record.tool_calls,
        }
        if not self.scored:
            return {**ended, "reward": None}
        (trial,) = self.scored
        return {
            **ended,
            "reward": reward_of(trial, self.request.reward),
            "answer": trial.answer,
            "verifiers": [asdict(verifier) for verifier in trial.verifiers],
            "stateDifferences": {name: one.model_dump(mode="json") for name, one in trial.state_differences.items()},
        }


class EpisodeService:
    """Makes episodes and ends them; open it as a context.

    Args:
        offer: The tasks.
        gyms: Servers of their domains.
        most: Most episodes at the same time, finished ones that are not forgotten included.
    """

    def __init__(self, offer: Offer, gyms: Gyms, most: int) -> None:
        self._offer = offer
        self._gyms = gyms
        self._most = most
        self._store = MemoryStore()
        self._runner = Runner(self._store, gate=OpenGate(), admin_tokens=gyms.admin_tokens)
        self._numbers = itertools.count()
        self._starting = 0
        self._reading = asyncio.Lock()
        self._episodes: dict[str, Episode] = {}

    async def __aenter__(self) -> Self:
        """Starts nothing yet."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Ends every episode and deletes its databases."""
        await asyncio.gather(*(self.delete(name) for name in list(self._episodes)))
        await self._runner.__aexit__(None, None, None)

    async def create(self, request: EpisodeRequest) -> Episode:
        """Starts an episode and waits until its agent can begin.

        Raises:
            RefusedError: The task cannot be played, or there are too many episodes.
        """
        if len(self._episodes) + self._starting >= self._most:
            message = f"all {self._most} episodes are in use; DELETE those that are finished, or raise --most"
            raise RefusedError(429, "too_many_episodes", message)
        self._starting += 1
        try:
            async with self._reading:  # the rows of a variant are made once
                offered = await asyncio.to_thread(self._offer.find, request)
            await self._gyms.ready(domains_of(offered.task))
            return await self._start(request, offered)
        except GymLostError as error:
            raise RefusedError(503, "gym_lost", str(error)) from None
        finally:
            self._starting -= 1

    async def _start(self, request: EpisodeRequest, offered: OfferedTask) -> Episode:
        remote, job = Remote(), self._job(request, offered)
        running = asyncio.create_task(self._runner.run(job, remote))
        try:
            waited: set[asyncio.Future[Any]] = {running, remote.opened}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if not remote.opened.done():
            record = running.result()
            self._forget(job)
            raise RefusedError(422, record.reason, f"task {request.task}: {record.message}")
        name, loop = secrets.token_hex(8), asyncio.get_running_loop()
        timer = loop.call_later(request.ttl_seconds, self._expire, name)
        expires_at = utc_now() + timedelta(seconds=request.ttl_seconds)
        episode = self._episodes[name] = Episode(name, request, remote.opened.result(), running, expires_at, timer)
        running.add_done_callback(partial(self._ended, episode, job))
        return episode

    def _job(self, request: EpisodeRequest, offered: OfferedTask) -> Job:
        task = offered.task
        return Job(
            run=RUN,
            cell=Cell(model=AGENT, agent=AGENT, mode=request.mode, domain=task.domain_name),
            task=task,
            trial=next(self._numbers),
            attempt=0,
            model=_OWN_MODEL,
            # The time of an episode is its TTL, which ends it without a verdict.
            agent=Agent(name=AGENT, max_steps=request.max_steps, time_limit="none"),
            mode=request.mode,
            limits=Limits(),
            access=request.access,
            gyms=self._gyms.urls,
            seeds=offered.seeds,
        )

    def _ended(self, episode: Episode, job: Job, running: asyncio.Task[AttemptRecord]) -> None:
        """Keeps the verdict of an episode and nothing else."""
        if not running.cancelled():
            keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
            if (content := self._store.get(keys.record)) is not None:
                episode.scored.append(TrialRecord.from_json(content))
        self._forget(job)

    def _forget(self, job: Job) -> None:
        """Drops what the runner wrote of an attempt: its objects, and the catalogue of its tools."""
        run = RunKeys(job.run)
        trial = run.trial(job.cell, job.task.task_id, job.trial)
        self._store.forget(trial.record, f"{trial.base}/", run.catalogue("").removesuffix(".json"))

    async def finish(self, episode: Episode, answer: str) -> dict[str, Any]:
        """Ends the agent's turn, or takes the answer that the agent gave.

        Returns:
            `next`, what the agent has to read and go on with; or the verdict.
        """
        bridge = episode.open.bridge
        if not bridge.over.done():
            answering = bridge.answer(answer)
            await asyncio.wait({answering})
            if not answering.cancelled() and answering.exception() is None and (message := answering.result()):
                return {**episode.facts(), "next": message}
        await asyncio.wait({episode.running})
        self.find(episode.id)  # it may have been deleted meanwhile
        return episode.facts()

    def find(self, name: str) -> Episode:
        """An episode by its id.

        Raises:
            RefusedError: There is none.
        """
        if name not in self._episodes:
            message = f"unknown episode {name!r}; episodes end with DELETE and after their ttlSeconds"
            raise RefusedError(404, "unknown_episode", message)
        return self._episodes[name]

    async def delete(self, name: str) -> None:
        """Ends an episode without a verdict, or forgets its verdict.

        Raises:
            RefusedError: There is no such episode.
        """
        episode = self.find(name)
        self._expire(name)
        await asyncio.wait({episode.running})

    def _expire(self, name: str) -> None:
        episode = self._episodes.pop(name)
        episode.timer.cancel()
        episode.running.cancel()
