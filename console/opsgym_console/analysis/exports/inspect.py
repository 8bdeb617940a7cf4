"""Export as Inspect logs, written by Inspect's own library: a log for each cell, a sample for each trial.

Invariant: a sample's score is ours: `C` passed, `I` failed. A trial that ended without a score is a sample with an
error. Metrics are those that Inspect computes from the samples: tasks are reduced to the mean of their epochs first.

Source: https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_console.analysis.exports.inspect_samples import SCORER, failed_sample, rates_of, scored_sample
from opsgym_console.analysis.exports.trials import ScoredTrial
from opsgym_core.common.extras import install_command
from opsgym_core.results.provenance import Provenance

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalSpec, EvalStats
    from inspect_ai.model import ModelUsage


def write_logs(
    trials: Iterable[ScoredTrial],
    failed: Mapping[str, Sequence[AttemptRecord]],
    missing: Mapping[str, int],
    out: Path,
) -> list[Path]:
    """Writes a log for each cell with a scored trial. Returns the files.

    Args:
        trials: Scored trials, those of a cell together.
        failed: Last attempts of trials that ended without a score, by cell key.
        missing: Planned trials without a score, by cell key.
        out: Folder; exists.

    Raises:
        InputError: Inspect is not installed.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        advice = f"install Inspect's library: {install_command('opsgym-console', 'inspect')}"
        raise InputError("--format inspect", [Problem("", advice)]) from None
    files = []
    for cell, of_cell in groupby(trials, key=lambda scored: scored.record.cell):
        file = out / f"{cell.key}.eval"
        log = _log(cell, list(of_cell), failed.get(cell.key, ()), missing.get(cell.key, 0))
        write_eval_log(log, str(file))
        files.append(file)
    return files


def _log(cell: Cell, trials: Sequence[ScoredTrial], failed: Sequence[AttemptRecord], missing: int) -> EvalLog:
    from inspect_ai.log import EvalLog

    samples = [scored_sample(scored) for scored in trials]
    return EvalLog(
        status="success" if len(failed) >= missing else "cancelled",
        eval=_spec(cell, trials),
        results=_results(trials, missing),
        stats=_stats(trials, samples),
        samples=[*samples, *map(failed_sample, failed)],
    )


def _spec(cell: Cell, trials: Sequence[ScoredTrial]) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec

    first = trials[0]
    ids = list(dict.fromkeys(scored.record.task_id for scored in trials))
    return EvalSpec(
        run_id=first.run.run,
        created=min(scored.record.timings.started_at for scored in trials),
        task=f"{first.run.name}/{cell.mode}/{cell.domain}",
        solver=cell.agent,
        dataset=EvalDataset(name=cell.domain, samples=len(ids), sample_ids=list(ids)),
        model=first.litellm_id,
        config=EvalConfig(epochs=first.run.trials, epochs_reducer=["mean"], fail_on_error=False),
        packages={"opsgym": first.record.versions.opsgym},
        metadata={**cell.model_dump(), "provenance": asdict(Provenance.of(first.run))},
    )


def _results(trials: Sequence[ScoredTrial], missing: int) -> EvalResults:
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    rates = rates_of(trials)
    error = stdev(rates) / len(rates) ** 0.5 if len(rates) > 1 else 0.0  # 0 for a single one, as Inspect says it
    score = EvalScore(
        name=SCORER,
        scorer=SCORER,
        reducer="mean",
        scored_samples=len(trials),
        unscored_samples=missing,
        metrics={
            "accuracy": EvalMetric(name="accuracy", value=fmean(rates)),
            "stderr": EvalMetric(name="stderr", value=error),
        },
    )
    return EvalResults(total_samples=len(trials) + missing, completed_samples=len(trials), scores=[score])


def _stats(trials: Sequence[ScoredTrial], samples: Sequence[EvalSample]) -> EvalStats:
    from inspect_ai.log import EvalStats

    started = sorted(scored.record.timings.started_at for scored in trials)
    return EvalStats(
        started_at=started[0],
        completed_at=started[-1],
        model_usage=_added(sample.model_usage for sample in samples),
        role_usage=_added(sample.role_usage for sample in samples),
    )


def _added(usages: Iterable[Mapping[str, ModelUsage]]) -> dict[str, ModelUsage]:
    sums: dict[str, ModelUsage] = {}
    for usage in usages:
        for key, used in usage.items():
            sums[key] = sums[key] + used if key in sums else used
    return sums
