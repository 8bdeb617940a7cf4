"""Published results, and own ones beside them. `published_results.json` has the facts, each with its source.

Invariant: an own row stands beside a published table only if it is of the same tasks in the same mode, and by the
average and the rules of that table; otherwise one sentence says why not. Disagreements of the sources stay visible.

Sources:
    Difference of two samples: Agresti & Caffo 2000, which adds a passed and a failed task to each.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from opsgym_api.records.run import RunRecord
from opsgym_core.results.score import AgentScore, Summary
from opsgym_core.results.statistics import CONFIDENCE, Interval, mean, mean_interval, normal, student_below

TABLES = ("public-split", "main")
"""Published tables by name."""
_PUBLISHED_ID = re.compile(r"task_\d{8}_\d{6}_\d{3}_")
"""Beginning of the ids of published rows: the time of their creation."""
_ROUNDING = 0.05 + 1e-9
"""Half of the last digit of a published percentage."""

_TESTS = (
    "intervals and tests: tasks are the unit; two independent samples, since published outcomes of single tasks are not"
    " known; p-values are not corrected for their number"
)


@dataclass(frozen=True)
class BesideRow:
    """A row of a table, published or own."""

    model: str
    own: bool
    agent: str
    """Agent of an own row; empty for a published one."""
    domains: Mapping[str, float | None]
    """Success rates."""
    average: float | None
    """The average that the table uses."""
    stated: float | None
    """The average that a published row states; None for an own row."""
    tasks: int
    interval: Interval | None
    """Interval of the mean over tasks; tasks are the unit."""
    mean_over_tasks: float | None
    note: str = ""


@dataclass(frozen=True)
class BesideTest:
    """Two-sample test of an own row against a published one; the outcomes of single published tasks are not known."""

    own: str
    published: str
    difference: float
    """Of the means over tasks, the own one minus the published one."""
    interval: Interval
    p_value: float
    """Two-sided, not corrected; below 0.05 exactly if 0 is outside `interval`."""


@dataclass(frozen=True)
class Beside:
    """Own rows among the published ones of a table, the best average first."""

    table: str
    title: str
    average: str
    """`tasks` or `domains`: over which the table's average is."""
    rows: Sequence[BesideRow]
    tests: Sequence[BesideTest]
    notes: Sequence[str]


@dataclass(frozen=True)
class PublishedTable:
    """A published table of success rates by model and domain."""

    name: str
    title: str
    mode: str
    average: str
    tasks: Mapping[str, int]
    """Number of tasks behind the cells, by domain."""
    split: Mapping[str, int]
    """Number of rows of the published data, by domain."""
    notes: Sequence[str]
    entries: Sequence[Mapping[str, Any]]

    @cached_property
    def rows(self) -> list[BesideRow]:
        """The published rows."""
        return [self._row(entry) for entry in self.entries]

    def _row(self, entry: Mapping[str, Any]) -> BesideRow:
        rates = {domain: percent / 100 for domain, percent in entry["percent"].items()}
        passed = sum(passed_of(percent, self.tasks[domain]) for domain, percent in entry["percent"].items())
        tasks = sum(self.tasks.values())
        over_tasks = passed / tasks
        return BesideRow(
            model=entry["model"],
            own=False,
            agent="",
            domains=rates,
            average=over_tasks if self.average == "tasks" else mean(rates.values()),
            stated=entry["averages"]["readme"] / 100 if "readme" in entry["averages"] else None,
            tasks=tasks,
            interval=mean_interval([1.0] * round(passed) + [0.0] * (tasks - round(passed)), tasks),
            mean_over_tasks=over_tasks,
            note=entry.get("note", ""),
        )


def passed_of(percent: float, tasks: int) -> float:
    """Passed tasks behind a published percentage: the one whole number that rounds to it, else the product."""
    nearest = round(percent * tasks / 100)
    return nearest if abs(100 * nearest / tasks - percent) <= _ROUNDING else percent * tasks / 100


@lru_cache(maxsize=1)
def published_results() -> Mapping[str, Any]:
    """Content of `published_results.json`."""
    text = files("opsgym_core.results").joinpath("published_results.json").read_text(encoding="utf-8")
    content: Mapping[str, Any] = json.loads(text)
    return content


def published_table(name: str) -> PublishedTable:
    """A published table, one of `TABLES`."""
    table = published_results()["tables"][name]
    return PublishedTable(
        name=name,
        title=table["title"],
        mode=table["mode"],
        average=table["average"],
        tasks=table["tasks"],
        split=table.get("split", table["tasks"]),
        notes=(f"runs: {table['runs']}", table["note"]),
        entries=table["rows"],
    )


def refusal(table: PublishedTable, run: RunRecord) -> str:
    """Why a run cannot stand beside a published table, as one sentence; empty if it can."""
    cells = [plan for plan in run.cells if plan.cell.mode == table.mode]
    foreign = [task for plan in run.cells for task in plan.task_ids if not _PUBLISHED_ID.match(task)]
    beside = f"{run.run} cannot stand beside the published {table.name} table"
    if foreign:
        return f"{beside}: its suite has tasks such as {foreign[0]}, which are not published rows"
    if not cells:
        return f"{beside}: the table is of mode {table.mode}, which the run does not have"
    planned: dict[str, set[str]] = {}
    for plan in cells:
        planned.setdefault(plan.cell.domain, set()).update(plan.task_ids)
    for domain, count in table.split.items():
        if len(planned.get(domain, ())) not in {count, table.tasks[domain]}:
            return f"{beside}: it has {len(planned.get(domain, ()))} of {count} {domain} tasks"
    return ""


def beside(table: PublishedTable, summaries: Sequence[Summary]) -> Beside:
    """Own rows among the published ones; rates are by published rules, which count an error as 0.

    Args:
        table: The table.
        summaries: Scores of runs without a `refusal`, with every task.
    """
    own = [_own(table, summary, agent) for summary in summaries for agent in summary.agents if agent.mode == table.mode]
    rows = sorted([*table.rows, *own], key=lambda row: -(row.average if row.average is not None else -1.0))
    tests = [_test(one, other) for one in own for other in table.rows if one.mean_over_tasks is not None]
    over = "every task" if table.average == "tasks" else "the domains"
    notes = (
        f"average: the mean over {over}, as in the published {table.name} table; own rates by published rules",
        _TESTS,
        *table.notes,
        *(f"{row.model}: {row.note}" for row in table.rows if row.note),
    )
    return Beside(table.name, table.title, table.average, rows, tests, notes)


def _own(table: PublishedTable, summary: Summary, agent: AgentScore) -> BesideRow:
    cells = {
        cell.cell.domain: cell.score.published.rate
        for cell in summary.cells
        if (cell.cell.model, cell.cell.agent, cell.cell.mode) == (agent.model, agent.agent, agent.mode)
    }
    published = agent.score.published
    rates = [rate for domain in table.tasks if (rate := cells.get(domain)) is not None]
    passed = round((published.rate or 0.0) * published.tasks)
    return BesideRow(
        model=agent.model,
        own=True,
        agent=f"{agent.agent} ({summary.run})",
        domains={domain: cells.get(domain) for domain in table.tasks},
        average=published.rate if table.average == "tasks" else mean(rates),
        stated=None,
        tasks=published.tasks,
        interval=mean_interval([1.0] * passed + [0.0] * (published.tasks - passed), published.tasks),
        mean_over_tasks=published.rate,
    )


def _test(own: BesideRow, other: BesideRow) -> BesideTest:
    first, second = own.mean_over_tasks or 0.0, other.mean_over_tasks or 0.0
    (p, n), (q, m) = (
        ((rate * tasks + 1) / (tasks + 2), tasks + 2) for rate, tasks in ((first, own.tasks), (second, other.tasks))
    )
    error = math.sqrt(p * (1 - p) / n + q * (1 - q) / m)
    half = normal(CONFIDENCE) * error
    return BesideTest(
        own=f"{own.model} {own.agent}",
        published=other.model,
        difference=first - second,
        interval=Interval(max(-1.0, p - q - half), min(1.0, p - q + half)),
        p_value=min(1.0, 2 * student_below(-abs(p - q) / error, None)),
    )
