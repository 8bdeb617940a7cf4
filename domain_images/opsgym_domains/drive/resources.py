"""Files, drives, permissions and their like as the Drive API shows them.

Invariant: a resource has the fields that the API documents, in one order, without fields that have no value. What
belongs to several files is read in the query of the files, or with one for each table.
Source: developers.google.com/drive/api/reference/rest/v3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, JSON, ColumnElement, String, any_, literal, literal_column

from opsgym_domains.drive.forms import loaded, present, stamp
from opsgym_domains.drive.governance import domain_of
from opsgym_domains.drive.tables import (
    Comment,
    DriveMembership,
    File,
    FileLabel,
    Group,
    Label,
    Permission,
    Reply,
    Revision,
    SharedDrive,
    User,
)
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import as_dict

Resource = dict[str, Any]
SHARING: ColumnElement[Any] = literal_column(
    """json_build_object(
        'modifier', (SELECT row_to_json(users) FROM users WHERE users.id = files.modified_by),
        'permissions', (
            SELECT coalesce(json_agg(json_build_object(
                'id', permissions.id, 'role', permissions.role, 'user_id', permissions.user_id,
                'email', permissions.email_address,
                'user', CASE WHEN permissions.role = 'owner' THEN
                    (SELECT row_to_json(users) FROM users WHERE users.id = permissions.user_id) END
            ) ORDER BY permissions._rowid), '[]')
            FROM permissions WHERE permissions.file_id = files.id AND permissions.deleted IS NOT TRUE
        )
    )""",
    JSON,
)
"""Who has a file, as JSON that is read with the file: its permissions, owners with their rows, and who changed it last.
Queries of their own, with a row object for each permission, took twice as long as the search."""


async def users_by_id(gym: Gym, keys: Collection[str | None]) -> Mapping[str, User]:
    """Users by id."""
    chosen = {key for key in keys if key}
    return {user.id: user for user in await gym.all(User, User.id.in_(chosen))} if chosen else {}


def user_resource(gym: Gym, user: User | None) -> Resource | None:
    """A user; None if the row is gone."""
    return None if user is None else _person(gym, as_dict(user))


def _person(gym: Gym, user: Mapping[str, Any] | None) -> Resource | None:
    """A user, by the columns of the row; None if it is gone."""
    if user is None:
        return None
    return present(
        {
            "kind": "drive#user",
            "displayName": user["display_name"],
            "photoLink": user["photo_url"],
            "me": user["id"] == gym.actor.user_id,
            "permissionId": user["permission_id"],
            "emailAddress": user["email"],
        }
    )


# --- files -----------------------------------------------------------------------------------------------------------


async def file_resource(gym: Gym, file: File, labels: str | None = None) -> Resource:
    """A file; `labels` are ids of labels, separated by commas, that `labelInfo` shows."""
    return (await file_resources(gym, [file], labels))[0]


async def file_resources(gym: Gym, files: Sequence[File], labels: str | None = None) -> list[Resource]:
    """Files, as `file_resource` shows one."""
    ids = [file.id for file in files]
    rows = await gym.some(File, [File.id == any_(literal(ids, ARRAY(String)))], SHARING) if ids else ()
    sharing = {file.id: value for file, value in rows}
    shown = shared_files(gym, [(file, sharing[file.id]) for file in files])
    if labels:
        info = await _label_info(gym, ids, {key.strip() for key in labels.split(",")})
        for resource in shown:
            resource["labelInfo"] = {"labels": info.get(resource["id"], [])}
    return shown


def shared_files(gym: Gym, files: Sequence[tuple[File, Mapping[str, Any]]]) -> list[Resource]:
    """Files with the values of `SHARING`, as `file_resource` shows one without labels."""
    return [_file(gym, file, sharing["permissions"], sharing["modifier"]) for file, sharing in files]


def _file(
    gym: Gym, file: File, permissions: Sequence[Mapping[str, Any]], modifier: Mapping[str, Any] | None
) -> Resource:
    owning = [one for one in permissions if one["role"] == "owner"]
    owners = [_person(gym, one["user"]) or {"emailAddress": one["email"]} for one in owning]
    resource = {
        "kind": "drive#file",
        "id": file.id,
        "name": file.name,
        "mimeType": file.mime_type,
        "description": file.description,
        "starred": bool(file.starred),
        "trashed": bool(file.trashed),
        "explicitlyTrashed": bool(file.explicitly_trashed),
        "trashedTime": stamp(file.trashed_time),
        "parents": parents_of(file) or None,
        "properties": loaded(file.properties, {}) or None,
        "appProperties": loaded(file.app_properties, {}) or None,
        "spaces": [file.space or "drive"],
        "version": str(file.version or 1),
        "webContentLink": file.web_content_link,
        "webViewLink": file.web_view_link,
        "iconLink": file.icon_link,
        "thumbnailLink": file.thumbnail_link,
        "viewedByMeTime": stamp(file.viewed_by_me_time),
        "createdTime": stamp(file.created_time),
        "modifiedTime": stamp(file.modified_time),
        "driveId": file.drive_id,
        "teamDriveId": file.drive_id,
        "owners": owners or None,
        "lastModifyingUser": _person(gym, modifier),
        "shared": bool(file.shared),
        "ownedByMe": any(one["user_id"] == gym.actor.user_id for one in owning),
        "writersCanShare": None if file.drive_id else file.writers_can_share is not False,
        "permissionIds": [one["id"] for one in permissions],
        "originalFilename": file.original_filename,
        "fullFileExtension": file.full_file_extension,
        "fileExtension": file.file_extension,
        "md5Checksum": file.md5_checksum,
        "sha1Checksum": file.sha1_checksum,
        "size": None if file.size_bytes is None else str(file.size_bytes),
        "quotaBytesUsed": str(file.quota_bytes_used or 0),
        "headRevisionId": file.head_revision_id,
        "shortcutDetails": _shortcut(file),
    }
    return present(resource)


def parents_of(file: File) -> list[str]:
    """Ids of the folders that hold a file."""
    return loaded(file.parent_ids, []) or ([file.parent_id] if file.parent_id else [])


def _shortcut(file: File) -> Resource | None:
    if not file.is_shortcut:
        return None
    return present({"targetId": file.shortcut_target_id, "targetMimeType": file.shortcut_target_mime})


# --- labels ----------------------------------------------------------------------------------------------------------


async def _label_info(gym: Gym, files: Collection[str], keys: Collection[str]) -> Mapping[str, list[Resource]]:
    rows = await gym.all(FileLabel, FileLabel.file_id.in_(files), FileLabel.label_id.in_(keys))
    by_file: dict[str, list[Resource]] = defaultdict(list)
    for row in rows:
        by_file[row.file_id].append(label_resource(row, await gym.fetch(Label, row.label_id)))
    return by_file


def label_resource(row: FileLabel, label: Label) -> Resource:
    """A label of a file: its one field has the label's key as its id."""
    kind, values = "text", [row.value_string]
    if row.value_enum is not None:
        kind, values = "selection", [row.value_enum]
    elif row.value_date is not None:
        kind, values = "dateString", [row.value_date.isoformat()]
    elif row.value_number is not None:
        kind, values = "integer", [f"{row.value_number:g}"]
    elif row.value_boolean is not None:
        kind, values = "selection", ["true" if row.value_boolean else "false"]
    field = {"kind": "drive#labelField", "id": label.key, "valueType": kind, kind: [v for v in values if v is not None]}
    return {
        "kind": "drive#label",
        "id": label.id,
        "revisionId": "1",
        "title": label.name,
        "fields": {label.key: field},
    }


# --- shared drives ---------------------------------------------------------------------------------------------------


def drive_resource(drive: SharedDrive, kind: str = "drive#drive") -> Resource:
    """A shared drive."""
    resource = {
        "kind": kind,
        "id": drive.id,
        "name": drive.name,
        "colorRgb": drive.color_rgb,
        "themeId": drive.theme_id,
        "backgroundImageLink": drive.background_image_link,
        "createdTime": stamp(drive.created_time),
        "hidden": bool(drive.hidden),
        "orgUnitId": drive.org_unit_id,
        "restrictions": {
            "adminManagedRestrictions": bool(drive.admin_managed_restrictions),
            "copyRequiresWriterPermission": bool(drive.copy_requires_writer_permission),
            "domainUsersOnly": bool(drive.domain_users_only),
            "driveMembersOnly": bool(drive.drive_members_only),
            "sharingFoldersRequiresOrganizerPermission": bool(drive.sharing_folders_requires_organizer_permission),
            "downloadRestrictedForReaders": bool(drive.download_restricted_for_readers),
            "downloadRestrictedForWriters": bool(drive.download_restricted_for_writers),
        },
    }
    return present(resource)


# --- permissions -----------------------------------------------------------------------------------------------------


async def permission_resources(
    gym: Gym, rows: Sequence[Permission | DriveMembership], file_id: str | None
) -> list[Resource]:
    """Permissions of a file or a shared drive, with those that hold from above.

    Args:
        gym: The call.
        rows: Permissions, and memberships of shared drives.
        file_id: The file; None for those of a shared drive.
    """
    users = await users_by_id(gym, {row.user_id for row in rows})
    chosen = {row.group_id for row in rows if row.group_id}
    groups = {group.id: group for group in await gym.all(Group, Group.id.in_(chosen))} if chosen else {}
    company = domain_of((await gym.fetch(User, gym.actor.user_id)).email)
    return [
        _permission(row, users.get(row.user_id or ""), groups.get(row.group_id or ""), file_id, company) for row in rows
    ]


def _permission(
    row: Permission | DriveMembership, user: User | None, group: Group | None, file_id: str | None, company: str
) -> Resource:
    own = row.file_id if isinstance(row, Permission) else None
    from_above = file_id is not None and own != file_id
    stored = isinstance(row, Permission) and bool(row.inherited)
    source = (own or row.drive_id) if from_above else row.inherited_from if isinstance(row, Permission) else None
    role = "writer" if from_above and row.role == "owner" else row.role
    email = row.email_address if isinstance(row, Permission) else None
    detail = {
        "permissionType": "member" if own is None else "file",
        "role": role,
        "inherited": from_above or stored,
        "inheritedFrom": source,
    }
    resource = {
        "kind": "drive#permission",
        "id": row.id,
        "type": row.type,
        "role": role,
        "emailAddress": user.email if user else group.email if group else email,
        "displayName": user.display_name if user else group.name if group else row.domain,
        "domain": row.domain,
        "allowFileDiscovery": row.allow_file_discovery if isinstance(row, Permission) else None,
        "deleted": user is not None and user.auth_token is None and domain_of(user.email) == company,
        "view": row.view if isinstance(row, Permission) else None,
        "expirationTime": stamp(row.expiration_time) if isinstance(row, Permission) else None,
        "permissionDetails": [present(detail)],
    }
    return present(resource)


# --- discussion and revisions ----------------------------------------------------------------------------------------


def comment_resource(gym: Gym, comment: Comment, users: Mapping[str, User], replies: Sequence[Reply]) -> Resource:
    """A comment with its replies; a deleted one has no content."""
    quoted = {"mimeType": comment.quoted_file_content_mime_type, "value": comment.quoted_file_content_value}
    resource = {
        **_remark(gym, "drive#comment", comment, users),
        "resolved": bool(comment.resolved),
        "anchor": comment.anchor,
        "quotedFileContent": present(quoted) or None,
        "replies": [reply_resource(gym, reply, users) for reply in replies],
    }
    return present(resource)


def reply_resource(gym: Gym, reply: Reply, users: Mapping[str, User]) -> Resource:
    """A reply; a deleted one has no content."""
    return present({**_remark(gym, "drive#reply", reply, users), "action": reply.action})


def _remark(gym: Gym, kind: str, row: Comment | Reply, users: Mapping[str, User]) -> Resource:
    hidden = bool(row.deleted)
    return {
        "id": row.id,
        "kind": kind,
        "createdTime": stamp(row.created_time),
        "modifiedTime": stamp(row.modified_time or row.created_time),
        "author": user_resource(gym, users.get(row.author_id or "")),
        "htmlContent": None if hidden else row.html_content,
        "content": None if hidden else row.content,
        "deleted": hidden,
    }


def revision_resource(gym: Gym, revision: Revision, users: Mapping[str, User]) -> Resource:
    """A revision."""
    return present(
        {
            "kind": "drive#revision",
            "id": revision.id,
            "mimeType": revision.mime_type,
            "modifiedTime": stamp(revision.modified_time or revision.created_time),
            "keepForever": bool(revision.keep_forever),
            "published": bool(revision.published),
            "publishedLink": revision.published_link,
            "publishAuto": bool(revision.publish_auto),
            "publishedOutsideDomain": bool(revision.published_outside_domain),
            "lastModifyingUser": user_resource(gym, users.get(revision.last_modifying_user_id or "")),
            "originalFilename": revision.original_filename,
            "md5Checksum": revision.md5_checksum,
            "size": None if revision.size_bytes is None else str(revision.size_bytes),
            "exportLinks": loaded(revision.export_links, {}) or None,
        }
    )
