"""What the record says a reference solution did is what SQLite snapshots before and after differ in."""

from __future__ import annotations

import asyncio

import pytest
from tests.suites.conftest import Gyms
from tests.suites.episodes import carry_out, database
from tests.suites.proofs import Case, cases, gold
from tests.support.differences import naive_difference

from opsgym_api.records import StateDifference
from opsgym_runner.gym import http_client

EVERY = 9
"""Of all tasks, a ninth is tried: each kind of task is a family of several."""


@pytest.mark.parametrize("case", cases()[::EVERY], ids=lambda case: f"{case.task.domain} {case.task.task_id}")
def test_the_difference_of_a_reference_solution_is_that_of_its_snapshots(gyms: Gyms, case: Case) -> None:
    told, found = asyncio.run(_differences(gyms(str(case.task.domain)).url, case))
    assert told == found
    assert {table.table for table in told.tables} >= set(case.touched)


async def _differences(url: str, case: Case) -> tuple[StateDifference, StateDifference]:
    async with http_client() as http, database(http, url, case.task) as gym:
        before = await gym.snapshot()
        await carry_out(gym, case.task, gold(case))
        told, after = await gym.state_difference(), await gym.snapshot()
    assert before is not None
    assert after is not None
    assert told is not None
    return told, naive_difference(before.content, after.content)
