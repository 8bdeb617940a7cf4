"""Tasks about people: a promotion, a leaver, a new name."""

from __future__ import annotations

from opsgym_api.tasks.answer_patterns import all_of, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ConfigurationItem, Incident, Knowledge, Notification, Service, UserGroup
from opsgym_suites.itsm.calls import find_team, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.grid.assets import change_item
from opsgym_suites.itsm.grid.outages import LINES, listed
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import Has, May, answer_says


def noted(incident: Incident, note: str, **fields: str) -> ToolCall:
    """Call that appends a work note to those that an incident has."""
    notes = f"{incident.worknotes} {note}" if incident.worknotes else note
    return update_incident(incident, worknotes=notes, **fields)


def new_manager(world: World) -> Draft:
    """The manager of a new group has to become one first, and does not become a member by that."""
    records = CompanyRecords(world, LINES)
    actor, chief, hand = map(records.person, ("Aroha Tamihana", "Priya Raman", "Wiremu Paki"))
    old, line, key = records.team("Grid Applications"), records.named(Service, "Smart Meters"), world.next_id(UserGroup)
    cases = records.open_incidents(service=line.service_id, assignment_group=old.group_id)
    draft = Draft(
        slug="meter-applications-under-priya",
        actor=actor,
        prompt=(
            "Priya Raman gets a group of her own, Meter Applications, of type IT Support. She leads it and works in "
            "it, and Wiremu Paki works in it as well; he stays in Grid Applications, she does not. The open incidents "
            "about Smart Meters that Grid Applications has go over to the new group, and nothing else about them "
            "changes. Which ones are they?"
        ),
        plan=(
            "Look up Aroha Tamihana (an admin), Priya Raman (an agent), Wiremu Paki, the group and the service.",
            "A group is led by a manager: make Priya one (USR-2).",
            "Create the group with her as manager, and add both as members.",
            "Remove Priya from Grid Applications.",
            "Move the group's open incidents about Smart Meters.",
        ),
        gold=(
            find_user(actor),
            find_user(chief),
            find_user(hand),
            find_team(old),
            call("list_group_members", group_id=old.group_id),
            call("list_user_groups", name="Meter Applications"),
            *listed(records, line.name),
            call("update_user_details", user_id=chief.user_id, role="manager"),
            call(
                "add_new_user_group",
                name="Meter Applications",
                type="IT Support",
                active=True,
                manager_id=chief.user_id,
            ),
            *(call("add_new_group_member", group_id=key, user_id=user.user_id) for user in (chief, hand)),
            call("remove_group_membership", group_id=old.group_id, user_id=chief.user_id),
            *(update_incident(case, assignment_group=key) for case in cases),
        ),
        answer=f"Priya Raman is a manager and leads Meter Applications, which has {numbers(cases)} now.",
        verifiers=(
            answer_says("names_the_incidents", "The answer names them [REF-3]", all_of(case.number for case in cases)),
        ),
        tools=("list_users", "update_user_group", "get_incidents_assigned_to", "find_incident_by_number"),
        mistakes={
            "takes Wiremu out of his group": (
                call("remove_group_membership", group_id=old.group_id, user_id=hand.user_id),
            ),
            "gives Priya the incidents": (update_incident(cases[-1], assigned_to=chief.user_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_user_details": "USR-2",
            "add_new_user_group": "USR-2",
            "add_new_group_member": "USR-2",
            "remove_group_membership": "ID-4",
            "update_incident": "INC-4",
        },
        expect={"add_new_user_group": {"email": May()}},
    )


def leaver(world: World) -> Draft:
    """The successor is the member of the group with the fewest open incidents; some articles are not handed over."""
    records = CompanyRecords(world, LINES)
    actor, gone, team = records.person("Leilani Fonoti"), records.person("Tevita Moala"), records.team("Grid Platform")
    loads = {user: len(records.open_incidents(assigned_to=user.user_id)) for user in records.members(team)}
    loads.pop(gone)
    successor, *others = sorted(loads, key=lambda user: loads[user])
    if loads[successor] == loads[others[0]]:
        raise LookupError("two members have the fewest open incidents")
    cases = records.open_incidents(assigned_to=gone.user_id)
    articles = world.all(Knowledge, owner_id=gone.user_id)
    current = [article for article in articles if article.state in {"published", "review"}]
    items = world.all(ConfigurationItem, owner_id=gone.user_id)
    laptop = next(item for item in items if item.name.startswith("Laptop"))
    note = "Taken over from Tevita Moala."
    draft = Draft(
        slug="tevita-moala-leaves",
        actor=actor,
        prompt=(
            "Tevita Moala had his last shift. The one of the others in Grid Platform who has the fewest open incidents "
            f"takes over from him: his open incidents, with the note '{note}', his articles as far as they are "
            "published or in review, and his devices, except that his laptop goes into stock in his name. He leaves "
            "the group, and his account is closed. Who is it?"
        ),
        plan=(
            "Look up Leilani Fonoti, Tevita Moala, the group and its members.",
            "List the open incidents of every other member and count: new, in progress, on hold.",
            "Give the one with the fewest Tevita's open incidents with the note (USR-3).",
            "Hand over his published articles and those in review; drafts and retired ones stay.",
            "Hand over his devices, put the laptop into stock, end the membership, close the account.",
        ),
        gold=(
            find_user(actor),
            find_user(gone),
            find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("get_user", user_id=user.user_id) for user in loads),
            *(call("get_incidents_assigned_to", assigned_to=user.user_id) for user in (*loads, gone)),
            call("retrieve_knowledge_articles", owner_id=gone.user_id),
            call("find_configuration_items", owner_id=gone.user_id),
            *(noted(case, note, assigned_to=successor.user_id) for case in cases),
            *(
                call("update_knowledge_article", knowledge_id=row.knowledge_id, owner_id=successor.user_id)
                for row in current
            ),
            *(change_item(item, owner_id=successor.user_id) for item in items if item is not laptop),
            change_item(laptop, status="in_stock"),
            call("remove_group_membership", group_id=team.group_id, user_id=gone.user_id),
            call("update_user_details", user_id=gone.user_id, active=False),
        ),
        answer=f"{successor.first_name} {successor.last_name} takes over, with {numbers(cases)}.",
        verifiers=(
            answer_says("names_the_successor", "The answer names who takes over [REF-3]", term(successor.first_name)),
        ),
        tools=("list_incidents", "list_users", "count_incident_for_assignment_group", "find_incident_by_number"),
        mistakes={
            "hands over a retired article": (
                call(
                    "update_knowledge_article",
                    knowledge_id=records.article("Pager groups").knowledge_id,
                    owner_id=successor.user_id,
                ),
            ),
            "gives one to another member": (update_incident(cases[0], assigned_to=others[0].user_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_incident": "USR-3",
            "update_knowledge_article": "ID-4",
            "update_configuration_item": "ID-4",
            "remove_group_membership": "ID-4",
            "update_user_details": "ID-4",
        },
    )


def new_name(world: World) -> Draft:
    """Messages to the old address failed; those about what is still open are sent to the new one."""
    records = CompanyRecords(world, LINES)
    actor, user = records.person("Aroha Tamihana"), records.person("Ngaire Hopa")
    address, note = "ngaire.tuhoe@rimutaka-lines.example", "The caller's name is Ngaire Tuhoe now."
    failed = world.all(Notification, email=user.email, status="failed")
    cases = {case.incident_id: case for case in records.open_incidents(caller_id=user.user_id)}
    again = [message for message in failed if message.incident_id in cases]
    named = user.__class__(user_id=user.user_id, email=address)
    draft = Draft(
        slug="ngaire-hopa-has-a-new-name",
        actor=actor,
        prompt=(
            "Ngaire Hopa is called Ngaire Tuhoe since her wedding. Last name and address change accordingly; her user "
            f"name stays. Note '{note}' in what she has open. Her old address was switched off too early, so some of "
            "our messages to it failed: send those that are about something open again, to the new address, same "
            "text, and delete all that failed to the old one. How many did you send?"
        ),
        plan=(
            "Look up Aroha Tamihana, Ngaire Hopa, and that no user has the new address (USR-1).",
            "List her incidents and keep the open ones; list the notifications to her that failed.",
            "Change last name and address.",
            "Append the note to each open incident.",
            "Send the messages about open incidents again, with type, subject and text, and delete the failed ones.",
        ),
        gold=(
            find_user(actor),
            find_user(user),
            call("list_users", email=address),
            call("list_incidents", called_id=user.user_id),
            call("find_notifications", email=user.email, status="failed"),
            call("update_user_details", user_id=user.user_id, last_name="Tuhoe", email=address),
            *(noted(case, note) for case in cases.values()),
            *(
                notify(
                    cases[message.incident_id], named, message.type or "", message.subject or "", message.message or ""
                )
                for message in again
            ),
            *(call("delete_notifications", notification_id=message.notification_id) for message in failed),
        ),
        answer=f"{len(again)} sent again, {len(failed)} failed ones deleted.",
        verifiers=(answer_says("answer_has_the_number", "The answer says how many [REF-3]", number(len(again))),),
        tools=(
            "get_user_using_email",
            "find_notifications_for_email",
            "update_notification",
            "find_incident_by_number",
        ),
        mistakes={
            "sends one about a closed incident": (
                notify(records.incident("hopa-over"), named, "update", "Your badge", "It is at the front desk."),
            ),
            "notes it in a closed incident": (noted(records.incident("hopa-over"), note),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_user_details": "USR-1",
            "update_incident": "ID-4, INC-10",
            "send_notification": "NTF-1, NTF-2",
            "delete_notifications": "ID-4",
        },
        expect={
            "send_notification": lambda row: {
                "message": next(
                    Has(message.message or "") for message in again if message.incident_id == row.values["incident_id"]
                )
            }
        },
    )


FAMILIES = (new_manager, leaver, new_name)
