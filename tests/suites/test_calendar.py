"""What the calendar's seed and suite hold beyond what every suite proves."""

from __future__ import annotations

from uuid import UUID

from tests.suites.conftest import Gyms
from tests.suites.episodes import tools_of
from tests.suites.proofs import Case, cases

from opsgym_domains.calendar.tables import Event
from opsgym_suites.calendar.seeds import generate, offices_sql, offices_world
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import key_of


def _cases() -> list[Case]:
    return [case for case in cases() if case.suite.name == "calendar-core"]


def test_calendar_seeds_of_one_description_are_equal() -> None:
    assert seed_sql(generate()) == offices_sql()


def test_calendar_keys_are_unique_and_have_the_form_of_random_ones() -> None:
    for kind in offices_world().kinds:
        keys = [getattr(row, key_of(kind)) for row in offices_world().all(kind)]
        assert len(set(keys)) == len(keys)
    assert {UUID(event.event_id).version for event in offices_world().all(Event)} == {4}


def test_a_calendar_database_has_the_rows_of_the_seed_in_every_table(gyms: Gyms) -> None:
    gym = gyms("calendar")
    made = gym.database(builtin="offices")
    expected = {name: len(rows) for name, rows in offices_world().tables()}
    counts = {name: made.value(f"SELECT COUNT(*) FROM {name}") for name in expected}
    gym.drop(made)
    assert counts == expected
    assert min(counts.values()) > 0
    assert sum(counts.values()) >= 2000


def test_the_calendar_suite_is_large_and_uses_time() -> None:
    tasks = [case.task for case in _cases()]
    assert len(tasks) >= 60
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(bool(task.events or task.days) for task in tasks) >= 15
    assert sum(bool(task.days) for task in tasks) >= 8
    rules = [event for task in tasks for event in task.events if event.amend or "acls" in " ".join(event.sql)]
    assert len(rules) >= 4


def test_calendar_tasks_with_four_writing_tools_are_many() -> None:
    writes = [{call.name for call in case.draft.gold if tools_of(case.task)[call.name].writes} for case in _cases()]
    assert sum(len(tools) >= 4 for tools in writes) >= 20
