"""Judges a run that is in a store, and tells people what its gate says."""

from __future__ import annotations

from collections.abc import Iterator

import click

from opsgym.local.clock import utc_now
from opsgym_api.baseline import find_last_good
from opsgym_api.evalrun import Gate
from opsgym_api.gate import Baseline, judge, standing_of
from opsgym_api.records import GateCheck, GateRecord
from opsgym_api.rows import RunRows
from opsgym_api.scores import Summary
from opsgym_api.store import Store


def judged(gate: Gate, rows: RunRows, summary: Summary, store: Store, baseline: Baseline | None) -> GateRecord:
    """What a gate says of a run.

    Args:
        gate: The gate.
        rows: The run.
        summary: The same, summed up.
        store: Where the last good run is looked for.
        baseline: The run that the gate names; None if it names none.

    Raises:
        InputError: A record of an earlier run cannot be read.
        StoreError: The store cannot be read.
    """
    if gate.last_good:
        baseline = find_last_good(store, rows.run)
    return judge(gate, standing_of(rows, summary), baseline).record(rows.run.run, utc_now())


def print_gate(record: GateRecord, *, err: bool) -> None:
    """Prints the verdict, then every condition, what keeps the gate from saying GO first.

    Args:
        record: What the gate says.
        err: Whether to print on stderr.
    """
    for line in lines(record):
        click.echo(line, err=err)


def lines(record: GateRecord) -> Iterator[str]:
    """The verdict and every condition."""
    yield f"gate: {record.verdict}"
    for check in sorted(record.checks, key=lambda check: check.verdict == "GO"):
        yield f"  {told(check)}"


def told(check: GateCheck) -> str:
    """A condition in a line."""
    return f"{check.verdict:<12}  {check.told}"
