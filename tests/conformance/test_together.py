"""All recordings of a domain in one world: a read must find the same rows among those that other recordings tell of.

A recording by itself says little of its first reads, whose rows are inferred from their own answers: nothing else is
there to be found. Here everything is there that any recording shows whole from the beginning, unless two of them
contradict each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.support.gym import gym_server
from tests.support.upstream import upstream
from tools.conformance.corpus import headers_of, recordings_of
from tools.conformance.inference import Fact
from tools.conformance.recordings import Call
from tools.conformance.replay import IDENTITIES, Harness, Plan
from tools.conformance.tables import Tables, Values
from tools.conformance.world import World, script

from opsgym_domains import registry

pytestmark = pytest.mark.published

Rows = dict[tuple[str, Any], dict[str, Fact]]
NOT_SHOWN = {"sys_updated_on"}
"""Columns that most reads leave out and none filters by."""
ACTOR = 10**6
"""Key of a user that no recording knows."""


def rows_of_all_recordings(plans: Sequence[Plan], tables: Tables) -> Rows:
    """Rows that recordings show whole from the beginning, without those that two of them show differently."""
    values: dict[tuple[str, Any], dict[str, dict[str, Fact]]] = defaultdict(lambda: defaultdict(dict))
    for plan in plans:
        for row, facts in plan.world.rows.items():
            for name, fact in facts.items():
                if fact.call >= 0:
                    values[row][name][repr(fact.value)] = fact
    whole: Rows = {}
    for (table, key), columns in values.items():
        needed = set(tables.columns(table)) - {tables.keys[table]} - NOT_SHOWN
        if needed <= set(columns) and all(len(versions) == 1 for versions in columns.values()):
            facts = {name: next(iter(versions.values())) for name, versions in columns.items()}
            unknown = dict.fromkeys(tables.columns(table), Fact(None, -1))
            whole[table, key] = {**unknown, **facts, tables.keys[table]: Fact(key, -1)}
    return whole


def first_reads(plans: Sequence[Plan], writers: frozenset[str]) -> Iterator[Call]:
    """Calls before the first write of their recording that found something out."""
    for plan in plans:
        for call in plan.recording.calls:
            if call.tool in writers:
                break
            if not call.is_error and not call.mute:
                yield call


def acting(table: str, column: str, staff: Values, tables: Tables) -> tuple[Rows, str]:
    """A user who may read everything, and the value of the identity header for it."""
    texts = {name: f"{name}@nowhere.test" for name in tables.columns(table) if tables.is_text(table, name)}
    values = dict.fromkeys(tables.columns(table)) | texts | staff | {tables.keys[table]: ACTOR}
    return {(table, ACTOR): {name: Fact(value, -1) for name, value in values.items()}}, texts[column]


@pytest.mark.parametrize("domain", ["csm"])
def test_reads_find_what_they_found_also_among_the_rows_of_other_recordings(domain: str) -> None:
    recordings = recordings_of(upstream(), domain)
    headers = headers_of(upstream(), domain)
    harness = Harness(registry.load(domain), recordings)
    tables = harness.tables
    plans = [harness.plan(recording, headers.get(recording.task_id)) for recording in recordings]
    world = rows_of_all_recordings(plans, tables)
    assert len(world) > 500
    people = IDENTITIES[domain]
    actor, header = acting(people.table, people.column, people.staff, tables)

    same, differing = Counter[bool](), []
    with gym_server(domain) as gym:
        desk = gym.database(script(World(world | actor), tables), **{harness.domain.identity_header: header})
        for call in first_reads(plans, harness.writers):
            recorded = [(seen.table, seen.key) for seen in tables.sightings(call.result)]
            expected = [row for row in recorded if row in world]
            actual = desk.call_with(call.tool, call.arguments).data
            keys = [(seen.table, seen.key) for seen in tables.sightings(actual)]
            if len(recorded) == call.arguments.get("limit"):  # worse ones may follow that were cut off
                keys = keys[: len(expected)]
            if keys == expected:
                same[bool(expected)] += 1
            else:
                differing.append((call.tool, dict(call.arguments), sorted(set(keys) ^ set(expected))[:5]))
    assert same[True] > 100
    # Recordings were made on several seeds that differ in a few rows.
    assert len(differing) <= 0.01 * same.total(), differing
