"""The data of a page about a run.

Invariant: a page's numbers are those of `opsgym results` and `opsgym compare`, since the same functions make them, and
depend on rows alone; everything else that a page tells is handed in as `About`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

from opsgym.report.baseline import baseline_rows, baseline_view, scores_of
from opsgym.report.columns import Positions, columns_of, ended_trials, outcomes_of, reasons_of
from opsgym.report.model import PageData, RunView, TaskView
from opsgym.report.modes import Findings, mode_bits, modes_view
from opsgym.report.suite import task_summaries
from opsgym.report.texts import printable
from opsgym.report.views import agent_view, cell_view, score_view
from opsgym_api.layout import RunKeys
from opsgym_api.objects import read_object
from opsgym_api.records import GateRecord, RunRecord
from opsgym_api.rows import RunRows
from opsgym_api.scores import summarise
from opsgym_api.store import Store

Details = Literal["inline", "beside", "server", "none"]
"""Where a page finds what is long; see `PageData.details`."""


@dataclass(frozen=True)
class About:
    """What a page tells besides a run's rows."""

    written_at: str
    """UTC, RFC 3339."""
    gate: GateRecord | None = None
    summaries: Mapping[str, str] = field(default_factory=dict)
    """What tasks ask for, by id."""
    findings: Findings | None = None
    """None where nobody looked into failed trials."""
    baseline: RunRows | None = None
    """Run to compare with."""
    live: bool = False
    """Whether trials may still end; they then stand in the order in which they ended."""
    phase: str | None = None
    """What the EvalRun says, in a cluster."""
    message: str = ""
    details: Details = "none"
    details_per_file: int = 0
    texts: Sequence[str] = ()
    """Texts that details repeat."""


def page_data(rows: RunRows, about: About) -> PageData:
    """The data of a page about a run."""
    summary = summarise(rows)
    positions = Positions.of(rows)
    trials = ended_trials(rows, live=about.live)
    modes = None if about.findings is None else modes_view(about.findings, summary.total.failed, positions.cells)
    then = about.baseline
    return PageData(
        run=_run_view(rows.run, about),
        total=score_view(summary.total),
        cells=[cell_view(found) for found in summary.cells],
        agents=[agent_view(found) for found in summary.agents],
        failure_modes=modes,
        baseline=None if then is None else baseline_view(then, rows, positions),
        tasks=[TaskView(id=task_id, summary=about.summaries.get(task_id, "")) for task_id in positions.tasks],
        outcomes=outcomes_of(trials),
        reasons=reasons_of(trials),
        trials=columns_of(
            trials,
            positions,
            {} if about.findings is None or modes is None else mode_bits(about.findings, modes),
            {} if then is None else scores_of(then),
        ),
        texts=list(about.texts),
        details=about.details,
        details_per_file=about.details_per_file,
    )


def load_about(store: Store, rows: RunRows, *, written_at: str, baseline: str | RunRows | None = None) -> About:
    """What the store tells besides a run's rows: its gate, what its tasks ask for, and the run to compare with.

    Nobody looks into failed trials yet, and no details are promised: set `findings` and `details` for that.

    Args:
        store: Where the run is.
        rows: The run.
        written_at: Now.
        baseline: Run to compare with, see `baseline.baseline_rows`.

    Raises:
        InputError: There is no such baseline, or an object cannot be read as what it should be.
        StoreError: The store cannot be read.
    """
    gate = read_object(store, RunKeys(rows.run.run).gate_json, GateRecord)
    return About(
        written_at=written_at,
        gate=gate,
        summaries=task_summaries(store, rows.run.run, rows.run.task_ids),
        baseline=baseline_rows(store, rows, baseline, gate),
    )


def _run_view(run: RunRecord, about: About) -> RunView:
    return RunView(
        id=run.run,
        name=run.name,
        schedule=run.schedule,
        created_at=run.created_at,
        opsgym=run.opsgym,
        suite=printable(suite_name(run.spec)),
        rescored_from=run.rescored_from,
        trials=run.trials,
        gate=about.gate,
        live=about.live,
        phase=about.phase,
        message=printable(about.message),
        budget_usd=_part(run.spec, "budget").get("maxUsd"),
        written_by=version("opsgym"),
        written_at=about.written_at,
    )


def suite_name(spec: Mapping[str, Any]) -> str:
    """Where the tasks come from, in a word."""
    suite = _part(spec, "suite")
    elsewhere = _part(suite, "objectStore") or _part(suite, "configMap")
    named = suite.get("builtin") or suite.get("path") or elsewhere.get("key") or ""
    return "/".join(str(part) for part in (elsewhere.get("store") or elsewhere.get("name"), named) if part)


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a document; empty if it has none."""
    return document.get(name) or {}
