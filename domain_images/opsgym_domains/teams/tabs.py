"""Tabs of channels and of chats."""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.channels import TAB_ORDER, channel_of, shown_tab
from opsgym_domains.teams.graph import (
    BASE,
    Shown,
    bound,
    context,
    filters,
    object_of,
    picked_in_own_order,
    reduced,
    text_of,
)
from opsgym_domains.teams.memberships import new_hex
from opsgym_domains.teams.odata import Columns, Related, parse_expand, parse_select
from opsgym_domains.teams.tables import App, ChannelTab, Chat, ChatTab
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": ChannelTab.tab_id,
    "displayName": ChannelTab.display_name,
    "webUrl": ChannelTab.web_url,
    "sortOrderIndex": ChannelTab.sort_order_index,
    "teamsApp/id": ChannelTab.app_id,
}
PROPERTIES = (*shown_tab(ChannelTab()), "teamsApp")
_APART = 100
"""Distance of the indices by which tabs are sorted."""
_FIRST_INDEX = 10000100


async def _app(gym: Gym, reference: str) -> App:
    """The app of the organisation's catalogue that a reference names."""
    key = bound(reference, ("teamsApps",), "teamsApp_odata_bind")
    app = await gym.find(App, app_id=key)
    if app is None:
        message = f"Teams app '{key}' not found in organization app catalog. The app must be preinstalled in the team."
        raise ToolError("APP_NOT_FOUND", message, "teamsApp_odata_bind")
    return app


def _shown_app(app: App) -> Shown:
    return {"id": app.app_id, "displayName": app.display_name, "distributionMethod": app.distribution_method}


_EXPANDABLE = {"teamsApp": Related(tuple(_shown_app(App())), is_list=False)}


def _app_reference(app_id: str | None) -> str:
    return f"{BASE}/appCatalogs/teamsApps('{app_id}')"


def _added(tab: ChannelTab | ChatTab, app: App, place: str) -> Shown:
    shown = {
        "@odata.context": context(f"{place}/tabs/$entity"),
        "id": tab.tab_id,
        "displayName": tab.display_name,
        "teamsApp_odata_bind": _app_reference(app.app_id),
        "configuration": object_of(tab.configuration_json),
        "teamsApp": _shown_app(app),
    }
    return {name: value for name, value in shown.items() if value is not None}


@tool(row=ChannelTab)
async def list_tabs_in_channel(
    gym: Gym,
    team_id: str,
    channel_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    expand: str | None = None,
) -> Shown:
    """List the tabs of a channel in their order.

    _expand=teamsApp adds the app that each tab shows. Refused with INVALID_FILTER, UNKNOWN_PROPERTY or INVALID_EXPAND
    where an option cannot be read, and for an unknown channel (CHANNEL_NOT_FOUND).
    """
    names, expanded = parse_select(select, PROPERTIES), parse_expand(expand, _EXPANDABLE)
    conditions = filters(filter, COLUMNS)
    await channel_of(gym, team_id, channel_id)
    tabs = await gym.all(ChannelTab, ChannelTab.channel_id == channel_id, *conditions, order=[TAB_ORDER])
    apps = {app.app_id: _shown_app(app) for app in await gym.all(App)} if expanded else {}
    shown = [
        shown_tab(tab) | {name: reduced(apps.get(str(tab.app_id)), one) for name, one in expanded.items()}
        for tab in tabs
    ]
    collection = "tabs(teamsApp())" if expanded else "tabs"
    return {
        "@odata.context": context(f"teams('{team_id}')/channels('{channel_id}')/{collection}"),
        "@odata.count": len(shown),
        "value": [picked_in_own_order(tab, names) for tab in shown],
    }


@tool(adds=ChannelTab)
async def add_tabs_to_channels(
    gym: Gym,
    team_id: str,
    channel_id: str,
    display_name: str,
    teams_app_odata_bind: str,
    configuration: Shown | None = None,
) -> Shown:
    """Add a tab that shows an app to a channel.

    The new tab comes last. Returns the tab with its app. Refused for an app that is not in the catalogue of your
    organisation, and for an unknown channel (CHANNEL_NOT_FOUND).
    """
    await channel_of(gym, team_id, channel_id)
    app = await _app(gym, teams_app_odata_bind)
    tab = ChannelTab(
        org_id=str(gym.actor.org_id),
        team_id=team_id,
        channel_id=channel_id,
        sort_order_index=_index_after(await gym.all(ChannelTab, ChannelTab.channel_id == channel_id)),
        **await _new(gym, app, display_name, configuration),
    )
    return _added(await gym.insert(tab), app, f"teams('{team_id}')/channels('{channel_id}')")


async def _new(gym: Gym, app: App, name: str, configuration: Shown | None) -> dict[str, Any]:
    key = f"tab_{(await new_hex(gym))[:16]}"
    return {
        "tab_id": key,
        "display_name": name,
        "app_id": app.app_id,
        "web_url": f"https://teams.microsoft.com/_#/apps/{app.app_id}/sections/{key}",
        "configuration_json": text_of(configuration),
    }


def _index_after(tabs: Any) -> str:
    """The index that sorts a tab behind others."""
    used = [int(tab.sort_order_index) for tab in tabs if (tab.sort_order_index or "").isdecimal()]
    return str(max(used, default=_FIRST_INDEX - _APART) + _APART)


@tool(changes=ChannelTab)
async def update_channel_tab(gym: Gym, team_id: str, channel_id: str, tab_id: str, **fields: Any) -> Shown:
    """Rename a tab of a channel, or replace its configuration.

    A given configuration replaces the former one as a whole. Returns the tab. Refused without a field to change
    (NO_FIELDS_TO_UPDATE) and for an unknown tab (CHANNEL_TAB_NOT_FOUND).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give displayName or configuration.")
    tab = await _tab(gym, team_id, channel_id, tab_id)
    if "configuration" in fields:
        fields["configuration_json"] = text_of(fields.pop("configuration"))
    await gym.update(tab, fields)
    return {
        "id": tab.tab_id,
        "displayName": tab.display_name,
        "teamsApp_odata_bind": _app_reference(tab.app_id),
        "configuration": object_of(tab.configuration_json),
        "sortOrderIndex": tab.sort_order_index,
        "webUrl": tab.web_url,
    }


@tool(removes=ChannelTab)
async def delete_channel_tab(gym: Gym, team_id: str, channel_id: str, tab_id: str) -> None:
    """Remove a tab from a channel.

    The app stays installed. Refused for an unknown tab (CHANNEL_TAB_NOT_FOUND).
    """
    await gym.delete([await _tab(gym, team_id, channel_id, tab_id)])


async def _tab(gym: Gym, team_id: str, channel_id: str, tab_id: str) -> ChannelTab:
    await channel_of(gym, team_id, channel_id)
    tab = await gym.find(ChannelTab, tab_id=tab_id, channel_id=channel_id)
    if tab is None:
        raise ToolError("CHANNEL_TAB_NOT_FOUND", f"The channel has no tab '{tab_id}'.", "tabId")
    return tab


@tool(adds=ChatTab)
async def add_tab_to_chat(
    gym: Gym, chat_id: str, display_name: str, teams_app_odata_bind: str, configuration: Shown | None = None
) -> Shown:
    """Add a tab that shows an app to a chat.

    The new tab comes last. Returns the tab with its app. Refused for an app that is not in the catalogue of your
    organisation, and for an unknown chat (CHAT_NOT_FOUND).
    """
    await gym.fetch(Chat, chat_id, field="chatId")
    app = await _app(gym, teams_app_odata_bind)
    index = _index_after(await gym.all(ChatTab, ChatTab.chat_id == chat_id))
    tab = ChatTab(chat_id=chat_id, sort_order_index=index, **await _new(gym, app, display_name, configuration))
    return _added(await gym.insert(tab), app, f"chats('{chat_id}')")
