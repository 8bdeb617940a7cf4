"""`opsgym gate`: judges a run by a gate, or simulates a gate before a run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.gate_text import gate_text
from opsgym.formats.numbers import percent
from opsgym.local.inputs import read_inputs
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import EvalRunSpec, Gate
from opsgym_api.records.run import RunRecord
from opsgym_core.common.strict_yaml import model_of, parts_of, value_of
from opsgym_core.gates.baseline import baseline_of
from opsgym_core.gates.power import VERDICTS, Assumptions, Design, power_of, tasks_needed
from opsgym_core.gates.stored_run import judge_stored_run
from opsgym_core.planning.cells import plan_cells
from opsgym_core.planning.documents import load_documents, text_of
from opsgym_core.planning.rounds import rounds_of
from opsgym_core.results.score import PENDING, summarise
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.prices import known_prices

ROUNDS = 200
"""Simulated runs for each true change: a share of one half has a standard error of 3.5 points."""


def judge_run(run: str, file: Path | None, locator: RunLocator, *, as_json: bool) -> int:
    """Judges a run by its own gate or by another one, and prints the verdict; nothing is stored.

    Args:
        run: The run, as for `opsgym results`.
        file: YAML with a gate, or with an EvalRun that has a gate; None for the run's own gate.
        locator: Location of the run.
        as_json: Whether to print the verdict as one JSON line.

    Raises:
        InputError: The run, the gate or its baseline does not exist.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    gate_of_file = None if file is None else read_gate(file)
    store, rows = locator.load_rows(run)
    gate = gate_of_file or _gate_of(rows.run)
    # Another gate than the run's own is judged against the baseline that it names, not the one that looks fixed.
    own = rows.run if gate_of_file is None else rows.run.model_copy(update={"looks": ()})
    baseline = baseline_of(store, gate, own)
    summary = summarise(rows)
    record = judge_stored_run(gate, rows, summary, store, baseline)
    if pending := summary.total.not_scored.get(PENDING, 0):
        click.echo(f"{pending} trials of {rows.run.run} have not ended; they count as not scored", err=True)
    click.echo(record.model_dump_json() if as_json else gate_text(record))
    return Exit.of_gate(record.verdict)


def plan_gate(run_file: Path, gate_file: Path | None, rate: float, flips: float) -> int:
    """Prints how often a gate would say GO, INCONCLUSIVE and NO-GO on the tasks of an EvalRun; nothing is run.

    Args:
        run_file: File with the EvalRun.
        gate_file: File with another gate; None for the EvalRun's own.
        rate: Assumed success rate of the baseline.
        flips: Assumed share of tasks with another result in a second, unchanged run of one trial per task.

    Raises:
        InputError: The run, its suite or the gate does not exist, or the gate judges no scores.
    """
    gate = read_gate(run_file if gate_file is None else gate_file)
    if gate.max_regression is None and gate.min_success_rate is None:
        message = "has no condition on scores, so it has no power; add maxRegression or minSuccessRate"
        raise InputError(str(gate_file or run_file), [Problem("spec.gate", message)])
    inputs = read_inputs(run_file, os.environ, known_prices, missing_key)
    cells = {plan.cell: [task.task_id for task in plan.tasks] for plan in plan_cells(inputs.spec, inputs.tasks)}
    spec = inputs.spec
    if (gate.min_trials or 0) > spec.trials:
        message = f"minTrials: {gate.min_trials} is more than trials: {spec.trials} of {run_file}; lower it"
        raise InputError(str(gate_file), [Problem("minTrials", message)])
    design = Design(cells, spec.trials, rounds_of(spec.model_copy(update={"gate": gate})))
    click.echo("\n".join(_power_lines(gate, design, Assumptions(rate, flips))))
    return Exit.OK


def _power_lines(gate: Gate, design: Design, assumptions: Assumptions) -> Iterator[str]:
    looks = f", looks after {', '.join(map(str, design.rounds))} of them" if design.rounds else ""
    counts = f"{design.tasks} tasks, {len(design.cells)} cells, trials: {design.trials}{looks}"
    yield f"power of the gate over {counts}"
    assumed = f"success rate {percent(assumptions.rate)}, {percent(assumptions.flips)} flips"
    yield f"assumed: {assumed}; {ROUNDS} simulated runs"
    played = "  trials played" if design.rounds else ""
    yield f"{'true change':>14}  {'GO':>6}  {'INCONCLUSIVE':>12}  {'NO-GO':>6}{played}"
    bound = 0.1 if gate.max_regression is None else gate.max_regression
    for change in dict.fromkeys((0.0, -bound / 2, -bound, -1.5 * bound, -2 * bound)):
        if assumptions.rate + change < 0:
            continue
        power = power_of(gate, design, change, assumptions, ROUNDS)
        name = "none" if change == 0 else f"{100 * change:+.1f} points"
        go, open_, no_go = (f"{power.shares[verdict]:.0%}" for verdict in VERDICTS)
        played = f"  {power.trials / design.trials:>13.0%}" if design.rounds else ""
        yield f"{name:>14}  {go:>6}  {open_:>12}  {no_go:>6}{played}"
    yield from _variance_lines(gate, design.trials, assumptions)
    if gate.max_regression:
        needed = [
            tasks_needed(gate.max_regression, power, assumptions.flips, gate.confidence, design.trials)
            for power in (0.8, 0.9)
        ]
        few, many = ("more than a suite has" if count is None else f"{count} tasks" for count in needed)
        yield f"maxRegression says GO for an unchanged agent with 80 % power from {few}, with 90 % from {many}"


def _variance_lines(gate: Gate, trials: int, assumptions: Assumptions) -> Iterator[str]:
    """Whether more tasks or more trials help."""
    variance, twice = assumptions.variance, 1 - math.sqrt(0.5)
    parts = f"between tasks {variance.tasks:.3f}, between trials of a task {variance.trials:.3f}"
    yield f"variance of a result: {parts}"
    narrower = f"twice the tasks narrow the bounds by {twice:.0%}"
    if gate.min_success_rate is not None:
        yield f"minSuccessRate: {narrower}, twice the trials by {variance.narrowing(trials):.0%}"
    if gate.max_regression is not None:
        # Paired with itself a task differs only by its trials, so that its difficulty cancels.
        yield f"maxRegression: {narrower}, twice the trials by {twice:.0%} while the agent is unchanged"


def read_gate(file: Path) -> Gate:
    """Reads the gate of a file.

    Raises:
        InputError: The file cannot be read or has no gate.
    """
    source = str(file)
    parts = parts_of(source, text_of(file))
    content = value_of(source, parts[0]) if len(parts) == 1 else None
    if isinstance(content, dict) and "kind" not in content:
        return model_of(source, parts[0], Gate)
    gate = load_documents(file).run.spec.gate
    if gate is None:
        raise InputError(source, [Problem("spec.gate", "is missing; add the conditions of a good run")])
    return gate


def _gate_of(run: RunRecord) -> Gate:
    gate = EvalRunSpec.model_validate(run.spec).gate
    if gate is None:
        raise InputError(run.run, [Problem("spec.gate", "the run has no gate; name a file with --gate")])
    return gate
