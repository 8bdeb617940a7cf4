"""`opsgym failures --judge`: a model labels the failed trials of a run.

Invariant: a judged trial is in the store, with its cost, before its cost admits another one, and is never judged twice
by the same judge. The cost of a judge over all commands stays below the limit plus one trial for each request in
flight.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from opsgym.local.models import ModelResolver
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.records.failure_labels import JudgedTrial
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.analysis.failures.findings import Finding
from opsgym_console.analysis.failures.judging import AGAIN, Verdict, instructions, judge_id, material, verdict_of
from opsgym_console.analysis.failures.labels import read_judged
from opsgym_console.analysis.failures.stored import failed_trials
from opsgym_console.analysis.failures.trial import FailedTrial
from opsgym_core.common.clock import now_text
from opsgym_core.planning.documents import load_models
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import JUDGE, ResolvedModel
from opsgym_runner.json_text import values_in
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.client import LostReplies, Message, ModelClient, Reply, Target
from opsgym_runner.models.endpoints import EndpointPool
from opsgym_runner.models.limiter import ConcurrencyLimiter
from opsgym_runner.models.prices import REPLAY, known_prices
from opsgym_runner.models.retry import ModelFailure, Retrier, RetryPolicy
from opsgym_runner.models.sending import Connections
from opsgym_runner.models.streaming import is_streamed

MAX_REPLIES = 2
"""Replies that are requested of a trial until one is valid."""
MOST_AT_ONCE = 8
"""Trials judged at the same time at most, whatever the model's maxConcurrency."""


@dataclass(frozen=True)
class JudgeRequest:
    """Options of `opsgym failures --judge`."""

    judge: str
    """A file with one model, the name of a model in `models`, or a litellm id."""
    models: Path | None
    max_usd: float


@dataclass
class JudgeResult:
    """What a command came to."""

    judged: list[JudgedTrial]
    """All judged trials of this judge, of earlier commands too."""
    left: int = 0
    """Failed trials with a transcript that are not judged."""
    without_transcript: int = 0
    stopped: str = ""
    """Why trials are left; empty if none is."""
    unjudged_usd: float = 0.0
    """Cost of replies about trials that this command began and could not judge."""

    @property
    def cost_usd(self) -> float:
        """Cost of all judged trials, and of those that could not be judged."""
        return sum(trial.cost_usd for trial in self.judged) + self.unjudged_usd

    @property
    def dropped(self) -> Counter[str]:
        """Labels that were dropped, by reason."""
        total: Counter[str] = Counter()
        for trial in self.judged:
            total.update(trial.dropped)
        return total


@dataclass
class _Budget:
    """Spend of a judge against its limit."""

    max_usd: float
    spent: float = 0.0
    largest: float = 0.0
    in_flight: int = 0

    def admits(self) -> bool:
        return self.spent + (self.in_flight + 1) * self.largest < self.max_usd

    def add(self, cost: float) -> None:
        self.spent += cost
        self.largest = max(self.largest, cost)


def judge_failures(store: Store, results: RunResults, request: JudgeRequest) -> JudgeResult:
    """Lets a model label the failed trials of a run that it has not labelled yet.

    Raises:
        InputError: The model is unknown, not valid, without a key, or without a known price.
        StoreError: The store cannot be read or written.
    """
    model = _resolve(request)
    judge = judge_id(model.name, model.model, model.parameters)
    before = read_judged(store, results.run.run, judge)
    known = {(one.cell.key, one.task_id, one.trial) for one in before}
    trials, without = failed_trials(store, results)
    due = [
        (trial, findings)
        for trial, findings in trials
        if (trial.record.cell.key, trial.record.task_id, trial.record.trial) not in known
    ]
    run = _JudgeRun(store, RunKeys(results.run.run), model, judge, _Budget(request.max_usd))
    for one in before:
        run.budget.add(one.cost_usd)
    asyncio.run(run.judge_all(due))
    judged = [*before, *run.judged]
    return JudgeResult(judged, len(trials) - len(judged), without, run.stopped, run.unjudged_usd)


def _resolve(request: JudgeRequest) -> ResolvedModel:
    source = request.models or Path(request.judge)
    name, folder = request.judge, Path()
    if request.models is not None or source.is_file():
        specs, folder = load_models(source), source.parent
        if request.models is None and len(specs) == 1:
            (name,) = specs
        if name not in specs:
            message = f"model {name!r} not found; the file declares {', '.join(sorted(specs))}: name one with --judge"
            raise InputError(str(source), [Problem("--judge", f"{message} and the file with --models")])
        spec = specs[name]
    else:
        spec, name = ModelSpec(model=request.judge), request.judge.rpartition("/")[2]
    if spec.model.startswith(REPLAY):
        raise InputError(str(source), [Problem("--judge", "a replay model cannot judge: it plays recorded calls")])
    return ModelResolver(folder, os.environ, known_prices, missing_key).resolve_one(str(source), name, spec)


@dataclass
class _JudgeRun:
    store: Store
    keys: RunKeys
    model: ResolvedModel
    judge: str
    budget: _Budget
    judged: list[JudgedTrial] = field(default_factory=list)
    stopped: str = ""
    unjudged_usd: float = 0.0

    def __post_init__(self) -> None:
        # Shared by all trials: a rate limit that one meets holds the others back, too.
        self._clock = Clock()
        self._pool = EndpointPool(self.model.endpoints, self._clock)
        self._limiter = ConcurrencyLimiter(self.model.max_concurrency, len(self.model.endpoints) or 1)
        self._connections = Connections()

    async def judge_all(self, due: Sequence[tuple[FailedTrial, Sequence[Finding]]]) -> None:
        trials = iter(due)
        async with self._connections:
            await self._work(trials, most=1)  # its cost says how many the budget admits at once
            width = min(MOST_AT_ONCE, self.model.max_concurrency or MOST_AT_ONCE)
            await asyncio.gather(*(self._work(trials) for _ in range(width)))

    async def _work(self, trials: Iterator[tuple[FailedTrial, Sequence[Finding]]], most: int | None = None) -> None:
        done = 0
        while not self.stopped and (most is None or done < most):
            if not self.budget.admits():
                if not self.budget.in_flight:
                    self.stopped = f"the next trial could exceed --max-usd {self.budget.max_usd:g}"
                return
            following = next(trials, None)
            if following is None:
                return
            await self._judge(*following)
            done += 1

    async def _judge(self, trial: FailedTrial, findings: Sequence[Finding]) -> None:
        self.budget.in_flight += 1
        client, replies = self._client(), list[Reply]()
        try:
            judged = await self._ask(client, replies, trial, findings)
        except ModelFailure as failure:
            cost = self._cost(replies, client.take_lost())
            self.budget.add(cost)
            self.unjudged_usd += cost
            self.stopped = f"{failure.reason}: {failure}"
            return
        finally:
            self.budget.in_flight -= 1
        self.budget.add(judged.cost_usd)
        key = self.keys.judged_trial(self.judge, trial.record.cell, trial.record.task_id, trial.record.trial)
        await asyncio.to_thread(self.store.put_once, key, judged.model_dump_json().encode())
        self.judged.append(judged)

    async def _ask(
        self, client: ModelClient, replies: list[Reply], trial: FailedTrial, findings: Sequence[Finding]
    ) -> JudgedTrial:
        """Asks for labels of a trial; adds each reply to `replies`, also where a later request fails."""
        messages: list[Message] = [
            {"role": "system", "content": instructions()},
            {"role": "user", "content": material(trial, findings)},
        ]
        problem = f"no reply of {MAX_REPLIES} was of the schema"
        verdict: Verdict | None = None
        while verdict is None and len(replies) < MAX_REPLIES:
            try:
                reply = await client.complete(messages, ())
                replies.append(reply)
                reply.require_usable()
            except AgentFailed as failure:
                problem = str(failure)
                break
            verdict = _verdict(reply, trial)
            messages += [reply.message, {"role": "user", "content": AGAIN}]
        return self._record(trial, replies, client.take_lost(), verdict, "" if verdict else problem)

    def _client(self) -> ModelClient:
        retrier = Retrier(self._pool, self._limiter, RetryPolicy(), self._clock)
        streamed = is_streamed(self.model.model, self.model.endpoints, self.model.stream)
        target = Target(self.model, self.model.model, role=JUDGE, streamed=streamed)
        return ModelClient(target, retrier, self._clock, self._connections)

    def _cost(self, replies: Sequence[Reply], lost: LostReplies) -> float:
        """Known cost of replies in US dollars; an unknown one stops the judge."""
        costs = [*(reply.cost_usd for reply in replies), lost.cost_usd]
        if None in costs:
            self.stopped = "the cost of a reply is unknown, so --max-usd cannot be kept; give the model prices"
        return sum(cost or 0.0 for cost in costs)

    def _record(
        self, trial: FailedTrial, replies: Sequence[Reply], lost: LostReplies, verdict: Verdict | None, problem: str
    ) -> JudgedTrial:
        return JudgedTrial(
            judge=self.judge,
            model=self.model.model,
            cell=trial.record.cell,
            task_id=trial.record.task_id,
            trial=trial.record.trial,
            labels=verdict.labels if verdict else None,
            dropped=verdict.dropped if verdict else {},
            problem=problem,
            usage=sum((reply.usage for reply in replies), lost.usage),
            cost_usd=self._cost(replies, lost),
            judged_at=now_text(),
        )


def _verdict(reply: Reply, trial: FailedTrial) -> Verdict | None:
    """The verdict of the last JSON object in a reply; None if it is not of the schema."""
    values = [value for value in values_in(reply.text) if isinstance(value, dict)]
    return verdict_of(values[-1], trial) if values else None


def print_progress(result: JudgeResult) -> None:
    """Prints what a judge did, on stderr."""
    dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(result.dropped.items())) or "none"
    invalid = sum(trial.labels is None for trial in result.judged)
    click.echo(
        f"judge: {len(result.judged)} trials for ${result.cost_usd:.4f}; labels dropped: {dropped};"
        f" without a valid reply: {invalid}; without a transcript: {result.without_transcript}",
        err=True,
    )
    if result.left:
        click.echo(f"judge: {result.left} trials are left: {result.stopped}; the same command goes on", err=True)
