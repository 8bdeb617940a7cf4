"""The company of the hybrid worlds is the same one in all of its systems, except where its cast says otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.domains.declaration import SOAK
from tests.suites.conftest import Gyms

from opsgym_domains import registry
from opsgym_domains.calendar.tables import Event
from opsgym_domains.calendar.tables import User as CalendarUser
from opsgym_domains.csm.tables import CustomerCase
from opsgym_domains.csm.tables import User as CsmUser
from opsgym_domains.drive.tables import User as DriveUser
from opsgym_domains.email.tables import Profile, VacationSettings
from opsgym_domains.email.tables import User as EmailUser
from opsgym_domains.hr.tables import HrCase, HrProfile
from opsgym_domains.hr.tables import User as HrUser
from opsgym_domains.itsm.tables import Incident, Location
from opsgym_domains.itsm.tables import User as ItsmUser
from opsgym_domains.kit.sqlite import run_seed
from opsgym_domains.teams.tables import Team
from opsgym_domains.teams.tables import User as TeamsUser
from opsgym_domains.variants.companies import COMPANIES, rewriting_of, rewritings_of
from opsgym_domains.variants.worlds import SeedScripts
from opsgym_suites.hybrid.cast import ABSENCES, PEOPLE, System, accounts, person
from opsgym_suites.hybrid.seeds import SEED, WORLDS, collaboration, fenmoor_sql, files, mailboxes
from opsgym_suites.hybrid.seeds import email as mail
from opsgym_suites.hybrid.seeds.calendar import calendar_world
from opsgym_suites.hybrid.seeds.csm import csm_world
from opsgym_suites.hybrid.seeds.drive import drive_world
from opsgym_suites.hybrid.seeds.drive_files import DOCUMENTS, FITCH
from opsgym_suites.hybrid.seeds.email import email_world
from opsgym_suites.hybrid.seeds.email_conversations import CONVERSATIONS
from opsgym_suites.hybrid.seeds.hr import hr_world
from opsgym_suites.hybrid.seeds.itsm import itsm_world
from opsgym_suites.hybrid.seeds.teams import teams_world
from opsgym_suites.hybrid.seeds.teams_posts import SAID
from opsgym_suites.kit.authoring_rules import seed_violations
from opsgym_suites.kit.scenarios import days
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import NOW, World, key_of

USERS: dict[System, type[Any]] = {
    "itsm": ItsmUser, "csm": CsmUser, "hr": HrUser, "calendar": CalendarUser, "email": EmailUser,
    "drive": DriveUser, "teams": TeamsUser,
}  # fmt: skip
NAMES: dict[System, tuple[str, ...]] = {
    "calendar": ("given_name", "family_name"), "email": ("name",), "drive": ("display_name",),
    "teams": ("given_name", "surname"),
}  # fmt: skip
"""Columns of a user's name, where they are not first and last name."""
MAKERS: dict[System, Callable[[], World]] = {
    "itsm": itsm_world, "csm": csm_world, "hr": hr_world, "calendar": calendar_world, "email": email_world,
    "drive": drive_world, "teams": teams_world,
}  # fmt: skip
LEFT = tuple(one.name for one in PEOPLE if one.left is not None)
TALK: dict[System, int] = {"email": 15, "drive": 6, "teams": 8}
"""Systems whose texts name records of others, and how many they name at least."""
each_system = pytest.mark.parametrize("system", USERS)


def user(system: System, name: str) -> Any:
    """The account of a person, found by the name that the system has."""
    whole, columns = person(name).name_in(system), NAMES.get(system, ("first_name", "last_name"))
    parts = whole.split(" ") if len(columns) == 2 else [whole]
    return WORLDS[system]().one(USERS[system], **dict(zip(columns, parts, strict=True)))


def state(system: System, row: Any) -> tuple[str, bool]:
    """The address of an account, and whether it is active."""
    if system == "email":
        return row.primary_email, bool(mailboxes().one(Profile, user_id=row.id).active)
    if system == "drive":
        return row.email, row.auth_token is not None
    if system == "teams":
        return row.mail, row.account_enabled
    return row.email, row.is_active if system == "calendar" else row.active


@each_system
def test_everybody_has_one_account_with_the_name_the_address_and_the_state_that_the_cast_states(
    system: System,
) -> None:
    offenders = []
    for one in accounts(system):
        stored = state(system, user(system, one.name))
        if stored != (one.address_in(system), one.active_in(system)):
            offenders.append((one.name, *stored))
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
        ("email", "Tamsin Yarwood", "Tamsin Wardle"),
        ("drive", "Fenella Stark", "Fenella Carrow"),
        ("teams", "Winona Tabor", "Winona Keel"),
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
def test_keys_are_unique_and_nothing_is_later_than_now(system: System) -> None:
    world = WORLDS[system]()
    offenders = []
    for kind in world.kinds:
        rows = world.all(kind)
        if len(list(kind.__table__.primary_key)) == 1 and len({getattr(row, key_of(kind)) for row in rows}) < len(rows):
            offenders.append(f"{kind.__tablename__}: keys")
        columns = [name for name in (kind.created, kind.updated) if name is not None]
        if any(time is not None and time > NOW for row in rows for name in columns for time in (getattr(row, name),)):
            offenders.append(f"{kind.__tablename__}: times")
    assert offenders == []


@each_system
def test_the_gym_server_has_the_rows_of_the_world(gyms: Gyms, system: System) -> None:
    database = gyms(system).database(builtin=SEED)
    table = f'"{USERS[system].__tablename__}"'
    assert database.value(f"SELECT count(*) FROM {table}") == len(WORLDS[system]().all(USERS[system]))


# --- mail ------------------------------------------------------------------------------------------------------------


def has_left(name: str) -> bool:
    """Whether HR has a last day of a person in the past."""
    day = WORLDS["hr"]().one(HrProfile, user_id=user("hr", name).user_id).employment_end_date
    return day is not None and day < NOW


def test_mail_goes_on_to_people_who_have_left_and_to_their_private_addresses() -> None:
    world, private = mailboxes(), {}
    for name in mail.FORWARDS:
        row = world.forwarding(name)
        address = WORLDS["hr"]().one(HrProfile, user_id=user("hr", name).user_id).personal_email
        private[name] = (row.enabled, row.email_address == address, has_left(name))
    assert private == {
        "Philippa Gow": (True, True, True), "Lorne Fitch": (True, True, True), "Juno Castle": (True, True, False),
        "Giselle Amato": (True, False, False),
    }  # fmt: skip
    assert {name for _owner, name, _state in mail.DELEGATES if has_left(name)} == {
        "Sefton Grady", "Philippa Gow", "Dorothea Blum"
    }  # fmt: skip
    assert {name for _owner, _word, name in mail.FILTERS if has_left(name)} == {"Lorne Fitch", "Sefton Grady"}
    assert [len(world.delegates(owner)) for owner in ("Kirra Dawe", "Honora Quill", "Nadia Okafor")] == [2, 1, 0]


def _answers(reply: VacationSettings) -> bool:
    """Whether an automatic reply is sent now."""
    first, last = reply.start_time, reply.end_time
    return bool(reply.enable_auto_reply and first is not None and last is not None and first <= NOW < last)


def test_automatic_replies_miss_absences_and_name_people_who_have_left() -> None:
    world, today = mailboxes(), {one.person for one in ABSENCES if one.first <= NOW < one.first + days(one.days)}
    answers = {name for name in today if _answers(world.reply(name))}
    assert today == {"Venetia Croft", "Kirra Dawe", "Giselle Amato"}
    assert answers == {"Venetia Croft"}
    assert {one.owner for one in mail.REPLIES if any(has_left(name) and name in one.text for name in LEFT)} == {
        "Venetia Croft", "Anselm Pryor"
    }  # fmt: skip


def test_a_conversation_is_in_the_mailboxes_of_all_who_take_part() -> None:
    world = mailboxes()
    offenders = [
        (one.key, who)
        for one in CONVERSATIONS
        for who in {*one.to, *one.copied, *(author for author, _when, _text in one.turns)}
        if len(world.thread(world.message(one.key, who))) != len(one.turns)
    ]
    assert offenders == []
    assert world.mailbox("@kelder-charts").primary_email.endswith("@kelderwater.example")
    with pytest.raises(LookupError):
        world.mailbox("Ida Unknown")


# --- files -----------------------------------------------------------------------------------------------------------


def test_people_who_have_left_own_files_organize_drives_and_are_in_groups() -> None:
    world = files()
    places = {one.key: one.path[1:].partition(":")[0] for one in DOCUMENTS if one.path.startswith("@")}
    leavers = {key: world.account(name) for key, name in places.items() if has_left(name)}
    assert all(world.owner(world.document(key)).user_id == account.id for key, account in leavers.items())
    is_gone = {places[key]: account.auth_token is None for key, account in leavers.items()}
    assert is_gone == {"Sefton Grady": True, "Philippa Gow": True, "Lorne Fitch": True, "Dorothea Blum": False}
    roles = [("PumpWatch", "Dorothea Blum"), ("Site technicians", "Sefton Grady"), ("Contracts", "Lorne Fitch")]
    held = {name: world.member(space, world.account(name).email).role for space, name in roles}
    assert held == {"Dorothea Blum": "organizer", "Sefton Grady": "organizer", "Lorne Fitch": "fileOrganizer"}
    assert world.account("Sefton Grady") in world.members("drive-admins")
    assert world.members("engineering")[0] is world.account("Dorothea Blum")


def test_groups_of_files_differ_from_managers_sites_and_moves() -> None:
    world = files()
    reports = {one.name for one in PEOPLE if one.manager == "Wendell Achebe" and one.left is None}
    engineers = {one for one in reports if world.account(one) in world.members("engineering")}
    assert reports - engineers == {"Fenella Stark", "Emrys Vaughan", "Nell Whitcombe"}
    assert world.account("Piotr Zielin") in world.members("engineering")
    assert world.account("Juno Castle") in world.members("customer-desk")
    assert world.account("Juno Castle") not in world.members("sales")
    away = {"Ruben Castellan", "Horatio Beale"}
    assert {name for name in away if world.account(name) in world.members("london-house")} == away


def test_files_are_shared_with_outsiders_whom_rules_or_other_systems_keep_out() -> None:
    world = files()
    assert world.permission(world.document("price-list"), FITCH).role == "reader"
    assert world.labels(world.document("price-list")) == {"sensitivity": "confidential"}
    contact = mailboxes().mailbox("@gow-bendigo").primary_email
    assert world.permission(world.document("bendigo-renewal"), contact).role == "writer"
    assert world.permission(world.document("charts-article"), "anyone").role == "reader"
    assert world.labels(world.document("hudson-prices")) == {}
    subject = mailboxes().subject(mailboxes().message("hudson-quote", "Horatio Beale"))
    assert subject.startswith("[Confidential]")


# --- teams -----------------------------------------------------------------------------------------------------------


def test_people_who_have_left_own_teams_alone_or_are_still_members() -> None:
    world = collaboration()
    teams = {team.display_name: {user.display_name for user in world.owners(team)} for team in world.all(Team)}
    assert {name for name, owners in teams.items() if owners <= set(LEFT)} == {"PumpWatch", "Site Technicians"}
    assert teams["Major Incidents"] == {"Sunniva Hale", "Sefton Grady"}
    desk = world.names(world.team("Customer Desk"))
    assert {name for name in desk if name in LEFT} == {"Philippa Gow", "Lorne Fitch"}


def test_teams_differ_from_managers_departments_and_houses() -> None:
    world = collaboration()
    assert "Wendell Achebe" not in world.names(world.team("PumpWatch"))
    assert [user.display_name for user in world.owners(world.team("Sales"))] == ["Magnus Orrin"]
    assert {person(name).manager for name in ("Horatio Beale", "Ingram Tully")} == {"Marguerite Sloane"}
    assert world.account("Juno Castle").department == "Customer Service"
    assert "Ruben Castellan" in world.names(world.team("London House"))
    assert world.account("Ruben Castellan").city == "London"
    assert world.account("@hudson-start").user_type == "Guest"
    assert all(world.post_of(key) for key in SAID)


@pytest.mark.parametrize("system", TALK)
def test_texts_name_records_that_the_other_systems_have(system: System) -> None:
    kinds: dict[System, type[Any]] = {"itsm": Incident, "csm": CustomerCase, "hr": HrCase}
    known = {row.number for other, kind in kinds.items() for row in WORLDS[other]().all(kind)}
    named = set(re.findall(r"\b(?:INC-|CS-|HRC)\d{3,}", fenmoor_sql(system)()))
    assert named <= known
    assert len(named) >= TALK[system]


@pytest.mark.parametrize("variant", [1, 7, 4711] if SOAK else [7])
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
