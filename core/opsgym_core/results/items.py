"""Tasks and verifiers as items of a test: what they tell agents apart by, and how far their outcomes repeat. Pure.

Invariant: only scored trials count, and a number that the runs have too few agents or trials for is None.

Sources:
    Discrimination: correlation with the rest score, Henrysson 1963.
    Intraclass correlation of one-way random effects with unequal groups: Donner 1986.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.records.attempt import ScoredAttempt
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Ratio
from opsgym_core.results.statistics import mean

MIN_AGENTS = 3
"""Agents from which a discrimination is computed; with two it is 1, -1 or nothing."""

TaskKey = tuple[str, str, str]
"""Domain, id and digest of a task; the digest is empty if it is not known."""


@dataclass(frozen=True)
class AgentItems:
    """How far the outcomes of an agent repeat."""

    run: str
    model: str
    agent: str
    mode: str
    tasks: int
    rate: float
    """Mean over tasks."""
    repeated: int
    """Tasks with at least two scored trials."""
    flips: float | None
    """Chance that two trials of a task differ, as the mean over repeated tasks."""
    icc: float | None
    """Intraclass correlation: the share of the variance of a trial that is between tasks, over repeated tasks."""


@dataclass(frozen=True)
class TaskItem:
    """A task as an item."""

    domain: str
    task_id: str
    agents: int
    trials: Ratio
    rate: float
    """Mean over agents."""
    discrimination: float | None
    """Correlation over agents of the task's success with that of the agent's other tasks; below 0, better agents do
    worse."""
    unanimous: str
    """`passed` or `failed` if every trial of at least two agents did; else empty."""


@dataclass(frozen=True)
class VerifierItem:
    """A verifier as an item."""

    domain: str
    task_id: str
    index: int
    name: str
    agents: int
    """Agents with a trial that executed it."""
    trials: Ratio
    """Passed of executed."""
    alone: int
    """Trials that failed by this verifier alone: near-passes that it decided."""
    near_passes: int
    """Trials of the task that failed by one verifier alone."""

    @property
    def suspicious(self) -> str:
        """Why it deserves a look: `fails all` agents, of at least two, or `decides alone`; else empty."""
        if self.agents > 1 and not self.trials.passed:
            return "fails all"
        return "decides alone" if self.alone > 1 and self.alone == self.near_passes else ""


@dataclass(frozen=True)
class Items:
    """Items of several runs."""

    agents: Sequence[AgentItems]
    tasks: Sequence[TaskItem]
    """Lowest discrimination first."""
    verifiers: Sequence[VerifierItem]


@dataclass(frozen=True)
class _Agent:
    """The scored trials of an agent of a run, by task."""

    run: str
    name: tuple[str, str, str]
    trials: Mapping[TaskKey, Sequence[ScoredAttempt]]

    @property
    def rates(self) -> dict[TaskKey, float]:
        return {key: sum(trial.score for trial in of_task) / len(of_task) for key, of_task in self.trials.items()}


def items_of(runs: Sequence[tuple[RunRows, Mapping[str, str]]]) -> Items:
    """Items of the tasks of several runs.

    Args:
        runs: Rows of each run, and the digests of its tasks by id.
    """
    agents = [agent for rows, digests in runs for agent in _agents(rows, digests)]
    keys = list(dict.fromkeys(key for agent in agents for key in agent.trials))
    rates = [agent.rates for agent in agents]
    tasks = [_task(key, agents, rates) for key in keys]
    return Items(
        [_repeated(agent) for agent in agents],
        sorted(tasks, key=lambda task: (2.0 if task.discrimination is None else task.discrimination, task.task_id)),
        [item for key in keys for item in _verifiers(key, agents)],
    )


def _agents(rows: RunRows, digests: Mapping[str, str]) -> list[_Agent]:
    agents: dict[tuple[str, str, str], dict[TaskKey, list[ScoredAttempt]]] = {}
    for cell in rows.cells:
        own = agents.setdefault((cell.cell.model, cell.cell.agent, cell.cell.mode), {})
        for trial in cell.trials:
            key = cell.cell.domain, trial.task_id, digests.get(trial.task_id, "")
            own.setdefault(key, []).append(trial)
    return [_Agent(rows.run.run, name, trials) for name, trials in agents.items() if trials]


def _repeated(agent: _Agent) -> AgentItems:
    counts = [
        Ratio(sum(trial.score for trial in trials), len(trials)) for trials in agent.trials.values() if len(trials) > 1
    ]
    flips = mean(2 * one.passed * (one.total - one.passed) / (one.total * (one.total - 1)) for one in counts)
    rate = mean(agent.rates.values()) or 0.0
    return AgentItems(agent.run, *agent.name, len(agent.trials), rate, len(counts), flips, intraclass(counts))


def intraclass(counts: Sequence[Ratio]) -> float | None:
    """Intraclass correlation of trials within tasks; None for fewer than two tasks or without variance.

    Args:
        counts: Passed trials of each task, of at least two.
    """
    groups, trials = len(counts), sum(one.total for one in counts)
    if groups < 2:
        return None
    middle = sum(one.passed for one in counts) / trials
    between = math.fsum(one.total * (one.passed / one.total - middle) ** 2 for one in counts) / (groups - 1)
    within = math.fsum(one.passed * (one.total - one.passed) / one.total for one in counts) / (trials - groups)
    size = (trials - sum(one.total**2 for one in counts) / trials) / (groups - 1)
    variance = between + (size - 1) * within
    return (between - within) / variance if variance > 0 else None


def _task(key: TaskKey, agents: Sequence[_Agent], rates: Sequence[Mapping[TaskKey, float]]) -> TaskItem:
    pairs = [
        (own[key], (sum(own.values()) - own[key]) / (len(own) - 1)) for own in rates if key in own and len(own) > 1
    ]
    trials = [trial for agent in agents for trial in agent.trials.get(key, ())]
    count = Ratio(sum(trial.score for trial in trials), len(trials))
    who = sum(key in own for own in rates)
    agreed = "passed" if count.passed == count.total else "" if count.passed else "failed"
    return TaskItem(
        domain=key[0],
        task_id=key[1],
        agents=who,
        trials=count,
        rate=mean(own[key] for own in rates if key in own) or 0.0,
        discrimination=correlation(pairs) if len(pairs) >= MIN_AGENTS else None,
        unanimous=agreed if who > 1 else "",
    )


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation; None if either side does not vary."""
    left, right = (mean(pair[side] for pair in pairs) or 0.0 for side in (0, 1))
    squares = [math.fsum((pair[side] - middle) ** 2 for pair in pairs) for side, middle in ((0, left), (1, right))]
    if min(squares) < 1e-12:
        return None
    return math.fsum((x - left) * (y - right) for x, y in pairs) / math.sqrt(squares[0] * squares[1])


def _verifiers(key: TaskKey, agents: Sequence[_Agent]) -> list[VerifierItem]:
    passed, executed, alone = Counter[int](), Counter[int](), Counter[int]()
    names: dict[int, str] = {}
    seen: dict[int, set[int]] = {}
    for number, agent in enumerate(agents):
        for trial in agent.trials.get(key, ()):
            done = [one for one in trial.verifiers if one.executed]
            for one in done:
                names[one.index] = one.name
                seen.setdefault(one.index, set()).add(number)
                executed[one.index] += 1
                passed[one.index] += one.passed
            failed = [one.index for one in done if not one.passed]
            if not trial.score and len(failed) == 1 and len(done) > 1:
                alone[failed[0]] += 1
    return [
        VerifierItem(
            key[0],
            key[1],
            index,
            name,
            len(seen[index]),
            Ratio(passed[index], executed[index]),
            alone[index],
            alone.total(),
        )
        for index, name in sorted(names.items())
    ]
