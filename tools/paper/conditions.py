"""Success of each condition of an experiment, from the tables that `opsgym` prints as CSV.

Invariant: rates and intervals are those of `opsgym leaderboard` and `opsgym results`; nothing is computed again here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rate:
    """A success rate with its 95 % interval; all are shares of 1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Condition:
    """What an experiment compares: a model with an agent and a tool mode."""

    model: str
    agent: str
    mode: str
    success: Rate
    """Mean over tasks."""
    by_domain: Mapping[str, Rate]
    """Also `infeasible`, of the tasks that must be declined, which the paper shows in a column of their own."""
    scored: int
    """Trials with a score."""
    cost_usd: float | None
    """Mean cost of a task; None if the price of the model is not known."""


def conditions(leaderboard: str, cells: str) -> list[Condition]:
    """The conditions of an experiment, in the order of its file.

    Args:
        leaderboard: `opsgym leaderboard NAME --format csv`.
        cells: `opsgym results NAME --by cell --format csv`, whose order the conditions take.
    """
    by_name: dict[tuple[str, str, str], dict[str, Rate]] = {}
    for row in csv.DictReader(io.StringIO(cells)):
        rate = _rate(row, "success_rate", "success_low", "success_high")
        if rate is not None:
            by_name.setdefault(_name(row), {})[row["domain"]] = rate
    means = {_name(row): row for row in csv.DictReader(io.StringIO(leaderboard))}
    return [_condition(means[name], domains) for name, domains in by_name.items() if name in means]


def by_horizon(results: Mapping[str, Any]) -> list[Condition]:
    """Success of each model by horizon, with the bin as the mode.

    Args:
        results: `opsgym results NAME --format json`.
    """
    return [
        Condition(
            row["model"],
            row["agent"],
            name,
            Rate(part["success_rate"], part["success_low"], part["success_high"]),
            {},
            part["scored"],
            None,
        )
        for row in results["averages"]
        for name, part in row["horizons"].items()
        if part["success_rate"] is not None and name != "unknown"
    ]


def by_category(categories: str) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """Numbers of verifiers that passed and that were executed, by model and category, of all domains.

    Args:
        categories: `opsgym results NAME --by category --format csv`.
    """
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for row in csv.DictReader(io.StringIO(categories)):
        of_model = counts.setdefault(row["model"], {})
        passed, executed = of_model.get(row["category"], (0, 0))
        of_model[row["category"]] = (passed + int(row["passed"]), executed + int(row["executed"]))
    return counts


def _condition(row: Mapping[str, str], domains: Mapping[str, Rate]) -> Condition:
    success = _rate(row, "mean_over_tasks", "tasks_low", "tasks_high")
    if success is None:
        raise ValueError(f"{' '.join(_name(row))} has scores by domain, but no mean")
    infeasible = _rate(row, "infeasible_success", "infeasible_low", "infeasible_high")
    if infeasible is not None:
        domains = {**domains, "infeasible": infeasible}
    cost = row["cost_per_task"]
    return Condition(*_name(row), success, domains, int(row["scored"]), float(cost) if cost else None)


def _name(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["model"], row["agent"], row["mode"]


def _rate(row: Mapping[str, str], *columns: str) -> Rate | None:
    """A rate from its three columns; None for a condition without scores."""
    values: Sequence[str] = [row[column] for column in columns]
    return Rate(*map(float, values)) if all(values) else None
