"""Tasks about what people read: notifications, articles and their links, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import figure, number, paired, sequence, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import HrCase, HrCaseKnowledge, HrCaseTask, Notification, User, UserGroup
from opsgym_domains.hr.visibility import OPEN
from opsgym_suites.hr.calls import (
    find_article,
    find_case,
    find_team,
    find_user,
    link,
    list_cases,
    notify,
    only,
    read_subject,
    read_user,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import Matches, answer_says

# --- notifications to the wrong person -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misdirected:
    """Notifications about a case that have the address of another person with a similar name."""

    slug: str
    actor: str
    case: str
    other: str
    """Case of the other person, whose notifications are right."""
    prompt: str
    access: Access = Access.PUBLISHED


MISDIRECTED: Mapping[str, Sequence[Misdirected]] = {
    "hospital": (
        Misdirected(
            "messages-to-the-wrong-wilma", "Tobias Renner", "bonus", "bonus-other",
            "Some of our messages on {case} carry the address of Wilma Okonkwo, whom the case does not concern. Delete "
            "what is ready there, and for what is still a draft put in the right Wilma and make it ready. Messages to "
            "her about her own case {other} are fine. How many of them are there?",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Misdirected(
            "messages-to-the-wrong-konrad", "Stellan Ekdahl", "bonus", "bonus-other",
            "Konrad Halloway has nothing to do with {case} and yet stands as the recipient on messages about it. The "
            "ready ones are to be deleted; a draft gets the Konrad of the case as recipient and becomes ready. And "
            "tell me how many messages he has on {other}, which is his own case; those are right.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def misdirected(world: World, seed: str) -> Iterator[Draft]:
    """Notifications to a person who has nothing to do with the case are deleted, or get the right address [NTF-1]."""
    for scene in MISDIRECTED[seed]:
        yield _misdirected(world, scene)


def _misdirected(world: World, scene: Misdirected) -> Draft:
    acting, case, other = world.user(scene.actor), world.case(scene.case), world.case(scene.other)
    right, wrong = world.person_of(case), world.person_of(other)
    sent = world.all(Notification, hr_case_id=case.hr_case_id, email=wrong.email)
    own = world.all(Notification, hr_case_id=other.hr_case_id, email=wrong.email)
    ready, drafts = ([one for one in sent if one.status == status] for status in ("ready", "draft"))
    looked = (
        find_user(acting),
        find_case(case),
        read_subject(case),
        read_user(right),
        find_case(other),
        find_user(wrong),
        call("find_notifications_sent_for_incident", hr_case_id=case.hr_case_id),
        call("find_notifications_for_email", email=wrong.email),
    )
    deleted = tuple(call("delete_notifications", notification_id=one.notification_id) for one in ready)
    corrected = tuple(
        call("update_notification", notification_id=one.notification_id, email=right.email, status="ready")
        for one in drafts
    )
    gold = (*looked, *deleted, *corrected)
    answer = f"{case.number} is put right; about {other.number} there are {len(own)} messages."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(case=case.number, other=other.number),
            plan=(
                "Look up both cases, the two people, and the notifications about the case and to the address.",
                "Delete those that are ready; give the draft the right address and make it ready (NTF-1).",
                "Leave those about the other case, and state their number.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("states_the_number", "The answer states the number [REF-3]", number(len(own))),),
            tools=("send_notification", "find_notifications", "count_notifications_by_case", "update_hr_case"),
            access=scene.access,
            mistakes={
                "deletes one about one's own case": (
                    call("delete_notifications", notification_id=own[0].notification_id),
                ),
            },
            negative_trajectories={
                "deletes all to the address": NegativeTrajectory(
                    (*looked, *corrected, call("delete_notifications", email=wrong.email)), answer
                ),
                "only makes the draft ready": NegativeTrajectory(
                    (*looked, *deleted, *(_ready(one) for one in drafts)), answer
                ),
            },
        ),
    )


def _ready(notification: Notification) -> ToolCall:
    return call("update_notification", notification_id=notification.notification_id, status="ready")


# --- drafts of notifications -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drafts:
    """Notifications about a case that are still drafts, some of them to inactive users."""

    slug: str
    actor: str
    case: str
    prompt: str


DRAFTS: Mapping[str, Sequence[Drafts]] = {
    "hospital": (
        Drafts(
            "drafts-about-the-letter", "Ingrid Solheim", "letter",
            "No one has sent the drafts of messages about {case}. Please make them ready, apart from those to an "
            "account that is switched off, which you delete. When that is done start the work on the case, and the "
            "person whom it is about gets an update.",
        ),
    ),
    "works": (
        Drafts(
            "drafts-about-the-certificate", "Leopold Adeyemi", "letter",
            "About {case} there are messages in draft. Those to active accounts become ready, those to inactive ones "
            "are removed. After that the case goes into progress, with an update to the person who needs the "
            "certificate.",
        ),
    ),
}  # fmt: skip


def drafts(world: World, seed: str) -> Iterator[Draft]:
    """Drafts to active users become ready, others are deleted [NTF-1, NTF-2]."""
    for scene in DRAFTS[seed]:
        acting, case = world.user(scene.actor), world.case(scene.case)
        waiting = world.all(Notification, hr_case_id=case.hr_case_id, status="draft")
        active = {one.notification_id: world.one(User, email=one.email).active for one in waiting}
        looked = (
            find_user(acting),
            find_case(case),
            call("find_notifications", hr_case_id=case.hr_case_id, status="draft"),
            *(call("get_user_using_email", email=one.email) for one in waiting),
            read_subject(case),
            read_user(world.person_of(case)),
        )
        ready = tuple(_ready(one) for one in waiting if active[one.notification_id])
        gone = tuple(
            call("delete_notifications", notification_id=one.notification_id)
            for one in waiting
            if not active[one.notification_id]
        )
        started = update_status(case, "work_in_progress")
        updates = notify(case, world.person_of(case), "update")
        gold, answer = (*looked, *ready, *gone, started, updates), f"{case.number} is in progress, without drafts."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the case, the notifications about it that are drafts, and the users by their addresses.",
                    "Make those to active users ready, and delete the others (NTF-1).",
                    "Start the work (CAS-3), and send the person an update.",
                ),
                gold=gold,
                answer=answer,
                verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
                tools=("find_notifications_for_email", "list_users", "count_notifications_by_status"),
                mistakes={"writes to the assignee too": (
                    notify(case, world.one(User, user_id=case.assigned_to), "reminder"),
                )},
                negative_trajectories={
                    "makes all of them ready": NegativeTrajectory(
                        (*looked, *(_ready(one) for one in waiting), started, updates), answer
                    ),
                    "leaves the one to an inactive user": NegativeTrajectory(only(gold, *gone), answer),
                },
            ),
            rules={"update_hr_case": "CAS-3"},
        )  # fmt: skip


def update_status(case: HrCase, status: str) -> ToolCall:
    """Changes the status of a case and nothing else."""
    return call("update_hr_case", hr_case_id=str(case.hr_case_id), status=status)


# --- an article takes the place of another ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Replacement:
    """A draft that is published in the place of an article, also in open cases."""

    slug: str
    actor: str
    old: str
    new: str
    body: str
    service: str
    prompt: str
    access: Access = Access.PUBLISHED


REPLACEMENTS: Mapping[str, Sequence[Replacement]] = {
    "hospital": (
        Replacement(
            "the-rates-after-the-merger-are-settled", "Tobias Renner", "Night shift bonus in the roster",
            "Night shift bonus after the merger", "Mark the shift as NM in the roster before the 10th.",
            "Payslip question",
            "The rates are settled: publish Night shift bonus after the merger with the new text \"Mark the shift as "
            "NM in the roster before the 10th.\" and retire Night shift bonus in the roster. In cases that are still "
            "open the new one takes the place of the old one among the linked articles, used in the same way. Closed "
            "cases keep what they have.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Replacement(
            "the-new-agreement-is-signed", "Stellan Ekdahl", "Sunday rate in the time clock",
            "Sunday rate after the new agreement", "Press key 7 before the shift begins.", "Wage question",
            "The agreement is signed. Please give Sunday rate after the new agreement the text \"Press key 7 before "
            "the shift begins.\" and publish it; Sunday rate in the time clock is retired. Where the old article is "
            "linked to an open case, link the new one for it, for the same use. What is closed stays as it is.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def replacements(world: World, seed: str) -> Iterator[Draft]:
    """An article is published and another one retired; open cases get the new one [KB-1, KB-2]."""
    for scene in REPLACEMENTS[seed]:
        yield _replacement(world, scene)


def _replacement(world: World, scene: Replacement) -> Draft:
    acting, old, new = world.user(scene.actor), world.article(scene.old), world.article(scene.new)
    links = world.all(HrCaseKnowledge, knowledge_id=old.knowledge_id)
    cases = {one.hr_case_kb_id: world.one(HrCase, hr_case_id=one.hr_case_id) for one in links}
    current = [one for one in links if cases[one.hr_case_kb_id].status in OPEN]
    closed = next(one for one in links if one not in current)
    looked = (
        find_user(acting),
        find_article(old),
        find_article(new),
        call("find_hr_case_knowledge_links", knowledge_id=old.knowledge_id),
        list_cases(hr_service=scene.service),
    )
    published = call("update_knowledge_article", knowledge_id=new.knowledge_id, state="published", body=scene.body)
    retired = call("update_knowledge_article", knowledge_id=old.knowledge_id, state="retired")
    removed = tuple(_unlink(one) for one in current)
    linked = tuple(link(cases[one.hr_case_kb_id], new, one.used_as) for one in current)
    gold = (*looked, published, *removed, *linked, retired)
    answer = f"{new.kb_number} is published and {old.kb_number} retired; {len(current)} open cases have the new one."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up both articles, the links of the old one, and which of the linked cases are open.",
                "Publish the draft with its text (KB-2) before it is linked (KB-1).",
                "Replace the links of open cases, and retire the old article.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("states_the_number", "The answer says how many cases [REF-3]", number(len(current))),
            ),
            tools=("create_knowledge_article", "find_hr_case_by_number", "update_hr_case", "send_notification"),
            access=scene.access,
            mistakes={"removes the link of a closed case": (_unlink(closed),)},
            negative_trajectories={
                "keeps the old links": NegativeTrajectory(only(gold, *removed), answer),
                "links before it is published": NegativeTrajectory(
                    (*looked, *removed, *linked, retired), answer, "KB-1" if scene.access is Access.STRICT else None
                ),
            },
        ),
        rules={"update_knowledge_article": "KB-2"},
    )


def _unlink(row: HrCaseKnowledge) -> ToolCall:
    return call("remove_knowledge_link_to_hr_case", hr_case_kb_id=row.hr_case_kb_id)


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """Counts that become an article."""

    slug: str
    actor: str
    teams: tuple[str, str]
    title: str
    prompt: str


FIGURES: Mapping[str, Sequence[Figures]] = {
    "hospital": (
        Figures(
            "figures-for-the-leads", "Tobias Renner", ("Payroll Office", "Benefits Desk"), "Figures of the week",
            "I need an internal draft, owned by me, \"Figures of the week\". Its text states, in figures and in this "
            "order: how many cases the Payroll Office and how many the Benefits Desk has in progress; how many tasks "
            "of the Payroll Office are in progress; how many cases there are of priority critical and of priority "
            "high; how many notifications are alerts, and how many are drafts; and for {one} and {two} how many "
            "notifications there are in all, and on average. The assignee of {one} gets a report.",
        ),
    ),
    "works": (
        Figures(
            "figures-for-the-heads", "Stellan Ekdahl", ("Wages Bureau", "Shares and Pensions"), "Numbers of February",
            "Could you draft an internal article \"Numbers of February\", with me as owner, that gives these in "
            "figures and in this order: cases in progress in the Wages Bureau, and in Shares and Pensions; tasks in "
            "progress in the Wages Bureau; all cases whose priority is critical, and all whose priority is high; "
            "notifications of type alert; notifications in draft; notifications about {one} and {two} together, and "
            "their average per case. Then a report to the one who handles {one}, please.",
        ),
    ),
}  # fmt: skip


def figures(world: World, seed: str) -> Iterator[Draft]:
    """Figures are counted and written into an article; who handles the case gets a report [NTF-2]."""
    for scene in FIGURES[seed]:
        yield _figures(world, scene)


def _figures(world: World, scene: Figures) -> Draft:
    acting, one, two = world.user(scene.actor), world.case("bonus"), world.case("bonus-other")
    teams, handler = [world.team(name) for name in scene.teams], world.one(User, user_id=one.assigned_to)
    pair = [one.hr_case_id, two.hr_case_id]
    counted = _counted(world, teams, pair)
    average = counted[-1] / len(pair)
    looked = (
        find_user(acting),
        *map(find_team, teams),
        find_case(one),
        find_case(two),
        *(
            call("count_case_for_assignment_group", assignment_group_id=team.group_id, statuses=["work_in_progress"])
            for team in teams
        ),
        call(
            "count_case_task_for_assignment_group",
            assignment_group_id=teams[0].group_id,
            statuses=["work_in_progress"],
        ),
        call("get_count_of_case_priority_wise", priority_list=["critical", "high"]),
        call("count_notifications_by_type", type=["alert"]),
        call("count_notifications_by_status", status=["draft"]),
        call("count_notifications_by_case", case_ids=pair),
        call("avg_notifications_by_case", case_ids=pair),
        read_user(handler),
        call("retrieve_knowledge_articles", title=scene.title),
    )
    text = ", ".join(map(str, counted)) + f", on average {average:g}."
    article = _article(scene.title, text, acting)
    wrong = _article(scene.title, ", ".join(str(value + 1) for value in counted), acting)
    report = notify(one, handler, "report")
    gold, answer = (
        (*looked, article, report),
        (f"The draft states {counted[0]} cases in progress for {teams[0].name} and {counted[1]} for {teams[1].name}."),
    )
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(one=one.number, two=two.number),
            plan=(
                "Look up the groups and the cases, and count.",
                "Write the draft with all figures (KB-2).",
                "Send the assignee of the case a report (NTF-2).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("states_the_cases", "The answer states the cases in progress [REF-3]",
                    paired(*((term(team.name), number(cases)) for team, cases in zip(teams, counted, strict=False)))),
            ),
            tools=("list_hr_cases", "list_hr_case_tasks", "find_notifications", "update_knowledge_article"),
            mistakes={"reports to the acting user": (notify(one, acting, "report"),)},
            negative_trajectories={
                "writes other figures": NegativeTrajectory((*looked, wrong, report), answer),
                "sends no report": NegativeTrajectory(only(gold, report), answer),
            },
        ),
        expect={"create_knowledge_article": {"body": Matches(sequence([*map(figure, counted), _decimal(average)]))}},
    )  # fmt: skip


def _article(title: str, text: str, owner: User) -> ToolCall:
    return call(
        "create_knowledge_article",
        title=title,
        body=text,
        state="draft",
        visibility="internal",
        owner_id=owner.user_id,
    )


def _counted(world: World, teams: Sequence[UserGroup], cases: Sequence[int]) -> list[int]:
    """The figures in the order of the request: cases of both groups, tasks, priorities, notifications."""
    in_progress = {"status": "work_in_progress"}
    return [
        *(len(world.all(HrCase, assignment_group=team.group_id, **in_progress)) for team in teams),
        len(world.all(HrCaseTask, assignment_group=teams[0].group_id, **in_progress)),
        *(len(world.all(HrCase, priority=priority)) for priority in ("critical", "high")),
        len(world.all(Notification, type="alert")),
        len(world.all(Notification, status="draft")),
        sum(len(world.all(Notification, hr_case_id=case)) for case in cases),
    ]


def _decimal(value: float) -> str:
    """Pattern for an average, with or without decimals."""
    whole, _, part = f"{value:g}".partition(".")
    return rf"(?<![\d.,]){whole}(?:[.,]{part}0*)?(?![\d])" if not part else rf"(?<![\d.,]){whole}[.,]{part}0*(?!\d)"


FAMILIES = (misdirected, drafts, replacements, figures)
