"""Access `strict` in every domain: each process rule broken and then kept, and what each role may do.

How permissions and rules are enforced is the kit's (`tests/kit/test_access.py`); which rules there are, and which
tools belong to which resource, is the domain's.
"""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from tests.domains.declaration import SOAK, DomainDeclaration, StrictCase, declared_domains
from tests.support.gym import Gym, GymDatabase

CASES = [
    pytest.param(name, case, id=f"{name} {case.id}")
    for name, declared in declared_domains().items()
    for case in declared.strict.cases
]
ROLES = [(name, role) for name, declared in declared_domains().items() for role in declared.strict.identities]
ADMISSION = {"PERMISSION_DENIED", "ACTING_USER_REQUIRED", "USER_INACTIVE", "UNAUTHORIZED"}
"""Codes of refusals before the tool runs."""


@pytest.mark.parametrize(("declared", "case"), CASES, indirect=["declared"])
def test_a_process_rule_refuses_the_call_and_accepts_the_corrected_one(
    gym: Gym, declared: DomainDeclaration, case: StrictCase
) -> None:
    with declared.strict_database(gym, case.role, given=case.given) as database:
        before = database.digest()
        outcome = database.call_with(case.tool, case.wrong)
        assert outcome.codes == [case.code]
        assert f"rule {case.rule}: " in outcome.text
        assert case.says in outcome.text
        assert database.digest() == before
        if case.right is not None:
            corrected = {name: value for name, value in {**case.wrong, **case.right}.items() if value is not None}
            helper = declared.as_user(database, declared.strict.identities[case.helper or case.role])
            accepted = helper.call_with(case.tool, corrected)
            assert not accepted.is_error, accepted.text


def test_published_access_knows_no_process_rule(gym: Gym, declared: DomainDeclaration) -> None:
    unprepared = [case for case in declared.strict.cases if not case.given]
    cases = unprepared if SOAK else list({case.rule: case for case in unprepared}.values())
    problems: list[str] = []
    for case in cases:
        with declared.strict_database(gym, case.role, access="published") as database:
            outcome = database.call_with(case.tool, case.wrong)
            problems += [f"{case.id}: {outcome.text}"] if outcome.is_error else []
    assert problems == []


def test_every_process_rule_has_a_case_and_a_number_in_the_policy(declared: DomainDeclaration) -> None:
    assert declared.domain.access is not None
    rules = declared.domain.access.rulebook.numbers
    assert {case.rule for case in declared.strict.cases} == rules
    numbers = re.findall(r"^- \*\*([A-Z]+-\d+)\*\* ", policy(declared, "policy.md", "policy-strict.md"), re.MULTILINE)
    assert len(numbers) == len(set(numbers))
    assert rules | declared.strict.rules_of_identity <= set(numbers)
    assert {number for number in numbers if number.startswith("PRC")} <= rules


def test_the_policy_shows_the_state_transitions_that_are_enforced(declared: DomainDeclaration) -> None:
    rows = re.findall(r"^ +\| `(\w+)` \| (.*) \|$", policy(declared, "policy-strict.md"), re.MULTILINE)
    assert {before: re.findall(r"`(\w+)`", after) for before, after in rows} == declared.strict.transitions


def policy(declared: DomainDeclaration, *names: str) -> str:
    folder = files(f"opsgym_domains.{declared.domain.name}")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


# --- permissions ---------------------------------------------------------------------------------------------------


def refused_admission(declared: DomainDeclaration, database: GymDatabase, tool: str) -> bool:
    """Whether a call is refused before the tool runs."""
    outcome = database.call_with(tool, declared.examples[tool])
    return outcome.is_error and bool(ADMISSION.intersection(outcome.codes))


def test_each_resource_has_the_declared_tools(declared: DomainDeclaration) -> None:
    assert declared.domain.access is not None
    resources = declared.domain.access.resources
    assert set(resources.values()) == set(declared.strict.tools_of_resource)
    for resource, tools in declared.strict.tools_of_resource.items():
        for tool in filter(None, tools):
            assert resources[tool] == resource, tool


@pytest.mark.parametrize(("declared", "role"), ROLES, indirect=["declared"])
def test_a_role_reads_and_changes_the_resources_of_its_permissions(
    gym: Gym, declared: DomainDeclaration, role: str
) -> None:
    assert declared.domain.access is not None
    problems: list[str] = []
    with declared.strict_database(gym, role) as database:
        for name, tool in declared.tools.items():
            resource = declared.domain.access.resources[name]
            may = declared.strict.changes if tool.writes else declared.strict.reads
            before = "" if may(role, resource) or not tool.writes else database.digest()
            if refused_admission(declared, database, name) is may(role, resource):
                problems.append(f"{name} {resource}")
            elif before and database.digest() != before:
                problems.append(f"{name} was denied and changed rows")
    assert problems == []


def test_no_tool_runs_for_an_inactive_an_unknown_or_an_unnamed_user(gym: Gym, declared: DomainDeclaration) -> None:
    with declared.strict_database(gym) as database:
        before = database.digest()
        for identity in (declared.strict.inactive, "stolen", None):
            user = declared.as_user(database, identity)
            admitted = [name for name in declared.tools if not user.call_with(name, declared.examples[name]).is_error]
            assert admitted == [], identity
        assert database.digest() == before


@pytest.mark.declares("strict.denial")
def test_a_denied_call_names_rule_user_resource_and_tool(gym: Gym, declared: DomainDeclaration) -> None:
    assert declared.strict.denial is not None
    role, tool, named = declared.strict.denial
    with declared.strict_database(gym, role) as database:
        outcome = database.call_with(tool, declared.examples[tool])
        assert outcome.codes == ["PERMISSION_DENIED"]
        assert [part for part in named if part not in outcome.text] == []
