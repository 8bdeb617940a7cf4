"""Tasks of people who are asked: for an approval, or by a survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import HrCase, HrCaseTask, Survey, SurveyInstance, User
from opsgym_suites.hr.calls import (
    find_case,
    find_user,
    notify,
    only,
    read_subject,
    read_user,
    tasks_of,
    update_case,
    update_task,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call, full_name
from opsgym_suites.kit.verifiers import answer_says

# --- an approver decides ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decisions:
    """Requests that wait for the acting user, who decides by the position of the person."""

    slug: str
    actor: str
    position: str
    """Position whose requests are rejected."""
    prompt: str


DECISIONS: Mapping[str, Sequence[Decisions]] = {
    "hospital": (
        Decisions(
            "anil-decides-at-last", "Anil Deshpande", "Sales",
            "I have kept people waiting. Please decide everything that waits for my approval: people in the position "
            "Sales have used up their courses, so no to theirs and back to ready with the case; yes to the others, "
            "whose cases go on in progress. Each person gets an update.",
        ),
    ),
    "works": (
        Decisions(
            "rajesh-decides-at-last", "Rajesh Menon", "Sales",
            "What is on my list for approval? Approve the lot and let the work begin, except for people whose position "
            "is Sales: their budget is spent, so reject, and the case is ready again. An update to every one of the "
            "people.",
        ),
    ),
}  # fmt: skip


def decisions(world: World, seed: str) -> Iterator[Draft]:
    """An approver decides on all requests that wait, by what the profiles say [APR-3, APR-4]."""
    for scene in DECISIONS[seed]:
        yield _decision(world, scene)


def _decision(world: World, scene: Decisions) -> Draft:
    acting = world.user(scene.actor)
    cases = world.all(HrCase, approver=acting.user_id, request_status="requested")
    rejected = [case for case in cases if world.profile(world.person_of(case)).position == scene.position]
    looked = (
        find_user(acting),
        call("find_my_cases_to_approve"),
        *(made for case in cases for made in (read_subject(case), read_user(world.person_of(case)))),
    )
    decided = tuple(_decided(case, approved=case not in rejected) for case in cases)
    updates = tuple(notify(case, world.person_of(case), "update") for case in cases)
    gold = (*looked, *decided, *updates)
    answer = "; ".join(f"{case.number}: {'rejected' if case in rejected else 'approved'}" for case in cases) + "."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "List the cases that wait for the acting user's approval, and read the profiles of the people.",
                "Reject those of the position, with status ready; approve the others and start the work (APR-4).",
                "Send each person an update (NTF-2).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("names_the_cases", "The answer names the cases [REF-3]",
                    all_of(case.number for case in cases)),
            ),
            tools=("list_hr_cases", "find_hr_case_by_number", "update_hr_criteria", "list_hr_criteria"),
            access=Access.STRICT,
            mistakes={"tells the assignee too": (
                notify(cases[0], world.one(User, user_id=cases[0].assigned_to), "update"),
            )},
            negative_trajectories={
                "approves all": NegativeTrajectory(
                    (*looked, *(_decided(case, approved=True) for case in cases), *updates), answer
                ),
                "starts what is rejected": NegativeTrajectory(
                    (*looked, *(update_case(case, request_status="rejected", status="work_in_progress")
                        for case in rejected)),
                    answer, "APR-4",
                ),
            },
        ),
        rules={"update_hr_case": "APR-3, APR-4"},
    )  # fmt: skip


def _decided(case: HrCase, *, approved: bool) -> ToolCall:
    if approved:
        return update_case(case, request_status="approved", status="work_in_progress")
    return update_case(case, request_status="rejected", status="ready")


# --- surveys ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnAnswers:
    """A survey that asks the acting user, with the answers in the order of its questions."""

    slug: str
    actor: str
    case: str
    answers: tuple[str, str]
    prompt: str


OWN_ANSWERS: Mapping[str, Sequence[OwnAnswers]] = {
    "hospital": (
        OwnAnswers(
            "marek-answers-the-survey", "Marek Dvorak", "starter", ("Well, but only by phone", "Quick enough for me"),
            "Sunniva wants to know from me how we did in {case}, there is a survey. To what it asks about speed I say "
            "\"Quick enough for me\", and about how well, \"Well, but only by phone\". Please enter that for me, close "
            "the task if nothing in it is open then, and Sunniva gets an update.",
        ),
    ),
    "works": (
        OwnAnswers(
            "annika-answers-the-survey", "Annika Falk", "starter", ("Well, except for the shoes", "A week too long"),
            "There is a survey in {case} that I am asked to answer. How long it took: \"A week too long\". How well we "
            "did: \"Well, except for the shoes\". Write these in for me, and then, if no one else still has to answer, "
            "the task is done, so close it and send Devika an update.",
        ),
    ),
}  # fmt: skip


def own_answers(world: World, seed: str) -> Iterator[Draft]:
    """The acting user answers a survey, after which its task is done [SUR-1, TSK-4]."""
    for scene in OWN_ANSWERS[seed]:
        acting, case = world.user(scene.actor), world.case(scene.case)
        (task,) = [one for one in world.tasks(case) if one.task_type == "survey"]
        (instance,) = world.surveys_of(task)
        helper = world.one(User, user_id=case.assigned_to)
        survey = world.one(Survey, survey_id=instance.survey_id)
        one, two = scene.answers
        looked = (
            find_user(acting),
            find_case(case),
            tasks_of(case),
            call("list_survey_instances", case_task_id=task.hr_case_task_id),
            call("list_surveys", survey_id=survey.survey_id),
            read_user(helper),
        )
        answered, turned = _answered(instance, one, two), _answered(instance, two, one)
        closed, updates = update_task(task, status="closed_complete"), notify(case, helper, "update")
        gold, answer = (*looked, answered, closed, updates), f"Your answers are in, and {task.number} is closed."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the case, its survey task, who is asked in it, and the questions of the survey.",
                    "Enter the answers at their questions: the acting user is the one who is asked (SUR-1).",
                    "Close the task, since every survey in it is answered (TSK-4), and send the update.",
                ),
                gold=gold,
                answer=answer,
                verifiers=(
                    answer_says("names_the_task", "The answer names the task or the case [REF-3]",
                        task.number, case.number),
                ),
                tools=("create_survey_instance", "update_survey", "create_hr_case_task", "update_hr_case"),
                access=Access.STRICT,
                mistakes={"adds a survey": (
                    call("create_survey_instance", survey_id=survey.survey_id, case_task_id=task.hr_case_task_id,
                        assigned_to=helper.user_id),
                )},
                negative_trajectories={
                    "confuses the questions": NegativeTrajectory((*looked, turned, closed, updates), answer),
                    "closes it without answers": NegativeTrajectory((*looked, closed, updates), answer, "TSK-4"),
                },
                also={"names the case": Solution(answer=f"The survey of {case.number} is answered, its task closed.")},
            ),
            rules={"update_hr_case_task": "TSK-4", "send_notification": "NTF-2"},
        )  # fmt: skip


def _answered(instance: SurveyInstance, one: str, two: str) -> ToolCall:
    return call("update_survey_instance", survey_instance_id=instance.survey_instance_id, answer_1=one, answer_2=two)


@dataclass(frozen=True)
class Reworded:
    """A survey whose questions change, and of which some have not been answered."""

    slug: str
    actor: str
    question: str
    """Its first question, by which the request names it."""
    second: str
    third: str
    prompt: str


REWORDED: Mapping[str, Sequence[Reworded]] = {
    "hospital": (
        Reworded(
            "one-more-question", "Rosalind Keane", "How well did we answer?", "Did we answer in time?",
            "What should we change?",
            "In the survey \"How well did we answer?\" the second question is worded \"Did we answer in time?\" from "
            "now on, and a third one comes in, \"What should we change?\". Every person who has not answered this "
            "survey yet gets a reminder on the case that it belongs to. Answers stay as they are.",
        ),
    ),
    "works": (
        Reworded(
            "the-second-question-was-unclear", "Henrike Vogel", "Did we answer well?", "Did we answer in time?",
            "What would have helped you?",
            "Our survey that begins with \"Did we answer well?\" is unclear in question two. New wording: \"Did we "
            "answer in time?\". Please add a third question as well, \"What would have helped you?\". Then look whose "
            "answers to it are missing, and send a reminder for the case in question. No answer is to be touched.",
        ),
    ),
}  # fmt: skip


def reworded(world: World, seed: str) -> Iterator[Draft]:
    """Questions of a survey change, and those who have not answered are reminded [NTF-1, NTF-2]."""
    for scene in REWORDED[seed]:
        acting, survey = world.user(scene.actor), world.one(Survey, question_1=scene.question)
        instances = world.all(SurveyInstance, survey_id=survey.survey_id)
        waiting = [one for one in instances if one.answer_1 is None]
        tasks = [world.one(HrCaseTask, hr_case_task_id=one.case_task_id) for one in waiting]
        cases = [world.one(HrCase, hr_case_id=task.parent_case) for task in tasks]
        people = [world.one(User, user_id=one.assigned_to) for one in waiting]
        looked = (
            find_user(acting),
            call("list_surveys", question_1=scene.question),
            call("list_survey_instances", survey_id=survey.survey_id),
            *(call("list_hr_case_tasks", hr_case_task_id=str(task.hr_case_task_id)) for task in tasks),
            *map(find_case, cases),
            *map(read_user, people),
        )
        changed = call("update_survey", survey_id=survey.survey_id, question_2=scene.second, question_3=scene.third)
        reminded = tuple(notify(case, user, "reminder") for case, user in zip(cases, people, strict=True))
        names = [full_name(user) for user in people]
        gold, answer = (*looked, changed, *reminded), f"The questions are changed; reminded: {', '.join(names)}."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt,
                plan=(
                    "Look up the survey, who has been asked, and which answers are missing.",
                    "Look up the tasks and cases of those, and the people.",
                    "Change the questions, and send the reminders (NTF-2).",
                ),
                gold=gold,
                answer=answer,
                verifiers=(
                    answer_says("names_the_people", "The answer names who was reminded [REF-3]",
                        all_of(term(user.last_name) for user in people)),
                ),
                tools=("create_survey", "create_survey_instance", "update_survey_instance", "find_notifications"),
                mistakes={"answers for one": (
                    call("update_survey_instance", survey_instance_id=waiting[0].survey_instance_id, answer_1="Well"),
                )},
                negative_trajectories={
                    "adds no question": NegativeTrajectory(
                        (*looked, call("update_survey", survey_id=survey.survey_id, question_2=scene.second),
                            *reminded),
                        answer,
                    ),
                    "reminds no one": NegativeTrajectory(only(gold, *reminded), answer),
                },
            ),
        )  # fmt: skip


FAMILIES = (decisions, own_answers, reworded)
