"""Articles, tasks and messages that hang on several cases: texts that are rewritten, work filed wrongly, preparations.

Invariant: which cases and people are concerned follows from links, profiles and assignees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import HrCase, HrCaseKnowledge, HrCaseTask, Knowledge, Notification, Survey, User
from opsgym_domains.hr.visibility import OPEN
from opsgym_suites.hr.calls import (
    find_article,
    find_case,
    find_service,
    find_team,
    find_user,
    items_of,
    link,
    members_of,
    notify,
    numbers,
    read_subject,
    read_user,
    tasks_of,
    update_case,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name

# --- an article that is rewritten ------------------------------------------------------------------------------------


def text_is_rewritten(world: World) -> Draft:
    """Published texts of an author change hands, one of them is unpublished, and open cases lose it [KB-1, KB-2]."""
    acting, author, heir = (world.user(name) for name in ("Leopold Adeyemi", "Willem Brandt", "Nadia Rahimi"))
    texts, article = world.all(Knowledge, owner_id=author.user_id), world.article("Longer absences")
    (other,) = (one for one in texts if one is not article)
    links = world.all(HrCaseKnowledge, knowledge_id=article.knowledge_id)
    cases = {row.hr_case_kb_id: world.one(HrCase, hr_case_id=row.hr_case_id) for row in links}
    current = [row for row in links if cases[row.hr_case_kb_id].status in OPEN]
    calling = [cases[row.hr_case_kb_id] for row in current if cases[row.hr_case_kb_id].assigned_to != heir.user_id]
    own = [cases[row.hr_case_kb_id] for row in current if cases[row.hr_case_kb_id] not in calling]
    handed = call("update_knowledge_article", knowledge_id=article.knowledge_id, owner_id=heir.user_id, state="draft")
    retired = call("update_knowledge_article", knowledge_id=other.knowledge_id, state="retired")
    dropped = tuple(call("remove_knowledge_link_to_hr_case", hr_case_kb_id=row.hr_case_kb_id) for row in current)

    def tasks(of: Sequence[HrCase]) -> tuple[ToolCall, ...]:
        return tuple(
            call(
                "create_hr_case_task",
                status="ready",
                short_description="Explain the dates by phone",
                assigned_to=full_name(world.one(User, user_id=case.assigned_to)),
                assignment_group=world.team_of(case).name,
                task_type="mark when complete",
                parent_case=str(case.hr_case_id),
            )
            for case in of
        )

    reminders = tuple(notify(case, world.one(User, user_id=case.assigned_to), "reminder") for case in calling)
    closed = next(row for row in links if row not in current)
    return carried_out(
        world,
        Asked(
            "willem-writes-no-more", "Leopold Adeyemi",
            "Willem Brandt does not write articles any longer. What of his is published becomes Nadia Rahimi's, who "
            "will rewrite it: until then it is a draft, still in her name, and must not hang on any open case; closed "
            "cases keep theirs. What of his never got beyond a draft is retired and remains his. In open cases that "
            "lose an article this way the assignee explains by phone instead: a ready task \"Explain the dates by "
            "phone\", mark when complete, group of the case, and a reminder to the assignee. Nadia knows, so no task "
            "and no reminder in her own cases.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the author's articles by owner, their links, and the cases that these belong to.",
                "Hand the published one over as a draft, retire the other one (KB-2).",
                "Remove the links in open cases (KB-1); in those of others create the task and remind the assignee.",
            ),
            (
                find_user(acting),
                find_user(author),
                find_user(heir),
                call("retrieve_knowledge_articles", owner_id=author.user_id),
                call("find_hr_case_knowledge_links", knowledge_id=article.knowledge_id),
                call("find_hr_case_knowledge_links", knowledge_id=other.knowledge_id),
                call("list_hr_cases", hr_service="Long absence", limit=100),
                *(read_user(world.one(User, user_id=key)) for key in sorted({one.assigned_to or 0 for one in calling})),
            ),
            (handed, retired, *dropped, *tasks(calling), *reminders),
            f"{article.kb_number} is a draft of Nadia Rahimi, {other.kb_number} is retired. Tasks for a call are in "
            f"{numbers(calling)}; {numbers(own)} lost the link too.",
            (article.kb_number, other.kb_number, *(case.number for case in calling)),
            left_out={
                "leaves the draft": (retired,), "leaves the links": dropped, "makes no tasks": tasks(calling),
                "reminds no one": reminders,
            },
            mistakes={
                "removes it from a closed case": (
                    call("remove_knowledge_link_to_hr_case", hr_case_kb_id=closed.hr_case_kb_id),
                ),
                "makes tasks for her": tasks(own),
            },
            tools=("create_knowledge_article", "link_knowledge_to_hr_case", "update_hr_case"),
        ),
        rules={
            "update_knowledge_article": "KB-2",
            "remove_knowledge_link_to_hr_case": "KB-1",
            "create_hr_case_task": "CAS-4",
            "send_notification": "NTF-1, NTF-2",
        },
    )  # fmt: skip


# --- work in the wrong case ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misfiled:
    """A task and a message that belong to the case of another person with nearly the same name."""

    request: Asked
    item: str
    done: str
    """Item of the checklist of the right case that is done."""
    article: str


MISFILED: Mapping[str, Misfiled] = {
    "hospital": Misfiled(
        Asked(
            "a-call-for-the-other-wilma", "Tobias Renner",
            "I mixed up our two Wilmas. The task in {bonus} to tell the person how it went belongs into {other}, for "
            "the one who has that case, and it becomes a checklist: \"Ring before nine\" is the only item. A message "
            "to Wilma Okonkwo that hangs on {bonus} as a draft belongs to {other} as well and may go out from there; "
            "what has gone out stays. {other} is high, and Night shift bonus in the roster is suggested in it.",
            Access.STRICT,
        ),
        "Ring before nine", "Ask the ward", "Night shift bonus in the roster",
    ),
    "works": Misfiled(
        Asked(
            "a-call-for-the-other-konrad", "Stellan Ekdahl",
            "The two Konrads again. In {bonus} there is a task, tell the person how it went; in truth it is for "
            "Halloway and so for the assignee of {other}, where it belongs. Make it a checklist with the one item "
            "\"Call after the shift\". The draft of a message to Konrad Halloway on {bonus} moves to {other} too, but "
            "stays a draft. As for {bonus} itself, the foreman has answered: tick that. And let our Halloran have an "
            "update on his case.",
        ),
        "Call after the shift", "Ask the foreman", "Sunday rate in the time clock",
    ),
}  # fmt: skip


def misfiled(world: World, seed: str) -> Iterator[Draft]:
    """Task and message move to another case, with its assignee [TSK-2, CAS-4, NTF-1]."""
    yield _misfiled(world, MISFILED[seed], asked_to_send=seed == "hospital")


def _misfiled(world: World, scene: Misfiled, *, asked_to_send: bool) -> Draft:
    acting, bonus, other = world.user(scene.request.actor), world.case("bonus"), world.case("bonus-other")
    steps, task = world.tasks(bonus)
    owner, person, mixed = world.one(User, user_id=other.assigned_to), world.person_of(bonus), world.person_of(other)
    (waiting,) = world.all(Notification, hr_case_id=bonus.hr_case_id, email=mixed.email, status="draft")
    article, status = world.article(scene.article), {"status": "ready"} if asked_to_send else {}
    moved = update_task(task, parent_case=str(other.hr_case_id), assigned_to=full_name(owner), task_type="checklist")
    same_owner = update_task(task, parent_case=str(other.hr_case_id), task_type="checklist")
    item = call("create_checklist", checklist_item_description=scene.item, case_task_id=task.hr_case_task_id)
    message = call(
        "update_notification", notification_id=waiting.notification_id, hr_case_id=other.hr_case_id, **status
    )
    (done,) = (one for one in world.items(steps) if one.checklist_item_description == scene.done)
    ticked = call("update_checklist", checklist_id=done.checklist_id, checked=True)
    rest = (
        (update_case(other, priority="high"), link(other, article, "suggested"))
        if asked_to_send
        else (ticked, notify(bonus, person, "update"))
    )
    sent = world.all(Notification, hr_case_id=bonus.hr_case_id, email=mixed.email, status="ready")
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up both cases with their people and assignees, the tasks, and the messages to the other person.",
                "Move the task to the other case and its assignee, as a checklist with the item (CAS-4, TSK-2).",
                "Move the draft of the message (NTF-1), and do the rest of the request.",
            ),
            (
                find_user(acting),
                find_case(bonus),
                find_case(other),
                tasks_of(bonus),
                items_of(steps),
                read_user(owner),
                find_user(mixed),
                *((find_article(article),) if asked_to_send else (find_user(person),)),
                call("find_notifications_for_email", email=mixed.email),
            ),
            (moved, item, message, *rest),
            f"{task.number} is in {other.number} now, for {full_name(owner)}, with one item; the draft moved too. "
            f"{bonus.number} has no other change.",
            (other.number, term(owner.last_name)),
            left_out={"adds no item": (item,), "leaves the message": (message,), "forgets the rest": rest[-1:]},
            instead={"leaves the assignee": (same_owner, item, message, *rest)},
            mistakes={"moves what was sent": (
                call("update_notification", notification_id=sent[0].notification_id, hr_case_id=other.hr_case_id),
            )},
            tools=("create_hr_case_task", "delete_notifications", "send_notification"),
        ),
        numbers={"bonus": bonus.number, "other": other.number},
        rules={"update_hr_case_task": "CAS-4, TSK-2", "update_notification": "NTF-1", "update_hr_case": "ID-3"},
    )  # fmt: skip


# --- preparations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Preparation:
    """What a move needs before its approval, by the profile of the person."""

    request: Asked
    address: str
    address_task: str
    helper: str
    setup: str
    setup_task: str
    country: str
    """Nationality that needs no visa."""
    article: str


PREPARATIONS: Mapping[str, Preparation] = {
    "hospital": Preparation(
        Asked(
            "felix-is-prepared", "Lydia Ferraro",
            "Before I ask for an approval in {case} I want Felix's move prepared: four ready tasks, all in People "
            "Services. For me a url task \"House rules\", https://rules.coast-clinic.example/house. For Sunniva Berg a "
            "task of type hr service, \"Setup at the coast\", service New employee setup. For me a checklist "
            "\"Papers\": Passport and Contract for everyone, Visa for those who are not British, Courier only for "
            "people who work remote. And for me a survey task \"Ask how we answered\" in which Felix gets the "
            "questionnaire about how well we answered. Suggest the article on visa papers if he needs a visa.",
            Access.STRICT,
        ),
        "https://rules.coast-clinic.example/house", "House rules", "Sunniva Berg", "New employee setup",
        "Setup at the coast", "GB", "Visa papers step by step",
    ),
    "works": Preparation(
        Asked(
            "thiago-is-prepared", "Magnus Thorsen",
            "{case}: the yard is in Brazil, and I would like to have all prepared before anyone approves. Four tasks, "
            "ready, Personnel Office. Url task \"Rules of the yard\" for me, https://yard.example/rules. Task of type "
            "hr service for Devika Rao, \"Locker at the yard\", service Joiner setup. Checklist \"Papers\" for me, "
            "with Passport and Contract always, Visa unless the person is Brazilian, Courier if the person works "
            "remote. Survey task \"Ask how we answered\" for me, and Thiago answers the one on whether we answered "
            "well. Should a visa be necessary, suggest Papers for postings.",
            Access.STRICT,
        ),
        "https://yard.example/rules", "Rules of the yard", "Devika Rao", "Joiner setup", "Locker at the yard", "BR",
        "Papers for postings",
    ),
}  # fmt: skip


def preparations(world: World, seed: str) -> Iterator[Draft]:
    """Tasks of four types; what the list holds follows from nationality and place of work [TSK-3]."""
    yield _preparation(world, PREPARATIONS[seed])


def _preparation(world: World, scene: Preparation) -> Draft:
    acting, case, survey = world.user(scene.request.actor), world.case("move"), world.all(Survey)[1]
    team, person, article = world.team_of(case), world.person_of(case), world.article(scene.article)
    profile, first = world.profile(person), world.next_id(HrCaseTask)

    def task(text: str, kind: str, assignee: str, **fields: str) -> ToolCall:
        return call(
            "create_hr_case_task",
            status="ready",
            short_description=text,
            assigned_to=assignee,
            assignment_group=team.name,
            task_type=kind,
            parent_case=str(case.hr_case_id),
            **fields,
        )

    own = full_name(acting)
    tasks = (
        task(scene.address_task, "url", own, external_url=scene.address),
        task(scene.setup_task, "hr service", scene.helper, hr_service=scene.setup),
        task("Papers", "checklist", own),
        task("Ask how we answered", "survey", own),
    )
    visa = profile.nationality != scene.country
    fitting = {"Passport": True, "Contract": True, "Visa": visa, "Courier": profile.location_type == "Remote"}
    items = {
        text: call("create_checklist", checklist_item_description=text, case_task_id=first + 2) for text in fitting
    }
    right = tuple(items[text] for text, fits in fitting.items() if fits)
    unfit = tuple(items[text] for text, fits in fitting.items() if not fits)
    instance = call(
        "create_survey_instance", survey_id=survey.survey_id, case_task_id=first + 3, assigned_to=person.user_id
    )
    linked = (link(case, article, "suggested"),) if visa else ()
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up the case, the profile of its person, the group with the helper, the survey, the article.",
                "Create the four tasks; one needs an address, one a service (TSK-3).",
                "Add the items that fit nationality and place of work, and the survey without answers (SUR-1).",
            ),
            (
                find_user(acting),
                find_case(case),
                read_subject(case),
                find_user(person),
                find_user(world.user(scene.helper)),
                find_team(team),
                members_of(team),
                find_service(world.service(scene.setup)),
                call("list_surveys"),
                *((find_article(article),) if visa else (tasks_of(case),)),
            ),
            (*tasks, *right, instance, *linked),
            f"{case.number} has four tasks; {len(right)} items are on the list.",
            (case.number,),
            left_out={
                "makes no list": right, "asks no one": (instance,), "forgets a task": tasks[1:2],
                **({"links nothing": linked} if linked else {}),
            },
            mistakes={"adds what does not fit": unfit, **({} if linked else {
                "suggests the article": (link(case, article, "suggested"),)})},
            tools=("update_hr_case", "create_survey", "link_knowledge_to_hr_case", "send_notification"),
        ),
        numbers={"case": case.number},
        rules={"create_hr_case_task": "TSK-2, TSK-3, CAS-4", "create_survey_instance": "SUR-1"},
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {"hospital": (), "works": (text_is_rewritten,)}


def single(world: World, seed: str) -> Iterator[Draft]:
    """Articles change hands."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (misfiled, preparations, single)
