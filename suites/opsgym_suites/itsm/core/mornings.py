"""Tasks in which the second day shows whether a clock was kept, a laptop repaired, access given, a voucher accepted.

Invariant: the request states each way that it can go; which one applies is in the records on the day.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ConfigurationItem, Incident, Location, Problem
from opsgym_suites.itsm.calls import (
    articles_of,
    callers,
    find_incident,
    find_problem,
    find_team,
    find_user,
    notify,
    numbers,
    start_sla,
    unlink_article,
    update_incident,
)
from opsgym_suites.itsm.core.recurring import BOTANICS, proposal, resolve
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.core.weeks import MORNING, two_days
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name, on_day
from opsgym_suites.kit.verifiers import Has, answer_says
from opsgym_suites.kit.world import NOW, at


def noted(case: Incident, text: str, **more: object) -> ToolCall:
    """Appends to the work notes of an incident."""
    return update_incident(case, worknotes=f"{case.worknotes} {text}" if case.worknotes else text, **more)


def over_night(world: World) -> Iterable[Draft]:
    """The second day shows whether a clock was kept, a laptop repaired, access given, a voucher accepted."""
    records = CompanyRecords(world, "Halden Freight")
    yield _barrier(world, records)
    yield _laptops(world, records)
    yield _archive(world, records)
    yield _vouchers(world, CompanyRecords(world, BOTANICS))


def _barrier(world: World, records: CompanyRecords) -> Draft:
    actor, caller = records.person("Viktor Ek"), records.person("Hanne Moller")
    case = records.report("Weighbridge barrier does not open", "Hanne Moller")
    manager = records.person("Maren Toft")
    response, resolution = (records.sla_definition("critical", metric) for metric in ("response", "resolution"))
    start, answered = at("11-16 09:40"), at("11-16 09:50")
    event = ScenarioEvent(world, MORNING - NOW)
    clock = start_sla(case, response, start)
    completed = clock.model_copy(
        update={"arguments": {**clock.arguments, "stage": "completed", "completed_time": answered.isoformat()}}
    )
    fact = f"{case.number} is critical: no truck gets in."
    first = [
        find_user(actor),
        find_user(caller),
        call("list_incidents", called_id=caller.user_id, short_description="Weighbridge barrier"),
        call("find_incident_slas", incident_id=case.incident_id),
        call("find_sla_definitions", applies_to_priority="critical", active=True),
        call("list_user_groups", group_id=case.assignment_group),
        call("get_user", user_id=manager.user_id),
        articles_of(case),
        update_incident(
            case,
            impact="high",
            urgency="high",
            priority="critical",
            assigned_to=actor.user_id,
            status="in_progress",
        ),
        completed,
        start_sla(case, resolution, start),
        notify(case, manager, "alert", f"{case.number} is critical", fact),
        notify(case, caller, "update", f"{case.number}: critical", fact),
        *(unlink_article(link) for link in records.articles(case)),
    ]
    notes = "Sensor realigned."

    def solved(missed: str) -> list[ToolCall]:
        return [
            call("find_incident_slas", incident_id=case.incident_id),
            resolve(case, actor.user_id, "Solution Provided", notes, worknotes=f"Missed: {missed}."),
            proposal(records, case, notes),
        ]

    return two_days(
        world,
        event,
        slug="barrier-that-stops-the-trucks",
        actor=actor,
        prompt=(
            "I take Hanne Moller's barrier at the weighbridge, am on my way and rang back at 09:50. Since 09:40 "
            "customers cannot get in and everything stands still, so bring the report to the levels that this means, "
            "with all that our rules attach to them, clocks from 09:40. The response clock is answered by my call: "
            "enter it as completed at 09:50, the other one runs. What hangs on the report about printing is wrong, "
            "take it off."
        ),
        message=(
            f"Morning. The barrier opened again a moment ago, the fault is gone: resolve it for me, '{notes}', with "
            "what is due. In the same go the work notes say which of the two clocks for critical was missed: 'Missed:' "
            "and the name of its definition, or 'Missed: none.' Tell me, too."
        ),
        plan=(
            "Look up Viktor Ek, Hanne Moller, the report, its SLAs, the definitions and the group's manager.",
            "Customers and a stop: critical (INC-1, INC-2). Assign it, in_progress (INC-5).",
            "Link both SLAs from 09:40, the response as completed; alert the manager, update the caller (NTF-4).",
            "Second day: read the SLAs; the system has marked the resolution as breached.",
            "Resolve the incident with the note, and send the solution proposal (INC-7).",
        ),
        first=first,
        second=solved(resolution.name),
        careless=solved("none"),
        night=None,
        first_answer=f"{case.number} is critical and yours; the response is completed, the resolution runs.",
        answer=f"{case.number} is resolved. The response was kept, {resolution.name} was missed.",
        access=Access.STRICT,
        verifiers=(answer_says("names_the_missed", "The answer names the clock [REF-3]", r"\b[Rr]esolution\b"),),
        tools=("update_incident_sla_details", "delete_incident_slas", "create_incident", "get_incidents_assigned_to"),
        mistakes={
            "lowers it again": on_day(2, update_incident(case, impact="medium", urgency="high", priority="high")),
        },
        rules={
            "update_incident": "INC-1, INC-2, INC-5, INC-7",
            "link_new_incident_sla": "SLA-1, SLA-2",
            "send_notification": "INC-7, NTF-3, NTF-4",
            "remove_knowledge_link_to_incident": "ID-4",
        },
        expect={
            "update_incident": {"worknotes": Has(resolution.name)},
            "link_new_incident_sla": lambda row: (
                {"stage": "breached", "has_breached": True} if row.values["sla_def_id"] == resolution.sla_def_id else {}
            ),
        },
    )


def _laptops(world: World, records: CompanyRecords) -> Draft:
    actor = records.person("Beatriz Fontes")
    cases = records.open_reports("Docking station does not charge the laptop")
    items = {
        case.incident_id: world.one(ConfigurationItem, configuration_item_id=case.configuration_item) for case in cases
    }
    dear = [case for case in cases if items[case.incident_id].cost == 1690]
    repaired, lost = dear
    cheap = next(case for case in cases if case not in dear)
    old, gone, new = items[repaired.incident_id], items[lost.incident_id], str(world.next_id(ConfigurationItem))
    event = ScenarioEvent(world, MORNING - NOW).change(old, status="in_stock").change(gone, status="retired")
    text, notes = "Your laptop is collected today.", "Port of the laptop repaired."

    def put(item: ConfigurationItem, status: str) -> ToolCall:
        return call("update_configuration_item", configuration_item_id=item.configuration_item_id, status=status)

    def read(case: Incident) -> ToolCall:
        return call("find_configuration_items", configuration_item_id=case.configuration_item)

    def repairs_of(case: Incident) -> list[ToolCall]:
        return [
            put(items[case.incident_id], "in_use"),
            resolve(case, case.assigned_to, "Solution Provided", notes),
            proposal(records, case, notes),
        ]

    replaced = [
        call(
            "register_configuration_item",
            name="Laptop 301",
            serial_number="NB-10301",
            cost=1690,
            status="in_use",
            owner_id=gone.owner_id,
            location_id=gone.location_id,
        ),
        update_incident(lost, configuration_item=new),
        call(
            "remove_affected_ci_from_incident",
            incident_id=lost.incident_id,
            configuration_item=gone.configuration_item_id,
        ),
        call("link_affected_ci_to_incident", configuration_item=new, incident_id=lost.incident_id),
    ]
    looked = [
        find_user(actor),
        call("list_incidents", short_description="Docking station does not charge"),
        *map(read, cases),
        *callers(dear),
    ]
    return two_days(
        world,
        event,
        slug="laptops-come-back-from-the-workshop",
        actor=actor,
        prompt=(
            "Docking stations do not charge some laptops, and it is not the station: laptops that cost 1690 have weak "
            "ports. Whatever open report is about one of those: that laptop is in maintenance now, 'Port to be "
            f"repaired.' goes into the work notes, and the caller gets an update, '{text}' Cheaper ones have "
            "some other fault, leave them. Which reports are they?"
        ),
        message=(
            "The workshop worked over night and entered how each laptop ended up. One that is in stock is repaired: "
            f"back in use, and its report is resolved by its assignee, '{notes}', with what our rules add. One that is "
            "retired was past repair: its owner gets 'Laptop 301', serial number NB-10301, in use, same cost and "
            "site; the report stays open and is about the new one, also in its affected devices, where the old one "
            "goes. Who gets the new laptop?"
        ),
        plan=(
            "Look up Beatriz Fontes (a manager), the open reports and the laptop of each.",
            "Two cost 1690: set them to maintenance, note it and send both callers the update.",
            "Second day: read the laptops; one is in stock and one is retired.",
            "Put the first in use and resolve its report (INC-7) with its message.",
            "Register the new laptop, and put it in the place of the old one in the other report.",
        ),
        first=[
            *looked,
            *(put(items[case.incident_id], "maintenance") for case in dear),
            *(noted(case, "Port to be repaired.") for case in dear),
            *(notify(case, records.caller(case), "update", f"{case.number}: laptop", text) for case in dear),
        ],
        second=[*map(read, dear), *repairs_of(repaired), *replaced],
        careless=[*repairs_of(repaired), *repairs_of(lost)],
        first_answer=f"It is {numbers(dear)}.",
        answer=f"{full_name(records.caller(lost))} gets it; {repaired.number} is over.",
        verifiers=(
            answer_says(
                "names_the_reports", "The first answer names them [REF-3]", all_of(c.number for c in dear), day=1
            ),
            answer_says("names_the_owner", "The answer names the owner [REF-3]", term(records.caller(lost).last_name)),
        ),
        tools=("find_configuration_item_by_serial_number", "list_incident_affected_cis", "create_incident"),
        mistakes={"sends a cheaper one to the workshop": on_day(1, put(items[cheap.incident_id], "maintenance"))},
        rules={
            "update_configuration_item": "ID-3",
            "register_configuration_item": "ID-3",
            "update_incident": "INC-7",
            "send_notification": "INC-7, NTF-3",
            "remove_affected_ci_from_incident": "ID-4",
            "link_affected_ci_to_incident": "ID-4",
        },
        expect={
            "update_configuration_item": lambda row: (
                {"status": "retired"} if row.key == gone.configuration_item_id else {}
            ),
        },
    )


def _archive(world: World, records: CompanyRecords) -> Draft:
    actor, summary = records.person("Oskar Lindqvist"), "Access to the tracking archive"
    clerk, stand_in = records.person("Ines Carvalho"), records.person("Aino Lehto")
    sites = [records.named(Location, name).location_id for name in ("Airfreight Office", "Harbour Terminal")]
    cases = [case for case in records.open_reports(summary) if case.assigned_to == clerk.user_id]
    planners = [case for case in cases if records.caller(case).location_id in sites]
    other = next(case for case in cases if case not in planners)
    content, back = planners
    offering, west = records.offering("Tracking Archive - Planners"), records.team("Harbour Service Desk West")
    morning, title = at("11-20 09:00") + timedelta(days=3), "For planners at Airfreight Office and Harbour Terminal"
    event = ScenarioEvent(world, morning - NOW).change(
        back, status="in_progress", worknotes="Caller: it is still shut."
    )
    given, refused, closed = "Access given.", "The archive is for planners only.", "No further question."
    looked = [
        find_user(actor),
        find_user(clerk),
        call("list_incidents", short_description=summary),
        call("find_service_offering_by_name", name=offering.name),
        call("find_locations", active=True),
        *callers(cases),
    ]
    ended = update_incident(content, status="closed", close_notes=closed)
    handed = [
        update_incident(back, assignment_group=west.group_id, assigned_to=stand_in.user_id),
        notify(back, stand_in, "alert", f"{back.number}: access", f"{back.number} came back and is yours."),
    ]
    return two_days(
        world,
        event,
        slug="access-that-is-given-twice",
        actor=actor,
        prompt=(
            "The requests for the tracking archive that Ines Carvalho has open, please. Only planners get in, and "
            "planners sit at the Airfreight Office and at the Harbour Terminal (not West). I have let those in: "
            f"resolve theirs for Ines, '{given}', with the message due. Anyone else's is canceled, close notes "
            f"'{refused}', and the caller reads these words in an update. So that it is known, the offering for "
            f"planners has the short description '{title}' from now on. How many got in?"
        ),
        message=(
            "Days have gone by. Which of those that you resolved are still resolved? Close them if our rules let you, "
            f"close notes '{closed}' If a caller came back and the report is in progress again, it goes to Aino Lehto "
            "of Harbour Service Desk West, group included, who gets an alert about it. Numbers, please."
        ),
        plan=(
            "Look up Oskar Lindqvist (a manager), Ines Carvalho, her open requests, the sites and the callers.",
            "Resolve those of planners (INC-7) with the proposal; cancel the other one, with an update.",
            "Set the short description of the offering.",
            "Second day: read the resolved ones; one is in progress again.",
            "Close the other one, six days after (INC-9); hand the first to Aino Lehto with an alert.",
        ),
        first=[
            *looked,
            *(resolve(case, clerk.user_id, "Solution Provided", given) for case in planners),
            *(proposal(records, case, given) for case in planners),
            update_incident(other, status="canceled", close_notes=refused),
            notify(other, records.caller(other), "update", f"{other.number}: archive", refused),
            call(
                "update_service_offering",
                service_offering_id=offering.service_offering_id,
                short_description=title,
            ),
        ],
        second=[
            *map(find_incident, planners),
            find_user(stand_in),
            find_team(west),
            ended,
            *handed,
        ],
        careless=[ended, update_incident(back, status="closed", close_notes=closed)],
        night=morning - timedelta(days=2),
        morning=morning,
        first_answer=f"Two got in: {numbers(planners)}; {other.number} is canceled.",
        answer=f"{content.number} is closed. {back.number} came back and is with Aino Lehto.",
        verifiers=(answer_says("names_both", "The answer names both [REF-3]", all_of([content.number, back.number])),),
        tools=("update_service", "find_services", "create_incident", "list_group_members"),
        mistakes={"closes what was canceled": on_day(2, update_incident(other, status="closed"))},
        rules={
            "update_incident": "INC-7, INC-9",
            "send_notification": "INC-7, NTF-2, NTF-3",
            "update_service_offering": "ID-3",
        },
        expect={
            "update_incident": lambda row: (
                {"status": "in_progress", "worknotes": Has("still shut")} if row.key == back.incident_id else {}
            ),
        },
    )


def _vouchers(world: World, records: CompanyRecords) -> Draft:
    actor, change = records.person("Theo Marchand"), world.fixture(Change, "voucher-zone")
    problem = world.fixture(Problem, "voucher-expiry")
    waiting = [records.incident(f"voucher-expiry-{n}") for n in range(1, 5)]
    content, again = waiting[0], waiting[2]
    event = ScenarioEvent(world, MORNING - NOW)
    event.change(content, worknotes="Caller, 17 November: the voucher was accepted.")
    event.change(again, worknotes="Caller, 17 November: the voucher of today is refused.")
    text, close_notes = "The correction was not enough; we are at it.", "Vouchers still end early."
    looked = [
        find_user(actor),
        call("find_change_by_number", number=change.number),
        call("find_change_request_mappings_for_problem", problem_id=problem.problem_id),
        find_problem(problem),
    ]
    before, after = "Dates are in the zone of the shop since 16 November.", "Not enough, see the notes."

    def closed(code: str, notes: str) -> ToolCall:
        return call("update_change", change_id=change.change_id, status="closed", close_code=code, close_notes=notes)

    def write(notes: str) -> ToolCall:
        return call("update_problem", problem_id=problem.problem_id, worknotes=f"{problem.worknotes} {notes}")

    informed = notify(again, records.caller(again), "update", f"{again.number}: voucher", text)
    return two_days(
        world,
        event,
        slug="vouchers-after-the-correction",
        actor=actor,
        prompt=(
            f"{change.number} is in, and in review until tomorrow. It is for {problem.number}, only that no one "
            f"connected them: please do. And the problem's work notes get '{before}' after what is there. Not a word "
            "to the callers yet, they shall try first."
        ),
        message=(
            "The callers who wait for that problem could try since yesterday, answers are in the work notes. If one "
            f"of them was refused again, close the change as unsuccessful, '{close_notes}', append '{after}' to the "
            f"problem's notes and send an update to the caller who was refused: '{text}' If no one was, it is "
            "successful, 'No voucher was refused.', and nothing else is due. Who wrote what?"
        ),
        plan=(
            "Look up Theo Marchand, the change, the problem and their mappings.",
            "Map the change to the problem (CHG-3), and append the note.",
            "Second day: read the incidents that wait for the problem; one caller was refused again.",
            "Close the change as unsuccessful (PRC-7), append the second note, send that caller the update.",
        ),
        first=[
            *looked,
            call("map_change_request", change_id=change.change_id, problem_id=problem.problem_id),
            write(before),
        ],
        second=[
            call("list_incidents", problem=problem.problem_id),
            find_problem(problem),
            *callers([content, again]),
            closed("unsuccessful", close_notes),
            write(f"{before} {after}"),
            informed,
        ],
        careless=[closed("successful", "No voucher was refused.")],
        first_answer=f"{change.number} belongs to {problem.number} now.",
        answer=(
            f"The caller of {again.number} was refused again, that of {content.number} was not; {change.number} is "
            "closed as unsuccessful."
        ),
        access=Access.STRICT,
        verifiers=(answer_says("names_the_report", "The answer names it [REF-3]", again.number, "Petitjean"),),
        tools=("list_problems", "delete_change_request_mappings", "update_incident", "create_change"),
        mistakes={
            "writes to who is content": on_day(
                2, notify(content, records.caller(content), "update", f"{content.number}: voucher", text)
            ),
        },
        rules={
            "map_change_request": "CHG-3",
            "update_change": "PRC-5, PRC-7",
            "update_problem": "PRC-3",
            "send_notification": "NTF-2, NTF-3",
        },
    )


FAMILIES = (over_night,)
