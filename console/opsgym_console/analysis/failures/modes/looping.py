"""The agent repeated calls without progress.

Looks at: calls of one tool whose arguments are equal, or similar while each was refused or returned nothing.
Holds when: the same call was made three times, or three calls that differ only in wording or additions all failed or
returned nothing. Three: a second call is a check or a retry, which is sound; a third with the same result is not.
Example: a location is searched under five spellings, and none exists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trajectory import Call
from opsgym_console.analysis.failures.trial import Case
from opsgym_console.analysis.failures.values import leaves, same

LEAST_REPEATS = 3
LIKENESS = 0.5
"""Least similarity, as difflib measures it, at which a text counts as another wording."""


def find(case: Case) -> Finding | None:
    """The finding, if calls were repeated."""
    repeated = [calls for calls in _alike(case.trajectory.calls) if len(calls) >= LEAST_REPEATS]
    evidence = [
        Evidence(f"{call.tool}: the same call, number {place}", call.step, call.number, call.tool)
        for calls in repeated
        for place, call in enumerate(calls, start=1)
        if place >= LEAST_REPEATS
    ]
    if not evidence:
        return None
    return Finding(Mode.LOOPING, Basis.TRANSCRIPT, tuple(sorted(evidence, key=lambda item: item.call or 0)))


def _alike(calls: Sequence[Call]) -> list[list[Call]]:
    """Groups of equal calls, and of similar calls that were refused or returned nothing."""
    equal: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        equal[call.signature].append(call)
    near: list[list[Call]] = []
    for call in calls:
        if not call.empty_handed:
            continue
        group = next((group for group in near if _near(group[-1], call)), None)
        if group is None:
            near.append([call])
        else:
            group.append(call)
    return [group for group in equal.values() if len(group) >= LEAST_REPEATS] + [
        group for group in near if len({call.signature for call in group}) > 1
    ]


def _near(left: Call, right: Call) -> bool:
    if left.tool != right.tool:
        return False
    first, second = dict(leaves(left.arguments)), dict(leaves(right.arguments))
    shared = first.keys() & second.keys()
    return bool(shared) and all(_similar(first[name], second[name]) for name in shared)


def _similar(left: object, right: object) -> bool:
    if same(left, right):
        return True
    texts = isinstance(left, str) and isinstance(right, str) and (" " in left or " " in right)
    return texts and SequenceMatcher(None, str(left).casefold(), str(right).casefold()).ratio() >= LIKENESS
