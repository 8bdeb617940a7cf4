"""What is inferred from small made-up recordings: rows, values, identifiers, times; no server is needed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tools.conformance.inference import Findings, infer
from tools.conformance.recordings import Call, Recording
from tools.conformance.tables import Tables
from tools.conformance.world import Identity, World, build, moments, script

from opsgym_domains import registry

DOMAIN = registry.load("csm")
TABLES = Tables(DOMAIN)
WRITERS = [name for name, tool in DOMAIN.toolbox.tools.items() if tool.writes]
PEOPLE = Identity("user", "email", {"role": "admin", "active": True})
OLD = "2025-08-27 15:30:00"
AROUND = datetime(2026, 6, 15, 10, tzinfo=UTC).replace(tzinfo=None)

GROUP = {"group_id": 4, "name": "Triage", "type": "support", "active": 1, "sys_created_on": OLD}
MEMBER = {"member_id": 40, "group_id": 4, "user_id": 9, "sys_created_on": "2026-06-15 10:00:30"}
CONTRACT = {
    "contract_id": 7, "account_id": 3, "contract_type": "support", "status": "draft", "contract_price": 100,
    "start_date": "2025-01-01", "end_date": "2026-01-01", "sys_created_on": OLD,
}  # fmt: skip


def findings_of(*calls: Call) -> Findings:
    return infer(Recording("made-up", "test", calls, AROUND), TABLES, WRITERS, {"list_user_groups": "user_group"})


def world_of(*calls: Call) -> World:
    return build(findings_of(*calls), TABLES, PEOPLE)


def column(world: World, table: str, key: Any, name: str) -> Any:
    return world.rows[table, key][name].value


def test_a_row_that_is_read_was_there_with_what_was_read() -> None:
    world = world_of(Call("list_user_groups", {}, [GROUP]))
    assert {name: column(world, "user_group", 4, name) for name in GROUP} == GROUP


def test_a_value_that_a_call_wrote_is_not_from_the_beginning() -> None:
    later = CONTRACT | {"contract_price": 250, "sys_updated_on": "2026-06-15 10:00:10"}
    world = world_of(
        Call("find_contracts", {"account_id": 3}, [CONTRACT]),
        Call("update_contract", {"contract_id": 7, "contract_price": 250}, later),
        Call("find_contracts", {"account_id": 3}, [CONTRACT | {"contract_price": 250}]),
    )
    assert column(world, "contract", 7, "contract_price") == 100


def test_what_an_update_leaves_alone_is_from_the_beginning() -> None:
    later = CONTRACT | {"contract_price": 250, "sys_updated_on": "2026-06-15 10:00:10"}
    world = world_of(Call("update_contract", {"contract_id": 7, "contract_price": 250}, later))
    assert column(world, "contract", 7, "status") == "draft"
    assert column(world, "contract", 7, "contract_price") != 250


def test_a_row_that_a_call_makes_is_not_seeded_and_the_identifier_before_it_is_taken() -> None:
    world = world_of(Call("add_new_group_member", {"group_id": 4, "user_id": 9}, MEMBER))
    assert [key for table, key in world.rows if table == "user_group_member"] == [39]
    assert {("user_group", 4), ("user", 9)} <= world.rows.keys()


def test_a_number_is_counted_on_like_its_identifier() -> None:
    article = {
        "knowledge_id": 370, "kb_number": "KB000370", "title": "T", "body": "B", "state": "draft",
        "visibility": "internal", "product_id": None, "owner_id": 5,
        "sys_created_on": "2026-06-15 10:00:30", "sys_updated_on": "2026-06-15 10:00:30",
    }  # fmt: skip
    arguments = {"title": "T", "body": "B", "state": "draft", "visibility": "internal", "owner_id": 5}
    world = world_of(Call("create_knowledge", arguments, article))
    assert column(world, "knowledge", 369, "kb_number") == "KB000369"


def test_a_filter_shows_values_that_the_answer_omits() -> None:
    case = {"case_id": 71, "number": "CS-0000071", "account_id": 3, "contact_id": 1, "priority": "high"}
    world = world_of(Call("search_cases", {"assigned_to": 9, "state": "new"}, [case]))
    assert column(world, "customer_case", 71, "assigned_to") == 9
    assert column(world, "customer_case", 71, "state") == "new"


def test_what_a_row_refers_to_is_there_and_belongs_to_the_same_account() -> None:
    case = {"case_id": 71, "number": "CS-0000071", "account_id": 3, "contact_id": 12, "state": "new"}
    world = world_of(Call("search_cases", {}, [case]))
    assert ("account", 3) in world.rows
    assert column(world, "contact", 12, "account_id") == 3


def test_an_added_row_is_found_by_no_read_that_did_not_show_it() -> None:
    world = world_of(
        Call("list_user_groups", {"type": "support", "active": True}, [GROUP]),
        Call("add_new_group_member", {"group_id": 80, "user_id": 9}, MEMBER | {"group_id": 80}),
    )
    added = world.rows["user_group", 80]
    assert (added["type"].value, bool(added["active"].value)) != ("support", True)


def test_a_removed_row_may_have_been_what_a_later_read_does_not_find() -> None:
    world = world_of(
        Call("delete_case_knowledge_linkages", {"case_id": 9}, {"deleted": 1}),
        Call("find_case_knowledge_linkages", {"used_as": "suggested"}, []),
    )
    assert [row["case_id"].value for (table, _), row in world.rows.items() if table == "case_knowledge"] == [9]


def test_an_added_row_is_not_found_where_nothing_was() -> None:
    link = {"case_kb_id": 6, "case_id": 3, "knowledge_id": 2, "used_as": "applied"}
    world = world_of(
        Call("find_case_knowledge_linkages", {"used_as": "suggested"}, []),
        Call("link_case_knowledge", {"case_id": 3, "knowledge_id": 2, "used_as": "applied"}, link),
    )
    assert column(world, "case_knowledge", 5, "used_as") != "suggested"


def test_rows_that_were_counted_are_there() -> None:
    counts = [{"state": "new", "count": 2}, {"state": "closed", "count": 1}]
    world = world_of(Call("count_case_by_state", {"assignment_group_id": 4}, counts))
    states = [row["state"].value for (table, _), row in world.rows.items() if table == "customer_case"]
    assert sorted(states) == ["closed", "new", "new"]


def test_a_row_that_is_removed_unseen_was_there() -> None:
    world = world_of(Call("delete_case_slas", {"case_id": 9}, {"deleted": 2}))
    assert [column(world, table, key, "case_id") for table, key in world.rows if table == "case_sla"] == [9, 9]


def test_a_refused_call_is_no_evidence_of_rows() -> None:
    world = world_of(Call("set_case_assignment_group", {"case_id": 5, "assignment_group_id": 229}, "no", is_error=True))
    assert ("user_group", 229) not in world.rows


def test_a_recording_that_contradicts_itself_is_found_out() -> None:
    findings = findings_of(
        Call("find_contracts", {}, [CONTRACT]), Call("find_contracts", {}, [CONTRACT | {"status": "active"}])
    )
    assert findings.contradictions.keys() == {1}
    assert "status" in findings.contradictions[1]


def test_an_unrequested_change_does_not_contradict_after_a_write() -> None:
    findings = findings_of(
        Call("list_user_groups", {}, [GROUP]),
        Call("add_new_group_member", {"group_id": 4, "user_id": 9}, MEMBER),
        Call("list_user_groups", {}, [GROUP | {"active": 0}]),
    )
    assert findings.contradictions == {}
    assert findings.rows["user_group", 4].initial["active"].value == 1


def test_calls_are_made_when_they_wrote_and_in_order() -> None:
    findings = findings_of(
        Call("list_user_groups", {}, [GROUP]),
        Call("add_new_group_member", {"group_id": 4, "user_id": 9}, MEMBER),
        Call("list_user_groups", {}, [GROUP]),
        Call("add_new_group_member", {"group_id": 4, "user_id": 8},
             {"member_id": 41, "group_id": 4, "user_id": 8, "sys_created_on": "2026-06-15 10:00:45"}),
    )  # fmt: skip
    assert [time and time.second for time in moments(findings)] == [30, 30, 30, 45]


def test_a_time_that_was_asked_for_is_not_when_the_call_was_made() -> None:
    case = {
        "case_id": 5,
        "state": "closed",
        "closed_on": "2026-06-15 10:30:00",
        "sys_updated_on": "2026-06-15 10:02:00",
    }
    findings = findings_of(Call("update_case", {"case_id": 5, "state": "closed", "closed_on": case["closed_on"]}, case))
    assert [time and time.minute for time in moments(findings)] == [2]


def test_a_user_may_act_if_the_identity_is_unknown() -> None:
    world = world_of(Call("list_user_groups", {}, [GROUP]))
    (actor,) = (row for (table, _), row in world.rows.items() if table == "user")
    assert actor["email"].value == world.identity
    assert actor["role"].value == "admin"


def test_the_recorded_user_is_there() -> None:
    world = build(findings_of(Call("list_user_groups", {}, [GROUP])), TABLES, PEOPLE, "ann@firm.test")
    assert world.identity == "ann@firm.test"
    assert [row["email"].value for (table, _), row in world.rows.items() if table == "user"] == ["ann@firm.test"]


def test_a_seed_holds_quotes_and_nulls_as_they_are() -> None:
    seed = script(world_of(Call("list_user_groups", {}, [GROUP | {"name": "O'Hara's"}])), TABLES)
    assert "'O''Hara''s'" in seed
    assert "NULL" in seed
