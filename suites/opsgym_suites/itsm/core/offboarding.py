"""Tasks about leavers: their work is handed over, and their devices are returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opsgym_api.tasks.answer_patterns import all_of, apart, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ConfigurationItem, Incident, Knowledge, Location, Problem, User
from opsgym_suites.itsm.calls import find_team, find_user, numbers, update_incident
from opsgym_suites.itsm.effects import EFFECTS
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says

OVER = ("resolved", "closed")
PROBLEM_OVER = ("resolved", "closed")
CHANGE_OVER = ("closed", "canceled")


def handovers(world: World) -> Iterator[Draft]:
    """Open incidents of a leaver go to successors; the rest of the hand-over differs."""
    yield _to_one_successor(world)
    yield _by_category(world)
    yield _with_the_team(world)
    yield _with_everything(world)


def _handed_over(cases: Sequence[Incident], successor: Callable[[Incident], User], note: str) -> Iterator[ToolCall]:
    for incident in cases:
        notes = f"{incident.worknotes} {note}" if incident.worknotes else note
        yield update_incident(incident, assigned_to=successor(incident).user_id, worknotes=notes)


def _to_one_successor(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, leaver, successor = map(records.person, ("Beatriz Fontes", "Ravi Menon", "Ebba Nyholm"))
    cases, note = records.open_incidents(assigned_to=leaver.user_id), "Taken over from Ravi Menon."
    done = next(
        incident for incident in world.all(Incident, assigned_to=leaver.user_id) if incident.status == "resolved"
    )
    gold = (
        find_user(actor),
        find_user(leaver),
        find_user(successor),
        call("get_incidents_assigned_to", assigned_to=leaver.user_id),
        *_handed_over(cases, lambda _case: successor, note),
    )
    more = tuple(_other_records(world, leaver, successor, note))
    draft = Draft(
        slug="handover-network-engineer",
        actor=actor,
        prompt=(
            f"Friday was Ravi Menon's last day. Everything of his that is still open is Ebba Nyholm's from now on; "
            f"please move it over and note '{note}' on each of them. Tell me how many there were."
        ),
        plan=(
            "Look up Beatriz Fontes, Ravi Menon and Ebba Nyholm; Ebba is an active agent.",
            "List what is assigned to Ravi; keep what is new, in progress or on hold (USR-3).",
            "Assign each to Ebba and add the note to the notes that are there already.",
            "Say how many they were.",
        ),
        gold=gold,
        answer=f"{len(cases)} incidents are Ebba Nyholm's now: {numbers(cases)}.",
        verifiers=(
            answer_says(
                "answer_has_the_number",
                "The answer says how many they were [REF-3]",
                number(len(cases)),
                number(len(cases) + sum(made.name in EFFECTS.by_tool for made in more)),
            ),
        ),
        tools=("list_incidents", "find_incident_by_number", "list_users", "get_problems_assigned_to"),
        also={"moves open problems and changes too": Solution((*gold, *more))},
        mistakes={"moves finished work too": (update_incident(done, assigned_to=successor.user_id),)},
    )
    rules = {"update_incident": "USR-3", "update_problem": "USR-3", "update_change": "USR-3"}
    return with_verifiers(world, draft, rules=rules, optional=more)


def _other_records(world: World, leaver: User, successor: User, note: str) -> Iterator[ToolCall]:
    """Open problems and changes of a leaver, which the policy does not mention and a request for everything covers."""
    yield call("get_problems_assigned_to", assigned_to=leaver.user_id)
    for problem in world.all(Problem, assigned_to=leaver.user_id):
        if problem.status not in PROBLEM_OVER:
            notes = f"{problem.worknotes} {note}" if problem.worknotes else note
            key = problem.problem_id
            yield call("update_problem", problem_id=key, assigned_to=successor.user_id, worknotes=notes)
    yield call("get_changes_assigned_to", assigned_to=leaver.user_id)
    for change in world.all(Change, assigned_to=leaver.user_id):
        if change.status not in CHANGE_OVER:
            yield call("update_change", change_id=change.change_id, assigned_to=successor.user_id)


def _by_category(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, leaver, networks, data = map(records.person, ("Amara Diallo", "Sana Qureshi", "Yara Haidar", "Lucas Maurel"))
    cases, note = records.open_incidents(assigned_to=leaver.user_id), "Sana has left, see handover list."
    changes = [change for change in world.all(Change, assigned_to=leaver.user_id) if change.status not in CHANGE_OVER]
    draft = Draft(
        slug="handover-by-category",
        actor=actor,
        prompt=(
            "Sana Qureshi is leaving us. Of her open incidents, network ones go to Yara Haidar and all others to "
            f"Lucas Maurel (mind the spelling, please, not his namesake), each with the work note '{note}'. Changes "
            "that she has not closed or canceled become Yara's as well."
        ),
        plan=(
            "Look up Amara Diallo, Sana Qureshi, Yara Haidar and Lucas Maurel.",
            "List Sana's incidents; keep the open ones.",
            "Give each to Yara or Lucas by category, adding the note to what is noted already.",
            "List Sana's changes; assign those that are neither closed nor canceled to Yara, and leave their status.",
        ),
        gold=(
            find_user(actor),
            find_user(leaver),
            find_user(networks),
            find_user(data),
            call("get_incidents_assigned_to", assigned_to=leaver.user_id),
            call("get_changes_assigned_to", assigned_to=leaver.user_id),
            *_handed_over(cases, lambda incident: networks if incident.category == "network" else data, note),
            *(call("update_change", change_id=change.change_id, assigned_to=networks.user_id) for change in changes),
        ),
        answer=(
            f"{len(cases)} incidents are handed over: {numbers(cases)}. Yara Haidar has "
            f"{', '.join(change.number for change in changes)} too."
        ),
        verifiers=(),
        tools=("list_incidents", "list_changes", "update_problem", "list_users"),
        mistakes={
            "gives something to the namesake": (
                update_incident(cases[0], assigned_to=records.person("Lucas Morel").user_id),
            ),
            "moves finished work too": (
                update_incident(
                    next(
                        incident
                        for incident in world.all(Incident, assigned_to=leaver.user_id)
                        if incident.status == "resolved"
                    ),
                    assigned_to=data.user_id,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_incident": "USR-3, LKP-2", "update_change": "CHG-1"})


def _with_the_team(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, leaver, successor = map(records.person, ("Amara Diallo", "Bruno Keller", "Oumar Sarr"))
    team, note = records.team("Workshop Field Team"), "Handed over by Bruno Keller, November."
    cases = records.open_incidents(assigned_to=leaver.user_id)
    draft = Draft(
        slug="handover-with-the-team",
        actor=actor,
        prompt=(
            "Bruno Keller has left the company. Oumar Sarr takes his place in the Workshop Field Team: please make "
            f"him a member, give him Bruno's open incidents with the note '{note}', take Bruno out of the team and "
            "close his account."
        ),
        plan=(
            "Look up Amara Diallo (a manager), Bruno Keller, Oumar Sarr and the team with its members.",
            "Add Oumar to the team.",
            "Assign Bruno's new, in-progress and on-hold incidents to Oumar, adding the note (USR-3).",
            "Remove Bruno from the team and set his account inactive. Everything else of his stays.",
        ),
        gold=(
            find_user(actor),
            find_user(leaver),
            find_user(successor),
            find_team(team),
            call("list_group_members", group_id=team.group_id),
            call("get_incidents_assigned_to", assigned_to=leaver.user_id),
            call("add_new_group_member", group_id=team.group_id, user_id=successor.user_id),
            *_handed_over(cases, lambda _case: successor, note),
            call("remove_group_membership", group_id=team.group_id, user_id=leaver.user_id),
            call("update_user_details", user_id=leaver.user_id, active=False),
        ),
        answer=(
            f"Oumar Sarr is in the {team.name} and has {numbers(cases)}. Bruno Keller is out of it, and his account is "
            "inactive."
        ),
        verifiers=(),
        tools=("list_users", "update_user_group", "list_incidents", "update_configuration_item"),
        mistakes={
            "resolves what Bruno had on hold": (
                update_incident(
                    next(incident for incident in cases if incident.status == "on_hold"), status="resolved"
                ),
            ),
            "moves finished work too": (
                update_incident(
                    next(
                        incident
                        for incident in world.all(Incident, assigned_to=leaver.user_id)
                        if incident.status == "resolved"
                    ),
                    assigned_to=successor.user_id,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_incident": "USR-3",
            "add_new_group_member": "USR-2",
            "remove_group_membership": "ID-4",
            "update_user_details": "ID-3",
        },
    )


def _with_everything(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, leaver, heir = map(records.person, ("Oskar Lindqvist", "Nadia Haddad", "Henrik Solberg"))
    team, note = records.team("Freight Applications"), "Nadia's work, continued by Henrik."
    cases = records.open_incidents(assigned_to=leaver.user_id)
    problems = [row for row in world.all(Problem, assigned_to=leaver.user_id) if row.status not in PROBLEM_OVER]
    changes = [row for row in world.all(Change, assigned_to=leaver.user_id) if row.status not in CHANGE_OVER]
    articles = world.all(Knowledge, owner_id=leaver.user_id)
    devices = world.all(ConfigurationItem, owner_id=leaver.user_id)
    draft = Draft(
        slug="handover-of-everything",
        actor=actor,
        prompt=(
            "Nadia Haddad is gone, and Henrik Solberg inherits everything. He joins Freight Applications and she "
            f"leaves it; her open incidents are his, noted as '{note}', and so are her problems and changes that are "
            "not over. He owns her articles and her devices from now on, except for her laptop, which goes into "
            "stock in my name. Her account is closed at the end. What she finished stays hers. Mind that it is "
            "Henrik, not Henrike."
        ),
        plan=(
            "Look up Oskar Lindqvist (a manager), Nadia Haddad, Henrik Solberg and Freight Applications.",
            "List what Nadia has: incidents, problems, changes, articles, devices.",
            "Add Henrik to the group, take Nadia out of it.",
            "Hand over open incidents with the note (USR-3), and problems and changes that are not over.",
            "Give Henrik the articles and the devices; the laptop goes into stock in Oskar's name.",
            "Set Nadia's account inactive.",
        ),
        gold=(
            find_user(actor),
            find_user(leaver),
            find_user(heir),
            find_team(team),
            call("get_incidents_assigned_to", assigned_to=leaver.user_id),
            call("get_problems_assigned_to", assigned_to=leaver.user_id),
            call("get_changes_assigned_to", assigned_to=leaver.user_id),
            call("retrieve_knowledge_articles", owner_id=leaver.user_id),
            call("find_configuration_items", owner_id=leaver.user_id),
            call("add_new_group_member", group_id=team.group_id, user_id=heir.user_id),
            call("remove_group_membership", group_id=team.group_id, user_id=leaver.user_id),
            *_handed_over(cases, lambda _case: heir, note),
            *(call("update_problem", problem_id=row.problem_id, assigned_to=heir.user_id) for row in problems),
            *(call("update_change", change_id=row.change_id, assigned_to=heir.user_id) for row in changes),
            *(
                call("update_knowledge_article", knowledge_id=page.knowledge_id, owner_id=heir.user_id)
                for page in articles
            ),
            *(
                call(
                    "update_configuration_item",
                    configuration_item_id=item.configuration_item_id,
                    **(
                        {"status": "in_stock", "owner_id": actor.user_id}
                        if item.name.startswith("Laptop")
                        else {"owner_id": heir.user_id}
                    ),
                )
                for item in devices
            ),
            call("update_user_details", user_id=leaver.user_id, active=False),
        ),
        answer=(
            f"Henrik Solberg has {numbers(cases)}, and Nadia's problems, changes, articles and devices; her laptop is "
            "in stock, her account inactive."
        ),
        verifiers=(),
        tools=("list_users", "list_incidents", "list_problems", "list_changes"),
        mistakes={
            "gives something to Henrike": (
                update_incident(cases[0], assigned_to=records.person("Henrike Solberg").user_id),
            ),
            "moves finished work too": (
                update_incident(
                    next(
                        incident
                        for incident in world.all(Incident, assigned_to=leaver.user_id)
                        if incident.status == "resolved"
                    ),
                    assigned_to=heir.user_id,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_group_member": "USR-2",
            "remove_group_membership": "USR-2",
            "update_incident": "USR-3, LKP-2",
            "update_problem": "ID-4",
            "update_change": "CHG-1",
            "update_knowledge_article": "ID-3",
            "update_configuration_item": "ID-3",
            "update_user_details": "ID-3",
        },
    )


def returned_devices(world: World) -> Iterator[Draft]:
    """Laptops of people whose accounts are inactive come back."""
    yield _returned_to_stock(world)
    yield _returned_by_value(world)


def _gone(records: CompanyRecords) -> list[tuple[User, ConfigurationItem]]:
    """Leavers of the company with the laptop that is still in use in their name."""
    people = records.world.all(User, org_id=records.org_id, active=False)
    return [
        (user, item)
        for user in people
        for item in records.world.all(ConfigurationItem, owner_id=user.user_id, status="in_use")
    ]


def _devices_listed(people: Sequence[User]) -> Iterator[ToolCall]:
    for user in people:
        yield call("find_configuration_items", owner_id=user.user_id)


def _returned_to_stock(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, keeper, place = (
        records.person("Maren Toft"),
        records.person("Signe Aaberg"),
        records.named(Location, "Inland Depot"),
    )
    gone = _gone(records)
    draft = Draft(
        slug="leavers-laptops-to-stock",
        actor=actor,
        prompt=(
            "Audit found devices in use in the names of people who have left. Please go through everybody of ours "
            "whose account is inactive: what they still have in use belongs into the stock at the Inland Depot, with "
            "Signe Aaberg as owner. I need to know how many devices it was."
        ),
        plan=(
            "Look up Maren Toft and Signe Aaberg, and find the Inland Depot.",
            "List inactive users; keep those of Halden Freight (ID-2).",
            "List the devices of each of them; keep those in use.",
            "Set each to in_stock, at the depot, with Signe as owner; say how many they were.",
        ),
        gold=(
            find_user(actor),
            find_user(keeper),
            call("find_location_by_given_name", name=place.name),
            call("list_users", active="false"),
            *_devices_listed([user for user, _item in gone]),
            *(
                call(
                    "update_configuration_item",
                    configuration_item_id=item.configuration_item_id,
                    status="in_stock",
                    owner_id=keeper.user_id,
                    location_id=place.location_id,
                )
                for _user, item in gone
            ),
        ),
        answer=f"{len(gone)} devices are in stock at the Inland Depot now, with Signe Aaberg as owner.",
        verifiers=(answer_says("answer_has_the_number", "The answer says how many [REF-3]", number(len(gone))),),
        tools=("find_locations", "register_configuration_item", "update_user_details", "get_user"),
        mistakes={
            "takes a laptop of the other company": (
                call(
                    "update_configuration_item",
                    configuration_item_id=_gone(CompanyRecords(world, "Mirelle Botanics"))[0][1].configuration_item_id,
                    status="in_stock",
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_configuration_item": "ID-2, ID-4"})


def _returned_by_value(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, place = records.person("Camille Roche"), records.named(Location, "City Studio")
    gone, limit = _gone(records), 1500
    worth = [item for _user, item in gone if (item.cost or 0) >= limit]
    old = [item for _user, item in gone if (item.cost or 0) < limit]
    draft = Draft(
        slug="leavers-laptops-by-value",
        actor=actor,
        prompt=(
            "Some laptops are still in use by accounts that are inactive. What cost 1500 or more goes into stock "
            "at the City Studio in my name, what was cheaper is retired and stays where it is. Only ours, of course."
        ),
        plan=(
            "Look up Camille Roche and find the City Studio.",
            "List inactive users; keep those of Mirelle Botanics (ID-2).",
            "List the devices of each; keep those in use and look at what they cost.",
            "Put the dearer ones into stock at the studio in Camille's name; retire the cheaper ones.",
        ),
        gold=(
            find_user(actor),
            call("find_location_by_given_name", name=place.name),
            call("list_users", active="false"),
            *_devices_listed([user for user, _item in gone]),
            *(
                call(
                    "update_configuration_item",
                    configuration_item_id=item.configuration_item_id,
                    status="in_stock",
                    owner_id=actor.user_id,
                    location_id=place.location_id,
                )
                for item in worth
            ),
            *(
                call("update_configuration_item", configuration_item_id=item.configuration_item_id, status="retired")
                for item in old
            ),
        ),
        answer=f"{len(worth)} laptops are in stock at the City Studio, {len(old)} are retired.",
        verifiers=(
            answer_says(
                "answer_has_both_numbers",
                "The answer says how many [REF-3]",
                all_of(apart((number(len(worth)), "in stock|stock"), (number(len(old)), "retired"))),
            ),
        ),
        tools=("find_locations", "find_configuration_item_by_serial_number", "get_user"),
        mistakes={
            "takes over a retired laptop": (
                call(
                    "update_configuration_item",
                    configuration_item_id=old[0].configuration_item_id,
                    owner_id=actor.user_id,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_configuration_item": "ID-2, ID-4"})
