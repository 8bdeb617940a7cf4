"""Bundles details of trials with their page: inside it, or in files beside it.

Invariant: row `i` of the page's trials has detail `i`. Prompts and definitions of tools, which many trials repeat, are
in the page once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import RunRecord
from opsgym_console.report.columns import FinishedTrial, TrialKey
from opsgym_console.report.details import load_detail
from opsgym_console.report.model import FindingView, ToolEntry, TranscriptEntry, TrialDetail
from opsgym_console.report.shell import detail_file
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS

INLINE_BYTES = 8_000_000
"""Most compressed details inside a page by default: a page of this size still opens at once."""
BESIDE_TRIALS = 10_000
"""Most trials whose details are written by default: a minute or two of work."""
PER_FILE = 20
"""Trials in a file: opening one loads about 100 kB, and there are fewer files than trials."""
LEAST_SHARED = 200
"""Shortest prompt, in characters, that is moved to the shared texts."""

T = TypeVar("T")


class DetailLocation(StrEnum):
    """Location of details."""

    AUTO = "auto"
    INLINE = "inline"
    BESIDE = "beside"
    NONE = "none"


Put = Callable[[str, bytes], None]
"""Writes a file of the report, by its name."""


@dataclass
class DetailBundle:
    """Details of a page, as written."""

    location: DetailLocation
    """Never `AUTO`."""
    texts: list[str] = field(default_factory=list)
    """Texts that details share."""
    inline: dict[int, TrialDetail] = field(default_factory=dict)
    """By row; empty unless the location is `INLINE`."""
    files: int = 0
    """Number of files beside the page."""
    per_file: int = 0
    """Trials in each file; 0 if there are none."""
    size: int = 0
    """Bytes of the files."""
    findings: dict[TrialKey, Sequence[FindingView]] = field(default_factory=dict)
    """Of failed trials that have a transcript."""


def load_details(
    store: Store, run: RunRecord, trials: Sequence[FinishedTrial], *, findings: bool
) -> Iterator[TrialDetail]:
    """Details of trials, in order, a batch in memory at a time.

    Args:
        store: Store of the run.
        run: The run.
        trials: Its trials that have ended.
        findings: Whether to analyse failed trials.

    Raises:
        InputError: A record or a transcript is not valid.
        StoreError: The store cannot be read.
    """

    def load(trial: FinishedTrial) -> TrialDetail:
        row = trial.row
        detail = load_detail(store, run, trial.cell, row.task_id, row.trial, findings=findings)
        # Deleted since it was listed: the page still has a row for it.
        return detail or TrialDetail(
            cell=trial.cell, task_id=row.task_id, trial=row.trial, scored=None, attempts=[], differences={},
            findings=[], tools=[], transcript=[],
        )  # fmt: skip

    with ThreadPoolExecutor(READERS) as pool:
        for batch in _batches(trials, READERS * PER_FILE):
            yield from pool.map(load, batch)


def pack(details: Iterable[TrialDetail], location: DetailLocation, put: Put) -> DetailBundle:
    """Bundles details.

    Args:
        details: By row of the page.
        location: Where they go; `AUTO` is inside the page up to `INLINE_BYTES`, else beside it.
        put: Writes a file, by its name.

    Raises:
        InputError: A detail is not valid.
        StoreError: They cannot be read or written.
    """
    bundle = DetailBundle(DetailLocation.INLINE if location is DetailLocation.AUTO else location)
    shared: dict[str, int] = {}
    waiting: list[bytes] = []
    for batch in _batches(details if bundle.location is not DetailLocation.NONE else (), PER_FILE):
        stripped = [_without_shared(detail, shared) for detail in batch]
        bundle.findings.update(_findings(batch))
        if bundle.location is DetailLocation.INLINE:
            bundle.inline.update(enumerate(stripped, start=len(bundle.inline)))
        if location is not DetailLocation.INLINE:
            waiting.append(detail_file(bundle.files + len(waiting), stripped))
            bundle.size += len(waiting[-1])
        if location is DetailLocation.AUTO and bundle.size > INLINE_BYTES:
            bundle.location = DetailLocation.BESIDE
            bundle.inline.clear()
        if bundle.location is DetailLocation.BESIDE:
            for file in waiting:
                put(file_name(bundle.files), file)
                bundle.files += 1
            bundle.per_file = PER_FILE
            waiting.clear()
    bundle.texts.extend(shared)
    return bundle


def file_name(number: int) -> str:
    """Name of a file of details in the report's folder."""
    return f"trials/{number}.js"


def _without_shared(detail: TrialDetail, shared: dict[str, int]) -> TrialDetail:
    """The detail with positions in the shared texts instead of its prompts and definitions of tools."""
    tools = [
        ToolEntry(name=tool.name, definition="", text=shared.setdefault(tool.definition, len(shared)))
        for tool in detail.catalogue
    ]
    transcript = [_without_prompt(entry, shared) for entry in detail.transcript]
    return detail.model_copy(update={"transcript": transcript, "catalogue": tools})


def _without_prompt(entry: TranscriptEntry, shared: dict[str, int]) -> TranscriptEntry:
    event = entry.event
    # Prompts of planners and judges differ from trial to trial.
    if event.kind not in ("system", "user") or event.by or len(event.content) < LEAST_SHARED:
        return entry
    text = shared.setdefault(event.content, len(shared))
    return entry.model_copy(update={"event": event.model_copy(update={"content": ""}), "text": text})


def _findings(details: Iterable[TrialDetail]) -> Iterator[tuple[TrialKey, Sequence[FindingView]]]:
    for detail in details:
        failed = detail.scored is not None and detail.scored.outcome is Outcome.FAILED
        if failed and detail.transcript:
            yield (detail.cell.key, detail.task_id, detail.trial), detail.findings


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
