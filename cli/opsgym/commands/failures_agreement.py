"""`opsgym failures agreement`: how far people agree on failure modes, and rules and judges with people.

Invariant: nothing is printed that people's labels did not measure, and a mode on which people do not agree is marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.grid import grid
from opsgym.formats.numbers import NOTHING, percent
from opsgym.formats.score_table import console
from opsgym_api.records.attempt import Cell
from opsgym_console.analysis.failures.agreement import (
    LEAST_KAPPA,
    Agreement,
    Labels,
    ModeAgreement,
    Prevalence,
    measure,
)
from opsgym_console.analysis.failures.labels import judges, people, read_judged, read_person
from opsgym_console.analysis.failures.stored import analyse_run
from opsgym_core.results.score import RunResults
from opsgym_core.results.statistics import Interval
from opsgym_core.store.base import Store

PEOPLE = "people"
"""Name of the row that compares people among themselves."""
RULES = "rules"
"""Name of the rules among the raters."""
NOT_PUBLISHED = "not to be published"
NOTE = (
    f"Not to be published: kappa below {LEAST_KAPPA}, or not measured. Corrected shares hold for the failed trials of"
    " this run that the rater labelled; docs/failures.md has the formulas."
)


class AgreementRow(NamedTuple):
    """One mode and one comparison."""

    mode: str
    compared: str
    agreement: Agreement
    prevalence: Prevalence | None
    remark: str


def agreement(run: str, form: str, locator: RunLocator) -> int:
    """Prints the agreement on the failed trials of a run.

    Args:
        run: The run.
        form: `table` or `json`.
        locator: Location of the run.

    Raises:
        InputError: The run does not exist.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    store, results = locator.load(run)
    labels = {person: _labels_of(store, results, person) for person in people(store, results.run.run)}
    if not labels:
        click.echo(
            f"no person has labelled a trial of {results.run.run}: `opsgym failures label {run}` lets people label"
        )
        return Exit.OK
    measured = measure(labels, _raters(store, results))
    rows = [row for mode, one in measured.items() for row in _rows(mode, one) if _says_something(row, labels)]
    if form == "json":
        document = {
            "run": results.run.run,
            "people": len(labels),
            "note": NOTE,
            "rows": [_as_json(row) for row in rows],
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return Exit.OK
    table = grid("mode", "compared", "kappa (95 %)", "share", "corrected (95 %)", right=("trials",), prose=("remark",))
    for row in rows:
        raw = NOTHING if row.prevalence is None else percent(row.prevalence.raw)
        cells = (row.mode, row.compared, _kappa(row.agreement), raw, _corrected(row.prevalence))
        table.add_row(*cells, str(row.agreement.trials), row.remark)
    out = console()
    table.print(out)
    out.print()
    out.print(NOTE, soft_wrap=True)
    return Exit.OK


def _labels_of(store: Store, results: RunResults, person: str) -> Labels:
    return {(one.cell.key, one.task_id, one.trial): one.modes for one in read_person(store, results.run.run, person)}


def _raters(store: Store, results: RunResults) -> dict[str, Labels]:
    """Labels of the rules, and of every judge of the run."""
    raters: dict[str, Labels] = {
        RULES: {
            _key(one.record.cell, one.record.task_id, one.record.trial): [item.mode.value for item in one.findings]
            for one in analyse_run(store, results)
            if one.findings is not None
        }
    }
    for judge in judges(store, results.run.run):
        raters[judge] = {
            _key(one.cell, one.task_id, one.trial): [label.mode for label in one.labels]
            for one in read_judged(store, results.run.run, judge)
            if one.labels is not None
        }
    return raters


def _key(cell: Cell, task_id: str, trial: int) -> tuple[str, str, int]:
    return cell.key, task_id, trial


def _rows(mode: str, measured: ModeAgreement) -> Iterator[AgreementRow]:
    agreed = measured.people.publishable
    yield AgreementRow(mode, PEOPLE, measured.people, None, "" if agreed else NOT_PUBLISHED)
    for name, rater in measured.raters.items():
        remark = NOT_PUBLISHED if not agreed else "" if rater.agreement.publishable else f"share: {NOT_PUBLISHED}"
        yield AgreementRow(mode, name, rater.agreement, rater.prevalence, remark)


def _says_something(row: AgreementRow, labels: Mapping[str, Labels]) -> bool:
    """Whether a person or the rater gave the mode at all."""
    given = any(row.mode in modes for of_person in labels.values() for modes in of_person.values())
    return given or bool(row.prevalence and row.prevalence.raw)


def _kappa(measured: Agreement) -> str:
    if measured.kappa is None:
        return NOTHING
    interval = measured.interval
    return f"{measured.kappa:.2f}" + (f" ({interval.low:.2f} – {interval.high:.2f})" if interval else "")


def _corrected(prevalence: Prevalence | None) -> str:
    if prevalence is None or prevalence.interval is None:
        return NOTHING
    low, high = prevalence.interval.low, prevalence.interval.high
    return f"{percent(prevalence.corrected)} ({percent(low)} – {percent(high)})"


def _as_json(row: AgreementRow) -> dict[str, Any]:
    document = {
        "mode": row.mode,
        "compared": row.compared,
        "trials": row.agreement.trials,
        "kappa": row.agreement.kappa,
        "kappa_interval": _pair(row.agreement.interval),
        "remark": row.remark,
    }
    if row.prevalence is not None:
        corrected = {"share": row.prevalence.raw, "corrected": row.prevalence.corrected}
        document |= corrected | {"corrected_interval": _pair(row.prevalence.interval)}
    return document


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
