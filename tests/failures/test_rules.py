"""What each rule finds, and what it must not take for it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from tests.cli.runs import verifier
from tests.failures.trials import (
    ASSIGN,
    FIND,
    NOTIFY,
    WHO,
    asks,
    call,
    failed,
    finding,
    gold,
    modes_of,
    task,
)

from opsgym_console.analysis.failures import Basis, Mode, analyse
from opsgym_console.analysis.failures.trajectory import is_lookup
from opsgym_domains import registry

SOLUTION = task(gold(FIND, WHO, ASSIGN, NOTIFY))


# --- in general ----------------------------------------------------------------------------------------------------


def test_the_first_finding_alone_is_primary_and_all_stand_in_the_order_of_modes() -> None:
    wrong = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_009"}, {})
    findings = analyse(failed(FIND, WHO, wrong, row=SOLUTION))
    assert [one.mode for one in findings] == [Mode.INCORRECT_ID, Mode.MISSED_FOLLOW_UP]
    assert [one.primary for one in findings] == [True, False]


def test_a_trial_that_did_what_the_solution_does_has_no_finding() -> None:
    assert analyse(failed(FIND, WHO, ASSIGN, NOTIFY, row=SOLUTION)) == []


def test_a_trial_without_any_call_or_row_is_analysed_all_the_same() -> None:
    assert modes_of(failed()) == {Mode.PREMATURE_TERMINATION}
    assert modes_of(failed(stopped_by="step_limit", answer="")) == set()


KEEPS_A_ROW_OF_ITSELF = {"drive": ["download_files", "export_files"]}
"""Lookups that write the row of their operation."""


@pytest.mark.parametrize("domain", registry.domains())
def test_names_tell_which_tools_write(domain: str) -> None:
    tools = registry.load(domain).toolbox.tools
    others = [name for name, tool in tools.items() if is_lookup(name) is tool.writes]
    assert others == KEEPS_A_ROW_OF_ITSELF.get(domain, [])


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", ["I cannot do that.", "I can’t change it.", "That is not permitted.", "I did not change anything."]
)
def test_declining_what_can_be_done_is_a_wrong_refusal_and_nothing_else(answer: str) -> None:
    assert modes_of(failed(FIND, WHO, row=SOLUTION, answer=answer)) == {Mode.WRONG_REFUSAL}


def test_who_does_most_and_says_what_was_left_out_has_not_declined() -> None:
    trial = failed(FIND, WHO, ASSIGN, row=SOLUTION, answer="Assigned; I could not send the message.")
    assert modes_of(trial) == {Mode.MISSED_FOLLOW_UP}


def test_doing_what_had_to_be_declined_is_a_missed_refusal() -> None:
    row = task(gold(FIND), feasible=False)
    result = finding(failed(FIND, WHO, ASSIGN, row=row), Mode.MISSED_REFUSAL)
    assert result.primary
    assert result.evidence[0].tool == "update_incident"


def test_saying_that_it_is_done_is_a_missed_refusal_though_nothing_was() -> None:
    row = task(gold(FIND), feasible=False)
    assert modes_of(failed(FIND, row=row, answer="All done.")) == {Mode.MISSED_REFUSAL}
    assert modes_of(failed(FIND, row=row, answer="I cannot do that.")) == set()


# --- how the work was gone about -----------------------------------------------------------------------------------


def test_ending_before_half_of_the_writes_is_premature_and_later_a_missed_follow_up() -> None:
    assert modes_of(failed(FIND, WHO, row=SOLUTION)) == {Mode.PREMATURE_TERMINATION}
    result = finding(failed(FIND, WHO, ASSIGN, row=SOLUTION), Mode.MISSED_FOLLOW_UP)
    assert (result.basis, result.evidence[0].tool) == (Basis.GOLD_ACTIONS, "send_notification")


def test_who_is_stopped_has_not_ended_too_early() -> None:
    assert modes_of(failed(FIND, WHO, row=SOLUTION, stopped_by="step_limit", answer="")) == set()


def test_the_third_time_of_a_call_is_a_loop() -> None:
    assert Mode.LOOPING not in modes_of(failed(FIND, FIND))
    result = finding(failed(FIND, FIND, FIND), Mode.LOOPING)
    assert [(one.call, one.step) for one in result.evidence] == [(2, 3)]


def test_fruitless_searches_that_differ_in_wording_only_are_a_loop() -> None:
    names = ["Tokyo Japan office", "Tokyo Japan Office 4", "office Tokyo Japan"]
    assert Mode.LOOPING in modes_of(failed(*(call("find_location", {"name": name}, {}) for name in names)))
    calls = [call("find_location", {"name": name}, {"location_id": place}) for place, name in enumerate(names)]
    assert Mode.LOOPING not in modes_of(failed(*calls))


def test_one_other_wording_of_a_fruitless_search_is_no_loop() -> None:
    names = ["Tokyo Japan office", "Tokyo Japan Office 4"]
    assert Mode.LOOPING not in modes_of(failed(*(call("find_location", {"name": name}, {}) for name in names)))


def test_searches_for_different_things_that_find_nothing_are_no_loop() -> None:
    searches = [call("search_cases", {"product_id": number, "state": "new"}, []) for number in range(5)]
    assert Mode.LOOPING not in modes_of(failed(*searches))


def test_an_unknown_id_is_a_missing_lookup_even_if_it_is_right() -> None:
    result = finding(failed(ASSIGN, NOTIFY, row=SOLUTION), Mode.MISSING_LOOKUP)
    assert [(one.call, one.argument) for one in result.evidence] == [(0, "incident_id"), (0, "assigned_to")]
    assert Mode.MISSING_LOOKUP not in modes_of(failed(FIND, WHO, ASSIGN, row=SOLUTION))


def test_a_number_is_a_known_id_only_if_a_result_had_it_as_an_id() -> None:
    assign = call("assign_case", {"case_id": 7, "assigned_to": 1}, {})
    flagged = call("find_case", {}, {"case_id": 7, "active": 1})
    case = call("find_case", {}, {"case_id": 7, "assigned_to": 1})
    assert Mode.MISSING_LOOKUP in modes_of(failed(flagged, assign))
    assert Mode.MISSING_LOOKUP not in modes_of(failed(case, assign))


# --- what was done -------------------------------------------------------------------------------------------------


def test_another_record_than_the_solutions_is_an_incorrect_id_and_the_state_says_of_which_table() -> None:
    wrong = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_009"}, {})
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE users (user_id TEXT PRIMARY KEY)")
    db.execute("INSERT INTO users VALUES ('USER_009')")
    db.commit()
    trial = failed(FIND, WHO, wrong, NOTIFY, row=SOLUTION, states={"gym-itsm-mcp": db.serialize()})
    result = finding(trial, Mode.INCORRECT_ID)
    assert result.evidence[0].argument == "assigned_to"
    assert "another record of users" in result.evidence[0].detail
    assert modes_of(trial) == {Mode.INCORRECT_ID}


def test_a_state_that_is_no_database_makes_no_analysis_fail() -> None:
    wrong = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_009"}, {})
    trial = failed(FIND, WHO, wrong, NOTIFY, row=SOLUTION, states={"gym-itsm-mcp": b"nothing of the kind" * 100})
    assert modes_of(trial) == {Mode.INCORRECT_ID}


def test_two_updates_do_what_the_solution_does_in_one() -> None:
    both = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_008", "status": "on_hold"}, {})
    row = task(gold(FIND, WHO, both))
    hold = call("update_incident", {"incident_id": "INC_012", "status": "on_hold"}, {})
    assert modes_of(failed(FIND, WHO, ASSIGN, hold, row=row)) == set()


def test_wording_is_not_compared_but_values_are() -> None:
    say = call(
        "send_notification", {"incident_id": "INC_012", "type": "update", "message": "It is yours from now on."}, {}
    )
    other = call(
        "send_notification", {"incident_id": "INC_012", "type": "alert", "message": "Please take it over."}, {}
    )
    row = task(gold(FIND, WHO, ASSIGN, say))
    result = finding(failed(FIND, WHO, ASSIGN, other, row=row), Mode.STATE_CORRUPTION)
    assert [one.argument for one in result.evidence] == ["type"]


def test_a_write_on_top_is_state_corruption_and_a_refused_one_is_not() -> None:
    more = {"incident_id": "INC_012", "priority": "critical"}
    trial = failed(FIND, WHO, ASSIGN, NOTIFY, call("create_problem", more, {"problem_id": "PRB_001"}), row=SOLUTION)
    assert modes_of(trial) == {Mode.STATE_CORRUPTION}
    refused = call("create_problem", more, "no agent is available", refused=True)
    assert modes_of(failed(FIND, WHO, ASSIGN, NOTIFY, refused, row=SOLUTION)) == set()


def test_a_refusal_by_a_rule_is_a_policy_violation_unless_the_solution_asks_too() -> None:
    message = {"detail": {"error_code": "NOT_ACTIVE", "message": "rule INC-5: USER_008 is inactive"}}
    refused = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_008"}, message, refused=True)
    asking = task(gold(FIND, WHO, ASSIGN, NOTIFY))
    other = task(gold(FIND, WHO, NOTIFY))
    assert Mode.POLICY_VIOLATION in modes_of(failed(FIND, WHO, refused, NOTIFY, row=other))
    assert Mode.POLICY_VIOLATION not in modes_of(failed(FIND, WHO, refused, NOTIFY, row=asking))


def test_a_check_of_the_process_that_fails_for_what_is_missing_is_no_violation() -> None:
    check = verifier(passed=False, category="permission_process")
    assert modes_of(failed(FIND, WHO, ASSIGN, row=SOLUTION, verifiers=[check])) == {Mode.MISSED_FOLLOW_UP}
    assert modes_of(failed(FIND, WHO, ASSIGN, NOTIFY, row=SOLUTION, verifiers=[check])) == {Mode.POLICY_VIOLATION}


@pytest.mark.parametrize(
    "message",
    [
        {
            "detail": [
                {"type": "enum", "loc": ["body", "status"], "msg": "'done' is not allowed", "ctx": {"code": "INVALID"}}
            ]
        },
        "API Error [update_incident]: assignment_group_id not found",
        "At least one member must have the 'owner' role",
    ],
)
def test_a_call_refused_for_its_arguments_has_invalid_arguments(message: object) -> None:
    refused = call("update_incident", {"incident_id": "INC_012", "status": "done"}, message, refused=True)
    assert Mode.INVALID_ARGUMENTS in modes_of(failed(FIND, refused))


def test_a_servers_own_fault_is_nobodys_invalid_argument() -> None:
    message = "Failed: Response() argument after ** must be a mapping, not NoneType"
    assert Mode.INVALID_ARGUMENTS not in modes_of(failed(call("create_event", {"name": "x"}, message, refused=True)))


def test_reading_one_by_one_is_inefficient_unless_the_solution_does_so() -> None:
    reads = [
        call("get_user", {"user_id": f"USER_{number:03}"}, {"user_id": f"USER_{number:03}"}) for number in range(12)
    ]
    assert Mode.INEFFICIENT_TOOLS in modes_of(failed(*reads, row=task(gold(FIND, WHO, ASSIGN))))
    assert Mode.INEFFICIENT_TOOLS not in modes_of(failed(*reads, row=task(gold(*reads, ASSIGN))))


def test_twice_as_many_lookups_as_needed_are_inefficient() -> None:
    reads = [call(f"get_{name}", {}, {"x": 1}) for name in "abcdefghi"]
    result = finding(failed(FIND, WHO, *reads, ASSIGN, row=SOLUTION), Mode.INEFFICIENT_TOOLS)
    assert result.evidence[0].detail == "11 lookups in a task that takes 4 calls in all"


# --- without a solution, by what verifiers ask for -----------------------------------------------------------------

CASE = call("search_cases", {"number": "CS-7"}, [{"case_id": 7, "state": "new", "assigned_to": 3, "group_id": 2}])
MOVE = call("update_case", {"case_id": 7, "state": "open"}, {"case_id": 7, "state": "open", "assigned_to": 3})


def test_a_column_that_was_not_touched_is_a_missed_follow_up() -> None:
    check = asks("SELECT COUNT(*) FROM c WHERE case_id = 7 AND state = 'open' AND assigned_to = 4")
    result = finding(failed(CASE, MOVE, verifiers=[check]), Mode.MISSED_FOLLOW_UP)
    assert (result.basis, result.evidence[0].argument, result.evidence[0].verifier) == (
        Basis.VERIFIERS,
        "assigned_to",
        0,
    )


def test_a_reference_that_was_written_wrongly_is_an_incorrect_id() -> None:
    check = asks("SELECT COUNT(*) FROM c WHERE case_id = 7 AND group_id = 5 AND state = 'new'")
    wrong = call("update_case", {"case_id": 7, "group_id": 2}, {"case_id": 7, "group_id": 2, "state": "new"})
    assert modes_of(failed(CASE, wrong, verifiers=[check])) == {Mode.INCORRECT_ID}


def test_a_value_that_was_written_wrongly_is_state_corruption_and_a_violation_where_the_policy_names_it() -> None:
    check = asks("SELECT COUNT(*) FROM l WHERE case_id = 7 AND used_as = 'suggested'")
    link = call("link_knowledge", {"case_id": 7, "used_as": "applied"}, {"case_id": 7, "used_as": "applied"})
    assert modes_of(failed(CASE, link, verifiers=[check])) == {Mode.STATE_CORRUPTION}
    rule = "Articles that a search finds should be linked as suggested."
    both = {Mode.STATE_CORRUPTION, Mode.POLICY_VIOLATION}
    assert modes_of(failed(CASE, link, verifiers=[check], policy=rule)) == both


def test_a_row_that_was_written_for_another_verifier_is_no_failed_try_at_this_one() -> None:
    alert = asks("SELECT COUNT(*) FROM n WHERE email = 'a@x.y' AND type = 'alert'", index=0)
    other = asks("SELECT COUNT(*) FROM n WHERE email = 'b@x.y' AND type = 'alert'", index=1)
    sent = call("send_notification", {"email": "a@x.y", "type": "alert"}, {"email": "a@x.y", "type": "alert"})
    trial = failed(CASE, sent, verifiers=[replace(alert, passed=True), other])
    assert modes_of(trial) == {Mode.MISSED_FOLLOW_UP}


def test_a_check_of_what_must_stay_that_fails_alone_is_state_corruption() -> None:
    stays = verifier(passed=False, category="side_effect")
    assert modes_of(failed(CASE, MOVE, verifiers=[stays])) == {Mode.STATE_CORRUPTION}
    due = asks("SELECT COUNT(*) FROM c WHERE case_id = 7 AND state = 'open' AND assigned_to = 4")
    assert Mode.STATE_CORRUPTION not in modes_of(failed(CASE, MOVE, verifiers=[due, stays]))


def test_a_row_that_has_to_be_gone_is_a_missed_follow_up_until_it_is_removed_or_changed() -> None:
    gone = asks("SELECT COUNT(*) FROM c WHERE case_id = 7 AND state = 'new'", 0)
    noted = verifier(1, passed=True)
    note = call("add_note", {"case_id": 7}, {})
    assert modes_of(failed(CASE, note, verifiers=[gone, noted])) == {Mode.MISSED_FOLLOW_UP}
    assert modes_of(failed(CASE, MOVE, verifiers=[gone])) == set()
    assert modes_of(failed(CASE, call("delete_case", {"case_id": 7}, {}), verifiers=[gone])) == set()


def test_a_passed_verifier_asks_for_nothing() -> None:
    met = replace(asks("SELECT COUNT(*) FROM c WHERE case_id = 7 AND assigned_to = 4"), passed=True)
    assert modes_of(failed(CASE, MOVE, verifiers=[met])) == set()


def test_a_write_that_was_refused_and_given_up_is_a_missed_follow_up() -> None:
    refused = call("assign_case", {"case_id": 7}, "out of order", refused=True)
    assert modes_of(failed(CASE, MOVE, refused)) == {Mode.MISSED_FOLLOW_UP}
    again = call("assign_case", {"case_id": 7}, {"case_id": 7})
    assert modes_of(failed(CASE, MOVE, refused, again)) == set()


def test_creating_the_same_twice_is_state_corruption() -> None:
    made = call("create_case", {"account": "Acme"}, {"case_id": 8})
    assert modes_of(failed(made, made)) == {Mode.STATE_CORRUPTION}


def test_tools_that_had_to_be_called_are_missing_lookups_or_follow_ups() -> None:
    missing = {"missing_tools": ["find_entitlements", "send_notification"], "tool_calls": 2}
    check = verifier(passed=False, verifier_type="tool_execution", actual=missing)
    assert modes_of(failed(CASE, MOVE, verifiers=[check])) == {Mode.MISSING_LOOKUP, Mode.MISSED_FOLLOW_UP}
