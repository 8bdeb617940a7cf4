"""The scores of a run as tables for the terminal, and as one line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opsgym.formats.grid import Grid, grid
from opsgym.formats.numbers import NOTHING, dollars, number, percent, seconds
from opsgym_api.records.attempt import FINISH_FIELDS, NO_FINISHES, Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_core.results.coverage import Coverage, lost_text
from opsgym_core.results.score import NO_HORIZON, PENDING, CellScore, Ratio, Repeat, Score, Success, Summary
from opsgym_core.results.statistics import Interval

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 10_000
"""Width of output that is not a terminal: a row of a table is one line there."""

WORST_BEST = "worst–best"
"""Column of the rates that trials without a score could make."""


def console() -> Console:
    """The console that tables are printed on."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_summary(summary: Summary, out: Console) -> None:
    """Prints scores by cell and averages; if there are any, feasible and infeasible tasks, pass@k, horizons, tags,
    categories, finish reasons.
    """
    _cells(summary).print(out)
    out.print()
    _averages(summary).print(out)
    for table, rows in (
        (_parts(summary, lambda score: score.feasible), summary.total.feasible),
        (_repeats(summary), summary.total.repeats),
        (_horizons(summary), summary.total.horizons.keys() - {NO_HORIZON}),
        (_parts(summary, lambda score: score.tags), summary.total.tags),
        (_categories(summary), summary.total.categories),
        (_finish_reasons(summary), summary.total.finish_reasons != NO_FINISHES),
    ):
        if rows:
            out.print()
            table.print(out)


def _cells(summary: Summary) -> Grid:
    judged = summary.total.judge_cost_usd != 0 or summary.total.judge_usage.model_calls > 0
    rows = [(_names(cell.cell), _numbers(cell.score)) for cell in summary.cells]
    shown = {"judge": judged, WORST_BEST: bool(summary.total.not_scored), "attempts": _tried_again(summary.total)}
    columns = [name for name in rows[0][1] if shown.get(name, True)] if rows else []
    table = grid("model", "agent", "mode", "domain", right=columns)
    for names, numbers in rows:
        table.add_row(*names, *(numbers[name] for name in columns))
    if len(summary.cells) > 1:
        # Without a rate: several cells have two means, which the next table shows.
        total = {**_numbers(summary.total), **dict.fromkeys(("success", "95 % interval", WORST_BEST), "")}
        table.total = ["total", "", "", "", *(total[name] for name in columns)]
    return table


def _names(cell: Cell) -> list[str]:
    return [cell.model, cell.agent, cell.mode, cell.domain]


def _numbers(score: Score) -> dict[str, str]:
    return {
        "success": percent(score.success_rate),
        "95 % interval": interval(score.success.interval),
        WORST_BEST: worst_best(score.worst_rate, score.best_rate),
        "passed": str(score.passed),
        "failed": str(score.failed),
        "not scored": lost_text(score.not_scored) or "0",
        "attempts": number(score.attempts_per_scored),
        "verifiers": ratio(score.verifiers),
        "steps": number(score.mean_steps),
        "time": NOTHING if score.mean_seconds is None else seconds(score.mean_seconds),
        "p95": NOTHING if score.p95_seconds is None else seconds(score.p95_seconds),
        "cost": dollars(score.cost_usd),
        "judge": dollars(score.judge_cost_usd),
        "per task": _per(score.cost_per_task, score.scored, score),
        "per success": _per(score.cost_per_success, score.passed, score),
    }


def _tried_again(score: Score) -> bool:
    """Whether a scored trial had more than one attempt, or an unscored one any."""
    return score.attempts > score.scored


def _per(cost: float | None, trials: int, score: Score) -> str:
    """A cost per trial; a dash if there are no such trials."""
    return dollars(cost) if trials or score.agent_cost_usd is None else NOTHING


def _averages(summary: Summary) -> Grid:
    unscored = bool(summary.total.not_scored)
    worst = (WORST_BEST,) if unscored else ()
    table = grid(
        "model", "agent", "mode", "profile",
        right=(
            "mean over tasks", "95 % interval", *worst, "mean over domains", "95 % interval", *worst,
            "published rules", "not scored",
        ),
    )  # fmt: skip
    for agent in summary.agents:
        score = agent.score
        table.add_row(
            agent.model, agent.agent, agent.mode, agent.profile,
            percent(score.success_rate), interval(score.success.interval),
            *([worst_best(score.worst_rate, score.best_rate)] if unscored else []),
            percent(agent.success_over_domains), interval(agent.domains_interval),
            *([worst_best(agent.worst_over_domains, agent.best_over_domains)] if unscored else []),
            _published(score), f"{score.coverage.unscored} of {score.total}",
        )  # fmt: skip
    return table


def _published(score: Score) -> str:
    """The rate by the published rules with its number of trials: errors are 0 there, so it may differ from `scored`."""
    return f"{percent(score.published.rate)} of {score.published.trials.total}"


def _repeats(summary: Summary) -> Grid:
    """pass@k and pass^k with their intervals and number of tasks, for each k that a cell has trials for."""
    by_k = [{repeat.k: repeat for repeat in cell.score.repeats} for cell in summary.cells]
    ks = sorted({k for repeats in by_k for k in repeats})
    columns = [column for k in ks for column in (f"pass@{k}", f"pass^{k}", f"tasks with {k}")]
    values = [[text for k in ks for text in _repeat(cell.get(k))] for cell in by_k]
    return _by_cell(summary, columns, values)


def _repeat(repeat: Repeat | None) -> tuple[str, str, str]:
    if repeat is None:
        return NOTHING, NOTHING, "0"
    return (
        f"{percent(repeat.any_passes)} ({interval(repeat.any_interval)})",
        f"{percent(repeat.all_pass)} ({interval(repeat.all_interval)})",
        str(repeat.tasks),
    )


def _horizons(summary: Summary) -> Grid:
    """Success by the number of gold steps of the task, with the worst and best case where trials have no score."""
    names = list(summary.total.horizons)
    values = [[_of_part(cell.score.horizons.get(name)) for name in names] for cell in summary.cells]
    return _by_cell(summary, [f"{name} gold steps" for name in names], values)


def _parts(summary: Summary, parts_of: Callable[[Score], Mapping[str, Success]]) -> Grid:
    """Success of parts of the tasks: those with each tag and those without it, or feasible and infeasible ones."""
    names = list(parts_of(summary.total))
    values = [[_of_part(parts_of(cell.score).get(name)) for name in names] for cell in summary.cells]
    return _by_cell(summary, names, values)


def _of_part(success: Success | None) -> str:
    if success is None:
        return NOTHING
    coverage = success.coverage
    bounds = f" ({worst_best(coverage.worst, coverage.best)})" if coverage.unscored else ""
    return f"{ratio(success.trials)}{bounds}"


def _categories(summary: Summary) -> Grid:
    """Passed verifiers by category."""
    names = list(summary.total.categories)
    values = [[ratio(cell.score.categories.get(name, Ratio(0, 0))) for name in names] for cell in summary.cells]
    return _by_cell(summary, names, values)


def _finish_reasons(summary: Summary) -> Grid:
    """Model replies that were cut off, filtered, refused, malformed or empty, of all replies; scored or not."""
    names = [name for name in FINISH_FIELDS if getattr(summary.total.finish_reasons, name)]
    values = [
        [str(getattr(cell.score.finish_reasons, name)) for name in names] + [str(cell.score.usage.model_calls)]
        for cell in summary.cells
    ]
    return _by_cell(summary, [*(f"replies: {name}" for name in names), "all replies"], values)


def _by_cell(summary: Summary, columns: Sequence[str], values: Sequence[Sequence[str]]) -> Grid:
    """A table with one row for each cell."""
    table = grid("model", "agent", "mode", "domain", right=columns)
    for cell, row in zip(summary.cells, values, strict=True):
        table.add_row(*_names(cell.cell), *row)
    return table


def ratio(share: Ratio) -> str:
    """A ratio as `passed/total share`; a dash if the total is 0."""
    return f"{share.passed}/{share.total} {percent(share.rate)}" if share.total else NOTHING


def worst_best(worst: float | None, best: float | None) -> str:
    """The rates if every trial without a score failed, and if it passed; a dash if nothing is planned."""
    return NOTHING if worst is None or best is None else f"{100 * worst:.1f}–{percent(best)}"


def interval(bounds: Interval | None) -> str:
    """A confidence interval of a share, in percent; a dash for None."""
    return NOTHING if bounds is None else f"{100 * bounds.low:.1f}–{percent(bounds.high)}"


def summary_json(summary: Summary) -> str:
    """The summary as one line of JSON; an unknown cost is null."""
    total = summary.total
    return json.dumps(
        {
            "run": summary.run,
            "total": total.total,
            "passed": total.passed,
            "failed": total.failed,
            "infra_errors": total.count_not_scored(Outcome.INFRA_ERROR),
            "config_errors": total.count_not_scored(Outcome.CONFIG_ERROR),
            "budget_skipped": total.count_not_scored(Outcome.BUDGET_SKIPPED),
            "cancelled": total.count_not_scored(Outcome.CANCELLED),
            "pending": total.not_scored.get(PENDING, 0),
            "cost_usd": total.cost_usd,
            "cells": [_cell_json(cell) for cell in summary.cells],
            "averages": [
                {
                    "model": agent.model,
                    "agent": agent.agent,
                    "mode": agent.mode,
                    "profile": agent.profile,
                    "success_over_tasks": agent.score.success_rate,
                    "success_over_domains": agent.success_over_domains,
                    **coverage_json(agent.score.coverage),
                }
                for agent in summary.agents
            ],
        }
    )


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """What every rate of a JSON document carries."""
    return {
        "planned": coverage.planned,
        "scored": coverage.scored,
        "not_scored": dict(coverage.lost),
        "success_worst": coverage.worst,
        "success_best": coverage.best,
    }


def _cell_json(cell: CellScore) -> dict[str, Any]:
    score = cell.score
    return {
        "model": cell.cell.model,
        "agent": cell.cell.agent,
        "mode": cell.cell.mode,
        "domain": cell.cell.domain,
        "total": score.total,
        "passed": score.passed,
        "failed": score.failed,
        "fail_reasons": dict(score.fail_reasons),
        "finish_reasons": score.finish_reasons.to_dict(),
        "success_rate": score.success_rate,
        **coverage_json(score.coverage),
        "published_success_rate": score.published.rate,
        "published_trials": score.published.trials.total,
        "feasible": {
            name: {"tasks": part.tasks, "success_rate": part.rate, **coverage_json(part.coverage)}
            for name, part in score.feasible.items()
        },
        "verifier_pass_rate": score.verifiers.rate,
        "categories": {name: share.rate for name, share in score.categories.items()},
        "mean_steps": score.mean_steps,
        "cost_usd": score.cost_usd,
    }
