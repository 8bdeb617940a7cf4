"""Tasks about cases: intake, finishing, escalation, surveys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import EscalationRule, HrCase, HrCaseTask, Survey, User
from opsgym_suites.hr.calls import (
    assigned,
    escalations_from,
    find_article,
    find_case,
    find_centre,
    find_service,
    find_skill,
    find_team,
    find_user,
    items_of,
    link,
    loads,
    members_of,
    names_all,
    notify,
    numbers,
    only,
    read_profile,
    read_subject,
    read_user,
    rules_for,
    tasks_of,
    tick,
    update_case,
    update_task,
)
from opsgym_suites.hr.seeds.world import OPEN_TASKS, World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name, on_day
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import answer_refuses, answer_says
from opsgym_suites.kit.world import at

# --- a case is finished ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finishing:
    """A case whose work is done."""

    slug: str
    actor: str
    case: str
    article: str
    prompt: str
    access: Access = Access.PUBLISHED
    later: str | None = None
    """When the person comes back after the system has closed the case; None if the task is over before."""
    again: str = ""
    """What the user says then."""
    summary: str = ""
    """Short description of the new case."""
    source: str = "phone"


FINISHING: Mapping[str, Sequence[Finishing]] = {
    "hospital": (
        Finishing(
            "portal-login-works-again", "Zofia Kaminska", "portal", "Login to the HR portal",
            "{case} is solved: I reset the session as the article Login to the HR portal says, and Esme is in. Please "
            "take the case to where it waits for her word, with all that belongs to that, and link the article as what "
            "solved it.",
            access=Access.STRICT,
        ),
        Finishing(
            "bonus-of-two-nights", "Caleb Whitlock", "bonus", "Night shift bonus in the roster",
            "The ward has confirmed both nights, the difference is booked into the next run, and I rang Wilma. So "
            "{case} is through: tick, close, hand it over for acceptance, and put our article Night shift bonus in "
            "the roster on it as the resolution.",
        ),
        Finishing(
            "bonus-comes-back", "Caleb Whitlock", "bonus", "Night shift bonus in the roster",
            "{case}: everything on the list is done, both tasks too. Article Night shift bonus in the roster solved "
            "it. Hand it over to her for acceptance, please, properly.",
            later="2026-11-23 09:30",
            again="Wilma from {case} rang again: now the bonus of November is short, a matter without any date. "
            "Get it on file, \"Bonus of November missing\"; I will look at it myself, so no one needs to be assigned.",
            summary="Bonus of November missing",
        ),
        Finishing(
            "forms-of-the-scheme-are-sent", "Joost Vermeer", "pension", "Joining the pension scheme",
            "hi, forms for {case} went out and Celeste has signed. can you wrap it up so that only her acceptance is "
            "missing? resolution is joining the pension scheme",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Finishing(
            "clock-at-gate-two-reads-again", "Pavla Horak", "portal", "When the clock does not read a card",
            "Gate two reads cards again, Ursula's day is corrected. What helped in {case} was the article When the "
            "clock does not read a card, not the one on the old clock. Finish our side of the case and let Ursula "
            "have her say.",
            access=Access.STRICT,
        ),
        Finishing(
            "two-sundays-are-booked", "Corentin Leroy", "bonus", "Sunday rate in the time clock",
            "Foreman asked, difference booked, Konrad informed: {case} is done from our side. Please do the list, the "
            "tasks and the handover for acceptance; resolution: Sunday rate in the time clock.",
        ),
        Finishing(
            "sundays-come-back", "Corentin Leroy", "bonus", "Sunday rate in the time clock",
            "Both tasks of {case} and their list are finished, solved by Sunday rate in the time clock. He gets it "
            "for acceptance now.",
            later="2027-02-25 08:15",
            again="Konrad mailed me about {case}: the Sunday of last week is missing as well. No date to keep. Open "
            "what has to be opened, title \"Sunday of last week missing\", and leave it unassigned.",
            summary="Sunday of last week missing",
            source="email",
        ),
        Finishing(
            "contract-of-the-plan-is-sent", "Willem Brandt", "pension", "Rules of the share plan",
            "Milena's contract ({case}) is out and back with a signature. All that is left is her acceptance, so "
            "please do everything up to there. Rules of the share plan was the resolution.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def finishing(world: World, seed: str) -> Iterator[Draft]:
    """Tasks are closed, the resolution is linked, and the person may accept [CAS-7]; later it is closed [CAS-9]."""
    for scene in FINISHING[seed]:
        yield _finishing(world, scene)


def _closed(world: World, case: HrCase, access: Access) -> tuple[ToolCall, ...]:
    """Ticks what is open and closes the tasks of a case."""
    calls: list[ToolCall] = []
    for task in world.tasks(case):
        if task.status not in OPEN_TASKS:
            continue
        calls += [tick(item) for item in world.items(task) if not item.checked]
        if access is Access.STRICT and task.status == "ready":
            calls.append(update_task(task, status="work_in_progress"))
        calls.append(update_task(task, status="closed_complete"))
    return tuple(calls)


def _finishing(world: World, scene: Finishing) -> Draft:
    acting, case, article = world.user(scene.actor), world.case(scene.case), world.article(scene.article)
    person, service = world.person_of(case), world.one_service(case)
    looked = (
        find_user(acting),
        find_case(case),
        tasks_of(case),
        *(items_of(task) for task in world.tasks(case) if world.items(task)),
        find_article(article),
        read_subject(case),
        read_user(person),
    )
    done = _closed(world, case, scene.access)
    over, notified = update_case(case, status="awaiting_acceptance"), notify(case, person, "solution_proposal")
    first = (*looked, *done, link(case, article, "resolution"), over, notified)
    answer = f"{case.number} awaits acceptance; {article.kb_number} is linked."
    day_answers: tuple[str, ...] = ()
    days: tuple[Day, ...] = ()
    second: tuple[ToolCall, ...] = ()
    if scene.later is not None:
        new = call(
            "create_new_hr_case",
            hr_service=str(service.hr_service_id),
            opened_for=full_name(person),
            priority="planning",
            source=scene.source,
            short_description=scene.summary,
            coe_type=case.coe_type,
        )
        second = on_day(2, find_case(case), find_service(service), find_centre(world, service), new)
        day_answers, days = (
            (answer,),
            (Day(message=scene.again.format(case=case.number), begins_at=at(scene.later).isoformat()),),
        )
        answer = f"{case.number} is closed, so there is a new case in draft for it."
    gold = (*first, *second)
    early = "CAS-7" if scene.access is Access.STRICT else None
    reopened = on_day(2, update_case(case, status="work_in_progress"))
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(case=case.number),
            plan=(
                "Look up the case, its tasks and their checklists, the person whom it is about, and the article.",
                "Tick what is open, close the tasks (TSK-4), link the article as resolution (KB-1).",
                "Set awaiting_acceptance and send the person a solution_proposal (CAS-7, NTF-2).",
                *(["Later the case is closed: create a new one (CAS-8, CAS-9)."] if second else []),
            ),
            gold=gold,
            day_answers=day_answers,
            answer=answer,
            verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
            tools=("remove_knowledge_link_to_hr_case", "create_hr_case_task", "create_checklist", "find_notifications"),
            access=scene.access,
            days=days,
            mistakes={
                "tells the assignee as well": (notify(case, acting, "update"),),
                **({"changes the closed case": reopened} if second else {}),
            },
            negative_trajectories={
                "leaves the tasks open": NegativeTrajectory(only(gold, *done), answer, early),
                "tells no one": NegativeTrajectory(only(gold, notified), answer),
            },
        ),
        ScenarioEvent(world, at(scene.later) - world.now) if scene.later else None,
        rules={"update_hr_case": "CAS-7, CAS-9", "create_new_hr_case": "CAS-1, CAS-2, CAS-8"},
        expect={"update_hr_case": {"status": "closed_complete"}} if second else None,
    )


# --- a case is escalated ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Escalating:
    """A case that goes to the next group."""

    slug: str
    actor: str
    case: str
    prompt: str
    access: Access = Access.PUBLISHED
    moved_to: str | None = None
    """Group to which the rule leads once the agent has looked; None if the rule stays."""


ESCALATING: Mapping[str, Sequence[Escalating]] = {
    "hospital": (
        Escalating(
            "parental-leave-goes-up", "Thandi Mokoena", "leave",
            "Esme's leave ({case}) is beyond me: two employers, one child. Please escalate it, the way it is meant to "
            "be done here.",
            access=Access.STRICT,
        ),
        Escalating(
            "bonus-goes-to-the-leads", "Nils Aaberg", "bonus-other",
            "We are stuck with {case}; the ward says no, Wilma says yes. Escalate, and everyone who has to know should "
            "know.",
            access=Access.STRICT,
        ),
        Escalating(
            "setup-goes-where-the-rule-leads-now", "Ingrid Solheim", "starter",
            "Please escalate {case}, three people have given up on it. The rules for escalations are being rewritten "
            "this morning, so take what is in force when you do it.",
            moved_to="HR Systems",
        ),
    ),
    "works": (
        Escalating(
            "care-leave-goes-up", "Ayodele Bello", "leave",
            "{case} - Ursula's care leave - needs more authority than I have. Escalation, please, complete.",
            access=Access.STRICT,
        ),
        Escalating(
            "sunday-goes-to-the-heads", "Igor Sokolov", "bonus-other",
            "I cannot get on with {case}. Foreman and clock contradict each other. It has to go up the ladder with "
            "alerts to the people whom our rules name.",
            access=Access.STRICT,
        ),
        Escalating(
            "joiner-goes-where-the-rule-leads-now", "Marisa Contreras", "starter",
            "Escalate {case}. Careful, Leopold is changing the escalation rules at this very moment, and his version "
            "counts.",
            moved_to="Wages Bureau",
        ),
    ),
}  # fmt: skip


def escalating(world: World, seed: str) -> Iterator[Draft]:
    """A case goes to the group that the rule names, without assignee, with alerts to its managers [ESC-1]."""
    for scene in ESCALATING[seed]:
        yield _escalating(world, scene)


def _escalating(world: World, scene: Escalating) -> Draft:
    acting, case = world.user(scene.actor), world.case(scene.case)
    team = world.team_of(case)
    rule, event = world.escalation(team), ScenarioEvent(world)
    old = world.one_team(rule.escalate_to)
    if scene.moved_to:
        event.change(rule, escalate_to=world.team(scene.moved_to).group_id)
    new = world.team(scene.moved_to) if scene.moved_to else old
    members = [user for user in world.members(new) if user.role == "manager"]
    alerted = [user for user in members if user.active]
    moved = update_case(case, assignment_group=new.name, assigned_to="")
    alerts = tuple(notify(case, user, "alert") for user in alerted)
    raised = update_case(case, priority="critical")
    unseen = scene.access is Access.STRICT and case.opened_by != acting.user_id
    looked = (find_user(acting), find_case(case), escalations_from(team))
    more = (
        *([escalations_from(team)] if scene.moved_to else []),
        find_team(new),
        members_of(new),
        *(read_user(user) for user in world.members(new)),
    )
    gold = (*looked, *more, *((*alerts, moved) if unseen else (moved, *alerts)))
    answer = f"{case.number} is with {new.name} now, without assignee; {len(alerts)} alerts were sent."
    stale = (*looked, find_team(old), members_of(old), update_case(case, assignment_group=old.name, assigned_to=""))
    negative = {
        "keeps the assignee": NegativeTrajectory(
            (*looked, *more, update_case(case, assignment_group=new.name), *alerts),
            answer,
            "CAS-4" if scene.access is Access.STRICT else None,
        ),
    }
    if unseen:
        negative["raises the priority"] = NegativeTrajectory((*looked, *more, raised, *alerts, moved), answer)
        negative["alerts when the case is out of sight"] = NegativeTrajectory((*looked, *more, moved, *alerts), answer)
    if alerts:
        negative["alerts no one"] = NegativeTrajectory(only(gold, *alerts), answer)
    if scene.moved_to:
        negative["follows the old rule"] = NegativeTrajectory(stale, answer)
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(case=case.number),
            plan=(
                "Look up the case and the rule by which its group escalates.",
                "Look up the members of the group to which it leads: who is an active manager?",
                "Move the case there without an assignee, and alert these managers (ESC-1, NTF-2)."
                + (" Alert first: the case is out of sight afterwards." if unseen else ""),
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_group", "The answer names the group [REF-3]", term(new.name)),),
            tools=("list_user_groups", "add_new_escalation_rule", "update_hr_case_task", "find_notifications"),
            access=scene.access,
            events=(event.happens_after(FIRST_LOOK),) if scene.moved_to else (),
            mistakes={} if unseen else {"raises the priority": (raised,)},
            negative_trajectories=negative,
        ),
        event if scene.moved_to else None,
        rules={"update_hr_case": "ESC-1", "send_notification": "ESC-1, NTF-2"},
    )


@dataclass(frozen=True)
class Unescalated:
    """A case whose group has no rule to escalate by."""

    slug: str
    actor: str
    case: str
    prompt: str


NO_RULE = (
    r"\brules?\b|\bpath\b|\bESC-1\b|\bno (?:next|further|higher|other) group\b|\bescalation (?:target|group|route)\b"
)
"""Pattern for the reason that a case cannot be escalated."""
UNESCALATED: Mapping[str, Sequence[Unescalated]] = {
    "hospital": (
        Unescalated(
            "portal-has-no-next-group", "Silas Thorne", "systems",
            "Please escalate {case} to someone with more rights, today if you can.",
        ),
    ),
    "works": (
        Unescalated(
            "clock-crew-has-no-next-group", "Esther Lindgren", "systems",
            "{case} is too much for us. Escalate it to the group that comes next.",
        ),
    ),
}  # fmt: skip


def unescalated(world: World, seed: str) -> Iterator[Draft]:
    """A case cannot be escalated, since no rule says where to [ESC-1]."""
    for scene in UNESCALATED[seed]:
        acting, case = world.user(scene.actor), world.case(scene.case)
        team = world.team_of(case)
        gold = (find_user(acting), find_case(case), escalations_from(team))
        first = world.all(EscalationRule)[0]
        elsewhere = world.one_team(first.escalate_to)
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the case and the rule by which its group escalates: there is none.",
                    "Change nothing, and say that the case cannot be escalated (ESC-1, REF-1).",
                ),
                gold=gold,
                answer=f"{case.number} was not escalated: no escalation rule exists for {team.name}.",
                verifiers=answer_refuses(NO_RULE, subject_pattern=case.number),
                tools=("update_hr_case", "send_notification", "add_new_escalation_rule", "find_group_by_name"),
                feasible=False,
                mistakes={
                    "chooses a group": (update_case(case, assignment_group=elsewhere.name, assigned_to=""),),
                    "makes a rule": (
                        call(
                            "add_new_escalation_rule",
                            escalate_from=str(team.group_id),
                            escalate_to=str(elsewhere.group_id),
                        ),
                    ),
                },
                evidence=(case,),
            ),
        )


# --- intake ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matter:
    """What a person wants, as it becomes a case."""

    person: str
    service: str
    priority: str
    summary: str
    rule: str
    """Assignment rule by which the case is assigned."""
    skill: str | None


@dataclass(frozen=True)
class Intake:
    """Matters that came in together."""

    slug: str
    actor: str
    source: str
    matters: tuple[Matter, ...]
    prompt: str
    access: Access = Access.PUBLISHED


INTAKE: Mapping[str, Sequence[Intake]] = {
    "hospital": (
        Intake(
            "three-calls-of-the-morning", "Desmond Achebe", "phone",
            (
                Matter("Wilma Okonkwo", "Payslip question", "critical", "Salary did not arrive today", "Pay missing",
                    "Payroll"),
                Matter("Arjun Pillai", "Relocation", "moderate", "Papers for the coast clinic", "Visas for India",
                    "Visa support"),
                Matter("Leonie Stubbs", "Employment letter", "low", "Is a letter free of charge", "Low questions",
                    None),
            ),
            "Three calls this morning, please open and assign a case for each by our rules; leave them in draft. Wilma "
            "from sales, Okonkwo: \"Salary did not arrive today\", she cannot pay her rent; a Payslip question that "
            "needs Payroll. Arjun Pillai: \"Papers for the coast clinic\", a Relocation with Visa support, some time "
            "in spring. Leonie Stubbs only wanted to know: \"Is a letter free of charge\", Employment letter, no skill "
            "needed.",
        ),
        Intake(
            "two-walk-ins", "Ingrid Solheim", "walk-in",
            (
                Matter("Bjarne Holt", "HR portal access", "high", "Portal before the audit", "Portal", "HR systems"),
                Matter("Noelle Girard", "Pension enrolment", "moderate", "Join the scheme in summer", "Pensions",
                    "Pensions"),
            ),
            "Two people stood at my desk. Bjarne Holt must get into the portal before the audit tomorrow: \"Portal "
            "before the audit\", HR portal access, skill HR systems. Noelle Girard would like to \"Join the scheme in "
            "summer\", Pension enrolment, skill Pensions. Cases for both in draft, and assigned as the rules in force "
            "say.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Intake(
            "three-calls-of-the-shift", "Marisa Contreras", "phone",
            (
                Matter("Konrad Halloway", "Wage question", "critical", "Wage has not come", "Wage missing", "Wages"),
                Matter("Joaquim Prado", "Posting abroad", "moderate", "Yard in autumn", "Postings of Brazilians",
                    "Postings"),
                Matter("Gareth Lowry", "Certificate of work", "low", "Which languages are there", "Small questions",
                    None),
            ),
            "Early shift rang three times. Konrad, the one in sales (Halloway): \"Wage has not come\", and today is "
            "pay day: Wage question, Wages. Joaquim Prado asks for the \"Yard in autumn\": Posting abroad, Postings. "
            "Gareth Lowry has a question, \"Which languages are there\", Certificate of work, no skill. One draft case "
            "each, assigned by the rules, thanks.",
        ),
        Intake(
            "two-at-the-counter", "Leopold Adeyemi", "walk-in",
            (
                Matter("Cillian Daly", "Wage question", "high", "Correction before the run", "Wages urgent", "Wages"),
                Matter("Petra Steinmetz", "Joiner setup", "moderate", "New locker after the move", "Joiners",
                    "Joiners"),
            ),
            "At the counter: Cillian Daly, \"Correction before the run\" (the run is tomorrow night), Wage question, "
            "skill Wages; and Petra Steinmetz, \"New locker after the move\", Joiner setup, skill Joiners, whenever it "
            "suits. Please file both as drafts and assign each to whom the rules give it.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def intake(world: World, seed: str) -> Iterator[Draft]:
    """Several matters become cases, each with priority, centre and assignment [CAS-1, CAS-2, ASG-1, ASG-2]."""
    for scene in INTAKE[seed]:
        yield _intake(world, scene)


def _opened(world: World, matter: Matter, source: str, assignment: Mapping[str, str]) -> ToolCall:
    service = world.service(matter.service)
    skills = {} if matter.skill is None else {"skills": [world.skill(matter.skill).skill_id]}
    has_topic = service.topic_detail is not None
    return call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=matter.person,
        priority=matter.priority,
        source=source,
        short_description=matter.summary,
        coe_type=world.centre_of(service) if has_topic else "Workforce Administration",
        **skills,
        **assignment,
    )


def _intake(world: World, scene: Intake) -> Draft:
    acting = world.user(scene.actor)
    looked: list[ToolCall] = [find_user(acting)]
    for matter in scene.matters:
        person, service, rule = world.user(matter.person), world.service(matter.service), world.rule(matter.rule)
        looked += [find_user(person), read_profile(person), find_service(service)]
        looked += [find_centre(world, service)] if service.topic_detail is not None else []
        looked += [find_skill(world.skill(matter.skill))] if matter.skill else []
        looked += [rules_for(matter.priority), *loads(world, rule)]
        looked += [call("list_user_groups", group_id=rule.user_group)]
    opened = [_opened(world, one, scene.source, assigned(world, world.rule(one.rule))) for one in scene.matters]
    gold = (*looked, *opened)
    first = scene.matters[0]
    others = [
        user
        for user in world.users_of(world.rule(first.rule))
        if full_name(user) != opened[0].arguments.get("assigned_to")
    ]
    wrong = _opened(
        world, first, scene.source, {**assigned(world, world.rule(first.rule)), "assigned_to": full_name(others[0])}
    )
    names = [one.arguments.get("assigned_to") for one in opened]
    answer = "; ".join(
        f"{matter.summary}: {matter.priority}, {name or 'the group'}"
        for matter, name in zip(scene.matters, names, strict=True)
    )
    expected = str(names[0]).split()[-1]
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the people and their profiles, the services, the categories of their topics, the skills.",
                "Settle each priority (CAS-2), find the rule that fits (ASG-1) and who of its users has least (ASG-2).",
                "Create the cases in draft.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("names_the_assignee", "The answer names who got the first case [REF-3]", term(expected)),
            ),
            tools=("update_hr_case", "create_hr_case_task", "send_notification", "list_hr_cases", "list_users"),
            access=scene.access,
            mistakes={"opens one twice": (opened[-1],)},
            negative_trajectories={
                "takes the busier one": NegativeTrajectory((*looked, wrong, *opened[1:]), answer),
            },
        ),
        rules={"create_new_hr_case": "CAS-1, CAS-2, ASG-1, ASG-2"},
    )


# --- surveys ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SurveyRequest:
    """A new survey that the people of some cases are asked."""

    slug: str
    actor: str
    cases: tuple[str, ...]
    questions: tuple[str, ...]
    task: str
    prompt: str
    access: Access = Access.PUBLISHED


SURVEY_REQUESTS: Mapping[str, Sequence[SurveyRequest]] = {
    "hospital": (
        SurveyRequest(
            "survey-for-payroll-and-portal", "Tobias Renner", ("bonus", "bonus-other"),
            ("Did the first answer help?", "What should we have asked?"), "Ask about the first answer",
            "I want to learn from {cases}. New survey with \"Did the first answer help?\" and \"What should we have "
            "asked?\"; in each of the two cases a task of type survey, \"Ask about the first answer\", in the hands of "
            "the case's own assignee and group; and the person of the case is asked.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        SurveyRequest(
            "survey-for-both-konrads", "Stellan Ekdahl", ("bonus", "bonus-other"),
            ("Was the clock or the foreman right?", "Would a call have been better?"), "Survey on Sundays",
            "Both Sunday cases, {cases}: I need a survey, \"Was the clock or the foreman right?\" and \"Would a call "
            "have been better?\". Each case gets a survey task \"Survey on Sundays\" for its own assignee and group, "
            "with the person of that case as the one who answers.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def survey_requests(world: World, seed: str) -> Iterator[Draft]:
    """A survey is written, and the people of several cases are asked."""
    for scene in SURVEY_REQUESTS[seed]:
        acting, cases = world.user(scene.actor), [world.case(key) for key in scene.cases]
        made, columns = world.next_id(Survey), {f"question_{n}": q for n, q in enumerate(scene.questions, start=1)}
        new: list[ToolCall] = [call("create_survey", **columns)]
        for place, case in enumerate(cases):
            handler = world.one(User, user_id=case.assigned_to)
            new.append(
                call(
                    "create_hr_case_task",
                    status="ready",
                    short_description=scene.task,
                    assigned_to=full_name(handler),
                    assignment_group=world.team_of(case).name,
                    task_type="survey",
                    parent_case=str(case.hr_case_id),
                )
            )
            new.append(
                call(
                    "create_survey_instance",
                    survey_id=made,
                    case_task_id=world.next_id(HrCaseTask, place),
                    assigned_to=world.person_of(case).user_id,
                )
            )
        looked = (
            find_user(acting),
            *(find_case(case) for case in cases),
            *(read_subject(case) for case in cases),
            call("list_surveys"),
            *(tasks_of(case) for case in cases),
        )
        gold, answer = (*looked, *new), f"The survey is there; {numbers(cases)} have a task each, and both are asked."
        answered = new[2].model_copy(update={"arguments": {**new[2].arguments, "answer_1": "Yes"}})
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(cases=" and ".join(case.number for case in cases)),
                plan=(
                    "Look up the cases and the people whom they are about.",
                    "Create the survey; in each case a task for its assignee and group; an instance for its person.",
                    "Leave the answers empty (SUR-1).",
                ),
                gold=gold,
                answer=answer,
                verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
                tools=("update_survey", "update_survey_instance", "list_survey_instances", "send_notification"),
                access=scene.access,
                mistakes={"closes a case": (update_case(cases[0], priority="low"),)},
                negative_trajectories={
                    "answers for the person": NegativeTrajectory(
                        (*looked, *new[:2], answered, *new[3:]), answer, "SUR-1"
                    ),
                },
            ),
        )


FAMILIES = (finishing, escalating, unescalated, intake, survey_requests)
