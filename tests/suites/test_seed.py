"""What the built-in seeds promise, looked at where tasks find it: in a gym server's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import String
from tests.suites.conftest import Gyms
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.csm.tables import Account, Product, User, UserGroup
from opsgym_domains.drive import tables as drive
from opsgym_domains.hr import tables as hr
from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.kit.sqlite import run_seed
from opsgym_suites.csm import seeds as csm_seeds
from opsgym_suites.csm.seeds.generate import CHARGING
from opsgym_suites.csm.seeds.generate import DESK as CSM_DESK
from opsgym_suites.csm.seeds.generate import QUICKSTART as CSM_QUICKSTART
from opsgym_suites.csm.seeds.generate import generate as generate_csm
from opsgym_suites.csm.seeds.halden import HALDEN
from opsgym_suites.csm.seeds.larkspur import LARKSPUR
from opsgym_suites.drive import seeds as drive_seeds
from opsgym_suites.hr import seeds as hr_seeds
from opsgym_suites.hr.seeds.generate import generate as generate_hr
from opsgym_suites.hr.seeds.hospital import HOSPITAL
from opsgym_suites.hr.seeds.works import WORKS
from opsgym_suites.itsm.seeds import desk_sql, desk_world, grid_sql, grid_world, quickstart_sql, quickstart_world
from opsgym_suites.itsm.seeds.generate import DESK, GRID, QUICKSTART, generate
from opsgym_suites.kit.authoring_rules import seed_violations
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import World


@dataclass(frozen=True)
class Seed:
    """A built-in seed, and what it promises."""

    domain: str
    name: str
    make: Callable[[], World]
    world: Callable[[], World]
    text: Callable[[], str]
    least_rows: int

    @property
    def id(self) -> str:
        return f"{self.domain}-{self.name}"


SEEDS = (
    Seed("itsm", "quickstart", lambda: generate(*QUICKSTART), quickstart_world, quickstart_sql, 300),
    Seed("itsm", "desk", lambda: generate(*DESK), desk_world, desk_sql, 2000),
    Seed("itsm", "grid", lambda: generate(*GRID), grid_world, grid_sql, 1900),
    Seed(
        "csm",
        "quickstart",
        lambda: generate_csm(CSM_QUICKSTART, LARKSPUR),
        csm_seeds.quickstart_world,
        csm_seeds.quickstart_sql,
        500,
    ),
    Seed("csm", "desk", lambda: generate_csm(CSM_DESK, LARKSPUR), csm_seeds.desk_world, csm_seeds.desk_sql, 2000),
    Seed(
        "csm",
        "charging",
        lambda: generate_csm(CHARGING, HALDEN),
        csm_seeds.charging_world,
        csm_seeds.charging_sql,
        1500,
    ),
    Seed("hr", "hospital", lambda: generate_hr(HOSPITAL), hr_seeds.hospital_world, hr_seeds.hospital_sql, 2500),
    Seed("hr", "works", lambda: generate_hr(WORKS), hr_seeds.works_world, hr_seeds.works_sql, 2500),
    Seed(
        "drive",
        "consultancy",
        drive_seeds.generate_consultancy,
        drive_seeds.consultancy_world,
        drive_seeds.consultancy_sql,
        2500,
    ),
    Seed(
        "drive",
        "foundation",
        drive_seeds.generate_foundation,
        drive_seeds.foundation_world,
        drive_seeds.foundation_sql,
        2500,
    ),
)
TABLES = {"itsm": 24, "csm": 17, "hr": 26, "drive": 28}
"""Tables with rows in every seed of a domain."""
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.id)


@contextmanager
def made_of(gyms: Gyms, seed: Seed) -> Iterator[GymDatabase]:
    gym = gyms(seed.domain)
    made = gym.database(builtin=seed.name)
    yield made
    gym.drop(made)


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: seed.id)
def loaded(request: pytest.FixtureRequest, gyms: Gyms) -> Iterator[tuple[Seed, GymDatabase]]:
    with made_of(gyms, request.param) as made:
        yield request.param, made


@pytest.fixture(scope="module", params=SEEDS[:3], ids=lambda seed: seed.id)
def desk(request: pytest.FixtureRequest, gyms: Gyms) -> Iterator[GymDatabase]:
    """The service desk's."""
    with made_of(gyms, request.param) as made:
        yield made


@pytest.fixture(scope="module", params=SEEDS[3:6], ids=lambda seed: seed.id)
def customers(request: pytest.FixtureRequest, gyms: Gyms) -> Iterator[GymDatabase]:
    """Customer service's."""
    with made_of(gyms, request.param) as made:
        yield made


@each_seed
def test_the_same_seed_is_the_same_text_and_reads_no_clock(seed: Seed) -> None:
    assert run_seed(seed.world().metadata, seed.text(), seed.world().now).timeless
    assert seed_sql(seed.make()) == seed.text()


def test_another_number_is_another_desk() -> None:
    scale, setting = DESK
    assert seed_sql(generate(replace(scale, number=5), setting)) != desk_sql()


def test_every_table_has_rows_and_the_database_has_as_many_as_the_seed(loaded: tuple[Seed, GymDatabase]) -> None:
    seed, made = loaded
    written = {name: len(rows) for name, rows in seed.world().tables() if rows}
    assert {name: made.value(f"SELECT COUNT(*) FROM {name}") for name in written} == written
    assert len(written) == TABLES[seed.domain]
    assert sum(written.values()) >= seed.least_rows


def test_every_text_fits_its_column(loaded: tuple[Seed, GymDatabase]) -> None:
    seed, made = loaded
    bounded = [
        (table.name, column.name, column.type.length)
        for table in seed.world().metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, String) and column.type.length is not None
    ]
    longest = {
        (table, column): made.value(f"SELECT COALESCE(MAX(LENGTH({column})), 0) FROM {table}")
        for table, column, _length in bounded
    }
    assert not [column for *column, length in bounded if longest[column[0], column[1]] > length]


@each_seed
def test_no_number_tells_the_id_of_its_row(seed: Seed) -> None:
    assert seed_violations(seed.world()) == []


@each_seed
def test_nothing_in_it_is_later_than_the_moment_it_stands_at(seed: Seed) -> None:
    times = [
        getattr(row, column)
        for _name, rows in seed.world().tables()
        for row in rows
        for column in (type(row).created, type(row).updated)
        if column is not None
    ]
    assert max(times) <= seed.world().now


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT COUNT(*) FROM organization", 2),
        ("SELECT COUNT(DISTINCT role) FROM users WHERE active = 1", 4),
        ("SELECT COUNT(DISTINCT status) FROM incident", 6),
        ("SELECT COUNT(DISTINCT on_hold_reason) FROM incident", 3),
        ("SELECT COUNT(DISTINCT resource) FROM permission", 18),
    ],
)
def test_every_kind_occurs(desk: GymDatabase, query: str, expected: int) -> None:
    assert desk.value(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT user_id FROM users WHERE active = 0",
        "SELECT group_id FROM user_group WHERE active = 0",
        "SELECT sla_def_id FROM sla_definition WHERE active = 0",
        "SELECT incident_sla_id FROM incident_sla WHERE has_breached = 1",
        "SELECT problem_id FROM problem WHERE workaround IS NOT NULL",
        "SELECT incident_id FROM incident WHERE number LIKE 'INC0%'",
        "SELECT incident_id FROM incident WHERE number LIKE 'INC-0%'",
    ],
)
def test_what_tasks_stumble_over_is_there(desk: GymDatabase, query: str) -> None:
    assert desk.rows(query)


@pytest.mark.parametrize(
    "query",
    [
        # across organisations
        "SELECT i.incident_id FROM incident i JOIN users u ON u.user_id = i.caller_id WHERE u.org_id <> i.org_id",
        "SELECT 1 FROM incident i JOIN user_group g ON g.group_id = i.assignment_group WHERE g.org_id <> i.org_id",
        "SELECT 1 FROM incident_sla s JOIN sla_definition d USING (sla_def_id) WHERE d.org_id <> s.org_id",
        # against the policy
        "SELECT incident_id FROM incident WHERE status = 'closed' AND resolution_code IS NULL",
        "SELECT incident_id FROM incident WHERE status = 'on_hold' AND on_hold_reason IS NULL",
        "SELECT 1 FROM users u JOIN user_role USING (user_id) JOIN role r USING (role_id) WHERE r.name <> u.role",
        "SELECT incident_sla_id FROM incident_sla WHERE has_breached = 0 AND completed_time > breach_time",
    ],
)
def test_no_row_contradicts_another(desk: GymDatabase, query: str) -> None:
    assert desk.rows(query) == []


def test_priorities_follow_the_policys_matrix_but_for_the_one_that_a_task_is_about(desk: GymDatabase) -> None:
    rows = desk.rows("SELECT short_description, impact, urgency, priority FROM incident")
    odd = [row for row in rows if row["priority"] != priority_of(row["impact"], row["urgency"])]
    assert not odd


def test_the_larger_desk_is_uneven_as_a_real_one_is(gym: Gym) -> None:
    made = gym.database(builtin="desk")
    try:
        open_work = made.rows(
            "SELECT COUNT(*) AS n FROM incident WHERE status IN ('new', 'in_progress', 'on_hold') "
            "AND assigned_to IS NOT NULL GROUP BY assigned_to"
        )
        loads = sorted(row["n"] for row in open_work)
        assert loads[-1] >= 4 * loads[len(loads) // 2]
        assert made.value("SELECT COUNT(*) FROM users WHERE active = 0") >= 10
        assert made.value("SELECT COUNT(DISTINCT incident_id) FROM incident_sla WHERE has_breached = 1") >= 50
        assert made.value("SELECT COUNT(*) FROM notification WHERE status = 'failed'") > 0
    finally:
        gym.drop(made)


def test_the_worlds_of_customer_service_share_no_names_sector_or_time() -> None:
    one, other = csm_seeds.desk_world(), csm_seeds.charging_world()
    assert one.now != other.now
    for kind, column in ((Account, "name"), (Product, "name"), (UserGroup, "name"), (User, "email")):
        names = [{getattr(row, column) for row in world.all(kind)} for world in (one, other)]
        assert not names[0] & names[1]


# --- customer service ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT COUNT(DISTINCT role) FROM user WHERE active = 1", 4),
        ("SELECT COUNT(DISTINCT state) FROM customer_case", 6),
        ("SELECT COUNT(DISTINCT priority) FROM customer_case", 4),
        ("SELECT COUNT(DISTINCT status) FROM installed_product", 4),
        ("SELECT COUNT(DISTINCT support_level) FROM entitlement", 3),
        ("SELECT COUNT(DISTINCT state) FROM knowledge", 3),
    ],
)
def test_every_kind_occurs_in_customer_service(customers: GymDatabase, query: str, expected: int) -> None:
    assert customers.value(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        # across accounts
        "SELECT 1 FROM customer_case c JOIN contact k USING (contact_id) WHERE k.account_id <> c.account_id",
        (
            "SELECT 1 FROM customer_case c JOIN installed_product i USING (installed_product_id) "
            "WHERE i.account_id <> c.account_id OR i.product_id <> c.product_id OR i.status <> 'in_use'"
        ),
        "SELECT 1 FROM entitlement e JOIN contract c USING (contract_id) WHERE c.account_id <> e.account_id",
        "SELECT 1 FROM interaction i JOIN customer_case c USING (case_id) WHERE i.account_id <> c.account_id",
        # against the policy
        "SELECT account_id FROM contact WHERE is_primary = 1 GROUP BY account_id HAVING COUNT(*) <> 1",
        (
            "SELECT 1 FROM contact k JOIN user u ON u.user_id = k.portal_user_id JOIN account a USING (account_id) "
            "WHERE u.role <> 'customer' OR u.email NOT LIKE '%@' || a.email_domain"
        ),
        "SELECT 1 FROM entitlement e JOIN contract c USING (contract_id) WHERE e.active = 1 AND c.status <> 'active'",
        "SELECT 1 FROM contract WHERE start_date >= end_date",
        "SELECT 1 FROM customer_case WHERE state = 'closed' AND closed_on IS NULL",
        "SELECT 1 FROM customer_case WHERE state IN ('in_progress', 'pending', 'resolved') AND assigned_to IS NULL",
        "SELECT 1 FROM customer_case WHERE escalation = 1 AND escalation_reason IS NULL",
        (
            "SELECT 1 FROM customer_case c WHERE assigned_to IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM user_group_member m WHERE m.user_id = c.assigned_to AND m.group_id = c.assignment_group_id)"
        ),
        (
            "SELECT 1 FROM customer_case c WHERE state IN ('resolved', 'closed') AND NOT EXISTS (SELECT 1 FROM "
            "case_knowledge k WHERE k.case_id = c.case_id AND used_as = 'resolution')"
        ),
        (
            "SELECT 1 FROM case_sla s JOIN sla_definition d USING (sla_def_id) JOIN customer_case c USING (case_id) "
            # the last five may be slips that a task is about
            "WHERE (d.applies_to_priority <> c.priority OR d.active = 0) "
            "AND s.case_sla_id < (SELECT MAX(case_sla_id) - 4 FROM case_sla)"
        ),
        "SELECT 1 FROM case_sla WHERE has_breached = 0 AND completed_time > breach_time",
        (
            "SELECT 1 FROM case_sla s JOIN customer_case c USING (case_id) "
            "WHERE c.state IN ('resolved', 'closed') AND s.stage <> 'completed'"
        ),
        (
            "SELECT 1 FROM case_knowledge l JOIN knowledge k USING (knowledge_id) JOIN customer_case c USING (case_id) "
            "WHERE k.state <> 'published' OR k.product_id <> c.product_id"
        ),
        "SELECT 1 FROM notification n JOIN knowledge k USING (knowledge_id) WHERE k.visibility = 'internal'",
    ],
)
def test_no_row_of_customer_service_contradicts_another_or_the_policy(customers: GymDatabase, query: str) -> None:
    assert customers.rows(query) == []


# --- HR ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SEEDS[6:8], ids=lambda seed: seed.id)
def people(request: pytest.FixtureRequest, gyms: Gyms) -> Iterator[GymDatabase]:
    """HR's."""
    with made_of(gyms, request.param) as made:
        yield made


def test_the_worlds_of_hr_share_no_names_or_time() -> None:
    one, other = hr_seeds.hospital_world(), hr_seeds.works_world()
    assert one.now != other.now
    for kind, column in ((hr.User, "email"), (hr.UserGroup, "name"), (hr.HrService, "service_name")):
        names = [{getattr(row, column) for row in world.all(kind)} for world in (one, other)]
        assert not names[0] & names[1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT COUNT(DISTINCT role) FROM user WHERE active = 1", 4),
        ("SELECT COUNT(DISTINCT coe_type) FROM hr_case", 5),
        ("SELECT COUNT(DISTINCT type) FROM hr_criteria WHERE active = 1", 2),
        ("SELECT COUNT(DISTINCT state) FROM knowledge", 3),
        ("SELECT COUNT(*) FROM user_group WHERE active = 0", 1),
        ("SELECT COUNT(*) FROM assignment_rules WHERE active = 0", 1),
    ],
)
def test_every_kind_occurs_in_hr(people: GymDatabase, query: str, expected: int) -> None:
    assert people.value(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        (
            "SELECT 1 FROM hr_case c WHERE assigned_to IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM user_group_member m WHERE m.user_id = c.assigned_to AND m.group_id = c.assignment_group)"
        ),
        "SELECT 1 FROM hr_case c JOIN user u ON u.user_id = c.assigned_to WHERE u.active = 0 OR u.role = 'employee'",
        "SELECT 1 FROM hr_case c JOIN hr_profile p ON p.hr_profile_id = c.opened_for WHERE p.user_id = c.assigned_to",
        (
            "SELECT 1 FROM hr_case c, json_each(c.skills) s WHERE c.assigned_to IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM user_skill k WHERE k.user = c.assigned_to AND k.skill = s.value)"
        ),
        "SELECT 1 FROM hr_case WHERE status IN ('suspended', 'closed_incomplete') AND worknotes IS NULL",
        "SELECT 1 FROM hr_case WHERE status = 'work_in_progress' AND assigned_to IS NULL",
        (
            "SELECT 1 FROM hr_case_task t JOIN hr_case c ON c.hr_case_id = t.parent_case WHERE c.status LIKE 'closed%' "
            "AND t.status NOT IN ('closed_complete', 'closed_incomplete', 'cancelled')"
        ),
        (
            "SELECT 1 FROM hr_case_task t JOIN checklist i ON i.case_task_id = t.hr_case_task_id "
            "WHERE t.status = 'closed_complete' AND i.checked = 0"
        ),
        "SELECT 1 FROM hr_profile WHERE employment_start_date > employment_end_date",
        "SELECT 1 FROM hr_profile p JOIN user u ON u.user_id = p.manager WHERE u.role <> 'manager' OR u.active = 0",
        ("SELECT 1 FROM hr_case_knowledge l JOIN knowledge k USING (knowledge_id) WHERE k.state <> 'published'"),
        (
            "SELECT 1 FROM assignment_rules r, json_each(r.users) u WHERE NOT EXISTS "
            "(SELECT 1 FROM user_group_member m WHERE m.group_id = r.user_group AND m.user_id = u.value)"
        ),
        "SELECT 1 FROM user_role JOIN user USING (user_id) JOIN role USING (role_id) WHERE role.name <> user.role",
    ],
)
def test_no_row_of_hr_contradicts_another_or_the_policy(people: GymDatabase, query: str) -> None:
    assert people.rows(query) == []


# --- Drive ---------------------------------------------------------------------------------------------------------

FILES = [seed for seed in SEEDS if seed.domain == "drive"]


@pytest.fixture(scope="module", params=FILES, ids=lambda seed: seed.id)
def cabinet(request: pytest.FixtureRequest, gyms: Gyms) -> Iterator[GymDatabase]:
    """Drive's."""
    with made_of(gyms, request.param) as made:
        yield made


def test_the_worlds_of_drive_share_no_names_or_time() -> None:
    one, other = drive_seeds.consultancy_world(), drive_seeds.foundation_world()
    assert one.now != other.now
    for kind, column in ((drive.User, "email"), (drive.User, "display_name"), (drive.Group, "email")):
        names = [{getattr(row, column) for row in world.all(kind)} for world in (one, other)]
        assert not names[0] & names[1]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 FROM users WHERE auth_token IS NULL",
        "SELECT 1 FROM permissions p JOIN users u ON u.id = p.user_id WHERE role = 'owner' AND u.auth_token IS NULL",
        "SELECT 1 FROM permissions WHERE type = 'anyone'",
        "SELECT 1 FROM files f JOIN file_labels l ON l.file_id = f.id WHERE trashed = 1 AND value_date > '2026-11-16'",
        "SELECT 1 FROM access_proposals WHERE status = 'pending'",
        "SELECT 1 FROM drives WHERE hidden = 1",
    ],
)
def test_what_tasks_of_drive_are_about_is_there(cabinet: GymDatabase, query: str) -> None:
    assert cabinet.rows(query)


@pytest.mark.parametrize(
    "query",
    [
        (
            "SELECT 1 FROM files f WHERE drive_id IS NULL AND 1 <> (SELECT COUNT(*) FROM permissions p "
            "WHERE p.file_id = f.id AND p.role = 'owner')"
        ),
        "SELECT 1 FROM files f JOIN permissions p ON p.file_id = f.id WHERE f.drive_id IS NOT NULL AND role = 'owner'",
        "SELECT 1 FROM files f JOIN files p ON p.id = f.parent_id WHERE f.drive_id IS NOT p.drive_id",
        "SELECT 1 FROM files f JOIN files p ON p.id = f.parent_id WHERE p.trashed > f.trashed",
        "SELECT 1 FROM files f JOIN files p ON p.id = f.parent_id WHERE p.mime_type NOT LIKE '%.folder'",
        (
            "SELECT 1 FROM files WHERE head_revision_id IS NOT (SELECT id FROM revisions r WHERE r.file_id = files.id "
            "ORDER BY revision_number DESC LIMIT 1)"
        ),
        "SELECT 1 FROM files f WHERE (SELECT COUNT(*) FROM path_closure WHERE descendant_id = f.id AND depth = 0) <> 1",
        "SELECT 1 FROM permissions WHERE deleted = 1",
        "SELECT 1 FROM permissions WHERE user_id IS NOT NULL GROUP BY file_id, user_id HAVING COUNT(*) > 1",
        (
            "SELECT 1 FROM drive_memberships m JOIN users u ON u.id = m.user_id JOIN drives d ON d.id = m.drive_id "
            "WHERE d.domain_users_only = 1 AND u.email NOT LIKE '%@brannock.%' AND u.email NOT LIKE '%@velmora.%'"
        ),
        "SELECT 1 FROM files WHERE modified_time < created_time",
        "SELECT 1 FROM change_tokens t WHERE scope = 'global' AND last_token <> (SELECT MAX(token) FROM changes)",
        "SELECT 1 FROM changes a JOIN changes b ON a.token < b.token WHERE a.change_time > b.change_time",
    ],
)
def test_no_row_of_drive_contradicts_another(cabinet: GymDatabase, query: str) -> None:
    assert cabinet.rows(query) == []
