"""Who reaches what: organisations apart in every access, and in `strict` teams, channels and chats by membership."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.gym import Gym, GymDatabase
from tests.teams.examples import EXAMPLES, bind
from tests.teams.seed import NOW, SEED

from opsgym_domains import registry
from opsgym_domains.teams.identity import HEADER

_BODY = {"contentType": "text", "content": "Hello"}


def as_user(database: GymDatabase, name: str) -> GymDatabase:
    """The same database, used by another user."""
    return GymDatabase(database.client, database.id, {HEADER: f"token-{name}"})


def ids(database: GymDatabase, tool: str, **arguments: object) -> set[str]:
    """Ids of what a list tool shows."""
    return {item["id"] for item in database.call(tool, **arguments).data["value"]}


@pytest.fixture
def open_strict(teams: Gym) -> Iterator[GymDatabase]:
    """A database in access `strict` in which Dora and Eve have Ben's permissions too."""
    grants = "".join(
        f"INSERT INTO user_permissions (org_id, user_id, permission_id) SELECT 'acme', '{name}', permission_id "
        "FROM user_permissions p WHERE user_id = 'ben' AND NOT EXISTS (SELECT 1 FROM user_permissions o "
        f"WHERE o.user_id = '{name}' AND o.permission_id = p.permission_id);\n"
        for name in ("dora", "eve")
    )
    made = teams.database(SEED + grants, access="strict", **{HEADER: "token-ann"})
    made.set_clock(NOW)
    yield made
    teams.drop(made)


@pytest.mark.parametrize("access", ["published", "strict"])
def test_nothing_of_another_organisation_is_reached(teams: Gym, access: str) -> None:
    """Zoe may do everything in her organisation, and every example is about the other one."""
    domain = registry.load("teams")
    grants = (
        "INSERT INTO user_permissions (org_id, user_id, permission_id) "
        "SELECT 'other', 'zoe', permission_id FROM user_permissions WHERE user_id = 'ann';"
    )
    zoe = teams.database(SEED + grants, access=access, **{HEADER: "token-zoe"})
    zoe.set_clock(NOW)
    own = {"create_user", "create_call"}  # neither names a row
    problems = []
    for name, arguments in EXAMPLES.items():
        before = zoe.digest()
        outcome = zoe.call_with(name, arguments)
        shows = not outcome.is_error and any(word in outcome.text for word in ("acme.test", "t-main", "Ann Reed"))
        accepted = domain.toolbox.tools[name].writes and not outcome.is_error
        if name not in own and (shows or accepted or zoe.digest() != before):
            problems.append(f"{name}: {outcome.text[:300]}")
    teams.drop(zoe)
    assert problems == []


def test_deleted_users_and_teams_do_not_show(ann: GymDatabase) -> None:
    assert "gone" not in ids(ann, "list_users")
    assert ids(ann, "list_teams") == {"t-main", "t-side", "t-eve"}
    assert "Team" in ann.call("update_team", teamId="t-gone", displayName="Back").message
    ann.call("delete_team", teamId="t-side")
    assert "t-side" not in ids(ann, "list_teams")
    assert "Team" in ann.call("list_channels", teamId="t-side").message


def test_teams_are_for_members_and_administrators(open_strict: GymDatabase) -> None:
    assert ids(open_strict, "list_teams") == {"t-main", "t-side", "t-eve"}
    assert ids(as_user(open_strict, "ben"), "list_teams") == {"t-main", "t-side"}
    assert ids(as_user(open_strict, "dora"), "list_teams") == {"t-main"}
    assert ids(as_user(open_strict, "eve"), "list_teams") == {"t-eve"}
    assert "Team" in as_user(open_strict, "eve").call("list_team_members", teamId="t-main").message


def test_private_and_shared_channels_are_for_their_members(open_strict: GymDatabase) -> None:
    everyone = {"c-general", "c-dev", "c-old"}
    assert ids(open_strict, "list_channels", teamId="t-main") == everyone | {"c-priv", "c-shared"}
    assert ids(as_user(open_strict, "ben"), "list_channels", teamId="t-main") == everyone | {"c-priv"}
    dora = as_user(open_strict, "dora")
    assert ids(dora, "list_channels", teamId="t-main") == everyone
    private = {"teamId": "t-main", "channelId": "c-priv"}
    assert "hannel" in dora.call("list_channel_messages", **private).message
    assert "hannel" in dora.call("send_channel_message", **private, body=_BODY).message


def test_a_new_member_reaches_a_private_channel_from_the_next_call_on(open_strict: GymDatabase) -> None:
    private = {"teamId": "t-main", "channelId": "c-priv"}
    dora = as_user(open_strict, "dora")
    assert dora.call("list_channel_messages", **private).is_error
    assert not open_strict.call("add_channel_member", **private, user_odata_bind=bind("dora")).is_error
    assert ids(dora, "list_channel_messages", **private) == {"msg-5"}


def test_a_removed_member_loses_the_team(open_strict: GymDatabase) -> None:
    ben = as_user(open_strict, "ben")
    assert ids(ben, "list_channel_messages", teamId="t-main", channelId="c-general")
    open_strict.call("remove_team_member", teamId="t-main", membershipId="m-t-main-ben")
    assert ids(ben, "list_teams") == {"t-side"}
    assert "Team" in ben.call("list_channels", teamId="t-main").message


def test_chats_are_for_their_members_also_towards_administrators(open_strict: GymDatabase) -> None:
    assert ids(open_strict, "list_chats") == {"ann_ben", "chat-group"}
    assert "hat" in open_strict.call("list_chat_messages", chatId="chat-ben").message
    assert "hat" in open_strict.call("send_chat_message", chatId="chat-ben", body=_BODY).message
    assert ids(as_user(open_strict, "eve"), "list_chat_messages", chatId="chat-ben") == {"1770714240000"}


def test_members_make_private_channels_and_chats_of_their_own(open_strict: GymDatabase) -> None:
    ben = as_user(open_strict, "ben")
    members = [{"user_odata_bind": bind("ben"), "roles": ["owner"]}, {"user_odata_bind": bind("dora")}]
    private = {"teamId": "t-main", "displayName": "Ours", "membershipType": "private"}
    made = ben.call("create_channel", **private, members=members).data["id"]
    assert made in ids(as_user(open_strict, "dora"), "list_channels", teamId="t-main")
    stranger = [{"user_odata_bind": bind("ben"), "roles": ["owner"]}, {"user_odata_bind": bind("eve")}]
    refused = ben.call("create_channel", **{**private, "displayName": "Theirs"}, members=stranger)
    assert refused.codes == ["NOT_IN_TEAM"]
    assert as_user(open_strict, "dora").call("create_channel", **private).is_error
    people = [{"_odata_type": "x", "roles": [], "user_odata_bind": bind(name)} for name in ("ben", "dora")]
    assert ben.call("create_chat", chatType="oneOnOne", members=people).data["id"] == "ben_dora"
    assert ben.call("send_chat_message", chatId="ben_dora", body=_BODY).data["chatId"] == "ben_dora"
    assert ids(as_user(open_strict, "dora"), "list_chats") == {"ben_dora"}


def test_invite_only_town_halls_are_for_the_invited(open_strict: GymDatabase) -> None:
    assert "h-invited" in ids(open_strict, "list_virtual_event_townhalls")
    assert "h-invited" in ids(as_user(open_strict, "eve"), "list_virtual_event_townhalls")
    assert "h-invited" not in ids(as_user(open_strict, "ben"), "list_virtual_event_townhalls")


def test_call_records_are_for_participants(open_strict: GymDatabase) -> None:
    assert ids(as_user(open_strict, "ben"), "list_call_records") == {"rec-1", "rec-2"}
    assert ids(as_user(open_strict, "eve"), "list_call_records") == set()
