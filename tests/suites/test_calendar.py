"""What the calendar's seed and suite hold beyond what every suite proves."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from tests.suites.conftest import Gyms
from tests.suites.proofs import Case, cases_of

from opsgym_api.kinds.evalrun import Access
from opsgym_domains import registry
from opsgym_domains.calendar.tables import Event, User
from opsgym_suites.calendar.seeds import (
    clinics_sql,
    clinics_world,
    generate,
    generate_clinics,
    offices_sql,
    offices_world,
)
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import key_of


def _cases() -> list[Case]:
    return cases_of("calendar-core")


def test_calendar_seeds_of_one_description_are_equal() -> None:
    assert seed_sql(generate()) == offices_sql()
    assert seed_sql(generate_clinics()) == clinics_sql()


WORLDS = {"offices": offices_world, "clinics": clinics_world}


@pytest.mark.parametrize("seed", WORLDS)
def test_calendar_keys_are_unique_and_have_the_form_of_random_ones(seed: str) -> None:
    world = WORLDS[seed]()
    for kind in world.kinds:
        keys = [getattr(row, key_of(kind)) for row in world.all(kind)]
        assert len(set(keys)) == len(keys)
    assert {UUID(event.event_id).version for event in world.all(Event)} == {4}


def test_no_key_of_one_calendar_world_is_known_from_the_other() -> None:
    offices, clinics = ({event.event_id for event in world().all(Event)} for world in WORLDS.values())
    assert offices.isdisjoint(clinics)


@pytest.mark.parametrize("seed", WORLDS)
def test_a_calendar_database_has_the_rows_of_the_seed_in_every_table(gyms: Gyms, seed: str) -> None:
    gym = gyms("calendar")
    made = gym.database(builtin=seed)
    expected = {name: len(rows) for name, rows in WORLDS[seed]().tables()}
    counts = {name: made.value(f"SELECT COUNT(*) FROM {name}") for name in expected}
    gym.drop(made)
    assert counts == expected
    assert min(counts.values()) > 0
    assert sum(counts.values()) >= 2000


def test_the_zones_of_the_clinics_are_half_hours_off_and_change_their_clocks_in_the_south() -> None:
    zones = {user.timezone for user in clinics_world().all(User)}
    before, after = (datetime(2027, 4, day, tzinfo=UTC) for day in (1, 8))
    offsets = {zone: [time.astimezone(ZoneInfo(zone)).utcoffset() for time in (before, after)] for zone in zones}
    assert any(offset and offset.seconds % 3600 for offset, _later in offsets.values())
    assert {zone for zone, (first, second) in offsets.items() if first and second and first > second} >= {
        "Australia/Adelaide",
        "America/Santiago",
    }


def test_the_calendar_suite_is_large_and_uses_time() -> None:
    tasks = [case.task for case in _cases()]
    assert len(tasks) >= 100
    assert sum(case.part.seed == "clinics" for case in _cases()) >= 20
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(task.needs_clock for task in tasks) >= 15
    assert sum(bool(task.days) for task in tasks) >= 8
    changing = [task for task in tasks if any(event.amend or "acls" in " ".join(event.sql) for event in task.events)]
    assert sum(bool(task.days) for task in changing) >= 4
    assert sum(task.access is Access.STRICT for task in tasks) >= 16
    assert sum(task.steps or 0 for task in tasks) / len(tasks) >= 8


def test_calendar_tasks_with_four_writing_tools_are_many() -> None:
    writes = [
        {call.name for call in case.draft.gold if registry.tools_of(case.task)[call.name].writes} for case in _cases()
    ]
    assert sum(len(tools) >= 4 for tools in writes) >= len(writes) / 3
