"""Access `strict`: rows of other organisations do not exist for a call, by whichever argument it names them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from tests.domains.itsm import DECLARATION
from tests.itsm.examples import EXAMPLES
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.itsm.domain import DOMAIN
from opsgym_domains.itsm.tables import METADATA

TOOLS = DOMAIN.toolbox.tools
FOREIGN = {
    "organization": "ORG_002",
    "location": "LOC_003",
    "users": "USER_009",
    "user_group": "GROUP_020",
    "user_group_member": "MEMBER_020",
    "service": "SVC_020",
    "service_offering": "SVCOFF_020",
    "configuration_item": "CI_020",
    "incident_template": "TMPL_020",
    "change": "CHG_020",
    "problem": "PRB_020",
    "incident": "INC_005",
    "knowledge": "KB_020",
    "sla_definition": "SLA_020",
    "change_request_mapping": "CRM_020",
    "child_incident": "CINC_020",
    "incident_affected_cis": "TASKCI_020",
    "incident_knowledge": "IKB_020",
    "incident_sla": "TSLA_020",
    "notification": "NOTIF_020",
}
"""A row of ORG_002, by table."""
TABLES = {
    "called_id": "users",
    "company_id": "organization",
    "parent": "service",
    "assignment_group_id": "user_group",
    "child_incidents": "incident",
}
"""Table by argument, for arguments that are not named after a column."""
BY_NAME = {
    "get_user_using_email": {"email": "zoe@southwind.test"},
    "get_user_using_name": {"first_name": "Zoe", "last_name": "Roux"},
    "find_group_by_name": {"name": "Aide"},
    "find_location_by_given_name": {"name": "South Tower"},
    "get_incident_template_by_name": {"name": "Panne"},
    "find_configuration_item_by_serial_number": {"serial_number": "SN-20"},
    "find_service_by_name": {"name": "Courrier"},
    "find_service_offering_by_name": {"name": "Courrier Or"},
    "find_change_by_number": {"number": "CHG0000020"},
    "find_problem_by_number": {"number": "PRB0000020"},
    "find_incident_by_number": {"number": "INC0000005"},
    "find_sla_definition_by_name": {"name": "Vite"},
    "update_problem": {"number": "PRB0000020", "status": "assess"},
    "update_knowledge_article": {"kb_number": "KB0000020", "title": "x"},
}
"""Calls that name a row of ORG_002 by its name or number."""


@cache
def tables_by_column() -> Mapping[str, str]:
    """Table that a value of a column names: by keys, and by references."""
    tables: dict[str, str] = {}
    for table in METADATA.tables.values():
        for column in table.columns:
            for key in column.foreign_keys:
                tables[column.name] = key.column.table.name
    for table in METADATA.tables.values():
        keys = [column.name for column in table.primary_key]
        if len(keys) == 1:
            tables.setdefault(keys[0], table.name)
    return tables | TABLES


def id_arguments() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Tool, path of an argument that takes an id, and table, from the schemas."""
    for name, tool in TOOLS.items():
        for path in _paths(tool.input_schema):
            table = tables_by_column().get(path[-1])
            if table in FOREIGN:
                yield name, path, table


def _paths(schema: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, part in schema.get("properties", {}).items():
        if "object" in part["type"]:
            yield from ((name, *rest) for rest in _paths(part))
        elif "enum" not in part:
            yield (name,)


def naming(tool: str, path: tuple[str, ...], key: str) -> dict[str, Any]:
    """The tool's example call with a key in one argument; of the others only those that do not name the same row."""
    arguments: dict[str, Any] = copy.deepcopy(EXAMPLES[tool])
    for other in {"problem_id": ["number"], "knowledge_id": ["kb_number"]}.get(path[-1], []):
        arguments.pop(other, None)
    holder = arguments
    for step in path[:-1]:
        holder = holder.setdefault(step, {})
    schema = TOOLS[tool].input_schema
    for step in path:
        schema = schema["properties"][step]
    holder[path[-1]] = [key] if "array" in schema["type"] else key
    return arguments


CASES = list(id_arguments())


@pytest.fixture(scope="module")
def strict(gym: Gym) -> Iterator[GymDatabase]:
    with DECLARATION.strict_database(gym) as database:
        yield database


def test_most_tools_take_an_id() -> None:
    assert len({tool for tool, *_ in CASES}) > 60
    assert len(CASES) > 200
    assert {table for *_, table in CASES} == set(FOREIGN)


def test_an_id_of_another_organisation_is_answered_like_an_unknown_one(strict: GymDatabase) -> None:
    before = strict.digest()
    problems: list[object] = []
    for tool, path, table in CASES:
        foreign = FOREIGN[table]
        unknown = foreign[:-3] + "777"
        answers = [strict.call_with(tool, naming(tool, path, key)) for key in (foreign, unknown)]
        shown = [(a.is_error, a.text.replace(key, "?")) for a, key in zip(answers, (foreign, unknown), strict=True)]
        if shown[0] != shown[1]:
            problems.append((tool, path, shown))
        elif answers[0].is_error and not answers[0].code.endswith(("_NOT_FOUND", "_OFFERING_MISMATCH")):
            problems.append((tool, path, answers[0].text))
    assert problems == []
    assert strict.digest() == before


def test_a_name_or_number_of_another_organisation_is_unknown(gym: Gym) -> None:
    problems: list[str] = []
    for tool, arguments in BY_NAME.items():
        with DECLARATION.strict_database(gym) as strict:
            before = strict.digest()
            if not strict.call_with(tool, arguments).code.endswith("_NOT_FOUND") or strict.digest() != before:
                problems.append(tool)
            owner = DECLARATION.as_user(strict, "token-zoe")
            if owner.call_with(tool, arguments).is_error or (strict.digest() != before) != TOOLS[tool].writes:
                problems.append(f"{tool} by its owner")
    assert problems == []


def test_rows_of_another_organisation_are_neither_listed_nor_counted(strict: GymDatabase) -> None:
    listed = []
    for name, tool in TOOLS.items():
        if not tool.writes:
            text = strict.call_with(name, {key: EXAMPLES[name][key] for key in tool.input_schema["required"]}).text
            listed += [(name, key) for key in [*FOREIGN.values(), "INC_021"] if f'"{key}"' in text]
    assert listed == []


def test_counts_and_sums_are_of_the_own_organisation(strict: GymDatabase) -> None:
    own = "SELECT count(*) FROM incident WHERE org_id = 'ORG_001'"
    assert sum(strict.call("get_count_of_incident_priority_wise").data.values()) == strict.value(own)
    assert strict.call("total_sum_of_target_mins_per_priority").data["high"] == 30 + 241


def test_identifiers_are_counted_over_all_organisations(gym: Gym) -> None:
    with DECLARATION.strict_database(gym) as strict:
        given = {"caller_id": "USER_002", "short_description": "x", "assignment_group": "GROUP_001"}
        created = strict.call_with("create_incident", given).data
        assert (created["incident_id"], created["org_id"]) == ("INC_022", "ORG_001")


def test_a_user_cannot_be_moved_to_another_organisation(strict: GymDatabase) -> None:
    refused = strict.call("update_user_details", user_id="USER_002", company_id="ORG_002")
    assert refused.code == "ORGANIZATION_NOT_FOUND"


def test_published_access_shows_and_changes_rows_of_every_organisation(gym: Gym) -> None:
    with DECLARATION.strict_database(gym, access="published") as database:
        assert database.call("find_incident_by_id", incident_id="INC_005").data["org_id"] == "ORG_002"
        changed = database.call("update_incident", incident_id="INC_005", assigned_to="USER_003").data
        assert changed["assigned_to"] == "USER_003"
        assert "USER_009" in database.call("list_users").text
