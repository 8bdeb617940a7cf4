"""`make fleet` fails where a bound does not hold; `tests/cluster/test_fleet.py` runs a tenth of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmarks.fleet import MIB, TENTH, Figures, Pace

GOOD = Figures(
    TENTH, operated=Pace(9.0), by_hand=Pace(10.0), jobs=84, passes_cpu_s=(0.02, 0.1), rss=150 * MIB, series=4400,
    scored=TENTH.total,
)  # fmt: skip


def test_good_figures_are_within_all_bounds() -> None:
    assert GOOD.beyond_bounds() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scored": 5039}, "5040 trials are scored; 5039 are"),
        ({"operated": Pace(8.9)}, "at least 0.9 of the pods per second by hand; 0.89"),
        ({"by_hand": Pace()}, "at least 0.9 of the pods per second by hand; nan"),
        ({"passes_cpu_s": (0.21, 0.3)}, "at most 0.2 s CPU for a pass; 0.210 s"),
        ({"rss_restarted": 201 * MIB}, "at most 200 MiB; 201 MiB"),
        ({"series": 5001}, "at most 5000 metric series; 5001"),
        ({"jobs": 1501}, "at most 1500 Jobs; 1501"),
    ],
)
def test_a_bound_that_does_not_hold_is_named_with_what_was_measured(change: dict[str, Any], message: str) -> None:
    assert replace(GOOD, **change).beyond_bounds() == [message]
