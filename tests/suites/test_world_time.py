"""What time does by itself: in the transaction that moves the clock, once, and as task authors compute it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.suites.conftest import Gyms
from tests.support.gym import GymDatabase

from opsgym_domains.kit.passing import pass_time_in
from opsgym_domains.kit.schema import as_dict
from opsgym_suites.csm.seeds import desk_world as csm_desk
from opsgym_suites.itsm.seeds import desk_world as itsm_desk
from opsgym_suites.kit.scenarios import copied

WORLDS = {"itsm": itsm_desk, "csm": csm_desk}
MONTH = timedelta(days=30)


def move(database: GymDatabase, seconds: float, *sql: str, status: int = 200) -> None:
    body = {"database_id": database.id, "advance_seconds": seconds, "sql": list(sql)}
    answer = database.client.post("/api/apply-event", json=body)
    assert answer.status_code == status, answer.text


def stored(row: Any) -> dict[str, Any]:
    """Values as SQLite shows them."""
    values = as_dict(row).items()
    return {name: str(value) if hasattr(value, "year") else _number(value) for name, value in values}


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


@pytest.mark.parametrize("domain", WORLDS)
def test_the_server_does_what_task_authors_compute(gyms: Gyms, domain: str) -> None:
    world = copied(WORLDS[domain]())
    changed = pass_time_in(world.deadlines, world, world.now, world.now + MONTH)
    database = gyms(domain).database(builtin="desk")

    move(database, MONTH.total_seconds() / 2)
    move(database, MONTH.total_seconds() / 2)

    kinds = {deadline.kind for deadline in world.deadlines}
    assert {type(row) for row in changed} >= kinds, "every deadline of the domain comes in a month"
    for kind in {type(row) for row in changed}:
        table = kind.__tablename__
        rows = database.rows(f'SELECT * FROM "{table}" LIMIT 100000')
        expected = [stored(row) for row in world.all(kind)]
        assert [row for row in rows if row not in expected] == []
        assert len(rows) == len(expected)


@pytest.mark.parametrize("domain", WORLDS)
def test_a_refused_event_leaves_rows_as_time_left_them(gyms: Gyms, domain: str) -> None:
    database = gyms(domain).database(builtin="desk")
    before, time = database.digest(), database.value("SELECT datetime('now')")
    move(database, MONTH.total_seconds(), "DELETE FROM nowhere", status=400)
    assert (database.digest(), database.value("SELECT datetime('now')")) == (before, time)


def test_a_breach_stays_when_the_clock_goes_back(gyms: Gyms) -> None:
    database = gyms("itsm").database(builtin="desk")
    breached = "SELECT count(*) FROM incident_sla WHERE has_breached"
    before = database.value(breached)
    move(database, MONTH.total_seconds())
    after = database.value(breached)
    assert after > before
    database.set_clock(datetime(2026, 11, 16, 10).isoformat())  # noqa: DTZ001 - the server's clock is UTC
    assert database.value(breached) == after


def test_the_system_closes_an_expired_contract_with_its_entitlements_at_the_end_of_its_last_day(gyms: Gyms) -> None:
    database = gyms("csm").database(builtin="desk")
    contract = "SELECT contract_id FROM contract WHERE status = 'active' AND end_date > '2026-11-16' ORDER BY end_date"
    (key, *_) = [row["contract_id"] for row in database.rows(contract)]
    end = database.value(f"SELECT end_date FROM contract WHERE contract_id = {key}")
    status = f"SELECT status FROM contract WHERE contract_id = {key}"
    database.set_clock(f"{end}T23:59:59")
    assert database.value(status) == "active"
    move(database, 1)
    assert database.value(status) == "expired"
    active = f"SELECT count(*) FROM entitlement WHERE contract_id = {key} AND active"
    assert database.value(active) == 0
