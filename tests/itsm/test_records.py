"""Records of ITSM: identifiers, roles, templates, and what depends on what."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.domains.itsm import UPDATES
from tests.itsm.examples import EXAMPLES
from tests.itsm.seed import SEED
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.itsm.domain import DOMAIN
from opsgym_domains.itsm.tables import ConfigurationItem, Incident, Organization, Problem, Service, User, UserGroup
from opsgym_domains.kit.database import Database, Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.gym import Gym as Rows
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.schema import Row

TOOLS = DOMAIN.toolbox.tools


def test_several_children_get_consecutive_identifiers_in_their_order(database: GymDatabase) -> None:
    made = database.call("add_child_incidents", parent_incident="INC_012", child_incidents=["INC_005", "INC_001"]).data
    assert [(row["child_incident_mapping_id"], row["child_incident"]) for row in made] == [
        ("CINC_003", "INC_005"),
        ("CINC_004", "INC_001"),
    ]


def test_identifiers_grow_beyond_three_digits_and_leave_no_gap_after_a_refusal(gym: Gym) -> None:
    rows = "UPDATE incident SET incident_id = 'INC_999', number = 'INC9999999' WHERE incident_id = 'INC_005';"
    rows += "UPDATE change_request_mapping SET incident_id = 'INC_999' WHERE incident_id = 'INC_005';"
    database = gym.database(SEED + rows)
    example = EXAMPLES["create_incident"]
    assert database.call_with("create_incident", example | {"assigned_to": "USER_404"}).code == "USER_NOT_FOUND"
    made = [database.call_with("create_incident", example).data for _ in range(2)]
    assert [row["incident_id"] for row in made] == ["INC_1000", "INC_1001"]
    assert [row["number"] for row in made] == ["INC-10000000", "INC-10000001"]
    gym.drop(database)


def test_the_priority_is_never_derived(database: GymDatabase) -> None:
    made = database.call_with(
        "create_incident", EXAMPLES["create_incident"] | {"impact": "high", "urgency": "high"}
    ).data
    assert made["priority"] == "planning"


def test_the_first_records_of_an_empty_database_have_number_one(gym: Gym) -> None:
    sql = """
    INSERT INTO organization VALUES ('ACME', 'Acme', 1, NULL, NULL);
    INSERT INTO role VALUES ('R', 'admin');
    INSERT INTO users VALUES ('root', 'root', 'R', 'T', 'r@t.test', '+1-555-010-0000', 'admin', 1, 't', 'ACME', NULL, NULL, NULL);
    """  # noqa: E501 - one row a line
    database = gym.database(sql)
    made = database.call("create_incident", caller_id="root", short_description="x").data
    assert (made["incident_id"], made["number"], made["org_id"]) == ("INC_001", "INC-000001", "ACME")
    gym.drop(database)


def test_a_new_user_gets_a_token_of_their_own_and_their_role(database: GymDatabase) -> None:
    made = database.call_with("add_new_user", EXAMPLES["add_new_user"]).data
    assert database.rows("SELECT role_id, org_id FROM user_role WHERE user_id = 'USER_010'") == [
        {"role_id": "ROLE_4", "org_id": "ORG_001"}
    ]
    as_new_user = database.call_with(
        "create_change", EXAMPLES["create_change"], **{"x-itsm-user-token": made["static_token"]}
    )
    assert as_new_user.data["requested_by"] == "USER_010"


@pytest.mark.parametrize(
    ("tool", "names"),
    [("update_problem", ("problem_id", "number")), ("update_knowledge_article", ("knowledge_id", "kb_number"))],
)
def test_a_record_with_two_names_is_named_by_exactly_one(
    database: GymDatabase, tool: str, names: tuple[str, str]
) -> None:
    change = {name: value for name, value in EXAMPLES[tool].items() if name not in names}
    (row,) = database.rows(f"SELECT * FROM {UPDATES[tool].table} WHERE {names[0]} = '{UPDATES[tool].record}'")
    both = {name: row[name] for name in names}
    assert database.call_with(tool, change).code == "INVALID_IDENTIFIER"
    assert database.call_with(tool, change | both).code == "INVALID_IDENTIFIER"
    assert database.call_with(tool, change | {names[1]: "X-404"}).code == UPDATES[tool].missing
    assert database.call_with(tool, change | {names[1]: row[names[1]]}).data[names[0]] == UPDATES[tool].record


def test_a_new_role_or_organisation_shows_in_the_role_table(database: GymDatabase) -> None:
    query = "SELECT role_id, org_id FROM user_role WHERE user_id = 'USER_002'"
    assert database.call("update_user_details", user_id="USER_002", first_name="Boo").data["role"] == "agent"
    assert database.rows(query) == [{"role_id": "ROLE_3", "org_id": "ORG_001"}]
    assert database.call("update_user_details", user_id="USER_002", role="manager", company_id="ORG_002").data
    assert database.rows(query) == [{"role_id": "ROLE_2", "org_id": "ORG_002"}]


def test_null_in_a_templates_values_clears_a_field_and_blank_leaves_it(database: GymDatabase) -> None:
    values = {"channel": None, "service_offering": None, "service": "", "caller_id": "", "impact": ""}
    updated = database.call(
        "update_incident_template", incident_template_id="TMPL_001", change_request_values=values
    ).data
    assert (updated["channel"], updated["service_offering"]) == (None, None)
    assert (updated["service"], updated["caller_id"], updated["impact"]) == ("SVC_001", "USER_001", "high")


def test_a_template_update_with_only_blank_values_is_refused(unchanged: GymDatabase) -> None:
    blank = TOOLS["update_incident_template"].input_schema["properties"]["change_request_values"]["default"]
    refused = unchanged.call("update_incident_template", incident_template_id="TMPL_001", change_request_values=blank)
    assert refused.code == "NO_FIELDS_TO_UPDATE"
    refused = unchanged.call(
        "update_incident_template", incident_template_id="TMPL_001", change_request_values={"caller_id": None}
    )
    assert refused.code == "NO_FIELDS_TO_UPDATE"


def test_published_access_accepts_every_status_transition(database: GymDatabase) -> None:
    """The published server has no state machine."""
    statuses = TOOLS["update_incident"].parameters["status"].allowed
    assert statuses is not None
    for status in (*statuses, *reversed(statuses[:-1])):
        if database.value("SELECT status FROM incident WHERE incident_id = 'INC_005'") != status:
            assert database.call("update_incident", incident_id="INC_005", status=status).data["status"] == status


# --- dependent rows -----------------------------------------------------------------------------------------
# No published tool deletes a record that others can refer to. The tables keep the rule, for later tools.


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def tables(gym: Gym, anyio_backend: str) -> AsyncIterator[Database]:
    """The test seed, for calls of the kit without a tool."""
    databases = Databases(PostgresServer(gym.socket_folder), DOMAIN.name, DOMAIN.metadata, {})
    await databases.start()
    yield await databases.create("guard", Origin(sql=SEED))
    await databases.drop("guard")
    await databases.stop()


async def delete(tables: Database, kind: type[Row], key: str) -> None:
    async with tables.transaction(writes=True) as session:
        rows = Rows(session, DOMAIN.metadata, Actor("USER_001", "ORG_001"), tables.clock)
        await rows.delete([await rows.fetch(kind, key)])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (Organization, "ORG_001"),
        (User, "USER_001"),
        (UserGroup, "GROUP_001"),
        (Service, "SVC_001"),
        (ConfigurationItem, "CI_001"),
        (Problem, "PRB_001"),
        (Incident, "INC_001"),
    ],
)
async def test_a_delete_of_a_referenced_row_is_refused_and_names_the_reference(
    tables: Database, kind: type[Row], key: str
) -> None:
    with pytest.raises(ToolError) as refused:
        await delete(tables, kind, key)
    assert refused.value.code == "STILL_REFERENCED"
    referring = {
        (table.name, column.name)
        for table in DOMAIN.metadata.tables.values()
        for column in table.columns
        if any(reference.column.table.name == kind.__tablename__ for reference in column.foreign_keys)
    }
    message = refused.value.message
    assert any(table in message and column in message for table, column in referring)


@pytest.mark.anyio
async def test_links_of_an_incident_are_deleted_with_it(tables: Database) -> None:
    links = "SELECT COUNT(*) FROM notification WHERE incident_id = 'INC_002'"
    assert (await tables.query(links)).rows == ((1,),)
    await delete(tables, Incident, "INC_002")
    assert (await tables.query(links)).rows == ((0,),)
    assert (await tables.query("SELECT COUNT(*) FROM child_incident")).rows == ((1,),)
