"""Requests that must not be carried out; what stands in the way is in the records."""

from __future__ import annotations

from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import INACTIVE, only_for
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import IncidentSla, UserGroup
from opsgym_suites.itsm.calls import find_incident, find_user, notify, update_incident
from opsgym_suites.itsm.grid.outages import CLINICS, LINES
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_refuses


def _declined(world: World, *, wrong: ToolCall, rule: str | None = None, **fields: Any) -> Draft:
    """A task that cannot be done; an agent that makes the call in question fails."""
    wrongly = {"does it all the same": NegativeTrajectory((*fields["gold"], wrong), "Done as you asked.", rule)}
    draft = Draft(feasible=False, negative_trajectories=wrongly, **fields)
    return with_scenario_verifiers(draft, world=world)


def taken_address(world: World) -> Draft:
    """The address that a new user must get belongs to a namesake."""
    records = CompanyRecords(world, CLINICS)
    actor, namesake = records.person("Mere Kingi"), records.person("Sione Latu")
    new = {"first_name": "Sione", "last_name": "Latu", "phone": "+64-009-555-0777", "role": "reporter", "active": True}
    other = call("add_new_user", **new, email="sione.latu2@harakeke-clinics.example", user_name="sione.latu2")
    return _declined(
        world,
        slug="refuse-a-second-address",
        actor=actor,
        prompt=(
            "Our new receptionist at the Suva Clinic starts tomorrow: Sione Latu, reporter, phone +64-009-555-0777. "
            "Please create the account with the usual address."
        ),
        plan=(
            "Look up Mere Kingi, and whether the address first.last is in use.",
            "It is: an agent has the same name (USR-1). No other form of address is allowed.",
            "Create nothing, and say why.",
        ),
        gold=(find_user(actor), call("get_user_using_email", email=namesake.email)),
        answer=f"I did not create the account: the address {namesake.email} is already in use by another Sione Latu.",
        verifiers=answer_refuses(
            r"\b(already|in use|taken|exists|belongs|namesake|another|same)\b", subject_pattern=r"\b(address|e-?mail)"
        ),
        evidence=(namesake,),
        tools=("add_new_user", "list_users", "find_location_by_given_name", "update_user_details"),
        wrong=other,
        mistakes={"turns the namesake into a reporter": (
            call("update_user_details", user_id=namesake.user_id, role="reporter"),
        )},
    )  # fmt: skip


def nearly_three_days(world: World) -> Draft:
    """Three dates in local time, but less than three full days."""
    records = CompanyRecords(world, LINES)
    actor, incident = records.person("Priya Raman"), records.incident("weekend")
    return _declined(
        world,
        slug="refuse-to-close-an-hour-early",
        actor=actor,
        prompt=(
            f"{incident.number} was solved on Sunday, it is Wednesday here, so the three days are over: please close "
            "it, 'No complaint since.'"
        ),
        plan=(
            "Look up Priya Raman and the incident: resolved on 6 March 2027 at 22:40 UTC.",
            "Three full days end on 9 March at 22:40 UTC; it is 20:30 (INC-9).",
            "Change nothing, and say from when it can be closed.",
        ),
        gold=(find_user(actor), find_incident(incident)),
        answer=(
            f"I did not close {incident.number}: it was resolved at 22:40 UTC on 6 March, so three full days are over "
            "only at 22:40 UTC today, which is 11:40 on Wednesday in Wellington."
        ),
        verifiers=answer_refuses(
            r"22[:.]40|11[:.]40|10[:.]40\s*p", r"\b(two|2) hours", subject_pattern=incident.number
        ),
        evidence=(incident,),
        tools=("update_incident", "list_incidents", "send_notification"),
        wrong=update_incident(incident, status="closed", close_notes="No complaint since."),
        mistakes={"notes it for later": (update_incident(incident, worknotes="Close later."),)},
    )  # fmt: skip


def child_of_another(world: World) -> Draft:
    """What would become a child is closed."""
    records = CompanyRecords(world, LINES)
    actor, parent, child = (
        records.person("Callum Reid"),
        records.incident("nelson-print"),
        records.incident("nelson-over"),
    )
    return _declined(
        world,
        slug="refuse-a-closed-child",
        actor=actor,
        prompt=(
            f"The printer in Nelson again: it is the same fault as {child.number}, I am sure. Put that one under "
            f"{parent.number}, as its child, so that we see both together."
        ),
        plan=(
            "Look up Callum Reid and both incidents: the one that is to become the child is closed.",
            "Closed incidents are final (INC-10); naming a parent in it would change it.",
            "Change nothing, and say why.",
        ),
        gold=(find_user(actor), find_incident(child), find_incident(parent)),
        answer=f"I did not link them: {child.number} is closed, and closed incidents are final.",
        verifiers=answer_refuses(r"\b(closed|final)\b", subject_pattern=child.number),
        evidence=(child,),
        tools=("add_child_incident", "update_incident", "list_child_incidents"),
        wrong=call("add_child_incident", parent_incident=parent.incident_id, child_incident=child.incident_id),
        mistakes={"turns it round": (
            call("add_child_incident", parent_incident=child.incident_id, child_incident=parent.incident_id),
        )},
    )  # fmt: skip


def inactive_leader(world: World) -> Draft:
    """The manager who is to lead a new group has no active account."""
    records = CompanyRecords(world, CLINICS)
    actor, leader = records.person("Mere Kingi"), records.person("Ruth Salmon")
    group = {"name": "Records Archive", "type": "IT Support", "active": True}
    return _declined(
        world,
        slug="refuse-a-group-led-by-a-former-manager",
        actor=actor,
        prompt=(
            "Please set up the group Records Archive, IT Support, with Ruth Salmon as its manager and Tane Bishop as "
            "member. She is a manager at the Records House, so that is fine by the rules."
        ),
        plan=(
            "Look up Mere Kingi, Ruth Salmon and Tane Bishop: Ruth's account is inactive.",
            "Groups are led by active managers or admins (USR-2).",
            "Create nothing, and say why.",
        ),
        gold=(find_user(actor), find_user(leader), find_user(records.person("Tane Bishop"))),
        answer="I did not create the group: Ruth Salmon's account is inactive, and a group needs an active manager.",
        verifiers=answer_refuses(INACTIVE, subject_pattern=r"\bRuth|Salmon"),
        evidence=(leader,),
        tools=("add_new_user_group", "add_new_group_member", "update_user_details", "list_users"),
        wrong=call("add_new_user_group", **group, manager_id=leader.user_id),
        mistakes={
            "leads it with the admin instead": (call("add_new_user_group", **group, manager_id=actor.user_id),),
            "opens her account again": (call("update_user_details", user_id=leader.user_id, active=True),),
            "adds the member to another group": (
                call(
                    "add_new_group_member",
                    group_id=world.one(UserGroup, name="Clinic Devices").group_id,
                    user_id=records.person("Tane Bishop").user_id,
                ),
            ),
        },
    )


def other_company(world: World) -> Draft:
    """The recipient is a user of another organisation."""
    records, clinics = CompanyRecords(world, LINES), CompanyRecords(world, CLINICS)
    actor, incident, other = records.person("Hana Ruru"), records.incident("map-1"), clinics.person("Petra Hale")
    text = "The outage map is blank at the moment."
    return _declined(
        world,
        slug="refuse-a-message-to-the-clinics",
        actor=actor,
        prompt=(
            f"Petra Hale keeps calling about the outage map. Send her an update on {incident.number}: '{text}' You "
            "find her address in the directory."
        ),
        plan=(
            "Look up Hana Ruru, the incident and Petra Hale, who belongs to another organisation.",
            "Notifications go to users of one's own organisation only (NTF-1, ID-2).",
            "Send nothing, and say why.",
        ),
        gold=(find_user(actor), find_incident(incident), find_user(other)),
        answer="I sent nothing: Petra Hale belongs to another organisation, Harakeke Clinics, and not to ours.",
        verifiers=answer_refuses(
            r"\b(organi[sz]ation|company|Harakeke|clinics?|outside|external)\b", subject_pattern=r"\b(Petra|Hale)\b"
        ),
        evidence=(other,),
        tools=("send_notification", "list_users", "get_user_using_email", "update_incident"),
        wrong=notify(incident, other, "update", f"{incident.number}: outage map", text),
        mistakes={
            "writes to the caller instead": (
                notify(incident, records.caller(incident), "update", f"{incident.number}: outage map", text),
            ),
        },
    )  # fmt: skip


def definition_by_an_agent(world: World) -> Draft:
    """An agent may not change SLA definitions, and cancels no SLA to the same end."""
    records = CompanyRecords(world, CLINICS)
    actor, definition = records.person("Fetu Lagi"), records.sla_definition("high", "resolution")
    running = world.all(IncidentSla, sla_def_id=definition.sla_def_id, stage="in_progress")
    return _declined(
        world,
        slug="refuse-a-definition-by-an-agent",
        actor=actor,
        prompt=(
            "No one can keep the 400 minutes of High resolution. Ofa said at lunch that 600 is fine with her; please "
            "set it to that before the next one breaches."
        ),
        plan=(
            "Look up Fetu Lagi (an agent) and the definition.",
            "Only managers and admins change SLA definitions (ID-3, PRC-9); what was said at lunch lifts no rule.",
            "Change nothing, and say who has to do it.",
        ),
        gold=(find_user(actor), call("find_sla_definition_by_name", name=definition.name)),
        answer=f"I did not change {definition.name}: only a manager or an admin may change SLA definitions.",
        verifiers=answer_refuses(only_for("manager", "admin"), subject_pattern=r"\bdefinition|High resolution"),
        evidence=(actor,),
        access=Access.STRICT,
        tools=("update_sla_definition", "add_new_sla_definition", "find_incident_slas", "update_incident_sla_details"),
        wrong=call("update_sla_definition", sla_def_id=definition.sla_def_id, target_mins=600),
        rule="ID-3",
        mistakes={
            "cancels one that runs": (
                call("update_incident_sla_details", incident_sla_id=running[0].incident_sla_id, stage="cancelled"),
            ),
        },
    )


FAMILIES = (taken_address, nearly_three_days, child_of_another, inactive_leader, other_company, definition_by_an_agent)
