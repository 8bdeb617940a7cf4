"""`opsgym gate`."""

from __future__ import annotations

from pathlib import Path

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.gates import judged, print_gate
from opsgym_api.baseline import find_baseline
from opsgym_api.documents import load_documents, text_of
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import EvalRunSpec, Gate
from opsgym_api.records import RunRecord
from opsgym_api.scores import PENDING, summarise
from opsgym_api.strict_yaml import model_of, parts_of, value_of


def judge_run(run: str, file: Path | None, where: Where, *, as_json: bool) -> int:
    """Judges a finished run by its own gate or another; nothing is written.

    Args:
        run: The run, as the user names it.
        file: YAML with a gate, or with an EvalRun that has one; the run's own gate if None.
        where: Where results are.
        as_json: Whether to print one JSON line instead.

    Raises:
        InputError: There is no such run, no gate, or no baseline.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be asked.
    """
    given = None if file is None else read_gate(file)
    store, rows = where.load_rows(run)
    gate = given or _own(rows.run)
    baseline = find_baseline(store, gate.baseline, rows.run.run) if gate.baseline is not None else None
    summary = summarise(rows)
    record = judged(gate, rows, summary, store, baseline)
    if pending := summary.total.not_scored.get(PENDING, 0):
        click.echo(f"{pending} trials of {rows.run.run} have not ended; judged as it stands", err=True)
    if as_json:
        click.echo(record.model_dump_json())
    else:
        print_gate(record, err=False)
    return Exit.of_gate(record.verdict)


def read_gate(file: Path) -> Gate:
    """The gate of a file.

    Raises:
        InputError: The file cannot be read, or holds no gate.
    """
    source = str(file)
    parts = parts_of(source, text_of(file))
    content = value_of(source, parts[0]) if len(parts) == 1 else None
    if isinstance(content, dict) and "kind" not in content:
        return model_of(source, parts[0], Gate)
    gate = load_documents(file).run.spec.gate
    if gate is None:
        raise InputError(source, [Problem("spec.gate", "is missing; say what a good run is")])
    return gate


def _own(run: RunRecord) -> Gate:
    gate = EvalRunSpec.model_validate(run.spec).gate
    if gate is None:
        raise InputError(run.run, [Problem("spec.gate", "the run has none; name a file with --gate")])
    return gate
