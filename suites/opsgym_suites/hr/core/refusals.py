"""Requests whose obstacle lies in the records: a closed case, an inactive user or group, a missing skill, an open "
"item.

Invariant: the request sounds like daily work, and the rule that forbids it applies only because of what a read shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import INACTIVE
from opsgym_domains.hr.tables import Survey, SurveyInstance
from opsgym_suites.hr.calls import (
    escalations_from,
    find_article,
    find_case,
    find_criteria,
    find_rule,
    find_service,
    find_skill,
    find_team,
    find_user,
    items_of,
    join_team,
    link,
    members_of,
    notify,
    read_profile,
    read_subject,
    read_user,
    skills_of,
    tasks_of,
    tick,
    update_case,
    update_profile,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Refusal, turned_down
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call

FINAL = r"\bclosed\b|\bfinal\b|\bfinished\b|\bcompleted?\b|\bopen cases?\b|\bCAS-8\b|\bTSK-2\b"
"""Pattern for the reason that a case is over."""
NO_MEMBER = r"\bmembers?(?:hip)?\b|\bbelongs?\b|\bnot in\b|\boutside\b|\bRUL-2\b"
OPEN_ITEMS = r"\bopen\b|\bun(?:ticked|checked|done|finished)\b|\bitems?\b[^.]*\b(?:ticked|checked|done)\b|\bTSK-4\b"
OPEN_WORK = r"\btasks?\b[^.]*\b(?:open|progress|ready|unfinished)\b|\b(?:open|unfinished)\b[^.]*\btasks?\b|\bCAS-7\b"
NOT_NAMED = r"\bnot\b[^.]*\bnam\w+|\bnam\w+[^.]*\bnot\b|\bnot (?:among|one of|in|listed)\b|\bcriteria\b|\bAPR-1\b"


# --- cases, tasks and articles ---------------------------------------------------------------------------------------


def survey_in_a_closed_case(world: World) -> Draft:
    """A task belongs to an open case [TSK-2]."""
    case, survey = world.case("done"), world.all(Survey)[1]
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="How was it",
        assigned_to="Nils Aaberg",
        assignment_group="Payroll Office",
        task_type="survey",
        parent_case=str(case.hr_case_id),
    )
    return turned_down(
        world,
        Asked(
            "no-survey-once-it-is-closed", "Tobias Renner",
            "Duncan did not sound happy when we met. In {case} please make a survey task \"How was it\" for Nils "
            "Aaberg, Payroll Office, and have Duncan asked with the questionnaire about how well we answered.",
            Access.STRICT,
        ),
        Refusal(
            "TSK-2",
            (
                find_user(world.user("Tobias Renner")),
                find_case(case),
                call("list_surveys", question_1=survey.question_1),
                tasks_of(case),
            ),
            (task,),
            notify(case, world.person_of(case), "update"),
            (case,),
            case.number,
            FINAL,
            f"{case.number} got no task, and Duncan was not asked: the case is closed, and tasks belong to open "
            f"cases only.",
        ),
        {"case": case.number},
    )  # fmt: skip


def closed_case_goes_on(world: World) -> Draft:
    """A closed case is final [CAS-8]."""
    case = world.case("done")
    person = world.person_of(case)
    return turned_down(
        world,
        Asked(
            "no-second-life-of-a-case", "Stellan Ekdahl",
            "Cillian was right after all, January is still short. Set {case} back to in progress, Igor carries on "
            "where "
            "he stopped, and let Cillian know. Not a new case please, I want the history in one place.",
            Access.STRICT,
        ),
        Refusal(
            "CAS-8",
            (
                find_user(world.user("Stellan Ekdahl")),
                find_case(case),
                read_subject(case),
                call("find_notifications_sent_for_incident", hr_case_id=case.hr_case_id),
            ),
            (update_case(case, status="work_in_progress"),),
            notify(case, person, "update"),
            (case,),
            case.number,
            FINAL,
            f"{case.number} was not reopened and no one heard of it: it is closed, and closed cases are final.",
            tools=("create_new_hr_case",),
        ),
        {"case": case.number},
    )  # fmt: skip


def colleague_without_the_skill(world: World) -> Draft:
    """The assignee has the skills of the case [CAS-6]."""
    case, heir, skill = world.case("move"), world.user("Marek Dvorak"), world.skill("Visa support")
    team = world.team_of(case)
    return turned_down(
        world,
        Asked(
            "next-desk-cannot-have-it", "Lydia Ferraro",
            "I am on leave from tomorrow. Marek sits next to me and has the fewest files, so put {case} on Marek "
            "Dvorak, "
            "same group. He is fine with it.",
            Access.STRICT,
        ),
        Refusal(
            "CAS-6",
            (
                find_user(world.user("Lydia Ferraro")),
                find_case(case),
                find_user(heir),
                skills_of(heir),
                find_skill(skill),
                find_team(team),
                members_of(team),
            ),
            (update_case(case, assigned_to="Marek Dvorak"),),
            notify(case, heir, "update"),
            (case, heir, skill),
            rf"{case.number}|Dvorak|Marek",
            r"\bskills?\b|\bVisa support\b|\bCAS-6\b",
            f"{case.number} stays with you: Marek Dvorak does not have the skill Visa support, which the case "
            f"requires.",
        ),
        {"case": case.number},
    )  # fmt: skip


def draft_is_linked(world: World) -> Draft:
    """Only published articles are linked [KB-1]."""
    case, article = world.case("bonus"), world.article("Night shift bonus after the merger")
    other = world.article("Night shift bonus in the roster")
    return turned_down(
        world,
        Asked(
            "no-unfinished-article-as-a-resolution", "Dunja Petrovic",
            "what solved {case} is in my Night shift bonus after the merger, caleb agrees. link it as the "
            "resolution, "
            "it is the one with the current rates",
            Access.STRICT,
        ),
        Refusal(
            "KB-1",
            (
                find_user(world.user("Dunja Petrovic")),
                find_case(case),
                find_article(article),
                call("find_hr_case_knowledge_links", hr_case_id=case.hr_case_id),
            ),
            (link(case, article, "resolution"),),
            link(case, other, "resolution"),
            (case, article),
            rf"{case.number}|{article.kb_number}|merger",
            r"\bdraft\b|\bpublish\w*|\bKB-1\b",
            f"{article.kb_number} was not linked to {case.number}: it is still a draft.",
            tools=("update_knowledge_article",),
        ),
        {"case": case.number},
    )  # fmt: skip


def draft_is_published(world: World) -> Draft:
    """Agents write drafts, and publish nothing [KB-2]."""
    article = world.article("Sunday rate after the new agreement")
    publish = call("update_knowledge_article", knowledge_id=article.knowledge_id, state="published")
    return turned_down(
        world,
        Asked(
            "an-author-does-not-publish", "Willem Brandt",
            "My article Sunday rate after the new agreement has had three readers, all content. Stellan nodded in "
            "the "
            "corridor. Please publish it, so that I can put it into my files.",
            Access.STRICT,
        ),
        Refusal(
            "KB-2",
            (
                find_user(world.user("Willem Brandt")),
                find_article(article),
                call("find_hr_case_knowledge_links", knowledge_id=article.knowledge_id),
            ),
            (publish,),
            call("update_knowledge_article", knowledge_id=article.knowledge_id, visibility="external"),
            (world.user("Willem Brandt"), article),
            rf"{article.kb_number}|Sunday rate|article",
            r"\bmanagers?\b|\badmins?\b|\bagents?\b|\bKB-2\b",
            f"{article.kb_number} was not published: you are an agent, and only managers and admins publish "
            f"articles.",
        ),
    )  # fmt: skip


def open_items(world: World) -> Draft:
    """A checklist is done before its task is closed [TSK-4]."""
    case = world.case("bonus")
    task = world.tasks(case)[0]
    item = next(one for one in world.items(task) if not one.checked)
    return turned_down(
        world,
        Asked(
            "a-list-is-more-than-paper", "Caleb Whitlock",
            "Close the task with the checklist in {case} as complete, would you? The roster is compared. The ward "
            "never "
            "answers anyway, so leave the other points as they are, no one reads them.",
            Access.STRICT,
        ),
        Refusal(
            "TSK-4",
            (find_user(world.user("Caleb Whitlock")), find_case(case), tasks_of(case), items_of(task)),
            (update_task(task, status="closed_complete"),),
            tick(item),
            (case, task, item),
            rf"{task.number}|{case.number}|task",
            OPEN_ITEMS,
            f"{task.number} was not closed: items of its checklist are open.",
        ),
        {"case": case.number},
    )  # fmt: skip


def open_tasks(world: World) -> Draft:
    """A case is handed over when none of its tasks is open [CAS-7]."""
    case = world.case("bonus")
    person, task = world.person_of(case), world.tasks(case)[1]
    return turned_down(
        world,
        Asked(
            "handover-before-the-tasks", "Corentin Leroy",
            "Konrad's money in {case} is booked, so hand the case over for acceptance and send the proposal. The "
            "tasks I "
            "tidy up on Monday, do not touch those.",
            Access.STRICT,
        ),
        Refusal(
            "CAS-7",
            (
                find_user(world.user("Corentin Leroy")),
                find_case(case),
                tasks_of(case),
                read_subject(case),
                read_user(person),
            ),
            (update_case(case, status="awaiting_acceptance"), notify(case, person, "solution_proposal")),
            notify(case, person, "solution_proposal"),
            (case, task),
            case.number,
            OPEN_WORK,
            f"{case.number} was not handed over: two of its tasks are still open.",
        ),
        {"case": case.number},
    )  # fmt: skip


def answered_for_another(world: World) -> Draft:
    """Only the user who is asked answers a survey [SUR-1]."""
    case = world.case("starter")
    (task,) = world.tasks(case)
    (request,) = world.all(SurveyInstance, case_task_id=task.hr_case_task_id)
    questions = call("list_surveys", survey_id=request.survey_id)
    answers = {"answer_1": "Yes, very well", "answer_2": "No"}
    return turned_down(
        world,
        Asked(
            "annika-has-to-answer-herself", "Devika Rao",
            "The survey in {case} blocks my task. Annika said to me over lunch what she thinks: \"Yes, very well\", "
            "and to "
            "the second question \"No\". Enter that and close the task.",
            Access.STRICT,
        ),
        Refusal(
            "SUR-1",
            (
                find_user(world.user("Devika Rao")),
                find_case(case),
                tasks_of(case),
                call("list_survey_instances", case_task_id=task.hr_case_task_id),
                questions,
            ),
            (call("update_survey_instance", survey_instance_id=request.survey_instance_id, **answers),),
            update_case(case, priority="moderate"),
            (case, request),
            r"survey|Annika|Falk",
            r"\bAnnika\b|\bFalk\b|\bherself\b|\bwho is asked\b|\bSUR-1\b|\bown\b",
            "The survey was not filled in and the task stays open: only Annika Falk, who is asked, answers it.",
            tools=("update_hr_case_task",),
        ),
        {"case": case.number},
    )  # fmt: skip


# --- approvals, rules, messages --------------------------------------------------------------------------------------


def inactive_approver(world: World) -> Draft:
    """An approver is active [APR-1]."""
    case, criteria, approver = world.case("course"), world.criteria("Training approvers"), world.user("Kasimir Novak")
    return turned_down(
        world,
        Asked(
            "the-other-approver-is-gone", "Priya Nambiar",
            "Anil sits on {case} since Thursday. The Training approvers are two people, so ask Kasimir Novak "
            "instead of "
            "him and alert Kasimir. Harvey's course begins soon.",
            Access.STRICT,
        ),
        Refusal(
            "APR-1",
            (
                find_user(world.user("Priya Nambiar")),
                find_case(case),
                find_criteria(criteria.name),
                find_user(approver),
            ),
            (update_case(case, approver="Kasimir Novak"),),
            notify(case, world.user("Anil Deshpande"), "reminder"),
            (case, criteria, approver),
            r"Novak|Kasimir",
            rf"{INACTIVE}|\bno active\b|\bAPR-1\b",
            f"{case.number} was not changed and still waits for Anil Deshpande: the account of Kasimir Novak is "
            f"inactive.",
        ),
        {"case": case.number},
    )  # fmt: skip


def approver_who_is_not_named(world: World) -> Draft:
    """The criteria name the approver [APR-1]."""
    case, criteria = world.case("bank"), world.criteria("Account approvers")
    approver, service = world.user("Rajesh Menon"), world.one_service(case)
    ask = update_case(
        case,
        status="awaiting_approval",
        request_status="requested",
        approval_criteria=str(criteria.hr_criteria_id),
        approver="Rajesh Menon",
    )
    return turned_down(
        world,
        Asked(
            "a-head-who-is-no-approver", "Tamsin Boyd",
            "{case} needs its approval before the run tonight. Stellan is out. Rajesh Menon is a head too, and he "
            "is at "
            "his desk: ask Rajesh, and only him.",
            Access.STRICT,
        ),
        Refusal(
            "APR-1",
            (
                find_user(world.user("Tamsin Boyd")),
                find_case(case),
                find_service(service),
                find_criteria(criteria.name),
                *map(read_user, world.users_of(criteria)),
                find_user(approver),
            ),
            (ask,),
            notify(case, world.person_of(case), "update"),
            (case, service, criteria, approver),
            r"Menon|Rajesh",
            NOT_NAMED,
            f"No approval was requested for {case.number}: the Account approvers do not name Rajesh Menon.",
        ),
        {"case": case.number},
    )  # fmt: skip


def message_to_the_wrong_person(world: World) -> Draft:
    """Notifications go to those whom the case concerns [NTF-1]."""
    case, other = world.case("bonus"), world.user("Wilma Okonkwo")
    person = world.person_of(case)
    return turned_down(
        world,
        Asked(
            "no-reminder-for-the-other-wilma", "Caleb Whitlock",
            "Wilma has not sent me the roster of her ward yet, which I need for {case}. Remind her: "
            "Wilma Okonkwo in sales, exactly that one.",
            Access.STRICT,
        ),
        Refusal(
            "NTF-1",
            (
                find_user(world.user("Caleb Whitlock")),
                find_case(case),
                find_user(other),
                read_subject(case),
                read_user(person),
            ),
            (notify(case, other, "reminder"),),
            notify(case, person, "reminder"),
            (case, other, person),
            r"Okonkwo|Wilma",
            r"\bOkonjo\b|\bnothing to do\b|\bnot concern\w*|\bnot involved\b|\banother person\b|\bNTF-1\b",
            f"No reminder was sent: {case.number} is about Wilma Okonjo, and Wilma Okonkwo has nothing to do with "
            f"it.",
        ),
        {"case": case.number},
    )  # fmt: skip


def rule_with_an_outsider(world: World) -> Draft:
    """The users of a rule are members of its group [RUL-2]."""
    rule, team, user = world.rule("Payroll high"), world.team("Payroll Office"), world.user("Priya Nambiar")
    users = [one.user_id for one in (*world.users_of(rule), user)]
    return turned_down(
        world,
        Asked(
            "priya-is-no-payroller", "Tobias Renner",
            "Priya Nambiar has time on her hands. Add her to the users of the assignment rule Payroll high, third "
            "place. Just the rule, the office itself keeps its members.",
            Access.STRICT,
        ),
        Refusal(
            "RUL-2",
            (
                find_user(world.user("Tobias Renner")),
                find_rule(rule.name),
                find_user(user),
                find_team(team),
                members_of(team),
            ),
            (call("update_assignment_rules", assignment_rule_id=rule.assignment_rule_id, users=users),),
            join_team(user, team),
            (rule, user, ("group_id", team.group_id)),
            r"Nambiar|Priya",
            NO_MEMBER,
            "The rule Payroll high was not changed: Priya Nambiar is not a member of the Payroll Office.",
            tools=("add_new_skill_to_user",),
        ),
    )  # fmt: skip


def escalation_to_a_closed_desk(world: World) -> Draft:
    """Escalation rules lead to active groups [RUL-3]."""
    team, desk = world.team("Payroll Office"), world.team("Night Desk")
    rule = world.escalation(team)
    drop = call("remove_escalation_rule", escalation_rule_id=str(rule.escalation_rule_id))
    add = call("add_new_escalation_rule", escalate_from=str(team.group_id), escalate_to=str(desk.group_id))
    return turned_down(
        world,
        Asked(
            "no-one-sits-at-the-night-desk", "Desmond Achebe",
            "From now on the Payroll Office escalates to the Night Desk, no longer to the HR Leads. Change the "
            "escalation rule accordingly; the groups themselves are none of our business.",
            Access.STRICT,
        ),
        Refusal(
            "RUL-3",
            (find_user(world.user("Desmond Achebe")), find_team(team), find_team(desk), escalations_from(team)),
            (add, drop),
            drop,
            (desk, rule),
            r"Night Desk",
            rf"{INACTIVE}|\bRUL-3\b",
            "The escalation rule was not changed: the Night Desk is inactive.",
            tools=("update_user_group",),
        ),
    )  # fmt: skip


def case_for_a_closed_desk(world: World) -> Draft:
    """Cases go to active groups [CAS-4]."""
    case, desk, user = world.case("bonus-other"), world.team("Strike Desk"), world.user("Igor Sokolov")
    return turned_down(
        world,
        Asked(
            "no-one-works-at-the-strike-desk", "Igor Sokolov",
            "{case} belongs to the Strike Desk, where I am a member as well. Move it there, I stay the assignee, and "
            "everything else about it remains.",
            Access.STRICT,
        ),
        Refusal(
            "CAS-4",
            (
                find_user(user),
                find_case(case),
                find_team(desk),
                members_of(desk),
            ),
            (update_case(case, assignment_group="Strike Desk"),),
            update_case(case, priority="high"),
            (case, desk),
            rf"Strike Desk|{case.number}",
            rf"{INACTIVE}|\bactive groups?\b|\bCAS-4\b",
            f"{case.number} was not moved: the Strike Desk is inactive.",
            tools=("update_user_group",),
        ),
        {"case": case.number},
    )  # fmt: skip


# --- people ----------------------------------------------------------------------------------------------------------


def manager_with_another_role(world: World) -> Draft:
    """A manager has the role manager [PRO-2]."""
    person, boss = world.user("Noelle Girard"), world.user("Lydia Ferraro")
    profile = world.profile(person)
    return turned_down(
        world,
        Asked(
            "lydia-leads-no-one-yet", "Ingrid Solheim",
            "Paloma and I agreed that Noelle Girard reports to Lydia Ferraro from today. Enter Lydia as her manager. "
            "Lydia's own data stay untouched, her promotion is a matter for next year.",
        ),
        Refusal(
            "PRO-2",
            (find_user(world.user("Ingrid Solheim")), find_user(person), read_profile(person), find_user(boss),
                read_profile(boss)),
            (update_profile(profile, manager=str(world.profile(boss).hr_profile_id)),),
            update_profile(profile, manager=str(world.profile("Rosalind Keane").hr_profile_id)),
            (person, profile, boss),
            r"Ferraro|Lydia",
            r"\brole\b|\bagent\b|\bnot a manager\b|\bPRO-2\b",
            "The manager of Noelle Girard was not changed: Lydia Ferraro has the role agent, and a manager needs "
            "the role "
            "manager.",
            tools=("update_user_details",),
        ),
    )  # fmt: skip


def manager_with_people(world: World) -> Draft:
    """The people of a manager get another one before the manager's employment ends [PRO-4]."""
    leaver = world.user("Cordula Weiss")
    profile = world.profile(leaver)
    people = world.people_of(leaver)
    return turned_down(
        world,
        Asked(
            "her-people-cannot-wait", "Leopold Adeyemi",
            "Cordula Weiss has her last day today. End her employment in the profile now, please. Who gets her "
            "people is "
            "decided next week, their profiles stay as they are until then; her account is done by Marisa tonight.",
            Access.STRICT,
        ),
        Refusal(
            "PRO-4",
            (
                find_user(world.user("Leopold Adeyemi")),
                find_user(leaver),
                read_profile(leaver),
                call("fetch_hr_profiles", manager=str(profile.hr_profile_id)),
            ),
            (call("offboard_hr_profile", hr_profile_id=str(profile.hr_profile_id)),),
            update_profile(people[0], manager=str(world.profile("Henrike Vogel").hr_profile_id)),
            (leaver, profile, *people),
            r"Weiss|Cordula",
            r"\bpeople\b|\bmanages?\b|\breports?\b|\bteam\b|\bPRO-4\b",
            "The employment of Cordula Weiss was not ended: three people still have her as their manager.",
            tools=("update_user_details",),
        ),
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {
    "hospital": (
        survey_in_a_closed_case,
        colleague_without_the_skill,
        draft_is_linked,
        open_items,
        inactive_approver,
        message_to_the_wrong_person,
        rule_with_an_outsider,
        escalation_to_a_closed_desk,
        manager_with_another_role,
    ),
    "works": (
        closed_case_goes_on,
        draft_is_published,
        open_tasks,
        answered_for_another,
        approver_who_is_not_named,
        case_for_a_closed_desk,
        manager_with_people,
    ),
}


def refusals(world: World, seed: str) -> Iterator[Draft]:
    """What a rule forbids because of what the records hold [REF-1]."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (refusals,)
