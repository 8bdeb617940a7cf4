"""What the seeds and the suite of Teams hold beyond what every suite proves."""

from __future__ import annotations

import pytest
from tests.suites.conftest import Gyms
from tests.suites.proofs import Case, cases_of

from opsgym_api.kinds.evalrun import Access
from opsgym_domains import registry
from opsgym_domains.kit.sqlite import run_seed
from opsgym_domains.teams.tables import Channel, ChannelMessage, User
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import key_of
from opsgym_suites.teams.seeds import bridges_sql, bridges_world, wards_sql, wards_world
from opsgym_suites.teams.seeds.bridges import BRIDGES
from opsgym_suites.teams.seeds.generate import generate
from opsgym_suites.teams.seeds.wards import WARDS

WORLDS = {"bridges": bridges_world, "wards": wards_world}
TEXTS = {"bridges": bridges_sql, "wards": wards_sql}
PLANS = {"bridges": BRIDGES, "wards": WARDS}
each_seed = pytest.mark.parametrize("seed", WORLDS)


@each_seed
def test_teams_seeds_of_one_description_are_equal_and_read_no_clock(seed: str) -> None:
    text = TEXTS[seed]()
    assert seed_sql(generate(PLANS[seed])) == text
    assert run_seed(WORLDS[seed]().metadata, text, WORLDS[seed]().now).timeless


@each_seed
def test_teams_keys_are_unique_and_nothing_is_later_than_now(seed: str) -> None:
    world = WORLDS[seed]()
    for kind in world.kinds:
        rows = world.all(kind)
        if len(list(kind.__table__.primary_key)) == 1:
            assert len({getattr(row, key_of(kind)) for row in rows}) == len(rows), kind.__tablename__
        times = [getattr(row, kind.created) for row in rows] if kind.created else []
        assert max(times, default=world.now) <= world.now, kind.__tablename__


@each_seed
def test_a_teams_world_has_thousands_of_rows_and_some_in_every_table(gyms: Gyms, seed: str) -> None:
    gym = gyms("teams")
    made = gym.database(builtin=seed)
    expected = {name: len(rows) for name, rows in WORLDS[seed]().tables()}
    counts = {name: made.value(f"SELECT COUNT(*) FROM {name}") for name in expected}
    gym.drop(made)
    assert counts == expected
    assert sum(counts.values()) >= 2500
    assert min(counts.values()) > 0


def test_the_worlds_of_teams_share_no_names() -> None:
    one, other = bridges_world(), wards_world()
    for column in ("display_name", "mail", "user_id"):
        names = [{getattr(row, column) for row in world.all(User)} - {None} for world in (one, other)]
        assert not names[0] & names[1]


@each_seed
def test_every_kind_occurs_in_a_teams_world(seed: str) -> None:
    world = WORLDS[seed]()
    assert {row.membership_type for row in world.all(Channel)} == {"standard", "private", "shared"}
    assert {row.is_archived for row in world.all(Channel)} == {True, False}
    assert {row.user_type for row in world.all(User)} == {"Member", "Guest"}
    assert not all(row.account_enabled for row in world.all(User))
    assert any(row.deleted_datetime for row in world.all(ChannelMessage))
    bodies = {str(row.body_json)[:25] for row in world.all(ChannelMessage)}
    assert {body.split('"')[3] for body in bodies} == {"text", "html"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 FROM teams WHERE members NOT LIKE '%\"owner\"%'",
        (
            "SELECT 1 FROM teams t, json_each(t.members) m JOIN teams_users u ON u.user_id = m.value ->> 'userId' "
            "WHERE u.user_type = 'Guest' AND m.value LIKE '%\"owner\"%'"
        ),
        (
            "SELECT 1 FROM channel_members d JOIN channels c USING (channel_id) JOIN teams t USING (team_id) "
            "WHERE c.membership_type = 'private' AND t.members NOT LIKE '%' || d.user_id || '%'"
        ),
        "SELECT 1 FROM channel_members JOIN channels c USING (channel_id) WHERE c.membership_type = 'standard'",
        (
            "SELECT 1 FROM channel_messages p JOIN channels c USING (channel_id) JOIN teams t ON t.team_id = c.team_id "
            "WHERE c.membership_type = 'standard' AND t.members NOT LIKE '%' || (p.from_json ->> '$.user.id') || '%'"
        ),
        (
            "SELECT 1 FROM channel_messages p JOIN channels c USING (channel_id) "
            "WHERE p.created_datetime < c.created_date_time"
        ),
        (
            "SELECT 1 FROM chat_messages l WHERE NOT EXISTS (SELECT 1 FROM chat_members m "
            "WHERE m.chat_id = l.chat_id AND m.user_id = l.from_json ->> '$.user.id')"
        ),
        (
            "SELECT 1 FROM teamwork_tag_members g JOIN teams t ON t.team_id = g.teamId "
            "WHERE t.members NOT LIKE '%' || g.userId || '%'"
        ),
        (
            "SELECT 1 FROM channel_messages r JOIN channel_messages p ON p.message_id = r.reply_to_id "
            "WHERE r.created_datetime <= p.created_datetime OR r.channel_id <> p.channel_id"
        ),
        (
            "SELECT 1 FROM virtual_event_webinars w JOIN teams_users u ON u.user_id = w.created_by_user_id "
            "WHERE w.end_date_time <= w.start_date_time OR u.user_type = 'Guest'"
        ),
    ],
)
@each_seed
def test_no_row_of_teams_contradicts_another_or_the_policy(gyms: Gyms, seed: str, query: str) -> None:
    gym = gyms("teams")
    made = gym.database(builtin=seed)
    rows = made.rows(query)
    gym.drop(made)
    assert rows == []


# --- the suite -------------------------------------------------------------------------------------------------------


def _cases() -> list[Case]:
    return cases_of("teams-core")


def test_teams_core_is_large_and_plays_in_two_worlds() -> None:
    tasks = [case.task for case in _cases()]
    steps = [task.steps or 0 for task in tasks]
    assert len(tasks) >= 70
    assert sum(steps) / len(steps) >= 9
    assert max(steps) >= 25
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(task.access is Access.STRICT for task in tasks) >= 20
    assert min(sum(case.part.seed == seed for case in _cases()) for seed in WORLDS) >= 35


def test_teams_core_uses_time_and_changing_rights() -> None:
    tasks = [case.task for case in _cases()]
    assert sum(task.needs_clock for task in tasks) >= 15
    assert sum(bool(task.days) for task in tasks) >= 8
    changing = [
        task for task in tasks if any(event.amend or "user_permissions" in " ".join(event.sql) for event in task.events)
    ]
    assert len(changing) >= 4


def test_every_tool_of_teams_is_needed_by_a_task() -> None:
    (some, *_) = _cases()
    used = {call.name for case in _cases() for call in case.draft.gold}
    assert sorted(set(registry.tools_of(some.task)) - used) == []


def test_a_permission_or_membership_decides_ten_teams_tasks() -> None:
    refused = [
        {*case.draft.refused.values(), *(path.rule for path in case.draft.negative_trajectories.values())}
        for case in _cases()
    ]
    of_rights = {"ID-2", "PRC-2", "PRC-9", "PRC-11", "PRC-14"}
    assert sum(bool(rules & of_rights) for rules in refused) >= 10
