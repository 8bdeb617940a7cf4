"""Puts details of trials where their page finds them: into it, or into files beside it.

Invariant: row `i` of the page's trials has detail `i`; and what every trial of a task repeats, its prompts, stands in
the page once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from opsgym.report.columns import Ended, TrialPlace
from opsgym.report.details import load_detail
from opsgym.report.model import FindingView, Said, TrialDetail
from opsgym.report.shell import detail_file
from opsgym_api.objects import READERS
from opsgym_api.outcomes import Outcome
from opsgym_api.records import RunRecord
from opsgym_api.store import Store

INLINE_BYTES = 8_000_000
"""Details that a page holds at most, compressed, if nobody asks for more: a page of this size still opens at once."""
BESIDE_TRIALS = 10_000
"""Trials whose details are written at most, if nobody asks for more: a minute or two of work."""
PER_FILE = 20
"""Trials that share a file: opening one fetches some 100 kB, and there are not as many files as trials."""
LEAST_SHARED = 200
"""Characters of a prompt from which on it is worth a place among the shared texts."""

T = TypeVar("T")


class Place(StrEnum):
    """Where details are to be."""

    AUTO = "auto"
    INLINE = "inline"
    BESIDE = "beside"
    NONE = "none"


Put = Callable[[str, bytes], None]
"""Writes a file of the report, by its name."""


@dataclass
class Packed:
    """Details that are where their page finds them."""

    place: Place
    """Never `AUTO`."""
    texts: list[str] = field(default_factory=list)
    """Texts that details repeat."""
    inline: dict[int, TrialDetail] = field(default_factory=dict)
    """By row; empty unless they belong into the page."""
    files: int = 0
    """Files beside the page."""
    per_file: int = 0
    """Trials of each of them; 0 if there are none."""
    size: int = 0
    """Bytes of these files."""
    findings: dict[TrialPlace, Sequence[FindingView]] = field(default_factory=dict)
    """Of failed trials whose transcript is there."""


def load_details(store: Store, run: RunRecord, trials: Sequence[Ended], *, findings: bool) -> Iterator[TrialDetail]:
    """Details of trials, in order; only some of them are in memory at a time.

    Args:
        store: Where the run is.
        run: The run.
        trials: Its trials that have ended.
        findings: Whether to look into those that failed.

    Raises:
        InputError: A record or a transcript cannot be read as one.
        StoreError: The store cannot be read.
    """

    def load(trial: Ended) -> TrialDetail:
        row = trial.row
        found = load_detail(store, run, trial.cell, row.task_id, row.trial, findings=findings)
        # Gone since it was listed: the page still has a row for it.
        return found or TrialDetail(
            cell=trial.cell, task_id=row.task_id, trial=row.trial, scored=None, attempts=[], differences={},
            findings=[], tools=[], said=[],
        )  # fmt: skip

    with ThreadPoolExecutor(READERS) as pool:
        for some in _batches(trials, READERS * PER_FILE):
            yield from pool.map(load, some)


def pack(details: Iterable[TrialDetail], wanted: Place, put: Put) -> Packed:
    """Puts details where they are wanted.

    Args:
        details: By row of the page.
        wanted: Where; `AUTO` is inside the page as long as they are not too large, else beside it.
        put: Writes a file, by its name.

    Raises:
        InputError: One cannot be read.
        StoreError: They cannot be read or written.
    """
    packed = Packed(Place.INLINE if wanted is Place.AUTO else wanted)
    shared: dict[str, int] = {}
    waiting: list[bytes] = []
    for batch in _batches(details if packed.place is not Place.NONE else (), PER_FILE):
        lean = [_without_prompts(detail, shared) for detail in batch]
        packed.findings.update(_found(batch))
        if packed.place is Place.INLINE:
            packed.inline.update(enumerate(lean, start=len(packed.inline)))
        if wanted is not Place.INLINE:
            waiting.append(detail_file(packed.files + len(waiting), lean))
            packed.size += len(waiting[-1])
        if wanted is Place.AUTO and packed.size > INLINE_BYTES:
            packed.place = Place.BESIDE
            packed.inline.clear()
        if packed.place is Place.BESIDE:
            for file in waiting:
                put(file_name(packed.files), file)
                packed.files += 1
            packed.per_file = PER_FILE
            waiting.clear()
    packed.texts.extend(shared)
    return packed


def file_name(number: int) -> str:
    """Name of a file of details in the report's folder."""
    return f"trials/{number}.js"


def _without_prompts(detail: TrialDetail, shared: dict[str, int]) -> TrialDetail:
    """The same with its prompts among the shared texts, by position."""
    return detail.model_copy(update={"said": [_lean(said, shared) for said in detail.said]})


def _lean(said: Said, shared: dict[str, int]) -> Said:
    event = said.event
    # What a part of the agent or a judge is asked differs from trial to trial.
    if event.kind not in ("system", "user") or event.by or len(event.content) < LEAST_SHARED:
        return said
    text = shared.setdefault(event.content, len(shared))
    return Said(event=event.model_copy(update={"content": ""}), text=text)


def _found(details: Iterable[TrialDetail]) -> Iterator[tuple[TrialPlace, Sequence[FindingView]]]:
    for detail in details:
        failed = detail.scored is not None and detail.scored.outcome is Outcome.FAILED
        if failed and detail.said:
            yield (detail.cell.key, detail.task_id, detail.trial), detail.findings


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
