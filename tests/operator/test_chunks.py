"""Who gets a free slot."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsgym_operator.chunks import Claim, share

claims = st.lists(st.builds(Claim, run=st.integers(0, 3), used=st.integers(0, 6), wants=st.integers(0, 6)), max_size=8)


@pytest.mark.parametrize(
    ("free", "asking", "granted"),
    [
        (3, [Claim(0, 5, 9), Claim(1, 0, 9)], [0, 3]),
        (6, [Claim(0, 2, 9), Claim(1, 0, 9)], [2, 4]),
        (6, [Claim(0, 2, 9), Claim(1, 0, 1)], [5, 1]),
        (2, [Claim(0, 0, 9), Claim(0, 4, 9), Claim(1, 3, 9)], [1, 0, 1]),
        (4, [Claim(0, 3, 9), Claim(0, 0, 9), Claim(0, 1, 9)], [0, 3, 1]),
        (1, [Claim(0, 0, 9), Claim(1, 0, 9)], [1, 0]),
        (9, [Claim(0, 0, 2), Claim(1, 0, 0)], [2, 0]),
        (0, [Claim(0, 0, 2)], [0]),
        (5, [], []),
    ],
)  # fmt: skip
def test_a_slot_goes_to_the_run_that_has_least_and_there_to_the_lane_that_has_least(
    free: int, asking: list[Claim], granted: list[int]
) -> None:
    assert share(free, asking) == granted


@given(st.integers(0, 30), claims)
def test_all_slots_are_given_and_no_run_is_raised_above_one_that_waits(free: int, asking: list[Claim]) -> None:
    granted = share(free, asking)
    assert sum(granted) == min(free, sum(claim.wants for claim in asking))
    assert all(slots <= claim.wants for slots, claim in zip(granted, asking, strict=True))
    before: Counter[int] = Counter()
    after: Counter[int] = Counter()
    waits = set()
    for slots, claim in zip(granted, asking, strict=True):
        before[claim.run] += claim.used
        after[claim.run] += claim.used + slots
        if slots < claim.wants:
            waits.add(claim.run)
    for run in waits:
        assert all(after[other] <= after[run] + 1 for other in after if after[other] > before[other])
