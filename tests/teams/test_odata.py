"""Graph's query options: what a filter finds, in what order, and how a bad option is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.support.gym import Gym, GymDatabase
from tests.teams.examples import bind
from tests.teams.seed import SEED, TOKEN

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.teams.identity import HEADER
from opsgym_domains.teams.odata import Expansion, Related, matches, parse_expand, parse_filter, parse_select

ALL = {"ann", "ben", "cleo", "dora", "eve"}
FILTERS = [
    ("displayName eq 'Ann Reed'", {"ann"}),
    ("displayName eq 'ann reed'", {"ann"}),
    ("displayName ne 'Ann Reed'", ALL - {"ann"}),
    ("displayName eq 'Ann Reed' or displayName eq 'Ben Reed'", {"ann", "ben"}),
    ("displayName eq 'Ann Reed' and displayName eq 'Ben Reed'", set()),
    ("displayName in ('Ann Reed', 'Eve Reed')", {"ann", "eve"}),
    ("startswith(displayName, 'a')", {"ann"}),
    ("startswith(displayName,'An') or endswith(mail,'dora@acme.test')", {"ann", "dora"}),
    ("contains(userPrincipalName, 'E@')", {"eve"}),
    ("contains(displayName, '%')", set()),
    ("contains(displayName, '_')", set()),
    ("not startswith(displayName, 'a')", ALL - {"ann"}),
    ("not (startswith(displayName, 'a') or userType eq 'Guest')", {"ben", "cleo", "eve"}),
    ("startswith(displayName, 'a') or userType eq 'Guest' and accountEnabled eq false", {"ann"}),
    ("(startswith(displayName, 'a') or userType eq 'Guest') and accountEnabled eq true", {"ann", "dora"}),
    ("accountEnabled eq false", {"cleo"}),
    ("accountEnabled ne true", {"cleo"}),
    ("department eq null", ALL),
    ("department ne null", set()),
    ("not (department eq 'Sales')", ALL),
    ("department ne 'Sales'", ALL),
    ("jobTitle gt 'buyer'", ALL - {"eve"}),
    ("jobTitle le 'BUYER'", {"eve"}),
    ("employeeHireDate ge 2024-03-01T00:00:00Z", ALL),
    ("employeeHireDate gt 2024-03-01", set()),
    ("employeeHireDate lt 2024-03-01T00:30:00+01:00", set()),
    ("employeeHireDate eq '2024-03-01T00:00:00Z'", ALL),
    ("  displayName   eq\t'Ann Reed'  ", {"ann"}),
    ("id eq 'O''Neil'", set()),
    ("StartsWith(displayName, 'a') OR displayName EQ 'Eve Reed'", {"ann", "eve"}),
    ("NOT startswith(displayName, 'a') And accountEnabled Ne TRUE", {"cleo"}),
    ("displayName IN ('Ann Reed')", {"ann"}),
    ("contains(displayName, 'ann') eq true", {"ann"}),
    ("contains(displayName, 'ann') eq false and accountEnabled eq false", {"cleo"}),
    ("(contains(displayName, 'ann') ne true) and contains(displayName, 'dora') ne false", {"dora"}),
    ("", ALL),
]
BAD = [
    ("displayName = 'Ann'", "position 12"),
    ("displayName eq Ann", "single quotes"),
    ("displayName eq 'Ann", "position 15"),
    ("displayName like 'Ann'", "'like' is not an operator"),
    ("(displayName eq 'Ann'", "')' is expected"),
    ("displayName eq 'Ann' displayName", "is not expected"),
    ("substringof('a', displayName)", "unknown function"),
    ("displayName eq", "is not a value"),
    ("eq 'Ann'", "is expected"),
    ("nickname eq 'Ann'", "nickname"),
    ("accountEnabled eq 'yes'", "accountEnabled cannot be compared"),
    ("employeeHireDate ge 2024-13-01", "not a time"),
    ("employeeHireDate ge 'soon'", "cannot be compared"),
    ("displayName gt null", "cannot be compared"),
    ("displayName eq 5", "cannot be compared"),
    ("contains(accountEnabled, 'a')", "cannot be compared"),
    ("displayName/any(d:d eq 'Ann')", "is not a list"),
    ("displayName/all(d:d eq 'Ann')", "all is not supported"),
    ("displayName/any(d:mail eq 'Ann')", "named by d/, not 'mail'"),
    ("displayName/any(d:d/names/any(n:n eq 'Ann' or d/id eq 'x'))", "named by n/, not 'd/id'"),
    ("DisplayName eq 'Ann'", "DisplayName"),
    ("contains(displayName, 'a') eq 'true'", "true or false is expected"),
    ("not " * 50 + "accountEnabled eq true", "levels"),
    (" or ".join(["id eq 'a'"] * 101), "more than 100 conditions"),
]


def test_filters_find_the_users_that_meet_them(ann: GymDatabase) -> None:
    results = {text: {user["id"] for user in ann.call("list_users", _filter=text).data["value"]} for text, _ in FILTERS}
    assert results == dict(FILTERS)


def test_a_bad_filter_is_refused_by_what_is_wrong(ann: GymDatabase) -> None:
    outcomes = {text: ann.call("list_users", _filter=text) for text, _ in BAD}
    assert [
        f"{text}: {outcomes[text].text}"
        for text, says in BAD
        if not outcomes[text].is_error or says not in outcomes[text].text
    ] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("roles/any(r:r eq 'OWNER')", {"ann"}),
        ("not roles/any(r:r eq 'owner')", {"ben", "dora", "cleo"}),
        ("displayName eq 'ben reed' or userId eq 'dora'", {"ben", "dora"}),
        ("microsoft.graph.aadUserConversationMember/displayName eq 'Ann Reed'", {"ann"}),
        ("microsoft.graph.aadUserConversationMember/roles/any(r:r eq 'owner')", {"ann"}),
        ("roles/any(r:r eq 'owner') eq false", {"ben", "dora", "cleo"}),
        ("visibleHistoryStartDateTime ge 2026-01-05T08:00:00Z", {"ann", "ben", "dora", "cleo"}),
        ("visibleHistoryStartDateTime gt 2026-01-05T08:00:00Z", set()),
        ("startswith(email, 'd')", {"dora"}),
        ("userId in ('ann','cleo')", {"ann", "cleo"}),
        ("email eq null", set()),
    ],
)
def test_filters_find_members_that_are_kept_as_json(ann: GymDatabase, text: str, expected: set[str]) -> None:
    listed = ann.call("list_team_members", teamId="t-main", _filter=text).data
    assert {member["userId"] for member in listed["value"]} == expected
    assert listed["@odata.count"] == len(expected)


def test_a_filter_on_an_unknown_property_is_refused_even_where_nothing_is_listed() -> None:
    with pytest.raises(ToolError, match="nickname"):
        matches(parse_filter("displayName eq 'a' and nickname eq 'b'"), {}, ("displayName",))


def test_groups_are_found_by_an_item_of_a_list(ann: GymDatabase) -> None:
    both = ann.call("list_groups", _filter="groupTypes/any(c:c eq 'unified')", _count=True).data
    assert (both["odata_count"], len(both["value"])) == (2, 2)
    assert ann.call("list_groups", _filter="groupTypes/any(c:c eq 'None')").data["value"] == []
    assert ann.call("list_groups", _search='"displayName:uy"').data["value"][0]["id"] == "g-buyers"


def test_an_item_of_a_list_within_an_item_of_a_list_is_found() -> None:
    team = {"members": [{"userId": "ann", "roles": ["owner"]}, {"userId": "ben", "roles": ["member"]}]}
    ids = {
        name: matches(
            parse_filter(f"members/any(m:m/userId eq '{name}' and m/roles/any(r:r eq 'owner'))"), team, ("members",)
        )
        for name in ("ann", "ben")
    }
    assert ids == {"ann": True, "ben": False}


def test_groups_are_found_by_their_owners(ann: GymDatabase) -> None:
    ann.call("add_group_owner", groupId="g-buyers", _odata_id=bind("ben"))
    ids = {
        name: {group["id"] for group in ann.call("list_groups", _filter=text).data["value"]}
        for name, text in (
            ("ann", "owners/any(o:o/id eq 'ann')"), ("ben", "owners/any(o:o/displayName eq 'ben reed')"),
            ("eve", "owners/any(o:o/id eq 'eve') or members/any(m:m/id eq 'ann')"),
        )
    }  # fmt: skip
    assert ids == {"ann": {"g-t-main", "g-buyers"}, "ben": {"g-buyers"}, "eve": set()}
    assert "Could not find a property" in ann.call("list_groups", _filter="owners/any(o:o/age eq 'x')").message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"buy"', {"g-buyers"}),
        ("ers", {"g-buyers"}),
        ('"purchasing"', {"g-buyers"}),
        ('"displayName:main" OR "displayName:buyers"', {"g-t-main", "g-buyers"}),
        ("displayName:main OR mail:nobody", {"g-t-main"}),
        ('"main" AND "purchasing" OR "description:all purchasing"', {"g-buyers"}),
        ('"main" AND "purchasing"', set()),
        ("Salt AND pepper OR", None),
        ('"buy" "main"', None),
        ('"nickname:buy"', None),
        ('"buy', None),
        (" OR ".join(['"a"'] * 101), None),
    ],
)
def test_groups_are_searched_by_texts_and_clauses(ann: GymDatabase, text: str, expected: set[str] | None) -> None:
    ann.call("update_group", groupId="g-buyers", description="All purchasing")
    outcome = ann.call("list_groups", _search=text)
    if expected is None:
        assert "Invalid search" in outcome.message
    else:
        assert {group["id"] for group in outcome.data["value"]} == expected


def test_chats_are_found_by_their_members_and_sorted_by_their_newest_message(ann: GymDatabase) -> None:
    def chats(**options: str) -> list[str]:
        return [chat["id"] for chat in ann.call("list_chats", **options).data["value"]]

    assert chats(_filter="members/any(m:m/userId eq 'eve')") == ["chat-group"]
    assert chats(_filter="members/any(m:m/roles/any(r:r eq 'guest') and m/email eq 'eve@acme.test')") == ["chat-group"]
    assert chats(_filter="members/any(m:m/displayName eq 'Zoe Reed')") == []
    newest = "lastMessagePreview/createdDateTime"
    assert chats(_orderby=f"{newest} DESC") == ["chat-group", "ann_ben"]
    ann.call("send_chat_message", chatId="ann_ben", body={"content": "Later"})
    assert chats(_orderby=f"{newest} desc") == ["ann_ben", "chat-group"]
    assert chats(_filter=f"{newest} gt 2026-03-01") == ["ann_ben"]


def test_call_records_are_found_by_their_participants(teams: Gym) -> None:
    """By the id of the participant, which is that of the user where it has no other."""
    bare = json.dumps([{"user": {"id": "eve", "displayName": "Eve Reed"}}])
    database = teams.database(
        f"{SEED}UPDATE call_records SET participants = '{bare}' WHERE id = 'rec-2';", **{HEADER: TOKEN}
    )
    ids = {
        text: [
            record["id"]
            for record in database.call("list_call_records", _filter=f"participants_v2/any(p:{text})").data["value"]
        ]
        for text in (
            "p/id eq 'p-ann'",
            "p/identity/user/displayName eq 'ann reed'",
            "p/id eq 'eve'",
            "p/identity/user/id eq 'eve'",
            "p/identity/user/id eq 'dora'",
        )
    }
    assert list(ids.values()) == [["rec-1"], ["rec-1"], ["rec-2"], ["rec-2"], []]
    teams.drop(database)


def test_messages_of_a_chat_are_filtered_by_the_property_that_sorts_them_only(ann: GymDatabase) -> None:
    def texts(**options: str) -> list[str]:
        listed = ann.call("list_chat_messages", chatId="ann_ben", **options).data["value"]
        return [message["body"]["content"] for message in listed]

    early = "lt 2026-02-10T09:11:00Z"
    assert texts(_filter=f"lastModifiedDateTime {early}") == ["Hi Ben"]
    assert texts(_filter=f"createdDateTime {early}", _orderby="createdDateTime desc") == ["Hi Ben"]
    assert texts(_filter=f"createdDateTime {early}") == ["Hi Ann", "Hi Ben"]
    assert texts(_filter=f"lastModifiedDateTime {early} and importance eq 'high'") == ["Hi Ann", "Hi Ben"]
    assert (
        "Could not find a property" in ann.call("list_chat_messages", chatId="ann_ben", _filter="sender eq 'x'").message
    )


def test_users_are_sorted_as_asked_and_cut_into_pages(ann: GymDatabase) -> None:
    first = ann.call("list_users", _orderby="jobTitle asc, displayName desc", _top=2, _count=True, _select="id").data
    assert [user["id"] for user in first["value"]] == ["eve", "dora"]
    assert first["@odata.count"] == 5
    assert "$skip=2" in first["@odata.nextLink"]
    assert "$count=true" in first["@odata.nextLink"]
    last = ann.call("list_users", _orderby="jobTitle asc, displayName desc", _top=2, _skip=4, _select="id").data
    assert [user["id"] for user in last["value"]] == ["ann"]
    assert "@odata.nextLink" not in last


def test_users_and_apps_have_the_order_of_the_recorded_lists(teams: Gym) -> None:
    """By user principal name, and by name: 20 recorded lists of users, one of apps."""
    renamed = (
        "UPDATE teams_users SET user_principal_name = 'a.first@acme.test' WHERE user_id = 'eve';\n"
        "UPDATE teams_apps SET display_name = 'Zebra' WHERE app_id = 'app-notes';\n"
    )
    database = teams.database(SEED + renamed, **{HEADER: TOKEN})
    assert [user["id"] for user in database.call("list_users").data["value"]] == ["eve", "ann", "ben", "cleo", "dora"]
    by_title = database.call("list_users", _orderby="jobTitle desc", _select="id").data["value"]
    assert [user["id"] for user in by_title] == ["ann", "ben", "cleo", "dora", "eve"]
    names = [app["displayName"] for app in database.call("list_teams_apps").data["value"]]
    assert (names, names[-1]) == (sorted(names), "Zebra")
    teams.drop(database)


def test_pages_after_the_last_row_are_empty(ann: GymDatabase) -> None:
    page = ann.call("list_users", _skip=10**30, _count=True).data
    assert (page["value"], page["@odata.count"]) == ([], 5)
    assert "@odata.nextLink" not in page
    token = base64.urlsafe_b64encode(b"99999999999999999999").decode()
    assert ann.call("list_teams", _skiptoken=token, _count=True).data["@odata.count"] == 3
    too_long = base64.urlsafe_b64encode(b"9" * 5001).decode()
    assert "skiptoken is not" in ann.call("list_teams", _skiptoken=too_long).message


def test_pages_of_teams_follow_their_links(ann: GymDatabase) -> None:
    seen: list[str] = []
    token: dict[str, Any] = {}
    for _ in range(5):
        page = ann.call("list_teams", _top=1, _select="id", **token).data
        seen += [team["id"] for team in page["value"]]
        if "@odata.nextLink" not in page:
            break
        token = {"_skiptoken": page["@odata.nextLink"].rpartition("$skiptoken=")[2]}
    assert seen == ["t-main", "t-side", "t-eve"]
    assert "$count=true" in ann.call("list_teams", _top=1, _count=True).data["@odata.nextLink"]
    assert "skiptoken is not" in ann.call("list_teams", _skiptoken="x").message


def test_selected_properties_keep_annotations_and_unknown_ones_are_refused(ann: GymDatabase) -> None:
    channel = ann.call("list_channels", teamId="t-main", _select="displayName").data["value"][0]
    assert list(channel) == ["@odata.id", "displayName"]
    assert parse_select(" id , *", ("id",)) is None
    assert "Could not find a property" in ann.call("get_user", userId="ann", _select="nickname").message
    assert "Invalid orderby" in ann.call("list_users", _orderby="displayName down").message


SESSIONS = {"sessions": Related(("id", "segments"), related={"segments": Related(("id", "b"))}), "a": Related(("id",))}


def test_an_expansion_may_have_options_of_its_own() -> None:
    assert parse_expand("a,sessions($expand=segments($select=id,b)) , a", SESSIONS) == {
        "a": Expansion(),
        "sessions": Expansion(),
    }
    assert parse_expand("a( _SELECT = id ;$top=2)", SESSIONS) == {"a": Expansion(("id",), 2)}
    one = {"app": Related(("id",), is_list=False)}
    for bad, known in (
        ("sessions(", SESSIONS), ("a b", SESSIONS), ("none", SESSIONS), ("a($filter=id eq 'x')", SESSIONS),
        ("a($top=many)", SESSIONS), ("a($top)", SESSIONS), ("a($select=)", SESSIONS), ("a($expand=b)", SESSIONS),
        ("a($select=b)", SESSIONS), ("sessions($expand=segments($orderby=id))", SESSIONS), ("app($top=1)", one),
    ):  # fmt: skip
        with pytest.raises(ToolError):
            parse_expand(bad, known)


def test_an_option_that_an_expansion_does_not_take_is_named(ann: GymDatabase) -> None:
    refused = ann.call("list_groups", _expand="members($select=id;$skip=1)")
    assert "Invalid expand" in refused.message
    assert "'$skip=1'" in refused.text


def test_what_is_expanded_is_cut_and_reduced_as_its_options_say(ann: GymDatabase) -> None:
    """Each tool that expands anything, by the property that is expanded."""
    general = {"teamId": "t-main", "channelId": "c-general"}
    calls: list[tuple[str, dict[str, Any], str, Any]] = [
        ("list_channel_messages", {**general, "_expand": "replies($top=0)"}, "replies", []),
        ("list_channel_messages", {**general, "_expand": "replies(_select=id)"}, "replies", [{"id": "msg-2"}]),
        ("list_channel_messages", {**general, "_expand": "hostedContents"}, "hostedContents", []),
        ("list_tabs_in_channel", {**general, "_expand": "teamsApp(_select=displayName)"}, "teamsApp",
         {"displayName": "Notes"}),
        ("list_installed_apps", {"teamId": "t-main", "_expand": "teamsApp($select=id)"}, "teamsApp",
         {"id": "app-notes"}),
        ("list_teams_apps", {"_expand": "appDefinitions($select=version)"}, "appDefinitions", [{"version": "1.0.0"}]),
        ("list_call_sessions", {"id": "rec-1", "_expand": "segments(_select=id)", "_select": "id"}, "segments",
         [{"id": "p-ben"}]),
        ("get_call_record", {"id": "rec-1", "_expand": "participants_v2($top=1;$select=id)"}, "participants_v2",
         [{"id": "p-ann"}]),
        ("list_groups", {"_expand": "owners($select=id)"}, "owners", [{"id": "ann"}]),
        ("list_chats", {"_expand": "members($select=userId;$top=1)"}, "members",
         [{"@odata.type": "#microsoft.graph.aadUserConversationMember", "userId": "ann"}]),
        ("list_chats", {"_expand": "lastMessagePreview($select=isDeleted)", "_top": 1}, "lastMessagePreview",
         {"isDeleted": False}),
        ("get_primary_channel", {"teamId": "t-main", "_expand": "tabs($select=displayName;$top=1)"}, "tabs",
         [{"displayName": "Notes"}]),
        ("get_primary_channel", {"teamId": "t-main", "_expand": "filesFolder($select=id)"}, "filesFolder",
         {"id": "item-1"}),
    ]  # fmt: skip
    shown = []
    for tool, arguments, name, _ in calls:
        data = ann.call_with(tool, arguments).data
        listed = data.get("value", [data])
        shown.append((tool, next((one[name] for one in listed if one[name]), listed[0][name])))
    assert shown == [(tool, expected) for tool, _, _, expected in calls]


def test_a_call_record_shows_its_organiser_where_it_is_selected_and_no_sessions(ann: GymDatabase) -> None:
    organiser = {"user": {"id": "ann", "displayName": "Ann Reed"}}
    record = ann.call("get_call_record", id="rec-1", _select="id,organizer_v2,sessions", _expand="sessions").data
    assert {name: value for name, value in record.items() if "@" not in name} == {
        "id": "rec-1",
        "organizer_v2": organiser,
    }
    listed = ann.call("list_call_records", _select="organizer_v2").data["value"]
    assert listed == [{"organizer_v2": organiser}] * 2
