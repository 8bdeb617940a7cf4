"""The suites that have some of the tasks of the whole benchmark: a tenth that predicts it, and its hardest quarter.

Invariant: a selection is a function of the tasks alone, so the same tasks always give the same ids, in order. Each
domain has its share of a selection, and in each domain the infeasible tasks have theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from opsgym_domains.difficulty import difficulty_of
from opsgym_domains.registry import SELECTIONS
from opsgym_suites.kit.authoring_rules import AuthoredTask

EVERY = 10
"""Of so many tasks, the mini suite has one."""
HARD_SHARE = 4
"""Of so many tasks, the hard suite has one, rounded up."""


def selections(tasks: Sequence[AuthoredTask]) -> Mapping[str, Sequence[str]]:
    """The ids of each selection in the order of the tasks, by the suite's name.

    Args:
        tasks: The tasks of the whole suite, in order.
    """
    ordered = sorted(tasks, key=lambda authored: (_group(authored), _points(authored), authored.task.task_id))
    mini, hard = SELECTIONS
    chosen = {mini: systematic_sample(ordered), hard: hardest(ordered)}
    places = {authored.task.task_id: place for place, authored in enumerate(tasks)}
    return {
        name: sorted((authored.task.task_id for authored in some), key=places.__getitem__)
        for name, some in chosen.items()
    }


def systematic_sample(ordered: Sequence[AuthoredTask]) -> Sequence[AuthoredTask]:
    """Every tenth task in the order of domain, feasibility and difficulty, so that every difficulty has its share.

    `python -m benchmarks mini` says how well the sample predicts the whole.
    """
    return ordered[EVERY // 2 :: EVERY]


def hardest(ordered: Sequence[AuthoredTask]) -> Sequence[AuthoredTask]:
    """The quarter of each domain's feasible tasks, and of its infeasible ones, that has the most points of difficulty.

    Infeasible tasks have a quarter of their own: they ask for few calls, and points count these.
    """
    groups = [list(group) for _key, group in groupby(ordered, key=_group)]
    return [authored for group in groups for authored in group[len(group) - -(-len(group) // HARD_SHARE) :]]


def _group(authored: AuthoredTask) -> tuple[str, bool]:
    return authored.task.domain, authored.task.feasible


def _points(authored: AuthoredTask) -> int:
    known = difficulty_of(authored.task, authored.tools)
    return known.points if known else 0
