"""The recorded state difference of a reference solution equals the difference of SQLite snapshots."""

from __future__ import annotations

import asyncio

import pytest
from tests.suites.conftest import Gyms
from tests.suites.episodes import carry_out, databases, urls_of
from tests.suites.proofs import LARGE_SEEDS, SUITES, Case, case_of, gold, tasks
from tests.support.differences import naive_difference

from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import Task
from opsgym_runner.gyms.client import http_client

OF_EACH = 4
"""Tasks of a domain that are tried, spread over its suites; those without events, which add rows that calls may name.
`tests/domains/test_differences.py` tries every table."""


@pytest.mark.parametrize("domain", sorted({suite.server.domain for suite in SUITES.values()}))
def test_the_difference_of_reference_solutions_is_that_of_their_snapshots(gyms: Gyms, domain: str) -> None:
    own = [case_of(name) for name, (_, _, task) in tasks().items() if task.domain == domain and _is_tried(task)]
    tried = own[:: len(own) // OF_EACH][:OF_EACH]
    pairs = [asyncio.run(_differences(gyms(domain).url, case)) for case in tried]
    wrong = [
        case.task.task_id
        for case, (recorded, expected) in zip(tried, pairs, strict=True)
        if recorded != expected or not {table.table for table in recorded.tables} >= set(case.touched)
    ]
    assert tried
    assert not wrong


def _is_tried(task: Task) -> bool:
    return not task.events and task.gym_servers_config[0].seed_database_file not in LARGE_SEEDS


async def _differences(url: str, case: Case) -> tuple[StateDifference, StateDifference]:
    """The difference that the gym server reports, and that of the snapshots."""
    async with http_client() as http, databases(http, urls_of(url, case.task), case.task) as gyms:
        (gym,) = gyms.values()
        before = await gym.snapshot()
        await carry_out(gyms, case.task, gold(case))
        recorded, after = await gym.state_difference(whole=True), await gym.snapshot()
    assert before is not None
    assert after is not None
    assert recorded is not None
    return recorded, naive_difference(before.content, after.content)
