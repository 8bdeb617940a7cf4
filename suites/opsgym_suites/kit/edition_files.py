"""Files of the built-in suites' editions in the checkout, and what the command does with them.

Invariant: all suites are pinned together, so one edition at a time is pinned and at most one is open. Pinning replaces
the files of the edition before: a release ships one pinned edition beside `next`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from opsgym_domains.editions import FOLDER, Listing
from opsgym_suites.kit.data_files import json_lines, write
from opsgym_suites.kit.editions import Change, Reasons, Row, SuiteRows, changes, name_problem, refusals, row_digest

_HEAD = """\
# Edition {name}: a line `corrected TASK: WHY` or `removed TASK: WHY` for each pinned row that it changes.
# `python -m opsgym_suites --pin {name}` pins it.
"""


@dataclass(frozen=True)
class EditionFiles:
    """Where editions are."""

    data: Mapping[str, Path]
    """Folder of each suite's data files, by suite; selections, which have rows of others, are not among them."""
    selections: Path
    """Folder of the data files of selections."""
    reasons: Path
    """Folder of the reasons of editions."""

    @property
    def newest(self) -> str:
        """The pinned edition; empty if none is."""
        files = (self.selections / FOLDER).glob("*@*.txt")
        return max((file.stem.partition("@")[2] for file in files), default="")

    @property
    def opened(self) -> str:
        """The open edition; empty if none is."""
        names = (file.stem for file in self.reasons.glob("*.txt"))
        return max((name for name in names if name > self.newest), default="")

    def given(self) -> Reasons:
        """Reasons of the open edition."""
        text = (self.reasons / f"{self.opened}.txt").read_text(encoding="utf-8") if self.opened else ""
        return Reasons.parse(text)

    def listing(self, suite: str) -> Listing:
        """What the pinned edition pins of a suite; nothing of a suite that it does not have."""
        file = self.data.get(suite, self.selections) / FOLDER / f"{suite}@{self.newest}.txt"
        return Listing.parse(file.read_text(encoding="utf-8") if file.exists() else "")

    def rows(self, suite: str) -> Mapping[str, Row]:
        """Rows of a suite in the pinned edition by task id."""
        file = self.data[suite] / FOLDER / f"{suite}@{self.newest}.jsonl.zst"
        content = zstandard.decompress(file.read_bytes()) if file.exists() else b""
        return {row["task_id"]: row for row in map(json.loads, content.splitlines())}

    def changed(self, now: Mapping[str, SuiteRows]) -> dict[str, list[Change]]:
        """What differs from the pinned edition, by suite."""
        return {suite: changes(self.listing(suite), self.rows(suite), rows) for suite, rows in now.items()}

    def problems(self, now: Mapping[str, SuiteRows]) -> Iterator[str]:
        """What must not be as it is in some suites: damaged files, changes without a reason.

        Args:
            now: Suites as they are built.
        """
        if not self.newest:
            return
        reasons, differing = self.given(), self.changed(now)
        for suite, rows in now.items():
            pinned = self.listing(suite)
            digests = {task: row_digest(row) for task, row in self.rows(suite).items()}
            if digests != pinned.rows:
                yield f"{suite}@{self.newest}: rows and list do not fit together; restore both from the history"
            else:
                yield from refusals(self.newest, differing[suite], self.opened, reasons, pinned, rows)

    def idle_lines(self, now: Mapping[str, SuiteRows]) -> Iterator[str]:
        """Lines of the open edition's file that give no reason, or one for what did not change.

        Args:
            now: All suites.
        """
        if not self.newest:
            return
        reasons, differing = self.given(), self.changed(now)
        place = f"suites/editions/{self.opened}.txt"
        made = {(change.kind, change.task_id) for of_suite in differing.values() for change in of_suite}
        yield from (f"{place}: {line!r} is not `corrected TASK: WHY` or `removed TASK: WHY`" for line in reasons.faults)
        yield from (
            f"{place}: {kind} {task}: the row is as edition {self.newest} pins it; delete the line"
            for kind, task in reasons.by_change
            if (kind, task) not in made
        )

    def report(self, name: str, now: Mapping[str, SuiteRows]) -> Iterator[str]:
        """What an edition changes since the pinned one, a line for each task."""
        reasons = self.given()
        differing = [change for of_suite in self.changed(now).values() for change in of_suite]
        yield f"edition {name}, {f'since {self.newest}' if self.newest else 'the first one'}: {len(differing)} changes"
        if self.newest:
            yield from (f"  {change.line(reasons.why(change))}" for change in differing)

    def open(self, name: str) -> str:
        """Opens an edition; why not, empty if it is open now."""
        if self.opened and self.opened != name:
            return f"edition {self.opened} is open; pin it first, or rename suites/editions/{self.opened}.txt"
        if problem := name_problem(name, self.newest):
            return problem
        file = self.reasons / f"{name}.txt"
        if not file.exists():
            write(file, _HEAD.format(name=name))
        return ""

    def pin(self, name: str, now: Mapping[str, SuiteRows], selected: Mapping[str, Sequence[str]]) -> str:
        """Pins the suites as they are; why not, empty if they are pinned now.

        Args:
            name: The edition.
            now: The suites, whose `problems` are solved.
            selected: Ids of the tasks of each selection.
        """
        if problem := name_problem(name, self.newest):
            return problem
        if self.opened != name:
            return f"edition {name} is not open; `python -m opsgym_suites --open {name}` opens it"
        for folder in {self.selections, *self.data.values()}:
            for file in (folder / FOLDER).glob("*@*"):
                file.unlink()
        digests: dict[str, str] = {}
        for suite, rows in now.items():
            listing = rows.listing
            digests |= listing.rows
            write(self.data[suite] / FOLDER / f"{suite}@{name}.txt", listing.text)
            write(self.data[suite] / FOLDER / f"{suite}@{name}.jsonl.zst", json_lines(list(rows.rows.values())))
        for suite, ids in selected.items():
            listing = Listing({task: digests[task] for task in ids}, {})
            write(self.selections / FOLDER / f"{suite}@{name}.txt", listing.text)
        return ""
