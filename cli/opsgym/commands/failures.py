"""`opsgym failures`: failure modes of the failed trials of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.grid import grid
from opsgym.formats.numbers import NOTHING, cell_name, percent
from opsgym.formats.score_table import console
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.run import profile_of
from opsgym_console.analysis.failures import Evidence, Finding, Mode
from opsgym_console.analysis.failures.counts import TRIAGE, WEAK, WEAK_NOTE, Detected, ModeCount, count_mode
from opsgym_console.analysis.failures.stored import TrialAnalysis, analyse_run

if TYPE_CHECKING:
    from rich.console import Console

    from opsgym.commands.failures_judge import JudgeRequest
    from opsgym_api.records.failure_labels import JudgedTrial

NO_TRANSCRIPT = "no transcript"
"""Shown for a failed trial whose transcript is not stored."""
UNEXPLAINED = "unexplained"
"""Shown for a failed trial without a failure mode."""
JUDGE_NOTE = (
    "Labels of a model, each with a step and a verifier that exist. How far people agree with it is known only where"
    " people labelled the same trials."
)


def failures(run: str, trial: str | None, form: str, locator: RunLocator) -> int:
    """Prints the failure modes of the failed trials of a run.

    Args:
        run: The run.
        trial: `TASK[/N]`, the trial whose evidence is printed; None for a table of all failed trials.
        form: `table` or `json`.
        locator: Location of the run.

    Raises:
        InputError: The run or the trial does not exist.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    selected = None if trial is None else _parse_trial(trial)
    store, results = locator.load(run)
    if selected is not None:
        trials = [record for record in results.trials if (record.task_id, record.trial) == selected]
        if not trials:
            raise InputError(results.run.run, [Problem("--trial", f"the run has no scored trial {trial}")])
        results = replace(results, trials=trials)
    analysed = analyse_run(store, results)
    if form == "json":
        click.echo(json.dumps({"run": results.run.run, **_as_json(analysed)}, ensure_ascii=False))
        return Exit.OK
    if not analysed:
        which = f"trial {trial}" if trial else f"no trial of run {results.run.run}"
        click.echo(f"{which} {'did not fail' if trial else 'failed'}")
        return Exit.OK
    if selected is None:
        _print_all(analysed, console())
    else:
        _print_evidence(analysed)
    return Exit.OK


def judged_failures(run: str, form: str, request: JudgeRequest, locator: RunLocator) -> int:
    """Lets a judge label the failed trials of a run, and prints its labels.

    Args:
        run: The run.
        form: `table` or `json`.
        request: The judge and its budget.
        locator: Location of the run.

    Raises:
        InputError: The run or the model does not exist, or the model cannot be called.
        StoreError: The store cannot be read or written.
        ClusterError: The cluster cannot be queried.
    """
    from opsgym.commands.failures_judge import judge_failures, print_progress  # imports the runner

    store, results = locator.load(run)
    result = judge_failures(store, results, request)
    print_progress(result)
    counts = _judged_counts(result.judged)
    if form == "json":
        trials = [one.model_dump(mode="json") for one in result.judged]
        modes = {mode: _count_json(count) for mode, count in counts.items()}
        document = {
            "run": results.run.run,
            "judge_note": JUDGE_NOTE,
            "cost_usd": result.cost_usd,
            "left": result.left,
            "trials": trials,
            "modes": modes,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return Exit.NOT_SCORED if result.left else Exit.OK
    _print_judged(result.judged, results.run.spec, counts, console())
    return Exit.NOT_SCORED if result.left else Exit.OK


def _judged_counts(judged: Sequence[JudgedTrial]) -> dict[str, ModeCount]:
    """Modes that a judge gave, over the trials with a valid reply."""
    valid = [Detected(one.task_id, [label.mode for label in one.labels]) for one in judged if one.labels is not None]
    counts = {mode.value: count_mode(mode, valid) for mode in Mode}
    return {mode: count for mode, count in counts.items() if count.trials}


def _print_judged(
    judged: Sequence[JudgedTrial], spec: Mapping[str, Any], counts: Mapping[str, ModeCount], out: Console
) -> None:
    table = grid("trial", "cell", "profile", "mode", "cited", prose=("reason",))
    for trial in judged:
        profile = profile_of(spec, trial.cell.agent)
        for label in trial.labels or ():
            name = f"{trial.task_id}/{trial.trial}"
            cited = f"step {label.step}, verifier {label.verifier}"
            table.add_row(name, cell_name(trial.cell), profile, label.mode, cited, " ".join(label.reason.split()))
    table.print(out)
    out.print()
    of_modes = grid("mode", "share (95 % interval)", right=("trials",))
    for mode, count in counts.items():
        of_modes.add_row(mode, _share(count), str(count.trials))
    of_modes.print(out)
    out.print()
    out.print(JUDGE_NOTE, soft_wrap=True)


def _parse_trial(trial: str) -> tuple[str, int]:
    match = re.fullmatch(r"([^/]+)(?:/(\d{1,9}))?", trial)
    if match is None:
        raise InputError(trial, [Problem("--trial", "is not of the form TASK[/N], with the number counted from 0")])
    return match[1], int(match[2] or 0)


def _print_all(analysed: Sequence[TrialAnalysis], out: Console) -> None:
    table = grid("trial", "cell", "profile", "primary", prose=("also", "evidence"))
    for trial in analysed:
        table.add_row(_name(trial), cell_name(trial.record.cell), trial.record.profile, *_modes_and_evidence(trial))
    table.print(out)
    out.print()
    counts = grid("mode", "share (95 % interval)", right=("primary", "in all"), prose=("remark",))
    for name, count in _counts(analysed).items():
        remark = "weak" if name in WEAK else ""
        counts.add_row(name, _share(count), str(count.primary), str(count.trials), remark)
    counts.print(out)
    out.print()
    out.print(TRIAGE, soft_wrap=True)
    out.print(WEAK_NOTE, soft_wrap=True)


def _share(count: ModeCount) -> str:
    if count.share is None or count.interval is None:
        return NOTHING
    return f"{percent(count.share)} ({percent(count.interval.low)} – {percent(count.interval.high)})"


def _modes_and_evidence(trial: TrialAnalysis) -> tuple[str, str, str]:
    if trial.findings is None:
        return NO_TRANSCRIPT, "", trial.problem
    if not trial.findings:
        return UNEXPLAINED, "", ""
    first, *others = trial.findings
    return first.mode.value, ", ".join(finding.mode.value for finding in others), _line(first.evidence[0])


def _print_evidence(analysed: Sequence[TrialAnalysis]) -> None:
    for trial in analysed:
        cell, profile = cell_name(trial.record.cell), trial.record.profile
        click.echo(f"{_name(trial)}  {cell}  profile {profile or 'unknown'}  {trial.record.reason}")
        if not trial.task_known:
            click.echo("  the row that ran is not in the store, so there is no reference solution to compare with")
        if not trial.findings:
            click.echo(f"  {NO_TRANSCRIPT if trial.findings is None else UNEXPLAINED}")
        for finding in trial.findings or ():
            click.echo(f"  {_heading(finding)}")
            for evidence in finding.evidence:
                click.echo(f"    {_line(evidence)}")


def _heading(finding: Finding) -> str:
    marks = [name for name, holds in (("primary", finding.primary), ("weak", finding.mode in WEAK)) if holds]
    remark = f" ({', '.join(marks)})" if marks else ""
    return f"{finding.mode.value}{remark}, by {finding.basis.value}"


def _line(evidence: Evidence) -> str:
    """Evidence in one line: its location, then its content."""
    location = []
    if evidence.step is not None:
        location.append(f"step {evidence.step}")
    if evidence.tool is not None:
        location.append(evidence.tool)
    if evidence.verifier is not None:
        location.append(f"verifier {evidence.verifier}")
    detail = " ".join(evidence.detail.split())
    return f"{', '.join(location)}: {detail}" if location else detail


def _name(trial: TrialAnalysis) -> str:
    return f"{trial.record.task_id}/{trial.record.trial}"


def _counts(analysed: Sequence[TrialAnalysis]) -> dict[str, ModeCount]:
    """Modes that the rules report, in the order of `Mode`; unexplained trials come last, as shares of all trials."""
    modes = [Detected(one.record.task_id, [item.mode for item in one.findings]) for one in analysed if one.findings]
    unexplained = [Detected(one.record.task_id, [UNEXPLAINED]) for one in analysed if one.findings == []]
    without = [Detected(one.record.task_id, [NO_TRANSCRIPT]) for one in analysed if one.findings is None]
    read = [*modes, *unexplained]
    counts = {name: count_mode(name, read) for name in (*Mode, UNEXPLAINED)}
    counts[NO_TRANSCRIPT] = count_mode(NO_TRANSCRIPT, [*read, *without])
    return {str(name): count for name, count in counts.items() if count.trials}


def _count_json(count: ModeCount) -> dict[str, Any]:
    interval = None if count.interval is None else [count.interval.low, count.interval.high]
    return {"all": count.trials, "share": count.share, "interval": interval}


def _as_json(analysed: Sequence[TrialAnalysis]) -> dict[str, Any]:
    trials = [
        {
            "task_id": trial.record.task_id,
            "trial": trial.record.trial,
            "cell": trial.record.cell.model_dump(),
            "reason": trial.record.reason,
            "task_known": trial.task_known,
            "findings": None if trial.findings is None else [finding.as_json() for finding in trial.findings],
        }
        for trial in analysed
    ]
    modes = {
        name: {"primary": count.primary, **_count_json(count), "weak": name in WEAK}
        for name, count in _counts(analysed).items()
    }
    return {"triage": TRIAGE, "trials": trials, "modes": modes}
