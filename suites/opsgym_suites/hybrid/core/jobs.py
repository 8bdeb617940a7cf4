"""How tasks in which mail, files and teams take part are written: the calls of each system, and what is proved of all.

Invariant: a job states what is particular to it. What follows for every task, from acting users to verifiers, is stated
here once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.csm.verification import CURRENT_TIMES
from opsgym_suites.drive.verification import stating as stating_in_drive
from opsgym_suites.email.verification import stating as stating_in_mail
from opsgym_suites.hr.verification import NOT_STARTED
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, HR, ITSM, TEAMS, VERIFIERS
from opsgym_suites.hybrid.systems import MORNING, NOW, Systems
from opsgym_suites.kit.derived_verifiers import Expected
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, on_day, on_gym
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import GymServer
from opsgym_suites.kit.verifiers import answer_refuses, answer_says
from opsgym_suites.teams.verification import stating as stating_in_teams

in_itsm, in_csm, in_hr = partial(on_gym, ITSM.gym), partial(on_gym, CSM.gym), partial(on_gym, HR.gym)
in_calendar, in_mail = partial(on_gym, CALENDAR.gym), partial(on_gym, EMAIL.gym)
in_drive, in_teams = partial(on_gym, DRIVE.gym), partial(on_gym, TEAMS.gym)
Calls = Sequence[ToolCall]
AT_THE_DESK = {"update_configuration_item": "ID-4"}
"""Rules of the service desk by tool, for tools that its own tasks do not use."""


@dataclass(frozen=True)
class Job:
    """A request to one person's assistant in several systems."""

    slug: str
    actor: str
    servers: tuple[GymServer, ...]
    prompt: str
    plan: tuple[str, ...]
    gold: Calls
    answer: str
    says: Sequence[str] = ()
    """Patterns that the answer has, all of them; of a request that is declined each gives the reason."""
    tools: tuple[str, ...] = ()
    mistakes: Mapping[str, Calls] = field(default_factory=dict)
    wrong: Mapping[str, tuple[Calls, str]] = field(default_factory=dict)
    """Other ways to work on it, each with its answer, which verifiers notice."""
    refused: Mapping[str, tuple[Calls, str]] = field(default_factory=dict)
    """Ways that the server refuses, each with the rule that the refusal names."""
    also: Mapping[str, Solution] = field(default_factory=dict)
    optional: Calls = ()
    evidence: tuple[Any, ...] = ()
    in_mails: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Patterns of what a mail or an automatic reply must state, by a part of the solution's text."""
    in_posts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The same for messages in Teams."""
    in_comments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The same for comments and replies on Drive."""
    subject: str = ""
    """Pattern of what a request that is declined is about; empty for those that are carried out."""
    tags: tuple[str, ...] = ()
    access: Access = Access.PUBLISHED
    happenings: tuple[Event, ...] = ()
    changes: Mapping[str, ScenarioEvent[Any]] = field(default_factory=dict)
    """What `happenings` change, by gym server."""
    expect: Mapping[str, Expected] = field(default_factory=dict)
    """Conditions on columns by tool, by gym server, besides those of texts and of current times."""
    day_two: tuple[str, Calls] | None = None
    """The message of the second day and its calls; those of `gold` are made on the first day."""
    first_answer: str = ""
    first_says: Sequence[str] = ()


def written(systems: Systems, job: Job) -> Draft:
    """The task of a job."""
    actors = systems.actors(job.actor, *job.servers)
    days = (Day(message=job.day_two[0], begins_at=MORNING.isoformat()),) if job.day_two else ()
    gold = (*on_day(1, *job.gold), *on_day(2, *job.day_two[1])) if job.day_two else tuple(job.gold)
    draft = Draft(
        slug=job.slug,
        actor=actors[job.servers[0].gym],
        actors=actors,
        prompt=job.prompt,
        plan=job.plan,
        gold=gold,
        answer=job.answer,
        verifiers=_on_answers(job),
        tools=job.tools,
        feasible=not job.subject,
        tags=job.tags,
        access=job.access,
        evidence=job.evidence,
        also=job.also,
        events=job.happenings,
        days=days,
        day_answers=(job.first_answer,) if days else (),
        mistakes={label: tuple(calls) for label, calls in job.mistakes.items()},
        negative_trajectories={
            **{label: NegativeTrajectory(calls, answer) for label, (calls, answer) in job.wrong.items()},
            **{label: NegativeTrajectory(calls, "Done.", rule=rule) for label, (calls, rule) in job.refused.items()},
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        job.changes,
        rules={ITSM.gym: AT_THE_DESK} if ITSM in job.servers else None,
        advance=MORNING - NOW if days else timedelta(),
        expect={
            EMAIL.gym: {**stating_in_mail(job.in_mails), **job.expect.get(EMAIL.gym, {})},
            TEAMS.gym: stating_in_teams(job.in_posts),
            CSM.gym: CURRENT_TIMES,
            DRIVE.gym: stating_in_drive(job.in_comments),
            HR.gym: NOT_STARTED,
            **{gym: conditions for gym, conditions in job.expect.items() if gym != EMAIL.gym},
        },
        optional=job.optional,
    )


def _on_answers(job: Job) -> tuple[Any, ...]:
    if job.subject:
        return answer_refuses(*job.says, subject_pattern=job.subject)
    last = answer_says("says_what_was_done", "The answer says what was done [REF-3]", all_of(job.says))
    first = answer_says("says_it_on_the_first_day", "The first answer says so [REF-3]", all_of(job.first_says), day=1)
    return (first, last) if job.first_says else (last,)
