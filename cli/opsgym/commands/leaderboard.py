"""`opsgym leaderboard`: success rates of models by domain.

Invariant: rows are ordered by the mean over tasks, which is also what the paired tests behind the ranks compare. If
rows lost different shares of their trials, it is that of the worst case in both, so that no row gains by what it lost.
Tasks that are known to be faulty are in neither; the averages with them stand beside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.breakdowns import PROVENANCE, coverage_columns, with_unscored
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table, write_out
from opsgym.taskimport.known_faults import Reported, fault_of, reported_faults
from opsgym_api.jobs.job_spec import UNREAD_DOMAIN
from opsgym_api.records.attempt import Cell
from opsgym_api.records.run import RunRecord
from opsgym_core.results.differences import setting_differences, without_tasks
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.provenance import Provenance
from opsgym_core.results.ranking import PairTest, TaskShares, pair_tests, rank_intervals, task_shares
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import FEASIBLE, INFEASIBLE, AgentScore, Summary, summarise

PUBLISHED_ORDER = ("teams", "csm", "email", "itsm", "calendar", "hr", "drive", "hybrid")
"""Domains in the order of the published table; other domains follow by name."""
NAMES = ("model", "agent", "profile", "mode", "run")
COVERAGE_TOLERANCE = 0.01
"""Difference of two rows' shares of trials without a score up to which they are ranked by what they scored."""
AVERAGES = (
    "mean over tasks: as in the published table of the public split and in the paper",
    "mean over domains: as in the published full leaderboard",
)
RANKS = (
    "ranks: all true ranks are within them with 95 % confidence; from paired tests of each two rows over their common"
    " tasks, corrected for their number (Holm)"
)
BY_RATE = "rows are ordered by the mean over tasks"
BY_WORST = (
    "rows are ordered and tested by their worst case, trials without a score counted as failed, because the shares of"
    " such trials differ; marked rows (*) have some"
)


_COMPARED = {"models", "supportingModels", "agents"}
"""Parts of a spec that a leaderboard compares."""


@dataclass(frozen=True)
class _Entry:
    """A row of the table and what its tests need."""

    row: dict[str, Any]
    shares: TaskShares
    worst_shares: TaskShares
    """`shares` if trials without a score failed."""
    faults: Mapping[str, str]
    """Kinds of the faults of the tasks that are left out, by task id."""


def leaderboard(
    runs: Sequence[str], form: str, out: Path | None, locator: RunLocator, faults: Path | None = None
) -> int:
    """Prints success rates of models by domain, highest mean over tasks first.

    Args:
        runs: Runs, as for `opsgym results`; a run that is named twice counts once.
        form: `table`, `markdown`, `csv` or `json`.
        out: File to write to; None for stdout.
        locator: Location of the runs.
        faults: `faults.json` of an import, whose rows with `DISTRUSTED` faults are left out, besides the published rows
            that are known to be faulty.

    Raises:
        InputError: A run does not exist, a file cannot be read, or the file cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    reported = {} if faults is None else reported_faults(faults)
    loaded = {rows.run.run: (store, rows) for store, rows in map(locator.load_rows, runs)}
    unordered = [
        entry
        for store, rows in loaded.values()
        for entry in _entries(rows, task_digests(store, rows.run.run), reported)
    ]
    by_worst = _coverage_differs([entry.row for entry in unordered])
    order = "success_worst" if by_worst else "mean_over_tasks"
    entries = sorted(unordered, key=lambda entry: _order(entry.row, order))
    tests = pair_tests([entry.worst_shares if by_worst else entry.shares for entry in entries])
    ranks = rank_intervals(len(entries), tests)
    rows = [
        {**entry.row, "rank": f"{rank}{'*' if by_worst and entry.row['not_scored'] else ''}", "ranked_by": order}
        for entry, rank in zip(entries, ranks, strict=True)
    ]
    domains = _in_order({domain for row in rows for domain in row["domains"]})
    runs_read = [rows.run for _, rows in loaded.values()]
    notes = [
        BY_WORST if by_worst else BY_RATE,
        *_notes(rows, domains),
        _fault_note(entries, faults),
        *_unlike(runs_read),
        *(str(Provenance.of(run)) for run in runs_read),
    ]
    table = _table(rows, domains)
    if form == "json":
        document = {"domains": domains, "rows": table.records(), "pairs": _pairs(rows, tests), "notes": notes}
        write_out(json.dumps(document) + "\n", out)
    elif form == "csv":
        write_out(table.csv(), out)
    elif form == "markdown":
        write_out("\n".join([table.markdown(), *(f"{note}\n" for note in notes)]), out)
    else:
        screen = console()
        with screen.capture() as captured:
            table.for_console().print(screen)
            for note in ("", *notes):
                screen.print(note)
        write_out(captured.get(), out)
    return Exit.OK


def _fault_note(entries: Sequence[_Entry], file: Path | None) -> str:
    faults = {task: kind for entry in entries for task, kind in entry.faults.items()}
    if not faults:
        more = "; --faults FILE adds those that `opsgym tasks import` found" if file is None else ""
        return f"no task of these runs is known to be faulty{more}"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(faults.values()).items()))
    known = "published rows that are known to be faulty"
    listed = known if file is None else f"{known}, and those of {file}"
    tasks = f"{len(faults)} task{'s' if len(faults) > 1 else ''}"
    return f"left out: {tasks} ({kinds}), {listed}; the averages 'with faulty' count them"


def _pairs(rows: Sequence[dict[str, Any]], tests: Sequence[PairTest]) -> list[dict[str, Any]]:
    def names(position: int) -> dict[str, Any]:
        return {name: rows[position][name] for name in NAMES}

    return [
        {
            "first": names(test.first),
            "second": names(test.second),
            "tasks": test.tasks,
            "difference": test.difference,
            "p_value": test.p_value,
        }
        for test in tests
    ]


def _entries(rows: RunRows, digests: Mapping[str, str], reported: Reported) -> list[_Entry]:
    faults = {
        (plan.cell.domain, plan.cell.mode, task): kind
        for plan in rows.run.cells
        for task in plan.task_ids
        if (kind := fault_of(plan.cell.domain, plan.cell.mode, task, reported))
    }
    trusted = without_tasks(rows, lambda cell, task: (cell.domain, cell.mode, task) in faults)
    everything = summarise(rows)
    summary = summarise(trusted) if faults else everything
    with_faulty = {_names(agent): agent for agent in everything.agents}
    entries = []
    for agent in summary.agents:
        of_mode = {task: kind for (_, mode, task), kind in faults.items() if mode == agent.mode}
        cells = [cell for cell in trusted.cells if _names(cell.cell) == _names(agent)]
        row = {
            **asdict(Provenance.of(rows.run)),
            **_row(summary, agent, with_faulty[_names(agent)]),
            "faulty": len(of_mode),
        }
        planned = [plan for plan in trusted.run.cells if _names(plan.cell) == _names(agent)]
        worst = task_shares(cells, digests, planned, rows.run.trials)
        entries.append(_Entry(row, task_shares(cells, digests), worst, of_mode))
    return entries


def _names(of: Cell | AgentScore) -> tuple[str, str, str]:
    return of.model, of.agent, of.mode


def _row(summary: Summary, agent: AgentScore, with_faulty: AgentScore) -> dict[str, Any]:
    cells = [cell for cell in summary.cells if _names(cell.cell) == _names(agent)]
    over_domains, over_tasks = agent.domains_interval, agent.score.success.interval
    return {
        **dict(zip(NAMES, (agent.model, agent.agent, agent.profile, agent.mode, summary.run), strict=True)),
        "domains": {cell.cell.domain: cell.score.success_rate for cell in cells if cell.cell.domain != UNREAD_DOMAIN},
        "mean_over_domains": agent.success_over_domains,
        "domains_low": over_domains.low if over_domains else None,
        "domains_high": over_domains.high if over_domains else None,
        "mean_over_tasks": agent.score.success_rate,
        "tasks_low": over_tasks.low if over_tasks else None,
        "tasks_high": over_tasks.high if over_tasks else None,
        "tasks_with_faulty": with_faulty.score.success_rate,
        "domains_with_faulty": with_faulty.success_over_domains,
        **coverage_columns(agent.score.coverage),
        **{f"{name}_success": part.rate for name, part in agent.score.feasible.items()},
        **{f"{name}_low": part.interval.low for name, part in agent.score.feasible.items() if part.interval},
        **{f"{name}_high": part.interval.high for name, part in agent.score.feasible.items() if part.interval},
        **{f"{name}_tasks": part.tasks for name, part in agent.score.feasible.items()},
        "published_rules": agent.score.published.rate,
        "published_trials": agent.score.published.trials.total,
        "domains_worst": agent.worst_over_domains,
        "domains_best": agent.best_over_domains,
        "scored": agent.score.scored,
        "attempts_per_scored": agent.score.attempts_per_scored,
        "cost_per_task": agent.score.cost_per_task,
    }


def _table(rows: Sequence[dict[str, Any]], domains: Sequence[str]) -> Table:
    """The model's name, and those other names that differ between rows, then rates and means."""
    marked = any(row["faulty"] for row in rows)
    differing = [name for name in NAMES[1:] if len({row[name] for row in rows}) > 1]
    parted = any(f"{INFEASIBLE}_tasks" in row for row in rows)
    columns = (
        Column("rank", Kind.TEXT, "rank"),
        *(Column(name, Kind.TEXT, name if name == "model" or name in differing else "") for name in NAMES),
        *(Column(f"success_{domain}", Kind.SHARE, domain) for domain in domains),
        Column("mean_over_tasks", Kind.SHARE, "mean over tasks"),
        Column("tasks_low", Kind.SHARE, "95 % from"),
        Column("tasks_high", Kind.SHARE, "to"),
        *(Column(f"{name}_success", Kind.SHARE, name if parted else "") for name in (FEASIBLE, INFEASIBLE)),
        *(Column(f"{name}_{end}", Kind.SHARE) for name in (FEASIBLE, INFEASIBLE) for end in ("low", "high")),
        *(Column(f"{name}_tasks", Kind.COUNT) for name in (FEASIBLE, INFEASIBLE)),
        Column("tasks_with_faulty", Kind.SHARE, "tasks, with faulty" if marked else ""),
        Column("success_worst", Kind.SHARE, "worst"),
        Column("success_best", Kind.SHARE, "best"),
        Column("mean_over_domains", Kind.SHARE, "mean over domains"),
        Column("domains_with_faulty", Kind.SHARE, "domains, with faulty" if marked else ""),
        Column("faulty", Kind.COUNT, "faulty tasks" if marked else ""),
        Column("domains_low", Kind.SHARE),
        Column("domains_high", Kind.SHARE),
        Column("domains_worst", Kind.SHARE),
        Column("domains_best", Kind.SHARE),
        Column("domains", Kind.COUNT, "domains"),
        Column("published_rules", Kind.SHARE),
        Column("published_trials", Kind.COUNT),
        Column("ranked_by", Kind.TEXT),
        Column("planned", Kind.COUNT),
        Column("scored", Kind.COUNT),
        Column("not_scored", Kind.COUNT, "not scored"),
        Column("lost", Kind.TEXT, "because of"),
        Column("attempts_per_scored", Kind.NUMBER, "attempts"),
        Column("cost_per_task", Kind.DOLLARS, "per task"),
        *(column for column in PROVENANCE if column.key != "run"),
    )
    absent = dict.fromkeys(
        f"{name}_{what}" for name in (FEASIBLE, INFEASIBLE) for what in ("success", "low", "high", "tasks")
    )
    return with_unscored(
        columns,
        [
            {
                **absent,
                **row,
                **{f"success_{domain}": row["domains"].get(domain) for domain in domains},
                "domains": _scored_domains(row),
            }
            for row in rows
        ],
    )


def _scored_domains(row: dict[str, Any]) -> int:
    return sum(rate is not None for rate in row["domains"].values())


def _order(row: dict[str, Any], rate: str) -> tuple[float, str]:
    return -(row[rate] if row["scored"] else -1.0), row["model"]


def _coverage_differs(rows: Sequence[dict[str, Any]]) -> bool:
    lost = [row["not_scored"] / row["planned"] for row in rows if row["planned"]]
    return bool(lost) and max(lost) - min(lost) > COVERAGE_TOLERANCE


def _unlike(runs: Sequence[RunRecord]) -> Iterator[str]:
    """What differs between the first run and each other one, besides models and agents, which the rows compare."""
    for run in runs[1:]:
        differences = [
            str(difference)
            for difference in setting_differences(runs[0], run, {})
            if difference.name.partition(".")[0] not in _COMPARED
        ]
        if differences:
            yield f"not alike, from {runs[0].run} to {run.run}: {'; '.join(differences)}"


def _in_order(domains: Iterable[str]) -> list[str]:
    names = set(domains)
    return [*(name for name in PUBLISHED_ORDER if name in names), *sorted(names.difference(PUBLISHED_ORDER))]


def _notes(rows: Sequence[dict[str, Any]], domains: Collection[str]) -> list[str]:
    profiles = {row["profile"] for row in rows}
    partial = [row["model"] for row in rows if _scored_domains(row) < len(domains)]
    notes = [*AVERAGES, *([RANKS] if len(rows) > 1 else [])]
    if len(profiles) == 1:
        notes.append(f"profile of every agent: {profiles.pop() or 'unknown'}")
    if partial:
        notes.append(f"not comparable, because their means cover fewer domains: {', '.join(dict.fromkeys(partial))}")
    return notes
