"""Infers from a recording the rows that existed before its first call.

Invariant: a value is taken for one from the beginning only if no call that could have written it came before. Each such
value keeps the index of the call that showed it, so that a report can say which answers were judged by themselves.

A reading call shows rows, the values that it filtered by, and which rows did not match. A writing call shows
that what its arguments name exists, and the columns of a changed row that it did not write. Rows that a call makes are
never taken for old ones; their identifiers tell where counting stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tools.conformance.recordings import Call, Recording
from tools.conformance.tables import Sighting, Tables, Values, time_of

RUN_HOURS = 12
"""Longest a recorded run takes: a time farther than that from one of its calls was not written by it."""
_REMOVES = ("delete", "remove")
"""How names of tools begin that remove the rows they show."""


@dataclass(frozen=True)
class Fact:
    """A value from the beginning."""

    value: Any
    call: int
    """Index of the call that shows it."""


@dataclass
class Known:
    """What is known of one row."""

    table: str
    key: Any
    initial: dict[str, Fact] = field(default_factory=dict)
    current: Values = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    """Index of the first call that wrote a column."""
    made_by: int | None = None
    """Call that made the row; None if it was there before."""
    gone: int | None = None
    """Call that removed it."""
    ordered: frozenset[str] = frozenset()
    """Columns of a new row that the call which made it had an argument for."""

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Whether the row is known to have these values now."""
        initial = {name: fact.value for name, fact in self.initial.items()}
        return _has(initial | self.current, values)


@dataclass(frozen=True)
class Listing:
    """A read that shows which rows did not exist."""

    call: int
    table: str
    filters: Values
    keys: frozenset[Any]


@dataclass(frozen=True)
class Removal:
    """Rows from the beginning that were removed without being shown."""

    call: int
    table: str
    values: Values
    count: int


@dataclass(frozen=True)
class Grouping:
    """How many rows from the beginning had each value of a column, counted without showing the rows."""

    call: int
    table: str
    column: str
    filters: Values
    counts: Mapping[Any, int]
    """Of all values that occurred."""


@dataclass
class Findings:
    """Everything that is inferred from a recording."""

    rows: dict[tuple[str, Any], Known] = field(default_factory=dict)
    listings: list[Listing] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    groupings: list[Grouping] = field(default_factory=list)
    moments: list[datetime | None] = field(default_factory=list)
    """When each call was made, as far as it wrote a time; UTC."""
    shown: list[list[Sighting]] = field(default_factory=list)
    """Rows in each call's answer."""
    contradictions: dict[int, str] = field(default_factory=dict)
    """Calls that tell of a row what an earlier one denies, though nothing was written in between."""
    mentioned: set[Any] = field(default_factory=set)
    """Keys that calls name; rows that are made up must not have them."""


def infer(recording: Recording, tables: Tables, writers: Iterable[str], kinds: Mapping[str, str]) -> Findings:
    """Infers the rows of a recording.

    Args:
        recording: The calls.
        tables: The domain's tables.
        writers: Tools that may write.
        kinds: Table that a reading tool shows rows of, for answers that show none.
    """
    reader = _Reader(recording, tables, frozenset(writers), kinds)
    for index, call in enumerate(recording.calls):
        reader.hear(index, call)
    return reader.findings


def kinds_of(recordings: Iterable[Recording], tables: Tables) -> dict[str, str]:
    """The table whose rows a tool shows, of tools that always show rows of the same one."""
    seen: dict[str, set[str]] = {}
    for recording in recordings:
        for call in recording.calls:
            if not call.is_error:
                seen.setdefault(call.tool, set()).update(sighting.table for sighting in tables.sightings(call.result))
    return {tool: shown.pop() for tool, shown in seen.items() if len(shown) == 1}


class _Reader:
    """Reads a recording call by call."""

    def __init__(self, recording: Recording, tables: Tables, writers: frozenset[str], kinds: Mapping[str, str]) -> None:
        self.findings = Findings()
        self._recording = recording
        self._tables = tables
        self._writers = writers
        self._kinds = kinds
        self._last_write = -1

    def hear(self, index: int, call: Call) -> None:
        """Learns from one more call."""
        self._note_mentions(call)
        shown = [] if call.is_error else list(self._tables.sightings(call.result))
        self.findings.shown.append(shown)
        self.findings.moments.append(None)
        if call.is_error or call.mute:
            return
        if call.tool in self._writers:
            self._hear_write(index, call, shown)
            self._last_write = index
        else:
            self._hear_read(index, call, shown)

    # --- reads -------------------------------------------------------------------------------------------------------

    def _hear_read(self, index: int, call: Call, shown: Sequence[Sighting]) -> None:
        main = self._main_table(call, shown)
        filters = self._filters(call, main) if main else {}
        for sighting in shown:
            hinted = filters if sighting.table == main else {}
            self._learn(index, sighting.table, sighting.key, hinted | sighting.values)
        if main is not None:
            self._note_listing(index, call, main, filters, shown)
        self._note_counts(index, call)

    def _main_table(self, call: Call, shown: Sequence[Sighting]) -> str | None:
        """Table that a read is about: the one it shows; else the one it shows elsewhere; else the one its name says."""
        tables = {sighting.table for sighting in shown}
        if tables:
            return tables.pop() if len(tables) == 1 else None
        named = call.arguments.keys() - {"limit"}
        fits = [table for table in self._tables.keys if named and named <= self._tables.columns(table).keys()]
        return self._kinds.get(call.tool) or (self._tables.said_first(call.tool, fits) if call.result == [] else None)

    def _filters(self, call: Call, table: str) -> Values:
        """Arguments that can only mean that a column has their value."""
        columns = self._tables.columns(table)
        scalars = {name: value for name, value in call.arguments.items() if isinstance(value, bool | int | str)}
        return {
            name: value for name, value in scalars.items() if name in columns and self._tables.is_exact(table, name)
        }

    def _note_listing(self, index: int, call: Call, table: str, filters: Values, shown: Sequence[Sighting]) -> None:
        limit = call.arguments.get("limit")
        if not (isinstance(limit, int) and len(shown) >= limit) and (isinstance(call.result, list) or not shown):
            keys = frozenset(sighting.key for sighting in shown)
            self.findings.listings.append(Listing(index, table, filters, keys))

    def _note_counts(self, index: int, call: Call) -> None:
        """Understands `[{"state": "new", "count": 3}, …]`."""
        items = call.result if isinstance(call.result, list) else []
        names = {name for item in items if isinstance(item, dict) for name in item} - {"count"}
        if len(names) != 1 or not all(isinstance(item, dict) and isinstance(item.get("count"), int) for item in items):
            return
        (column,) = names
        if any(isinstance(item.get(column), dict | list) for item in items):
            return
        filters = {name: value for name, value in call.arguments.items() if _is_key(value)}
        named = {column, *call.arguments}
        fits = [table for table in self._tables.keys if named <= self._tables.columns(table).keys()]
        table = self._tables.said_first(call.tool, fits)
        if table is not None and len(filters) == len(call.arguments):
            counts = {item.get(column): item["count"] for item in items}
            grouping = Grouping(index, table, column, filters, self._at_first(table, column, filters, counts))
            self.findings.groupings.append(grouping)

    def _at_first(self, table: str, column: str, filters: Values, counts: dict[Any, int]) -> dict[Any, int]:
        """Counts without what calls did since the beginning."""
        counts_before = Counter(counts)
        for row in self.findings.rows.values():
            before = {name: fact.value for name, fact in row.initial.items()}
            now = before | row.current
            if row.table == table and row.gone is None and column in now and _has(now, filters):
                counts_before[now[column]] -= 1
            if row.table == table and row.made_by is None and column in before and _has(before, filters):
                counts_before[before[column]] += 1
        return {value: count for value, count in counts_before.items() if count > 0}

    def _learn(self, index: int, table: str, key: Any, values: Mapping[str, Any]) -> None:
        """Takes values for those from the beginning, unless something wrote them since."""
        row = self._row(table, key)
        for name, value in values.items():
            fact = row.initial.get(name)
            if row.made_by is not None or name in row.touched:
                row.current[name] = value
            elif fact is None:
                row.initial[name] = Fact(value, index)
            elif fact.value != value and self._last_write > fact.call:
                row.touched.setdefault(name, index)
                row.current[name] = value
            elif fact.value != value:
                contradiction = f"{table} {key}: {name} is {value!r}, though call {fact.call} showed {fact.value!r}"
                self.findings.contradictions[index] = contradiction

    # --- writes ------------------------------------------------------------------------------------------------------

    def _hear_write(self, index: int, call: Call, shown: Sequence[Sighting]) -> None:
        self.findings.moments[index] = self._moment(call, shown)
        for sighting in shown:
            if self._is_new(call, sighting):
                row = self._row(sighting.table, sighting.key)
                row.made_by, row.current = index, dict(sighting.values)
                row.ordered = frozenset(name for name in sighting.values if call.given.get(name) is not None)
            else:
                self._change(index, call, sighting)
        if not shown:
            self._hear_acknowledgement(index, call)

    def _is_new(self, call: Call, sighting: Sighting) -> bool:
        """Whether a write made the row it shows."""
        if (sighting.table, sighting.key) in self.findings.rows or call.tool.startswith(_REMOVES):
            return False
        if call.arguments.get(self._tables.keys[sighting.table]) is not None:
            return False
        created, updated = (sighting.values.get(name or "") for name in self._tables.stamps(sighting.table))
        return created is None or updated is None or _near(created, updated)

    def _change(self, index: int, call: Call, sighting: Sighting) -> None:
        row = self._row(sighting.table, sighting.key)
        updated = self._tables.stamps(sighting.table)[1]
        if call.tool.startswith(_REMOVES):
            self._learn(index, sighting.table, sighting.key, sighting.values)
            row.gone = index
            return
        now = self.findings.moments[index]
        for name, value in sighting.values.items():
            fact = row.initial.get(name)
            row.current[name] = value
            if name == self._tables.keys[sighting.table]:
                continue
            ordered = name in call.given and (value is None or call.given[name] not in (None, ""))
            written = ordered or name == updated or (fact is not None and fact.value != value)
            if written or name in row.touched or (fact is None and now is not None and _near(value, now)):
                row.touched.setdefault(name, index)
            elif fact is None and row.made_by is None:
                row.initial[name] = Fact(value, index)

    def _hear_acknowledgement(self, index: int, call: Call) -> None:
        """An answer that shows no row: `{"deleted": 1}`, `{"status": "success", "assigned_to": 7}`."""
        result = call.result if isinstance(call.result, dict) else {}
        removed = self._removed_table(call)
        if removed is not None:
            self._note_removed(index, call, removed)
            return
        for table, key in self._tables.keys.items():
            if not _is_key(call.arguments.get(key)):
                continue
            row = self._row(table, call.arguments[key])
            columns = self._tables.columns(table)
            stated = {name: value for name, value in (dict(call.arguments) | result).items() if name in columns}
            written = {
                name: value for name, value in stated.items() if name != key and not isinstance(value, dict | list)
            }
            for name, value in written.items():
                row.touched.setdefault(name, index)
                row.current[name] = value

    def _removed_table(self, call: Call) -> str | None:
        """Table whose rows an unseen removal is of: the one with these arguments that the tool's name says best."""
        if not call.tool.startswith(_REMOVES) or not call.arguments:
            return None
        given = call.arguments.keys()
        fits = [table for table in self._tables.keys if given <= self._tables.columns(table).keys()]
        return self._tables.said_first(call.tool, fits)

    def _note_removed(self, index: int, call: Call, table: str) -> None:
        """Rows that fitted a removal's arguments were there, as many as it says, and are gone."""
        deleted = call.result.get("deleted") if isinstance(call.result, dict) else None
        count = deleted if isinstance(deleted, int) and not isinstance(deleted, bool) else 1
        key = self._tables.keys[table]
        if _is_key(call.arguments.get(key)):
            if count:
                self._row(table, call.arguments[key]).gone = index
            return
        given = dict(call.arguments)
        fitting = [
            row for row in self.findings.rows.values() if row.table == table and row.gone is None and row.fits(given)
        ]
        made = sum(row.made_by is not None for row in fitting)
        self.findings.removals.append(Removal(index, table, given, count - made))
        for row in fitting:
            row.gone = index

    def _moment(self, call: Call, shown: Sequence[Sighting]) -> datetime | None:
        """When a write was carried out: the latest time in its answer that it can have written."""
        given = {value for value in call.given.values() if isinstance(value, str)}
        times = [self._times_written(sighting) for sighting in shown] if shown else [_times_in(call.result)]
        written = [time for pairs in times for text, time in pairs if text not in given and self._within_run(time)]
        return max(written, default=None)

    def _times_written(self, sighting: Sighting) -> list[tuple[str, datetime]]:
        row = self.findings.rows.get((sighting.table, sighting.key))
        stamps = self._tables.stamps(sighting.table)
        facts = row.initial if row is not None else {}
        values = {
            name: value for name, value in sighting.values.items() if name not in facts or facts[name].value != value
        }
        return _times_in(values if self._around else {name: value for name, value in values.items() if name in stamps})

    @property
    def _around(self) -> datetime | None:
        """A time that the recording's calls are near to: as written down, or as the last one wrote it."""
        moments = [self._recording.around, *self.findings.moments]
        return next((time for time in reversed(moments) if time is not None), None)

    def _within_run(self, time: datetime) -> bool:
        around = self._around
        return around is None or abs(time - around) <= timedelta(hours=RUN_HOURS)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _row(self, table: str, key: Any) -> Known:
        return self.findings.rows.setdefault((table, key), Known(table, key))

    def _note_mentions(self, call: Call) -> None:
        self.findings.mentioned.update(
            value for value in call.given.values() if isinstance(value, int | str) and not isinstance(value, bool)
        )


def _has(values: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(values.get(name) == value for name, value in expected.items())


def _is_key(value: Any) -> bool:
    return isinstance(value, int | str)


def _times_in(data: Any) -> list[tuple[str, datetime]]:
    values = data.values() if isinstance(data, dict) else []
    return [(value, time) for value in values if (time := time_of(value)) is not None]


def _near(value: Any, other: Any) -> bool:
    """Whether two times are those of one call."""
    left, right = (time if isinstance(time, datetime) else time_of(time) for time in (value, other))
    return left is not None and right is not None and abs(left - right) <= timedelta(seconds=2)
