"""Work that goes on when a person has answered, a day later.

Invariant: what the second day asks for depends on what the records hold then, not on what the user expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.days import Day
from opsgym_domains.hr.tables import SurveyInstance
from opsgym_suites.hr.calls import (
    find_article,
    find_case,
    find_user,
    link,
    notify,
    read_subject,
    read_user,
    tasks_of,
    update_case,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at

# --- a survey that is answered over night ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """A survey that a colleague answers over night; the second answer decides how the case goes on."""

    request: Asked
    colleague: str
    later: str
    begins: str
    answers: tuple[str, str]
    slow: bool
    """Whether the colleague found that it took long."""
    follow_up: str
    helper: str
    article: str


ANSWERS: Mapping[str, Answered] = {
    "works": Answered(
        Asked(
            "what-annika-thinks-of-it", "Devika Rao",
            "{case}: Annika Falk has not answered our survey. A reminder for her is all I want for now.",
            Access.STRICT,
        ),
        "Annika Falk",
        "Morning! Has Annika answered by now? Then its task is finished. If she says it did not take long, the case is "
        "ready for Milena to accept, with all that our rules ask for and The first shift as its resolution. If it did "
        "take long in her view, link that article as applied, leave the case in progress and make a ready task \"Find "
        "out what took so long\" for Magnus Thorsen, mark when complete, Personnel Office.",
        "2027-02-19 08:50", ("Friendly people.", "Three weeks, so yes."), True, "Find out what took so long",
        "Magnus Thorsen", "The first shift",
    ),
}  # fmt: skip


def answered(world: World, seed: str) -> Iterator[Draft]:
    """What a survey says on the second day decides whether the case is handed over [TSK-4, CAS-7, SUR-1]."""
    if seed in ANSWERS:
        yield _answered(world, ANSWERS[seed])


def _answered(world: World, scene: Answered) -> Draft:
    acting, case, begins = world.user(scene.request.actor), world.case("starter"), at(scene.begins)
    (task,), person, article = world.tasks(case), world.person_of(case), world.article(scene.article)
    (request,) = world.all(SurveyInstance, case_task_id=task.hr_case_task_id)
    recipient = world.user(scene.colleague)
    colleague = read_user(recipient)
    event = ScenarioEvent(world, begins - world.now).change(
        request, answer_1=scene.answers[0], answer_2=scene.answers[1]
    )
    reminded, closed = notify(case, recipient, "reminder"), on_day(2, update_task(task, status="closed_complete"))
    follow_up = call(
        "create_hr_case_task",
        status="ready",
        short_description=scene.follow_up,
        assigned_to=scene.helper,
        assignment_group=world.team_of(case).name,
        task_type="mark when complete",
        parent_case=str(case.hr_case_id),
    )
    over, message = update_case(case, status="awaiting_acceptance"), notify(case, person, "solution_proposal")
    slow = on_day(2, link(case, article, "applied"), follow_up)
    quick = on_day(2, link(case, article, "resolution"), over, message)
    right, wrong = (slow, quick) if scene.slow else (quick, slow)
    survey = call("list_survey_instances", case_task_id=task.hr_case_task_id)
    reads = (find_user(acting), find_case(case), tasks_of(case), survey, colleague)
    then = on_day(2, survey, find_article(article), read_subject(case), read_user(person))
    state = "stays in progress with one more task" if scene.slow else f"waits for {full_name(person)} to accept"
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up the case, its task, the survey and who has to answer it; remind that user (NTF-2).",
                "Second day: read the answers, and close the task of the survey (TSK-4).",
                "Go on as the second answer demands (CAS-7).",
            ),
            reads,
            (reminded, *then, *closed, *right),
            f"{full_name(recipient)} has answered; {task.number} is closed and {case.number} {state}.",
            (case.number,),
            left_out={"reminds no one": (reminded,), "leaves the task": closed, "does half": right[-1:]},
            refused={} if scene.slow else {"leaves the task": "CAS-7"},
            instead={"takes it the other way": (reminded, *then, *closed, *wrong)},
            mistakes={"reminds again": on_day(2, reminded)},
            tools=("update_survey_instance", "create_survey_instance", "update_hr_case", "create_hr_case_task"),
        ),
        event,
        numbers={"case": case.number},
        rules={"send_notification": "NTF-1, NTF-2", "update_hr_case_task": "TSK-4", "update_hr_case": "CAS-7"},
        days=(Day(message=scene.later, begins_at=begins.isoformat()),),
        day_answers=(f"{full_name(recipient)} got a reminder about {case.number}.",),
        events=(event.happens_at(begins),),
    )


FAMILIES = (answered,)
