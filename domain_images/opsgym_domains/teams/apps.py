"""Apps of the organisation's catalogue, and those that are installed in teams."""

from __future__ import annotations

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, context, filters, loaded, picked
from opsgym_domains.teams.odata import Columns, parse_expand, parse_select
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
_EXPANDABLE = ("teamsApp", "teamsAppDefinition")
INSTALLED_PROPERTIES = ("id", "consentedPermissionSet", *_EXPANDABLE)


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
    names, expanded = parse_select(select, APP_PROPERTIES), parse_expand(expand, ("appDefinitions",))
    apps = await gym.all(App, *filters(filter, APP_COLUMNS), order=[App.display_name.asc()])
    shown = [_shown(app) | (_definitions(app) if expanded else {}) for app in apps]
    return {
        "@odata.context": context("appCatalogs/teamsApps"),
        "value": [_projected(app, names, expanded) for app in shown],
    }


def _shown(app: App) -> Shown:
    return {
        "id": app.app_id,
        "externalId": app.external_id,
        "displayName": app.display_name,
        "distributionMethod": app.distribution_method,
    }


def _definitions(app: App) -> Shown:
    definition = {
        "id": app.teams_app_id or app.app_id,
        "teamsAppId": app.app_id,
        "azureADAppId": app.azure_ad_app_id,
        "displayName": app.display_name,
        "version": app.version,
        "publishingState": app.publishing_state,
        "description": app.description,
        "developerName": app.developer_name,
    }
    return {"appDefinitions": [definition]}


def _projected(shown: Shown, names: tuple[str, ...] | None, expanded: dict[str, str]) -> Shown:
    """The selected properties of an object, and those that are expanded."""
    return picked(shown, names) | {name: shown[name] for name in expanded}


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
    names, expanded = parse_select(select, INSTALLED_PROPERTIES), parse_expand(expand, _EXPANDABLE)
    conditions = filters(filter, INSTALLED_COLUMNS)
    await gym.fetch(Team, team_id, field="teamId")
    installed = await gym.all(InstalledApp, InstalledApp.team_id == team_id, *conditions)
    return {
        "@odata.context": f"$metadata#teams('{team_id}')/installedApps",
        "@odata.count": len(installed),
        "value": [_installed(app, names, expanded) for app in installed],
    }


def _installed(app: InstalledApp, names: tuple[str, ...] | None, expanded: dict[str, str]) -> Shown:
    whole = {
        "id": app.installation_id,
        "consentedPermissionSet": loaded(app.consented_permission_set),
        "teamsApp": {
            "id": app.teams_app_id,
            "externalId": app.teams_app_external_id,
            "displayName": app.teams_app_display_name,
            "distributionMethod": app.teams_app_distribution_method,
        },
        "teamsAppDefinition": _definition(app),
    }
    plain = {name: value for name, value in whole.items() if name not in _EXPANDABLE}
    selected = plain if names is None else {name: whole[name] for name in names if name not in _EXPANDABLE}
    return selected | {name: whole[name] for name in expanded}


def _definition(app: InstalledApp) -> Shown:
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
