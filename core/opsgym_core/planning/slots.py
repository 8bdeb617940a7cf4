"""Allocates concurrency slots to groups of trials, by one rule for local mode and the operator.

Invariant: a pool never has more slots in use than its ceiling, and no slot stays free that a request could use.

A pool is the set of slots under one ceiling, normally those of a model. A group is a set of trials that start in
`trials.trial_order`: a cell or, in the operator, a pod group of a cell. Slots are allocated one at a time: to the run
that uses fewest, in that run to the group that uses fewest, and among those to the group with fewest begun trials. So
runs share a model, and the cells of a run take turns. A group may ask for slots by the unit: then it keeps its turn
until its unit is full.

Local mode has one request per cell, with models as pools and a bound over all pools (`trials.TrialQueue.startable`).
The operator has one request per pod group, pool by pool over all runs, and turns the result of `share_slots` into Jobs.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """Request of a group of trials for slots of a pool."""

    demand: int
    """Number of further slots that the group could use."""
    used: int = 0
    """Number of slots that the group has."""
    begun: int = 0
    """Number of trials of the group that have begun, including those that have ended."""
    run: int = 0
    """Number of the run; of runs that use equally many slots, the lower number comes first."""
    pool: str = ""
    """Name of the pool, normally the model."""
    unit: int = 1
    """Slots that the group takes in one turn."""


def take_turns(requests: Sequence[SlotRequest], free: Mapping[str, int], total: int | None = None) -> Iterator[int]:
    """Allocates free slots one at a time.

    Args:
        requests: Requests; those of one run in the order of its cells.
        free: Free slots by pool; a missing pool has none.
        total: Free slots over all pools; None for no bound.

    Yields:
        For each slot in turn, the position of the request that gets it.
    """
    groups: defaultdict[int, list[_Turn]] = defaultdict(list)
    used: Counter[int] = Counter()
    for position, request in enumerate(requests):
        used[request.run] += request.used
        if request.demand > 0:
            groups[request.run].append(_turn(request, request.used, request.begun, position))
    for waiting in groups.values():
        heapq.heapify(waiting)
    runs = [(used[run], run) for run in groups]
    heapq.heapify(runs)
    left, demand = dict(free), [request.demand for request in requests]
    remaining: float = math.inf if total is None else total
    while runs and remaining > 0:
        run_used, run = heapq.heappop(runs)
        *_, group_used, begun, position = heapq.heappop(groups[run])
        pool = requests[position].pool
        if left.get(pool, 0) > 0:
            yield position
            left[pool] -= 1
            remaining -= 1
            demand[position] -= 1
            run_used += 1
            if demand[position] > 0:
                heapq.heappush(groups[run], _turn(requests[position], group_used + 1, begun + 1, position))
        if groups[run]:
            heapq.heappush(runs, (run_used, run))


_Turn: TypeAlias = tuple[bool, int, int, int, int]
"""Place of a group in the queue of its run, least first; ends with the group's slots, begun trials and position."""


def _turn(request: SlotRequest, used: int, begun: int, position: int) -> _Turn:
    full, begun_unit = divmod(used, request.unit)
    return not begun_unit, full, used, begun, position


def share_slots(free: int, requests: Sequence[SlotRequest]) -> list[int]:
    """Number of slots of one pool that each request gets, allocated by `take_turns`.

    Args:
        free: Free slots of the pool.
        requests: Requests for slots of that pool; their `pool` is ignored.
    """
    shares = [0] * len(requests)
    same_pool = [
        SlotRequest(request.demand, request.used, request.begun, request.run, unit=request.unit) for request in requests
    ]
    for position in take_turns(same_pool, {"": max(0, free)}):
        shares[position] += 1
    return shares
