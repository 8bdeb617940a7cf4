"""What the record says of the final database, and that a server which tells nothing of it costs no score."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import JSONResponse, Response
from structlog.testing import capture_logs
from tests.runner.jobs import MemoryStore, make_job, make_task
from tests.runner.servers import serving
from tests.runner.stub_gym import SEED, StubGym

from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

LEFT_OUT = "state difference left out"
RENAMED = RowDifference(change="changed", key={"id": 1}, before={"text": "first"}, after={"text": "done"})
DIFFERENCE = StateDifference(tables=[TableDifference(table="notes", changed=1, rows=[RENAMED])])


async def scored(store: MemoryStore, gym_url: str, warnings: int, **fields: Any) -> TrialRecord:
    """The record of an episode that passes, and says so often that a difference was left out."""
    with capture_logs() as logs:
        async with Runner(store) as runner:
            assert (await runner.run(make_job(gym_url, **fields))).outcome == Outcome.PASSED
    assert [entry["log_level"] for entry in logs if entry["event"] == LEFT_OUT] == ["warning"] * warnings
    trial = store.trial()
    assert trial is not None
    return trial


def answer(difference: StateDifference) -> Response:
    return JSONResponse(difference.model_dump())


async def test_the_record_has_the_state_difference(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE)
    assert (await scored(store, gym_url, warnings=0)).state_differences == {"notes": DIFFERENCE}


async def test_an_empty_state_difference_is_recorded_too(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(StateDifference())
    assert (await scored(store, gym_url, warnings=0)).state_differences == {"notes": StateDifference()}


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_without_state_differences_is_left_out_silently(
    store: MemoryStore, gym: StubGym, gym_url: str, status: int
) -> None:
    gym.difference = JSONResponse({"detail": "Not Found"}, status_code=status)
    assert (await scored(store, gym_url, warnings=0)).state_differences == {}


@pytest.mark.parametrize(
    "broken",
    [
        Response("oh no", status_code=500),
        Response("<html>"),
        JSONResponse(["tables"]),
        JSONResponse({"tables": [{"rows": []}]}),
        JSONResponse({"tables": [{"table": "notes", "rows": [{"change": "moved", "key": {}}]}]}),
    ],
    ids=["500", "no JSON", "a list", "no table", "no such change"],
)
async def test_a_failing_state_difference_costs_no_score_and_is_logged(
    store: MemoryStore, gym: StubGym, gym_url: str, broken: Response
) -> None:
    gym.difference = broken
    assert (await scored(store, gym_url, warnings=1)).state_differences == {}


async def test_each_gym_server_reports_the_difference_of_its_own_database(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    gym.difference = answer(DIFFERENCE)
    servers = [{"mcp_server_name": "notes"}, {"mcp_server_name": "birds"}]
    task = make_task(gym_servers_config=servers)
    with serving(StubGym().app) as silent_url:
        gyms, seeds = {"notes": gym_url, "birds": silent_url}, {"notes": Seed(sql=SEED), "birds": Seed(sql=SEED)}
        trial = await scored(store, gym_url, warnings=0, task=task, gyms=gyms, seeds=seeds)
    assert trial.state_differences == {"notes": DIFFERENCE}
