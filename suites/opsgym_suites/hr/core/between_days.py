"""Work that goes on when a person has answered, accepted or complained, some days later.

Invariant: what the second day asks for depends on what the records hold then, not on what the user expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.days import Day
from opsgym_domains.hr.tables import HrCaseTask, SurveyInstance
from opsgym_suites.hr.calls import (
    find_article,
    find_case,
    find_centre,
    find_service,
    find_user,
    items_of,
    link,
    notify,
    read_subject,
    read_user,
    tasks_of,
    tick,
    update_case,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name, on_day
from opsgym_suites.kit.effects import WrittenRow
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
    "hospital": Answered(
        Asked(
            "what-marek-thinks-of-it", "Sunniva Berg",
            "In {case} Marek still owes us his answers to a survey. Remind him, please, and nothing more today.",
            Access.STRICT,
        ),
        "Marek Dvorak",
        "Good morning. See whether Marek has answered. If it was quick enough for him, let us come to an end: close "
        "the survey task, take First day at the hospitals as the resolution and hand the case over to Celeste for "
        "acceptance with what belongs to it. If it was too slow, only close the task and give me a new one, \"Ask why "
        "it was slow\", mark when complete, ready, People Services; the article then counts as applied, and the case "
        "goes on.",
        "2026-11-17 09:20", ("Well, and friendly.", "Yes, two days."), False, "Ask why it was slow", "Sunniva Berg",
        "First day at the hospitals",
    ),
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


# --- two people who accept in their own time -------------------------------------------------------------------------


def accepted_or_not(world: World) -> Draft:
    """One person objects before the system closes the case, the other one after it [CAS-7, CAS-8, CAS-9]."""
    acting, login, scheme = world.user("Desmond Achebe"), world.case("portal"), world.case("pension")
    second, third = at("2026-11-19 09:00"), at("2026-11-24 09:30")
    (steps,), (forms,) = world.tasks(login), world.tasks(scheme)
    esme, celeste, service = world.person_of(login), world.person_of(scheme), world.one_service(scheme)
    handler, new_task = world.user("Zofia Kaminska"), world.next_id(HrCaseTask)
    ticks = tuple(tick(item) for task in (steps, forms) for item in world.items(task) if not item.checked)
    closed = tuple(update_task(task, status="closed_complete") for task in (steps, forms))
    over = tuple(update_case(case, status="awaiting_acceptance") for case in (login, scheme))
    proposals = (notify(login, esme, "solution_proposal"), notify(scheme, celeste, "solution_proposal"))
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Second look",
        assigned_to=full_name(handler),
        assignment_group=world.team_of(login).name,
        task_type="mark when complete",
        parent_case=str(login.hr_case_id),
    )
    back = on_day(2, find_case(login), update_case(login, status="work_in_progress", priority="critical"), task)
    done = on_day(3, call("update_hr_case_task", hr_case_task_id=str(new_task), status="closed_complete"))
    again = on_day(3, update_case(login, status="awaiting_acceptance"), notify(login, esme, "solution_proposal"))
    opened = on_day(
        3,
        call(
            "create_new_hr_case",
            hr_service=str(service.hr_service_id),
            opened_for=full_name(celeste),
            priority="moderate",
            source="phone",
            short_description="Start in January is wrong",
            coe_type=world.centre_of(service),
        ),
    )
    looked = on_day(3, find_case(scheme), tasks_of(login), find_service(service), find_centre(world, service))
    first = (*ticks, *closed, *over, *proposals)
    reopened = on_day(3, update_case(scheme, status="work_in_progress"))

    def judged(row: WrittenRow) -> Mapping[str, object]:
        return {"status": "closed_complete"} if row.key == scheme.hr_case_id else {}

    return carried_out(
        world,
        Asked(
            "esme-objects-celeste-is-late", "Desmond Achebe",
            "Two cases can go to their people for acceptance: {login}, where the session was reset this morning, and "
            "{scheme}, signed on Friday. Whatever is open in their tasks has been done. Please do what a handover "
            "takes in both; no articles.",
        ),
        Work(
            (
                "Look up both cases with their tasks and lists; tick, close, hand over, send proposals (CAS-7).",
                "Second day: the first case goes back to work, with another priority and a task.",
                "Third day: the other case is closed (CAS-9) and final (CAS-8), so open a new one (CAS-1).",
                "Close the task of the first case, and hand it over again.",
            ),
            (
                find_user(acting),
                find_case(login),
                tasks_of(login),
                items_of(steps),
                read_subject(login),
                find_case(scheme),
                tasks_of(scheme),
                items_of(forms),
                read_subject(scheme),
                read_user(esme),
                read_user(celeste),
            ),
            (*first, *back, *looked, *done, *again, *opened),
            f"{login.number} waits for {full_name(esme)} again. {scheme.number} is closed for good, so there is a new "
            f"draft case for {full_name(celeste)}.",
            (login.number, term("Amaro")),
            left_out={"opens no case": opened, "leaves the task": done, "sends no proposals": proposals},
            instead={"opens the old case again": (*first, *back, *looked, *done, *again, *reopened)},
            mistakes={"starts the new task": on_day(2, notify(login, handler, "reminder"))},
            tools=("link_knowledge_to_hr_case", "update_notification", "create_survey"),
        ),
        ScenarioEvent(world, third - world.now),
        numbers={"login": login.number, "scheme": scheme.number},
        rules={
            "update_hr_case": "CAS-7, CAS-8, CAS-9",
            "update_hr_case_task": "TSK-4",
            "create_new_hr_case": "CAS-1, CAS-8",
            "create_hr_case_task": "TSK-2",
        },
        expect={
            "update_hr_case": judged,
            "create_hr_case_task": {"status": "closed_complete", "active": [True, False]},
        },
        days=(
            Day(
                message="Esme cannot log in again, on a ward that lives by the portal. Back to work with her case, "
                "critical this time, and a ready task \"Second look\", mark when complete, for Zofia Kaminska in the "
                "group of the case. Celeste has not said a word yet.",
                begins_at=second.isoformat(),
            ),
            Day(
                message="Zofia is through with the second look, and Esme may judge once more, in due form. And Celeste "
                "rang today: the start in January is wrong, she does not accept. That must be seen to, \"Start in "
                "January is wrong\", moderate; unassigned, if it needs a new start.",
                begins_at=third.isoformat(),
            ),
        ),
        day_answers=(
            f"{login.number} and {scheme.number} wait for acceptance.",
            f"{login.number} is in progress again, critical, with a task for Zofia Kaminska.",
        ),
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {"hospital": (accepted_or_not,), "works": ()}


def single(world: World, seed: str) -> Iterator[Draft]:
    """Two people accept in their own time."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES: tuple[Callable[[World, str], Iterator[Draft]], ...] = (answered, single)
