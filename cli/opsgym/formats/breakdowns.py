"""Results of a run as tables with one row for each cell, agent, verifier category, horizon, tag, task, trial, variant
or verifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from opsgym.formats.tabular import Column, Kind, Table
from opsgym_api.records.attempt import FINISH_FIELDS, USAGE_FIELDS, Attempt, Cell, ScoredAttempt
from opsgym_core.results.coverage import Coverage, lost_text
from opsgym_core.results.provenance import Provenance
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import (
    FEASIBLE,
    INFEASIBLE,
    AgentScore,
    Repeat,
    Score,
    Success,
    Summary,
    ending_of,
    last_attempts,
    task_scores,
)
from opsgym_core.results.statistics import Interval, mean
from opsgym_core.results.variants import spread_of

Row = Mapping[str, Any]

AGENT = tuple(Column(name, Kind.TEXT, name) for name in ("model", "agent", "profile", "mode"))
CELL = (*AGENT, Column("domain", Kind.TEXT, "domain"))
COUNTS = (
    Column("tasks", Kind.COUNT, "tasks"),
    Column("planned", Kind.COUNT),
    Column("scored", Kind.COUNT, "scored"),
    Column("passed", Kind.COUNT, "passed"),
)
SUCCESS = (
    Column("success_rate", Kind.SHARE, "success"),
    Column("success_low", Kind.SHARE, "95 % from"),
    Column("success_high", Kind.SHARE, "to"),
)
UNSCORED = (
    Column("not_scored", Kind.COUNT, "not scored"),
    Column("lost", Kind.TEXT, "because of"),
    Column("success_worst", Kind.SHARE, "worst"),
    Column("success_best", Kind.SHARE, "best"),
    Column("attempts", Kind.COUNT),
    Column("attempts_per_scored", Kind.NUMBER, "attempts"),
)
"""What goes with a rate if not every trial has a score."""
TOKENS = USAGE_FIELDS
_REPEAT = (
    *("k", "k_tasks"),
    *(f"{name}_k{end}" for name in ("pass_at", "pass_all") for end in ("", "_low", "_high")),
)
"""pass@k and pass^k for the largest k."""
FIGURES = (
    Column("total", Kind.COUNT, "trials"),
    Column("scored", Kind.COUNT, "scored"),
    Column("passed", Kind.COUNT, "passed"),
    Column("failed", Kind.COUNT),
    Column("not_scored_rate", Kind.SHARE),
    Column("tasks", Kind.COUNT),
    *SUCCESS,
    *UNSCORED,
    Column("published_success_rate", Kind.SHARE),
    Column("published_trials", Kind.COUNT),
    *(
        Column(f"{part}_{name}", kind)
        for part in (FEASIBLE, INFEASIBLE)
        for name, kind in (("tasks", Kind.COUNT), ("success_rate", Kind.SHARE))
    ),
    *(Column(name, Kind.COUNT) for name in _REPEAT[:2]),
    *(Column(name, Kind.SHARE) for name in _REPEAT[2:]),
    Column("verifiers_passed", Kind.COUNT),
    Column("verifiers_executed", Kind.COUNT),
    Column("verifier_pass_rate", Kind.SHARE, "verifiers"),
    Column("mean_steps", Kind.NUMBER, "steps"),
    Column("mean_tool_calls", Kind.NUMBER),
    Column("mean_seconds", Kind.SECONDS),
    Column("p50_seconds", Kind.SECONDS, "time p50"),
    Column("p95_seconds", Kind.SECONDS, "p95"),
    *(Column(name, Kind.COUNT) for name in TOKENS),
    *(Column(f"planner_{name}", Kind.COUNT) for name in TOKENS),
    *(Column(f"judge_{name}", Kind.COUNT) for name in TOKENS),
    Column("cost_usd", Kind.DOLLARS, "cost"),
    Column("agent_cost_usd", Kind.DOLLARS),
    Column("judge_cost_usd", Kind.DOLLARS, "of it judge"),
    Column("cost_per_task", Kind.DOLLARS, "per task"),
    Column("cost_per_success", Kind.DOLLARS, "per success"),
)
DOMAINS = (
    Column("success_over_domains", Kind.SHARE, "over domains"),
    Column("domains_low", Kind.SHARE, "95 % from"),
    Column("domains_high", Kind.SHARE, "to"),
    Column("domains_worst", Kind.SHARE, "worst"),
    Column("domains_best", Kind.SHARE, "best"),
)
PHASES = ("seed_s", "connect_s", "model_s", "tools_s", "verify_s", "total_s")


@dataclass(frozen=True)
class Results:
    """Rows of a run and the scores that they add up to."""

    rows: RunRows
    summary: Summary
    variants: Mapping[str, Summary] = field(default_factory=dict)
    """Scores of the runs that differ from this one in the suite's variant only, its own included, by the variant's
    label; for `by_variant`."""

    @cached_property
    def _profiles(self) -> Mapping[str, str]:
        return {agent.agent: agent.profile for agent in self.summary.agents}

    def names(self, cell: Cell) -> dict[str, str]:
        """Values of the columns `CELL`."""
        return {**cell.model_dump(), "profile": self._profiles.get(cell.agent, "")}


def by_cell(results: Results) -> Table:
    """One row for each cell, in the order of the spec."""
    return with_unscored(
        (*CELL, *FIGURES), [{**results.names(cell.cell), **figures(cell.score)} for cell in results.summary.cells]
    )


def by_agent(results: Results) -> Table:
    """One row for each model, agent and mode, over all domains, with both means."""
    return with_unscored(
        (*AGENT, *DOMAINS, *FIGURES),
        [_agent_row(agent) for agent in results.summary.agents],
    )


def by_category(results: Results) -> Table:
    """One row for each verifier category of a cell."""
    columns = (
        *CELL,
        Column("category", Kind.TEXT, "category"),
        Column("passed", Kind.COUNT, "passed"),
        Column("executed", Kind.COUNT, "executed"),
        Column("pass_rate", Kind.SHARE, "rate"),
    )
    return Table(
        columns,
        [
            {
                **results.names(cell.cell),
                "category": category,
                "passed": share.passed,
                "executed": share.total,
                "pass_rate": share.rate,
            }
            for cell in results.summary.cells
            for category, share in cell.score.categories.items()
        ],
    )


def by_horizon(results: Results) -> Table:
    """One row for each horizon of a cell: success by the number of gold steps of the task."""
    return _by_part(results, Column("horizon", Kind.TEXT, "gold steps"), lambda score: score.horizons)


def by_tag(results: Results) -> Table:
    """Two rows for each tag of a cell: success of the tasks with it, and of those without it."""
    return _by_part(results, Column("tag", Kind.TEXT, "tag"), lambda score: score.tags)


def _by_part(results: Results, part: Column, parts_of: Callable[[Score], Mapping[str, Success]]) -> Table:
    """One row for each part of a cell's tasks."""
    columns = (*CELL, part, *COUNTS, *SUCCESS, *UNSCORED)
    rows = [
        {**results.names(cell.cell), part.key: name, **_success(success)}
        for cell in results.summary.cells
        for name, success in parts_of(cell.score).items()
    ]
    return with_unscored(columns, rows)


def by_task(results: Results) -> Table:
    """One row for each task of a cell."""
    columns = (*CELL, Column("task_id", Kind.TEXT, "task"), Column("horizon", Kind.COUNT, "gold steps"), *FIGURES)
    return with_unscored(columns, list(_tasks(results)))


def by_trial(results: Results) -> Table:
    """One row for each trial that was attempted, scored or not."""
    columns = (
        *CELL,
        Column("task_id", Kind.TEXT, "task"),
        Column("trial", Kind.COUNT, "trial"),
        Column("attempt", Kind.COUNT),
        Column("outcome", Kind.TEXT, "outcome"),
        Column("reason", Kind.TEXT, "reason"),
        Column("score", Kind.COUNT),
        Column("published_score", Kind.COUNT),
        Column("feasible", Kind.FLAG),
        Column("horizon", Kind.COUNT),
        Column("variant", Kind.COUNT),
        Column("verifiers_passed", Kind.COUNT, "verifiers passed"),
        Column("verifiers_executed", Kind.COUNT, "of"),
        Column("steps", Kind.COUNT, "steps"),
        Column("tool_calls", Kind.COUNT, "tool calls"),
        Column("tool_errors", Kind.COUNT),
        Column("model_retries", Kind.COUNT),
        Column("refused_requests", Kind.COUNT),
        Column("sample_retries", Kind.COUNT),
        *(Column(f"replies_{name}", Kind.COUNT) for name in FINISH_FIELDS),
        Column("started_at", Kind.TEXT),
        *(Column(name, Kind.SECONDS, "time" if name == "total_s" else "") for name in PHASES),
        *(Column(name, Kind.COUNT) for name in TOKENS),
        *(Column(f"planner_{name}", Kind.COUNT) for name in TOKENS),
        *(Column(f"judge_{name}", Kind.COUNT) for name in TOKENS),
        Column("cost_usd", Kind.DOLLARS, "cost"),
        Column("judge_cost_usd", Kind.DOLLARS),
    )
    return Table(columns, list(_trials(results)))


def by_verifier(results: Results) -> Table:
    """One row for each verifier of a scored trial."""
    columns = (
        *CELL,
        Column("task_id", Kind.TEXT, "task"),
        Column("trial", Kind.COUNT, "trial"),
        Column("index", Kind.COUNT, "number"),
        Column("name", Kind.TEXT, "verifier"),
        Column("verifier_type", Kind.TEXT),
        Column("category", Kind.TEXT, "category"),
        Column("executed", Kind.FLAG, "executed"),
        Column("passed", Kind.FLAG, "passed"),
        Column("published_passed", Kind.FLAG),
    )
    return Table(
        columns,
        [
            {
                **results.names(cell.cell),
                "task_id": trial.task_id,
                "trial": trial.trial,
                **{field.name: getattr(verifier, field.name) for field in fields(verifier)},
            }
            for cell in results.rows.cells
            for trial in cell.trials
            for verifier in trial.verifiers
        ],
    )


def by_variant(results: Results) -> Table:
    """One row for each cell and variant of the suite, and one for their mean and what it varies by."""
    columns = (
        *CELL,
        Column("variant", Kind.TEXT, "variant"),
        *COUNTS,
        *SUCCESS,
        *UNSCORED,
        Column("lowest", Kind.SHARE, "lowest"),
        Column("highest", Kind.SHARE, "highest"),
        Column("spread", Kind.SHARE, "std. deviation"),
    )
    nothing = dict.fromkeys(("lowest", "highest", "spread"))
    scores: dict[tuple[str, ...], list[Row]] = {}
    for variant, summary in results.variants.items():
        for cell in summary.cells:
            of_cell = results.names(cell.cell)
            row = {**of_cell, "variant": variant, **_success(cell.score.success), **nothing}
            scores.setdefault(tuple(of_cell.values()), []).append(row)
    return with_unscored(columns, [row for rows in scores.values() for row in (*rows, *_over_variants(rows))])


PROVENANCE = (
    *(Column(name, Kind.TEXT) for name in ("run", "suite", "edition", "suite_digest", "opsgym", "created_at")),
    Column("trials", Kind.COUNT),
)
"""What a number needs to be cited."""


def with_provenance(table: Table, origin: Provenance) -> Table:
    """A table whose machine formats say of each row where its numbers come from."""
    names = {column.key for column in table.columns}
    columns = [column for column in PROVENANCE if column.key not in names]
    values = asdict(origin)
    return Table([*table.columns, *columns], [{**values, **row} for row in table.rows])


def with_unscored(columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table whose text formats show worst and best cases and attempts only if some row has trials without a score."""
    hidden = {"lost", "success_worst", "success_best", "attempts_per_scored", "domains_worst", "domains_best"}
    if any(row["not_scored"] not in {0, "0"} for row in rows):
        hidden = set()
    return Table([replace(one, label="") if one.key in hidden else one for one in columns], rows)


def _over_variants(rows: Sequence[Row]) -> Iterator[Row]:
    """The mean of a cell's variants, its interval and what it varies by, if at least two have scores."""
    spread = spread_of([row["success_rate"] for row in rows if row["success_rate"] is not None])
    if spread is not None:
        counts, bounds = ("planned", "scored", "passed", "not_scored", "attempts"), ("success_worst", "success_best")
        yield {
            **rows[0],
            **{name: sum(row[name] for row in rows) for name in counts},
            **{name: mean(row[name] for row in rows if row[name] is not None) for name in bounds},
            "lost": "; ".join(row["lost"] for row in rows if row["lost"]),
            "attempts_per_scored": sum(row["attempts"] for row in rows) / (sum(row["scored"] for row in rows) or 1),
            "variant": "mean",
            "tasks": None,
            "success_rate": spread.mean,
            "success_low": spread.interval.low,
            "success_high": spread.interval.high,
            "lowest": spread.lowest,
            "highest": spread.highest,
            "spread": spread.deviation,
        }


BREAKDOWNS: Mapping[str, Callable[[Results], Table]] = {
    "cell": by_cell,
    "agent": by_agent,
    "category": by_category,
    "horizon": by_horizon,
    "tag": by_tag,
    "task": by_task,
    "trial": by_trial,
    "variant": by_variant,
    "verifier": by_verifier,
}


def figures(score: Score) -> dict[str, Any]:
    """A score as a flat row with the columns of `FIGURES`."""
    most = score.repeats[-1] if score.repeats else None
    return {
        "total": score.total,
        "scored": score.scored,
        "passed": score.passed,
        "failed": score.failed,
        "not_scored_rate": score.coverage.unscored_rate,
        **_success(score.success),
        "attempts": score.attempts,
        "published_success_rate": score.published.rate,
        "published_trials": score.published.trials.total,
        **{f"{name}_tasks": _of_part(score, name, "tasks") for name in (FEASIBLE, INFEASIBLE)},
        **{f"{name}_success_rate": _of_part(score, name, "rate") for name in (FEASIBLE, INFEASIBLE)},
        **(_repeat(most) if most else dict.fromkeys(_REPEAT)),
        "verifiers_passed": score.verifiers.passed,
        "verifiers_executed": score.verifiers.total,
        "verifier_pass_rate": score.verifiers.rate,
        "mean_steps": score.mean_steps,
        "mean_tool_calls": score.mean_tool_calls,
        "mean_seconds": score.mean_seconds,
        "p50_seconds": score.p50_seconds,
        "p95_seconds": score.p95_seconds,
        **_tokens(score),
        "cost_usd": score.cost_usd,
        "agent_cost_usd": score.agent_cost_usd,
        "judge_cost_usd": score.judge_cost_usd,
        "cost_per_task": score.cost_per_task,
        "cost_per_success": score.cost_per_success,
    }


def nested_figures(score: Score) -> dict[str, Any]:
    """Values of a score that are nested, so that a flat row has no column for them."""
    return {
        "fail_reasons": dict(score.fail_reasons),
        "finish_reasons": score.finish_reasons.to_dict(),
        "not_scored_reasons": dict(score.not_scored),
        "categories": {
            name: {"passed": share.passed, "executed": share.total, "pass_rate": share.rate}
            for name, share in score.categories.items()
        },
        "horizons": {name: _success(success) for name, success in score.horizons.items()},
        "tags": {name: _success(success) for name, success in score.tags.items()},
        "feasible": {name: _success(success) for name, success in score.feasible.items()},
        "repeats": [
            {name.removeprefix("k_"): value for name, value in _repeat(repeat).items()} for repeat in score.repeats
        ],
    }


def _of_part(score: Score, name: str, field: str) -> Any:
    """A field of the success of feasible or infeasible tasks; None if they are not apart."""
    return getattr(score.feasible.get(name), field, None)


def _repeat(repeat: Repeat) -> dict[str, Any]:
    at, every = repeat.any_interval, repeat.all_interval
    values = (repeat.k, repeat.tasks, repeat.any_passes, at.low, at.high, repeat.all_pass, every.low, every.high)
    return dict(zip(_REPEAT, values, strict=True))


def _agent_row(agent: AgentScore) -> Row:
    low, high = _bounds(agent.domains_interval)
    return {
        "model": agent.model,
        "agent": agent.agent,
        "mode": agent.mode,
        "profile": agent.profile,
        "success_over_domains": agent.success_over_domains,
        "domains_low": low,
        "domains_high": high,
        "domains_worst": agent.worst_over_domains,
        "domains_best": agent.best_over_domains,
        **figures(agent.score),
    }


def coverage_columns(coverage: Coverage) -> dict[str, Any]:
    """Values of the columns that every rate carries."""
    return {
        "planned": coverage.planned,
        "not_scored": coverage.unscored,
        "lost": lost_text(coverage.lost),
        "success_worst": coverage.worst,
        "success_best": coverage.best,
    }


def _success(success: Success) -> dict[str, Any]:
    low, high = _bounds(success.interval)
    return {
        "tasks": success.tasks,
        "scored": success.trials.total,
        "passed": success.trials.passed,
        "success_rate": success.rate,
        "success_low": low,
        "success_high": high,
        **coverage_columns(success.coverage),
        "attempts": success.attempts,
        "attempts_per_scored": success.attempts_per_scored,
    }


def _bounds(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _tokens(counted: Score | Attempt) -> dict[str, int]:
    usages = {"": counted.usage, "planner_": counted.planner_usage, "judge_": counted.judge_usage}
    return {f"{role}{name}": getattr(usage, name) for role, usage in usages.items() for name in TOKENS}


def _tasks(results: Results) -> Iterator[Row]:
    for task in task_scores(results.rows):
        yield {
            **results.names(task.cell),
            "task_id": task.task_id,
            "horizon": task.horizon,
            **figures(task.score),
        }


def _trials(results: Results) -> Iterator[Row]:
    for cell in results.rows.cells:
        names = results.names(cell.cell)
        by_trial: dict[tuple[str, int], Row] = {
            (trial.task_id, trial.trial): _scored_trial(trial) for trial in cell.trials
        }
        by_trial |= {key: _unscored_trial(attempt) for key, attempt in last_attempts(cell).items()}
        yield from ({**names, **by_trial[key]} for key in sorted(by_trial))


def _scored_trial(trial: ScoredAttempt) -> Row:
    executed = [verifier for verifier in trial.verifiers if verifier.executed]
    return {
        **_attempt(trial),
        "outcome": trial.outcome.value,
        "reason": trial.reason,
        "score": trial.score,
        "published_score": trial.published_score,
        "feasible": trial.feasible,
        "horizon": trial.horizon,
        "variant": trial.variant,
        "verifiers_passed": sum(verifier.passed for verifier in executed),
        "verifiers_executed": len(executed),
        "tool_errors": trial.tool_errors,
    }


def _unscored_trial(attempt: Attempt) -> Row:
    outcome, _, reason = ending_of(attempt).partition("/")
    unknown = ("score", "published_score", "feasible", "horizon", "variant", "verifiers_passed", "verifiers_executed")
    return {
        **_attempt(attempt),
        "outcome": outcome,
        "reason": reason,
        **dict.fromkeys((*unknown, "tool_errors")),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """Columns of scored and unscored attempts; tokens and cost are those of this attempt alone."""
    return {
        "task_id": attempt.task_id,
        "trial": attempt.trial,
        "attempt": attempt.attempt,
        "steps": attempt.steps,
        "tool_calls": attempt.tool_calls,
        "model_retries": attempt.model_retries,
        "refused_requests": attempt.refused_requests,
        "sample_retries": attempt.sample_retries,
        **{f"replies_{name}": getattr(attempt.finish_reasons, name) for name in FINISH_FIELDS},
        "started_at": attempt.timings.started_at,
        **{phase: getattr(attempt.timings, phase) for phase in PHASES},
        **_tokens(attempt),
        "cost_usd": attempt.cost_usd,
        "judge_cost_usd": attempt.judge_cost_usd,
    }
