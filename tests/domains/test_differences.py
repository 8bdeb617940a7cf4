"""The state difference shows what every writing tool does, as SQLite snapshots before and after have it."""

from __future__ import annotations

from tests.domains.declaration import DomainDeclaration
from tests.support.differences import naive_difference
from tests.support.gym import GymDatabase

from opsgym_api.records.state_difference import StateDifference


def test_the_state_difference_shows_the_writes_of_every_tool(
    declared: DomainDeclaration, database: GymDatabase
) -> None:
    before, calls, differing = database.download(), 0, []
    for name, tool in declared.tools.items():
        if tool.writes and not database.call_with(name, declared.examples[name]).is_error:
            calls += 1
            if reported_difference(database) != naive_difference(before, database.download()):
                differing.append(name)
    assert differing == []
    assert calls > 20, "too few examples succeed one after the other"


def reported_difference(database: GymDatabase) -> StateDifference:
    answer = database.client.get("/api/state-difference", headers={"x-database-id": database.id}).raise_for_status()
    return StateDifference.model_validate(answer.json())
