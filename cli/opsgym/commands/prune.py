"""`opsgym prune` and `opsgym pin`: what of a store's runs stays, and what its objects take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.history import History
from opsgym_api.records.run import PinRecord
from opsgym_api.records.store_layout import RunKeys, is_trial_record
from opsgym_core.common.clock import now_text, utc_now
from opsgym_core.gates.pruning import erase, plan, survey
from opsgym_core.results import retention
from opsgym_core.results.retention import Deletion, Stays, kind_of
from opsgym_core.store.base import ErasableStore
from opsgym_core.store.location import open_erasable

DELETIONS = (
    Column("run", Kind.TEXT, "run"),
    Column("deletes", Kind.TEXT, "deletes"),
    Column("objects", Kind.COUNT, "objects"),
    Column("bytes", Kind.COUNT, "bytes"),
)
"""Columns of what is deleted."""
SIZES = (
    Column("run", Kind.TEXT, "run"),
    Column("trials", Kind.COUNT, "trials"),
    Column("objects", Kind.COUNT, "objects"),
    *(Column(kind.value, Kind.COUNT, kind.value) for kind in retention.Kind),
    Column("bytes_per_trial", Kind.COUNT, "per trial"),
)
"""Columns of what runs take."""


@dataclass(frozen=True)
class PruneRequest:
    """What the user asks for."""

    history: History
    delete: bool
    """Whether to delete, not only to say what would be."""


def prune(request: PruneRequest, locator: RunLocator) -> int:
    """Deletes what need not stay, or prints what would be deleted.

    Raises:
        InputError: The location is not a store, or a record of it cannot be read.
        StoreError: The store cannot be read, or refuses a deletion.
    """
    store = open_erasable(locator.open().name)
    deletions: list[Deletion] = []
    for step in _steps(store, request):
        if isinstance(step, Stays):
            click.echo(f"{step.run} stays: {step.reason}", err=True)
            continue
        deletions.append(step)
        if request.delete:
            erase(store, step)
    _show(DELETIONS, [_deletion_row(one) for one in deletions])
    objects, size = sum(len(one.objects) for one in deletions), sum(one.size for one in deletions)
    amount = f"{objects:,} objects of {len(deletions)} runs, {size:,} bytes"
    click.echo(f"deleted {amount}" if request.delete else f"would delete {amount}; --yes deletes them")
    return Exit.OK


def _steps(store: ErasableStore, request: PruneRequest) -> Iterator[Deletion | Stays]:
    surveyed = survey(store)
    for error in surveyed.unreadable:
        click.echo(f"warning: {error}", err=True)
    if request.delete and surveyed.unreadable:
        advice = "use the opsgym that wrote them, or restore or remove these objects"
        problem = (
            f"unreadable records may be of gates that compare with runs to delete, so nothing is deleted; {advice}"
        )
        raise InputError(store.name, [Problem("", problem)])
    now = utc_now()
    return plan(store, surveyed, retention.due_kinds(surveyed.runs.values(), request.history, now), now)


def _deletion_row(deletion: Deletion) -> Mapping[str, Any]:
    deletes = "everything" if retention.Kind.RECORDS in deletion.kinds else ", ".join(deletion.kinds)
    return {
        "run": deletion.run,
        "deletes": deletes,
        "objects": len(deletion.objects),
        "bytes": deletion.size,
    }


def print_sizes(locator: RunLocator) -> int:
    """Prints what each run of a store takes, in bytes by kind and for each scored trial.

    Raises:
        InputError: The location is not a store.
        StoreError: The store cannot be read.
    """
    store = open_erasable(locator.open().name)
    _show(SIZES, [_size_row(store, run) for run in store.folders("runs")])
    click.echo("name what to delete: --records, --transcripts or --states, for example --states 30d")
    return Exit.OK


def _size_row(store: ErasableStore, run: str) -> Mapping[str, Any]:
    keys = RunKeys(run)
    sizes: Counter[str] = Counter()
    trials = objects = 0
    for one in store.objects(keys.root):
        sizes[kind_of(one.key).value] += one.size
        objects += 1
        trials += one.key.startswith(keys.cells) and is_trial_record(one.key)
    by_kind = {kind.value: sizes[kind.value] for kind in retention.Kind}
    per_trial = round(sizes.total() / trials) if trials else None
    return {"run": run, "trials": trials, "objects": objects, **by_kind, "bytes_per_trial": per_trial}


def _show(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        Table(columns, rows).for_console().print(console())


def pin(run: str, reason: str, locator: RunLocator, *, remove: bool) -> int:
    """Makes a run stay in its store whatever its age, or ends that.

    Raises:
        InputError: The run does not exist.
        StoreError: The store cannot be read or written.
        ClusterError: The cluster cannot be queried.
    """
    store, record = locator.load_record(run)
    key = RunKeys(record.run).pin_json
    if remove:
        open_erasable(store.name).delete([key])
        click.echo(f"{record.run} is not pinned any more")
    else:
        store.put(key, PinRecord(reason=reason, since=now_text()).model_dump_json().encode())
        click.echo(f"{record.run} is pinned: `opsgym prune` leaves it alone")
    return Exit.OK
