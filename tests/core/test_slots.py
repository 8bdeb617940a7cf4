"""Allocation of free concurrency slots to requests."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsgym_core.planning.slots import SlotRequest, share_slots

any_request = st.builds(SlotRequest, run=st.integers(0, 3), used=st.integers(0, 6), demand=st.integers(0, 6))
requests = st.lists(any_request, max_size=8)


@pytest.mark.parametrize(
    ("free", "asking", "granted"),
    [
        (3, [SlotRequest(9, 5, run=0), SlotRequest(9, 0, run=1)], [0, 3]),
        (6, [SlotRequest(9, 2, run=0), SlotRequest(9, 0, run=1)], [2, 4]),
        (6, [SlotRequest(9, 2, run=0), SlotRequest(1, 0, run=1)], [5, 1]),
        (2, [SlotRequest(9, 0, run=0), SlotRequest(9, 4, run=0), SlotRequest(9, 3, run=1)], [1, 0, 1]),
        (4, [SlotRequest(9, 3, run=0), SlotRequest(9, 0, run=0), SlotRequest(9, 1, run=0)], [0, 2, 2]),
        (1, [SlotRequest(9, 0, run=0), SlotRequest(9, 0, run=1)], [1, 0]),
        (9, [SlotRequest(2, 0, run=0), SlotRequest(0, 0, run=1)], [2, 0]),
        (0, [SlotRequest(2, 0, run=0)], [0]),
        (5, [], []),
    ],
)  # fmt: skip
def test_a_slot_goes_to_the_smallest_group_of_the_smallest_run(
    free: int, asking: list[SlotRequest], granted: list[int]
) -> None:
    assert share_slots(free, asking) == granted


@given(st.integers(0, 30), requests)
def test_all_slots_are_assigned_and_no_run_exceeds_a_waiting_one(free: int, asking: list[SlotRequest]) -> None:
    granted = share_slots(free, asking)
    assert sum(granted) == min(free, sum(request.demand for request in asking))
    assert all(slots <= request.demand for slots, request in zip(granted, asking, strict=True))
    before: Counter[int] = Counter()
    after: Counter[int] = Counter()
    waits = set()
    for slots, request in zip(granted, asking, strict=True):
        before[request.run] += request.used
        after[request.run] += request.used + slots
        if slots < request.demand:
            waits.add(request.run)
    for run in waits:
        assert all(after[other] <= after[run] + 1 for other in after if after[other] > before[other])
