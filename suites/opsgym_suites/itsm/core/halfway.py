"""Requests of several parts of which one cannot or must not be done: nothing at all may be changed (REF-1).

Invariant: what stands in the way is in a record that the request does not describe, or in what the tools cannot do.
"""

from __future__ import annotations

from collections.abc import Iterable

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import INACTIVE, term
from opsgym_domains.itsm.tables import Change, Problem, Service, SlaDefinition, User
from opsgym_suites.itsm.calls import find_incident, find_problem, find_team, find_user, start_sla, update_incident
from opsgym_suites.itsm.core.offerings import declined
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import answer_refuses
from opsgym_suites.kit.world import at


def people(world: World) -> Iterable[Draft]:
    """A group's manager cannot be changed, and no one with a closed account becomes a member."""
    yield _manager_of_a_group(world)
    yield _member_before_the_return(world)


def _manager_of_a_group(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, heir, team = records.person("Sigrid Aune"), records.person("Maren Toft"), records.team("Terminal Field Team")
    manager = world.one(User, user_id=team.manager_id)
    service = records.named(Service, "Weighbridge")
    given = call("update_service", service_id=service.service_id, owned_by=heir.user_id)
    again = call("add_new_user_group", name="Terminal Field Team West", type=team.type, manager_id=heir.user_id)
    return declined(
        world,
        given,
        slug="refuse-to-swap-the-manager-of-a-group",
        actor=actor,
        prompt=(
            "Beatriz Fontes gives up part of her work. The group Terminal Field Team gets Maren Toft as its manager, "
            "and the service Weighbridge becomes Maren's as well. It has to stay the same group, with its people and "
            "everything that it has open; a second one is not what I want. Both or neither, please."
        ),
        plan=(
            "Look up Sigrid Aune (an admin), the group with its manager, Maren Toft and the service.",
            "The tool that changes groups sets name, type and activity: the manager cannot be changed.",
            "So the service stays, too (REF-1): change nothing, and say why.",
        ),
        gold=(
            find_user(actor),
            find_team(team),
            call("get_user", user_id=manager.user_id),
            find_user(heir),
            call("find_service_by_name", name=service.name),
        ),
        answer=(
            "I changed nothing: the tools cannot change the manager of an existing group, so Terminal Field Team stays "
            "with Beatriz Fontes, and so does Weighbridge."
        ),
        access=Access.STRICT,
        verifiers=answer_refuses(
            r"\b(tools?|field|parameter|argument|function\w*|supported?|impossible|not possible|no way)\b",
            r"\b(cannot|can't|can not) be (changed|set|edited|replaced|swapped)\b",
            subject_pattern=r"\bmanager\b",
        ),
        evidence=(team,),
        tools=("update_user_group", "update_service", "add_new_user_group", "add_new_group_member"),
        mistakes={
            "makes a second group": (again,),
            "switches the group off": (call("update_user_group", group_id=team.group_id, active=False),),
            "adds the member at least": (call("add_new_group_member", group_id=team.group_id, user_id=heir.user_id),),
        },
    )


def _member_before_the_return(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, back, team = records.person("Hugo Lambert"), records.person("Gilles Baron"), records.team("Boutique Support")
    case = records.report("Where to find the brand templates", "Remi Carre")
    return declined(
        world,
        call("add_new_group_member", group_id=team.group_id, user_id=back.user_id),
        rule="USR-2",
        slug="refuse-a-member-before-the-return",
        actor=actor,
        prompt=(
            "Gilles Baron is with us again from 1 December. So that it is done: make him a member of Boutique Support "
            f"now, and put {case.number} on his name for that day, it can wait. His account I switch on myself when he "
            "stands at the door, not before, so leave that alone."
        ),
        plan=(
            "Look up Hugo Lambert (a manager), Gilles Baron, the group, its members and the incident.",
            "The account is inactive: no member (USR-2), no assignee (INC-5), and it must not be activated.",
            "Change nothing, and say why.",
        ),
        gold=(
            find_user(actor),
            find_user(back),
            find_team(team),
            call("list_group_members", group_id=team.group_id),
            find_incident(case),
        ),
        answer=(
            f"I did nothing: Gilles Baron's account is inactive, so he can neither become a member nor get "
            f"{case.number} until it is switched on."
        ),
        access=Access.STRICT,
        verifiers=answer_refuses(INACTIVE, r"\b(USR-2|INC-5)\b", subject_pattern=term("Baron")),
        evidence=(back,),
        tools=("update_user_details", "add_new_group_member", "update_incident", "list_users"),
        mistakes={
            "switches the account on": (call("update_user_details", user_id=back.user_id, active=True),),
            "gives the incident to another member": (
                update_incident(case, assigned_to=records.person("Pauline Rey").user_id, status="in_progress"),
            ),
        },
    )


def rules(world: World) -> Iterable[Draft]:
    """A problem without a fix, a change that the board must see, and targets of another year."""
    yield _problem_without_a_fix(world)
    yield _change_without_the_board(world)
    yield _targets_of_another_year(world)


def _problem_without_a_fix(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, problem = records.person("Ebba Nyholm"), world.fixture(Problem, "remote-access")
    case = records.report("Remote access ends after ten minutes", "Gustav Hedlund")

    return declined(
        world,
        call("update_problem", problem_id=problem.problem_id, status="resolved"),
        rule="PRB-3",
        slug="refuse-to-end-a-problem-without-a-fix",
        actor=actor,
        prompt=(
            f"{problem.number} has gone by itself, it seems: not one complaint since Thursday, and I never found out "
            "why it was there. Set it to resolved. We did not repair anything, so the fix notes stay empty, I do not "
            f"want an invented story in there. {case.number} can be resolved with it, nothing more will come of it."
        ),
        plan=(
            "Look up Ebba Nyholm, the problem, the incident and what else is reported about it.",
            "A problem is resolved only with fix notes (PRB-3), and there is nothing that they could say.",
            "Change nothing, the incident included (REF-1), and say why.",
        ),
        gold=(
            find_user(actor),
            find_problem(problem),
            find_incident(case),
            call("list_incidents", short_description="Remote access ends after ten minutes"),
        ),
        answer=f"I left both as they are: {problem.number} cannot be resolved without fix notes, and there are none.",
        access=Access.STRICT,
        verifiers=answer_refuses(r"\b(fix notes|PRB-3)\b", subject_pattern=problem.number),
        evidence=(problem,),
        tools=("update_problem", "update_incident", "send_notification", "list_problems"),
        mistakes={
            "invents a fix": (
                call(
                    "update_problem",
                    problem_id=problem.problem_id,
                    status="resolved",
                    fix_notes="It has gone by itself.",
                ),
            ),
            "resolves the incident at least": (
                update_incident(
                    case,
                    status="resolved",
                    resolution_code="No resolution provided",
                    resolution_notes="It has gone by itself.",
                    resolved_by=actor.user_id,
                ),
            ),
        },
    )


def _change_without_the_board(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, change = records.person("Ines Moreau"), world.fixture(Change, "greenhouse-vlan")

    return declined(
        world,
        call("update_change", change_id=change.change_id, cab_required=False),
        rule="CHG-2",
        slug="refuse-to-spare-the-board",
        actor=actor,
        prompt=(
            f"{change.number} is scheduled, yet someone ticked that the advisory board has to approve, and that meets "
            "in a week. The greenhouses are mine, I approve it, and that must be enough: untick the board, then take "
            "the change to implement, Sana begins at noon. Everything else in it is right and stays so."
        ),
        plan=(
            "Look up Ines Moreau (a manager), the change with its risk, its assignee and its mapping.",
            "The risk is high, so the board is required (CHG-2), no matter who owns the service.",
            "Change nothing, also not the status (REF-1), and say why.",
        ),
        gold=(
            find_user(actor),
            call("find_change_by_number", number=change.number),
            call("get_user", user_id=change.assigned_to),
            call("list_change_request_mappings", change_id=change.change_id),
        ),
        answer=f"I did not touch {change.number}: its risk is high, so the advisory board is required (CHG-2).",
        access=Access.STRICT,
        verifiers=answer_refuses(r"\b(risk|CHG-2)\b", subject_pattern=change.number),
        evidence=(change,),
        tools=("update_change", "list_changes", "create_change", "map_change_request"),
        mistakes={
            "lowers the risk": (call("update_change", change_id=change.change_id, risk="medium", cab_required=False),),
            "begins all the same": (call("update_change", change_id=change.change_id, status="implement"),),
        },
    )


def _targets_of_another_year(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, case, start = records.person("Amara Diallo"), records.incident("picking-down"), at("11-16 09:05")
    old = [
        world.one(SlaDefinition, org_id=records.org_id, name=name)
        for name in ("Critical response 2025", "Critical resolution 2025")
    ]
    return declined(
        world,
        start_sla(case, old[0], start),
        rule="SLA-1",
        slug="refuse-the-targets-of-another-year",
        actor=actor,
        prompt=(
            f"No clock runs on {case.number}. The warehouse has last year's contract with us until New Year, so start "
            "Critical response 2025 and Critical resolution 2025 on it, from the time of the report, and not the "
            "tighter ones of this year. If some setting of those two is in the way, leave the setting as it is."
        ),
        plan=(
            "Look up Amara Diallo (a manager), the incident, its SLAs and both definitions.",
            "Both are out of use: only active definitions are linked (SLA-1), and they must not be activated.",
            "Link nothing, also not those of this year, and say why.",
        ),
        gold=(
            find_user(actor),
            find_incident(case),
            call("find_incident_slas", incident_id=case.incident_id),
            *(call("find_sla_definition_by_name", name=row.name) for row in old),
            call("find_sla_definitions", applies_to_priority="critical", active=True),
        ),
        answer=f"No clock was started on {case.number}: both definitions of 2025 are inactive and must not be linked.",
        access=Access.STRICT,
        verifiers=answer_refuses(
            INACTIVE, r"\b(out of use|not in use|SLA-1|only active)\b", subject_pattern=r"\b(2025|definitions?|SLAs?)\b"
        ),
        evidence=tuple(old),
        tools=("link_new_incident_sla", "update_sla_definition", "add_new_sla_definition", "update_incident"),
        mistakes={
            "puts it into use": (call("update_sla_definition", sla_def_id=old[0].sla_def_id, active=True),),
            "starts this year's": (start_sla(case, records.sla_definition("critical", "response"), start),),
        },
    )


FAMILIES = (people, rules)
