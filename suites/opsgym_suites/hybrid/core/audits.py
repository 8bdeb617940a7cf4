"""What two systems have otherwise of one person: found, and fixed where the request says and the policy allows."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ConfigurationItem, Location
from opsgym_suites.calendar.calls import LIST, all_day, find_person, on
from opsgym_suites.csm import calls as service
from opsgym_suites.hr import calls as hr
from opsgym_suites.hybrid.cast import DOMAIN
from opsgym_suites.hybrid.core.calendars import busy
from opsgym_suites.hybrid.servers import CALENDAR, CSM, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import Systems
from opsgym_suites.itsm import calls as desk
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name, on_gym
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import answer_says


def audits(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about what disagrees."""
    systems = Systems(worlds)
    yield _sites(systems)
    yield _old_addresses(systems)
    yield _three_accounts(systems)
    yield _former_name(systems)
    yield _callers_away(systems)
    yield _cover(systems)
    yield _two_brams(systems)


def _sites(systems: Systems) -> Draft:
    """The zone of the calendars shows where people sit; devices other than laptops stay where they stand."""
    names = ("Ruben Castellan", "Yolanda Reyes", "Horatio Beale", "Ingram Tully")
    place = systems.desk.named(Location, "Fenmoor Americas")
    moved = [name for name in names if systems.at_desk(name).location_id != place.location_id]
    owners = [systems.at_desk(name).user_id for name in moved]
    actors = systems.actors("Mirabel Stone", ITSM, CALENDAR)
    looked = (
        *on_gym(
            ITSM.gym,
            desk.find_user(systems.at_desk("Mirabel Stone")),
            *(desk.find_user(systems.at_desk(name)) for name in names),
            call("find_locations"),
        ),
        *on_gym(CALENDAR.gym, *(find_person(systems.colleague(name).user) for name in names)),
        *on_gym(ITSM.gym, *(call("find_configuration_items", owner_id=owner) for owner in owners)),
    )
    accounts = on_gym(
        ITSM.gym,
        *(
            call("update_user_details", user_id=systems.at_desk(name).user_id, location_id=place.location_id)
            for name in moved
        ),
    )
    laptops = on_gym(
        ITSM.gym,
        *(
            call(
                "update_configuration_item",
                configuration_item_id=systems.laptop(name).configuration_item_id,
                location_id=place.location_id,
            )
            for name in moved
        ),
    )
    gateway = systems.desk.named(ConfigurationItem, "Telemetry Gateway")
    answer = f"{' and '.join(moved)} were still in London; their accounts and laptops are at Fenmoor Americas now."
    draft = Draft(
        slug="where-they-really-sit",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "Ruben Castellan, Yolanda Reyes, Horatio Beale and Ingram Tully: I am not sure that the desk has all of "
            "them at the site where they are. Their calendars run on the clock of the place where they really sit. "
            "Where the desk says otherwise, set the account to our site in that city, and the laptop as well. Whose "
            "entries were wrong?"
        ),
        plan=(
            "Read the four accounts and the locations at the desk, and the zones in the calendars.",
            "For those who differ list their devices.",
            "Change the location of the account and of the laptop, of no other device.",
        ),
        gold=(*looked, *accounts, *laptops),
        answer=answer,
        verifiers=(answer_says("names_them", "The answer names both [REF-3]", all_of(term(name) for name in moved)),),
        tools=("list_users", "get_location_by_id", "update_location", "get_calendar_list"),
        mistakes={
            "moves the gateway too": on_gym(
                ITSM.gym,
                call(
                    "update_configuration_item",
                    configuration_item_id=gateway.configuration_item_id,
                    location_id=place.location_id,
                ),
            ),
        },
        negative_trajectories={
            "leaves the laptops": NegativeTrajectory((*looked, *accounts), answer),
            "fixes one only": NegativeTrajectory((*looked, accounts[0], laptops[0]), answer),
        },
    )
    rules = {ITSM.gym: {"update_user_details": "LKP-1", "update_configuration_item": "ID-4"}}
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=rules)


def _old_addresses(systems: Systems) -> Draft:
    """Two accounts have the address of the former firm; one of the people is away, and waits."""
    away, here = "Kirra Dawe", "Emrys Vaughan"
    actors = systems.actors("Osric Bellamy", ITSM, CALENDAR)
    fixed = on_gym(
        ITSM.gym,
        call("update_user_details", user_id=systems.at_desk(here).user_id, email=f"emrys.vaughan@{DOMAIN}"),
    )
    both = on_gym(
        ITSM.gym,
        call("update_user_details", user_id=systems.at_desk(away).user_id, email=f"kirra.dawe@{DOMAIN}"),
    )
    looked = (
        *on_gym(ITSM.gym, desk.find_user(systems.at_desk("Osric Bellamy")), call("list_users", active="true")),
        *on_gym(CALENDAR.gym, *(find_person(systems.colleague(name).user) for name in (away, here)), LIST),
        busy([systems.own(away), systems.own(here)], on("11-16").date(), on("11-20").date()),
        *on_gym(
            ITSM.gym,
            call("list_users", email=f"emrys.vaughan@{DOMAIN}"),
            call("get_incidents_assigned_to", assigned_to=systems.at_desk(here).user_id),
        ),
    )
    answer = (
        f"Emrys Vaughan has emrys.vaughan@{DOMAIN} now. Kirra Dawe is away until 18 November and keeps the old address."
    )
    draft = Draft(
        slug="addresses-of-ridgewater",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "The mail domain ridgewater.example is switched off tonight. Which accounts at the desk still have an "
            "address there? Each gets the address under which the same person is in the calendars. Not those who are "
            "out of the office today, though: a changed address locks people out until they confirm it at their desk, "
            "so they keep theirs and I call them. Nor a person with incidents of their own in work. Who was changed, "
            "and whom must I call?"
        ),
        plan=(
            "List the accounts with such an address; find the same people in the calendars.",
            "Ask for their busy times: one is away all day; check that the new address is free.",
            "Change the address of the one who is in the office.",
        ),
        gold=(*looked, *fixed),
        answer=answer,
        verifiers=(
            answer_says("names_both", "The answer names both [REF-3]", all_of([term("Vaughan"), term("Dawe")])),
        ),
        tools=("get_user_using_email", "get_user_using_name", "list_events"),
        mistakes={"changes who is away": both},
        negative_trajectories={
            "changes both": NegativeTrajectory((*looked, *fixed, *both), answer),
            "changes the wrong one": NegativeTrajectory((*looked, *both), answer),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={ITSM.gym: {"update_user_details": "USR-1"}})


def _three_accounts(systems: Systems) -> Draft:
    """Of three accounts in customer service HR confirms one, contradicts one that is closed, and one that is open."""
    thora, philippa, lorne = (systems.at_customers(name) for name in ("Thora Vance", "Philippa Gow", "Lorne Fitch"))
    team = systems.customers.world.group("Contracts Office")
    actors = systems.actors("Isolde Wray", CSM, HR)
    looked = (
        *on_gym(CSM.gym, service.find_user(systems.at_customers("Isolde Wray"))),
        *on_gym(CSM.gym, *map(service.find_user, (thora, philippa, lorne))),
        *on_gym(
            HR.gym,
            *(hr.find_user(systems.in_hr(name)) for name in ("Thora Vance", "Philippa Gow", "Lorne Fitch")),
        ),
        *on_gym(
            CSM.gym,
            *(call("get_cases_assigned_to", assigned_to=user.user_id) for user in (philippa, lorne)),
            call("list_user_groups"),
            call("list_group_members", group_id=team.group_id),
        ),
    )
    opened = on_gym(CSM.gym, call("update_user_details", user_id=thora.user_id, active=True))
    left = on_gym(CSM.gym, call("remove_group_membership", group_id=team.group_id, user_id=philippa.user_id))
    closed = on_gym(CSM.gym, call("update_user_details", user_id=philippa.user_id, active=False))
    answer = "Thora Vance can work again; Philippa Gow has left, is out of her group and closed; Lorne Fitch was right."
    draft = Draft(
        slug="three-accounts-against-hr",
        actor=actors[CSM.gym],
        actors=actors,
        prompt=(
            "Audit tomorrow! Thora Vance, Philippa Gow, Lorne Fitch: are their accounts in customer service as they "
            "should be? HR is right about who still works here. Those who do must be able to log in; one who does not "
            "must be gone from here the way our rules say, open cases to Ezra Colby if there are any. Don't touch what "
            "is fine already. Tell me what was the matter with each of the three."
        ),
        plan=(
            "Look up the three in both systems; look at the cases and groups of those who have left.",
            "Activate the one who is employed; take the other out of the group and deactivate her (CSM-ACC-5).",
            "Leave the third account, which is closed already.",
        ),
        gold=(*looked, *opened, *left, *closed),
        answer=answer,
        verifiers=(
            answer_says(
                "names_all_three", "The answer names all three [REF-3]", all_of(map(term, ("Vance", "Gow", "Fitch")))
            ),
        ),
        tools=("update_case", "add_new_group_member", "list_users", "assign_case_to_user"),
        evidence=(systems.in_hr("Lorne Fitch"), systems.in_hr("Thora Vance")),
        mistakes={
            "puts her into a group": on_gym(
                CSM.gym, call("add_new_group_member", group_id=team.group_id, user_id=thora.user_id)
            ),
            "opens the third account": on_gym(
                CSM.gym, call("update_user_details", user_id=lorne.user_id, active=True)
            ),
        },
        negative_trajectories={
            "keeps the membership": NegativeTrajectory((*looked, *opened, *closed), answer),
            "only closes": NegativeTrajectory((*looked, *left, *closed), answer),
        },
    )  # fmt: skip
    rules = {CSM.gym: {"update_user_details": "ACC-5", "remove_group_membership": "ACC-5"}}
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=rules)


def _former_name(systems: Systems) -> Draft:
    """Members of a team by their names in HR; one of them has a name and an address from before a wedding."""
    world, team = systems.customers.world, systems.customers.world.group("Telemetry Desk")
    members = systems.customers.members(team)
    wrong = systems.at_customers("Keziah Monroe")
    boss = systems.in_hr("Tobiah Mercer")
    actors = systems.actors("Tobiah Mercer", CSM, HR)
    looked = (
        *on_gym(
            CSM.gym,
            service.find_user(systems.at_customers("Tobiah Mercer")),
            service.find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("list_users", user_id=user.user_id) for user in members),
        ),
        *on_gym(
            HR.gym,
            hr.find_user(boss),
            hr.read_profile(boss),
            call("fetch_hr_profiles", manager=str(systems.hr.profile(boss).hr_profile_id)),
            hr.read_user(systems.in_hr("Keziah Monroe")),
        ),
        *on_gym(CSM.gym, call("list_users", email=f"keziah.monroe@{DOMAIN}")),
    )
    fixed = on_gym(
        CSM.gym,
        call(
            "update_user_details",
            user_id=wrong.user_id,
            last_name="Monroe",
            email=f"keziah.monroe@{DOMAIN}",
        ),
    )
    halloway = world.user("Bram Halloway")
    answer = f"Keziah Lund is Keziah Monroe now, with keziah.monroe@{DOMAIN}; the others in Telemetry Desk were right."
    draft = Draft(
        slug="one-name-in-telemetry",
        actor=actors[CSM.gym],
        actors=actors,
        prompt=(
            "One member of our Telemetry Desk married and reports to me, not to Venetia. HR knows the new family name, "
            "customer service still runs on the old one; the given name is the same, and none of my other people share "
            "it. Correct that account, both the name and the address, to what HR has. If the address is taken here, "
            "stop. No one else's account, however wrong. What was the name before, and what is it now?"
        ),
        plan=(
            "Read the members of the team in customer service, and the acting user's people in HR.",
            "Find the one who agrees in the given name only; check that the address is free.",
            "Change name and address of the account.",
        ),
        gold=(*looked, *fixed),
        answer=answer,
        verifiers=(
            answer_says("has_both_names", "The answer has both names [REF-3]", all_of([term("Lund"), term("Monroe")])),
        ),
        tools=("find_user", "update_hr_profile", "update_contact", "find_user_by_email"),
        evidence=(systems.hr.profile("Keziah Monroe"),),
        mistakes={
            "fixes another address": on_gym(
                CSM.gym,
                call("update_user_details", user_id=halloway.user_id, email=f"bram.halloway@{DOMAIN}"),
            ),
        },
        negative_trajectories={
            "leaves the address": NegativeTrajectory(
                (
                    *looked,
                    *on_gym(CSM.gym, call("update_user_details", user_id=wrong.user_id, last_name="Monroe")),
                ),
                answer,
            ),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={CSM.gym: {"update_user_details": "LKP-1"}})


def _callers_away(systems: Systems) -> Draft:
    """Of a technician's incidents, the one whose caller is on leave is put on hold; the others go on."""
    assignee = systems.at_desk("Piotr Zielin")
    cases = systems.desk.open_incidents(assigned_to=assignee.user_id)
    held = systems.desk.incident("order-prices")
    others = [row for row in cases if row is not held]
    callers = [systems.desk.caller(row) for row in cases]
    calendars = [systems.own(full_name(user)) for user in callers]
    actors = systems.actors("Sunniva Hale", ITSM, CALENDAR)
    looked = (
        *on_gym(
            ITSM.gym,
            desk.find_user(systems.at_desk("Sunniva Hale")),
            desk.find_user(assignee),
            call("get_incidents_assigned_to", assigned_to=assignee.user_id),
            *(call("get_user", user_id=user.user_id) for user in callers),
        ),
        *on_gym(CALENDAR.gym, LIST),
        busy(calendars, on("11-16").date(), on("11-20").date()),
    )
    hold = desk.update_incident(held, status="on_hold", on_hold_reason="Awaiting Caller")
    caller = systems.desk.caller(held)
    informed = desk.notify(held, caller, "update", f"{held.number} is on hold", "It waits for your answer.")
    answer = f"{held.number} is on hold: Giselle Amato is away all week. The callers of the other incidents are here."
    draft = Draft(
        slug="callers-who-are-away",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "Piotr Zielin wonders why no one answers him. Look at the incidents he has in work: if the caller is out "
            "of the office on every day from Monday 16 to Friday 20 November by the calendar, the incident waits for "
            "that caller; do what belongs to that. Single meetings do not count as absence. Leave the rest as it is. "
            "Which ones wait now, and for whom?"
        ),
        plan=(
            "List his incidents and read their callers.",
            "Ask for the busy times of the callers in this week.",
            "Put the one on hold with its reason, and tell the caller (ITSM-INC-6).",
        ),
        gold=(*looked, *on_gym(ITSM.gym, hold, informed)),
        answer=answer,
        verifiers=(
            answer_says(
                "names_both", "The answer names the incident and the caller [REF-3]",
                all_of([held.number, term("Amato")]),
            ),
        ),
        tools=("list_incidents", "find_incident_by_number", "get_user_by_email", "update_problem"),
        evidence=tuple(others),
        mistakes={
            "puts another one on hold": on_gym(
                ITSM.gym, desk.update_incident(others[0], status="on_hold", on_hold_reason="Awaiting Caller")
            ),
            "tells another caller": on_gym(
                ITSM.gym,
                desk.notify(others[0], callers[0], "update", f"{others[0].number} goes on", "It is in work."),
            ),
        },
        negative_trajectories={
            "tells nobody": NegativeTrajectory((*looked, *on_gym(ITSM.gym, hold)), answer),
        },
    )  # fmt: skip
    rules = {ITSM.gym: {"update_incident": "INC-6", "send_notification": "INC-6, NTF-3"}}
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=rules)


def _cover(systems: Systems) -> Draft:
    """A case of an agent who will be on leave goes to a colleague; another is about the only one who could take it."""
    name = "Casper Onslow"
    cases = [row for row in systems.hr.open_cases(systems.in_hr(name)) if row.priority == "high"]
    teams = [systems.hr.team_of(row) for row in cases]
    candidates = ("Aurelio Banks", "Delia Fairbanks", "Hamish Corrie")
    actors = systems.actors("Aurelio Banks", HR, CALENDAR)
    looked = (
        *on_gym(
            HR.gym,
            hr.find_user(systems.in_hr("Aurelio Banks")),
            call("list_hr_cases", assigned_to=name, priority="high"),
            *(one for team in teams for one in (hr.find_team(team), hr.members_of(team))),
            *(hr.read_user(systems.in_hr(one)) for one in candidates[1:]),
            *(hr.skills_of(systems.in_hr(one)) for one in candidates),
        ),
        *on_gym(CALENDAR.gym, LIST),
    )
    own, leave = cases
    assert systems.hr.person_of(own).last_name == "Fairbanks", "it is about who could take it"
    assert _skill(systems, leave.skills) == "Absence", "Hamish Corrie has the skill"
    given = on_gym(HR.gym, hr.update_case(leave, assigned_to="Hamish Corrie"))
    third = next(row for row in systems.hr.open_cases(systems.in_hr(name)) if row.priority == "moderate")
    diary = systems.own("Aurelio Banks")

    def entered(day: str) -> tuple[ToolCall, ...]:
        return on_gym(CALENDAR.gym, all_day(diary, "Cover for Casper", on(day).date(), "Europe/London"))

    answer = (
        f"{leave.number} is with Hamish Corrie. {own.number} stays with Casper Onslow, as it is about Delia Fairbanks "
        "herself, and no one else of its group may take it."
    )
    draft = Draft(
        slug="while-casper-is-away",
        actor=actors[HR.gym],
        actors=actors,
        prompt=(
            "Casper Onslow is on leave from 23 to 27 November. Of what is assigned to him and not finished, the "
            "things at high cannot wait for that. Each goes to another member of its own group who has the skill and "
            "may have it; I am busy with the budget, so not to me. Where there is no such colleague, leave it with "
            "him. Only the assignee changes. And enter 'Cover for Casper' into my own calendar, all day on Monday 23 "
            "November. Who has what now?"
        ),
        plan=(
            "List his open cases with priority high, the members of their groups and their skills.",
            "Enter the day into the acting user's own calendar.",
            "Assign the one to who fits (HR-CAS-4, HR-CAS-6); the other is about its only candidate (HR-CAS-5).",
        ),
        gold=(*looked, *given, *entered("11-23")),
        answer=answer,
        verifiers=(
            answer_says(
                "says_who_has_what", "The answer has each case and its assignee [REF-3]",
                all_of([leave.number, term("Hamish Corrie"), own.number, r"\b(stays?|remains?|kept|casper|onslow)\b"]),
            ),
        ),
        tools=("list_skills", "list_assignment_rules", "update_hr_case_task", "get_cases_assigned_to"),
        mistakes={
            "gives away what can wait": on_gym(HR.gym, hr.update_case(third, assigned_to="Hamish Corrie")),
            "gives all to one": on_gym(HR.gym, hr.update_case(own, assigned_to="Hamish Corrie")),
            "gives her what is about herself": on_gym(HR.gym, hr.update_case(own, assigned_to="Delia Fairbanks")),
        },
        negative_trajectories={
            "gives nothing away": NegativeTrajectory((*looked, *entered("11-23")), answer),
            "enters another day": NegativeTrajectory((*looked, *given, *entered("11-24")), answer),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={HR.gym: {"update_hr_case": "CAS-4, CAS-6"}})


def _skill(systems: Systems, stored: str | None) -> str:
    """The only skill that a case requires."""
    names = {f"[{systems.hr.skill(name).skill_id}]": name for name in ("Joiners", "Absence")}
    return names[str(stored)]


def _two_brams(systems: Systems) -> Draft:
    """Two people of nearly one name: the desk's caller is one of them, and his cases get a note of the outage."""
    incident = systems.desk.open_incidents(short_description="Wireless drops in the test hall (Fenmoor Pacific)")[0]
    caller = systems.desk.caller(incident)
    assert caller.last_name == "Halloway", "the caller is the namesake whose case moves"
    bram, other = systems.at_customers("Bram Halloway"), systems.at_customers("Bram Hallowell")
    cases = [row for row in systems.customers.open_cases(assigned_to=bram.user_id) if row.priority == "high"]
    wrong = systems.customers.open_cases(assigned_to=other.user_id)[0]
    heir = systems.at_customers("Odalys Pinto")
    team = systems.customers.group_of(cases[0])
    actors = systems.actors("Tobiah Mercer", CSM, ITSM)
    members = systems.customers.members(team)
    looked = (
        *on_gym(ITSM.gym, desk.find_incident(incident), call("get_user", user_id=caller.user_id)),
        *on_gym(
            CSM.gym,
            service.find_user(systems.at_customers("Tobiah Mercer")),
            service.find_user(bram),
            call("get_cases_assigned_to", assigned_to=bram.user_id),
            service.find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("list_users", user_id=user.user_id) for user in members),
        ),
        *on_gym(CSM.gym, call("find_locations")),
    )
    moved = on_gym(CSM.gym, *(service.update_case(row, assigned_to=heir.user_id) for row in cases))
    answer = f"Bram Halloway reported it; {service.numbers(cases)} is with Odalys Pinto now."
    draft = Draft(
        slug="which-bram-is-it",
        actor=actors[CSM.gym],
        actors=actors,
        prompt=(
            f"{incident.number} of IT keeps its caller from working. Find out in customer service what he has open at "
            "high and give it to the colleague of the same group who sits in New York; I am not that one. Everything "
            "else of his can wait. Which case is it, and who was the caller?"
        ),
        plan=(
            "Read the incident and its caller; find the same person in customer service, and the cases there.",
            "Read the members of the group and where they sit.",
            "Assign what has priority high to the member in New York (CSM-CAS-5).",
        ),
        gold=(*looked, *moved),
        answer=answer,
        verifiers=(
            answer_says(
                "names_case_and_caller", "The answer names the case and the caller [REF-3]",
                all_of([*(row.number for row in cases), term("Halloway")]),
            ),
        ),
        tools=("update_user_details", "search_cases", "find_user_by_email", "assign_case_to_user"),
        evidence=(incident, caller),
        mistakes={
            "moves the namesake's": on_gym(CSM.gym, service.update_case(wrong, priority="moderate")),
        },
        negative_trajectories={
            "gives it to London": NegativeTrajectory(
                (
                    *looked,
                    *on_gym(
                        CSM.gym,
                        *(
                            service.update_case(row, assigned_to=systems.at_customers("Cyril Nott").user_id)
                            for row in cases
                        ),
                    ),
                ),
                answer,
            ),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={CSM.gym: {"update_case": "CAS-5"}})
