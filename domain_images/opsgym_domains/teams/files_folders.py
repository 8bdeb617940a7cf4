"""Folders with the files of channels."""

from __future__ import annotations

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.channels import channel_of
from opsgym_domains.teams.graph import Shown, loaded, shown_time
from opsgym_domains.teams.tables import FilesFolder
from opsgym_domains.teams.toolbox import tool

_FACETS = {
    "audio": "microsoft.graph.audio",
    "bundle": "microsoft.graph.bundle",
    "content": "Edm.Stream",
    "deleted": "microsoft.graph.deleted",
    "file": "microsoft.graph.file",
    "folder": "microsoft.graph.folder",
    "image": "microsoft.graph.image",
    "location": "microsoft.graph.geoCoordinates",
    "malware": "microsoft.graph.malware",
    "package": "microsoft.graph.package",
    "pendingOperations": "microsoft.graph.pendingOperations",
    "photo": "microsoft.graph.photo",
    "publication": "microsoft.graph.publicationFacet",
    "remoteItem": "microsoft.graph.remoteItem",
    "root": "microsoft.graph.root",
    "searchResult": "microsoft.graph.searchResult",
    "shared": "microsoft.graph.shared",
    "sharepointIds": "microsoft.graph.sharepointIds",
    "specialFolder": "microsoft.graph.specialFolder",
    "video": "microsoft.graph.video",
}
"""Facets of an item of a drive, which the published server shows empty."""
_RELATED = {
    "activities": "microsoft.graph.itemActivity",
    "analytics": "microsoft.graph.itemAnalytics",
    "children": "microsoft.graph.driveItem",
    "createdByUser": "microsoft.graph.user",
    "lastModifiedByUser": "microsoft.graph.user",
    "permissions": "microsoft.graph.permission",
    "retentionLabel": "microsoft.graph.itemRetentionLabel",
    "subscriptions": "microsoft.graph.subscription",
    "thumbnails": "microsoft.graph.thumbnailSet",
    "versions": "microsoft.graph.driveItemVersion",
}
_LISTS = frozenset({"activities", "children", "permissions", "subscriptions", "thumbnails", "versions"})
"""Related resources that are lists."""


@tool(row=FilesFolder)
async def get_files_folder(gym: Gym, team_id: str, channel_id: str) -> Shown:
    """Read the folder that holds the files of a channel.

    Returns its address and the drive that it is in. Refused if the channel has no folder yet (FILES_FOLDER_NOT_FOUND)
    and for an unknown channel (CHANNEL_NOT_FOUND).
    """
    await channel_of(gym, team_id, channel_id)
    folder = await gym.find(FilesFolder, channel_id=channel_id)
    if folder is None:
        message = f"Channel '{channel_id}' has no files folder yet."
        raise ToolError("FILES_FOLDER_NOT_FOUND", message, "channelId")
    return {
        **_item(folder),
        **{name: _empty(name, kind) for name, kind in (_FACETS | _RELATED).items()},
        # The published server names itself here; every other context is Graph's.
        "@odata.context": f"http://localhost:8005/v1.0/$metadata#drives('{folder.drive_id}')/items/$entity",
    }


def _empty(name: str, kind: str) -> Shown | list[Shown]:
    typed = {"@odata.type": kind}
    return [typed] if name in _LISTS else typed


def _item(folder: FilesFolder) -> Shown:
    return {
        "id": folder.drive_item_id,
        "name": folder.name,
        "size": folder.size,
        "createdDateTime": shown_time(folder.created_date_time),
        "lastModifiedDateTime": shown_time(folder.last_modified_date_time),
        "webUrl": folder.web_url,
        "webDavUrl": folder.web_dav_url,
        "eTag": folder.e_tag,
        "cTag": folder.c_tag,
        "description": folder.description,
        "createdBy": loaded(folder.created_by_json),
        "lastModifiedBy": loaded(folder.last_modified_by_json),
        "parentReference": {
            "driveId": folder.drive_id,
            "driveType": folder.drive_type,
            "id": folder.parent_id,
            "path": folder.parent_path,
            "name": folder.parent_name,
            "siteId": folder.parent_site_id,
        },
        "fileSystemInfo": {
            "createdDateTime": shown_time(folder.fs_created_date_time),
            "lastModifiedDateTime": shown_time(folder.fs_last_modified_date_time),
        },
    }
