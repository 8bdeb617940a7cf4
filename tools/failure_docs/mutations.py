"""Reference solutions, spoilt in a known way.

Invariant: what a mutant is said to show follows from how it was made, never from what the rules find in it. Modes
that its making leaves open (a forbidden call may also leave traces) are named as open and count neither way.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_console.analysis.failures import Mode
from opsgym_console.analysis.failures.trajectory import creates
from opsgym_domains.itsm.domain import DOMAIN
from opsgym_domains.suite_rows import load_suite
from opsgym_suites.itsm.authored import AUTHORED
from opsgym_suites.kit.drafts import Draft

TOOLS = DOMAIN.toolbox.tools
_ID = re.compile(r"([A-Z]+)_\d{3}")
_DONE = "All of it is done."
MAX_STEPS = 60
"""More than any mutant needs, but those that go in circles."""
CIRCLES = 12
"""Steps of those."""


@dataclass(frozen=True)
class Case:
    """A task, and what it was written as."""

    task: Task
    draft: Draft


@cache
def cases() -> Sequence[Case]:
    """The tasks of the built-in ITSM suites."""
    return [
        Case(task, draft)
        for suite in AUTHORED.suites
        for task, draft in zip(load_suite(suite.name), suite.drafts, strict=True)
    ]


@dataclass(frozen=True)
class Mutant:
    """What an agent does that fails in a known way."""

    label: str
    mode: Mode
    """What it was made to show."""
    case: Case
    calls: Sequence[ToolCall]
    answer: str = _DONE
    also: frozenset[Mode] = frozenset()
    """What follows from it for certain."""
    open: frozenset[Mode] = frozenset()
    """What may or may not follow from it."""
    max_steps: int = MAX_STEPS

    @property
    def modes(self) -> frozenset[Mode]:
        """Everything it shows for certain."""
        return self.also | {self.mode}


Gold = Mapping[str, Transcript]
"""Transcripts of the reference solutions, by task id: what can be known at which point."""


def mutants(cases: Sequence[Case], gold: Gold) -> dict[Mode, list[Mutant]]:
    """All mutants, by the mode that they are meant to show.

    Args:
        cases: Tasks to mutate.
        gold: Transcripts of the tasks whose ids are swapped.
    """
    by_mode = {mode: [mutant for case in cases for mutant in make(case)] for mode, make in _MAKERS.items()}
    played = [(case, gold[case.task.task_id]) for case in cases if case.task.task_id in gold]
    by_mode[Mode.INCORRECT_ID] = [mutant for case, transcript in played for mutant in _incorrect_id(case, transcript)]
    return {mode: _by_turns(made) for mode, made in by_mode.items()}


def _by_turns(made: Sequence[Mutant]) -> list[Mutant]:
    """The first of each case, then the second of each: a prefix covers many cases and kinds."""
    places: dict[str, itertools.count[int]] = {}
    turns = [next(places.setdefault(mutant.case.task.task_id, itertools.count())) for mutant in made]
    return [mutant for _, _, mutant in sorted(zip(turns, range(len(made)), made, strict=True), key=lambda t: t[:2])]


def _writes(case: Case) -> list[int]:
    """Places of the solution's writes that are carried out."""
    return [
        place
        for place, call in enumerate(case.draft.gold)
        if TOOLS[call.name].writes and place not in case.draft.refused
    ]


def plain(case: Case) -> bool:
    """Whether nothing but the agent decides how it goes: no rule refuses a call, and nothing happens meanwhile."""
    return case.task.feasible and case.task.access is Access.PUBLISHED and not case.task.events


def _looping(case: Case) -> Iterator[Mutant]:
    """The same lookup, until the steps are used up, before anything is written."""
    first = _writes(case)[:1]
    if case.task.feasible and first and first[0] > 0:
        lookups = case.draft.gold[: first[0]][:4]
        calls = [*lookups, *[lookups[-1]] * CIRCLES]
        yield Mutant("the last lookup again and again", Mode.LOOPING, case, calls, max_steps=CIRCLES)


def _premature(case: Case) -> Iterator[Mutant]:
    """The end before half of the writes are made."""
    writes = _writes(case)
    if not case.task.feasible or not writes:
        return
    yield Mutant("ends before the first write", Mode.PREMATURE_TERMINATION, case, case.draft.gold[: writes[0]])
    few = (len(writes) - 1) // 2
    if plain(case) and few:
        calls = case.draft.gold[: writes[few]]
        yield Mutant(f"ends after {few} of {len(writes)} writes", Mode.PREMATURE_TERMINATION, case, calls)


def _missing_lookup(case: Case) -> Iterator[Mutant]:
    """No lookup at all, and one id that was guessed wrongly."""
    writes = _writes(case)
    if not plain(case) or len(writes) < 2:
        return
    before_any_is_made = itertools.takewhile(lambda place: not creates(case.draft.gold[place].name), writes)
    for place in before_any_is_made:
        for name, value in case.draft.gold[place].arguments.items():
            if isinstance(value, str) and _ID.fullmatch(value):
                calls = [case.draft.gold[one] for one in writes]
                calls[writes.index(place)] = _with(case.draft.gold[place], name, _neighbour(value))
                also = frozenset({Mode.INCORRECT_ID})
                # The wrong id may be refused: of a record that does not exist, or for what stands in it.
                free = frozenset({Mode.INVALID_ARGUMENTS, Mode.MISSED_FOLLOW_UP, Mode.PREMATURE_TERMINATION})
                yield Mutant(f"guesses {name} of {place}", Mode.MISSING_LOOKUP, case, calls, also=also, open=free)
                return


def _incorrect_id(case: Case, gold: Transcript) -> Iterator[Mutant]:
    """An id swapped for another one of the same kind that the agent had seen."""
    if not plain(case):
        return
    for place in _writes(case):
        call = case.draft.gold[place]
        for name, value in call.arguments.items():
            if isinstance(value, str) and _ID.fullmatch(value):
                for other in _seen(gold, place, value)[:1]:
                    calls = [*case.draft.gold]
                    calls[place] = _with(call, name, other)
                    free = frozenset({Mode.MISSED_FOLLOW_UP, Mode.PREMATURE_TERMINATION, Mode.INVALID_ARGUMENTS})
                    yield Mutant(f"{name} of {place} is {other}", Mode.INCORRECT_ID, case, calls, open=free)


def _missed_follow_up(case: Case) -> Iterator[Mutant]:
    """The solution without its last write, or without the second half of them but one."""
    writes = _writes(case)
    if case.task.feasible and len(writes) > 1:
        last = writes[-1]
        calls = [call for place, call in enumerate(case.draft.gold) if place != last]
        yield Mutant("leaves out the last write", Mode.MISSED_FOLLOW_UP, case, calls, case.draft.answer)


def _policy_violation(case: Case) -> Iterator[Mutant]:
    """Calls that the server refuses by a rule, and the solution does not make."""
    for label, way in case.draft.negative_trajectories.items():
        asked_too = any(
            rule == way.rule and case.draft.gold[place] in way.calls for place, rule in case.draft.refused.items()
        )
        forbidden = [call for call in way.calls if TOOLS[call.name].writes and call not in case.draft.gold]
        if way.rule is not None and forbidden and not asked_too:
            free = frozenset(Mode) - {Mode.POLICY_VIOLATION}
            yield Mutant(label, Mode.POLICY_VIOLATION, case, way.calls, way.answer, open=free)


def _state_corruption(case: Case) -> Iterator[Mutant]:
    """The solution with a wrong value, or with an additional write."""
    if not plain(case):
        return
    for place in _writes(case):
        call = case.draft.gold[place]
        for name, value in call.arguments.items():
            if other := _another_value(call.name, name, value):
                calls = [*case.draft.gold]
                calls[place] = _with(call, name, other)
                free = frozenset({Mode.POLICY_VIOLATION})
                label = f"{name} of {place} is {other}"
                yield Mutant(label, Mode.STATE_CORRUPTION, case, calls, case.draft.answer, open=free)
                break
    free = frozenset({Mode.POLICY_VIOLATION, Mode.MISSING_LOOKUP})
    for label, more in case.draft.mistakes.items():
        calls = [*case.draft.gold, *more]
        yield Mutant(label, Mode.STATE_CORRUPTION, case, calls, case.draft.answer, open=free)


def _invalid_arguments(case: Case) -> Iterator[Mutant]:
    """A value that the argument does not accept, or a call without a required argument; not corrected."""
    writes = _writes(case)
    if not plain(case):
        return
    for place in writes[-1:]:
        call = case.draft.gold[place]
        consequence = Mode.MISSED_FOLLOW_UP if len(writes) > 1 else Mode.PREMATURE_TERMINATION
        also = frozenset({consequence})
        for name in call.arguments:
            if _values(call.name, name):
                yield Mutant(f"{name} of {place} is not a value", Mode.INVALID_ARGUMENTS, case,
                             _spoilt(case, place, _with(call, name, "whatever")), also=also)  # fmt: skip
                return
        needed = TOOLS[call.name].input_schema.get("required") or []
        if needed:
            without = {name: value for name, value in call.arguments.items() if name != needed[0]}
            yield Mutant(f"{place} without {needed[0]}", Mode.INVALID_ARGUMENTS, case,
                         _spoilt(case, place, call.model_copy(update={"arguments": without})), also=also)  # fmt: skip


def _inefficient(case: Case) -> Iterator[Mutant]:
    """Every colleague read one by one first, and then the last write left out."""
    writes = _writes(case)
    if case.task.feasible and len(writes) > 1 and case.task.access is Access.PUBLISHED and not case.task.events:
        reads = [ToolCall(name="get_user", arguments={"user_id": f"USER_{number:03}"}) for number in range(1, 13)]
        calls = [call for place, call in enumerate(case.draft.gold) if place != writes[-1]]
        also = frozenset({Mode.MISSED_FOLLOW_UP})
        yield Mutant("reads everybody first", Mode.INEFFICIENT_TOOLS, case, [*reads, *calls], also=also)


def _wrong_refusal(case: Case) -> Iterator[Mutant]:
    """A refusal of what can be done, after looking."""
    writes = _writes(case)
    if case.task.feasible and writes:
        yield Mutant("declines", Mode.WRONG_REFUSAL, case, case.draft.gold[: writes[0]],
                     f"I am sorry, but {next(_REASONS)}.")  # fmt: skip


_REASONS = itertools.cycle([
    "I cannot do this without an approval",
    "this is not permitted by the policy",
    "I am not able to change these records",
    "I have to decline the request",
    "I did not change anything, since the request is unclear",
])  # fmt: skip


def _missed_refusal(case: Case) -> Iterator[Mutant]:
    """What had to be declined is done, or said to be done."""
    if case.task.feasible:
        return
    yield Mutant("says that it is done", Mode.MISSED_REFUSAL, case, case.draft.gold)
    free = frozenset({Mode.STATE_CORRUPTION, Mode.POLICY_VIOLATION, Mode.MISSING_LOOKUP, Mode.INCORRECT_ID})
    for label, more in case.draft.mistakes.items():
        yield Mutant(label, Mode.MISSED_REFUSAL, case, [*case.draft.gold, *more], open=free)


_MAKERS: Mapping[Mode, Callable[[Case], Iterator[Mutant]]] = {
    Mode.WRONG_REFUSAL: _wrong_refusal,
    Mode.MISSED_REFUSAL: _missed_refusal,
    Mode.PREMATURE_TERMINATION: _premature,
    Mode.LOOPING: _looping,
    Mode.MISSING_LOOKUP: _missing_lookup,
    Mode.POLICY_VIOLATION: _policy_violation,
    Mode.STATE_CORRUPTION: _state_corruption,
    Mode.MISSED_FOLLOW_UP: _missed_follow_up,
    Mode.INVALID_ARGUMENTS: _invalid_arguments,
    Mode.INEFFICIENT_TOOLS: _inefficient,
}


# --- parts ---------------------------------------------------------------------------------------------------------


def _with(call: ToolCall, name: str, value: object) -> ToolCall:
    return call.model_copy(update={"arguments": {**call.arguments, name: value}})


def _spoilt(case: Case, place: int, call: ToolCall) -> list[ToolCall]:
    return [*case.draft.gold[:place], call, *case.draft.gold[place + 1 :]]


def _neighbour(key: str) -> str:
    """The id before, or after the first."""
    prefix, _, number = key.rpartition("_")
    return f"{prefix}_{int(number) - 1 or 2:03}"


def _seen(gold: Transcript, place: int, key: str) -> list[str]:
    """Other ids of the same kind in results before a call of the solution."""
    results = [event.content for event in gold.events if event.kind == "tool"][:place]
    kind = key.rpartition("_")[0]
    others = dict.fromkeys(other for text in results for other in re.findall(rf"\b{kind}_\d{{3}}\b", text))
    return [other for other in others if other != key]


def _values(tool: str, argument: str) -> list[str]:
    """Values that an argument accepts."""
    schema = TOOLS[tool].input_schema["properties"].get(argument, {})
    return [value for value in schema.get("enum") or [] if isinstance(value, str)]


def _another_value(tool: str, argument: str, value: object) -> str | None:
    return next((other for other in _values(tool, argument) if other != value), None)
