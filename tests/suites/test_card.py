"""The card of the built-in suites, and the structures by which it groups tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Verifier
from opsgym_suites.itsm.authored import AUTHORED as ITSM
from opsgym_suites.itsm.authored import QUICKSTART
from opsgym_suites.kit.authoring_rules import AuthoredTask
from opsgym_suites.kit.card import BASELINES, conditions, with_card
from opsgym_suites.kit.structure import structure_of

PAGE = "Before.\n<!-- card -->\n{}<!-- /card -->\nAfter.\n"
TASKS = list(ITSM.tasks_of(QUICKSTART))
FIRST = TASKS[0]
CHOSEN = {"some": {authored.task.task_id for authored in TASKS[:2]}}


def changed(authored: AuthoredTask, **fields: Any) -> AuthoredTask:
    row = authored.task.model_dump(by_alias=True, exclude_unset=True) | fields
    return replace(authored, task=Task.model_validate(row))


def calls(authored: AuthoredTask) -> list[dict[str, Any]]:
    return [call.model_dump(by_alias=True, exclude_unset=True) for call in authored.task.gold_actions or []]


def test_the_card_counts_what_the_rows_of_a_domain_consist_of() -> None:
    lines = with_card(PAGE.format("| old |\n"), {"itsm": TASKS}, CHOSEN).splitlines()
    assert lines[:2] == ["Before.", "<!-- card -->"]
    assert lines[-2:] == ["<!-- /card -->", "After."]
    header, _, figures = (line.strip("| ").split(" | ") for line in lines[2:5])
    counted = dict(zip(header, figures, strict=True))
    assert (counted["domain"], counted["published tasks"], counted["tasks"]) == ("itsm", "181", str(len(TASKS)))
    longest = max(len(calls(authored)) for authored in TASKS)
    assert (counted["longest"], counted["worlds"]) == (str(longest), "1")
    assert counted["infeasible"] == str(sum(not authored.task.feasible for authored in TASKS))


def test_the_card_counts_the_tasks_of_a_selection_by_domain() -> None:
    lines = with_card(PAGE.format(""), {"itsm": TASKS}, CHOSEN).splitlines()
    named = next(number for number, line in enumerate(lines) if line.startswith("| suite "))
    header, of_whole, of_some = (lines[place].strip("| ").split(" | ") for place in (named, named + 2, named + 3))
    assert header[-1] == "itsm"
    assert (of_whole[1], of_whole[-1]) == (str(len(TASKS)), str(len(TASKS)))
    assert (of_some[0], of_some[1], of_some[-1]) == ("`some`", "2", "2")


def test_the_card_says_what_agents_without_judgement_pass() -> None:
    lines = with_card(PAGE.format(""), {"itsm": TASKS}, CHOSEN).splitlines()
    rows = [
        line.strip("| ").split(" | ")
        for line in lines
        if line.startswith(("| agent |", *(f"| {name} |" for name in BASELINES)))
    ]
    share = sum(authored.task.feasible for authored in TASKS) / len(TASKS)
    assert rows[0] == ["agent", "itsm", "opsgym-1150", "some"]
    assert [row[1] for row in rows[1:]] == ["0.0 %", f"{100 * (1 - share):.1f} %", f"{100 * share:.1f} %"]


def test_what_an_agent_without_judgement_passes_follows_from_the_verifiers() -> None:
    infeasible = next(authored.task for authored in TASKS if not authored.task.feasible)
    unlooked = [each for each in infeasible.verifiers if each.verifier_type != "looked_up"]
    row = infeasible.model_copy(update={"verifiers": unlooked})
    assert [passes(infeasible) for passes in BASELINES.values()] == [False, True, False]
    assert [passes(row) for passes in BASELINES.values()] == [True, True, False]
    part = row.model_copy(update={"feasible": True})
    assert [passes(part) for passes in BASELINES.values()] == [False, False, False]


def test_the_card_lists_the_tools_that_no_reference_solution_calls() -> None:
    page = with_card(PAGE.format(""), {"itsm": [FIRST]}, {})
    row = next(line for line in page.splitlines() if line.startswith("| itsm | 93 "))  # 93: tools of the domain
    called = {call["name"] for call in calls(FIRST)}
    assert row.split(" | ")[2] == str(len(called))
    assert not any(f"`{tool}`" in row for tool in called)
    assert "`create_problem`" in row


def test_the_card_counts_the_calls_of_each_tool_and_states_the_largest_groups() -> None:
    page = with_card(PAGE.format(""), {"itsm": [FIRST, FIRST, TASKS[1]]}, {})
    made = Counter(call["name"] for authored in (FIRST, FIRST, TASKS[1]) for call in calls(authored))
    ((tool, most),) = made.most_common(1)
    row = next(line for line in page.splitlines() if line.startswith(f"| itsm | {made.total()} | "))
    assert row.startswith(f"| itsm | {made.total()} | `")
    assert f"`{tool}` {most}" in row
    assert "The largest groups have 2, 1 tasks; groups of a single task: 1." in page
    assert "have the sum 1,115; it states 1,150" in page


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({"rows": [{"table": "a", "change": "added"}, {"table": "b", "change": "added"}], "nothing_else": True}, 3),
        ({"rows": [{"table": "a", "change": "added", "optional": True}], "nothing_else": True}, 1),
        ({"rows": [{"either": [[{"table": "a", "change": "added"}], [{"table": "b", "change": "added"}]]}]}, 1),
    ],
)
def test_a_state_difference_has_a_condition_for_each_required_row(config: dict[str, Any], count: int) -> None:
    verifier = Verifier(verifier_type="state_difference", gym_name="gym-itsm-mcp", validation_config=config)
    assert conditions(verifier) == count


def test_any_other_verifier_is_one_condition() -> None:
    patterns = {"patterns": ["one", "another"]}
    assert conditions(Verifier(verifier_type="answer_match", validation_config=patterns)) == 1


def test_names_figures_and_wordings_do_not_change_a_structure() -> None:
    other = [call | {"arguments": dict.fromkeys(call["arguments"], "other")} for call in calls(FIRST)]
    assert structure_of(changed(FIRST, gold_actions=other, user_prompt="Other words.")) == structure_of(FIRST)


def test_another_tool_another_day_and_infeasibility_change_it() -> None:
    first, *others = calls(FIRST)
    changes: list[dict[str, Any]] = [
        {"gold_actions": [call for call in calls(FIRST) if call["name"] != first["name"]]},
        {"gold_actions": [*calls(FIRST), first | {"name": "find_user_by_email"}]},
        {"gold_actions": [*calls(FIRST), *others]},
        {"feasible": not FIRST.task.feasible},
        {"days": [{"begins_at": "2026-11-17T09:00:00", "message": "Good morning."}]},
    ]
    structures = [structure_of(changed(FIRST, **change)) for change in changes]
    assert len({structure_of(FIRST), *structures}) == len(changes) + 1
