"""Scores of a run. Pure: records in, a summary out. docs/scores.md defines each number.

Invariant: a rate is over scored trials only, and its `Coverage` says which planned trials it leaves out. A sum with
an unknown cost is unknown, and every attempt that was paid for is included, scored or not. The order of the records
does not matter.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from opsgym_api.records.attempt import (
    FINISH_FIELDS,
    NO_FINISHES,
    NO_USAGE,
    USAGE_FIELDS,
    Attempt,
    AttemptRecord,
    Cell,
    FinishCounts,
    ScoredAttempt,
    TrialRecord,
    Usage,
)
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import RunRecord, profile_of
from opsgym_core.results.coverage import Coverage, count_lost
from opsgym_core.results.rows import CellRows, RunRows, rows_of_records
from opsgym_core.results.statistics import (
    Interval,
    mean,
    mean_interval,
    pass_all,
    pass_at,
    quantile,
    stratified_interval,
)

A = TypeVar("A", bound=Attempt)
K = TypeVar("K")

PENDING = "pending"
"""Planned trials without an attempt, or whose latest attempt has not ended."""

FEASIBLE, INFEASIBLE = "feasible", "infeasible"
"""Tasks that can be done, and those that must be declined."""

_ERRORS = (Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR)
"""Outcomes that are an error in the published harness, which averages it as 0."""

HORIZONS = ("<=4", "5-8", "9-12", "13-16", ">=17")
"""Bins of horizons, in gold actions."""
_LAST_STEPS = (4, 8, 12, 16)
"""Largest horizon of each bin but the last."""
NO_HORIZON = "unknown"
"""Bin of tasks without a horizon."""


@dataclass(frozen=True)
class Ratio:
    """A number of passed items out of a total."""

    passed: int
    total: int

    @property
    def rate(self) -> float | None:
        """Share of passed items; None if the total is 0."""
        return self.passed / self.total if self.total else None


@dataclass(frozen=True)
class Success:
    """Success over tasks."""

    tasks: int
    """Number of tasks with a scored trial."""
    trials: Ratio
    """Passed of scored trials."""
    rate: float | None
    """Mean over tasks of each task's share of passed trials; None without a scored trial."""
    interval: Interval | None
    """Interval of the rate; tasks are the unit."""
    coverage: Coverage
    """Of which planned trials the rate says something."""
    attempts: int = 0
    """Attempts at these tasks, scored or not."""

    @property
    def attempts_per_scored(self) -> float | None:
        """Attempts per scored trial; above 1, scores are of trials that were tried again. None without a score."""
        return self.attempts / self.trials.total if self.trials.total else None


@dataclass(frozen=True)
class Repeat:
    """pass@k and pass^k, as means over the tasks that have at least k scored trials."""

    k: int
    tasks: int
    any_passes: float
    """pass@k: the chance that at least one of k trials passes."""
    any_interval: Interval
    """Interval of pass@k; tasks are the unit."""
    all_pass: float
    """pass^k: the chance that all of k trials pass."""
    all_interval: Interval


@dataclass(frozen=True)
class Published:
    """Success by the rules of the published harness, whose averages count an error as 0."""

    tasks: int
    """Number of tasks with an ended trial."""
    trials: Ratio
    """Passed of ended trials: those that were attempted and not cancelled. One without a published score is 0."""
    rate: float | None
    """Mean over tasks; None without an ended trial."""


@dataclass(frozen=True)
class Score:
    """One row of a score table: a cell, or several cells together."""

    passed: int
    failed: int
    fail_reasons: Mapping[str, int]
    """Failed trials by reason."""
    success: Success
    feasible: Mapping[str, Success]
    """Success of the tasks that can be done (`FEASIBLE`) and of those that must be declined (`INFEASIBLE`); empty
    without a scored trial of the latter. A task that no cell scored is in neither."""
    published: Published
    repeats: Sequence[Repeat]
    """For k = 2, 4, 8 … and the largest number of scored trials of a task; empty if no task has two."""
    horizons: Mapping[str, Success]
    """Success by bin of the task's horizon; only bins with a task, or none if no trial is scored. The horizon of a task
    that no cell scored is unknown."""
    tags: Mapping[str, Success]
    """Success of the tasks with each tag and of those without it, as `hostile` and `not hostile`. The tags of a task
    that no cell scored are unknown: it is in neither."""
    verifiers: Ratio
    """Passed of executed verifiers in scored trials."""
    categories: Mapping[str, Ratio]
    """`verifiers` by category."""
    usage: Usage
    """Tokens of the agent and its planner in every attempt."""
    planner_usage: Usage
    """The planner's part of `usage`."""
    judge_usage: Usage
    """Tokens of the judge."""
    finish_reasons: FinishCounts
    """Replies in every attempt that did not end ordinarily."""
    attempts: int
    """Number of attempts of all trials, scored or not."""
    cost_usd: float | None
    """Spend of every attempt, including the judge; None if the cost of any is unknown."""
    judge_cost_usd: float | None
    """The judge's part of `cost_usd`."""
    mean_steps: float | None
    """Model calls per scored trial."""
    mean_tool_calls: float | None
    """Tool calls per scored trial."""
    mean_seconds: float | None
    """Wall-clock seconds per scored trial."""
    p50_seconds: float | None
    p95_seconds: float | None

    @property
    def coverage(self) -> Coverage:
        """Of which planned trials the rates say something."""
        return self.success.coverage

    @property
    def total(self) -> int:
        """Number of planned trials."""
        return self.coverage.planned

    @property
    def not_scored(self) -> Mapping[str, int]:
        """Trials without a score by reason, see `Coverage.lost`."""
        return self.coverage.lost

    @property
    def scored(self) -> int:
        """Number of scored trials."""
        return self.passed + self.failed

    @property
    def success_rate(self) -> float | None:
        """Success rate as the mean over tasks; None without a scored trial."""
        return self.success.rate

    @property
    def worst_rate(self) -> float | None:
        """Success rate if every trial without a score failed; None without a planned trial."""
        return self.coverage.worst

    @property
    def best_rate(self) -> float | None:
        """Success rate if every trial without a score passed."""
        return self.coverage.best

    @property
    def attempts_per_scored(self) -> float | None:
        """See `Success.attempts_per_scored`."""
        return self.success.attempts_per_scored

    @property
    def agent_cost_usd(self) -> float | None:
        """Spend of every attempt without the judge's; None if either is unknown."""
        if self.cost_usd is None or self.judge_cost_usd is None:
            return None
        return max(0.0, self.cost_usd - self.judge_cost_usd)

    @property
    def cost_per_task(self) -> float | None:
        """The agent's spend on all attempts per scored trial, in dollars; None if unknown or without a scored trial."""
        return self._agent_cost_by(self.scored)

    @property
    def cost_per_success(self) -> float | None:
        """The agent's spend on all attempts per passed trial, in dollars; None if unknown or without a passed trial."""
        return self._agent_cost_by(self.passed)

    def _agent_cost_by(self, trials: int) -> float | None:
        return self.agent_cost_usd / trials if self.agent_cost_usd is not None and trials else None

    def count_not_scored(self, outcome: Outcome) -> int:
        """Number of trials without a score that have an outcome, for any reason."""
        return count_lost(self.not_scored, outcome)


@dataclass(frozen=True)
class CellScore:
    """A cell and its score."""

    cell: Cell
    score: Score


@dataclass(frozen=True)
class TaskScore:
    """Score of a task in a cell."""

    cell: Cell
    task_id: str
    horizon: int | None
    """Gold steps; None if unknown, as for a task that no cell scored."""
    score: Score


@dataclass(frozen=True)
class AgentScore:
    """A model and agent in one mode, over all domains."""

    model: str
    agent: str
    mode: str
    score: Score
    """Score over all domains; its success rate is the mean over tasks."""
    success_over_domains: float | None
    """Mean of the domains' success rates; None without a scored trial."""
    worst_over_domains: float | None
    """Mean of the domains' worst cases, see `Score.worst_rate`."""
    best_over_domains: float | None
    domains_interval: Interval | None
    """Interval of the mean over domains; tasks are the unit."""
    profile: str
    """The agent's profile, see `Agent.profile_label`; empty if the run's spec does not have the agent."""


@dataclass(frozen=True)
class Summary:
    """Scores of a run: of each cell, of each model and agent in a mode, and of the whole run."""

    run: str
    cells: Sequence[CellScore]
    agents: Sequence[AgentScore]
    total: Score


@dataclass(frozen=True)
class RunResults:
    """Complete records of a run."""

    run: RunRecord
    trials: Sequence[TrialRecord]
    """Scored trials."""
    attempts: Sequence[AttemptRecord] = field(default_factory=tuple)
    """Every attempt, including those of scored trials, in any order."""
    unreadable: Sequence[str] = ()
    """Which records cannot be read, and why; they are left out."""


@dataclass(frozen=True)
class _TaskFacts:
    """What the scored trials of a task, in any cell, say about it."""

    horizon: int | None = None
    """Gold steps; None if unknown."""
    tags: frozenset[str] | None = None
    """None if unknown."""
    feasible: bool | None = None
    """None if unknown."""


_UNKNOWN = _TaskFacts()
"""Of a task that no cell scored."""
_TaskFactsByKey = Mapping[tuple[str, str], _TaskFacts]
"""By domain and task id."""


@dataclass(frozen=True)
class _TaskTally:
    """Success of a task in a cell, or in several cells together."""

    key: tuple[str, str]
    """Domain and id: the same in every cell that has the task."""
    trials: Ratio
    """Passed of scored trials."""
    rate: float | None
    """Share of passed trials, as the mean over cells; None without a scored trial."""
    published: Ratio
    """Passed by the published rules, of ended trials; see `Published`."""
    published_rate: float | None
    """Share of them, as the mean over cells; None without an ended trial."""
    worst: float
    """Share if every trial without a score failed."""
    best: float
    """Share if every trial without a score passed."""
    planned: int
    """Planned trials."""
    lost: Counter[str]
    """Planned trials without a score by reason."""
    attempts: int
    facts: _TaskFacts


@dataclass(frozen=True)
class _Tally:
    """Sums over the rows of a cell, from which the score of any set of cells is computed."""

    tasks: Sequence[_TaskTally]
    fail_reasons: Counter[str]
    verifiers: Counter[tuple[str, bool]]
    """Number of executed verifiers by category and whether they passed."""
    usage: Usage
    planner_usage: Usage
    judge_usage: Usage
    finish_reasons: FinishCounts
    cost_usd: float | None
    judge_cost_usd: float | None
    steps: int
    tool_calls: int
    seconds: Sequence[float]
    """Duration of each scored trial."""
    attempts: int


def rows_of(results: RunResults) -> RunRows:
    """Rows of a run's records."""
    return RunRows(results.run, rows_of_records(results.trials, results.attempts))


def summarise(results: RunResults | RunRows) -> Summary:
    """Scores of a run, with cells in the order of the plan."""
    rows = results if isinstance(results, RunRows) else rows_of(results)
    tallies = _tallies(rows)
    cells = [CellScore(cell, _score([tally])) for cell, tally in tallies]
    agents = _agents(tallies, rows.run.spec)
    return Summary(run=rows.run.run, cells=cells, agents=agents, total=_score([tally for _, tally in tallies]))


def task_scores(rows: RunRows) -> Iterator[TaskScore]:
    """Score of every task of each cell, planned ones in the order of the plan."""
    facts = _facts(rows)
    planned = {plan.cell.key: plan for plan in rows.run.cells}
    with_rows = {cell.cell.key: cell for cell in rows.cells}
    for key in planned | with_rows:
        cell = with_rows[key].cell if key in with_rows else planned[key].cell
        own = with_rows.get(key, CellRows(cell, (), ()))
        task_ids = planned[key].task_ids if key in planned else []
        trials, attempts = _grouped(own.trials), _grouped(own.attempts)
        known = set(task_ids)
        for task_id in dict.fromkeys([*task_ids, *trials, *attempts]):
            of_task = CellRows(cell, tuple(trials.get(task_id, ())), tuple(attempts.get(task_id, ())))
            tally = _tally(of_task, [task_id] if task_id in known else (), rows.run.trials, facts)
            yield TaskScore(cell, task_id, facts.get((cell.domain, task_id), _UNKNOWN).horizon, _score([tally]))


def _facts(rows: RunRows) -> dict[tuple[str, str], _TaskFacts]:
    """Facts about each task with a scored trial."""
    return {
        (cell.cell.domain, trial.task_id): _TaskFacts(trial.horizon, frozenset(trial.tags), trial.feasible)
        for cell in rows.cells
        for trial in cell.trials
    }


def _grouped(attempts: Iterable[A]) -> dict[str, list[A]]:
    """Attempts by task id."""
    grouped: dict[str, list[A]] = {}
    for attempt in attempts:
        grouped.setdefault(attempt.task_id, []).append(attempt)
    return grouped


def horizon_bin(horizon: int | None) -> str:
    """The bin of a horizon, one of `HORIZONS`; `NO_HORIZON` for None."""
    if horizon is None:
        return NO_HORIZON
    return HORIZONS[bisect_left(_LAST_STEPS, horizon)]


def ending_of(attempt: Attempt) -> str:
    """Why a trial has no score after its last attempt: `outcome`, `outcome/reason` or `PENDING`."""
    if attempt.outcome is None or attempt.outcome.scored:
        # The attempt runs or was killed, or its trial record was not written: the trial will be tried again.
        return PENDING
    return f"{attempt.outcome}/{attempt.reason}" if attempt.reason else str(attempt.outcome)


def last_attempts(rows: CellRows) -> Mapping[tuple[str, int], Attempt]:
    """The last attempt of every trial of a cell that has no score, by task id and trial number."""
    scored = {(trial.task_id, trial.trial) for trial in rows.trials}
    by_number = sorted(rows.attempts, key=lambda attempt: attempt.attempt)
    return {key: attempt for attempt in by_number if (key := (attempt.task_id, attempt.trial)) not in scored}


def _tallies(rows: RunRows) -> list[tuple[Cell, _Tally]]:
    """Tallies of the planned cells in the order of the plan, then of other cells."""
    with_rows = {cell.cell.key: cell for cell in rows.cells}
    planned = {plan.cell.key: plan for plan in rows.run.cells}
    facts = _facts(rows)
    empty = {key: CellRows(plan.cell, (), ()) for key, plan in planned.items()}
    return [
        (cell.cell, _tally(cell, planned[key].task_ids if key in planned else (), rows.run.trials, facts))
        for key, cell in (empty | with_rows).items()
    ]


def _agents(tallies: Sequence[tuple[Cell, _Tally]], spec: Mapping[str, Any]) -> list[AgentScore]:
    groups: dict[tuple[str, str, str], list[_Tally]] = {}
    for cell, tally in tallies:
        groups.setdefault((cell.model, cell.agent, cell.mode), []).append(tally)
    return [_agent(*names, profile_of(spec, names[1]), domains) for names, domains in groups.items()]


def _agent(model: str, agent: str, mode: str, profile: str, domains: Sequence[_Tally]) -> AgentScore:
    score = _score(domains)
    rates = [[task.rate for task in domain.tasks if task.rate is not None] for domain in domains]
    tasks = [domain.tasks for domain in domains if domain.tasks]
    return AgentScore(
        model=model,
        agent=agent,
        mode=mode,
        score=score,
        success_over_domains=mean(rate for domain in rates if (rate := mean(domain)) is not None),
        worst_over_domains=mean(mean(task.worst for task in domain) or 0.0 for domain in tasks),
        best_over_domains=mean(mean(task.best for task in domain) or 0.0 for domain in tasks),
        domains_interval=stratified_interval(rates, score.scored),
        profile=profile,
    )


def _tally(rows: CellRows, task_ids: Sequence[str], planned: int, facts: _TaskFactsByKey) -> _Tally:
    """Tally of a cell.

    Args:
        rows: Rows of the cell.
        task_ids: Planned tasks.
        planned: Planned trials of each of them.
        facts: Facts about the tasks with a scored trial.
    """
    trials = rows.trials
    spend = rows.all
    return _Tally(
        tasks=_by_task(rows, task_ids, planned, facts),
        fail_reasons=Counter(trial.reason for trial in trials if trial.outcome is Outcome.FAILED),
        verifiers=Counter(
            (result.category, result.passed) for trial in trials for result in trial.verifiers if result.executed
        ),
        usage=_sum_usage(row.usage for row in spend),
        planner_usage=_sum_usage(row.planner_usage for row in spend),
        judge_usage=_sum_usage(row.judge_usage for row in spend),
        finish_reasons=_sum_finishes(row.finish_reasons for row in spend),
        cost_usd=_sum_known(row.cost_usd for row in spend),
        judge_cost_usd=_sum_known(row.judge_cost_usd for row in spend),
        steps=sum(trial.steps for trial in trials),
        tool_calls=sum(trial.tool_calls for trial in trials),
        seconds=[trial.timings.total_s for trial in trials],
        attempts=len(spend),
    )


def _by_task(rows: CellRows, task_ids: Sequence[str], planned: int, facts: _TaskFactsByKey) -> list[_TaskTally]:
    grouped: dict[str, list[ScoredAttempt]] = {task_id: [] for task_id in task_ids}
    known, attempts = set(task_ids), Counter(row.task_id for row in rows.all)
    for trial in rows.trials:
        grouped.setdefault(trial.task_id, []).append(trial)
    lost: dict[str, Counter[str]] = {}
    for (task_id, _), attempt in last_attempts(rows).items():
        grouped.setdefault(task_id, [])
        lost.setdefault(task_id, Counter())[ending_of(attempt)] += 1
    return [
        _task(
            (rows.cell.domain, task_id),
            trials,
            lost.get(task_id, Counter()),
            planned if task_id in known else 0,
            attempts[task_id],
            facts.get((rows.cell.domain, task_id), _UNKNOWN),
        )
        for task_id, trials in grouped.items()
    ]


def _task(
    key: tuple[str, str],
    trials: Sequence[ScoredAttempt],
    lost: Counter[str],
    planned: int,
    attempts: int,
    facts: _TaskFacts,
) -> _TaskTally:
    passed, scored, attempted = sum(trial.score for trial in trials), len(trials), lost.total()
    errors = sum(count for ending, count in lost.items() if ending.partition("/")[0] in _ERRORS)
    published = Ratio(sum(trial.published_score or 0 for trial in trials), scored + errors)
    planned = max(planned, scored + attempted)
    return _TaskTally(
        key=key,
        trials=Ratio(passed, scored),
        rate=passed / scored if scored else None,
        published=published,
        published_rate=published.rate,
        worst=passed / planned,
        best=(passed + planned - scored) / planned,
        planned=planned,
        lost=lost + Counter({PENDING: planned - scored - attempted}),
        attempts=attempts,
        facts=facts,
    )


def _over_cells(tallies: Sequence[_Tally]) -> list[_TaskTally]:
    """Every task once: with the mean of its shares over the cells that have it."""
    grouped: dict[tuple[str, str], list[_TaskTally]] = {}
    for tally in tallies:
        for task in tally.tasks:
            grouped.setdefault(task.key, []).append(task)
    return [_merged(parts) if len(parts) > 1 else parts[0] for parts in grouped.values()]


def _merged(parts: Sequence[_TaskTally]) -> _TaskTally:
    scored = [part for part in parts if part.trials.total]
    return _TaskTally(
        key=parts[0].key,
        trials=_sum_ratios(part.trials for part in parts),
        rate=mean(part.rate for part in scored if part.rate is not None),
        published=_sum_ratios(part.published for part in parts),
        published_rate=mean(part.published_rate for part in parts if part.published_rate is not None),
        worst=math.fsum(part.worst for part in parts) / len(parts),
        best=math.fsum(part.best for part in parts) / len(parts),
        planned=sum(part.planned for part in parts),
        lost=_sum_counters(part.lost for part in parts),
        attempts=sum(part.attempts for part in parts),
        facts=parts[0].facts,
    )


def _score(tallies: Sequence[_Tally]) -> Score:
    planned = _over_cells(tallies)
    tasks = [task for task in planned if task.trials.total]
    success = _success(planned)
    verifiers = _sum_counters(tally.verifiers for tally in tallies)
    seconds = [duration for tally in tallies for duration in tally.seconds]
    scored = success.trials.total
    return Score(
        passed=success.trials.passed,
        failed=scored - success.trials.passed,
        fail_reasons=_sum_counters(tally.fail_reasons for tally in tallies),
        success=success,
        feasible=_by_feasibility(planned),
        published=_published(planned),
        repeats=list(_repeats([task for tally in tallies for task in tally.tasks])),
        horizons={
            name: _success(in_bin)
            for name in (*HORIZONS, NO_HORIZON)
            if tasks and (in_bin := [task for task in planned if horizon_bin(task.facts.horizon) == name])
        },
        tags=_by_tag(planned),
        verifiers=Ratio(sum(count for (_, passed), count in verifiers.items() if passed), verifiers.total()),
        categories={
            category: Ratio(verifiers[category, True], verifiers[category, True] + verifiers[category, False])
            for category in dict.fromkeys(category for category, _ in verifiers)
        },
        usage=_sum_usage(tally.usage for tally in tallies),
        planner_usage=_sum_usage(tally.planner_usage for tally in tallies),
        judge_usage=_sum_usage(tally.judge_usage for tally in tallies),
        finish_reasons=_sum_finishes(tally.finish_reasons for tally in tallies),
        attempts=sum(tally.attempts for tally in tallies),
        cost_usd=_sum_known(tally.cost_usd for tally in tallies),
        judge_cost_usd=_sum_known(tally.judge_cost_usd for tally in tallies),
        mean_steps=sum(tally.steps for tally in tallies) / scored if scored else None,
        mean_tool_calls=sum(tally.tool_calls for tally in tallies) / scored if scored else None,
        mean_seconds=mean(seconds),
        p50_seconds=quantile(seconds, 0.5),
        p95_seconds=quantile(seconds, 0.95),
    )


def _by_tag(tasks: Sequence[_TaskTally]) -> dict[str, Success]:
    known = [(task, task.facts.tags) for task in tasks if task.facts.tags is not None]
    every = sorted({tag for _, tags in known for tag in tags})
    groups = {
        f"{'' if tagged else 'not '}{tag}": [task for task, tags in known if (tag in tags) is tagged]
        for tag in every
        for tagged in (True, False)
    }
    return {name: _success(group) for name, group in groups.items() if group}


def _by_feasibility(tasks: Sequence[_TaskTally]) -> dict[str, Success]:
    groups = {
        name: [task for task in tasks if task.facts.feasible is feasible]
        for name, feasible in ((FEASIBLE, True), (INFEASIBLE, False))
    }
    return {name: _success(group) for name, group in groups.items() if group} if groups[INFEASIBLE] else {}


def _published(tasks: Sequence[_TaskTally]) -> Published:
    rates = [task.published_rate for task in tasks if task.published_rate is not None]
    return Published(len(rates), _sum_ratios(task.published for task in tasks), mean(rates))


def _success(tasks: Sequence[_TaskTally]) -> Success:
    rates = [task.rate for task in tasks if task.rate is not None]
    trials = _sum_ratios(task.trials for task in tasks)
    lost = _sum_counters(task.lost for task in tasks)
    return Success(
        tasks=len(rates),
        trials=trials,
        rate=mean(rates),
        interval=mean_interval(rates, trials.total),
        coverage=Coverage(
            planned=sum(task.planned for task in tasks),
            scored=trials.total,
            lost={ending: lost[ending] for ending in sorted(lost, key=lambda ending: ending == PENDING)},
            worst=mean(task.worst for task in tasks),
            best=mean(task.best for task in tasks),
        ),
        attempts=sum(task.attempts for task in tasks),
    )


def _repeats(tasks: Sequence[_TaskTally]) -> Iterator[Repeat]:
    """pass@k and pass^k over tasks; trials of different cells are not drawn together."""
    most = max((task.trials.total for task in tasks), default=0)
    for k in sorted({2**power for power in range(1, most.bit_length())} | {most} if most > 1 else ()):
        able = [task for task in tasks if task.trials.total >= k]
        any_passes, any_interval = _drawn(able, k, pass_at)
        all_pass, all_interval = _drawn(able, k, pass_all)
        yield Repeat(k, len({task.key for task in able}), any_passes, any_interval, all_pass, all_interval)


def _drawn(tasks: Sequence[_TaskTally], k: int, chance: Callable[[int, int, int], float]) -> tuple[float, Interval]:
    """Mean over tasks of a chance of k trials, each as the mean over the cells that have it, and its interval.

    Args:
        tasks: Tasks with at least k trials; not empty.
        k: Number of trials drawn.
        chance: The chance from k, passed and all trials.
    """
    by_task: dict[tuple[str, str], list[float]] = {}
    for task in tasks:
        by_task.setdefault(task.key, []).append(chance(k, task.trials.passed, task.trials.total))
    chances = [math.fsum(of_cells) / len(of_cells) for of_cells in by_task.values()]
    middle, interval = mean(chances), mean_interval(chances, len(chances))
    assert middle is not None
    assert interval is not None
    return middle, interval


def _sum_ratios(ratios: Iterable[Ratio]) -> Ratio:
    parts = list(ratios)
    return Ratio(sum(part.passed for part in parts), sum(part.total for part in parts))


def _sum_counters(counters: Iterable[Counter[K]]) -> Counter[K]:
    total: Counter[K] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _sum_usage(usages: Iterable[Usage]) -> Usage:
    # Most rows share the same empty usage of planner and judge.
    used = [usage for usage in usages if usage is not NO_USAGE]
    return Usage(**{name: sum(getattr(usage, name) for usage in used) for name in USAGE_FIELDS})


def _sum_finishes(counts: Iterable[FinishCounts]) -> FinishCounts:
    counted = [each for each in counts if each is not NO_FINISHES]
    return FinishCounts(**{name: sum(getattr(each, name) for each in counted) for name in FINISH_FIELDS})


def _sum_known(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else math.fsum(cost for cost in known if cost is not None)
