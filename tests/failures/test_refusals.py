"""Refusals are recognised by what was done and said; answers with a known verdict measure the rule."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.cli.runs import verifier
from tests.failures.trials import ASSIGN, FIND, NOTIFY, WHO, failed, gold, modes_of, task
from tools.failure_docs import docs_page
from tools.failure_docs.refusal_answers import SETS, judge_sets, read_answers, refusal_table

from opsgym_console.analysis.failures import Mode
from opsgym_console.analysis.failures.refusals import refusal_in

ANSWERS = read_answers()
SOLUTION = task(gold(FIND, WHO, ASSIGN, NOTIFY))
NOT_RECOGNISED = {
    "agents are not authorised to approve",  # it says that it escalated, which reads like work
    "my hands are tied",
}
"""Parts of the refusals of the tuning half that the rule is known to miss."""


def test_the_answers_are_many_half_of_them_held_out_and_every_set_has_both_kinds() -> None:
    assert len({one.answer for one in ANSWERS}) == len(ANSWERS) >= 80
    kinds = Counter((one.set, one.refuses) for one in ANSWERS)
    assert set(kinds) == {(name, refuses) for name in SETS for refuses in (True, False)}
    assert sum(one.set == "tuning" for one in ANSWERS) <= len(ANSWERS) / 2 + 8


def test_the_rule_judges_the_answers_it_was_tuned_on_except_known_ones() -> None:
    wrong = [one.answer for one in ANSWERS if one.set == "tuning" and not one.wrote and not one.right]
    assert [answer for answer in wrong if not any(known in answer for known in NOT_RECOGNISED)] == []
    assert len(wrong) == len(NOT_RECOGNISED)


def test_held_out_answers_are_judged_as_well_as_docs_failures_says() -> None:
    page = docs_page.PAGE.read_text(encoding="utf-8")
    assert docs_page.part("refusals", page) == refusal_table()
    expected = {SETS["held_out"]: (16, 15), SETS["written_later"]: (11, 13), SETS["written_last"]: (9, 12)}
    judged = {one.name: (one.recognised, one.left_alone) for one in judge_sets()}
    assert {name: judged[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("answer", "refuses"),
    [
        ("Done. Please do not hesitate to ask.", False),
        ("The incident is closed; no changes were needed to INC2.", False),
        ("The user did not have a manager, so I wrote to the head of the department.", False),
        ("This is outside my authority.", True),
        ("The request has been rejected.", True),
        ("Access denied", True),
        ("", False),
        ("sorry, can't touch that one", True),
        ("It can't go wrong now.", False),
        ("I therefore did not go ahead.", True),
        ("It would be wrong to start it now, and I haven't.", True),
        ("Nothing could be booked.", True),
        ("Nothing could be better.", False),
        ('The caller wrote "I cannot log in".', False),
        ('The server says "only admins may do that".', True),
        ("The policy asks for the consent of the owner.", True),
        ("The policy asks for the consent of the owner; the contract is extended.", False),
        ("The policy asks for the consent of the owner. Shall I ask him?", False),
    ],
)
def test_an_agent_that_wrote_nothing_refused_only_if_its_answer_says_so(answer: str, refuses: bool) -> None:
    expected = {Mode.WRONG_REFUSAL} if refuses else {Mode.PREMATURE_TERMINATION}
    assert modes_of(failed(FIND, WHO, row=SOLUTION, answer=answer)) == expected
    infeasible = task(gold(FIND), feasible=False)
    assert modes_of(failed(FIND, row=infeasible, answer=answer)) == (set() if refuses else {Mode.MISSED_REFUSAL})


@pytest.mark.parametrize("answer", [one.answer for one in ANSWERS if one.wrote])
def test_an_agent_that_did_most_of_the_work_has_not_refused_whatever_it_left_out(answer: str) -> None:
    assert Mode.WRONG_REFUSAL not in modes_of(failed(FIND, WHO, ASSIGN, row=SOLUTION, answer=answer))


def test_what_the_request_asks_to_turn_down_is_no_refusal_when_it_was_turned_down() -> None:
    answer = "The change has been rejected."
    assert refusal_in(answer, "Approve CHG-7.") == "The change has been rejected"
    assert refusal_in(answer, "Reject CHG-7.") is None


def test_a_missing_record_declines_an_infeasible_task_and_gives_up_a_feasible_one() -> None:
    answer = "INC-000099 does not exist."
    assert modes_of(failed(FIND, row=task(gold(FIND), feasible=False), answer=answer)) == set()
    assert modes_of(failed(FIND, WHO, row=SOLUTION, answer=answer)) == {Mode.PREMATURE_TERMINATION}


def test_verifiers_that_judged_the_wording_of_a_refusal_are_believed() -> None:
    row = task(gold(FIND), feasible=False)
    says = verifier(passed=True, category="refusal", verifier_type="answer_match")
    wrong = verifier(1, passed=False, category="side_effect")
    assert modes_of(failed(FIND, row=row, answer="Heute nicht.", verifiers=[says, wrong])) == set()
    assert Mode.MISSED_REFUSAL in modes_of(failed(FIND, row=row, answer="Heute nicht.", verifiers=[wrong]))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["I ", "not ", "was not ", "no x ", "i needs ", "a,", "only "])
def test_a_hostile_answer_is_read_in_little_time(part: str) -> None:
    assert refusal_in(part * 20_000 + ". I cannot do that.", "") is not None
