"""Who comes instead: places that one system still gives to people who are away or gone, and places that no one may get.

Invariant: what a task asks for is done in all systems, or in none of them where one forbids its part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.hr.tables import AssignmentRule, Checklist
from opsgym_domains.itsm.tables import Location
from opsgym_domains.itsm.tables import User as DeskUser
from opsgym_domains.teams.tables import User as TeamsUser
from opsgym_suites.calendar.calls import LIST, all_day, on
from opsgym_suites.email.calls import answer, end_delegate, read_thread, search, with_mailbox
from opsgym_suites.hr.calls import (
    find_user,
    items_of,
    read_subject,
    read_user,
    rules_for,
    tasks_of,
    tick,
    update_task,
)
from opsgym_suites.hybrid.cast import DOMAIN
from opsgym_suites.hybrid.core.jobs import Job, in_calendar, in_hr, in_itsm, in_mail, in_teams, written
from opsgym_suites.hybrid.core.people import employment_by_case, people_of, seat
from opsgym_suites.hybrid.servers import CALENDAR, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.hybrid.systems import Systems, listed
from opsgym_suites.itsm.calls import find_team as find_group
from opsgym_suites.itsm.calls import find_user as find_at_desk
from opsgym_suites.itsm.calls import update_incident
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import count
from opsgym_suites.teams.calls import (
    channels_of,
    create_user,
    join,
    key_of_result,
    leave,
    post,
    posts_of,
)


def replacements(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about places of people who are away or gone, and of those who replace them."""
    systems = Systems(worlds)
    for scene in (_growing_list, _fitter, _no_new_cases):
        for job in scene(systems):
            yield written(systems, job)


# --- a list that grows -----------------------------------------------------------------------------------------------


def _growing_list(systems: Systems) -> Iterator[Job]:
    """HR adds an item as soon as the account at the desk is closed."""
    gone = "Dorothea Blum"
    case, account, teams = systems.hr.case("leaver-blum"), systems.at_desk(gone), systems.teams
    (task,) = systems.hr.tasks(case)
    item = next(one for one in systems.hr.items(task) if not one.checked)
    team = teams.team("Major Incidents")
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.hr)
    changes.add(
        Checklist(
            checklist_item_description="Take her out of the team Major Incidents", checked=False,
            case_task_id=task.hr_case_task_id, org_id=item.org_id,
        )
    )  # fmt: skip
    new = changes.after.all(Checklist)[-1]
    closed_there = f"SELECT ({count(DeskUser, user_id=account.user_id, active=False)}) = 1"
    looked = (
        *in_itsm(find_at_desk(systems.at_desk("Sunniva Hale")), find_at_desk(account)),
        *in_hr(call("list_hr_cases", opened_for=gone), read_subject(case), tasks_of(case), items_of(task)),
    )
    closed = in_itsm(call("update_user_details", user_id=account.user_id, active=False))
    ticked = in_hr(tick(item))
    again = (*in_hr(items_of(task)), *in_teams(*people_of(team)))
    out = in_teams(leave(team, seat(systems, team, gone)))
    finished = in_hr(tick(new), update_task(task, status="closed_complete"))
    end = f"{task.number} is complete: the account at the desk is closed, and she is out of Major Incidents."
    yield Job(
        "a-list-that-grows",
        "Sunniva Hale",
        (ITSM, HR, TEAMS),
        "Casper's list for Dorothea Blum's offboarding in HR is still open because of us. Make sure that her last day "
        "is over, then work off what is not ticked there: do it where it has to be done, and tick it. He adds things "
        "as soon as he sees that an account is closed, so look at the list again before you call it finished, and go "
        "on until nothing is open. Then, and only then, the task is complete. Leave the case to him. What was on the "
        "list that I did not know of?",
        (
            "Read her account, the case, her profile, the task and its items.",
            "Close the account at the desk and tick the item; read the list again.",
            "Do what is new, tick it, and complete the task (HR-TSK-4).",
        ),
        (*looked, *closed, *ticked, *again, *out, *finished),
        end,
        (term("Major Incidents"),),
        ("update_hr_case", "create_checklist", "update_configuration_item", "update_team_member"),
        {
            "closes the case": in_hr(call("update_hr_case", hr_case_id=str(case.hr_case_id), status="suspended")),
            "takes her out of another team": in_teams(
                leave(teams.team("PumpWatch"), seat(systems, teams.team("PumpWatch"), gone))
            ),
        },
        {
            "does not look again": (
                (*looked, *closed, *ticked, *in_hr(update_task(task, status="closed_complete"))), "All done."
            ),
            "ticks without doing it": ((*looked, *closed, *ticked, *again, *finished), end),
        },
        changes={HR.gym: changes},
        happenings=(event_on(HR.gym, changes.happens_when(closed_there), when=ITSM.gym),),
        evidence=(systems.hr.profile(gone),),
    )  # fmt: skip


# --- a fitter --------------------------------------------------------------------------------------------------------


def _fitter(systems: Systems) -> Iterator[Job]:
    """A new technician gets accounts, and what the one who left still has at the desk."""
    gone, name, first, last = "Sefton Grady", "Leopold Varga", "Leopold", "Varga"
    teams, desk = systems.teams, systems.desk
    team, group = teams.team("Site Technicians"), desk.team("Site Technicians")
    place = desk.named(Location, "Fenmoor House")
    user_id, laptop = desk.world.next_id(DeskUser), systems.laptop(gone)
    open_ones = [desk.incident(key) for key in ("grady-laptop", "grady-printer")]
    looked = (
        *in_teams(*people_of(team), channels_of(team), posts_of(teams.room("Site Technicians:General"))),
        *in_itsm(
            find_at_desk(systems.at_desk("Osric Bellamy")),
            find_group(group),
            call("list_group_members", group_id=group.group_id),
            find_at_desk(systems.at_desk(gone)),
            call("list_users", email=f"leopold.varga@{DOMAIN}"),
            call("find_location_by_given_name", name=place.name),
            call("find_configuration_items", owner_id=systems.at_desk(gone).user_id),
            call("get_incidents_assigned_to", assigned_to=systems.at_desk(gone).user_id),
        ),
        *employment_by_case(systems, gone),
    )
    made = create_user(DOMAIN, name, "IT Support", "IT")
    member = TeamsUser(user_id=key_of_result(made, 0))
    in_the_team = in_teams(made, join(team, member))
    at_the_desk = in_itsm(
        call(
            "add_new_user", first_name=first, last_name=last, email=f"leopold.varga@{DOMAIN}",
            phone="+44-020-555-7719", role="agent", active=True, location_id=place.location_id,
        ),
        call("add_new_group_member", group_id=group.group_id, user_id=user_id),
        call("update_configuration_item", configuration_item_id=laptop.configuration_item_id, owner_id=user_id),
    )  # fmt: skip
    note = "Taken over from Sefton Grady."
    taken = in_itsm(
        *(
            update_incident(row, assigned_to=user_id, worknotes="\n".join(filter(None, (row.worknotes, note))))
            for row in open_ones
        )
    )
    posted = in_teams(post(teams.room("Site Technicians:General"), "Leopold Varga is your new fitter."))
    end = f"Leopold Varga has both accounts, {listed([laptop.serial_number, *(row.number for row in open_ones)])}."
    yield Job(
        "fitter-whom-yolanda-waits-for",
        "Osric Bellamy",
        (ITSM, TEAMS, HR),
        "Yolanda's fitter is here: Leopold Varga, IT Support in the department IT, at Fenmoor House, phone "
        "+44-020-555-7719, an agent at the desk. He needs an account there and one in Teams, with the usual address "
        "(the password is yours to choose, he changes it when he signs in), and belongs to the Site Technicians in "
        "both systems. He replaces the one of them whose employment is over by HR: that one's laptop is his from now "
        "on, and every open incident of that person becomes his with the work note 'Taken over from Sefton Grady.' "
        "below those that are there. The old account stays as it is. Tell the technicians in their General channel by "
        "name who is new. Serial number and incidents, please.",
        (
            "Read team and group, check the address, and read the account and the profile of the one who left.",
            "Create both accounts with their memberships (ITSM-USR-1, ITSM-USR-2, TEAMS-TEA-2).",
            "Hand over the laptop and the open incidents (ITSM-USR-3), and post in the channel.",
        ),
        (*looked, *in_the_team, *at_the_desk, *taken, *posted),
        end,
        (term(str(laptop.serial_number)), *(row.number for row in open_ones)),
        ("update_user_details", "update_team_member", "get_user_using_email", "find_locations"),
        {
            "closes the old account": in_itsm(
                call("update_user_details", user_id=systems.at_desk(gone).user_id, active=False)
            ),
            "takes him out of the team": in_teams(leave(team, seat(systems, team, gone))),
        },
        {
            "forgets one incident": ((*looked, *in_the_team, *at_the_desk, taken[0], *posted), end),
            "forgets the group": (
                (*looked, *in_the_team, at_the_desk[0], at_the_desk[2], *taken, *posted), end
            ),
        },
        evidence=(systems.hr.profile(gone),),
        in_posts={"fitter": (r"\b(leopold|varga)\b",)},
    )  # fmt: skip


# --- no new cases ----------------------------------------------------------------------------------------------------


def _no_new_cases(systems: Systems) -> Iterator[Job]:
    """Rules of assignment leave out an agent who goes on leave."""
    name = "Casper Onslow"
    mail, teams, world = systems.mail, systems.teams, systems.hr
    aurelio, casper = mail.mailbox("Aurelio Banks"), systems.in_hr(name)
    rules = [world.one(AssignmentRule, name=one) for one in ("Joiners", "Leave")]
    heirs = ("Delia Fairbanks", "Hamish Corrie")
    others = {rule: systems.in_hr(heir) for rule, heir in zip(("Joiners", "Leave"), heirs, strict=True)}
    diary = systems.calendars.calendar("People diary")
    room, thread = teams.room("People:General"), mail.message("notes-of-talks", "Aurelio Banks")
    looked = (
        *in_hr(find_user(systems.in_hr("Aurelio Banks")), find_user(casper), rules_for("moderate")),
        *in_hr(*(read_user(user) for user in others.values())),
        *in_calendar(
            LIST, systems.busy((name, "Delia Fairbanks", "Hamish Corrie"), on("11-23").date(), on("11-27").date())
        ),
        *in_mail(search(aurelio, "from:perpetua.lyle"), read_thread(thread, mail)),
        *in_mail(with_mailbox("email_list_delegates", aurelio)),
        *in_teams(*people_of(teams.team("People")), channels_of(teams.team("People"))),
    )

    def without(index: int) -> tuple[Any, ...]:
        rule = rules[index]
        users = [others[rule.name].user_id]
        return in_hr(call("update_assignment_rules", assignment_rule_id=rule.assignment_rule_id, users=users))

    entered = in_calendar(all_day(diary, "Casper Onslow comes back", on("11-30").date(), "Europe/London"))
    ended = in_mail(end_delegate(aurelio, mail.mailbox(name).primary_email))
    replied = in_mail(answer(mail, aurelio, thread, "Casper Onslow is not a delegate of mine any more."))
    posted = in_teams(post(room, "Without Casper Onslow: Joiners goes to Delia Fairbanks, Leave to Hamish Corrie."))
    end = "Joiners goes to Delia Fairbanks alone, Leave to Hamish Corrie alone. Casper is not your delegate any more."
    yield Job(
        "no-new-cases-for-casper",
        "Aurelio Banks",
        (HR, EMAIL, CALENDAR, TEAMS),
        "Casper Onslow goes on leave on 23 November 2026, and no rule may give him new cases until I say otherwise. "
        "Every active rule of assignment in HR that names him keeps its group and its other users and loses him; if "
        "one would have no one left, or only people who are away all that week as well, leave that one and tell me. In "
        "People diary enter the whole day on which he works again, by his calendar the first weekday after his leave, "
        "as 'Casper Onslow comes back'. What Perpetua wrote me about him and my mailbox is to be done right now, and "
        "she gets an answer in that thread. Last, a line in the General channel of the team People that names, for "
        "each rule, who gets its cases now. Who is it?",
        (
            "Read the rules, the people whom they name, and who is away in that week.",
            "Take him out of the two rules that name him (HR-RUL-2); enter his first day back.",
            "End his access to the mailbox (EMAIL-SET-2), answer in the thread, and post with both names.",
        ),
        (*looked, *without(0), *without(1), *entered, *ended, *replied, *posted),
        end,
        (term("Delia"), term("Hamish")),
        ("add_new_assignment_rule", "update_hr_case", "patch_event", "email_create_delegate"),
        {
            "switches a rule off": in_hr(
                call(
                    "update_assignment_rules",
                    assignment_rule_id=world.one(AssignmentRule, name="Pay").assignment_rule_id,
                    active=False,
                )
            ),
        },
        {
            "forgets one rule": ((*looked, *without(0), *entered, *ended, *replied, *posted), end),
            "enters the Saturday": (
                (
                    *looked, *without(0), *without(1),
                    *in_calendar(all_day(diary, "Casper Onslow comes back", on("11-28").date(), "Europe/London")),
                    *ended, *replied, *posted,
                ), end,
            ),
            "keeps the delegate": ((*looked, *without(0), *without(1), *entered, *replied, *posted), end),
        },
        evidence=(rules[0], rules[1]),
        in_mails={"delegate": (r"\b(casper|onslow)\b",)},
        in_posts={"Joiners": (r"\b(delia|fairbanks)\b", r"\b(hamish|corrie)\b")},
    )  # fmt: skip
