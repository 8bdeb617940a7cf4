"""The rows that recorded Teams calls show: of each answer what existed before the first call.

Invariant: a value is taken from the first answer that shows it and that no earlier call could have written. Rows that
calls made are left out; where a recording does not list a kind of row, those of other recordings stand in. Rows of
lists that the server sorts are inserted in another order than answers show, so that the order is judged too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tools.conformance.documents import DocumentWorld
from tools.conformance.recordings import Call, Recording

from opsgym_domains.kit.shapes import snake
from opsgym_domains.teams.tables import METADATA
from opsgym_domains.teams.team_settings import SETTINGS

Key = tuple[Any, ...]
Rows = dict[tuple[str, Key], dict[str, Any]]
TOKEN = "recorded"
_ADMINISTRATORS = {"techcorp-001": "james.wilson", "globalex-002": "robert.taylor"}
"""Who acts in each organisation, as answers to messages show."""
_SORTED = ("teams_users", "teams_apps", "call_records", "teams_channel_tabs")
"""Tables whose lists the server sorts."""
_LISTS = {"list_channels": "channels", "list_all_channels": "channels", "list_teams_apps": "teams_apps"}


class World:
    """Rows by table and key."""

    def __init__(self, org: str) -> None:
        self.org = org
        self.rows: Rows = {}
        self.made: set[str] = set()
        """Identifiers of what calls made."""

    def see(self, table: str, key: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Takes values of a row that are not known yet; what no column holds is left out."""
        row = self.rows.setdefault((table, tuple(key.values())), dict(key))
        for name, value in values.items():
            if name in METADATA.tables[table].columns:
                row.setdefault(name, json.dumps(value) if isinstance(value, dict | list) else value)

    def user(self, key: str | None, **values: Any) -> None:
        """Takes a user, of the own organisation unless the mail address is of another."""
        if key and key not in self.made and "/" not in key:
            mail = str(values.get("user_principal_name") or values.get("mail") or "")
            org = next((org for org in _ADMINISTRATORS if f"@{org.partition('-')[0]}." in mail), self.org)
            self.see("teams_users", {"user_id": key}, {"org_id": org, **values})


def org_of(recording: Recording) -> str:
    """The organisation that a recording is of."""
    text = json.dumps([[call.arguments, call.result] for call in recording.calls])
    return "globalex-002" if "team_globalex" in text else "techcorp-001"


def world_of(recording: Recording, all_recordings: Sequence[Recording]) -> DocumentWorld:
    """The world of a recording."""
    world = seen(recording)
    listed = {_LISTS[call.tool] for call in recording.calls if call.tool in _LISTS}
    for other in all_recordings:
        if other is recording or org_of(other) != world.org:
            continue
        for (table, key), row in seen(other).rows.items():
            if table in ("teams_users", "teams", "teams_orgs") or (
                table in ("channels", "teams_apps") and table not in listed
            ):
                names = list(row)[: len(key)]
                shown = {name: value for name, value in row.items() if name != "incoming_channels"}
                world.see(table, {name: row[name] for name in names}, shown)
    return DocumentWorld(_script(_completed(world)), TOKEN)


def world_of_others(recording: Recording, all_recordings: Sequence[Recording]) -> DocumentWorld:
    """The world of a recording as other recordings show it; nothing is taken from its own answers."""
    world = World(org_of(recording))
    for other in all_recordings:
        if other is recording or org_of(other) != world.org:
            continue
        for (table, key), row in seen(other).rows.items():
            world.see(table, dict(zip(row, key, strict=False)), row)
            _take_longer_list(world.rows[table, key], row)
    return DocumentWorld(_script(_completed(world)), TOKEN)


def _take_longer_list(row: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Takes the members that another recording shows if they are more: a filter may have left some out."""
    if len(json.loads(other.get("members") or "[]")) > len(json.loads(row.get("members") or "[]")):
        row["members"] = other["members"]


def seen(recording: Recording) -> World:
    """What the answers of one recording show."""
    world = World(org_of(recording))
    for call in recording.calls:
        if not call.is_error and call.mute is None:
            with suppress(KeyError):  # an answer with chosen properties may lack a row's key
                _FROM.get(call.tool, _nothing)(world, call)
        if isinstance(call.result, dict) and call.tool.startswith(("create_", "send_", "add_")):
            world.made.add(str(call.result.get("id")))
    return world


# --- what an answer shows ---------------------------------------------------------------------------------------------


def _nothing(_world: World, _call: Call) -> None:
    pass


def _columns(shown: Mapping[str, Any], *but: str) -> dict[str, Any]:
    return {snake(name): value for name, value in shown.items() if not name.startswith("@") and name not in but}


def _users(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        world.user(shown["id"], **_columns(shown, "id"))


def _updated_user(world: World, call: Call) -> None:
    shown = call.result
    but = ("id", "orgId", "createdDateTime", "lastModifiedDateTime", "softDeleted", "identities", "passwordPolicies",
           "lastPasswordChangeDateTime", *call.arguments)  # fmt: skip
    world.user(shown["id"], created_at=shown["createdDateTime"], **_columns(shown, *but))


def _teams(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        if shown["id"] not in world.made:
            world.see("teams", {"team_id": shown["id"]}, _columns(shown, "id"))


def _updated_team(world: World, call: Call) -> None:
    shown = call.result
    but = ("id", "tenantId", "createdDateTime", "summary", "classSettings", "channels", "installedApps",
           "incomingChannels", "members", *call.arguments)  # fmt: skip
    world.see("teams", {"team_id": shown["id"]}, _columns(shown, *but))


def _channels(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        if shown["id"] not in world.made:
            place = {"team_id": call.arguments["teamId"]}
            world.see("channels", {"channel_id": shown["id"]}, {**_columns(shown, "id", "teamId", "tenantId"), **place})


def _members(world: World, call: Call) -> None:
    names = ("id", "roles", "displayName", "userId", "email", "tenantId", "visibleHistoryStartDateTime")
    people = [{name: one.get(name) for name in names} for one in call.result["value"]]
    world.see("teams", {"team_id": call.arguments["teamId"]}, {"members": people})
    for one in people:
        world.user(one["userId"], display_name=one["displayName"], mail=one["email"])


def _added_member(world: World, call: Call) -> None:
    shown = call.result
    world.user(shown["userId"], display_name=shown["displayName"], mail=shown["email"])


def _updated_member(world: World, call: Call) -> None:
    shown = {name: value for name, value in call.result.items() if name != "_odata_type"}
    row = world.rows.get(("teams", (call.arguments["teamId"],)), {})
    if shown["userId"] not in str(row.get("members")):
        members = [*json.loads(row.get("members") or "[]"), {**shown, "roles": ["member"]}]
        world.see("teams", {"team_id": call.arguments["teamId"]}, {})
        world.rows["teams", (call.arguments["teamId"],)]["members"] = json.dumps(members)
    else:
        _complete_member(row, shown)
    _added_member(world, call)


def _complete_member(row: dict[str, Any], shown: Mapping[str, Any]) -> None:
    """What a later answer shows of a member besides the role."""
    members = json.loads(row["members"])
    for one in members:
        if one["userId"] == shown["userId"]:
            one |= {name: value for name, value in shown.items() if one.get(name) is None}
    row["members"] = json.dumps(members)


def _removed_member(world: World, call: Call) -> None:
    row = world.rows.get(("teams", (call.arguments["teamId"],)), {})
    if call.arguments["membershipId"] not in str(row.get("members")):
        member = {"id": call.arguments["membershipId"], "roles": ["member"], "userId": "removed"}
        world.see("teams", {"team_id": call.arguments["teamId"]}, {})
        row = world.rows["teams", (call.arguments["teamId"],)]
        row["members"] = json.dumps([*json.loads(row.get("members") or "[]"), member])


def _apps(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        _app(world, shown)


def _app(world: World, shown: Mapping[str, Any]) -> None:
    world.see("teams_apps", {"app_id": shown["id"]}, {"org_id": world.org, **_columns(shown, "id")})


def _added_tab(world: World, call: Call) -> None:
    _app(world, call.result["teamsApp"])


def _tabs(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        values = {
            "org_id": world.org, "team_id": call.arguments["teamId"], "channel_id": call.arguments["channelId"],
            "display_name": shown["displayName"], "web_url": shown["webUrl"],
            "sort_order_index": shown["sortOrderIndex"], "configuration_json": shown["configuration"],
        }  # fmt: skip
        world.see("teams_channel_tabs", {"tab_id": shown["id"]}, values)


def _updated_tab(world: World, call: Call) -> None:
    shown = call.result
    app = re.findall(r"\('([^']+)'\)", shown["teamsApp_odata_bind"])[0]
    values = {
        "org_id": world.org, "team_id": call.arguments["teamId"], "channel_id": call.arguments["channelId"],
        "app_id": app, "web_url": shown["webUrl"], "sort_order_index": shown["sortOrderIndex"],
    }  # fmt: skip
    world.see("teams_channel_tabs", {"tab_id": shown["id"]}, values)


def _installed(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        app, definition = shown["teamsApp"], shown["teamsAppDefinition"]
        values = {
            "org_id": world.org, "team_id": call.arguments["teamId"], "teams_app_id": app["id"],
            "teams_app_external_id": app["externalId"], "teams_app_display_name": app["displayName"],
            "teams_app_distribution_method": app["distributionMethod"], "teams_app_definition_id": definition["id"],
            "teams_app_definition_version": definition["version"], "azure_ad_app_id": definition["azureADAppId"],
            "publishing_state": definition["publishingState"], "short_description": definition["shortDescription"],
            "description": definition["description"],
            "required_resource_specific_permissions": definition["requiredResourceSpecificApplicationPermissions"],
        }  # fmt: skip
        world.see("installed_apps", {"installation_id": shown["id"]}, values)


def _folder(world: World, call: Call) -> None:
    shown = call.result
    parent, system = shown["parentReference"], shown["fileSystemInfo"]
    values = {
        "team_id": call.arguments["teamId"], "drive_item_id": shown["id"], "name": shown["name"],
        "size": shown["size"], "created_date_time": shown["createdDateTime"],
        "last_modified_date_time": shown["lastModifiedDateTime"], "web_url": shown["webUrl"],
        "web_dav_url": shown["webDavUrl"], "e_tag": shown["eTag"], "c_tag": shown["cTag"],
        "description": shown["description"], "created_by_json": shown["createdBy"],
        "last_modified_by_json": shown["lastModifiedBy"], "drive_id": parent["driveId"],
        "drive_type": parent["driveType"], "parent_id": parent["id"], "parent_path": parent["path"],
        "parent_name": parent["name"], "parent_site_id": parent["siteId"],
        "fs_created_date_time": system["createdDateTime"],
        "fs_last_modified_date_time": system["lastModifiedDateTime"],
    }  # fmt: skip
    world.see("channel_files_folders", {"channel_id": call.arguments["channelId"]}, values)


def _events(table: str, people: str) -> Callable[[World, Call], None]:
    def see(world: World, call: Call) -> None:
        for shown in call.result["value"]:
            creator = shown["createdBy"]["user"]
            extra = {"is_invite_only": shown["isInviteOnly"]} if "isInviteOnly" in shown else {}
            values = {
                "org_id": world.org, "display_name": shown["displayName"], "status": shown["status"],
                "description_content_type": shown["description"]["contentType"],
                "description_content": shown["description"]["content"],
                "start_date_time": shown["startDateTime"]["dateTime"],
                "start_time_zone": shown["startDateTime"]["timeZone"],
                "end_date_time": shown["endDateTime"]["dateTime"], "end_time_zone": shown["endDateTime"]["timeZone"],
                "audience": shown["audience"], "created_by_user_id": creator["id"],
                "created_by_display_name": creator["displayName"], "created_by_tenant_id": creator["tenantId"],
                "is_attendee_email_notification_enabled": shown["settings"]["isAttendeeEmailNotificationEnabled"],
                "external_event_information": shown["externalEventInformation"], **extra,
            }  # fmt: skip
            world.see(table, {"id": shown["id"]}, values)
            for one in shown["coOrganizers"]:
                world.user(one["id"], display_name=one["displayName"])
                link = {f"{people}_id": shown["id"], "user_id": one["id"]}
                world.see(f"{table.removesuffix('s')}_coorganizers", link, {"org_id": world.org})

    return see


def _made_event(world: World, call: Call) -> None:
    for one in call.result["coOrganizers"]:
        world.user(one["id"], display_name=one["displayName"])


def _records(world: World, call: Call) -> None:
    for shown in call.result["value"]:
        world.see("call_records", {"id": shown["id"]}, {"org_id": world.org, **_columns(shown, "id")})


def _record(world: World, call: Call) -> None:
    shown = call.result
    names = ("@odata.context", "participants_v2@odata.context", "participants_v2", "id")
    values = {name: value for name, value in _columns(shown, *names).items() if "@" not in name}
    people = {"participants": shown.get("participants_v2")}
    world.see("call_records", {"id": shown["id"]}, {"org_id": world.org, **values, **people})


def _tagged(world: World, call: Call) -> None:
    for one in call.result["members"]:
        world.user(one["userId"], display_name=one["displayName"])


def _channel_member(world: World, call: Call) -> None:
    shown = call.result
    world.user(shown["userId"], display_name=shown["displayName"], mail=shown["email"])


_FROM: Mapping[str, Callable[[World, Call], None]] = {
    "list_users": _users,
    "update_user": _updated_user,
    "list_teams": _teams,
    "update_team": _updated_team,
    "list_channels": _channels,
    "list_all_channels": _channels,
    "list_team_members": _members,
    "add_team_member": _added_member,
    "update_team_member": _updated_member,
    "remove_team_member": _removed_member,
    "list_teams_apps": _apps,
    "add_tabs_to_channels": _added_tab,
    "list_tabs_in_channel": _tabs,
    "update_channel_tab": _updated_tab,
    "list_installed_apps": _installed,
    "get_files_folder": _folder,
    "list_virtual_event_webinars": _events("virtual_event_webinars", "webinar"),
    "list_virtual_event_townhalls": _events("virtual_event_townhalls", "townhall"),
    "create_virtual_event_webinar": _made_event,
    "list_call_records": _records,
    "get_call_record": _record,
    "create_teamwork_tag": _tagged,
    "add_channel_member": _channel_member,
}

# --- the world --------------------------------------------------------------------------------------------------------


def _completed(world: World) -> World:
    """The world with what every row needs and no answer shows."""
    tenants = {"techcorp-001": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
               "globalex-002": "f9e8d7c6-b5a4-3210-9876-543210fedcba"}  # fmt: skip
    for org, tenant in tenants.items():
        world.see("teams_orgs", {"org_id": org}, {"tenant_id": tenant})
    world.see("teams_templates", {"org_id": "default", "template_id": "standard"}, {})
    for (table, key), row in list(world.rows.items()):
        if table == "channels":
            world.see("teams", {"team_id": row["team_id"]}, {})
            world.see(table, {"channel_id": key[0]}, {"org_id": world.org, "display_name": "Unknown",
                                                      "membership_type": "standard"})  # fmt: skip
    admin = _ADMINISTRATORS[world.org]
    world.user(admin, display_name=admin.replace(".", " ").title(), static_token=TOKEN)
    for (table, key), row in world.rows.items():
        if table == "teams_users":
            mail = row.get("mail") or row.get("user_principal_name") or f"{key[0]}@unknown.test"
            given = {"user_principal_name": mail, "display_name": key[0].replace(".", " ").title()}
            row.update({name: value for name, value in given.items() if not row.get(name)})
            row.setdefault("mail", mail)
        elif table == "teams":
            defaults = {name: json.dumps(value) for name, value in SETTINGS.items()}
            row.update({name: value for name, value in defaults.items() if name not in row})
            row.setdefault("org_id", world.org)
            row.setdefault("display_name", "Unknown")
        if table in ("channels", "teams"):
            row.setdefault("soft_delete", 0)  # as verifiers found rows that no answer shows so
    return world


def _script(world: World) -> str:
    lines = [f"-- {world.org}"]
    rows = [(table, row) for (table, _), row in world.rows.items() if table not in _SORTED]
    rows += reversed([(table, row) for (table, _), row in sorted(world.rows.items()) if table in _SORTED])
    for table, row in rows:
        names, values = ", ".join(f'"{name}"' for name in row), ", ".join(map(_literal, row.values()))
        lines.append(f'INSERT INTO "{table}" ({names}) VALUES ({values});')
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    return "'" + str(value).replace("'", "''") + "'"
