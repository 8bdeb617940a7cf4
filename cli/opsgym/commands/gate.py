"""`opsgym gate`: judges a run by a gate."""

from __future__ import annotations

from pathlib import Path

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.gate_text import gate_text
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import EvalRunSpec, Gate
from opsgym_api.records.run import RunRecord
from opsgym_core.common.strict_yaml import model_of, parts_of, value_of
from opsgym_core.gates.baseline import find_baseline
from opsgym_core.gates.stored_run import judge_stored_run
from opsgym_core.planning.documents import load_documents, text_of
from opsgym_core.results.score import PENDING, summarise


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
    baseline = find_baseline(store, gate.baseline, rows.run.run) if gate.baseline is not None else None
    summary = summarise(rows)
    record = judge_stored_run(gate, rows, summary, store, baseline)
    if pending := summary.total.not_scored.get(PENDING, 0):
        click.echo(f"{pending} trials of {rows.run.run} have not ended; judging the others", err=True)
    click.echo(record.model_dump_json() if as_json else gate_text(record))
    return Exit.of_gate(record.verdict)


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
