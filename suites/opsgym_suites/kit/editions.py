"""Pinned editions of the built-in suites: what may change in them, and how another one is opened and pinned.

Invariant: the files of a pinned edition are written when it is pinned and never again. What `next` corrects or removes
of it has a reason in the file of the open edition; a seed that it pins stays as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.task import Task
from opsgym_domains.editions import DATE, Listing

DIGITS = 16
"""Hexadecimal digits of a digest in a listing: enough to find an accident, few enough to read."""
Row = Mapping[str, Any]
_REASON = re.compile(r"(?P<kind>corrected|removed) (?P<task>\S+): (?P<why>\S.*)")
_ABSENT = object()


@dataclass(frozen=True)
class SuiteRows:
    """A suite as it is now, or as an edition has it."""

    rows: Mapping[str, Row]
    """Rows by task id, in order, with their texts inserted."""
    seeds: Mapping[str, str]
    """SQL of the seeds that the rows start from, by name."""

    @property
    def listing(self) -> Listing:
        """What an edition of these rows would pin."""
        return Listing(
            {task: row_digest(row) for task, row in self.rows.items()},
            {name: _short(hashlib.sha256(sql.encode()).hexdigest()) for name, sql in self.seeds.items()},
        )


@dataclass(frozen=True)
class Change:
    """A task that is not as an edition pins it."""

    kind: Literal["added", "corrected", "removed"]
    task_id: str
    fields: Sequence[str] = ()
    """Fields that a correction changes, as paths."""

    def line(self, why: str = "") -> str:
        """The change in a line."""
        fields = f" ({', '.join(self.fields)})" if self.fields else ""
        return f"{self.kind:9}  {self.task_id}{fields}{f': {why}' if why else ''}"


@dataclass(frozen=True)
class Reasons:
    """The file of an open edition, `suites/editions/NAME.txt`: a line `corrected TASK: WHY` or `removed TASK: WHY` for
    each pinned row that changes.
    """

    by_change: Mapping[tuple[str, str], str]
    """Reason by kind of change and task id."""
    faults: Sequence[str]
    """Lines that are neither a reason nor a comment."""

    @classmethod
    def parse(cls, text: str) -> Reasons:
        """The reasons of a file's content; lines that begin with `#` are comments."""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        matches = {line: _REASON.fullmatch(line) for line in lines}
        reasons = {(match["kind"], match["task"]): match["why"] for match in matches.values() if match}
        return cls(reasons, [line for line, match in matches.items() if not match])

    def why(self, change: Change) -> str:
        """The reason of a change; empty if none is given."""
        return self.by_change.get((change.kind, change.task_id), "")


def row_digest(row: Row) -> str:
    """Digest of a row with its texts inserted: the beginning of the one that records have."""
    return _short(task_digest(Task.model_validate(row)))


def _short(digest: str) -> str:
    return digest[:DIGITS]


def changes(pinned: Listing, before: Mapping[str, Row], now: SuiteRows) -> list[Change]:
    """What a suite adds to an edition, corrects and removes, in this order.

    Args:
        pinned: What the edition pins.
        before: Its rows by task id.
        now: The suite.
    """
    digests = now.listing.rows
    added = [Change("added", task) for task in digests if task not in pinned.rows]
    corrected = [
        Change("corrected", task, list(differing_fields(before[task], now.rows[task])))
        for task, digest in pinned.rows.items()
        if digests.get(task, digest) != digest
    ]
    return [*added, *corrected, *(Change("removed", task) for task in pinned.rows if task not in digests)]


def differing_fields(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Paths of the innermost values that differ: `user_prompt`, `verifiers[2].validation_config.rows`."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            inner = f"{path}.{name}" if path else str(name)
            yield from differing_fields(before.get(name, _ABSENT), after.get(name, _ABSENT), inner)
    elif isinstance(before, list) and isinstance(after, list) and _has_objects(before, after):
        for place, (one, other) in enumerate(zip_longest(before, after, fillvalue=_ABSENT)):
            yield from differing_fields(one, other, f"{path}[{place}]")
    elif before != after:
        yield path


def _has_objects(*lists: list[Any]) -> bool:
    return any(isinstance(item, Mapping) for items in lists for item in items)


def refusals(
    edition: str, differing: Sequence[Change], opened: str, reasons: Reasons, pinned: Listing, now: SuiteRows
) -> Iterator[str]:
    """Changes of what an edition pins that have no reason, each as `task id: problem`.

    Args:
        edition: The edition.
        differing: What differs from it.
        opened: The open edition; empty if none is.
        reasons: Those of the open edition.
        pinned: What the edition pins.
        now: The suite.
    """
    for change in differing:
        if change.kind == "added" or reasons.why(change):
            continue
        what = f"{', '.join(change.fields)} differs from" if change.fields else "is missing, unlike"
        name = opened or "NAME"
        first = "" if opened else f"open an edition with `python -m opsgym_suites --open {name}` and "
        line = f"{change.kind} {change.task_id}: WHY"
        yield (
            f"{change.task_id}: {what} the row that edition {edition} pins; restore it, or {first}give the reason as a "
            f"line `{line}` in suites/editions/{name}.txt"
        )
    for seed, digest in now.listing.seeds.items():
        if pinned.seeds.get(seed, digest) != digest:
            yield (
                f"seed {seed}: differs from the one that edition {edition} pins; a pinned seed never changes, because "
                f"its tasks would start elsewhere: restore it, and write the change as a new seed, such as {seed}-2"
            )


def name_problem(name: str, newest: str) -> str:
    """Why an edition cannot have a name; empty if it can."""
    if not DATE.fullmatch(name):
        return f"an edition is named by its month or day, such as 2026-12 or 2026-12-15, not {name!r}"
    return f"edition {name!r} is not newer than {newest}, which is pinned" if newest and name <= newest else ""
