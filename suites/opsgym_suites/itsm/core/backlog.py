"""A team's backlog: incidents are closed, followed up, assigned and moved to another team; SLAs are reviewed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import cycle

from opsgym_api.tasks.answer_patterns import ONE_FIGURE, all_of, figure, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Incident, IncidentSla, User, UserGroup
from opsgym_suites.itsm.calls import find_team, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.records import LATE_WORDS, OPEN_WORDS, CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call, full_name
from opsgym_suites.kit.verifiers import Matches, Present, answer_says, figures_apart
from opsgym_suites.kit.world import NOW, at

QUEUED = ("new", "in_progress", "on_hold")
"""Statuses in which an incident is in a queue."""
SETTLED = timedelta(days=3)
"""How long ago an incident must have been resolved to be closed [INC-9]."""


# --- settled -------------------------------------------------------------------------------------------------------


def settled(world: World) -> Iterator[Draft]:
    """Resolved incidents are closed where the policy allows it."""
    yield _close(
        world,
        company="Halden Freight",
        team="Terminal Field Team",
        actor="Beatriz Fontes",
        slug="close-terminal-field-team",
        note="Closed in the Monday round.",
        prompt=(
            "Monday round, as every week: close what the Terminal Field Team has resolved and what may be closed by "
            "now, with the close note '{note}' Tell me what stays and why."
        ),
    )
    yield _close(
        world,
        company="Mirelle Botanics",
        team="Greenhouse Field Team",
        actor="Ines Moreau",
        slug="close-greenhouse-field-team-solved",
        note="Confirmed by the greenhouse.",
        code="Solution Provided",
        prompt=(
            "I have spoken to the people in the greenhouses: whatever the Greenhouse Field Team resolved with a real "
            "solution (code Solution Provided) is confirmed. Close that where the policy permits, note '{note}' What "
            "was resolved with any other code stays as it is for now."
        ),
    )


def _may_close(incident: Incident) -> bool:
    return bool(
        incident.resolution_code
        and incident.resolution_notes
        and incident.resolved
        and NOW - incident.resolved >= SETTLED
    )


def _close(
    world: World, *, company: str, team: str, actor: str, slug: str, note: str, prompt: str, code: str | None = None
) -> Draft:
    records, group = CompanyRecords(world, company), world.group(team)
    acting = records.person(actor)
    resolved = world.all(Incident, assignment_group=group.group_id, status="resolved")
    ready = [incident for incident in resolved if _may_close(incident) and code in (None, incident.resolution_code)]
    staying = [incident for incident in resolved if incident not in ready]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(note=note),
        plan=(
            f"Look up {actor} and the group {team}.",
            "List the group's incidents in status resolved.",
            "Keep those with resolution code and notes that were resolved three full days ago or longer (INC-9)"
            + (f" and have the code {code}." if code else "."),
            "Close each with the note; leave the others and name them.",
        ),
        gold=(
            find_user(acting),
            find_team(group),
            call("list_incidents", assignment_group=group.group_id, status="resolved"),
            *(update_incident(incident, status="closed", close_notes=note) for incident in ready),
        ),
        answer=f"Closed: {numbers(ready)}. Still resolved: {numbers(staying)}.",
        verifiers=(
            answer_says(
                "answer_names_what_stays",
                "The answer names what stays [REF-3]",
                all_of(incident.number for incident in staying),
            ),
        ),
        tools=("get_incidents_assigned_to", "find_incident_by_number", "list_user_groups", "send_notification"),
        mistakes={"closes one that stays": (update_incident(staying[-1], status="closed", close_notes=note),)},
    )
    return with_verifiers(world, draft, rules={"update_incident": "INC-9"})


# --- no answer -----------------------------------------------------------------------------------------------------


def unanswered(world: World) -> Iterator[Draft]:
    """Incidents on hold for their callers are resolved, or the callers are reminded."""
    yield _give_up(
        world,
        company="Halden Freight",
        assignee="Nadia Haddad",
        since=at("11-01 00:00"),
        slug="give-up-unanswered-freight",
        notes="No answer from the caller for two weeks.",
        prompt=(
            "I have asked for details often enough. Whatever of mine still awaits its caller and was reported before "
            "November, please resolve as '{code}', notes '{notes}', and let the callers know in the usual way."
        ),
    )
    yield _give_up(
        world,
        company="Mirelle Botanics",
        assignee="Sana Qureshi",
        since=at("11-05 00:00"),
        slug="give-up-unanswered-platform",
        notes="Caller did not reply; reopen by a new report.",
        prompt=(
            "Please clear my queue of the ones where callers never replied: on hold for the caller and reported "
            "earlier than 5 November. Code '{code}', resolution notes '{notes}', and everybody concerned gets a "
            "message as the policy has it."
        ),
    )
    yield _ask_again(world)


def _give_up(
    world: World, *, company: str, assignee: str, since: datetime, slug: str, notes: str, prompt: str
) -> Draft:
    records, code = CompanyRecords(world, company), "No resolution provided"
    acting = records.person(assignee)
    waiting = records.open_incidents(assigned_to=acting.user_id, on_hold_reason="Awaiting Caller")
    old = [incident for incident in waiting if records.reported_at(incident) < since]
    young = next(incident for incident in records.open_incidents(assigned_to=acting.user_id) if incident not in old)
    callers = list({incident.caller_id: records.caller(incident) for incident in old}.values())
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(code=code, notes=notes),
        plan=(
            f"Look up {assignee} and the incidents on hold for {assignee}.",
            "Keep those that await the caller and were reported before the day named.",
            "Resolve each in one call with code, notes and resolver; the hold reason stays (INC-7).",
            "Look up the callers and send each a solution_proposal on each incident.",
        ),
        gold=(
            find_user(acting),
            call("list_incidents", assigned_to=acting.user_id, status="on_hold", on_hold_reason="Awaiting Caller"),
            *(call("get_user", user_id=user.user_id) for user in callers),
            *(
                update_incident(
                    incident,
                    status="resolved",
                    resolution_code=code,
                    resolution_notes=notes,
                    resolved_by=acting.user_id,
                )
                for incident in old
            ),
            *(
                notify(incident, records.caller(incident), "solution_proposal", f"{incident.number} is resolved", notes)
                for incident in old
            ),
        ),
        answer=f"Resolved: {numbers(old)}. Their callers are informed.",
        verifiers=(),
        tools=("find_incident_by_number", "get_incidents_assigned_to", "find_notifications_sent_for_incident"),
        mistakes={
            "resolves a younger one": (
                update_incident(young, status="resolved", resolution_code=code, resolution_notes=notes),
            ),
            "clears a hold reason, by putting it on hold for something else": (
                update_incident(old[0], on_hold_reason="Awaiting Change"),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_incident": "INC-7", "send_notification": "INC-7, NTF-2, NTF-3"},
        expect={"send_notification": {"message": Present()}},
    )


def _ask_again(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, team = records.person("Ebba Nyholm"), records.team("Network and Databases")
    waiting = [
        incident
        for incident in records.open_incidents(assignment_group=team.group_id)
        if incident.on_hold_reason == "Awaiting Caller"
    ]
    question, note = "Do you still have this fault? Please answer by Friday.", "Asked again on 16 November."
    callers = list({incident.caller_id: records.caller(incident) for incident in waiting}.values())
    draft = Draft(
        slug="ask-callers-again",
        actor=actor,
        prompt=(
            "Network and Databases has incidents that wait for their callers. Ask each caller once more, with an "
            f"update that says '{question}', and add '{note}' to the work notes of each. Nothing else about them "
            "changes yet."
        ),
        plan=(
            "Look up Ebba Nyholm and the group Network and Databases.",
            "List the group's incidents on hold for the caller, not those that await a problem or a change.",
            "Look up the callers; send each an update with the question, with the incident's number as subject.",
            "Add the note to the work notes that are there.",
        ),
        gold=(
            find_user(actor),
            find_team(team),
            call(
                "list_incidents",
                assignment_group=team.group_id,
                status="on_hold",
                on_hold_reason="Awaiting Caller",
            ),
            *(call("get_user", user_id=user.user_id) for user in callers),
            *(
                notify(incident, records.caller(incident), "update", f"{incident.number}: still there?", question)
                for incident in waiting
            ),
            *(
                update_incident(incident, worknotes=f"{incident.worknotes} {note}" if incident.worknotes else note)
                for incident in waiting
            ),
        ),
        answer=f"The callers of {numbers(waiting)} were asked again.",
        verifiers=(),
        tools=("get_incidents_assigned_to", "find_notifications_sent_for_incident", "list_user_groups"),
        mistakes={"resolves one": (update_incident(waiting[0], status="resolved", resolved_by=actor.user_id),)},
    )
    return with_verifiers(
        world, draft, rules={"update_incident": "LKP-1, ID-4", "send_notification": "NTF-1, NTF-2, NTF-3"}
    )


# --- shared out ----------------------------------------------------------------------------------------------------


def shared_out(world: World) -> Iterator[Draft]:
    """New incidents without an assignee are distributed over a team."""
    yield _deal(
        world,
        company="Halden Freight",
        team="Network and Databases",
        actor="Beatriz Fontes",
        hands=("Ebba Nyholm", "Ravi Menon"),
        slug="deal-network-queue",
        prompt=(
            "Network and Databases has a pile of new incidents without an assignee. Deal them out in turn, oldest "
            "first: the first to Ebba Nyholm, the second to Ravi Menon, the third to Ebba again, and so on."
        ),
    )
    yield _deal(
        world,
        company="Mirelle Botanics",
        team="Platform and Data",
        actor="Amara Diallo",
        hands=("Sana Qureshi", "Yara Haidar", "Lucas Maurel"),
        joining=("Yara Haidar", "Lucas Maurel"),
        slug="deal-platform-queue",
        prompt=(
            "Sana Qureshi cannot carry Platform and Data alone any more. Please make Yara Haidar and Lucas Maurel "
            "members of it and then deal the group's new, unassigned incidents out by age, the oldest first, of the "
            "same age the lower number first: Sana, Yara, Lucas, Sana, Yara, Lucas and so on."
        ),
    )


def _deal(
    world: World,
    *,
    company: str,
    team: str,
    actor: str,
    hands: Sequence[str],
    slug: str,
    prompt: str,
    joining: Sequence[str] = (),
) -> Draft:
    records, group = CompanyRecords(world, company), world.group(team)
    acting, people = records.person(actor), [records.person(name) for name in hands]
    waiting = sorted(
        (
            incident
            for incident in records.open_incidents(assignment_group=group.group_id, status="new")
            if not incident.assigned_to
        ),
        key=lambda incident: (records.reported_at(incident), incident.number),
    )
    taken = next(
        incident for incident in records.open_incidents(assignment_group=group.group_id) if incident.assigned_to
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the group, its members, and {', '.join(hands)}.",
            *([f"Add {' and '.join(joining)} to the group (USR-2)."] if joining else []),
            "List the group's incidents in status new; keep those without an assignee, oldest first.",
            "Assign them in turn; each becomes in_progress in the same call (INC-5).",
        ),
        gold=(
            find_user(acting),
            find_team(group),
            call("list_group_members", group_id=group.group_id),
            *map(find_user, people),
            call("list_incidents", assignment_group=group.group_id, status="new"),
            *(
                call("add_new_group_member", group_id=group.group_id, user_id=records.person(name).user_id)
                for name in joining
            ),
            *(
                update_incident(incident, assigned_to=person.user_id, status="in_progress")
                for incident, person in zip(waiting, cycle(people), strict=False)
            ),
        ),
        answer="; ".join(
            f"{full_name(person)}: {numbers(waiting[index :: len(people)])}" for index, person in enumerate(people)
        ),
        verifiers=(),
        tools=("get_incidents_assigned_to", "list_users", "count_incident_for_assignment_group"),
        mistakes={
            "takes one from a colleague": (update_incident(taken, assigned_to=acting.user_id),),
        },
    )
    rules = {"update_incident": "INC-5"} | ({"add_new_group_member": "USR-2"} if joining else {})
    return with_verifiers(world, draft, rules=rules)


# --- reviewed ------------------------------------------------------------------------------------------------------


def reviews(world: World) -> Iterator[Draft]:
    """SLA breaches of a team are reviewed, acted on and reported."""
    yield _review_with_hands(world)
    yield _review_with_notes(world)
    yield _review_by_figures(world)
    yield _queue_lengths(world)


def _late(records: CompanyRecords, group: UserGroup) -> tuple[list[Incident], list[Incident]]:
    """A group's open incidents, and those among them that have breached an SLA [SLA-3]."""
    broken = {sla.incident_id for sla in records.world.all(IncidentSla, has_breached=True)}
    queue = sorted(records.open_incidents(assignment_group=group.group_id), key=records.reported_at)
    return queue, [incident for incident in queue if incident.incident_id in broken]


def _seen(group: UserGroup) -> tuple[ToolCall, ...]:
    return (
        find_team(group),
        call("get_incidents_assigned_to", assignment_group=group.group_id),
        call("find_incident_slas", has_breached=True),
    )


def _review_with_hands(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, hand, manager, group = (
        records.person("Signe Aaberg"),
        records.person("Viktor Ek"),
        records.person("Maren Toft"),
        records.team("Quay Field Team"),
    )
    queue, late = _late(records, group)
    waiting = [incident for incident in late if not incident.assigned_to]
    draft = Draft(
        slug="sla-review-quay",
        actor=actor,
        prompt=(
            "SLA review for the Quay Field Team. Each of its open incidents that has breached an SLA and still has "
            "no assignee goes to Viktor Ek today. Afterwards report two figures to the team's manager on the "
            "oldest late incident, in digits: how many open incidents have breached an SLA, and how many are open in "
            "all."
        ),
        plan=(
            "Look up Signe Aaberg, the group, Viktor Ek and the group's manager.",
            "List the group's incidents; keep the open ones.",
            "List breached SLAs; count each incident once (SLA-3).",
            "Assign the late ones without assignee to Viktor, in progress (INC-5).",
            "Send the manager the report with both figures on the oldest late incident.",
        ),
        gold=(
            find_user(actor),
            *_seen(group),
            find_user(hand),
            call("get_user", user_id=manager.user_id),
            *(update_incident(incident, assigned_to=hand.user_id, status="in_progress") for incident in waiting),
            notify(
                late[0],
                manager,
                "report",
                f"{late[0].number}: SLA review",
                f"{len(late)} of {len(queue)} open incidents of the {group.name} have breached an SLA.",
            ),
        ),
        answer=f"{numbers(waiting)} are Viktor Ek's. Reported: {len(late)} of {len(queue)} open incidents are late.",
        verifiers=(),
        tools=("find_incident_slas", "find_stage_wise_breached_incident_sla_counts", "list_incidents", "list_users"),
        mistakes={
            "assigns one that has an assignee": (
                update_incident(
                    next(incident for incident in queue if incident.assigned_to), assigned_to=manager.user_id
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_incident": "INC-5, SLA-3", "send_notification": "NTF-2, NTF-3"},
        expect={"send_notification": {"message": figures_apart((len(late), LATE_WORDS), (len(queue), OPEN_WORDS))}},
    )


def _review_with_notes(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, group = records.person("Amara Diallo"), records.team("Workshop Field Team")
    _queue, late = _late(records, group)
    note = "SLA review: late, finish this week."
    reasons = [incident for incident in late if incident.status == "in_progress"]
    hands = list({incident.assigned_to: world.one(User, user_id=incident.assigned_to) for incident in reasons}.values())
    draft = Draft(
        slug="sla-review-workshop",
        actor=actor,
        prompt=(
            "Which open incidents of the Workshop Field Team have broken an SLA? Put the work note "
            f"'{note}' on each of those that are in progress, after what is noted there, and send the person who works "
            "on it an alert about it. Leave new ones and those on hold; only name them to me."
        ),
        plan=(
            "Look up Amara Diallo and the group.",
            "List its incidents and the breached SLAs; keep open incidents that have broken one, each once (SLA-3).",
            "Add the note to those in progress and alert their assignees, once for each incident.",
            "Name the late ones that are new or on hold.",
        ),
        gold=(
            find_user(actor),
            *_seen(group),
            *(call("get_user", user_id=user.user_id) for user in hands),
            *(
                update_incident(incident, worknotes=f"{incident.worknotes} {note}" if incident.worknotes else note)
                for incident in reasons
            ),
            *(
                notify(
                    incident,
                    world.one(User, user_id=incident.assigned_to),
                    "alert",
                    f"{incident.number} is late",
                    f"{incident.number} has broken an SLA.",
                )
                for incident in reasons
            ),
        ),
        answer=(
            f"Late and in progress: {numbers(reasons)}. Late otherwise: "
            f"{numbers(incident for incident in late if incident not in reasons)}."
        ),
        verifiers=(
            answer_says(
                "answer_names_the_others",
                "The answer names the late ones that are not in progress [REF-3]",
                all_of(incident.number for incident in late if incident not in reasons),
            ),
        ),
        tools=("list_incidents", "find_incident_by_number", "find_stage_wise_breached_incident_sla_counts"),
        mistakes={
            "notes it on a new one as well": (
                update_incident(next(incident for incident in late if incident not in reasons), worknotes=note),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_incident": "SLA-3, ID-4", "send_notification": "NTF-2"})


def _review_by_figures(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor = records.person("Camille Roche")
    teams = [records.team(name) for name in ("Platform and Data", "Shop Applications", "Greenhouse Field Team")]
    numbers_of = {team.group_id: _late(records, team) for team in teams}
    managers = {team.group_id: world.one(User, user_id=team.manager_id) for team in teams}
    draft = Draft(
        slug="sla-figures-for-managers",
        actor=actor,
        prompt=(
            "For Platform and Data, Shop Applications and the Greenhouse Field Team: how many open incidents have "
            "breached an SLA, and how many are open? Each team's manager gets a report with its two figures as "
            "digits, on the team's oldest late incident. I want all six figures too."
        ),
        plan=(
            "Look up Camille Roche and the three groups.",
            "List each group's incidents; keep those that are new, in progress or on hold.",
            "List breached SLAs once; count each incident once (SLA-3).",
            "Get the managers, and send each the figures of the team on its oldest late incident.",
        ),
        gold=(
            find_user(actor),
            *map(find_team, teams),
            *(call("get_incidents_assigned_to", assignment_group=team.group_id) for team in teams),
            call("find_incident_slas", has_breached=True),
            *(call("get_user", user_id=user.user_id) for user in {m.user_id: m for m in managers.values()}.values()),
            *(
                notify(
                    numbers_of[team.group_id][1][0],
                    managers[team.group_id],
                    "report",
                    f"{numbers_of[team.group_id][1][0].number}: SLAs of {team.name}",
                    f"{len(numbers_of[team.group_id][1])} late, {len(numbers_of[team.group_id][0])} open.",
                )
                for team in teams
            ),
        ),
        answer=" ".join(
            f"{team.name}: {len(late)} late, {len(queue)} open."
            for team, (queue, late) in zip(teams, numbers_of.values(), strict=True)
        ),
        verifiers=(
            answer_says(
                "answer_has_all_figures",
                "The answer has the figures of each team [REF-3]",
                all_of(
                    rf"{term(team.name)}.{{0,120}}?{number(len(late))}.{{0,80}}?{number(len(queue))}"
                    for team, (queue, late) in zip(teams, numbers_of.values(), strict=True)
                ),
                all_of(
                    rf"{term(team.name)}.{{0,120}}?{number(len(queue))}.{{0,80}}?{number(len(late))}"
                    for team, (queue, late) in zip(teams, numbers_of.values(), strict=True)
                ),
            ),
        ),
        tools=("count_incident_for_assignment_group", "list_incidents", "find_stage_wise_breached_incident_sla_counts"),
    )
    return with_verifiers(
        world,
        draft,
        rules={"send_notification": "NTF-2, NTF-3"},
        expect={
            "send_notification": lambda row: {
                "message": next(
                    figures_apart((len(queue), OPEN_WORDS), (len(late), LATE_WORDS))
                    for queue, late in numbers_of.values()
                    if late[0].incident_id == row.values["incident_id"]
                )
            }
        },
    )


def _queue_lengths(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, manager = records.person("Ebba Nyholm"), records.person("Sigrid Aune")
    teams = [records.team(name) for name in ("Network and Databases", "Quay Field Team", "Harbour Service Desk")]
    lengths = {
        team.group_id: [len(records.open_incidents(assignment_group=team.group_id, status=status)) for status in QUEUED]
        for team in teams
    }
    longest = max(teams, key=lambda team: sum(lengths[team.group_id]))
    oldest = min(records.open_incidents(assignment_group=longest.group_id, status="new"), key=records.reported_at)
    total = sum(lengths[longest.group_id])
    draft = Draft(
        slug="longest-queue",
        actor=actor,
        prompt=(
            "Which of Network and Databases, the Quay Field Team and the Harbour Service Desk has the longest queue "
            "right now, counting what is new, in progress and on hold? Report its name and the number, in digits, to "
            "Sigrid Aune, on the oldest incident of that group that is still new."
        ),
        plan=(
            "Look up Ebba Nyholm, the three groups and Sigrid Aune.",
            "Count each group's incidents by the three statuses, and add them up.",
            "List the new incidents of the longest queue; take the oldest.",
            "Send Sigrid the report there.",
        ),
        gold=(
            find_user(actor),
            *map(find_team, teams),
            *(
                call("count_incident_for_assignment_group", assignment_group_id=team.group_id, status=status)
                for team in teams
                for status in QUEUED
            ),
            call("list_incidents", assignment_group=longest.group_id, status="new"),
            find_user(manager),
            notify(
                oldest,
                manager,
                "report",
                f"{oldest.number}: longest queue",
                f"{longest.name} has {total} incidents that are not over.",
            ),
        ),
        answer=f"{longest.name}: {total}.",
        verifiers=(
            answer_says(
                "answer_names_group_and_number",
                "The answer says it too [REF-3]",
                all_of([longest.name, number(total), ONE_FIGURE]),
            ),
        ),
        tools=("get_incidents_assigned_to", "get_count_of_incident_priority_wise", "list_user_groups"),
    )
    return with_verifiers(
        world,
        draft,
        rules={"send_notification": "NTF-2, NTF-3"},
        expect={"send_notification": {"message": Matches(all_of([longest.name, figure(total)]))}},
    )


# --- moved ---------------------------------------------------------------------------------------------------------


def merged_teams(world: World) -> Iterator[Draft]:
    """Two groups are merged: members, open incidents, and deactivation of the old group."""
    yield _merge(
        world,
        company="Halden Freight",
        old="Harbour Service Desk West",
        new="Harbour Service Desk",
        actor="Oskar Lindqvist",
        slug="merge-harbour-desks",
        prompt=(
            "From today there is one service desk in the harbour. Harbour Service Desk West goes into Harbour Service "
            "Desk: its people become members there and leave the old group, its open incidents move over with "
            "everyone who "
            "works on them, and the old group is switched off. What is resolved or closed stays where it is."
        ),
    )
    yield _merge(
        world,
        company="Mirelle Botanics",
        old="Boutique Support",
        new="Studio Service Desk",
        actor="Hugo Lambert",
        slug="merge-boutique-support",
        prompt=(
            "Boutique Support is being dissolved into the Studio Service Desk. Please move its members over, give the "
            "Studio Service Desk everything that Boutique Support has open, without taking it from the people who have "
            "it, and deactivate Boutique Support at the end. How many incidents were moved?"
        ),
    )


def _merge(world: World, *, company: str, old: str, new: str, actor: str, slug: str, prompt: str) -> Draft:
    records, source, target = CompanyRecords(world, company), world.group(old), world.group(new)
    acting, people = records.person(actor), records.members(source)
    members_now = {user.user_id for user in records.members(target)}
    cases = records.open_incidents(assignment_group=source.group_id)
    done = next(incident for incident in world.all(Incident, assignment_group=source.group_id) if incident not in cases)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, both groups and their members.",
            f"List the incidents of {old}; keep those that are new, in progress or on hold.",
            f"Add each member of {old} who is not in {new} yet, then take them out of {old}.",
            "Move each open incident to the group; status and assignee stay.",
            f"Set {old} inactive.",
        ),
        gold=(
            find_user(acting),
            find_team(source),
            find_team(target),
            call("list_group_members", group_id=source.group_id),
            call("list_group_members", group_id=target.group_id),
            call("get_incidents_assigned_to", assignment_group=source.group_id),
            *(
                call("add_new_group_member", group_id=target.group_id, user_id=user.user_id)
                for user in people
                if user.user_id not in members_now
            ),
            *(call("remove_group_membership", group_id=source.group_id, user_id=user.user_id) for user in people),
            *(update_incident(incident, assignment_group=target.group_id) for incident in cases),
            call("update_user_group", group_id=source.group_id, active=False),
        ),
        answer=f"{len(cases)} incidents are with {new} now: {numbers(cases)}. {old} is inactive.",
        verifiers=(),
        tools=("list_user_groups", "list_incidents", "get_user", "add_new_user_group"),
        mistakes={
            "moves finished work too": (update_incident(done, assignment_group=target.group_id),),
            "takes work away": (update_incident(cases[-1], assigned_to=acting.user_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_group_member": "USR-2",
            "remove_group_membership": "USR-2",
            "update_incident": "INC-4, ID-4",
            "update_user_group": "INC-4",
        },
    )
