"""`opsgym leaderboard`: success rates of models by domain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table, write_out
from opsgym_api.records.job_spec import UNREAD_DOMAIN
from opsgym_core.results.score import AgentScore, Summary, summarise

PUBLISHED_ORDER = ("teams", "csm", "email", "itsm", "calendar", "hr", "drive", "hybrid")
"""Domains in the order of the published table; other domains follow by name."""
NAMES = ("model", "agent", "mode", "run")


def leaderboard(runs: Sequence[str], form: str, out: Path | None, locator: RunLocator) -> int:
    """Prints success rates of models by domain, highest mean over domains first.

    Raises:
        InputError: A run does not exist, or the file cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    rows = sorted((row for run in runs for row in _rows(summarise(locator.load_rows(run)[1]))), key=_rank)
    domains = _in_order({domain for row in rows for domain in row["domains"]})
    table = _table(rows, domains)
    if form == "json":
        write_out(json.dumps({"domains": domains, "rows": table.records()}) + "\n", out)
    elif form == "csv":
        write_out(table.csv(), out)
    elif form == "markdown":
        write_out("\n".join([table.markdown(), *(f"{note}\n" for note in _notes(rows, domains))]), out)
    else:
        screen = console()
        with screen.capture() as captured:
            table.for_console().print(screen)
            for note in ("", *_notes(rows, domains)):
                screen.print(note)
        write_out(captured.get(), out)
    return Exit.OK


def _rows(summary: Summary) -> list[dict[str, Any]]:
    return [_row(summary, agent) for agent in summary.agents]


def _row(summary: Summary, agent: AgentScore) -> dict[str, Any]:
    names = (agent.model, agent.agent, agent.mode)
    cells = [cell for cell in summary.cells if (cell.cell.model, cell.cell.agent, cell.cell.mode) == names]
    over_domains, over_tasks = agent.domains_interval, agent.score.success.interval
    return {
        **dict(zip(NAMES, (*names, summary.run), strict=True)),
        "domains": {cell.cell.domain: cell.score.success_rate for cell in cells if cell.cell.domain != UNREAD_DOMAIN},
        "mean_over_domains": agent.success_over_domains,
        "domains_low": over_domains.low if over_domains else None,
        "domains_high": over_domains.high if over_domains else None,
        "mean_over_tasks": agent.score.success_rate,
        "tasks_low": over_tasks.low if over_tasks else None,
        "tasks_high": over_tasks.high if over_tasks else None,
        "scored": agent.score.scored,
        "not_scored": sum(agent.score.not_scored.values()),
        "cost_per_task": agent.score.cost_per_task,
    }


def _table(rows: Sequence[dict[str, Any]], domains: Sequence[str]) -> Table:
    """The model's name, and those other names that differ between rows, then rates and means."""
    differing = [name for name in NAMES[1:] if len({row[name] for row in rows}) > 1]
    columns = (
        *(Column(name, Kind.TEXT, name if name == "model" or name in differing else "") for name in NAMES),
        *(Column(f"success_{domain}", Kind.SHARE, domain) for domain in domains),
        Column("mean_over_domains", Kind.SHARE, "mean over domains"),
        Column("domains_low", Kind.SHARE, "95 % from"),
        Column("domains_high", Kind.SHARE, "to"),
        Column("mean_over_tasks", Kind.SHARE, "mean over tasks"),
        Column("tasks_low", Kind.SHARE),
        Column("tasks_high", Kind.SHARE),
        Column("domains", Kind.COUNT, "domains"),
        Column("scored", Kind.COUNT),
        Column("not_scored", Kind.COUNT, "not scored"),
        Column("cost_per_task", Kind.DOLLARS, "per task"),
    )
    return Table(
        columns,
        [
            {
                **row,
                **{f"success_{domain}": row["domains"].get(domain) for domain in domains},
                "domains": _scored_domains(row),
            }
            for row in rows
        ],
    )


def _scored_domains(row: dict[str, Any]) -> int:
    return sum(rate is not None for rate in row["domains"].values())


def _rank(row: dict[str, Any]) -> tuple[float, str]:
    return -(row["mean_over_domains"] if row["mean_over_domains"] is not None else -1.0), row["model"]


def _in_order(domains: Iterable[str]) -> list[str]:
    names = set(domains)
    return [*(name for name in PUBLISHED_ORDER if name in names), *sorted(names.difference(PUBLISHED_ORDER))]


def _notes(rows: Sequence[dict[str, Any]], domains: Sequence[str]) -> list[str]:
    partial = [row["model"] for row in rows if _scored_domains(row) < len(domains)]
    if not partial:
        return []
    return [f"not comparable, because their means cover fewer domains: {', '.join(dict.fromkeys(partial))}"]
