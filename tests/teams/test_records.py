"""What the tools of Teams keep: messages and their deletion, chats, roles, tabs, events, and what is refused."""

from __future__ import annotations

import json

from tests.support.gym import GymDatabase
from tests.teams.examples import EXAMPLES, GRAPH, bind

from opsgym_domains import registry

_GENERAL = {"teamId": "t-main", "channelId": "c-general"}
_BODY = {"contentType": "html", "content": "<b>Hi</b>"}


def test_two_users_have_one_chat(ann: GymDatabase) -> None:
    members = [{"_odata_type": "x", "roles": [], "user_odata_bind": bind(name)} for name in ("ben", "ann")]
    before = ann.digest()
    assert ann.call("create_chat", chatType="oneOnOne", members=members).data["id"] == "ann_ben"
    assert ann.digest() == before
    members[0]["user_odata_bind"] = f"{GRAPH}/users/dora@acme.test"
    assert ann.call("create_chat", chatType="oneOnOne", members=members).data["id"] == "ann_dora"
    assert "exactly two members" in ann.call("create_chat", chatType="oneOnOne", members=[members[0]] * 2).message


def test_messages_of_one_second_have_different_ids_in_order(ann: GymDatabase) -> None:
    sent = [ann.call("send_chat_message", chatId="ann_ben", body={"content": str(n)}).data["id"] for n in range(3)]
    assert sent == sorted(set(sent))
    listed = ann.call("list_chat_messages", chatId="ann_ben", _top=3).data["value"]
    assert [message["id"] for message in listed] == sent[::-1]


def test_a_channel_message_keeps_its_text_as_plain_text(ann: GymDatabase) -> None:
    sent = ann.call("send_channel_message", **_GENERAL, body=_BODY).data
    assert sent["body"] == {"contentType": "text", "content": "<b>Hi</b>"}
    assert sent["from"]["user"] == {"id": "ann", "displayName": "Current User", "userIdentityType": "aadUser"}
    assert (
        ann.value(
            f"SELECT json_extract(body_json, '$.content') FROM channel_messages WHERE message_id = '{sent['id']}'"
        )
        == "<b>Hi</b>"
    )


def test_a_deleted_message_shows_without_its_text_until_it_is_restored(ann: GymDatabase) -> None:
    message = {"chatId": "chat-group", "messageId": "1770714120000"}
    ann.call("soft_delete_chat_message", **message)
    shown = [
        one
        for one in ann.call("list_chat_messages", chatId="chat-group").data["value"]
        if one["id"] == message["messageId"]
    ]
    assert shown[0]["deletedDateTime"] == "2026-03-02T12:00:00Z"
    assert shown[0]["body"]["content"] == ""
    ann.call("undo_soft_delete_chat_message", **message)
    assert ann.value("SELECT deleted_datetime FROM chat_messages WHERE message_id = '1770714120000'") is None
    shown = [
        one
        for one in ann.call("list_chat_messages", chatId="chat-group").data["value"]
        if one["id"] == message["messageId"]
    ]
    assert shown[0]["body"]["content"] == "Plan"


def test_a_reaction_is_kept_once_and_both_it_and_its_end_are_in_the_history(ann: GymDatabase) -> None:
    message = {**_GENERAL, "messageId": "msg-1", "reactionType": "like"}
    for _ in range(2):
        ann.call("set_channel_message_reaction", **message)
    reactions = json.loads(ann.value("SELECT reactions_json FROM channel_messages WHERE message_id = 'msg-1'"))
    assert [(one["reactionType"], one["user"]["user"]["id"]) for one in reactions] == [("like", "ann")]
    ann.call("unset_channel_message_reaction", **message)
    row = ann.rows("SELECT reactions_json, message_history_json FROM channel_messages WHERE message_id = 'msg-1'")[0]
    assert json.loads(row["reactions_json"]) == []
    history = json.loads(row["message_history_json"])
    assert [entry["actions"] for entry in history] == ["reactionAdded", "reactionRemoved"]


def test_a_message_is_pinned_once(ann: GymDatabase) -> None:
    pins = {ann.call_with("pin_chat_message", EXAMPLES["pin_chat_message"]).data["id"] for _ in range(2)}
    assert len(pins) == 1
    assert ann.value("SELECT COUNT(*) FROM pinned_chat_messages") == 1


def test_a_team_needs_an_owner_as_the_published_server_says(ann: GymDatabase) -> None:
    template = f"{GRAPH}/teamsTemplates('standard')"
    refused = ann.call("create_team", template_odata_bind=template, displayName="New")
    assert refused.text == (
        "members collection is required when using Application permissions. "
        "At least one member with 'owner' role must be specified."
    )
    members = [{"user_odata_bind": bind("ben"), "roles": ["member"]}]
    refused = ann.call("create_team", template_odata_bind=template, displayName="New", members=members)
    assert refused.text == "At least one member must have the 'owner' role"
    unknown = ann.call("create_team", template_odata_bind=f"{GRAPH}/teamsTemplates('x')", displayName="New")
    assert "Team template 'x'" in unknown.message


def test_a_new_team_has_a_group_of_its_people_unless_the_call_names_one(ann: GymDatabase) -> None:
    template = f"{GRAPH}/teamsTemplates('standard')"
    members = [{"user_odata_bind": bind(name), "roles": [role]} for name, role in (("ben", "owner"), ("eve", "member"))]
    fields = {"template_odata_bind": template, "members": members, "description": "New things"}
    key = ann.call("create_team", displayName="New", **fields).data["targetResourceId"]
    made = ann.rows(
        "SELECT g.display_name, g.description, g.mail_enabled, json_extract(g.owners, '$[0].id') AS owner,"
        " json_array_length(g.members) AS people FROM groups g JOIN teams t ON t.group_id = g.group_id"
        f" WHERE t.team_id = '{key}'"
    )
    assert [tuple(row.values()) for row in made] == [("New", "New things", 1, "ben", 2)]
    (listed,) = ann.call("list_groups", _filter="displayName eq 'New'").data["value"]
    assert (listed["description"], listed["groupTypes"]) == ("New things", ["Unified"])
    group = f"{GRAPH}/groups('{ann.value('SELECT group_id FROM groups ORDER BY rowid LIMIT 1')}')"
    before = ann.value("SELECT COUNT(*) FROM groups")
    assert not ann.call("create_team", displayName="Of a group", group_odata_bind=group, **fields).is_error
    assert ann.value("SELECT COUNT(*) FROM groups") == before


def test_a_tab_s_configuration_is_stored_as_a_json_text_in_json(ann: GymDatabase) -> None:
    configuration = {"entityId": "runbook", "contentUrl": "https://c.test/é"}
    added = {**EXAMPLES["add_tabs_to_channels"], "configuration": configuration}
    tab = ann.call_with("add_tabs_to_channels", added).data
    stored = f"SELECT configuration_json FROM teams_channel_tabs WHERE tab_id = '{tab['id']}'"
    assert '\\"entityId\\": \\"runbook\\"' in str(ann.value(stored))
    assert tab["configuration"] == configuration
    place = {"teamId": added["teamId"], "channelId": added["channelId"]}
    changed = ann.call("update_channel_tab", **place, tabId=tab["id"], configuration={"entityId": "two"}).data
    assert changed["configuration"] == {"entityId": "two"}
    assert ann.value(stored) == '"{\\"entityId\\": \\"two\\"}"'
    listed = {one["id"]: one["configuration"] for one in ann.call("list_tabs_in_channel", **place).data["value"]}
    assert listed.pop(tab["id"]) == {"entityId": "two"}
    assert all(isinstance(other, dict | None) for other in listed.values()), "those of seeds are encoded once"


def test_members_are_added_in_bulk_and_who_cannot_be_is_named(ann: GymDatabase) -> None:
    values = [{"user_odata_bind": bind(name)} for name in ("eve", "ann", "zoe")]
    results = ann.call("add_team_members_in_bulk", teamId="t-main", values=values).data["value"]
    codes = [result["error"] and result["error"]["code"] for result in results]
    assert codes == [None, "DUPLICATE_MEMBER", "USER_NOT_FOUND"]
    assert "No member was added" in ann.call("add_team_members_in_bulk", teamId="t-main", values=values[1:]).message
    assert "Invalid bind property" in ann.call("add_team_member", teamId="t-main", user_odata_bind="eve").message


def test_settings_that_are_not_given_stay(ann: GymDatabase) -> None:
    team = ann.call("update_team", teamId="t-main", messagingSettings={"allowTeamMentions": False}).data
    assert team["messagingSettings"]["allowTeamMentions"] is False
    assert team["messagingSettings"]["allowUserEditMessages"] is True
    assert ann.call("update_team", teamId="t-main").is_error


def test_names_that_are_taken_are_refused(ann: GymDatabase) -> None:
    assert "already exists in the team" in ann.call("create_channel", teamId="t-main", displayName="general").message
    tag = {"team_id": "t-main", "displayName": "leads", "members": [{"userId": "ben"}]}
    assert "already has a tag" in ann.call_with("create_teamwork_tag", tag).message
    without_members = {name: value for name, value in tag.items() if name != "members"}
    assert "at least one member" in ann.call_with("create_teamwork_tag", without_members).message
    user = {**EXAMPLES["create_user"], "userPrincipalName": "BEN@acme.test"}
    assert "property userPrincipalName already exists" in ann.call_with("create_user", user).message
    group = {**EXAMPLES["create_group"], "mailNickname": "Buyers"}
    assert "property mailNickname already exists" in ann.call_with("create_group", group).message


def test_a_private_channel_without_members_is_the_acting_users(ann: GymDatabase) -> None:
    made = ann.call("create_channel", teamId="t-main", displayName="Mine", membershipType="private").data
    rows = ann.rows(f"SELECT user_id, roles FROM channel_members WHERE channel_id = '{made['id']}'")
    assert rows == [{"user_id": "ann", "roles": "owner"}]


def test_an_app_that_is_not_in_the_catalogue_is_refused_as_published(ann: GymDatabase) -> None:
    reference = f"{GRAPH}/appCatalogs/teamsApps/none"
    refused = ann.call("add_tabs_to_channels", **_GENERAL, displayName="Tab", teamsApp_odata_bind=reference)
    assert refused.text == (
        "Teams app 'none' not found in organization app catalog. The app must be preinstalled in the team."
    )
    tab = ann.call_with("add_tabs_to_channels", EXAMPLES["add_tabs_to_channels"]).data
    assert "configuration" not in tab
    assert ann.value(f"SELECT sort_order_index FROM teams_channel_tabs WHERE tab_id = '{tab['id']}'") == "10000300"


def test_an_event_keeps_the_wall_clock_of_its_zone(ann: GymDatabase) -> None:
    example = dict(EXAMPLES["create_virtual_event_webinar"])
    example["startDateTime"] = {"dateTime": "2026-05-01T09:00:00", "timeZone": "Pacific Standard Time"}
    made = ann.call_with("create_virtual_event_webinar", example).data
    assert made["startDateTime"] == {"dateTime": "2026-05-01T09:00:00", "timeZone": "Pacific Standard Time"}
    assert made["coOrganizers"][0]["displayName"] == "Ben Reed"
    row = ann.rows("SELECT status, start_date_time FROM virtual_event_webinars WHERE display_name = 'Quarter'")[0]
    assert row == {"status": "draft", "start_date_time": "2026-05-01 09:00:00"}
    example["startDateTime"] = {"dateTime": "noon", "timeZone": "UTC"}
    assert "is not a time" in ann.call_with("create_virtual_event_webinar", example).message


def test_a_routing_group_of_one_to_one_has_one_receiver(ann: GymDatabase) -> None:
    both = {**EXAMPLES["create_audio_routing_group"], "receivers": ["p-ann", "p-ben"]}
    assert "exactly one receiver" in ann.call_with("create_audio_routing_group", both).message
    assert not ann.call_with("create_audio_routing_group", {**both, "routingMode": "multicast"}).is_error


def test_a_refusal_is_a_sentence_that_names_the_value(ann: GymDatabase) -> None:
    assert ann.call("list_channels", teamId="none").text == "Team 'none' not found"
    assert "'none'" in ann.call("get_user", userId="none").text
    invalid = ann.call("update_chat", chatId=5)
    assert invalid.text.splitlines() == [
        "Validation errors:",
        "- chatId: 5 has the wrong type; expected string",
        "- topic: this argument is required",
    ]
    assert ann.call("fly", wings=2).text == "Unknown tool: fly"


def test_patterns_of_schemas_are_shown_and_not_enforced(ann: GymDatabase) -> None:
    tool = registry.load("teams").toolbox.tools["add_tab_to_chat"]
    assert "pattern" in tool.input_schema["properties"]["teamsApp_odata_bind"]
    bound = {**EXAMPLES["add_tab_to_chat"], "teamsApp_odata_bind": f"{GRAPH}/appCatalogs/teamsApps('none')"}
    assert ann.call_with("add_tab_to_chat", bound).message.startswith("Teams app 'none' not found")
