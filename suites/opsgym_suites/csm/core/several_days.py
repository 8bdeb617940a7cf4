"""Tasks over several days about cases: work that waits for customers, goes on, and ends, while SLAs run.

Invariant: what an agent leaves undone on one day has an effect by the next one, so the final state shows it: an SLA
that was not paused has breached, a case that was not closed is still resolved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.rules import QUIET_BEFORE_CLOSING
from opsgym_domains.csm.tables import CaseSla, CustomerCase, Product, SlaDefinition
from opsgym_domains.kit.schema import Row, as_dict
from opsgym_suites.csm.calls import (
    find_account,
    find_article,
    find_case,
    find_case_slas,
    find_contact_user,
    find_contacts,
    find_entitlements,
    find_sla_definitions,
    find_team,
    find_user,
    link,
    names_all,
    notify,
    numbers,
    stage,
    timestamp,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at, key_of

THIRD_TIME = 3
"""Reopening that leads to an escalation [ESC-4]."""


def until(world: World, end: datetime, handled: Collection[Row] = ()) -> ScenarioEvent[World]:
    """What time does up to the last day of a task.

    Args:
        world: The seed's rows.
        end: When the last day begins.
        handled: Rows to which time does nothing, because a solution changes them before.
    """
    passed = ScenarioEvent(world, end - world.now)
    for row in handled:
        kind = type(row)
        after = passed.after.one(kind, **{key_of(kind): getattr(row, key_of(kind))})
        for name, value in as_dict(row).items():
            setattr(after, name, value)
    return passed


def morning(message: str, begins: datetime) -> Day:
    """A day that begins with a message of the user."""
    return Day(message=message, begins_at=begins.isoformat())


def complete_at(key: int, time: datetime) -> ToolCall:
    """Completes an SLA at a time."""
    return call("update_case_sla_details", case_sla_id=key, stage="completed", completed_time=timestamp(time))


def only(calls: Sequence[ToolCall], *left_out: ToolCall) -> tuple[ToolCall, ...]:
    """Calls without some of them."""
    return tuple(made for made in calls if made not in left_out)


# --- a customer answers on a later day -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Overnight:
    """A case that waits for its customer, and is solved when the customer has answered."""

    slug: str
    actor: str
    case: str
    """Key of the fixture record."""
    article: str
    """Title of the article that helps."""
    begins: str
    """Month, day and time of the second day."""
    channel: str
    """How the customer answers."""
    first: str
    then: str
    access: Access = Access.PUBLISHED
    amendment: str | None = None
    """CAS-7 as it reads on the second day: managers of the group get an update of a resolved case."""


_CAS_7 = (
    "Resolve a case only if it has an assignee and the article that solved it is linked: a published article, used as "
    "`resolution`. Send its contact a `solution_proposal`; name the article in it if the article is external. Send "
    "every active manager who is a member of the group of the case an `update`."
)
OVERNIGHT = (
    Overnight(
        "archive-probe-waits-for-a-photo", "Lena Fischer", "museum-probe", "Humidity Probe H2 stuck at a value",
        "11-17 08:00", "email",
        "Tamesis Museum, my case about the archive probe: nothing to be done before they have sent me a photo of the "
        "filter cap. Park it until then, properly. I leave at noon.",
        "{contact} mailed the photo last night. The cap was wet; it is dry now and the values move. Their mail goes on "
        "record, it needs no further answer, and what you parked yesterday can be finished with our article on stuck "
        "probes.",
        amendment=_CAS_7,
    ),
    Overnight(
        "store-two-reads-the-label", "Asha Nair", "vaccine-probe", "Humidity Probe H2 stuck at a value",
        "11-18 07:30", "phone",
        "About the humidity in store two of the Pacific Vaccine Store. I can't go on. Someone over there has to read "
        "me the label on the probe. They know; until they call, the ball is with them, so set our side accordingly.",
        "{contact} called. Done talking, label read, cap dried, humidity is plausible, the article on stuck probes "
        "says it all. Log the call and see Monday's case through to resolved.",
        access=Access.STRICT,
    ),
    Overnight(
        "milk-tank-waits-for-the-filter", "Asha Nair", "dairy-drift", "Frost Sensor F1 drifts after defrost",
        "11-17 06:00", "chat",
        "Hi! The milk tank sensor at Anand Dairy: their technician must first tell me the filter setting. Can you put "
        "the case into waiting for me, everything included? Thanks!",
        "Good morning! {contact} was in the chat at five: the filter is at 20 minutes now, as in our article on the "
        "drift after defrost, and the tank reads right. The chat is over. Could you enter it and resolve the case?",
    ),
    Overnight(
        "pier-has-to-send-its-settings", "Callum Reid", "pier-network", "Gateway G100 and wireless networks",
        "11-18 09:00", "email",
        "Before I can go on with the pier's lost gateway (Coral Bay) I need their new network's settings. The case "
        "waits for them from now on.",
        "Got the settings, {contact} mailed them. Password had a blank in it - see the article on the G100 and "
        "wireless networks. Gateway is back. Mail on file please, closed matter, and resolve what has been waiting "
        "since Monday.",
        access=Access.STRICT,
    ),
)  # fmt: skip


def waits_overnight(world: World) -> Iterator[Draft]:
    """A case waits for its customer over night; then it is resolved."""
    for scene in OVERNIGHT:
        yield waiting_case(world, scene)


def waiting_case(world: World, scene: Overnight) -> Draft:
    """A case waits for its customer over night, and is resolved."""
    records, acting, case = DeskRecords(world), world.user(scene.actor), world.case(scene.case)
    firm, article, end = records.account_of(case), records.article(scene.article), at(scene.begins)
    contact = records.user_of(records.contact_of(case))
    running, paused = records.running_slas(case), records.pausable_slas(case, "in_progress")
    managers = records.managers(case) if scene.amendment else []
    pauses = tuple(stage(sla, "paused") for sla in paused)
    first = (
        find_user(acting),
        find_account(firm),
        call("search_cases", account_id=firm.account_id, state="in_progress"),
        find_case_slas(case),
        call("find_sla_definitions", active=True),
        find_contact_user(records.contact_of(case)),
        update_case(case, state="pending"),
        *pauses,
        notify(case, contact, "reminder"),
    )
    solved = on_day(
        2,
        find_article(article),
        call("find_case_knowledge_linkages", case_id=case.case_id),
        *([call("list_group_members", group_id=case.assignment_group_id)] if managers else []),
        *(call("list_users", user_id=user.user_id) for user in managers),
        call(
            "register_new_interaction",
            channel=scene.channel,
            account_id=case.account_id,
            contact_id=case.contact_id,
            case_id=case.case_id,
            interacted_user=acting.user_id,
            status="handled",
        ),
        link(case, article, "resolution"),
        update_case(case, state="resolved"),
        *(complete_at(sla.case_sla_id, end) for sla in running),
        notify(case, contact, "solution_proposal", article),
        *(notify(case, user, "update") for user in managers),
    )
    updates = on_day(2, *(notify(case, user, "update") for user in managers))
    amended = (
        [Event(at=end.isoformat(), amend=Amendment(rule="CAS-7", text=scene.amendment))] if scene.amendment else []
    )
    answer = f"{case.number} is resolved with {article.kb_number}; the SLA is completed."
    return with_scenario_verifiers(
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.first,
            plan=(
                f"Look up {scene.actor}, the account, and which of its cases is meant; its SLAs and its contact.",
                "Set it to pending, pause the SLA that pauses, remind the contact (CAS-6, SLA-4).",
                "Next time: record the answer as handled (INT-1), link the article as resolution, resolve the case.",
                "Complete the SLA with the time of that day (SLA-5), and send the contact a solution_proposal (CAS-7).",
                *(["The rule has changed: managers of the group get an update (CAS-7)."] if managers else []),
            ),
            gold=(*first, *solved),
            day_answers=(f"{case.number} is pending, its SLA is paused, and {full_name(contact)} has a reminder.",),
            answer=answer,
            verifiers=(
                answer_says("names_the_waiting_case", "The first answer names the case [REF-3]", case.number, day=1),
                answer_says("names_the_case", "The answer names the case [REF-3]", case.number),
            ),
            tools=("update_interaction", "updated_linked_case_knowledge", "create_knowledge", "find_interactions"),
            access=scene.access,
            events=tuple(amended),
            days=(morning(scene.then.format(contact=full_name(contact)), end),),
            mistakes={
                "sends an update as well": on_day(2, notify(case, contact, "update")),
                "raises it": on_day(1, update_case(case, priority="high" if case.priority != "high" else "moderate"))
                if scene.access is Access.PUBLISHED
                else on_day(1, update_case(case, escalation=True, escalation_reason="urgency")),
            },
            negative_trajectories={
                "lets the SLA run over night": NegativeTrajectory(only((*first, *solved), *pauses), answer)
                if any(not sla.has_breached for sla in paused)
                else NegativeTrajectory((*first, *solved[:-2]), answer),
                "finishes without a message": NegativeTrajectory(only((*first, *solved), solved[-1]), answer),
                **(
                    {"goes by the rule of the first day": NegativeTrajectory(only((*first, *solved), *updates), answer)}
                    if managers
                    else {}
                ),
            },
        ),
        until(world, end, handled=running),
        world=world,
        rules={
            "update_case": "CAS-6, CAS-7",
            "update_case_sla_details": "SLA-4, SLA-5",
            "send_notification": "CAS-6, CAS-7",
        },
    )


# --- taken up on one day, finished on another ----------------------------------------------------------------------


@dataclass(frozen=True)
class TakenUp:
    """A new case that an agent takes up, that may wait in between, and that is solved in the end."""

    slug: str
    actor: str
    case: str
    taker: str
    article: str
    begins: tuple[str, ...]
    """Month, day and time of the later days; with three days, the case waits from the second one on."""
    messages: tuple[str, ...]
    """What the user asks, by day."""
    access: Access = Access.PUBLISHED


TAKEN_UP = (
    TakenUp(
        "freezer-four-in-two-days", "Priya Venkat", "deccan-sensor", "Yuki Tanabe",
        "Frost Sensor F2 loses its gateway", ("11-17 14:00",),
        (
            "Deccan's freezer four has no owner yet. Yuki has it from now on; get it going.",
            ("Yuki paired the sensor again next to the gateway, as our article on the F2 losing its gateway says. "
            "Readings since noon. Wrap the case up. Deccan wants to know which of its SLAs we breached, response "
            "or resolution: tell me."),
        ),
        Access.STRICT,
    ),
    TakenUp(
        "bottling-charts-in-three-days", "Jonas Ekberg", "dairy-charts", "Owen Pryce",
        "Empty dashboards in ColdView Cloud", ("11-17 09:00", "11-19 09:00"),
        (
            ("There's a web case from Anand Dairy about charts of the bottling plant. Owen Pryce does it. Start it for "
            "him by the book."),
            ("Owen is stuck with yesterday's case until the dairy has named the workspace that their sites belong to. "
            "Treat it accordingly, please."),
            ("They named it, Owen reassigned the sites, the charts are complete: exactly what the article on empty "
            "dashboards describes. So that one is done, make it so."),
        ),
    ),
    TakenUp(
        "museum-mails-in-two-days", "Emi Kondo", "museum-mails", "Emi Kondo",
        "Alarm mails of ColdView Cloud", ("11-17 10:30",),
        (
            "The museum's alarm mails that end up in junk: I do that one. Open it for me, all that goes with a start.",
            ("They allowed our sender and verified the address, which is all our article on alarm mails asks for, and "
            "the test mail arrived. Finish yesterday's case."),
        ),
        Access.STRICT,
    ),
    TakenUp(
        "silent-beacon-in-three-days", "Grace Holloway", "blood-beacon", "Grace Holloway",
        "Alarm Beacon B1 stays silent", ("11-17 08:30", "11-20 11:00"),
        (
            "I take the silent beacon at Hudson Blood Services, bank three. Enter what has to be entered.",
            ("The beacon: I asked Hudson to check jumper J2, they have to do that on site. Nothing for me to do "
            "meanwhile."),
            ("J2 was open. They set it, tested from the gateway, and it flashes; that's our article on the B1 that "
            "stays silent. Resolve it for me, will you?"),
        ),
        Access.STRICT,
    ),
)  # fmt: skip


def taken_up(world: World) -> Iterator[Draft]:
    """A new case is taken up, waits for the customer or not, and is resolved on a later day."""
    for scene in TAKEN_UP:
        yield case_over_days(world, scene)


def case_over_days(world: World, scene: TakenUp) -> Draft:
    """A new case is taken up, may wait, and is resolved on the last day."""
    records, acting, case = DeskRecords(world), world.user(scene.actor), world.case(scene.case)
    firm, taker, article = records.account_of(case), world.user(scene.taker), records.article(scene.article)
    definitions, contact = records.sla_definitions(case.priority), records.user_of(records.contact_of(case))
    begins = [at(text) for text in scene.begins]
    waits, last, end = len(begins) > 1, len(begins) + 1, begins[-1]
    made = {definition.sla_def_id: world.next_id(CaseSla, place) for place, definition in enumerate(definitions)}
    pausing = [made[definition.sla_def_id] for definition in definitions if definition.pause_on_pending]
    tracked = tuple(track(case, definition, registered_at(case)) for definition in definitions)
    first = (
        find_user(acting),
        find_account(firm),
        call("search_cases", account_id=firm.account_id, state="new"),
        find_entitlements(case),
        find_sla_definitions(case.priority),
        call("list_group_members", group_id=case.assignment_group_id),
        *([] if taker is acting else [find_user(taker)]),
        update_case(case, state="in_progress", assigned_to=taker.user_id),
        *tracked,
    )
    pauses = on_day(2, *(call("update_case_sla_details", case_sla_id=key, stage="paused") for key in pausing))
    waiting = on_day(
        2,
        find_contact_user(records.contact_of(case)),
        update_case(case, state="pending"),
        *pauses,
        notify(case, contact, "reminder"),
    )
    shown = article if article.visibility == "external" else None
    solved = on_day(
        last,
        find_article(article),
        find_case_slas(case),
        find_contact_user(records.contact_of(case)),
        link(case, article, "resolution"),
        update_case(case, state="resolved"),
        *(complete_at(key, end) for key in made.values()),
        notify(case, contact, "solution_proposal", shown),
    )
    breached = [
        definition
        for definition in definitions
        if world.now < _breach(case, definition) <= (begins[0] if definition.pause_on_pending else end)
    ]
    broken = " and ".join(definition.metric for definition in breached)
    gold = (*first, *(waiting if waits else ()), *solved)
    answer = f"{case.number} is resolved with {article.kb_number}. Breached: {broken or 'none'}; both SLAs are over."
    started = f"{case.number} is {full_name(taker)}'s and in progress; both SLAs run."
    return with_scenario_verifiers(
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.messages[0],
            plan=(
                f"Look up {scene.actor}, the account, its new case, its cover, the group's members and the SLAs.",
                "Assign it in progress, and link both SLAs as of the registration (CAS-4, CAS-5, SLA-1).",
                *(["Second day: pending, pause the resolution SLA, remind the contact (CAS-6)."] if waits else []),
                "Last day: link the article as resolution and resolve it (CAS-7); complete both SLAs (SLA-5).",
                "Send the contact a solution_proposal, with the article if it is external (CAS-7, KB-2).",
            ),
            gold=gold,
            day_answers=(started, *([f"{case.number} is pending, with a reminder."] if waits else [])),
            answer=answer,
            verifiers=(
                answer_says("names_what_was_taken_up", "The first answer names the case [REF-3]", case.number, day=1),
                answer_says("names_the_case", "The answer names the case [REF-3]", case.number),
                *(
                    [answer_says("says_what_breached", "The answer says which SLA breached [SLA-6]", rf"\b{broken}\b")]
                    if "breached" in scene.messages[-1]
                    else []
                ),
            ),
            tools=("assign_case_to_user", "delete_case_slas", "find_contracts", "create_knowledge"),
            access=scene.access,
            days=tuple(morning(message, time) for message, time in zip(scene.messages[1:], begins, strict=True)),
            mistakes={
                "escalates it": on_day(1, update_case(case, escalation=True, escalation_reason="urgency")),
                "tells the manager": on_day(last, notify(case, records.managers(case)[0], "alert")),
            },
            negative_trajectories={
                "starts the SLAs when the case is over": NegativeTrajectory(
                    (*only(gold, *tracked, *solved), *solved[:5], *on_day(last, *tracked), *solved[5:]), answer
                )
                if not waits
                else NegativeTrajectory(only(gold, *pauses), answer),
                "resolves it without an article": NegativeTrajectory(
                    only(gold, solved[3]), answer, "CAS-7" if scene.access is Access.STRICT else None
                ),
            },
        ),
        until(world, end),
        world=world,
        rules={
            "update_case": "CAS-5, CAS-7",
            "update_case_sla_details": "SLA-4, SLA-5",
            "send_notification": "CAS-6, CAS-7",
        },
        expect={
            "link_new_case_sla": lambda row: {"has_breached": row.values["sla_def_id"] in _ids(breached)},
        },
    )


def _breach(case: CustomerCase, definition: SlaDefinition) -> datetime:
    return registered_at(case) + timedelta(minutes=definition.target_mins)


def _ids(definitions: Sequence[SlaDefinition]) -> list[int]:
    return [definition.sla_def_id for definition in definitions]


# --- closing over several days -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Closing:
    """Resolved cases of a group are closed on two days; a customer reports one of them again in between."""

    slug: str
    actor: str
    team: str
    begins: str
    """Month, day and time of the second day."""
    back: int
    """Which of the cases that are left over the customer reports again: its place, the oldest change first."""
    channel: str
    first: str
    then: str
    """May name `{contact}`, `{firm}` and `{product}`."""
    quiet: timedelta = QUIET_BEFORE_CLOSING
    """Time without changes that the second day asks for."""
    amendment: str | None = None
    """CAS-8 as it reads on the second day."""


CLOSINGS = (
    Closing(
        "close-gateway-support", "Jonas Ekberg", "Gateway Support", "11-19 16:00", -1, "phone",
        "Monday is closing day. Close what Gateway Support has resolved, as far as our rules let us today, and tell me "
        "which cases are still too fresh.",
        "Thursday, so once more: those you left on Monday, as far as they may be closed by now. Except one: {contact} "
        "of {firm} had me on the phone about the {product}, it is the same as before. Put my call on record and do "
        "with the case what has to be done.",
        timedelta(days=6),
        "Close a case only if it is `resolved` and was not changed (`sys_updated_on`) for six full days. To close it, "
        "set state and `closed_on`, which is the current time.",
    ),
    Closing(
        "close-software-support", "Dwight Larson", "Software Support", "11-18 09:00", 1, "chat",
        "The list of Software Support is full of resolved cases from months ago. Please close all that may be closed "
        "by now, and name those that have to stay resolved for some days more.",
        "{contact} of {firm} came back to me in the chat (over now, to be recorded): their {product} trouble is not "
        "gone. And of the others that you named on Monday: which can be closed today? Do it.",
    ),
    Closing(
        "close-sensor-support", "Priya Venkat", "Sensor Support", "11-20 16:00", 4, "email",
        "My team's list is too long. Everything of Sensor Support that is resolved and may be closed: close it. What "
        "may not, I want to see by number.",
        "Second round for the rest of Monday's list. {contact} of {firm} has written that the {product} does it again; "
        "the mail is answered, file it with the case and let the case go on as our rules say. Close what is ripe.",
        timedelta(days=7),
        "Close a case only if it is `resolved` and was not changed (`sys_updated_on`) for seven full days. To close "
        "it, set state and `closed_on`, which is the current time.",
    ),
)  # fmt: skip


def closing_days(world: World) -> Iterator[Draft]:
    """Resolved cases are closed on two days, by the rules of the day."""
    for scene in CLOSINGS:
        yield _closing(world, scene)


def _closing(world: World, scene: Closing) -> Draft:
    records, acting, group = DeskRecords(world), world.user(scene.actor), world.group(scene.team)
    end = at(scene.begins)
    resolved = sorted(
        world.all(CustomerCase, assignment_group_id=group.group_id, state="resolved"),
        key=lambda case: case.sys_updated_on or world.now,
    )
    ready = [case for case in resolved if _quiet(case, world.now) >= QUIET_BEFORE_CLOSING]
    left = [case for case in resolved if case not in ready]
    back = left[scene.back]
    later = [case for case in left if case is not back and _quiet(case, end) >= scene.quiet]
    staying = [case for case in left if case is not back and case not in later]
    contact, firm = records.user_of(records.contact_of(back)), records.account_of(back)
    item = world.one(Product, product_id=back.product_id)
    third = back.reopen_count + 1 >= THIRD_TIME
    managers = records.managers(back) if third and not back.escalation else []
    more: Mapping[str, Any] = {"escalation": True, "escalation_reason": "customer_request"} if managers else {}
    again = update_case(back, state="in_progress", reopen_count=back.reopen_count + 1, **more)
    first = (
        find_user(acting),
        find_team(group),
        call("search_cases", state="resolved"),
        call("get_cases_assigned_to", assignment_group_id=group.group_id),
        *(update_case(case, state="closed", closed_on=timestamp(world.now)) for case in ready),
    )
    second = on_day(
        2,
        find_account(firm),
        find_contacts(firm),
        find_contact_user(records.contact_of(back)),
        *(find_case(case) for case in left),
        *([call("list_group_members", group_id=group.group_id)] if managers else []),
        call(
            "register_new_interaction",
            channel=scene.channel,
            account_id=back.account_id,
            contact_id=back.contact_id,
            case_id=back.case_id,
            interacted_user=acting.user_id,
            status="handled",
        ),
        again,
        *(notify(back, user, "alert") for user in managers),
        *(update_case(case, state="closed", closed_on=timestamp(end)) for case in later),
    )
    tempting = staying or [back]
    answer = f"Closed: {numbers(later)}. {back.number} is in progress again. Still resolved: {numbers(staying)}."
    amended = (
        [Event(at=end.isoformat(), amend=Amendment(rule="CAS-8", text=scene.amendment))] if scene.amendment else []
    )
    return with_scenario_verifiers(
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.first,
            plan=(
                f"Look up {scene.actor} and the group; list the resolved cases.",
                "Close those in which nothing has changed for five full days (CAS-8); name the others.",
                "Second day: record the conversation and reopen the case, counting it (INT-1, CAS-9, ESC-4).",
                "Close what is quiet for long enough by the rule of that day (CAS-8).",
            ),
            gold=(*first, *second),
            day_answers=(f"Closed: {numbers(ready)}. Too fresh: {numbers(left)}.",),
            answer=answer,
            verifiers=(
                answer_says("names_the_fresh", "The first answer names the others [CAS-8]", names_all(left), day=1),
                answer_says("names_cases", "The answer names the cases [REF-3]", names_all([back, *later])),
            ),
            tools=("list_user_groups", "count_case_by_state", "find_case_slas", "create_new_case", "send_notification"),
            events=tuple(amended),
            days=(morning(scene.then.format(contact=full_name(contact), firm=firm.name, product=item.name), end),),
            mistakes={
                "closes a fresh one": on_day(2, update_case(tempting[-1], state="closed", closed_on=timestamp(end))),
                "starts the SLAs again": on_day(2, track(back, records.sla_definitions(back.priority)[0], end)),
            },
            negative_trajectories={
                "closes everything on the first day": NegativeTrajectory(
                    (
                        *first,
                        *(update_case(case, state="closed", closed_on=timestamp(world.now)) for case in later),
                        *(made for made in second if made.arguments.get("state") != "closed"),
                    ),
                    answer,
                ),
                "forgets to count": NegativeTrajectory(
                    (*only((*first, *second), *on_day(2, again)), *on_day(2, update_case(back, state="in_progress"))),
                    answer,
                ),
            },
        ),
        until(world, end, handled=resolved),
        world=world,
        rules={"update_case": "CAS-8, CAS-9", "send_notification": "ESC-3"},
    )


def _quiet(case: CustomerCase, time: datetime) -> timedelta:
    return time - (case.sys_updated_on or time)


FAMILIES = (waits_overnight, taken_up, closing_days)
