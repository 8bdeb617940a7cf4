"""Why a verifier failed, in words."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.task import Task
from opsgym_core.results.explanation import explain, policy_rules, shortfalls

POLICY = """# Desk

## Incidents

- **INC-1** Impact and urgency determine the priority.
  Set it in the same call.

  | impact | high |
  | --- | --- |

- **INC-2** Read first.
* **VIP-SEC-12** Ask twice.

Text that belongs to no rule.
"""


def result(kind: str, expected: Any, actual: Any, **fields: Any) -> VerifierResult:
    return VerifierResult(
        **{
            "index": 0, "name": "check", "verifier_type": kind, "category": "task_completion", "executed": True,
            "passed": False, "published_passed": False, "expected": expected, "actual": actual, **fields,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (
            result("state_difference", {"rows": 1}, {"unmet": ["incident 7: is unchanged"], "unexpected": ["note 3"]}),
            ["incident 7: is unchanged", "note 3"],
        ),
        (result("looked_up", {}, {"not_looked_up": ["id 7: no result showed it"]}), ["id 7: no result showed it"]),
        (result("never_called", {}, {"attempted": ["close (call 2)"]}), ["attempted close (call 2)"]),
        (
            result("tool_execution", {"minimum_tool_calls": 3}, {"missing_tools": ["a", "b"], "tool_calls": 1}),
            ["never called: a, b"],
        ),
        (
            result("tool_execution", {"minimum_tool_calls": 3}, {"missing_tools": [], "tool_calls": 1}),
            ["1 tool calls, at least 3 are required"],
        ),
        (result("answer_match", ["(?i)x"], "  Done\nas asked. "), ["the answer was “Done as asked.”"]),
        (result("answer_match", ["(?i)x"], ""), ["the agent gave no answer"]),
        (result("answer_match", ["(?i)x"], "a" * 300), [f"the answer was “{'a' * 200}…”"]),
        (
            result("response_check", {"minimum_comparison_value": 80}, {"mark": 20, "reason": "off topic"}),
            ["the judge gave 20, at least 80 is required: off topic"],
        ),
        (
            result("database_state", 1, 0, comparison="greater_than"),
            ["expected 1 (greater than), got 0"],
        ),
        (result("database_state", 1, None, error="no such table: x"), ["no such table: x"]),
        (result("of a later version", 1, 2), ["expected 1, got 2"]),
        (result("state_difference", 1, "of another form"), ["expected 1, got 'of another form'"]),
    ],
)
def test_a_failed_verifier_says_what_it_found(failed: VerifierResult, words: list[str]) -> None:
    assert shortfalls(failed) == words


def test_a_passed_verifier_found_nothing_otherwise() -> None:
    assert shortfalls(result("database_state", 1, 1, passed=True)) == []


def task(description: str) -> Task:
    verifier = {
        "verifier_type": "tool_execution", "description": description, "validation_config": {"selected_tools": []},
    }  # fmt: skip
    servers = [{"mcp_server_name": "gym-itsm-mcp", "seed_database_file": "builtin:small"}]
    return Task.model_validate({
        "task_id": "one", "domain": "itsm", "system_prompt": POLICY, "user_prompt": "Please.", "selected_tools": ["a"],
        "gym_servers_config": servers, "verifiers": [verifier],
    })  # fmt: skip


@pytest.mark.parametrize(
    ("description", "sentence", "rules"),
    [
        ("The row is written [INC-1]", "The row is written", ["INC-1"]),
        ("The row is written [INC-1, VIP-SEC-12]", "The row is written", ["INC-1", "VIP-SEC-12"]),
        ("Words of the publisher [see above]", "Words of the publisher [see above]", []),
        ("", "", []),
    ],
)
def test_a_description_is_a_sentence_and_the_rules_it_cites(description: str, sentence: str, rules: list[str]) -> None:
    explained = explain(result("tool_execution", 0, 0), task(description))
    assert (explained.sentence, explained.rules) == (sentence, rules)


def test_without_its_row_a_verifier_has_no_sentence() -> None:
    explained = explain(result("database_state", 1, 0), None)
    assert (explained.sentence, explained.rules, explained.shortfalls) == ("", [], ["expected 1, got 0"])
    assert explain(result("database_state", 1, 0, index=5), task("The row")).sentence == ""


def test_rules_of_a_policy_end_where_the_next_begins_or_text_is_not_indented() -> None:
    assert policy_rules(POLICY) == {
        "INC-1": (
            "Impact and urgency determine the priority.\nSet it in the same call.\n\n| impact | high |\n| --- | --- |"
        ),
        "INC-2": "Read first.",
        "VIP-SEC-12": "Ask twice.",
    }
    assert policy_rules("Be kind. **INC-1** is not at the beginning of a line.") == {}
