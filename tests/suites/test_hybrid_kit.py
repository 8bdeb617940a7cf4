"""Tasks on several gym servers are derived, checked and proved as those of one domain are, for each server."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.suites.conftest import Gyms
from tests.suites.episodes import Play, play_all
from tests.suites.hybrid_sample import AUTHORED, SUITE, VERIFIERS, worlds
from tests.suites.proofs import Case, failing_plays, gold, unproved
from tests.suites.rotation import variant_of

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of
from opsgym_domains.includes import complete, included, of_system
from opsgym_domains.variants.companies import rewriting_of, rewritings_of
from opsgym_domains.variants.tasks import RowRewriting, row_rewriting, varied_rows
from opsgym_domains.variants.worlds import SeedScripts
from opsgym_suites.csm.authored import SERVER as CSM
from opsgym_suites.itsm.authored import SERVER as ITSM
from opsgym_suites.kit.authoring_rules import AuthoredTask, violations
from opsgym_suites.kit.drafts import Draft, call, on_gym

VARIANT = variant_of("hybrid-core")
"""That of `test_variants.py`: servers that have made the company's seeds of one variant need not make another."""
SLUGS = {draft.slug: number for number, draft in enumerate(SUITE.drafts)}


def authored(slug: str) -> AuthoredTask:
    return list(AUTHORED.tasks())[SLUGS[slug]]


def draft_of(slug: str) -> Draft:
    return SUITE.drafts[SLUGS[slug]]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("slug", SLUGS)
def test_a_task_accepts_what_is_right_on_all_its_servers_and_nothing_else(gyms: Gyms, slug: str) -> None:
    part, draft = SUITE.written[SLUGS[slug]]
    problems = list(unproved(Case(SUITE, part, authored(slug).task, draft), gyms))
    assert not problems, "\n".join(problems)


def test_a_row_names_each_server_with_its_own_acting_user_and_calls() -> None:
    task, draft = authored("case-in-incident").task, draft_of("case-in-incident")
    assert [server.mcp_server_name for server in task.gym_servers_config] == [ITSM.gym, CSM.gym]
    assert [next(iter(server.headers.values())) for server in task.gym_servers_config] == [
        draft.actors[ITSM.gym].static_token,  # type: ignore[attr-defined]
        draft.actors[CSM.gym].email,
    ]
    assert [action.gym for action in task.gold_actions or []] == [ITSM.gym, CSM.gym, ITSM.gym, CSM.gym, CSM.gym]
    assert task.domain_name == "hybrid"
    assert (task.events[0].gym, task.events[0].when_gym) == (CSM.gym, ITSM.gym)


def test_derived_verifiers_judge_each_server_by_the_rules_of_its_policy() -> None:
    task = authored("case-in-incident").task
    rules = {check.name: (check.gym_name, *re.findall(r"\[(.*)\]", check.description)) for check in task.verifiers}
    assert rules == {
        "itsm_update_incident": (ITSM.gym, rules["itsm_update_incident"][1]),
        "csm_update_case": (CSM.gym, "CSM-CAS-2"),
        "says_the_text": (None, "REF-3"),
        "itsm_looked_up_before_writing": (ITSM.gym, "ITSM-LKP-1"),
        "csm_looked_up_before_writing": (CSM.gym, "CSM-LKP-1"),
        "itsm_nothing_else_changes": (ITSM.gym, "ITSM-ID-4"),
        "csm_nothing_else_changes": (CSM.gym, "CSM-ID-4"),
        "claims_its_work": (None,),
    }


def test_the_policies_of_all_systems_are_joined_and_no_two_rules_share_a_number() -> None:
    prompt = authored("contract-for-incident").task.system_prompt
    numbers = re.findall(r"\*\*((?:[A-Z]+-)?[A-Z]+-\d+)\*\*", prompt)
    assert len(numbers) == len(set(numbers))
    assert {"REF-1", "ITSM-INC-1", "CSM-CAS-1", "ITSM-PRC-1", "CSM-PRC-1"} <= set(numbers)
    mentioned = set(re.findall(r"(?<![\w-])(?:ITSM-|CSM-)?[A-Z]{2,3}-\d{1,2}\b", prompt))
    assert mentioned <= set(numbers), "every mention of a rule has the number of a rule"


def test_rules_are_prefixed_where_they_are_mentioned_too() -> None:
    assert of_system("HR", "- **CAS-1** as in CAS-2; INC-000123 and HR-CAS-3 stay") == (
        "- **HR-CAS-1** as in HR-CAS-2; INC-000123 and HR-CAS-3 stay"
    )
    mark = included("policy.md", "opsgym_domains.hr", "HR")
    assert mark == "{{include opsgym_domains.hr/policy.md as HR}}"
    assert "**HR-CAS-1**" in complete(mark, "opsgym_domains.itsm")


def test_the_sample_keeps_the_rules_of_authoring_and_has_a_difficulty() -> None:
    tasks = list(AUTHORED.tasks())
    assert violations(tasks) == []
    assert [difficulty_of(task.task, task.tools) is not None for task in tasks] == [True, True]


def test_a_solution_that_agents_with_published_tool_names_cannot_make_is_reported() -> None:
    task = authored("case-in-incident")
    hidden = on_gym(CSM.gym, call("list_users"))
    spoiled = replace(task, draft=replace(task.draft, gold=(*hidden, *task.draft.gold[1:])))
    assert any("published tool names cannot call" in problem for problem in violations([spoiled]))


def test_calls_of_a_server_that_the_task_does_not_have_are_refused() -> None:
    draft = draft_of("case-in-incident")
    with pytest.raises(LookupError, match="case-in-incident: calls or evidence of gym servers that it does not have"):
        VERIFIERS.with_verifiers(worlds(), replace(draft, gold=(*draft.gold, *on_gym("gym-hr-mcp", call("get_user")))))


# --- variants --------------------------------------------------------------------------------------------------------


def varied(slug: str, variant: int) -> tuple[Task, RowRewriting]:
    row = authored(slug).task.model_dump(mode="json", exclude_none=True)
    change = row_rewriting(row, lambda domain, seed: rewriting_of(domain, seed, variant))
    return Task.model_validate(varied_rows([row], variant, rewriting_of)[0]), change


@pytest.mark.timeout(300)
@pytest.mark.parametrize("slug", SLUGS)
def test_a_variant_is_proved_by_the_plays_of_the_original(gyms: Gyms, slug: str) -> None:
    part, draft = SUITE.written[SLUGS[slug]]
    task, change = varied(slug, VARIANT)
    case = Case(SUITE, part, authored(slug).task, draft)

    def rewritten(play: Play) -> Play:
        calls = [
            call.model_copy(update={"arguments": change.on(call.gym).value(call.arguments)}) for call in play.calls
        ]
        return replace(play, calls=calls, answer=change.texts.text(play.answer))

    solved, *others = play_all(gyms, task, [rewritten(play) for play in (gold(case), *failing_plays(case))])
    assert (solved.failed, solved.refusals) == ([], [])
    assert [ending.label for ending in others if not ending.failed] == []


def test_a_variant_names_records_of_all_systems_as_their_varied_seeds_do() -> None:
    task, change = varied("case-in-incident", VARIANT)
    original = authored("case-in-incident").task
    numbers = re.findall(r"(?:INC-|CS-)\d+", task.user_prompt)
    assert len(numbers) == 2
    assert set(numbers).isdisjoint(re.findall(r"(?:INC-|CS-)\d+", original.user_prompt))
    for server, domain in zip(task.gym_servers_config, ("itsm", "csm"), strict=True):
        loaded = registry.load(domain)
        script = SeedScripts(loaded.metadata, loaded.seeds, rewritings_of(loaded))[f"fenmoor@{VARIANT}"]()
        assert server.seed_database_file == f"builtin:fenmoor@{VARIANT}"
        assert any(number in script for number in numbers)
    note = (task.gold_actions or [])[2].arguments["worknotes"]
    assert numbers[0] in note, "a note in one system names the record of the other"
    assert change.on(ITSM.gym).words == change.on(CSM.gym).words
