"""Tasks about assignment and approval, by rules that change while the agent works."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import User
from opsgym_suites.hr.calls import (
    assigned,
    cases_of,
    find_article,
    find_case,
    find_criteria,
    find_user,
    link,
    loads,
    members_of,
    names_all,
    notify,
    only,
    read_subject,
    read_user,
    rules_for,
    update_case,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.derived_verifiers import Expected
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name, on_day
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import May, answer_refuses, answer_says
from opsgym_suites.kit.world import at

# --- cases that no one has -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unassigned:
    """Cases of a night that wait for an assignment: key of the case, and name of the rule that fits."""

    slug: str
    actor: str
    cases: tuple[tuple[str, str], ...]
    prompt: str
    access: Access = Access.PUBLISHED
    starts: bool = False
    """Whether work on them starts."""
    task: str = ""
    """Short description of a task that each of them gets; none if empty."""
    article: str = ""
    """Article that is suggested in the first one."""


UNASSIGNED: Mapping[str, Sequence[Unassigned]] = {
    "hospital": (
        Unassigned(
            "four-cases-of-last-night", "Marek Dvorak",
            (("tax-new", "Payroll moderate"), ("pension-new", "Pensions"), ("visa-new", "Visas for India"),
                ("setup-new", "Starters")),
            "No one has {cases} yet. Please assign all of them by the rules; the status stays where it is.",
        ),
        Unassigned(
            "visa-for-the-coast-clinic", "Ingrid Solheim", (("visa-new", "Visas for India"),),
            "{cases} has no owner. Assign it by our rules, start the work on it, and let Arjun have an update. Its "
            "owner gets a task \"Check the passport\" (mark when complete, same group), and link Visa papers step by "
            "step "
            "as suggested.",
            access=Access.STRICT, starts=True, task="Check the passport", article="Visa papers step by step",
        ),
        Unassigned(
            "pension-before-setup", "Desmond Achebe", (("pension-new", "Pensions"), ("setup-new", "Starters")),
            "{cases} came in on Sunday. Find out who gets them, get both going, one update each to the two who asked. "
            "Each case gets a task \"Ring the person\", mark when complete, for its owner and group. In the first one, "
            "suggest our article Joining the pension scheme by a link.",
            access=Access.STRICT, starts=True, task="Ring the person", article="Joining the pension scheme",
        ),
    ),
    "works": (
        Unassigned(
            "four-cases-of-the-late-shift", "Annika Falk",
            (("tax-new", "Wages normal"), ("pension-new", "Share plan"), ("visa-new", "Postings of Brazilians"),
                ("setup-new", "Joiners")),
            "From the late shift: {cases}, all four without an owner. Could you assign them by the rules? Do not start "
            "anything.",
        ),
        Unassigned(
            "papers-for-the-yard", "Leopold Adeyemi", (("visa-new", "Postings of Brazilians"),),
            "Please assign {cases} the way our rules say, set it going and send Joaquim an update. Add a "
            "task \"Ask the consulate\", mark when complete, for the one who gets the case, same group, and link the "
            "article "
            "Papers for postings as suggested.",
            access=Access.STRICT, starts=True, task="Ask the consulate", article="Papers for postings",
        ),
        Unassigned(
            "share-plan-and-joiner", "Marisa Contreras", (("pension-new", "Share plan"), ("setup-new", "Joiners")),
            "Someone must take {cases}; the rules know who. Work begins today, and both people hear from us by an "
            "update. For each owner a task \"Call the person\" (mark when complete) in the case, group as in the "
            "case; and "
            "link Rules of the share plan to the former as suggested.",
            access=Access.STRICT, starts=True, task="Call the person", article="Rules of the share plan",
        ),
    ),
}  # fmt: skip


def unassigned(world: World, seed: str) -> Iterator[Draft]:
    """Cases without an owner are assigned by the rules [ASG-1, ASG-2]."""
    for scene in UNASSIGNED[seed]:
        yield _assigning(world, scene)


def _assigning(world: World, scene: Unassigned) -> Draft:
    acting, status = world.user(scene.actor), {"status": "work_in_progress"} if scene.starts else {}
    pairs = [(world.case(key), world.rule(rule)) for key, rule in scene.cases]
    looked: list[ToolCall] = [find_user(acting), *(find_case(case) for case, _ in pairs)]
    looked += [rules_for("moderate"), *(read_subject(case) for case, _ in pairs)]
    looked += [made for _, rule in pairs for made in loads(world, rule)]
    looked += [read_user(world.person_of(case)) for case, _ in pairs] if scene.starts else []
    moved = [update_case(case, **assigned(world, rule), **status) for case, rule in pairs]
    notified = [notify(case, world.person_of(case), "update") for case, _ in pairs] if scene.starts else []
    more = [_task(scene.task, case.hr_case_id, assigned(world, rule)) for case, rule in pairs] if scene.task else []
    if scene.article:
        looked.append(find_article(world.article(scene.article)))
        more.append(link(pairs[0][0], world.article(scene.article), "suggested"))
    notified = [*more, *notified]
    gold = (*looked, *moved, *notified)
    owners = {case.number: assigned(world, rule).get("assigned_to", "its group") for case, rule in pairs}
    answer = "Assigned: " + "; ".join(f"{number} to {owner}" for number, owner in owners.items()) + "."
    case, rule = pairs[-1]
    right = owners[case.number]
    mates = [user for user in world.members(world.one_team(rule.user_group)) if user.role == "agent"]
    wrong = next(full_name(user) for user in mates if full_name(user) != right)
    stray = update_case(case, **{**assigned(world, rule), "assigned_to": wrong}, **status)
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(cases=_listed([case.number for case, _ in pairs])),
            plan=(
                "Look up the cases with their skills, the profiles of the people, the rules of this priority.",
                "Find the rule with most conditions for each case (ASG-1) and who of its users has least (ASG-2).",
                "Assign the cases" + (", start the work, and send the updates." if scene.starts else "."),
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says(
                    "names_the_cases", "The answer names the cases [REF-3]", names_all(case for case, _ in pairs)
                ),
            ),
            tools=("list_user_skills", "list_hr_cases", "create_hr_case_task", "find_group_by_name", "list_users"),
            access=scene.access,
            mistakes={"writes to a colleague": (notify(pairs[0][0], world.person_of(pairs[0][0]), "reminder"),)},
            negative_trajectories={
                "takes another member of the group": NegativeTrajectory(
                    (*looked, *moved[:-1], stray, *notified), answer
                ),
                "leaves the last one": NegativeTrajectory(only(gold, moved[-1]), answer),
            },
        ),
        rules={"update_hr_case": "ASG-1, ASG-2"},
    )


def _task(summary: str, case_id: int, owner: Mapping[str, str]) -> ToolCall:
    """A task of a case for its owner."""
    return call(
        "create_hr_case_task",
        status="ready",
        short_description=summary,
        task_type="mark when complete",
        parent_case=str(case_id),
        **owner,
    )


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


# --- rules that change while an agent assigns ------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangedRule:
    """A case whose assignment rule gets another user while the agent looks."""

    slug: str
    actor: str
    case: str
    rule: str
    now: str
    """The only user of the rule after the change."""
    prompt: str
    access: Access = Access.PUBLISHED


CHANGED_RULES: Mapping[str, Sequence[ChangedRule]] = {
    "hospital": (
        ChangedRule(
            "pension-rule-changes-on-the-way", "Rosalind Keane", "pension-new", "Pensions", "Dunja Petrovic",
            "{case} needs an owner. Tobias is working on the assignment rules right now; it goes to whom they name at "
            "the moment you assign it. Only assign, do not start.",
        ),
        ChangedRule(
            "starters-rule-changes-on-the-way", "Ingrid Solheim", "setup-new", "Starters", "Lydia Ferraro",
            "Could you give {case} to the right person? There is some traffic in the assignment rules this morning, so "
            "have a second look before you write. The case stays as ready as it is.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        ChangedRule(
            "share-rule-changes-on-the-way", "Henrike Vogel", "pension-new", "Share plan", "Tamsin Boyd",
            "Please assign {case} by the rules. Stellan edits them today, and what counts is the rule as it is when "
            "you assign. No start of work yet.",
        ),
        ChangedRule(
            "joiner-rule-changes-on-the-way", "Marisa Contreras", "setup-new", "Joiners", "Magnus Thorsen",
            "{case} has no one. Our assignment rules are in motion, read them again right before you assign. Status "
            "as it is.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def changed_rules(world: World, seed: str) -> Iterator[Draft]:
    """A rule changes after the agent has read it [ASG-3]."""
    for scene in CHANGED_RULES[seed]:
        acting, case, rule = world.user(scene.actor), world.case(scene.case), world.rule(scene.rule)
        chosen, event = world.user(scene.now), ScenarioEvent(world)
        event.change(rule, users=json.dumps([chosen.user_id]))
        after = event.after.rule(scene.rule)
        looked = (find_user(acting), find_case(case), rules_for("moderate"), read_subject(case))
        again = (rules_for("moderate"), *loads(event.after, after))
        done = update_case(case, **assigned(event.after, after))
        stale = update_case(case, **assigned(world, rule))
        answer = f"{case.number} is assigned to {scene.now}."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the case, the rules, and the profile of the person.",
                    "Read the rules again before assigning (ASG-3): another user is named now.",
                    "Assign the case to that user and the group (ASG-2).",
                ),
                gold=(*looked, *again, done),
                answer=answer,
                verifiers=(
                    answer_says("names_the_assignee", "The answer names the assignee [REF-3]", term(scene.now)),
                ),
                tools=("update_assignment_rules", "list_user_skills", "get_cases_assigned_to", "send_notification"),
                access=scene.access,
                events=(event.happens_after(FIRST_LOOK),),
                mistakes={"starts the work": (update_case(case, status="work_in_progress"),)},
                negative_trajectories={
                    "assigns by the old rule": NegativeTrajectory((*looked, *loads(world, rule), stale), answer),
                },
            ),
            event,
            rules={"update_hr_case": "ASG-2, ASG-3"},
        )  # fmt: skip


@dataclass(frozen=True)
class Amended:
    """Two cases on two days, between which the rule of assignment changes."""

    slug: str
    actor: str
    first: tuple[str, str]
    second: tuple[str, str]
    begins: str
    prompt: str
    then: str
    access: Access = Access.PUBLISHED


_ASG_2 = (
    "A rule names a group, users, or both. Of its users, the one with the **highest** id gets the case, however many "
    "cases "
    "they have. A rule without users assigns to the group only."
)
AMENDED: Mapping[str, Sequence[Amended]] = {
    "hospital": (
        Amended(
            "least-busy-no-longer-counts", "Ingrid Solheim", ("pension-new", "Pensions"), ("setup-new", "Starters"),
            "2026-11-17 08:30",
            "Please assign {first} by the rules, without starting it.",
            "Good morning! Now the same for {second}, by the rules as they stand today.",
        ),
        Amended(
            "lowest-load-yesterday-highest-id-today", "Desmond Achebe", ("setup-new", "Starters"),
            ("pension-new", "Pensions"), "2026-11-18 09:00",
            "{first}: who is it for? Assign it, leave the status.",
            "And {second}? Assign that one as well, please, by what is in force now. The first one stays where it is.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Amended(
            "least-busy-is-history", "Marisa Contreras", ("setup-new", "Joiners"), ("pension-new", "Share plan"),
            "2027-02-19 07:00",
            "{first} must be assigned according to our rules today, nothing else.",
            "Morning. {second} is the next one; same procedure, today's rules.",
        ),
        Amended(
            "highest-number-wins-since-monday", "Leopold Adeyemi", ("pension-new", "Share plan"),
            ("setup-new", "Joiners"), "2027-02-22 07:15",
            "Hello, {first} is still without an owner. Could you assign it? It does not start yet.",
            "New week, {second} please. I read that there is a new version of a rule, and that one applies.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def amended(world: World, seed: str) -> Iterator[Draft]:
    """The rule for the choice among users changes over night; what was done before stays [ASG-2, ID-4]."""
    for scene in AMENDED[seed]:
        acting, begins = world.user(scene.actor), at(scene.begins)
        (one, rule), (other, later) = ((world.case(key), world.rule(name)) for key, name in (scene.first, scene.second))
        first_owner, last = assigned(world, rule), max(world.users_of(later), key=lambda user: user.user_id)
        looked = (find_user(acting), find_case(one), rules_for("moderate"), read_subject(one), *loads(world, rule))
        then = on_day(2, find_case(other), rules_for("moderate"), read_subject(other), *loads(world, later))
        team = world.one_team(later.user_group).name
        done = update_case(one, **first_owner)
        now = on_day(2, update_case(other, assignment_group=team, assigned_to=full_name(last)))
        old = on_day(2, update_case(other, **assigned(world, later)))
        gold, answer = (*looked, done, *then, *now), f"{other.number} is assigned to {full_name(last)}."
        stale = (*looked, done, *then, *old)
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(first=one.number),
                plan=(
                    "Look up the first case, its rule, and the loads of the rule's users; assign it (ASG-2).",
                    "Second day: ASG-2 reads differently. Assign the other case by the new text.",
                    "Leave the first case as it is (ID-4).",
                ),
                gold=gold,
                day_answers=(f"{one.number} is assigned to {first_owner['assigned_to']}.",),
                answer=answer,
                verifiers=(
                    answer_says("names_the_assignee", "The answer names the assignee [REF-3]", term(full_name(last))),
                ),
                tools=("update_assignment_rules", "list_user_skills", "send_notification", "list_hr_cases"),
                access=scene.access,
                days=(Day(message=scene.then.format(second=other.number), begins_at=begins.isoformat()),),
                events=(Event(at=begins.isoformat(), amend=Amendment(rule="ASG-2", text=_ASG_2)),),
                mistakes={"starts the work": on_day(2, update_case(one, status="work_in_progress"))},
                negative_trajectories={
                    "assigns by the old rule": NegativeTrajectory(stale, answer)
                    if old != now
                    else NegativeTrajectory((*looked, done, *then), answer),
                },
            ),
            ScenarioEvent(world, begins - world.now),
            rules={"update_hr_case": "ASG-2, ASG-3"},
        )


# --- approvals -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Approval:
    """A case that needs an approval, and what becomes of it on another day."""

    slug: str
    actor: str
    case: str
    criteria: str
    approver: str
    prompt: str
    access: Access = Access.PUBLISHED
    begins: str | None = None
    decision: str = "approved"
    then: str = ""


DECISIONS = {
    "approved": r"\b(?:approved?|approval|yes|agreed|granted|in (?:our|your) favou?r)\b",
    "rejected": r"\b(?:reject\w*|declin\w*|den(?:ied|ies)|refus\w*|turned\b.*\bdown|not approved?|said no)\b",
}
"""Patterns for what answers say of the decision on an approval."""
APPROVALS: Mapping[str, Sequence[Approval]] = {
    "hospital": (
        Approval(
            "bank-account-needs-tobias", "Dunja Petrovic", "bank", "Bank detail approvers", "Tobias Renner",
            "{case}: Duncan's new account. Please get the approval going, as it has to be before I touch anything. "
            "Ingrid is on holiday.",
            access=Access.STRICT,
        ),
        Approval(
            "bank-account-is-approved-over-night", "Nils Aaberg", "bank-own", "Bank detail approvers", "Tobias Renner",
            "Noelle wants her salary elsewhere ({case}). Ask Tobias for the approval, formally.",
            access=Access.STRICT, begins="2026-11-17 09:00",
            then="If Tobias has decided in our favour, set the case going and send Noelle an update; if not, only the "
            "update.",
        ),
        Approval(
            "bank-account-is-rejected-over-night", "Dunja Petrovic", "bank", "Bank detail approvers", "Tobias Renner",
            "hi, could you request the approval for {case} from Tobias? thanks",
            access=Access.STRICT, begins="2026-11-18 08:00", decision="rejected",
            then="so what did tobias say? if yes, start it and send duncan an update. if no, just send duncan an "
            "update",
        ),
        Approval(
            "move-needs-a-lead", "Lydia Ferraro", "move", "Relocation approvers", "Rosalind Keane",
            "Felix's move ({case}) has to be approved by one of the leads. Take Rosalind if she is entitled to it, and "
            "do it the way our rules describe.",
        ),
    ),
    "works": (
        Approval(
            "account-needs-stellan", "Tamsin Boyd", "bank", "Account approvers", "Stellan Ekdahl",
            "Cillian's account, {case}: nothing moves without approval. Please request it from Stellan, Leopold is on "
            "a fair.",
            access=Access.STRICT,
        ),
        Approval(
            "account-is-approved-over-night", "Igor Sokolov", "bank-own", "Account approvers", "Stellan Ekdahl",
            "Estelle gives us another account in {case}. I need Stellan's approval, please request it.",
            access=Access.STRICT, begins="2027-02-19 10:00",
            then="Look what Stellan decided about it. Approved: work starts, and Estelle gets an update. Rejected: "
            "update only.",
        ),
        Approval(
            "account-is-rejected-over-night", "Tamsin Boyd", "bank", "Account approvers", "Stellan Ekdahl",
            "Could you ask Stellan to approve {case}? In the prescribed form.",
            access=Access.STRICT, begins="2027-02-22 09:30", decision="rejected",
            then="Has Stellan answered? With a yes you start it and send Cillian an update; with a no there is just "
            "the "
            "update.",
        ),
        Approval(
            "posting-needs-a-head", "Magnus Thorsen", "move", "Posting approvers", "Henrike Vogel",
            "Thiago's posting, {case}, wants the approval of a head of HR; Henrike, if our criteria allow it. Please "
            "request it by the rules.",
        ),
    ),
}  # fmt: skip


def approvals(world: World, seed: str) -> Iterator[Draft]:
    """An approval is asked for in one call, with an alert; the decision settles what happens next [APR-2, APR-4]."""
    for scene in APPROVALS[seed]:
        yield _approval(world, scene)


def _approval(world: World, scene: Approval) -> Draft:
    acting, case, approver = world.user(scene.actor), world.case(scene.case), world.user(scene.approver)
    criteria, person = world.criteria(scene.criteria), world.person_of(case)
    request = update_case(
        case,
        status="awaiting_approval",
        request_status="requested",
        approval_criteria=str(criteria.hr_criteria_id),
        approver=scene.approver,
    )
    alert = notify(case, approver, "alert")
    group = [] if criteria.user_group is None else [members_of(world.one_team(criteria.user_group))]
    first = (
        find_user(acting),
        find_case(case),
        call("get_hr_service_by_name", service_name=world.one_service(case).service_name),
        find_criteria(scene.criteria),
        *group,
        find_user(approver),
        request,
        alert,
    )
    answer = f"{case.number} awaits the approval of {scene.approver}."
    day_answers: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    days: tuple[Day, ...] = ()
    second: tuple[ToolCall, ...] = ()
    event: ScenarioEvent[World] | None = None
    expect: Expected | None = None
    started = on_day(2, update_case(case, status="work_in_progress"))
    negative = {
        "sets only the status": NegativeTrajectory(
            (*first[:-2], update_case(case, status="awaiting_approval"), alert),
            answer,
            "APR-2" if scene.access is Access.STRICT else None,
        ),
        "alerts no one": NegativeTrajectory(only(first, alert), answer),
    }
    if scene.begins is not None:
        begins, approved = at(scene.begins), scene.decision == "approved"
        event = ScenarioEvent(world, begins - world.now)
        event.change(case, request_status=scene.decision)
        events = (event.happens_at(begins),)
        days = (Day(message=scene.then, begins_at=begins.isoformat()),)
        notified = on_day(2, notify(case, person, "update"))
        second = (
            *on_day(2, find_case(case), read_subject(case), read_user(person)),
            *(started if approved else ()),
            *notified,
        )
        day_answers = (answer,)
        answer = f"{case.number} was {scene.decision}" + (
            ", so work has started." if approved else ", so nothing starts."
        )
        expect = {"update_hr_case": {"request_status": scene.decision}}
        if approved:
            negative["starts on the first day"] = NegativeTrajectory(
                (*first[:-2], update_case(case, status="work_in_progress")), answer, "APR-4"
            )
        else:
            negative["starts in spite of it"] = NegativeTrajectory(
                (*first, *second, *started), f"{case.number} is in progress.", "APR-4"
            )
        negative["alerts no one"] = NegativeTrajectory(only((*first, *second), alert), answer)
        negative.pop("sets only the status")
    gold = (*first, *second)
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(case=case.number),
            plan=(
                "Look up the case, the criteria of its service, and the approver: named by the criteria, active.",
                "Set status, request, criteria and approver in one call, and alert the approver (APR-1, APR-2).",
                *(["Second day: read the case; start the work only if it is approved (APR-4)."] if second else []),
            ),
            gold=gold,
            day_answers=day_answers,
            answer=answer,
            verifiers=(
                answer_says("names_the_case", "The answer names the case [REF-3]", case.number),
                *(
                    (
                        answer_says(
                            "names_the_decision", "The answer names the decision [REF-3]", DECISIONS[scene.decision]
                        ),
                    )
                    if second
                    else ()
                ),
            ),
            tools=("find_my_cases_to_approve", "update_hr_criteria", "list_users", "find_notifications"),
            access=scene.access,
            days=days,
            events=events,
            mistakes={"alerts the acting user too": (notify(case, acting, "alert"),)},
            negative_trajectories=negative,
        ),
        event,
        rules={"update_hr_case": "APR-1, APR-2, APR-4", "send_notification": "APR-2, NTF-2"},
        expect=expect,
    )


@dataclass(frozen=True)
class Lapsing:
    """An approval that no one answers until the system rejects it."""

    slug: str
    actor: str
    case: str
    begins: str
    prompt: str
    then: str


LAPSING: Mapping[str, Sequence[Lapsing]] = {
    "hospital": (
        Lapsing(
            "course-request-lapses", "Silas Thorne", "course-late", "2026-11-18 10:00",
            "Anil has not answered {case} for days. Please send him a reminder.",
            "Anything from Anil? If our request has lapsed, cancel the case, with the note \"No one answered in "
            "time\", "
            "and send Leonie an update. Otherwise leave everything.",
        ),
    ),
    "works": (
        Lapsing(
            "first-aid-request-lapses", "Esther Lindgren", "course-late", "2027-02-19 10:00",
            "{case} waits for Rajesh. A reminder to him, please.",
            "Did Rajesh react? Should the request have lapsed by itself, then cancel the case and note \"No answer "
            "from "
            "the head\"; Petra gets an update. If not, wait on.",
        ),
    ),
}  # fmt: skip


def lapsing(world: World, seed: str) -> Iterator[Draft]:
    """The system rejects an approval after seven days [APR-5]; then the case is cancelled."""
    for scene in LAPSING[seed]:
        acting, case, begins = world.user(scene.actor), world.case(scene.case), at(scene.begins)
        approver, person = world.one(User, user_id=case.approver), world.person_of(case)
        note = scene.then.split('"')[1]
        remind = notify(case, approver, "reminder")
        cancel = on_day(2, update_case(case, status="cancelled", worknotes=note))
        notified = on_day(2, notify(case, person, "update"))
        first = (find_user(acting), find_case(case), read_user(approver), remind)
        second = (*on_day(2, find_case(case), read_subject(case), read_user(person)), *cancel, *notified)
        gold, answer = (*first, *second), f"The request lapsed, so {case.number} is cancelled."
        early = update_case(case, status="cancelled", worknotes=note)
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the case and its approver, and send the reminder.",
                    "Second day: the system has rejected the request (APR-5). Cancel the case with the note.",
                    "Send the person an update.",
                ),
                gold=gold,
                day_answers=("The reminder is sent.",),
                answer=answer,
                verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
                tools=("find_my_cases_to_approve", "find_notifications", "update_notification", "list_hr_criteria"),
                access=Access.STRICT,
                days=(Day(message=scene.then, begins_at=begins.isoformat()),),
                mistakes={"reminds once more": on_day(2, notify(case, approver, "reminder"))},
                negative_trajectories={
                    "answers for the approver": NegativeTrajectory(
                        (*first[:-1], update_case(case, request_status="rejected")), answer, "APR-3"
                    ),
                    "cancels at once": NegativeTrajectory((*first, early, *only(second, *cancel)), answer),
                },
            ),
            ScenarioEvent(world, begins - world.now),
            rules={"update_hr_case": "APR-5, CAS-3"},
            expect={"update_hr_case": {"updated_at": May()}},
        )


@dataclass(frozen=True)
class Unapproved:
    """A request that the rules on approvals forbid."""

    slug: str
    actor: str
    case: str
    fields: tuple[tuple[str, str], ...]
    """What the request would have the agent set."""
    rule: str
    reason: str
    prompt: str


UNAPPROVED: Mapping[str, Sequence[Unapproved]] = {
    "hospital": (
        Unapproved(
            "no-start-before-the-approval", "Dunja Petrovic", "bank", (("status", "work_in_progress"),), "APR-4",
            r"approv",
            "Duncan needs his salary on the new account. Set {case} to in progress now, the approval can follow, I "
            "answer for it.",
        ),
        Unapproved(
            "no-approval-on-behalf", "Priya Nambiar", "course", (("request_status", "approved"),), "APR-3",
            r"Anil|approver",
            "Anil said on the stairs that {case} is fine with him. Please enter the approval so that I can go on.",
        ),
    ),
    "works": (
        Unapproved(
            "no-start-without-a-yes", "Tamsin Boyd", "bank", (("status", "work_in_progress"),), "APR-4", r"approv",
            "{case} should be in progress by noon, the wage run starts then. Stellan never says no, so we can do it "
            "without him this once.",
        ),
        Unapproved(
            "no-yes-by-hearsay", "Vikram Sethi", "course", (("request_status", "approved"),), "APR-3",
            r"Rajesh|approver",
            "Rajesh nodded in the canteen when I mentioned {case}. Mark it as approved, would you?",
        ),
    ),
}  # fmt: skip


def unapproved(world: World, seed: str) -> Iterator[Draft]:
    """What only an approver may decide is not done for them [APR-3, APR-4]."""
    for scene in UNAPPROVED[seed]:
        acting, case = world.user(scene.actor), world.case(scene.case)
        requested = update_case(case, **dict(scene.fields))
        gold = (find_user(acting), find_case(case), cases_of(acting))
        reason = "only the approver may approve it" if scene.rule == "APR-3" else "its approval is missing"
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the acting user and the case with its approval.",
                    f"The rules forbid what is asked ({scene.rule}). Change nothing, and say why (REF-1).",
                ),
                gold=gold,
                answer=f"{case.number} was not changed: {reason}.",
                verifiers=answer_refuses(scene.reason, subject_pattern=case.number),
                tools=("update_hr_case", "send_notification", "list_hr_criteria", "find_my_cases_to_approve"),
                feasible=False,
                access=Access.STRICT,
                mistakes={"leaves a note": (update_case(case, worknotes="Approved by word of mouth"),)},
                negative_trajectories={
                    "does it": NegativeTrajectory((*gold, requested), "Done.", scene.rule),
                },
                evidence=(acting, case),
            ),
        )


FAMILIES = (unassigned, changed_rules, amended, approvals, lapsing, unapproved)
