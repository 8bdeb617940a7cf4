"""Tasks about service offerings, and further requests that must be declined.

Invariant: which offering an incident belongs to shows in its text or in the site of its caller.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import INACTIVE, all_of, only_for
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Location, Problem, Service, ServiceOffering
from opsgym_suites.itsm.calls import find_incident, find_user, numbers, update_incident
from opsgym_suites.itsm.core.messages import drop, messages_about, rewrite
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_refuses, answer_says


def find_offering(offering: ServiceOffering) -> ToolCall:
    """Call that looks up an offering by name."""
    return call("find_service_offering_by_name", name=offering.name)


def change_offering(offering: ServiceOffering, /, **fields: str) -> ToolCall:
    """Call that changes an offering."""
    return call("update_service_offering", service_offering_id=offering.service_offering_id, **fields)


def declined(world: World, wrong: ToolCall, *, rule: str | None = None, **fields: Any) -> Draft:
    """A task that cannot be done; an agent that makes the call in question fails."""
    path = NegativeTrajectory((*fields["gold"], wrong), "Done as you asked.", rule)
    return with_verifiers(world, Draft(feasible=False, negative_trajectories={"does it all the same": path}, **fields))


# --- offerings -----------------------------------------------------------------------------------------------------


def moved(world: World) -> Iterable[Draft]:
    """Incidents go to the offering that their caller's site or their text says."""
    yield _by_site(world)
    yield _under_another_service(world)


def _by_site(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, site = records.person("Maren Toft"), records.named(Location, "Harbour Terminal West")
    quay, gates = records.offering("Weighbridge - Quay"), records.offering("Weighbridge - Gates")
    near = {site.location_id, records.named(Location, "Harbour Terminal").location_id}
    cases = records.open_incidents(service=quay.business_service)
    callers = {case.incident_id: records.caller(case) for case in cases}
    nearby = [case for case in cases if callers[case.incident_id].location_id in near]
    elsewhere = next(case for case in cases if case not in nearby)
    text = "Trucks at both harbour terminals"
    draft = Draft(
        slug="weighbridge-reports-of-the-quay",
        actor=actor,
        prompt=(
            "Everything about the weighbridges runs under Weighbridge - Gates, while Weighbridge - Quay stands empty. "
            f"The quay one is meant for callers from both harbour terminals (make '{text}' its short description). "
            "Put their open reports there; it is the site of the caller that counts, not what the summary says. Which "
            "reports are that?"
        ),
        plan=(
            "Look up Maren Toft (a manager), both offerings and the open incidents of their service.",
            "Look up the callers and their sites.",
            "Set the short description of the offering.",
            "Give it to the open incidents of callers from the two terminals; the others keep theirs.",
        ),
        gold=(
            find_user(actor),
            find_offering(quay),
            find_offering(gates),
            call("list_incidents", service=quay.business_service),
            call("find_locations", active=True),
            *(call("get_user", user_id=key) for key in dict.fromkeys(user.user_id for user in callers.values())),
            change_offering(quay, short_description=text),
            *(update_incident(case, service_offering=quay.service_offering_id) for case in nearby),
        ),
        answer=f"{numbers(nearby)} belong to Weighbridge - Quay now.",
        verifiers=(
            answer_says("names_the_reports", "The answer names them [REF-3]", all_of(case.number for case in nearby)),
        ),
        tools=("find_service_by_name", "list_users", "find_location_by_given_name", "find_service_offerings"),
        mistakes={
            "moves one of another site": (update_incident(elsewhere, service_offering=quay.service_offering_id),),
            "renames the other one": (change_offering(gates, short_description=text),),
        },
    )
    return with_verifiers(world, draft, rules={"update_service_offering": "ID-3, ID-4", "update_incident": "INC-10"})


def _under_another_service(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, cartons = records.person("Ines Moreau"), records.offering("Batch Labels - Cartons")
    picking, moving, first = (
        records.named(Service, "Warehouse Picking"),
        records.incident("label-shift-4"),
        records.incident("label-shift-1"),
    )
    target = {"service": picking.service_id, "service_offering": cartons.service_offering_id}
    owner = records.person("Amara Diallo")
    draft = Draft(
        slug="carton-labels-go-to-picking",
        actor=actor,
        prompt=(
            "Labels on cartons are made in the warehouse since last week: the offering for them goes from Batch Labels "
            "to Warehouse Picking and belongs to the owner of that service. If one of the open reports about labels is "
            "about cartons and not about jars, it goes along, with service and offering; group and levels are right "
            "as they are. What is that report's number?"
        ),
        plan=(
            "Look up Ines Moreau (a manager), the offering, and the service Warehouse Picking with its owner.",
            "Move the offering to this service and give it to its owner.",
            "Among the open incidents of Batch Labels one is about cartons: set its service and offering.",
        ),
        gold=(
            find_user(actor),
            find_offering(cartons),
            call("find_service_by_name", name=picking.name),
            call("list_incidents", service=first.service),
            change_offering(cartons, parent=picking.service_id, owned_by=picking.owned_by),
            update_incident(moving, **target),
        ),
        answer=f"The offering is one of Warehouse Picking now, and {moving.number} belongs to it.",
        verifiers=(answer_says("names_the_report", "The answer names it [REF-3]", moving.number),),
        tools=("find_services", "find_service_offerings", "register_new_service_offering", "update_service"),
        mistakes={
            "takes one about jars along": (update_incident(first, **target),),
            "gives it to another manager": (
                change_offering(cartons, owned_by=(actor if picking.owned_by == owner.user_id else owner).user_id),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_service_offering": "ID-3", "update_incident": "LKP-3"})


# --- declined ------------------------------------------------------------------------------------------------------


def refusals(world: World) -> Iterable[Draft]:
    """Requests that a rule forbids: about offerings, recipients and closed problems."""
    halden, mirelle = CompanyRecords(world, "Halden Freight"), CompanyRecords(world, "Mirelle Botanics")
    yield _offering_by_an_agent(world, halden)
    yield _offering_of_another_company(world, mirelle, halden)
    yield _redirected(world, halden)
    yield _closed_problem(world, halden)


def _offering_by_an_agent(world: World, records: CompanyRecords) -> Draft:
    actor, offering = records.person("Aino Lehto"), records.offering("Airway Bills - Import")
    return declined(
        world,
        change_offering(offering, status="retired"),
        rule="ID-3",
        slug="refuse-an-offering-by-an-agent",
        actor=actor,
        prompt=(
            "No one uses Airway Bills - Import, I have not seen one report in a year. Could you set it to retired? "
            "Maren is on leave and would not mind."
        ),
        plan=(
            "Look up Aino Lehto (an agent) and the offering.",
            "Agents do not write the catalogue; only managers and admins do (ID-3).",
            "Change nothing, and say who has to do it.",
        ),
        gold=(find_user(actor), find_offering(offering)),
        answer="I did not retire Airway Bills - Import: only a manager or an admin may change offerings.",
        verifiers=answer_refuses(only_for("manager", "admin"), subject_pattern=r"\boffering|Airway Bills"),
        evidence=(actor, offering),
        access=Access.STRICT,
        tools=("update_service_offering", "find_service_offerings", "list_incidents", "find_service_by_name"),
        mistakes={},
    )


def _offering_of_another_company(world: World, records: CompanyRecords, other: CompanyRecords) -> Draft:
    actor, incident = records.person("Yara Haidar"), records.report("Order list loads slowly", "Clara Noel")
    offering, own = other.offering("Handheld Scanning - Yards"), records.offering("Batch Labels - Works")
    return declined(
        world,
        update_incident(incident, service_offering=offering.service_offering_id),
        slug="refuse-an-offering-of-another-company",
        actor=actor,
        prompt=(
            f"{incident.number} is under the wrong offering. The picking tablets are handhelds, so please set it to "
            "'Handheld Scanning - Yards', I saw that one in the catalogue. Service accordingly."
        ),
        plan=(
            "Look up Yara Haidar, the incident and the offering.",
            "The offering belongs to another organisation (ID-2).",
            "Change nothing, and say why.",
        ),
        gold=(find_user(actor), find_incident(incident), find_offering(offering)),
        answer=(
            f"I changed nothing in {incident.number}: Handheld Scanning - Yards belongs to another organisation, not "
            "to Mirelle Botanics."
        ),
        verifiers=answer_refuses(
            r"\b(organi[sz]ation|company|Halden|not ours|foreign)\b", subject_pattern=r"Handheld Scanning|offering"
        ),
        evidence=(incident, offering),
        tools=("update_incident", "find_services", "find_service_offerings", "register_new_service_offering"),
        mistakes={
            "takes one of its own instead": (update_incident(incident, service_offering=own.service_offering_id),),
        },
    )


def _redirected(world: World, records: CompanyRecords) -> Draft:
    actor, gone = records.person("Ravi Menon"), records.person("Jonas Wiik")
    (message,) = records.messages(records.report("Declaration report is slow", "Hanne Hedlund"), status="queued")
    incident = records.report("Declaration report is slow", "Hanne Hedlund")
    return declined(
        world,
        rewrite(message, email=gone.email),
        rule="NTF-1",
        slug="refuse-to-redirect-a-message",
        actor=actor,
        prompt=(
            f"The queued message about {incident.number} should rather go to Jonas Wiik, he used to do the "
            "declarations with her. Change the recipient, please, and leave the rest."
        ),
        plan=(
            "Look up Ravi Menon, the incident, its notifications and Jonas Wiik, whose account is inactive.",
            "Recipients are active users (NTF-1).",
            "Change nothing, and say why.",
        ),
        gold=(find_user(actor), find_incident(incident), messages_about(incident), find_user(gone)),
        answer="I did not redirect the message: Jonas Wiik's account is inactive, and only active users get messages.",
        verifiers=answer_refuses(INACTIVE, subject_pattern=r"\b(Jonas|Wiik)\b"),
        evidence=(gone, message),
        access=Access.STRICT,
        tools=("update_notification", "delete_notifications", "send_notification", "list_users"),
        mistakes={"deletes it instead": (drop(message),)},
    )


def _closed_problem(world: World, records: CompanyRecords) -> Draft:
    actor, problem = records.person("Ravi Menon"), world.fixture(Problem, "fax-noise")
    return declined(
        world,
        call("update_problem", problem_id=problem.problem_id, status="assess"),
        rule="PRC-3",
        slug="refuse-to-take-a-problem-back",
        actor=actor,
        prompt=(
            "The noise on the fax line is back, on the last machine that we have. There was a problem about that; take "
            "it up again, that is, back to assess, so that we keep its history. I do not want a second one."
        ),
        plan=(
            "Look up Ravi Menon and the problems: the one about the fax is closed.",
            "Problems only move forward (PRC-3), and the request excludes a new one.",
            "Change nothing, and say why.",
        ),
        gold=(find_user(actor), call("list_problems", assigned_to=actor.user_id)),
        answer=f"I did not take {problem.number} up again: it is closed, and problems only move forward.",
        verifiers=answer_refuses(r"\b(closed|forward)\b", subject_pattern=rf"{problem.number}|\bfax"),
        evidence=(problem,),
        access=Access.STRICT,
        tools=("update_problem", "create_problem", "find_problem_by_number", "get_problems_assigned_to"),
        mistakes={
            "opens a second one": (
                call(
                    "create_problem",
                    problem_statement=problem.problem_statement,
                    status="new",
                    category=problem.category,
                    impact="low",
                    urgency="low",
                    priority="planning",
                ),
            ),
        },
    )


FAMILIES = (moved, refusals)
