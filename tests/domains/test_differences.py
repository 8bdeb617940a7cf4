"""What every writing tool does is told by the state difference, as SQLite snapshots before and after have it."""

from __future__ import annotations

from tests.domains.worlds import World
from tests.support.differences import naive_difference
from tests.support.gym import GymDatabase

from opsgym_api.records import StateDifference


def test_what_tools_write_is_told_call_by_call(world: World, desk: GymDatabase) -> None:
    before, calls = desk.download(), 0
    for name, tool in world.tools.items():
        if tool.writes and not desk.call_with(name, world.examples[name]).is_error:
            calls += 1
            assert told(desk) == naive_difference(before, desk.download()), name
    assert calls > 20, "most examples succeed one after the other"


def told(desk: GymDatabase) -> StateDifference:
    answer = desk.client.get("/api/state-difference", headers={"x-database-id": desk.id}).raise_for_status()
    return StateDifference.model_validate(answer.json())
