"""The suites that have some of the tasks of the whole benchmark: a tenth that predicts it, and its hardest quarter.

Invariant: a selection is a function of the tasks alone, and in each stratum it ranks them by what each task is by
itself. So one task more or less lets at most one id of its stratum in and one out, and moves none of any other stratum.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from opsgym_domains.difficulty import Difficulty, difficulty_of
from opsgym_domains.registry import SELECTIONS
from opsgym_suites.kit.authoring_rules import SuiteTask

EVERY = 10
"""Of so many tasks, the mini suite has one."""
HARD_SHARE = 4
"""Of so many tasks, the hard suite has one, rounded up."""


@dataclass(frozen=True)
class Candidate:
    """What decides whether a task is selected."""

    task_id: str
    domain: str
    feasible: bool
    difficulty: Difficulty | None

    @property
    def drawn(self) -> str:
        """Its place in the draw, which depends on its id alone."""
        return hashlib.sha256(self.task_id.encode()).hexdigest()


def selections(tasks: Sequence[SuiteTask]) -> Mapping[str, Sequence[str]]:
    """The ids of each selection in the order of the tasks, by the suite's name.

    Args:
        tasks: The tasks of the whole suite, in order.
    """
    return selected(
        [
            Candidate(each.task.task_id, each.task.domain, each.task.feasible, difficulty_of(each.task, each.tools))
            for each in tasks
        ]
    )


def selected(tasks: Sequence[Candidate]) -> Mapping[str, Sequence[str]]:
    """The ids of each selection in the order of the tasks, by the suite's name."""
    chosen = dict(zip(SELECTIONS, (_tenth(tasks), _hardest(tasks)), strict=True))
    return {name: [task.task_id for task in tasks if task.task_id in ids] for name, ids in chosen.items()}


def _tenth(tasks: Sequence[Candidate]) -> set[str]:
    """A tenth of the tasks of each domain, feasibility and band of difficulty, drawn by a hash of their ids.

    `python -m benchmarks mini` says how well the sample predicts the whole.
    """
    return _first_of_each(
        tasks,
        lambda task: (task.domain, task.feasible, task.difficulty and task.difficulty.band),
        lambda task: task.drawn,
        # Each stratum rounds its own share: shares of the whole would let strata pass ids to each other.
        lambda size: (size + EVERY // 2) // EVERY,
    )


def _hardest(tasks: Sequence[Candidate]) -> set[str]:
    """The quarter of each domain's feasible tasks, and of its infeasible ones, that has the most points of difficulty.

    Infeasible tasks have a quarter of their own: they ask for few calls, and points count these.
    """
    return _first_of_each(
        tasks,
        lambda task: (task.domain, task.feasible),
        lambda task: (-(task.difficulty.points if task.difficulty else 0), task.drawn),
        lambda size: -(-size // HARD_SHARE),
    )


def _first_of_each(
    tasks: Sequence[Candidate],
    stratum: Callable[[Candidate], Hashable],
    rank: Callable[[Candidate], tuple[int, str] | str],
    share: Callable[[int], int],
) -> set[str]:
    """The ids of each stratum that rank first, as many as its share.

    Args:
        tasks: The tasks.
        stratum: What a task's stratum is.
        rank: The order in a stratum.
        share: How many tasks of a stratum the selection has, by the stratum's size.
    """
    strata: dict[Hashable, list[Candidate]] = defaultdict(list)
    for task in tasks:
        strata[stratum(task)].append(task)
    return {task.task_id for of_one in strata.values() for task in sorted(of_one, key=rank)[: share(len(of_one))]}
