"""The company of the hybrid worlds is the same one in all of its systems, except where its cast says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.suites.conftest import Gyms

from opsgym_domains import registry
from opsgym_domains.calendar.tables import Event
from opsgym_domains.calendar.tables import User as CalendarUser
from opsgym_domains.csm.tables import CustomerCase
from opsgym_domains.csm.tables import User as CsmUser
from opsgym_domains.hr.tables import HrProfile
from opsgym_domains.hr.tables import User as HrUser
from opsgym_domains.itsm.tables import Incident, Location
from opsgym_domains.itsm.tables import User as ItsmUser
from opsgym_domains.kit.sqlite import run_seed
from opsgym_domains.variants.companies import COMPANIES, rewriting_of, rewritings_of
from opsgym_domains.variants.worlds import SeedScripts
from opsgym_suites.hybrid.cast import ABSENCES, PEOPLE, System, accounts, person
from opsgym_suites.hybrid.seeds import SEED, WORLDS, fenmoor_sql
from opsgym_suites.hybrid.seeds.calendar import calendar_world
from opsgym_suites.hybrid.seeds.csm import csm_world
from opsgym_suites.hybrid.seeds.hr import hr_world
from opsgym_suites.hybrid.seeds.itsm import itsm_world
from opsgym_suites.kit.authoring_rules import seed_violations
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import NOW, World

USERS: dict[System, type[Any]] = {"itsm": ItsmUser, "csm": CsmUser, "hr": HrUser, "calendar": CalendarUser}
MAKERS: dict[System, Callable[[], World]] = {
    "itsm": itsm_world, "csm": csm_world, "hr": hr_world, "calendar": calendar_world
}  # fmt: skip
each_system = pytest.mark.parametrize("system", USERS)


def user(system: System, name: str) -> Any:
    """The account of a person, found by the name that the system has."""
    first, _, last = person(name).name_in(system).partition(" ")
    columns = ("given_name", "family_name") if system == "calendar" else ("first_name", "last_name")
    return WORLDS[system]().one(USERS[system], **dict(zip(columns, (first, last), strict=True)))


@each_system
def test_everybody_has_one_account_with_the_name_the_address_and_the_state_that_the_cast_states(
    system: System,
) -> None:
    offenders = []
    for one in accounts(system):
        row = user(system, one.name)
        active = row.is_active if system == "calendar" else row.active
        if (row.email, active) != (one.address_in(system), one.active_in(system)):
            offenders.append((one.name, row.email, active))
    assert offenders == []


def test_hr_knows_who_reports_to_whom_and_managers_are_managers() -> None:
    world = WORLDS["hr"]()
    managers = {
        one.name: world.one(HrProfile, user_id=user("hr", one.name).user_id).manager for one in PEOPLE
    }  # fmt: skip
    expected = {one.name: one.manager and user("hr", one.manager).user_id for one in PEOPLE}
    assert managers == expected
    heads = {one.manager for one in PEOPLE if one.manager and one.active_in("hr")}
    assert {user("hr", name).role for name in heads} == {"manager"}


def test_people_who_have_left_have_a_last_day_in_hr_and_some_an_account_that_is_still_open() -> None:
    world = WORLDS["hr"]()
    left = [one for one in PEOPLE if one.left is not None]
    days = [world.one(HrProfile, user_id=user("hr", one.name).user_id).employment_end_date for one in left]
    assert [f"{day:%m-%d}" for day in days] == [one.left for one in left]
    assert any(one.open_in for one in left)
    assert any(not one.open_in for one in left)


@pytest.mark.parametrize(
    ("system", "name", "differs"),
    [
        ("calendar", "Nadia Okafor", "Nadia Petrov"),
        ("csm", "Keziah Monroe", "Keziah Lund"),
        ("itsm", "Beatrix Lowell", "Beatrix Harrow"),
    ],
)
def test_a_former_name_is_in_one_system_only(system: System, name: str, differs: str) -> None:
    assert person(name).name_in(system) == differs
    assert person(name).name_in("hr") == name


def test_a_move_of_site_has_not_reached_the_service_desk() -> None:
    world = WORLDS["itsm"]()
    sites = {
        name: world.one(Location, location_id=user("itsm", name).location_id).name
        for name in ("Ruben Castellan", "Nadia Okafor")
    }
    assert sites == {"Ruben Castellan": "Fenmoor House", "Nadia Okafor": "Fenmoor House"}
    assert person("Ruben Castellan").site.name == "Fenmoor Americas"


def test_absences_stand_in_the_calendars_of_the_people_who_are_away() -> None:
    world = WORLDS["calendar"]()
    away = {(row.user_id, row.summary) for row in world.all(Event, eventType="outOfOffice")}
    assert {(user("calendar", one.person).user_id, one.reason) for one in ABSENCES} <= away


def test_work_of_those_who_have_left_is_still_open_in_a_system() -> None:
    grady = user("itsm", "Sefton Grady").user_id
    states = {row.status for row in WORLDS["itsm"]().all(Incident, assigned_to=grady)}
    assert states & {"in_progress", "on_hold"}
    assert len(WORLDS["csm"]().all(CustomerCase, state="in_progress")) >= 5


@each_system
def test_all_systems_stand_at_the_same_time_and_the_same_cast_gives_the_same_text(system: System) -> None:
    world, text = WORLDS[system](), fenmoor_sql(system)()
    assert world.now == NOW
    assert run_seed(world.metadata, text, world.now).timeless
    assert seed_sql(MAKERS[system]()) == text
    assert seed_violations(world) == []


@each_system
def test_the_gym_server_has_the_rows_of_the_world(gyms: Gyms, system: System) -> None:
    database = gyms(system).database(builtin=SEED)
    table = f'"{USERS[system].__tablename__}"'
    assert database.value(f"SELECT count(*) FROM {table}") == len(WORLDS[system]().all(USERS[system]))


@pytest.mark.parametrize("variant", [1, 7, 4711])
def test_a_variant_replaces_people_and_times_alike_in_all_systems(variant: int) -> None:
    changes = {system: rewriting_of(system, SEED, variant) for system in WORLDS}
    first = changes["hr"]
    assert all(
        (change.words, change.parts, change.years) == (first.words, first.parts, first.years)
        for change in changes.values()
    )
    assert {change.text(numbered) for change in changes.values() for numbered in ("INC-001234 of CS-0001234",)} == {
        first.text("INC-001234 of CS-0001234")
    }


def test_a_varied_seed_of_the_company_has_no_person_of_the_original() -> None:
    offenders = []
    for system, make in WORLDS.items():
        loaded = registry.load(system)
        script = SeedScripts(loaded.metadata, loaded.seeds, rewritings_of(loaded))[f"{SEED}@7"]()
        assert run_seed(loaded.metadata, script, make().now).timeless
        names = {one.name_in(system) for one in accounts(system)} | {one.address_in(system) for one in accounts(system)}
        offenders += [(system, name) for name in names if name in script]
    assert offenders == []


def test_the_systems_that_variants_rewrite_together_are_those_that_have_the_seed() -> None:
    assert set(COMPANIES[SEED]) == set(WORLDS)
