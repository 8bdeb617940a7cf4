"""The acting user, and applications that open files."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from sqlalchemy import func

from opsgym_domains.drive.content import EXPORTS
from opsgym_domains.drive.forms import loaded, present
from opsgym_domains.drive.reach import missing, owned_by
from opsgym_domains.drive.resources import Resource, user_resource
from opsgym_domains.drive.tables import App, File, User
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

LIMIT = 15 * 1024**3
"""Storage of a user in bytes."""
_USUAL = ("kind", "user", "storageQuota")
_FIELD = re.compile(r"\s*([A-Za-z*]+)(?:[./]([A-Za-z]+)|\(([^()]*)\))?\s*(?:,|$)")


@tool(words={"fields": "Fields to return, for instance user,storageQuota(limit,usage); * for all"})
async def get_about(gym: Gym, fields: str | None = None) -> Resource:
    """Get the acting user, the storage that the user's files take, and the limits of the service.

    Without fields kind, user and storageQuota are returned. Refused (INVALID_FIELDS) for a field that does not exist.
    """
    resource = await _everything(gym)
    chosen_fields = _fields(fields or ",".join(_USUAL), resource)
    return {name: _part(resource[name], parts) for name, parts in chosen_fields.items()}


async def _everything(gym: Gym) -> Resource:
    owned = owned_by(gym.actor.user_id)
    used = func.coalesce(func.sum(File.quota_bytes_used), 0)
    usage = int(await gym.measure(File, used, {}, File.id.in_(owned)) or 0)
    trash = int(await gym.measure(File, used, {}, File.id.in_(owned), File.trashed.is_(True)) or 0)
    user = await gym.fetch(User, gym.actor.user_id)
    quota = {"limit": LIMIT, "usage": usage, "usageInDrive": usage, "usageInDriveTrash": trash}
    return {
        "kind": "drive#about",
        "user": user_resource(gym, user),
        "storageQuota": {name: str(value) for name, value in quota.items()},
        "maxUploadSize": "5242880000000",
        "appInstalled": True,
        "canCreateDrives": True,
        "canCreateTeamDrives": True,
        "exportFormats": {kind: list(forms) for kind, forms in EXPORTS.items()},
        "importFormats": {"text/plain": ["application/vnd.google-apps.document"]},
        "folderColorPalette": ["#ac725e", "#d06b64", "#f83a22", "#16a765", "#9fc6e7", "#cd74e6"],
    }


def _fields(text: str, resource: Resource) -> dict[str, list[str]]:
    """Parts of fields that are returned by field; an empty list for a whole field.

    Raises:
        ToolError: `INVALID_FIELDS`.
    """
    chosen_fields: dict[str, list[str]] = {}
    position = 0
    while position < len(text):
        match = _FIELD.match(text, position)
        if match is None or (match[1] != "*" and match[1] not in resource):
            message = f"{short(text[position:][:40])} is not a field; fields: {', '.join(resource)}"
            raise ToolError("INVALID_FIELDS", message, "fields")
        position = match.end()
        if match[1] == "*":
            return {name: [] for name in resource}
        parts = [match[2]] if match[2] else [part.strip() for part in (match[3] or "").split(",") if part.strip()]
        chosen_fields[match[1]] = chosen_fields.get(match[1], []) + parts
    return chosen_fields


def _part(value: Any, parts: Collection[str]) -> Any:
    return {name: value[name] for name in parts if name in value} if parts and isinstance(value, dict) else value


# --- applications ----------------------------------------------------------------------------------------------------


@tool(row=App)
async def get_app(gym: Gym, app_id: str) -> Resource:
    """Get an application that opens files.

    Refused (APP_NOT_FOUND) if there is none with this id.
    """
    app = await gym.get(App, app_id)
    if app is None:
        raise missing("App", "APP_NOT_FOUND", app_id, "appId")
    return _resource(app)


@tool(
    row=App,
    words={
        "appFilterExtensions": "Only applications that open one of these extensions, separated by commas",
        "appFilterMimeTypes": "Only applications that open one of these MIME types, separated by commas",
        "languageCode": "Has no effect",
    },
)
async def list_apps(
    gym: Gym, app_filter_extensions: str | None = None, app_filter_mime_types: str | None = None, **_: Any
) -> Resource:
    """List the installed applications, also by what they open.

    Returns `items`, and the ids of those that open files unless another one is chosen as `defaultAppIds`.
    """
    extensions = {part.strip().lstrip(".").lower() for part in (app_filter_extensions or "").split(",")} - {""}
    types = {part.strip().lower() for part in (app_filter_mime_types or "").split(",")} - {""}
    apps = [
        app
        for app in await gym.all(App, App.installed.is_(True))
        if (not extensions and not types)
        or extensions & _opened(app, "file_extensions")
        or types & _opened(app, "mime_types")
    ]
    chosen = [app.id for app in apps if app.use_by_default]
    return {"kind": "drive#appList", "defaultAppIds": chosen, "items": list(map(_resource, apps))}


def _opened(app: App, what: str) -> set[str]:
    """Extensions or types that an application opens, in lower case."""
    columns = (getattr(app, f"{rank}_{what}") for rank in ("primary", "secondary"))
    return {str(value).lstrip(".").lower() for column in columns for value in loaded(column, [])}


def _resource(app: App) -> Resource:
    return present(
        {
            "kind": "drive#app",
            "id": app.id,
            "name": app.name,
            "objectType": app.object_type,
            "productId": app.product_id,
            "productUrl": app.product_url,
            "supportsCreate": bool(app.supports_create),
            "supportsImport": bool(app.supports_import),
            "supportsMultiOpen": bool(app.supports_multi_open),
            "supportsOfflineCreate": bool(app.supports_offline_create),
            "hasDriveWideScope": bool(app.has_drive_wide_scope),
            "installed": bool(app.installed),
            "authorized": bool(app.authorized),
            "useByDefault": bool(app.use_by_default),
            "primaryMimeTypes": loaded(app.primary_mime_types, []),
            "secondaryMimeTypes": loaded(app.secondary_mime_types, []),
            "primaryFileExtensions": loaded(app.primary_file_extensions, []),
            "secondaryFileExtensions": loaded(app.secondary_file_extensions, []),
            "createUrl": app.create_url,
            "createInFolderTemplate": app.create_in_folder_template,
            "openUrlTemplate": app.open_url_template,
            "shortDescription": app.short_description,
            "longDescription": app.long_description,
            "icons": loaded(app.icons, []),
        }
    )
