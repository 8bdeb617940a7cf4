"""`opsgym gate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.gates import judged, print_gate
from opsgym_api.baseline import find_baseline
from opsgym_api.documents import load_documents
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import EvalRunSpec, Gate
from opsgym_api.records import RunRecord
from opsgym_api.scores import PENDING, summarise
from opsgym_api.strict_yaml import line_of, parts_of, value_of
from opsgym_api.validation import message_of, path_of


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
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(file), [Problem("", f"cannot be read: {type(error).__name__}")]) from None
    parts = parts_of(str(file), text)
    content: Any = value_of(str(file), parts[0]) if len(parts) == 1 else None
    if content is None or (isinstance(content, dict) and "kind" in content):
        gate = load_documents(file).run.spec.gate
        if gate is None:
            raise InputError(str(file), [Problem("spec.gate", "is missing; say what a good run is")])
        return gate
    try:
        return Gate.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        problems = [
            Problem(f"{path_of(item['loc'])} (line {line_of(parts[0], item['loc'])})", message_of(item, Gate))
            for item in error.errors(include_url=False)
        ]
        raise InputError(str(file), problems) from None


def _own(run: RunRecord) -> Gate:
    gate = EvalRunSpec.model_validate(run.spec).gate
    if gate is None:
        raise InputError(run.run, [Problem("spec.gate", "the run has none; name a file with --gate")])
    return gate
