"""Replays a recording on a real server, in the world it calls for, and judges every answer.

Invariant: calls are made in the recorded order, each at the time at which it was recorded, by the recorded user; an
identifier that differs in our server is the same one in every later call and answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from tests.support.gym import GymDatabase
from tools.conformance.compare import Difference, differences, refusal_of
from tools.conformance.inference import Findings, infer, kinds_of
from tools.conformance.raw import raw_problems
from tools.conformance.recordings import Call, Recording, data_of
from tools.conformance.tables import Sighting, Tables
from tools.conformance.world import Identity, World, build, is_counted, moments, script

from opsgym_domains.kit.domain import Domain

Verdict = Literal["equal", "different", "consequence", "impossible"]

IDENTITIES = {
    "csm": Identity("user", "email", {"role": "admin", "active": True}),
    "itsm": Identity("users", "static_token", {"role": "admin", "active": True}),
}
"""Where a domain's identity header finds its user."""


@dataclass(frozen=True)
class Judgement:
    """What came of one call."""

    index: int
    call: Call
    verdict: Verdict
    reason: str = ""
    """Why it differs, or could not be judged."""
    follows_write: bool = False
    """Whether the call, or one before it, writes."""
    own: bool = False
    """Whether everything that was compared had been inferred from this very answer."""
    values: int = 0
    """Values in the answer."""
    own_values: int = 0
    """Values that had been inferred from this very answer."""


@dataclass(frozen=True)
class Plan:
    """What a replay starts from, and what it expects."""

    recording: Recording
    findings: Findings
    world: World
    seed: str
    """Script that makes the world."""
    times: Sequence[datetime | None]


class Harness:
    """Makes plans for the recordings of one domain."""

    def __init__(self, domain: Domain, recordings: Sequence[Recording]) -> None:
        self.domain = domain
        self.tables = Tables(domain)
        self.writers = frozenset(name for name, tool in domain.toolbox.tools.items() if tool.writes)
        self._kinds = kinds_of(recordings, self.tables)

    def plan(self, recording: Recording, header: str | None = None) -> Plan:
        """The world that a recording calls for.

        Args:
            recording: The calls.
            header: Value of the identity header they were made with; None if it is unknown.
        """
        findings = infer(recording, self.tables, self.writers, self._kinds)
        world = build(findings, self.tables, IDENTITIES.get(self.domain.name), header)
        return Plan(recording, findings, world, script(world, self.tables), moments(findings))

    def replay(self, plan: Plan, desk: GymDatabase) -> list[Judgement]:
        """Makes a plan's calls on a database with its world.

        Args:
            plan: From `plan`.
            desk: A database seeded with the plan's script; its calls carry the identity header.
        """
        return list(_Replay(self, plan, desk).judge_all())

    def headers(self, plan: Plan) -> dict[str, str]:
        """Headers that calls of a plan carry."""
        return {self.domain.identity_header: plan.world.identity} if plan.world.identity is not None else {}


@dataclass
class _Replay:
    harness: Harness
    plan: Plan
    desk: GymDatabase
    ids: dict[tuple[str, Any], Any] = field(default_factory=dict)
    """Our identifier by table and recorded identifier, where they differ."""
    spoilt: dict[tuple[str, Any], int] = field(default_factory=dict)
    """Rows that an earlier write left otherwise than recorded, and which call that was."""

    def judge_all(self) -> Iterator[Judgement]:
        wrote = False
        for index, call in enumerate(self.plan.recording.calls):
            wrote = wrote or call.tool in self.harness.writers
            verdict, reason = self._judge(index, call)
            values, own = self._weigh(index, call)
            yield Judgement(index, call, verdict, reason, wrote, self._is_own(index, call), values, own)

    def _judge(self, index: int, call: Call) -> tuple[Verdict, str]:
        if call.mute:
            return "impossible", call.mute
        if (time := self.plan.times[index]) is not None:
            self.desk.set_clock(time.isoformat())
        try:
            outcome = self.desk.call_with(call.tool, self._in_our_words(call.arguments))
        except (AssertionError, KeyError) as refused:
            return "different", f"no tool result: {refused}"
        actual = data_of(outcome.text)
        problems = list(self._differences(index, call, actual, outcome.is_error))
        if not problems:
            form = next(raw_problems(call.raw, outcome.raw), None)
            return ("equal", "") if form is None else ("different", form)
        rows = self._rows_at_fault(index, call, actual)
        if rows and rows <= self.spoilt.keys():
            return "consequence", f"of call {min(self.spoilt[row] for row in rows)}: {problems[0]}"
        if index in self.plan.findings.contradictions:
            return "impossible", f"the recording contradicts itself: {self.plan.findings.contradictions[index]}"
        if why := self._unknown_reason(index, call):
            return "impossible", why
        if call.tool in self.harness.writers:
            self.spoilt.update(dict.fromkeys(rows, index))
        return "different", "; ".join(map(str, problems[:4])) + (
            f" and {len(problems) - 4} more" if len(problems) > 4 else ""
        )

    # --- comparison --------------------------------------------------------------------------------------------------

    def _differences(self, index: int, call: Call, actual: Any, is_error: bool) -> Iterator[Difference]:
        if call.is_error != is_error:
            yield Difference("", f"an error: {call.result}" if call.is_error else call.result, actual)
            return
        if is_error:
            recorded, made = (refusal_of(error, list(call.given)) for error in (call.result, actual))
            if recorded != made:
                yield Difference("refusal", recorded, made)
            return
        yield from self._match_new_rows(index, actual)
        yield from differences(self._in_our_words(call.result), actual, self._since)

    def _match_new_rows(self, index: int, actual: Any) -> Iterator[Difference]:
        """Pairs the rows that a call made with those of our server, which may have other identifiers."""
        made = [seen for seen in self.plan.findings.shown[index] if self._made_by(seen) == index]
        tables = {seen.table for seen in made}
        actual_rows = [seen for seen in self.harness.tables.sightings(actual) if seen.table in tables]
        for recorded_row, own in zip(made, actual_rows, strict=False):
            if recorded_row.key == own.key:
                continue
            if own.key in self.ids.values():
                yield Difference(
                    recorded_row.table, f"a new row {recorded_row.key}", f"{own.key}, which is another row already"
                )
            self.ids[recorded_row.table, recorded_row.key] = own.key
            if is_counted(recorded_row.key):
                yield Difference(f"{recorded_row.table}'s identifier", recorded_row.key, own.key)

    def _made_by(self, seen: Sighting) -> int | None:
        row = self.plan.findings.rows.get((seen.table, seen.key))
        return row.made_by if row is not None else None

    def _in_our_words(self, data: Any) -> Any:
        """Recorded data with our identifiers in place of the recorded ones."""
        if not self.ids:
            return data
        if isinstance(data, Mapping):
            targets = self.harness.tables.targets
            return {name: self._in_our_words(self._actual(targets.get(name), value)) for name, value in data.items()}
        return [self._in_our_words(item) for item in data] if isinstance(data, list) else data

    def _actual(self, table: str | None, value: Any) -> Any:
        return self.ids.get((table, value), value) if table is not None and isinstance(value, int | str) else value

    @property
    def _since(self) -> datetime | None:
        return next((time for time in self.plan.times if time is not None), None)

    # --- what a difference means -------------------------------------------------------------------------------------

    def _rows_at_fault(self, index: int, call: Call, actual: Any) -> set[tuple[str, Any]]:
        """Rows in which recorded and actual answer differ; those that the call names if no answer shows one."""
        recorded_rows = {(seen.table, seen.key): seen.values for seen in self.plan.findings.shown[index]}
        actual_rows = {(seen.table, seen.key): seen.values for seen in self.harness.tables.sightings(actual)}
        differing = {
            row for row in recorded_rows.keys() | actual_rows.keys() if recorded_rows.get(row) != actual_rows.get(row)
        }
        return differing or set(self._named(call))

    def _named(self, call: Call) -> list[tuple[str, Any]]:
        """Rows that a call names by their keys."""
        targets = ((self.harness.tables.targets.get(name), value) for name, value in call.given.items())
        return [(table, value) for table, value in targets if table is not None and isinstance(value, int | str)]

    def _unknown_reason(self, index: int, call: Call) -> str | None:
        """Why the rows behind an answer cannot be known; None if they can."""
        if call.is_error:
            unseen = [row for row in self._named(call) if row not in self.plan.findings.rows]
            return f"no other answer shows the row of a refused call: {unseen[0][0]} {unseen[0][1]}" if unseen else None
        counted = any(grouping.call == index for grouping in self.plan.findings.groupings)
        if call.tool in self.harness.writers or counted or not self.harness.tables.has_numbers(call.result):
            return None
        return "the answer counts rows that it does not show"

    def _is_own(self, index: int, call: Call) -> bool:
        if call.tool in self.harness.writers or call.is_error:
            return False
        rows = self.plan.findings.rows
        shown = self.plan.findings.shown[index]
        if not shown:
            return not any(row.touched or row.made_by is not None for row in rows.values())
        return all(self._source(index, seen, name) == index for seen in shown for name in seen.values)

    def _source(self, index: int, seen: Sighting, column: str) -> int | None:
        """Index of the call that a value of an answer was inferred from, if the value existed before the first call."""
        row = self.plan.findings.rows[seen.table, seen.key]
        if row.made_by is not None or row.touched.get(column, index + 1) <= index:
            return None
        own_key = column == self.harness.tables.keys[seen.table]
        calls = [fact.call for name, fact in row.initial.items() if own_key or name == column]
        return min(calls, default=None)

    def _weigh(self, index: int, call: Call) -> tuple[int, int]:
        """How many values an answer has, and how many of them had been inferred from it."""
        shown = self.plan.findings.shown[index]
        own = sum(self._source(index, seen, name) == index for seen in shown for name in seen.values)
        return _leaves(call.result), own


def _leaves(data: Any) -> int:
    if isinstance(data, Mapping):
        return sum(map(_leaves, data.values()))
    return sum(map(_leaves, data)) if isinstance(data, list) else 1
