"""The agent made far more calls than the task needs.

Looks at: lookups, and how many the reference solution, or the task's horizon, needs.
Holds when: the agent made more than twice as many lookups as the solution has calls, and at least five more; or one
lookup tool was called ten times or more, and the solution does not do so; or five lookups repeat an earlier one
without a write in between. Twice and five: careful agents check results, which costs a call for a call. Repetition
without progress is `looping` instead. Ten: one filtered list replaces ten single reads.
Example: forty users are read one by one to find the managers, although the list can be filtered by role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.modes import looping
from opsgym_console.analysis.failures.trajectory import Call
from opsgym_console.analysis.failures.trial import Case

MOST_TIMES = 2
LEAST_SURPLUS = 5
MOST_OF_ONE = 10


def find(case: Case) -> Finding | None:
    """The finding, if calls were wasted other than by looping."""
    if looping.find(case) is not None:
        return None
    evidence = [*_more_than_needed(case), *_one_by_one(case), *_repeated(case)]
    basis = Basis.GOLD_ACTIONS if case.gold is not None else Basis.TRANSCRIPT
    return Finding(Mode.INEFFICIENT_TOOLS, basis, tuple(evidence)) if evidence else None


def _more_than_needed(case: Case) -> Iterator[Evidence]:
    needed = case.task.steps if case.task is not None else case.record.horizon
    made = len(case.trajectory.lookups)
    if needed and made > MOST_TIMES * needed and made - needed >= LEAST_SURPLUS:
        yield Evidence(f"{made} lookups in a task that takes {needed} calls in all")


def _one_by_one(case: Case) -> Iterator[Evidence]:
    gold = case.task.gold_actions if case.task is not None else None
    usual = Counter(action.name for action in gold or ())
    for tool, times in Counter(call.tool for call in case.trajectory.lookups).items():
        if times >= max(MOST_OF_ONE, MOST_TIMES * usual[tool]):
            yield Evidence(f"{tool} was called {times} times", tool=tool)


def _repeated(case: Case) -> Iterator[Evidence]:
    seen: set[str] = set()
    again: list[Call] = []
    for call in case.trajectory.calls:
        if call.writes:
            seen.clear()
        elif call.signature in seen:
            again.append(call)
        seen.add(call.signature)
    if len(again) >= LEAST_SURPLUS:
        for call in again:
            yield Evidence(f"{call.tool} repeats an earlier call", call.step, call.number, call.tool)
