"""What a task's verifiers must accept and must not: plays and end states that are derived from the task's draft.

Invariant: all of them come from the draft, the seed and the recorded end of the reference solution, so a new task is
proved without a new test.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from tests.suites.episodes import Ending, Play, Servers, play_all, postponed, tool_of
from tests.suites.forms import FORMS
from tests.suites.variations import variations
from tests.suites.wordings import reworded

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.verification.readings import matches
from opsgym_runner.verification.state_difference import judge_difference
from opsgym_suites.calendar.authored import AUTHORED as CALENDAR
from opsgym_suites.calendar.verification import VERIFIERS as CALENDAR_VERIFIERS
from opsgym_suites.csm.authored import AUTHORED as CSM
from opsgym_suites.csm.verification import VERIFIERS as CSM_VERIFIERS
from opsgym_suites.drive.authored import AUTHORED as DRIVE
from opsgym_suites.drive.verification import VERIFIERS as DRIVE_VERIFIERS
from opsgym_suites.email.authored import AUTHORED as EMAIL
from opsgym_suites.email.verification import VERIFIERS as EMAIL_VERIFIERS
from opsgym_suites.hr.authored import AUTHORED as HR
from opsgym_suites.hr.verification import VERIFIERS as HR_VERIFIERS
from opsgym_suites.hybrid.authored import AUTHORED as HYBRID
from opsgym_suites.itsm.authored import AUTHORED as ITSM
from opsgym_suites.itsm.verification import VERIFIERS as ITSM_VERIFIERS
from opsgym_suites.kit.derived_verifiers import VerifierBuilder
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.effects import ToolEffects, WrittenRow
from opsgym_suites.kit.hybrid import on_one
from opsgym_suites.kit.suite import SeedTasks, Suite, Worlds
from opsgym_suites.teams.authored import AUTHORED as TEAMS
from opsgym_suites.teams.verification import VERIFIERS as TEAMS_VERIFIERS

AUTHORED = (ITSM, CSM, CALENDAR, HR, EMAIL, TEAMS, DRIVE, HYBRID)
BUILDERS = {
    "itsm": ITSM_VERIFIERS,
    "csm": CSM_VERIFIERS,
    "calendar": CALENDAR_VERIFIERS,
    "hr": HR_VERIFIERS,
    "email": EMAIL_VERIFIERS,
    "teams": TEAMS_VERIFIERS,
    "drive": DRIVE_VERIFIERS,
}
LARGE_SEEDS = ("builtin:press",)
"""Seeds of so many rows that a test which reads all of them takes long."""
STOCK_EXCUSE = (
    "I am sorry, but I cannot do that. It is not permitted by the policy, and I am not authorized. Nothing was "
    "changed. Please contact your manager or an administrator for approval."
)
"""What an agent says that has looked at nothing."""


DENIAL, CLAIM = "I did none of what you asked and changed nothing.", "Done, everything is changed as you asked."


@dataclass(frozen=True)
class Case:
    """A task of a suite with its draft."""

    suite: Suite
    part: SeedTasks
    task: Task
    draft: Draft

    @cached_property
    def drafts(self) -> Mapping[str, Draft]:
        """The task as each of its gym servers sees it, by server."""
        if not self.draft.actors:
            return {self.suite.server.gym: self.draft}
        return {gym: on_one(self.draft, gym, self.worlds[gym]) for gym in self.draft.actors}

    @property
    def worlds(self) -> Worlds:
        """The seeds' rows, by gym server."""
        return self.suite.worlds(self.part)

    def gym_of(self, call: ToolCall) -> str:
        """Gym server of a call."""
        return call.gym or self.suite.server.gym

    def builder(self, gym: str) -> VerifierBuilder:
        """Builder of the verifiers of a gym server."""
        return BUILDERS[self.suite.servers[gym].domain]

    def effects(self, call: ToolCall) -> ToolEffects:
        """Effects of the tools of the call's gym server."""
        return self.builder(self.gym_of(call)).effects

    @cached_property
    def written(self) -> Sequence[WrittenRow]:
        """Rows that the reference solution writes."""
        return [
            row
            for gym, draft in self.drafts.items()
            for row in self.builder(gym).effects.written(self.worlds[gym], draft.accepted_calls)
        ]

    @cached_property
    def touched(self) -> dict[str, list[Any]]:
        """Keys of the rows that the reference solution writes, by table."""
        rows = sorted(self.written, key=lambda row: row.kind.__tablename__)
        return {
            table: [row.key for row in group]
            for table, group in itertools.groupby(rows, key=lambda row: row.kind.__tablename__)
        }


SUITES = {suite.name: suite for authored in AUTHORED for suite in authored.suites}


@cache
def tasks() -> dict[str, tuple[str, int, Task]]:
    """Tasks of all built-in suites by id, with suite and position. Building no draft, this is quick."""
    return {task.task_id: (name, number, task) for name in SUITES for number, task in enumerate(load_suite(name))}


@cache
def case_of(task_id: str) -> Case:
    """A task with its draft, which is built when the first task of its suite is asked for."""
    name, number, task = tasks()[task_id]
    suite = SUITES[name]
    part, draft = suite.written[number]
    return Case(suite, part, task, draft)


def cases_of(name: str) -> list[Case]:
    """The tasks of a suite with their drafts. Those of other suites, which take long, are not built."""
    return [case_of(task_id) for task_id, (suite, _number, _task) in tasks().items() if suite == name]


# --- what a task proves --------------------------------------------------------------------------------------------


def unsolved(case: Case, servers: Servers) -> Iterator[str]:
    """What the reference solution does not prove of a task on its gym servers."""
    (solved,) = play_all(servers, case.task, [gold(case)])
    yield from _reference_solution(case, solved)
    yield from _wordings(case)


def unproved(case: Case, servers: Servers) -> Iterator[str]:
    """What is not proved of a task on its gym servers, by everything that must pass or must not."""
    right, wrong = [gold(case), *right_plays(case)], failing_plays(case)
    solved, *endings = play_all(servers, case.task, [*right, *wrong])
    passing, failing = endings[: len(right) - 1], endings[len(right) - 1 :]
    yield from _reference_solution(case, solved)
    for ending in passing:
        for result in ending.results:
            if not result.passed:
                yield f"the correct solution {ending.label!r} fails {result.name}: {result.actual}"
        if len(ending.refusals) > len(case.draft.refused):
            yield f"the server refuses calls of the correct solution {ending.label!r}: {ending.refusals}"
    yield from _wordings(case)
    failed = {result.name for ending in failing for result in ending.results if not result.passed}
    for ending in failing:
        if not ending.failed:
            yield f"passes although the agent {ending.label}"
        yield from _refusals(case, ending)
    for label, unmet in _varied(case, solved):
        failed |= unmet
        if not unmet:
            yield f"passes although {label}"
    yield from (f"nothing makes {check.name} fail" for check in case.task.verifiers if check.name not in failed)


def _varied(case: Case, solved: Ending) -> Iterator[tuple[str, set[str]]]:
    """Verifiers that do not pass, by what differs from the end of the reference solution."""
    checks = case.task.verifiers
    for gym, difference in solved.differences.items():
        expected = {index: check.state_difference for index, check in case.task.state_differences(gym)}
        for label, varied in variations(expected.values(), difference, case.worlds[gym]):
            findings = judge_difference(expected, varied)
            unmet = {
                checks[index].name for index, of_check in findings.items() if of_check.unmet or of_check.unexpected
            }
            yield f"{gym}: {label}", unmet


def _reference_solution(case: Case, solved: Ending) -> Iterator[str]:
    draft = case.draft
    for result in solved.results:
        if not result.passed:
            yield f"the reference solution fails {result.name}: {result.actual}"
    expected = [(draft.gold[place].name, rule) for place, rule in draft.refused.items()]
    if not _refused_as_expected(solved.refusals, expected):
        yield f"the reference solution expects refusals {draft.refused}, but got {solved.refusals}"
    if len(solved.happened) != len(case.task.events) or not all("happened" in note for note in solved.happened):
        yield f"not every event happens during the reference solution: {solved.happened}"


def _refused_as_expected(refusals: Sequence[str], expected: Sequence[tuple[str, str]]) -> bool:
    return len(refusals) == len(expected) and all(
        refusal.startswith(f"{tool}: ") and f"rule {_own(rule)}: " in refusal
        for refusal, (tool, rule) in zip(refusals, expected, strict=True)
    )


def _own(rule: str) -> str:
    """The number of a rule without the system that it is for, as refusals of gym servers state it."""
    return "-".join(rule.split("-")[-2:])


def _refusals(case: Case, ending: Ending) -> Iterator[str]:
    if ending.label in case.draft.mistakes and len(ending.refusals) > len(case.draft.refused):
        yield f"the server refuses the mistake {ending.label!r}: {ending.refusals}"
    if path := case.draft.negative_trajectories.get(ending.label):
        cited = {rule for refusal in ending.refusals for rule in re.findall(r"rule ([A-Z]+-\d+): ", refusal)}
        if (_own(path.rule) not in cited) if path.rule else cited:
            yield f"{ending.label!r} expects a refusal by {path.rule or 'no rule'}, but got {ending.refusals}"


def _wordings(case: Case) -> Iterator[str]:
    """Other wordings of the reference answer that a verifier does not accept."""
    checks = [verifier for verifier in case.task.verifiers if verifier.verifier_type == "answer_match"]
    for check in checks:
        day = check.answer_match.day
        original = case.draft.answer if day is None else [*case.draft.day_answers, case.draft.answer][day - 1]
        for label, answer in reworded(original).items():
            if not any(matches(pattern, answer, re.IGNORECASE) for pattern in check.answer_match.patterns):
                yield f"{check.name} does not accept the answer with {label}: {answer}"


# --- plays that must pass ------------------------------------------------------------------------------------------


def gold(case: Case) -> Play:
    """The reference solution."""
    return Play("gold", case.draft.gold, case.draft.answer, case.draft.day_answers)


def right_plays(case: Case) -> list[Play]:
    """The draft's other solutions, and those that are made by machine."""
    draft = case.draft
    written = [
        _variant(draft, label, draft.gold if other.calls is None else other.calls, other.answer)
        for label, other in draft.also.items()
    ]
    made = {
        "writes in another order": _in_another_order(case),
        "uses other tools with the same effect": _by_other_tools(case),
        "sets harmless columns": _with_harmless_columns(case),
        **{label: _in_form(draft, form) for label, form in FORMS.items()},
    }
    return [*written, *(_variant(draft, label, calls) for label, calls in made.items() if calls != [*draft.gold])]


def _in_form(draft: Draft, form: Callable[[ToolCall], ToolCall]) -> list[ToolCall]:
    """The solution in another form, but for calls that the server refuses."""
    return [call if place in draft.refused else form(call) for place, call in enumerate(draft.gold)]


def _variant(draft: Draft, label: str, calls: Sequence[ToolCall], answer: str | None = None) -> Play:
    """Other calls with the answers of the reference solution."""
    return Play(label, calls, answer or draft.answer, draft.day_answers)


def _in_another_order(case: Case) -> list[ToolCall]:
    """The solution with each run of calls of one writing tool reversed, if no later call names what they create.

    Events, days and the process of `strict` may depend on the order of calls, so such solutions stay as they are.
    """
    draft = case.draft
    if draft.events or draft.days or case.task.access is Access.STRICT:
        return [*draft.gold]
    created = {row.key for row in case.written if row.operation == "adds"}
    calls: list[ToolCall] = []
    for (_gym, name), run in itertools.groupby(draft.gold, key=lambda call: (call.gym, call.name)):
        group = list(run)
        effects = case.effects(group[0])
        adds = name in effects.by_tool and effects.by_tool[name].operation == "adds"
        named = [str(next(iter(call.arguments.values()), None)) for call in group]
        independent = not _names(draft.gold, created) if adds else len(set(named)) == len(named)
        calls += reversed(group) if name in effects.by_tool and independent else group
    return calls


def _names(calls: Sequence[ToolCall], keys: set[Any]) -> bool:
    """Whether any call's arguments contain one of these keys."""
    values = (value for call in calls for value in call.arguments.values())
    return any(value in keys for value in values if isinstance(value, str | int))


def _by_other_tools(case: Case) -> list[ToolCall]:
    """The solution with each call replaced by those of another tool that has the same effect, if there is one.

    The published form of a call is what the process of `strict` is stated for, so its order of calls is kept.
    """
    return [
        made.model_copy(update={"day": call.day, "gym": call.gym})
        for call in case.draft.gold
        for made in (list(case.effects(call).equivalents(call)) or [call])
    ]


def _with_harmless_columns(case: Case) -> list[ToolCall]:
    """The solution with every column that policy or tool offers in addition."""
    refused = case.draft.refused
    return [call if place in refused else _with_columns(case, call) for place, call in enumerate(case.draft.gold)]


def _with_columns(case: Case, call: ToolCall) -> ToolCall:
    gym = case.gym_of(call)
    more = {
        harmless.column: harmless.sample_in(case.worlds[gym])
        for harmless in case.builder(gym).harmless.get(call.name, ())
        if harmless.column not in call.arguments
        and all(call.arguments.get(name) == value for name, value in harmless.when.items())
    }
    return call.model_copy(update={"arguments": {**call.arguments, **more}})


# --- plays that must not pass --------------------------------------------------------------------------------------


def failing_plays(case: Case) -> list[Play]:
    """All trajectories that must not pass."""
    draft = case.draft
    plays = [
        Play("does nothing", [], ""),
        *(_variant(draft, label, [*draft.gold, *_at_last(draft, calls)]) for label, calls in draft.mistakes.items()),
        *(
            Play(label, path.calls, path.answer, draft.day_answers if path.day_answers is None else path.day_answers)
            for label, path in draft.negative_trajectories.items()
        ),
        _variant(draft, "makes no call and says that it is done", []),
        *_without_reading(case),
        *_late(case),
    ]
    if draft.feasible:
        plays.append(_variant(draft, "denies its work", draft.gold, f"{DENIAL} {draft.answer}"))
    else:
        plays += [
            _variant(draft, "claims that it is done", draft.gold, f"{CLAIM} {draft.answer}"),
            _variant(draft, "pastes the policy", draft.gold, f"{draft.answer} {case.task.system_prompt}"),
        ]
        plays += [Play("makes an excuse at once", [], STOCK_EXCUSE), Play("makes an excuse", draft.gold, STOCK_EXCUSE)]
    return plays


def _at_last(draft: Draft, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Calls on the last day, unless they name another one."""
    last = len(draft.days) + 1
    return [call if call.day or last == 1 else call.model_copy(update={"day": last}) for call in calls]


def _late(case: Case) -> Iterator[Play]:
    """The work of the days before the last one, done on the last."""
    if any(case.task.state_differences(gym, day) for gym in case.drafts for day in range(1, len(case.task.days) + 1)):
        yield _variant(case.draft, "works late", postponed(case.task, case.draft.gold))


def _without_reading(case: Case) -> Iterator[Play]:
    """The writes of a solution that changes rows which nothing has shown; with events, they may depend on the step."""
    if any(verifier.name.endswith("looked_up_before_writing") for verifier in case.task.verifiers):
        writes = [call for call in case.draft.gold if tool_of(case.task, call).writes]
        yield _variant(case.draft, "writes without reading", writes)
