"""Tasks about complaints that come again: twice from one caller, or with an answer that is known.

Invariant: what settles them is in the reports: who called, what the earlier ones were resolved with, what a note says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ConfigurationItem, Incident, Knowledge, Location, ServiceOffering, User
from opsgym_suites.itsm.calls import (
    articles_of,
    callers,
    find_incident,
    find_user,
    notify,
    numbers,
    unlink_article,
    update_incident,
)
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.verifiers import Has, May, answer_says
from opsgym_suites.kit.world import NOW

BOTANICS = "Mirelle Botanics"


def resolve(case: Incident, resolver: str | None, code: str, notes: str, **more: Any) -> ToolCall:
    """Resolves an incident in one call."""
    return update_incident(
        case, status="resolved", resolution_code=code, resolution_notes=notes, resolved_by=resolver, **more
    )


def proposal(records: CompanyRecords, case: Incident, text: str) -> ToolCall:
    """Sends the caller the solution."""
    return notify(case, records.caller(case), "solution_proposal", f"{case.number} is solved", text)


# --- one caller, two reports ------------------------------------------------------------------------------------------


def reported_twice(world: World) -> Iterable[Draft]:
    """A caller has reported one fault to two groups: one report is resolved as a duplicate, or becomes a child."""
    records = CompanyRecords(world, BOTANICS)
    yield _sensor(world, records)
    yield _invitations(world, records)


def _sensor(world: World, records: CompanyRecords) -> Draft:
    actor, caller = records.person("Ines Moreau"), records.person("Remi Dumas")
    older, newer = records.open_incidents(caller_id=caller.user_id, service=_service(records, "Moisture sensor"))
    keeper = world.one(User, user_id=newer.assigned_to)
    sensor, notes = str(world.next_id(ConfigurationItem)), "Same bed as in the older report."
    (link,) = records.articles(newer)
    listed = call("link_affected_ci_to_incident", configuration_item=sensor, incident_id=older.incident_id)
    draft = Draft(
        slug="sensor-reported-twice",
        actor=actor,
        prompt=(
            "Remi Dumas rang twice about the moisture sensor of one bed, and now two groups have it. One report will "
            f"do: resolve the newer one as a duplicate, in the name of its assignee, notes '{notes}' The older goes to "
            "that colleague and the same group, everything else in it as it is. The sensor was never entered: "
            "'Moisture sensor bed 4', serial number MB-MS-04, 85 euros, in use, owned by this colleague, at the site "
            "where the owner works. The older report is about it, and names it as "
            "affected. The article that hangs on the newer one has nothing to do with sensors, so take it off. And "
            "the message that our rules want."
        ),
        plan=(
            "Look up Ines Moreau (a manager), Remi Dumas and the reports of Remi Dumas.",
            "Two of the open ones are about a sensor; look up the assignee of the newer one and her site.",
            "Register the sensor; give the older report the group, the assignee and the device, and list it (INC-4).",
            "Resolve the newer one as Duplicate (INC-7, INC-8), send its caller the solution proposal.",
            "Remove the article from it.",
        ),
        gold=(
            find_user(actor),
            find_user(caller),
            call("list_incidents", called_id=caller.user_id),
            call("get_user", user_id=keeper.user_id),
            call("list_user_groups", group_id=newer.assignment_group),
            articles_of(newer),
            call(
                "register_configuration_item",
                name="Moisture sensor bed 4",
                serial_number="MB-MS-04",
                cost=85,
                status="in_use",
                owner_id=keeper.user_id,
                location_id=keeper.location_id,
            ),
            update_incident(
                older,
                assignment_group=newer.assignment_group,
                assigned_to=newer.assigned_to,
                configuration_item=sensor,
            ),
            listed,
            resolve(newer, newer.assigned_to, "Duplicate", notes),
            proposal(records, newer, notes),
            unlink_article(link),
        ),
        answer=f"{newer.number} is resolved as a duplicate; {keeper.first_name} {keeper.last_name} has {older.number}.",
        verifiers=(answer_says("names_both", "The answer names both [REF-3]", all_of([older.number, newer.number])),),
        tools=(
            "add_child_incident",
            "find_configuration_items",
            "update_configuration_item",
            "find_location_by_given_name",
        ),
        mistakes={
            "lists it in the duplicate": (
                call("link_affected_ci_to_incident", configuration_item=sensor, incident_id=newer.incident_id),
            ),
            "closes the duplicate": (update_incident(newer, status="closed", close_notes=notes),),
        },
    )
    parent = {"parent_incident": May(older.incident_id)}
    return with_verifiers(
        world,
        draft,
        rules={
            "register_configuration_item": "ID-3",
            "update_incident": "INC-4, INC-7, INC-8",
            "link_affected_ci_to_incident": "ID-4",
            "send_notification": "INC-7, NTF-3",
            "remove_knowledge_link_to_incident": "ID-4",
        },
        expect={"update_incident": lambda row: parent if row.key == newer.incident_id else {}},
        optional=(call("add_child_incident", parent_incident=older.incident_id, child_incident=newer.incident_id),),
    )


def _service(records: CompanyRecords, summary: str) -> str | None:
    return records.open_reports(summary)[0].service


def _invitations(world: World, records: CompanyRecords) -> Draft:
    """One of the reports is settled by its caller while the agent reads."""
    actor, summary = records.person("Lucas Maurel"), "Calendar invitations arrive twice"
    cases = records.open_reports(summary)
    counts = [case.caller_id for case in cases]
    older, newer = [case for case in cases if counts.count(case.caller_id) > 1]
    fresh = next(case for case in cases if case.status == "new")
    waiting, settled = (
        next(case for case in cases if case.assigned_to == actor.user_id and (case.status == "on_hold") is held)
        for held in (True, False)
    )
    text = "Please remove the second account from your phone."
    event = ScenarioEvent(world).change(
        settled,
        status="resolved",
        resolution_code="Resolved By Caller",
        resolution_notes="Caller removed the second account.",
        resolved_by=actor.user_id,
        resolved=NOW,
    )
    looked = (find_user(actor), call("list_incidents", short_description=summary))
    again = (
        call("list_incidents", short_description=summary),
        articles_of(newer),
        *callers((waiting, fresh)),
    )
    group = older.assignment_group
    taken = update_incident(fresh, assignment_group=group, assigned_to=actor.user_id, status="in_progress")

    def informed(case: Incident) -> ToolCall:
        return notify(case, records.caller(case), "update", f"{case.number}: invitations", text)

    writes = (
        call("add_child_incident", parent_incident=older.incident_id, child_incident=newer.incident_id),
        update_incident(newer, parent_incident=older.incident_id, assignment_group=group),
        *(unlink_article(link) for link in records.articles(newer)),
        taken,
        informed(waiting),
        informed(fresh),
    )
    answer = (
        f"{newer.number} is a child of {older.number}; {fresh.number} is yours. The callers of {waiting.number} and "
        f"{fresh.number} know what to do; {settled.number} was settled by its caller meanwhile."
    )
    draft = Draft(
        slug="invitations-reported-to-two-groups",
        actor=actor,
        prompt=(
            f"{summary}: we have it in two application groups by now, and one caller has it open with both. That pair "
            "belongs together by our rules, no matter who works on it; an article that was suggested on the newer of "
            "them is of no use there, take it away. The one that is new and has no assignee I take, into my group, and "
            f"begin. Then everybody whose open report about it is mine gets an update: '{text}' Some callers help "
            "themselves these days, so look again right before you write. Who got the message?"
        ),
        plan=(
            "Look up Lucas Maurel and the open reports; one caller has two of them.",
            "Look again: one of Lucas's reports has been resolved meanwhile.",
            "Link the newer of the pair to the older, with its parent and its group (INC-11); remove its article.",
            "Take over the new one, in_progress (INC-5), and send the callers of Lucas's open ones the update.",
        ),
        gold=(*looked, *again, *writes),
        answer=answer,
        verifiers=(
            answer_says(
                "names_who_was_written_to",
                "The answer names reports or people [REF-3]",
                all_of([waiting.number, fresh.number]),
                all_of(term(records.caller(case).last_name) for case in (waiting, fresh)),
            ),
        ),
        tools=("add_child_incidents", "find_parent_incident", "find_incident_by_number", "create_problem"),
        events=(event.happens_after(FIRST_LOOK),),
        mistakes={"writes to one of another's callers": (informed(older),)},
        negative_trajectories={
            "writes to the caller who needs no help": NegativeTrajectory(
                (*looked, *again, *writes, informed(settled)), answer
            )
        },
    )
    return with_verifiers(
        world,
        draft,
        event,
        rules={
            "add_child_incident": "INC-11",
            "update_incident": "INC-5, INC-11",
            "send_notification": "NTF-2, NTF-3",
            "remove_knowledge_link_to_incident": "ID-4",
        },
    )


# --- an answer that is known ------------------------------------------------------------------------------------------


def known_answers(world: World) -> Iterable[Draft]:
    """The earlier reports say what helps, or the callers' site says who is meant."""
    records = CompanyRecords(world, BOTANICS)
    yield _climate_curve(world, records)
    yield _old_orders(world, records)


def _climate_curve(world: World, records: CompanyRecords) -> Draft:
    actor, owner, summary = records.person("Ines Moreau"), records.person("Lucas Maurel"), "Climate curve cannot be"
    older, newer = cases = records.open_reports(summary)
    known = next(
        row
        for row in world.all(Incident, org_id=records.org_id, status="resolved")
        if row.short_description[:23] == summary
    )
    words, code, article = known.resolution_notes or "", known.resolution_code or "", str(world.next_id(Knowledge))
    draft = Draft(
        slug="climate-curve-gets-an-article",
        actor=actor,
        prompt=(
            "Two colleagues cannot export their climate curve, and we have solved that more than once. Would you look "
            "up what the resolved ones say? These resolution notes, as they stand, become an article 'Exporting a "
            "climate curve', published, external, by Lucas Maurel (the other Lucas spells himself differently). With "
            "the same notes and the same code resolve what is open about it, each by the one who has it, the article "
            "as what resolved it, and the due messages. Besides, a template 'Climate curve', active, for calls by "
            "phone: short description 'Climate curve cannot be exported', the rest from the older of the two open "
            "ones, its caller included."
        ),
        plan=(
            "Look up Ines Moreau (a manager), Lucas Maurel, and the reports with their resolution notes.",
            "Create the article with these notes (KB-1).",
            "Resolve both open reports by their assignees, with the code of the earlier ones (INC-7, INC-8).",
            "Link the article as the resolution and send both callers the notes.",
            "Create the template from the older report.",
        ),
        gold=(
            find_user(actor),
            find_user(owner),
            call("list_incidents", short_description=summary, status="resolved"),
            *(find_incident(case) for case in cases),
            *callers(cases),
            call(
                "create_knowledge_article",
                title="Exporting a climate curve",
                body=words,
                state="published",
                visibility="external",
                owner_id=owner.user_id,
            ),
            *(resolve(case, case.assigned_to, code, words) for case in cases),
            *(
                call(
                    "link_knowledge_to_incident",
                    incident_id=case.incident_id,
                    knowledge_id=article,
                    used_as="resolution",
                )
                for case in cases
            ),
            *(proposal(records, case, words) for case in cases),
            call(
                "create_new_incident_template",
                name="Climate curve",
                active=True,
                change_request_values={
                    "short_description": "Climate curve cannot be exported",
                    "channel": "phone",
                    **{name: getattr(older, name) for name in _COPIED},
                },
            ),
        ),
        answer=f"{numbers(cases)} are resolved as {code}; article and template are there.",
        verifiers=(answer_says("names_both", "The answer names both [REF-3]", all_of(case.number for case in cases)),),
        tools=("update_knowledge_article", "retrieve_knowledge_articles", "get_incident_templates", "create_problem"),
        mistakes={
            "reopens an earlier one": (update_incident(known, status="in_progress"),),
            "links it to an earlier one": (
                call(
                    "link_knowledge_to_incident",
                    incident_id=known.incident_id,
                    knowledge_id=article,
                    used_as="resolution",
                ),
            ),
            "resolves one as solved": (resolve(newer, newer.assigned_to, "Solution Provided", words),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_knowledge_article": "KB-1",
            "update_incident": "INC-7, INC-8",
            "link_knowledge_to_incident": "KB-1",
            "send_notification": "INC-7, KB-1, NTF-3",
            "create_new_incident_template": "ID-3",
        },
        expect={
            "create_knowledge_article": {"body": Has(words)},
            "update_incident": {"resolution_notes": Has(words)},
            "send_notification": {"message": Has(words)},
        },
    )


_COPIED = ("caller_id", "category", "impact", "urgency", "priority", "service", "service_offering")


def _old_orders(world: World, records: CompanyRecords) -> Draft:
    actor, owner, site = records.person("Hugo Lambert"), records.person("Elise Garnier"), "Fulfilment Centre"
    place = records.named(Location, site).location_id
    cases = records.open_reports("How to read an old order")
    near = [case for case in cases if records.caller(case).location_id == place]
    far = next(case for case in cases if case not in near)
    finance, offering = records.offering("Webshop Archive - Finance"), str(world.next_id(ServiceOffering))
    page, body = str(world.next_id(Knowledge)), "Open the archive, choose the year, search by customer number."

    def suggested(case: Incident) -> ToolCall:
        return call("link_knowledge_to_incident", incident_id=case.incident_id, knowledge_id=page, used_as="suggested")

    def under(case: Incident) -> ToolCall:
        return update_incident(case, service_offering=offering)

    draft = Draft(
        slug="old-orders-for-the-auditors",
        actor=actor,
        prompt=(
            "The auditors keep asking how to read an old order, and they are in the Fulfilment Centre until Christmas. "
            "I would like an offering of their own, 'Webshop Archive - Auditors' (short description 'Old orders for "
            "the audit'), with owner, use, status, class and criticality of the one for finance. Open questions about "
            "that from callers at their site go under it; who asks from anywhere else stays with finance. And publish "
            f"an article 'Reading an old order', external, Elise Garnier's: '{body}' Suggest it on the reports that "
            "you move, no others. Elise shall learn by a report, on the oldest of them, how many there were (digits)."
        ),
        plan=(
            "Look up Hugo Lambert (a manager), Elise Garnier, the offering for finance and the site.",
            "List the open questions and look up their callers: those at the site are the auditors'.",
            "Register the offering and publish the article.",
            "Move the reports of these callers, and suggest the article on each.",
            "Report the number to Elise Garnier on the oldest (NTF-3).",
        ),
        gold=(
            find_user(actor),
            find_user(owner),
            call("find_service_offering_by_name", name=finance.name),
            call("find_location_by_given_name", name=site),
            call("list_incidents", short_description="How to read an old order"),
            *callers(cases),
            call(
                "register_new_service_offering",
                name="Webshop Archive - Auditors",
                short_description="Old orders for the audit",
                parent=finance.business_service,
                **{name: getattr(finance, name) for name in _TRAITS},
            ),
            call(
                "create_knowledge_article",
                title="Reading an old order",
                body=body,
                state="published",
                visibility="external",
                owner_id=owner.user_id,
            ),
            *(under(case) for case in near),
            *(suggested(case) for case in near),
            notify(near[0], owner, "report", f"{near[0].number}: auditors", f"{len(near)} reports are the auditors'."),
        ),
        answer=f"{len(near)} reports are under the new offering: {numbers(near)}.",
        verifiers=(answer_says("says_how_many", "The answer says how many [REF-3]", number(len(near))),),
        tools=("update_service_offering", "update_service", "find_locations", "list_users"),
        mistakes={"moves one of another site": (under(far),), "suggests it there": (suggested(far),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "register_new_service_offering": "ID-3",
            "create_knowledge_article": "PRC-8",
            "update_incident": "ID-4",
            "link_knowledge_to_incident": "KB-1",
            "send_notification": "NTF-2, NTF-3",
        },
        expect={"send_notification": {"message": Has(str(len(near)))}},
    )


_TRAITS = ("owned_by", "used_for", "status", "service_classification", "business_criticality")


FAMILIES = (reported_twice, known_answers)
