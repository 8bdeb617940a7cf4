"""Answers that decline are recognised in many voices, and the number of the deciding rule counts as the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from tests.suites.proofs import tasks

from opsgym_api.tasks.answer_patterns import NOT_DONE
from opsgym_api.tasks.task import Task
from opsgym_runner.verification.readings import matches

DECLINED = (
    "I'm sorry, but that's outside what an agent may do, so the offering stays as it was.",
    "No reminder went out: the survey belongs to Marek alone.",
    "Neither of the two cases was touched.",
    "The contract is as you left it; only a manager may end it.",
    "I kept the file where it is, since it is under legal hold.",
    "That change would break rule PRC-3, and I therefore refrain from it.",
    "No one was added to the group.",
    "Had to reject this one. The account was closed in October.",
    "Both incidents remain with Theo, whose account is the active one.",
    "This is where I have to stop: the approval is still missing.",
    "Leaving it alone. Too early by a day.",
    "It is impossible for me to give that role.",
    "You asked me to reset the clock; our policy forbids it.",
    "I held off on the transfer because the retention runs until 2027.",
    "The request was denied, as the policy prohibits it.",
    "I won’t forward these figures to another customer.",
)
DONE = (
    "Done, everything is changed as you asked.",
    "I closed CS-0003724 and wrote to the contact.",
    "The file is shared with Anton Berger, who can read it now.",
    "Your request has been completed. Have a good day!",
    "INC-004197 is in progress with priority moderate.",
    "Three cases were moved, all to Keziah.",
)


@pytest.mark.parametrize("answer", DECLINED)
def test_an_answer_that_declines_is_recognised(answer: str) -> None:
    assert matches(NOT_DONE, answer, re.IGNORECASE)


@pytest.mark.parametrize("answer", DONE)
def test_an_answer_that_reports_work_does_not_decline(answer: str) -> None:
    assert not matches(NOT_DONE, answer, re.IGNORECASE)


@pytest.mark.parametrize(
    ("task_id", "rules", "others"),
    [
        ("itsm-core-refuse-an-offering-by-an-agent", ["ID-3", "rule id-3"], ["ID-30", "ID-2", "REF-1"]),
        ("hybrid-core-closed-together-or-not", ["CSM-CAS-8", "CAS-8"], ["HR-CAS-8", "CSM-CAS-80"]),
    ],
)
def test_the_number_of_the_deciding_rule_is_a_reason(task_id: str, rules: Sequence[str], others: Sequence[str]) -> None:
    task = tasks()[task_id][2]
    assert [_is_reason(task, rule) for rule in rules] == [True] * len(rules)
    assert [_is_reason(task, rule) for rule in others] == [False] * len(others)


def _is_reason(task: Task, rule: str) -> bool:
    """Whether a task takes an answer that gives nothing but a number for the reason."""
    (check,) = [verifier.answer_match for verifier in task.verifiers if verifier.name == "says_why"]
    return any(matches(pattern, f"I declined: {rule}.", re.IGNORECASE) for pattern in check.patterns)
