"""Incidents that concern several systems: changes, who answers, who may read what, and when talk of it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, Incident
from opsgym_suites.calendar.calls import LIST, create, events_of
from opsgym_suites.calendar.calls import on as on_wall
from opsgym_suites.csm import calls as service
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.drive.calls import named, permissions_of, read_text, unshare
from opsgym_suites.drive.calls import set_role as set_file_role
from opsgym_suites.email.calls import read_thread, search, send, with_mailbox
from opsgym_suites.hybrid.core.commitments import channel_of, on
from opsgym_suites.hybrid.core.jobs import (
    Job,
    in_calendar,
    in_csm,
    in_drive,
    in_itsm,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, ITSM, TEAMS
from opsgym_suites.hybrid.systems import LONDON, MORNING, NOW, OVERNIGHT, Systems
from opsgym_suites.itsm.calls import find_incident, find_user, notify, update_incident
from opsgym_suites.kit.drafts import Draft, call, full_name
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import Has, Matches, count
from opsgym_suites.teams.calls import channels_of, find_team, in_channel, post

GATEWAY = "Major Incidents:Gateway 16 November"
CAUSES = "Major Incidents:Causes"
TRAINING = (date(2026, 11, 18), date(2026, 11, 19))
"""Days on which Zielin is away."""


def outages(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about outages."""
    systems = Systems(worlds)
    for scene in (_certificate, _quotes, _channels, _withdrawn):
        for job in scene(systems):
            yield written(systems, job)


# --- the certificate -------------------------------------------------------------------------------------------------


def _certificate(systems: Systems) -> Iterator[Job]:
    """An incident waits for a change, which follows from it; its cause is not for everybody in the team."""
    incident, timeline = systems.desk.incident("gateway"), systems.files.document("gateway-timeline")
    caller, made = systems.desk.caller(incident), systems.desk.world.next_id(Change)
    open_room, closed_room = systems.teams.room(GATEWAY), systems.teams.room(CAUSES)
    looked = (
        *in_itsm(
            find_user(systems.at_desk("Ruben Castellan")),
            find_incident(incident),
            call("get_user", user_id=caller.user_id),
        ),
        *in_drive(named("Timeline"), read_text(timeline)),
        *channel_of(systems, GATEWAY),
        *in_teams(call("list_channel_messages", teamId=closed_room.team_id, channelId=closed_room.channel_id)),
    )

    def opened(**fields: Any) -> tuple[ToolCall, ...]:
        given = {
            "short_description": "New certificate for the telemetry gateway",
            "status": "new",
            "category": "network",
            "impact": incident.impact,
            "risk": "low",
            "priority": incident.priority,
            "cab_required": True,
            "service": incident.service,
            "service_offering": incident.service_offering,
            "configuration_item": incident.configuration_item,
            "assignment_group": incident.assignment_group,
            "implementation_plan": "Install the new certificate, then restart the gateway.",
            "testing_plan": "Values of one station in the north arrive.",
        }
        return in_itsm(call("create_change", **{**given, **fields}))

    held = in_itsm(
        call("map_change_request", change_id=made, incident_id=incident.incident_id),
        update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change", change_request=made),
        notify(
            incident, caller, "update", f"{incident.number} waits for a change", "It waits for a new certificate."
        ),
    )  # fmt: skip
    noted = in_drive(call("create_comments", fileId=timeline.id, content="Waits for the change."))
    text = "I, Ruben, have opened the change for the certificate of the gateway."
    yield Job(
        "change-for-the-certificate",
        "Ruben Castellan",
        (ITSM, DRIVE, TEAMS),
        f"From now on {incident.number} waits for a change, the new certificate of the gateway. Please open it: "
        "category network, risk low, plan 'Install the new certificate, then restart the gateway.', test 'Values "
        "of one station in the north arrive.'; everything else follows from the incident and our rules, and so "
        "does what has to be done to the incident now, for it to wait. Then the comment 'Waits for the change.' "
        "on the document Timeline, and a post that I, Ruben, have opened the change for the certificate, in the "
        "channel in which Sunniva wants to have such talk. Does the board have to approve it, and where did you "
        "post?",
        (
            "Read the incident, its caller, the document, and Sunniva's reply in the channel.",
            "Open the change with the incident's impact, priority, service, device and group (ITSM-CHG-2, ITSM-CHG-3).",
            "Map it, put the incident on hold for it, and notify the caller (ITSM-INC-6); comment, and post in Causes.",
        ),
        (*looked, *opened(), *held, *noted, *in_teams(post(closed_room, text))),
        f"The board has to approve the change; {incident.number} is on hold for it, and the post is in Causes.",
        (r"\b(board|cab)\b", term("Causes")),
        ("update_change", "create_problem", "archive_channel", "update_files"),
        {
            "adds a note": in_itsm(update_incident(incident, worknotes="Nearly done.")),
            "posts it for the guests too": in_teams(post(open_room, text)),
        },
        {
            "needs no board": (
                (*looked, *opened(cab_required=False), *held, *noted, *in_teams(post(closed_room, text))),
                "No board needed; posted in Causes.",
            ),
            "posts where customers read": (
                (*looked, *opened(), *held, *noted, *in_teams(post(open_room, text))),
                "The board has to approve; posted in Gateway, not Causes.",
            ),
            "leaves the caller without a word": (
                (*looked, *opened(), *held[:2], *noted, *in_teams(post(closed_room, text))),
                "The board has to approve; posted in Causes.",
            ),
        },
        in_posts={"certificate": (r"\bcertificate\b", r"\b(ruben|i)\b")},
    )


# --- who answers for the quotes --------------------------------------------------------------------------------------


def _quotes(systems: Systems) -> Iterator[Job]:
    """The caller is on leave and gets forwarded mail: another one answers, and another one has the incident."""
    mail, desk = systems.mail, systems.desk
    incident, piotr = desk.incident("order-prices"), mail.mailbox("Piotr Zielin")
    thread = mail.message("order-prices", "Piotr Zielin", 1)
    (rule,) = mail.filters("Piotr Zielin")
    team = desk.team("Business Applications")
    room = systems.teams.room("Major Incidents:Order desk")
    taker = desk.person("Ruben Castellan")
    looked = (
        *in_itsm(
            find_user(systems.at_desk("Piotr Zielin")),
            find_incident(incident),
            call("list_group_members", group_id=team.group_id),
            *(call("get_user", user_id=user.user_id) for user in desk.members(team)),
        ),
        *in_mail(search(piotr, "subject:seals"), read_thread(thread, mail), with_mailbox("list_filters", piotr)),
        *channel_of(systems, "Major Incidents:Order desk"),
        *in_calendar(
            LIST, systems.busy(("Piotr Zielin", "Ruben Castellan"), on_wall("11-18").date(), on_wall("11-19").date())
        ),
    )

    def requested(name: str) -> tuple[ToolCall, ...]:
        to = mail.mailbox(name).primary_email
        return in_mail(
            send(mail, piotr, [to], "List of the seals", "Which list is right for the seals, January or July?")
        )

    ended = in_mail(with_mailbox("delete_filter", piotr, id=rule.id))
    given = in_itsm(update_incident(incident, assigned_to=taker.user_id, worknotes="Ingram Tully knows the list."))
    posted = in_teams(post(room, "Ruben has the prices from today; Ingram Tully has my question. Piotr"))
    yield Job(
        "seals-have-another-owner",
        "Piotr Zielin",
        (ITSM, EMAIL, CALENDAR, TEAMS),
        f"I'm away for a training, and {incident.number} waits for an answer that will not come: Giselle is on "
        "leave. Mirabel wrote in the channel Order desk who is to be asked instead. That person gets a mail of "
        "mine, 'List of the seals', which says that we need to know which list is right, January or July. My "
        "mailbox still forwards mail on prices to her, so remove that. The incident goes to the other one in its "
        "group, unless the calendar shows that one away on both days of my training, with the name of the new "
        "person in its notes; and in the channel post who has it now and who was asked. Whom did you write to, "
        "and who has the incident?",
        (
            "Read incident and group, thread, filters, channel and calendars: Ingram Tully answers, Ruben is in.",
            "Write to Ingram, delete the filter, assign the incident to Ruben with a note, and post.",
        ),
        (*looked, *requested("Ingram Tully"), *ended, *given, *posted),
        f"I wrote to Ingram Tully; {incident.number} is Ruben Castellan's now.",
        (r"\btully\b", r"\b(castellan|ruben)\b"),
        ("create_filter", "send_notification", "send_chat_message", "update_vacation_settings"),
        {
            "puts it on hold": in_itsm(update_incident(incident, status="on_hold", on_hold_reason="Awaiting Caller")),
            "asks her as well": requested("Giselle Amato"),
        },
        {
            "asks her delegate": (
                (*looked, *requested("Kester Dunne"), *ended, *given, *posted),
                "Kester Dunne, not Tully; Ruben has it.",
            ),
            "leaves the filter": (
                (*looked, *requested("Ingram Tully"), *given, *posted),
                "Ingram Tully; Ruben Castellan.",
            ),
            "keeps the incident": (
                (*looked, *requested("Ingram Tully"), *ended, *posted),
                "Ingram Tully; Piotr has it, not Ruben.",
            ),
        },
        expect={ITSM.gym: {"update_incident": {"worknotes": Matches(r"(?i)\b(ingram|tully)\b")}}},
        in_mails={"list": (r"\bjanuary\b", r"\bjuly\b")},
        in_posts={"Ruben": (r"\bruben\b", r"\b(ingram|tully)\b")},
    )  # fmt: skip


# --- the channel of an outage ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overnight:
    """How an outage stands in the morning."""

    slug: str
    over: bool
    prompt: str
    message: str
    says: str


OVERNIGHTS = (
    Overnight(
        "channel-ends-with-the-outage",
        over=True,
        prompt=(
            "A contact of a customer can change our Notice to customers on Drive. People outside of the company "
            "may comment at most, so make it that; Venetia's role stays. Write 'Notice: Keziah releases it.' "
            "into the notes of {incident}, if that's what the replies to the comment on the notice say. And who "
            "was it that could change it?"
        ),
        message=(
            "Good morning. Is {incident} resolved? If so, the channel Gateway 16 November gets a last post, that "
            "the outage is over, with the number, and is put to rest the way our rules have it for channels "
            "whose work is over; the contact loses the role on the notice, and Timeline gets the comment "
            "'Over.'. If it isn't, post the number and how it stands, leave channel and role, and comment 'Not "
            "over.' on Timeline. What now?"
        ),
        says="resolved",
    ),
    Overnight(
        "channel-outlives-the-night",
        over=False,
        prompt=(
            "our notice to customers on drive (Notice to customers): someone from outside may change it!! "
            "commenting is all that they may do, fix that, and leave Venetia as she is. see too what the replies "
            "to the comment there say: if it's Keziah who releases it, put 'Notice: Keziah releases it.' into "
            "the notes of {incident}. who from outside was it?"
        ),
        message=(
            "how does {incident} stand? resolved -> last post in Gateway 16 November with the number, that it's "
            "over; then the channel is put to rest as our rules say; role of that contact on the notice goes; "
            "comment 'Over.' on Timeline. any other status -> post number + status in the channel, touch neither "
            "channel nor role, comment 'Not over.' on Timeline. so?"
        ),
        says="on_hold",
    ),
)


def _channels(systems: Systems) -> Iterator[Job]:
    """What is open because of an outage ends with it, and only with it."""
    return (_channel(systems, one) for one in OVERNIGHTS)


def _channel(systems: Systems, one: Overnight) -> Job:
    files, incident = systems.files, systems.desk.incident("gateway")
    notice, timeline = files.document("gateway-notice"), files.document("gateway-timeline")
    room, team = systems.teams.room(GATEWAY), systems.teams.team("Major Incidents")
    outsider = systems.customers.user_of(systems.customers.contact_of(systems.customers.world.case("kelder-charts")))
    role = files.permission(notice, outsider.email)
    venetia = files.permission(notice, files.account("Venetia Croft").email)
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.desk.world, MORNING - NOW)
    if one.over:
        changes.change(incident, status="resolved", resolved=OVERNIGHT, resolution_notes="New certificate.")
    else:
        changes.change(incident, status="on_hold", on_hold_reason="Awaiting Vendor")
    first = (
        *in_itsm(find_user(systems.at_desk("Sunniva Hale")), find_incident(incident)),
        *in_drive(named("Notice to customers"), permissions_of(notice), call("list_comments", fileId=notice.id)),
        *in_drive(set_file_role(notice, role, "commenter")),
        *in_itsm(update_incident(incident, worknotes="Notice: Keziah releases it.")),
    )
    again = (
        *in_itsm(find_incident(incident)),
        *in_teams(find_team(team), channels_of(team)),
        *in_drive(named("Timeline"), permissions_of(notice)),
    )

    def ends() -> tuple[ToolCall, ...]:
        return (
            *in_teams(post(room, f"{incident.number} is resolved, the outage is over. Sunniva")),
            *in_teams(in_channel("archive_channel", room)),
            *in_drive(unshare(notice, role), call("create_comments", fileId=timeline.id, content="Over.")),
        )

    def stays() -> tuple[ToolCall, ...]:
        return (
            *in_teams(post(room, f"{incident.number} is on hold, we wait for the vendor. Sunniva")),
            *in_drive(call("create_comments", fileId=timeline.id, content="Not over.")),
        )

    right, opposite = (ends(), stays()) if one.over else (stays(), ends())
    return Job(
        one.slug,
        "Sunniva Hale",
        (ITSM, DRIVE, TEAMS),
        one.prompt.format(incident=incident.number),
        (
            "Read the incident, permissions and comments of the notice; make the contact commenter (DRIVE-SHR-3).",
            "On the next day read the incident again: its status decides.",
            "Post, archive the channel (TEAMS-TEA-4), take the role away and comment; or post and comment only.",
        ),
        first,
        f"{incident.number} is {one.says}: the channel has a post, and Timeline the comment.",
        (term(one.says),),
        ("update_channel", "create_permission", "soft_delete_channel_message", "update_files"),
        {"takes Venetia's role away": in_drive(unshare(notice, venetia))},
        {
            "does the opposite": (
                (*on(1, *first), *on(2, *again, *opposite)),
                "It is not on hold and not resolved, or both.",
            ),
            "does not look again": (on(1, *first), f"It is {one.says}."),
            **(
                {}
                if one.over
                else {
                    "lets the contact write": (
                        (*on(1, *first[:-2], first[-1]), *on(2, *again, *right)),
                        f"It is {one.says}.",
                    )
                }
            ),
        },
        changes={ITSM.gym: changes},
        happenings=(event_on(ITSM.gym, changes.happens_at(OVERNIGHT)),),
        day_two=(one.message.format(incident=incident.number), (*again, *right)),
        first_answer=f"It was {full_name(outsider)} of Kelder Water; {incident.number} has the note.",
        first_says=(term(outsider.last_name),),
        expect={ITSM.gym: {"update_incident": {"worknotes": Has("Keziah")}}},
        in_posts={"Sunniva": (incident.number, term(one.says) if not one.over else r"\b(resolved|over|ended)\b")},
    )  # fmt: skip


# --- a case that is withdrawn ----------------------------------------------------------------------------------------


def _withdrawn(systems: Systems) -> Iterator[Job]:
    """One of two customers withdraws the case as soon as the desk has noted it: its part falls away."""
    desk, actor = systems.customers, "Ambrose Kettle"
    kelder, ashdown = desk.world.case("kelder-charts"), desk.world.case("ashdown-charts")
    incident = systems.desk.incident("gateway")
    changes: ScenarioEvent[Any] = ScenarioEvent(desk.world).change(ashdown, state="canceled")
    written_down = f"{count(Incident, incident_id=incident.incident_id)} AND worknotes <> ''"
    people = (actor, "Elodie Marsh")
    start = systems.first_free(people, on_wall("11-17 14:00"), 30, on_wall("11-17 18:00"))
    group = desk.group_of(kelder)
    looked = (
        *in_csm(
            service.find_user(systems.at_customers(actor)),
            service.find_case(kelder),
            service.find_case(ashdown),
            service.find_case_slas(kelder),
            service.find_entitlements(kelder),
            call("list_group_members", group_id=group.group_id),
            *(call("list_users", user_id=user.user_id) for user in desk.members(group)),
            service.find_sla_definitions("moderate"),
        ),
        *in_itsm(find_incident(incident)),
        *in_calendar(LIST, systems.busy(people, start.date())),
        *in_calendar(events_of(systems.calendars.calendar("War room"), start.date())),
    )
    noted = in_itsm(update_incident(incident, worknotes=f"Customers: {kelder.number}, {ashdown.number}."))
    again = in_csm(service.find_case(kelder), service.find_case(ashdown))
    raised = in_csm(
        service.update_case(kelder, escalation=True, escalation_reason="vip"),
        *(service.notify(kelder, user, "alert") for user in desk.managers(kelder)),
    )
    elodie = systems.at_customers("Elodie Marsh")
    begun = in_csm(
        service.update_case(ashdown, state="in_progress", assigned_to=elodie.user_id),
        *(service.track(ashdown, row, registered_at(ashdown)) for row in desk.sla_definitions("moderate")),
    )
    war_room = systems.calendars.calendar("War room")
    called = in_calendar(
        create(war_room, "Customers of the outage", start, 30, LONDON, attendees=systems.guests(["Elodie Marsh"]))
    )
    yield Job(
        "withdrawn-as-soon-as-noted",
        actor,
        (CSM, ITSM, CALENDAR),
        f"Note both customers' cases of the outage, {kelder.number} and {ashdown.number}, in {incident.number}. "
        "Their contacts read along and sometimes withdraw, so look at both once more after the note. The one "
        "that is in progress you escalate, all by the rules. The one that is new goes to Elodie Marsh, who "
        "starts on it, with the SLAs that follow; a case that is neither stays as it is. Then 'Customers of the "
        "outage' in War room, tomorrow 17 November, half an hour, with Elodie: first full or half hour from "
        "14:00 in London that suits her and me. What did you do with each of the two?",
        (
            "Read cases, SLAs, entitlements, group, incident and calendars; note both numbers in the incident.",
            "Read the cases again: one was withdrawn, which is final (CSM-CAS-9).",
            "Escalate the other one (CSM-ESC-2, CSM-ESC-3), and enter the talk at the first free time.",
        ),
        (*looked, *noted, *again, *raised, *called),
        f"{kelder.number} is escalated, reason vip; {ashdown.number} was withdrawn and stays canceled.",
        (term("vip"), r"\b(cancell?ed|withdr[ae]wn?)\b"),
        ("link_new_case_sla", "assign_case_to_user", "update_case_sla_details", "patch_event"),
        {"escalates for another reason": in_csm(service.update_case(kelder, escalation_reason="urgency"))},
        {
            "leaves the manager out": (
                (*looked, *noted, *again, *raised[:1], *called),
                "Kelder is escalated, vip; Ashdown is canceled.",
            ),
        },
        refused={
            "does not look again": ((*looked, *noted, *raised, *begun, *called), "CSM-CAS-9"),
            "revives it": ((*looked, *noted, *again, *raised, *begun, *called), "CSM-CAS-9"),
        },
        access=Access.STRICT,
        changes={CSM.gym: changes},
        happenings=(event_on(CSM.gym, changes.happens_when(written_down), when=ITSM.gym),),
        expect={ITSM.gym: {"update_incident": {"worknotes": Matches(f"(?s)(?=.*{kelder.number}).*{ashdown.number}")}}},
    )  # fmt: skip
