"""Agents who leave, and requests that must be refused."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_domains.csm.tables import UserGroupMember
from opsgym_suites.csm.calls import (
    find_account,
    find_case,
    find_entitlements,
    find_user,
    names_all,
    notify,
    numbers,
    timestamp,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import answer_refuses, answer_says


def leavers(world: World) -> Iterator[Draft]:
    """An agent of two groups leaves; the successor has to become a member where that is missing."""
    yield _leaves(
        world,
        slug="femi-hands-over-to-greta",
        actor="Odile Marchetti",
        leaver="Femi Adebayo",
        heir="Greta Lundqvist",
        prompt=(
            "Femi Adebayo's last day is today. All that he has open is Greta Lundqvist's from now on; should she lack "
            "a group for any of it, she gets it. She wants an update on each case that she inherits. Then do with Femi "
            "what we do when one of us leaves, and give me the numbers."
        ),
    )
    yield _leaves(
        world,
        slug="wes-hands-over-to-renata",
        actor="Bjorn Haugen",
        leaver="Wes Kincaid",
        heir="Renata Kolar",
        prompt=(
            "Wes Kincaid goes to a competitor, so his account ends now. Renata Kolar inherits his open cases. Make her "
            "a member wherever the rules need her to be one, and nowhere else. Send her an update for every case that "
            "she gets. Which ones are these?"
        ),
    )


def _leaves(world: World, *, slug: str, actor: str, leaver: str, heir: str, prompt: str) -> Draft:
    records, acting, going, taking = DeskRecords(world), world.user(actor), world.user(leaver), world.user(heir)
    cases = records.open_cases(assigned_to=going.user_id)
    groups = sorted({case.assignment_group_id or 0 for case in cases})
    links = world.all(UserGroupMember, user_id=going.user_id)
    missing = [group for group in groups if not world.all(UserGroupMember, user_id=taking.user_id, group_id=group)]
    other = next(case for case in world.all(type(cases[0]), assigned_to=going.user_id) if case.state == "resolved")
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, {leaver} and {heir}, and what {leaver} has open.",
            f"See of which of these groups {heir} is a member; add the memberships that are missing (ACC-5).",
            "Hand over the open cases, with an update on each; resolved and closed ones stay.",
            f"Remove {leaver}'s memberships and deactivate the account (ACC-5).",
        ),
        gold=(
            find_user(acting),
            find_user(going),
            find_user(taking),
            call("get_cases_assigned_to", assigned_to=going.user_id),
            call("list_group_members", user_id=going.user_id),
            *(call("check_user_membership", user_id=taking.user_id, group_id=group) for group in groups),
            *(call("add_new_group_member", group_id=group, user_id=taking.user_id) for group in missing),
            *(call("assign_case_to_user", case_id=case.case_id, assigned_to_user_id=taking.user_id) for case in cases),
            *(notify(case, taking, "update") for case in cases),
            *(call("remove_group_membership", member_id=link.member_id) for link in links),
            call("update_user_details", user_id=going.user_id, active=False),
        ),
        answer=f"{heir} has {numbers(cases)} now; {leaver} is in no group, and the account is inactive.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("search_cases", "update_case", "list_user_groups", "find_user_group"),
        mistakes={
            "moves a resolved case": (
                call("assign_case_to_user", case_id=other.case_id, assigned_to_user_id=taking.user_id),
            ),
            "adds a group that is not needed": (
                call(
                    "add_new_group_member",
                    group_id=world.group("Accounts Office").group_id,
                    user_id=taking.user_id,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_group_member": "ACC-5, CAS-5",
            "assign_case_to_user": "ACC-5, CAS-5",
            "update_user_details": "ACC-5",
        },
    )


# --- requests that must be refused ---------------------------------------------------------------------------------


def refused(world: World) -> Iterator[Draft]:
    """Requests that the records forbid."""
    yield _not_a_member(world)
    yield _changed_yesterday(world)


def _not_a_member(world: World) -> Draft:
    """The agent to whom a case is to go is in no group that the case could have."""
    records, acting, case = DeskRecords(world), world.user("Mirela Petrov"), world.case("mall-reader")
    proposed = world.user("Lachlan Muir")
    taken = update_case(case, state="in_progress", assigned_to=proposed.user_id)
    draft = Draft(
        slug="refuse-an-assignee-of-another-group",
        actor=acting,
        prompt=(
            f"Lachlan Muir has time. Put {case.number} into his hands, in progress, with its SLAs. It stays with "
            "Payments Desk, and I do not want any memberships changed for that."
        ),
        plan=(
            "Look up Mirela, Lachlan, the case and the members of its group.",
            "Lachlan is not a member of Payments Desk, and work goes to members only (CAS-5).",
            "Change nothing, and say why (REF-1).",
        ),
        gold=(
            find_user(acting),
            find_user(proposed),
            find_case(case),
            call("check_user_membership", user_id=proposed.user_id, group_id=case.assignment_group_id),
            call("list_group_members", group_id=case.assignment_group_id),
            find_entitlements(case),
        ),
        answer=f"I did not assign {case.number}: Lachlan Muir is not a member of Payments Desk.",
        verifiers=answer_refuses(r"\bmember\w*\b|\bbelongs?\b", subject_pattern=case.number),
        evidence=(case, proposed),
        tools=("update_case", "assign_case_to_user", "add_new_group_member", "link_new_case_sla"),
        feasible=False,
        mistakes={
            "does it": (taken,),
            "adds him to the group": (
                call("add_new_group_member", group_id=case.assignment_group_id, user_id=proposed.user_id),
            ),
            "starts an SLA": (track(case, records.sla_definitions(case.priority)[0], world.now),),
        },
    )
    return with_verifiers(world, draft)


def _changed_yesterday(world: World) -> Draft:
    """A case that is said to be resolved for a week changed on the day before."""
    acting, case = world.user("Camila Duarte"), world.case("garage-heat")
    firm = DeskRecords(world).account_of(case)
    draft = Draft(
        slug="refuse-closing-what-changed-yesterday",
        actor=acting,
        prompt=(
            f"Ravello Hotels are delighted with bay two. {case.number} has been resolved for a week: close it, so that "
            "it is not in tomorrow's figures."
        ),
        plan=(
            "Look up Camila, the account and the case: resolved, but changed on 10 June.",
            "Closing takes five full days without a change (CAS-8), and rank waives nothing (REF-1).",
            "Change nothing, and say why.",
        ),
        gold=(find_user(acting), find_account(firm), find_case(case)),
        answer=f"I did not close {case.number}: it changed on 10 June, and closing takes five days without a change.",
        verifiers=answer_refuses(r"\b(five|5)\b.*\bdays?\b", subject_pattern=case.number),
        evidence=(case,),
        tools=("update_case", "find_case_slas", "send_notification", "find_interactions"),
        feasible=False,
        mistakes={"closes it": (update_case(case, state="closed", closed_on=timestamp(world.now)),)},
    )
    return with_verifiers(world, draft)


FAMILIES = (leavers, refused)
