"""The values that public verifiers gave where they were recorded are what their queries give here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tools.conformance.values import ComparedValue, RecordedValue, compare_values, read_values, render_values

VALUES = {"csm": (186, 176), "teams": (216, 206)}
"""Recorded values by domain, and how many are equal at least."""


@pytest.mark.published
@pytest.mark.parametrize("domain", VALUES)
@pytest.mark.timeout(600)
def test_recorded_values_are_ours_unless_their_query_names_what_no_call_shows(
    domain: str, gym_servers: Callable[[str], Gym]
) -> None:
    compared = compare_values(gym_servers(domain), domain, upstream())
    assert len(compared) == len(read_values(upstream(), domain)) == VALUES[domain][0]
    assert [str(one) for one in compared if not one.equal and one.unknown is None] == []
    assert sum(one.equal for one in compared) >= VALUES[domain][1]


@pytest.mark.parametrize(
    ("recorded", "actual", "equal"),
    [(1, 1, True), (1, 0, False), (1, "1", False), (1, True, False), ([], [], True), (None, 0, False)],
)
def test_values_are_compared_with_their_type(recorded: object, actual: object, equal: bool) -> None:
    assert ComparedValue(RecordedValue("a-task", "SELECT 1", recorded), actual).equal is equal


def test_the_report_counts_values_and_names_those_that_differ() -> None:
    recorded = RecordedValue("a-task", "SELECT 1", 1)
    unseen = "no call shows group_id 18"
    report = render_values(
        {"csm": [ComparedValue(recorded, 1), ComparedValue(recorded, 0), ComparedValue(recorded, 0, unseen)]}
    )
    assert report.splitlines() == [
        "csm          3 recorded values: 1 equal, 1 different, 1 cannot be known",
        "  different: a-task recorded 1, actual 0: SELECT 1",
        f"  cannot be known: a-task recorded 1, actual 0: {unseen}",
    ]
