"""Apps of the organisation's catalogue, and those that are installed in teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, context, filters, loaded, picked_in_own_order, reduced
from opsgym_domains.teams.odata import Columns, Expansion, Related, parse_expand, parse_select
from opsgym_domains.teams.tables import App, InstalledApp, Team
from opsgym_domains.teams.toolbox import tool

APP_COLUMNS: Columns = {
    "id": App.app_id,
    "externalId": App.external_id,
    "displayName": App.display_name,
    "distributionMethod": App.distribution_method,
}
APP_PROPERTIES = (*APP_COLUMNS, "appDefinitions")
INSTALLED_COLUMNS: Columns = {
    "id": InstalledApp.installation_id,
    "teamsApp/id": InstalledApp.teams_app_id,
    "teamsApp/externalId": InstalledApp.teams_app_external_id,
    "teamsApp/displayName": InstalledApp.teams_app_display_name,
    "teamsApp/distributionMethod": InstalledApp.teams_app_distribution_method,
    "teamsAppDefinition/displayName": InstalledApp.teams_app_display_name,
    "teamsAppDefinition/version": InstalledApp.teams_app_definition_version,
}


def _shown(app: App) -> Shown:
    return {
        "id": app.app_id,
        "distributionMethod": app.distribution_method,
        "displayName": app.display_name,
        "externalId": app.external_id,
    }


def _app_definition(app: App) -> Shown:
    return {
        "id": app.teams_app_id or app.app_id,
        "teamsAppId": app.app_id,
        "azureADAppId": app.azure_ad_app_id,
        "displayName": app.display_name,
        "version": app.version,
        "publishingState": app.publishing_state,
        "description": app.description,
        "developerName": app.developer_name,
    }


_APP_EXPANDABLE = {"appDefinitions": Related(tuple(_app_definition(App())))}


@tool(row=App)
async def list_teams_apps(
    gym: Gym,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    expand: str | None = None,
) -> Shown:
    """List the apps of your organisation's catalogue.

    In the order of their names. _expand=appDefinitions adds version and developer. Refused with
    INVALID_FILTER, UNKNOWN_PROPERTY or INVALID_EXPAND where an option cannot be read.
    """
    names, expanded = parse_select(select, APP_PROPERTIES), parse_expand(expand, _APP_EXPANDABLE)
    apps = await gym.all(App, *filters(filter, APP_COLUMNS), order=[App.display_name.asc()])
    return {
        "@odata.context": context("appCatalogs/teamsApps"),
        "value": [
            picked_in_own_order(_shown(app), names)
            | {name: reduced([_app_definition(app)], one) for name, one in expanded.items()}
            for app in apps
        ],
    }


def _installed(app: InstalledApp) -> Shown:
    return {"id": app.installation_id, "consentedPermissionSet": loaded(app.consented_permission_set)}


def _installed_app(app: InstalledApp) -> Shown:
    return {
        "id": app.teams_app_id,
        "externalId": app.teams_app_external_id,
        "displayName": app.teams_app_display_name,
        "distributionMethod": app.teams_app_distribution_method,
    }


def _installed_definition(app: InstalledApp) -> Shown:
    return {
        "id": app.teams_app_definition_id,
        "teamsAppId": app.teams_app_id,
        "azureADAppId": app.azure_ad_app_id,
        "displayName": app.teams_app_display_name,
        "version": app.teams_app_definition_version,
        "requiredResourceSpecificApplicationPermissions": loaded(app.required_resource_specific_permissions, []),
        "publishingState": app.publishing_state,
        "shortDescription": app.short_description,
        "description": app.description,
        "lastModifiedDateTime": None,
        "createdBy": None,
    }


_INSTALLED_EXPANDABLE = {
    "teamsApp": Related(tuple(_installed_app(InstalledApp())), is_list=False),
    "teamsAppDefinition": Related(tuple(_installed_definition(InstalledApp())), is_list=False),
}
INSTALLED_PROPERTIES = (*_installed(InstalledApp()), *_INSTALLED_EXPANDABLE)


@tool(row=InstalledApp)
async def list_installed_apps(
    gym: Gym,
    team_id: str,
    expand: str | None = None,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
) -> Shown:
    """List the apps that are installed in a team.

    In the order of their installation. _expand adds teamsApp and teamsAppDefinition. Refused with INVALID_FILTER,
    UNKNOWN_PROPERTY or INVALID_EXPAND where an option cannot be read, and for an unknown team (TEAM_NOT_FOUND).
    """
    names, expanded = parse_select(select, INSTALLED_PROPERTIES), parse_expand(expand, _INSTALLED_EXPANDABLE)
    conditions = filters(filter, INSTALLED_COLUMNS)
    await gym.fetch(Team, team_id, field="teamId")
    installed = await gym.all(InstalledApp, InstalledApp.team_id == team_id, *conditions)
    return {
        "@odata.context": f"$metadata#teams('{team_id}')/installedApps",
        "@odata.count": len(installed),
        "value": [_listed(app, names, expanded) for app in installed],
    }


def _listed(app: InstalledApp, names: Sequence[str] | None, expanded: Mapping[str, Expansion]) -> Shown:
    """An installed app; what is related to it shows only where it is expanded, also if it is selected."""
    related = {"teamsApp": _installed_app(app), "teamsAppDefinition": _installed_definition(app)}
    own = None if names is None else [name for name in names if name not in related]
    return picked_in_own_order(_installed(app), own) | {
        name: reduced(related[name], one) for name, one in expanded.items()
    }
