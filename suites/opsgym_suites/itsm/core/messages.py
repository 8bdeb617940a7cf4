"""Tasks about messages: what waits to go out and must be corrected, who has heard nothing, who has heard enough.

Invariant: whether a message is right shows in the incident that it is about and in the policy, not in the message.
"""

from __future__ import annotations

from collections.abc import Iterable

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, Incident, Notification, Problem, Service, User, UserGroup
from opsgym_suites.itsm.calls import find_team, find_user, notify, numbers, start_sla, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.verifiers import Has, Matches, May, answer_refuses, answer_says, figures


def messages_about(incident: Incident) -> ToolCall:
    """Call that lists the notifications about an incident."""
    return call("find_notifications_sent_for_incident", incident_id=incident.incident_id)


def rewrite(message: Notification, /, **fields: str) -> ToolCall:
    """Call that changes a notification."""
    return call("update_notification", notification_id=message.notification_id, **fields)


def drop(message: Notification) -> ToolCall:
    """Call that deletes a notification."""
    return call("delete_notifications", notification_id=message.notification_id)


def reports_of(incidents: Iterable[Incident], summary: str) -> tuple[ToolCall, ...]:
    """Calls that list incidents with a summary and look up each caller once."""
    callers = dict.fromkeys(incident.caller_id for incident in incidents)
    listed = call("list_incidents", short_description=summary)
    return (listed, *(call("get_user", user_id=key) for key in callers))


# --- a batch of messages that was written in a hurry ---------------------------------------------------------------

SLOW = "Declaration report is slow"


def customs_batch(world: World) -> Iterable[Draft]:
    """Queued messages about slow declaration reports: corrected, taken back, or asked to be marked as sent."""
    records = CompanyRecords(world, "Halden Freight")
    by_caller = {
        name: records.report(SLOW, name)
        for name in ("Sofie Friis", "Carina Dahl", "Hanne Hedlund", "Aksel Dahl", "Sofie Strand")
    }
    queued = {name: records.messages(case, status="queued")[0] for name, case in by_caller.items()}
    yield _corrected(world, records, by_caller, queued)
    yield _taken_back(world, records, by_caller, queued)
    yield _not_marked(world, records, queued)


def _corrected(
    world: World, records: CompanyRecords, cases: dict[str, Incident], queued: dict[str, Notification]
) -> Draft:
    actor, aksel = records.person("Ravi Menon"), cases["Aksel Dahl"]
    other = records.messages(records.incident("leaver-1"), status="queued")[0]
    subject = f"{aksel.number}: {aksel.short_description}"
    draft = Draft(
        slug="correct-the-customs-batch",
        actor=actor,
        prompt=(
            "I wrote the messages about slow declaration reports in a hurry, they are still queued. Before they go "
            "out, put right what is wrong with them by our rules or by the record they are about; the words stay. "
            "Delete what should not go out at all: to someone whose report is solved, or who already got the same "
            "words about it. Other mail is not mine. How many are left in the queue of the batch?"
        ),
        plan=(
            "Look up Ravi Menon, the queued notifications, the reports of slow declaration reports and their callers.",
            "One goes to a namesake's address, one is an alert, one lacks the number: correct these (NTF-1 to NTF-3).",
            "See what else was sent about these incidents: one caller has the same words already.",
            "Delete that one and the one about a resolved incident; the message about tariff codes stays.",
        ),
        gold=(
            find_user(actor),
            call("find_notifications", status="queued"),
            *reports_of(cases.values(), SLOW),
            *(messages_about(case) for case in cases.values()),
            rewrite(queued["Carina Dahl"], email=records.caller(cases["Carina Dahl"]).email),
            rewrite(queued["Hanne Hedlund"], type="update"),
            rewrite(queued["Aksel Dahl"], subject=subject),
            drop(queued["Sofie Friis"]),
            drop(queued["Sofie Strand"]),
        ),
        answer="Three messages of the batch are left in the queue, corrected; two are deleted.",
        verifiers=(answer_says("says_how_many", "The answer says how many are left [REF-3]", number(3)),),
        tools=("find_notifications_for_email", "send_notification", "find_incident_by_id", "list_users"),
        mistakes={
            "deletes the message about tariff codes": (drop(other),),
            "sends the number anew": (
                notify(aksel, records.caller(aksel), "update", subject, queued["Aksel Dahl"].message or ""),
            ),
            "marks one as sent": (rewrite(queued["Hanne Hedlund"], status="sent"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_notification": "NTF-1, NTF-2, NTF-3", "delete_notifications": "NTF-2"},
        expect={
            "update_notification": lambda row: {"subject": Matches(aksel.number)} if "subject" in row.values else {}
        },
    )


def _taken_back(
    world: World, records: CompanyRecords, cases: dict[str, Incident], queued: dict[str, Notification]
) -> Draft:
    actor, notes = records.person("Ravi Menon"), "The report was rebuilt on a faster table."
    assigned = [case for case in cases.values() if case.status != "resolved" and case.assigned_to == actor.user_id]
    rest = next(case for case in cases.values() if case.status != "resolved" and case not in assigned)
    code = {"resolution_code": "Solution Provided", "resolution_notes": notes, "resolved_by": actor.user_id}
    solved, ebba = "solution_proposal", records.person("Ebba Nyholm")

    def subject(key: str) -> Matches | May:
        case = world.one(Incident, incident_id=world.one(Notification, notification_id=key).incident_id)
        named = Matches(case.number)
        return named if case is cases["Aksel Dahl"] else May(named)

    draft = Draft(
        slug="take-back-the-customs-batch",
        actor=actor,
        prompt=(
            f"Declaration reports are fast again: '{notes}' So what is queued about them is out of date and must not "
            "go out, to anyone. My open incidents about it are solved, by me, in those words; a queued message, if "
            "there is one about such an incident, does not have to be deleted and written again, turn it into the "
            "one that the caller gets now. Ebba checks hers herself, hands off her incidents. All she gets is a "
            "report, on the one that she has open: how many of mine are solved by this, as a figure."
        ),
        plan=(
            "Look up Ravi Menon, the queued notifications, the reports and their callers.",
            "Resolve those of his that are open, also the one that waits for its caller (INC-7).",
            "Turn the queued message about each into the solution proposal: recipient, type, subject and text.",
            "Delete the queued ones about Ebba's incident and about the resolved one.",
            "Send Ebba a report with the number on her open incident (NTF-3).",
        ),
        gold=(
            find_user(actor),
            find_user(ebba),
            call("find_notifications", status="queued"),
            *reports_of(cases.values(), SLOW),
            *(update_incident(case, status="resolved", **code) for case in assigned),
            *(
                rewrite(
                    records.messages(case, status="queued")[0],
                    type=solved,
                    subject=f"{case.number} is solved",
                    message=notes,
                    email=records.caller(case).email,
                )
                for case in assigned
            ),
            *(drop(queued[name]) for name in ("Sofie Friis", "Sofie Strand")),
            notify(
                rest, ebba, "report", f"{rest.number}: reports are fast again", f"{len(assigned)} are solved by it."
            ),
        ),
        answer=f"{numbers(assigned)} are resolved and their callers get the solution; two messages are deleted.",
        verifiers=(
            answer_says("names_them", "The answer names them [REF-3]", all_of(case.number for case in assigned)),
        ),
        tools=("find_notifications_sent_for_incident", "find_notifications_for_email", "get_incidents_assigned_to"),
        mistakes={
            "resolves Ebba's too": (update_incident(rest, status="resolved", **code),),
            "sends a second message": (
                notify(assigned[0], records.caller(assigned[0]), solved, f"{assigned[0].number} is solved", notes),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_incident": "INC-7, INC-8",
            "update_notification": "INC-7, NTF-1",
            "delete_notifications": "ID-4",
            "send_notification": "NTF-2, NTF-3",
        },
        expect={
            "update_notification": lambda row: {"message": Has(notes), "subject": subject(row.key)},
            "send_notification": {"message": figures(len(assigned))},
        },
    )


def _not_marked(world: World, records: CompanyRecords, queued: dict[str, Notification]) -> Draft:
    actor, message = records.person("Ebba Nyholm"), queued["Sofie Friis"]
    marked = rewrite(message, status="delivered")
    draft = Draft(
        slug="refuse-to-mark-a-message-as-delivered",
        actor=actor,
        prompt=(
            "Sofie Friis has read my message about her slow declaration report, she said so at lunch. But the list "
            "still has one to her as queued. Please set it to delivered, I do not want it to go out again."
        ),
        plan=(
            "Look up Ebba Nyholm and Sofie Friis's notifications.",
            "The desk does not set the status of notifications (NTF-2).",
            "Change nothing, and say why.",
        ),
        gold=(find_user(actor), call("find_notifications_for_email", email=message.email)),
        answer="I changed nothing: the desk must not set the status of a notification, delivery is not our task.",
        verifiers=answer_refuses(r"\bstatus\b", r"\bdelivery is not\b", subject_pattern=r"\b(notification|message)"),
        feasible=False,
        evidence=(message,),
        tools=("update_notification", "delete_notifications", "find_notifications", "get_user_using_name"),
        mistakes={"deletes it": (drop(message),)},
        negative_trajectories={
            "does it all the same": NegativeTrajectory((find_user(actor), marked), "It is set to delivered."),
        },
    )
    return with_verifiers(world, draft)


# --- a guarantee that must not go out --------------------------------------------------------------------------------

READER, GUARANTEED = "Card reader of the till restarts", "A new reader will be there by Friday."


def guaranteed_readers(world: World) -> Iterable[Draft]:
    """Messages that guarantee a day: those that wait lose it, callers who have it are informed."""
    records = CompanyRecords(world, "Mirelle Botanics")
    yield _without_guarantee(world, records, records.open_reports(READER))
    yield _below_average(world, records, records.open_reports(READER))


def _without_guarantee(world: World, records: CompanyRecords, cases: list[Incident]) -> Draft:
    actor, words = records.person("Bruno Keller"), "The reader is to be exchanged; no date is set yet."
    waiting = records.messages(*cases, status="queued", message=GUARANTEED)
    informed = [case for case in cases if records.messages(case, status="sent", message=GUARANTEED)]
    fine = next(row for row in records.messages(*cases, status="queued") if row not in waiting)
    draft = Draft(
        slug="readers-without-a-guarantee",
        actor=actor,
        prompt=(
            "Someone guaranteed a day to callers whose card reader restarts. We are not allowed to do that and the "
            f"supplier says nothing. Wherever such a message has not left yet, its words become '{words}' A caller who "
            "already has the guarantee on an open report gets an update with the same words. What does not guarantee "
            "anything stays. Who had it already?"
        ),
        plan=(
            "Look up Bruno Keller and the open reports of the card reader.",
            "List the notifications about each: two that wait guarantee Friday, one that waits does not; one was sent.",
            "Change the text of the two (NTF-2).",
            "Send an update to the caller who has the guarantee.",
        ),
        gold=(
            find_user(actor),
            call("list_incidents", short_description=READER),
            *(messages_about(case) for case in cases),
            *(call("get_user", user_id=case.caller_id) for case in informed),
            *(rewrite(row, message=words) for row in waiting),
            *(notify(case, records.caller(case), "update", f"{case.number}: no date yet", words) for case in informed),
        ),
        answer=f"{' and '.join(records.caller(case).last_name for case in informed)} had the guarantee already.",
        verifiers=(
            answer_says(
                "names_who_had_it",
                "The answer names who had the guarantee [REF-3]",
                all_of(rf"{records.caller(case).last_name}|{case.number}" for case in informed),
            ),
        ),
        tools=("find_notifications", "delete_notifications", "find_notifications_for_email", "update_incident"),
        mistakes={
            "rewrites one without a guarantee": (rewrite(fine, message=words),),
            "rewrites what was sent": (
                rewrite(records.messages(*informed, status="sent", message=GUARANTEED)[0], message=words),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_notification": "NTF-2", "send_notification": "NTF-1, NTF-2, NTF-3"},
        expect={"send_notification": {"message": Has(words)}},
    )


def _below_average(world: World, records: CompanyRecords, cases: list[Incident]) -> Draft:
    actor, words = records.person("Bruno Keller"), "Your report is known, and the reader is being looked at."
    counts = {case.number: len(records.messages(case)) for case in cases}
    some = [count for count in counts.values() if count]
    quiet = [case for case in cases if counts[case.number] < sum(some) / len(some)]
    loud = next(case for case in cases if case not in quiet)
    open_ones = [case.incident_id for case in cases]
    draft = Draft(
        slug="readers-below-the-average",
        actor=actor,
        prompt=(
            "About the restarting card readers some callers hear from us every day and others nothing at all. See how "
            "many messages there are on average about the open reports, as our tools count it, and send an update to "
            f"those callers only whose report has fewer than that: '{words}' Then give those reports to me as far as "
            "no one has them. State the average too."
        ),
        plan=(
            "Look up Bruno Keller and the open reports of the card reader.",
            "Average and count the notifications about them; one report has none.",
            "Send an update about each that is below the average.",
            "Assign those of them without an assignee to Bruno, in_progress (INC-5).",
        ),
        gold=(
            find_user(actor),
            call("list_incidents", short_description=READER),
            call("average_notifications_by_incident", incident_id=open_ones),
            call("count_notifications_by_incident", incident_id=open_ones),
            *(call("get_user", user_id=case.caller_id) for case in quiet),
            *(notify(case, records.caller(case), "update", f"{case.number}: known", words) for case in quiet),
            *(
                update_incident(case, assigned_to=actor.user_id, status="in_progress")
                for case in quiet
                if case.assigned_to is None
            ),
        ),
        answer=f"The average is {sum(some) / len(some):.1f}; the callers of {numbers(quiet)} have an update.",
        verifiers=(
            answer_says(
                "states_the_average", "The answer states the average [REF-3]", rf"\b{sum(some) / len(some):.1f}0?\b"
            ),
        ),
        tools=("find_notifications_sent_for_incident", "find_notifications", "count_notifications_by_type"),
        mistakes={
            "writes to one above the average": (
                notify(loud, records.caller(loud), "update", f"{loud.number}: known", words),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"send_notification": "NTF-1, NTF-2, NTF-3", "update_incident": "INC-5"},
        expect={"send_notification": {"message": Has(words)}},
    )


# --- messages that the policy asks for and no one sent -------------------------------------------------------------


def never_told(world: World) -> Iterable[Draft]:
    """Waiting and critical incidents whose messages are missing."""
    yield _no_one_said_why(world)
    yield _critical_without_alerts(world)


def _no_one_said_why(world: World) -> Draft:
    """A message on hold is missing for some; one caller has left."""
    records = CompanyRecords(world, "Halden Freight")
    actor, team = records.person("Ravi Menon"), records.team("Network and Databases")
    held = records.open_incidents(assigned_to=actor.user_id, status="on_hold")
    waiting = [case for case in held if case.on_hold_reason != "Awaiting Caller"]
    silent = [case for case in waiting if not records.messages(case)]
    informed = [case for case in silent if records.caller(case).active]
    gone = next(case for case in silent if case not in informed)
    note = "Caller has left, no message."

    def awaited(case: Incident) -> str:
        change = case.change_request and world.one(Change, change_id=case.change_request)
        return (change or world.one(Problem, problem_id=case.problem)).number

    draft = Draft(
        slug="no-one-said-why-it-waits",
        actor=actor,
        prompt=(
            "Audit found that I put things on hold for problems and changes without telling anyone. Go through mine: "
            "where a report waits for a problem or a change and there is no message about it at all, catch up on "
            "what our rules want sent, with the number of what it waits for. Should a caller be gone from the company, "
            f"append the work note '{note}' instead. How many messages was that?"
        ),
        plan=(
            "Look up Ravi Menon and his incidents on hold; those that wait for their caller do not count.",
            "Count the notifications about each of the others.",
            "Look up callers, problem and change; one caller's account is inactive (NTF-1).",
            "Send the updates that name the awaited record (INC-6), and append the note to the other incident.",
        ),
        gold=(
            find_user(actor),
            call("get_incidents_assigned_to", assigned_to=actor.user_id),
            call("count_notifications_by_incident", incident_id=[case.incident_id for case in waiting]),
            *(call("get_user", user_id=case.caller_id) for case in silent),
            call("list_problems", assignment_group=team.group_id),
            call("list_changes", assignment_group=team.group_id),
            *(
                notify(case, records.caller(case), "update", f"{case.number} waits", f"It waits for {awaited(case)}.")
                for case in informed
            ),
            update_incident(gone, worknotes=f"{gone.worknotes} {note}" if gone.worknotes else note),
        ),
        answer=(
            f"{len(informed)} messages: {numbers(informed)}. The caller of {gone.number} has left, so it has the note."
        ),
        verifiers=(answer_says("says_how_many", "The answer says how many [REF-3]", number(len(informed))),),
        tools=("find_notifications_sent_for_incident", "find_problem_by_number", "find_change_by_number"),
        mistakes={
            "writes to one who was informed": (
                notify(waiting[0], records.caller(waiting[0]), "update", f"{waiting[0].number} waits", "It waits."),
            ),
            "takes it off hold": (update_incident(informed[0], status="in_progress"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"send_notification": "INC-6, NTF-1, NTF-3", "update_incident": "NTF-1, ID-4"},
        expect={
            "send_notification": lambda row: {
                "message": Has(awaited(world.one(Incident, incident_id=row.values["incident_id"])))
            }
        },
    )


def _critical_without_alerts(world: World) -> Draft:
    """No alert was ever sent; what is missing besides differs from incident to incident."""
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, team = records.person("Sana Qureshi"), records.team("Platform and Data")
    cases = records.open_incidents(priority="critical")
    manager = world.one(User, user_id=world.one(UserGroup, group_id=team.group_id).manager_id)
    untold = [case for case in cases if not records.messages(case)]
    definitions = [records.sla_definition("critical", metric) for metric in ("response", "resolution")]
    services = [world.one(Service, service_id=case.service).name for case in cases]
    looked = (
        find_user(actor),
        call("list_incidents", priority="critical"),
        call("count_notifications_by_type", type=["alert"]),
        *(messages_about(case) for case in cases),
        *(call("find_incident_slas", incident_id=case.incident_id) for case in cases),
        find_team(team),
        *(call("get_user", user_id=case.caller_id) for case in untold),
        call("get_user", user_id=manager.user_id),
        call("find_sla_definitions", applies_to_priority="critical", active=True),
    )
    clocks = tuple(
        start_sla(case, definition, records.reported_at(case)) for case in cases for definition in definitions
    )
    alerts = tuple(
        notify(case, manager, "alert", f"{case.number} is critical", f"{case.number} is critical: {service}.")
        for case, service in zip(cases, services, strict=True)
    )
    updates = tuple(
        notify(case, records.caller(case), "update", f"{case.number} is critical", "Your incident is critical.")
        for case in untold
    )
    draft = Draft(
        slug="critical-without-alerts",
        actor=actor,
        prompt=(
            "Two things are critical since this morning, and I am afraid no one did the formalities. Do we have a "
            "single alert on file? Please make up for all that the rules ask for on these two, clocks and messages; "
            "what someone was already sent they should not get twice."
        ),
        plan=(
            "Look up Sana Qureshi and the open critical incidents.",
            "Count the alerts (none), and see which of the two callers has a message.",
            "Neither has an SLA: start both critical ones from the report of each (SLA-1, SLA-2).",
            "Alert the manager of the group about both; an update to the caller who has none (NTF-4).",
        ),
        gold=(*looked, *clocks, *alerts, *updates),
        answer=f"There was no alert. {numbers(cases)} have their SLAs, {manager.first_name} two alerts.",
        verifiers=(
            answer_says("says_that_there_was_none", "The answer says so [REF-3]", r"\b(no|none|not|zero|0|never)\b"),
        ),
        tools=("find_notifications", "list_user_groups", "update_incident", "find_notifications_for_email"),
        access=Access.STRICT,
        mistakes={
            "tells the other caller twice": (
                notify(
                    next(case for case in cases if case not in untold),
                    records.caller(next(case for case in cases if case not in untold)),
                    "update",
                    f"{next(case for case in cases if case not in untold).number} is critical",
                    "It is critical.",
                ),
            ),
        },
        negative_trajectories={
            "does the messages alone": NegativeTrajectory((*looked, *alerts, *updates), "All messages are sent."),
        },
        also={"messages first": Solution((*looked, *updates, *alerts, *clocks))},
    )
    return with_verifiers(
        world,
        draft,
        rules={"link_new_incident_sla": "SLA-1, SLA-2", "send_notification": "NTF-3, NTF-4"},
        expect={"send_notification": {"message": May()}},
    )


FAMILIES = (customs_batch, guaranteed_readers, never_told)
