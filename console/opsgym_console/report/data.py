"""Computes the data of the page about a run.

Invariant: a page's numbers are those of `opsgym results` and `opsgym compare`, since the same functions compute them,
and depend on rows alone; everything else is passed in as `PageContext`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.report.baseline import baseline_rows, baseline_view, scores_of
from opsgym_console.report.columns import Positions, columns_of, finished_trials, outcomes_of, reasons_of
from opsgym_console.report.model import AgentView, CellView, PageData, RunView, TaskView
from opsgym_console.report.modes import Findings, mode_bits, modes_view
from opsgym_console.report.suite import task_summaries
from opsgym_console.report.texts import printable
from opsgym_console.report.variants import other_variants, variants_view
from opsgym_core.results.published import beside, published_table, refusal
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary, summarise
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object

Details = Literal["inline", "beside", "server", "none"]
"""Location of details; see `PageData.details`."""


@dataclass(frozen=True)
class PageContext:
    """Everything that a page shows besides the run's rows."""

    written_at: str
    """UTC, RFC 3339."""
    gate: GateRecord | None = None
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of user prompts, by task id."""
    findings: Findings | None = None
    """Findings of failed trials; None if they were not analysed."""
    baseline: RunRows | None = None
    """Run to compare with."""
    variants: Mapping[int, tuple[str, Summary]] = field(default_factory=dict)
    """Id and scores of runs of other variants of the suite, by variant."""
    live: bool = False
    """Whether trials may still end; their table is then in the order in which they ended."""
    phase: str | None = None
    """Phase of the EvalRun; None outside a cluster."""
    message: str = ""
    store: str = ""
    """See `RunView.store`."""
    details: Details = "none"
    details_per_file: int = 0
    texts: Sequence[str] = ()
    """Texts that details share."""


PUBLIC_SPLIT = published_table("public-split")


def page_data(rows: RunRows, context: PageContext) -> PageData:
    """The data of the page about a run."""
    summary = summarise(rows)
    positions = Positions.of(rows)
    trials = finished_trials(rows, live=context.live)
    modes = None if context.findings is None else modes_view(context.findings, summary.total.failed, positions.cells)
    baseline = context.baseline
    return PageData(
        run=_run_view(rows.run, context),
        total=summary.total,
        cells=[CellView(cell=one.cell, score=one.score) for one in summary.cells],
        agents=[AgentView(**vars(one)) for one in summary.agents],
        failure_modes=modes,
        baseline=None if baseline is None else baseline_view(baseline, rows, positions),
        variants=variants_view(rows.run, summary, context.variants, positions),
        beside=None if refusal(PUBLIC_SPLIT, rows.run) else beside(PUBLIC_SPLIT, [summary]),
        tasks=_task_views(rows, positions, context.summaries),
        outcomes=outcomes_of(trials),
        reasons=reasons_of(trials),
        trials=columns_of(
            trials,
            positions,
            {} if context.findings is None or modes is None else mode_bits(context.findings, modes),
            {} if baseline is None else scores_of(baseline),
        ),
        texts=list(context.texts),
        details=context.details,
        details_per_file=context.details_per_file,
    )


def _task_views(rows: RunRows, positions: Positions, summaries: Mapping[str, str]) -> list[TaskView]:
    scored = {trial.task_id: trial for cell in rows.cells for trial in cell.trials}
    views = [TaskView(id=task_id, summary=summaries.get(task_id, "")) for task_id in positions.tasks]
    return [
        view.model_copy(update={"feasible": one.feasible, "horizon": one.horizon, "tags": list(one.tags)})
        if (one := scored.get(view.id)) is not None
        else view
        for view in views
    ]


def load_context(store: Store, rows: RunRows, *, written_at: str, baseline: str | RunRows | None = None) -> PageContext:
    """Reads a run's gate, prompts and baseline. Findings and details are left empty; callers set them.

    Args:
        store: Store of the run.
        rows: The run.
        written_at: The time, UTC, RFC 3339.
        baseline: Run to compare with, see `baseline.baseline_rows`.

    Raises:
        InputError: There is no such baseline, or an object is not valid.
        StoreError: The store cannot be read.
    """
    gate = read_object(store, RunKeys(rows.run.run).gate_json, GateRecord)
    return PageContext(
        written_at=written_at,
        gate=gate,
        summaries=task_summaries(store, rows.run.run, rows.run.task_ids),
        baseline=baseline_rows(store, rows, baseline, gate),
        variants=other_variants(store, rows.run),
    )


def _run_view(run: RunRecord, context: PageContext) -> RunView:
    return RunView(
        id=run.run,
        name=run.name,
        schedule=run.schedule,
        created_at=run.created_at,
        opsgym=run.opsgym,
        suite=printable(run.suite),
        rescored_from=run.rescored_from,
        trials=run.trials,
        gate=context.gate,
        live=context.live,
        phase=context.phase,
        message=printable(context.message),
        store=context.store,
        budget_usd=_part(run.spec, "budget").get("maxUsd"),
        written_by=version("opsgym-console"),
        written_at=context.written_at,
    )


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a document; empty if it has none."""
    return document.get(name) or {}
