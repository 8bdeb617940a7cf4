"""The 28 tables of Drive.

Invariant: names, columns and their order are the published ones, so that published seeds and queries fit. What belongs
to a file goes with it. What outlives a file names it without a reference: changes, the log of the trash, shortcuts and
channels. Columns of lists and objects hold JSON text. A blob of the storage `DB` has its content in `key`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import JSON, DateTime, Float, ForeignKey, Index, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.drive import enums
from opsgym_domains.drive.words import FUNCTIONS
from opsgym_domains.kit.schema import Kind, Row, new_metadata, says, varchar


class DriveRow(Row):
    """Base class of the domain's rows."""

    __abstract__ = True
    metadata = new_metadata(functions=FUNCTIONS)
    newest_first = no_op_is_refused = blank_is_null = False
    has_uuid = has_ulid = True


METADATA = DriveRow.metadata


class TimedRow(DriveRow):
    """A row that has the time of its creation."""

    __abstract__ = True
    created: ClassVar[str | None] = "created_time"


def _ref(target: str, *, cascade: bool = False) -> Any:
    return mapped_column(Text(), ForeignKey(target, ondelete="CASCADE" if cascade else None))


def _one_of(enumeration: Any, words: str) -> Any:
    """A text column whose values are those of an enumeration."""
    return says(words, varchar(40), choices=enumeration)


Key = Annotated[str, mapped_column(Text(), primary_key=True)]
Token = Annotated[str, mapped_column(Text(collation="C").with_variant(Text(), "sqlite"), primary_key=True)]
"""A token whose order as text is the order in time."""
Json = Annotated[str, mapped_column(Text().with_variant(JSON(), "sqlite"))]
"""A list or an object as JSON text."""
Moment = Annotated[str, mapped_column(Text(collation="C").with_variant(DateTime(), "sqlite"))]
"""A time as text, for instance 2026-11-16T10:00:00.000Z: the published form of proposals."""
Number = Annotated[float, mapped_column(Float())]
UserRef = Annotated[str, _ref("users.id")]
GroupRef = Annotated[str, _ref("groups.id", cascade=True)]
DriveRef = Annotated[str, _ref("drives.id", cascade=True)]
FileRef = Annotated[str, _ref("files.id", cascade=True)]
BlobRef = Annotated[str, _ref("blobs.id")]
CommentRef = Annotated[str, _ref("comments.id", cascade=True)]
RevisionRef = Annotated[str, _ref("revisions.id", cascade=True)]
LabelRef = Annotated[str, _ref("labels.id", cascade=True)]
SubscriptionRef = Annotated[str, _ref("subscriptions.id", cascade=True)]
DriveChannelRef = Annotated[str, _ref("drive_channels.id", cascade=True)]
PathRef = Annotated[str, mapped_column(Text(), ForeignKey("files.id", ondelete="CASCADE"), primary_key=True)]


# --- people ----------------------------------------------------------------------------------------------------------


class User(TimedRow):
    """A user. An account that was deleted has no token, so that no one acts with it."""

    __tablename__ = "users"
    label = "user"
    kinds = {"display_name": Kind.PERSON, "email": Kind.ADDRESS}

    id: Mapped[Key]
    display_name: Mapped[str | None]
    email: Mapped[str]
    photo_url: Mapped[str | None]
    auth_token: Mapped[str | None]
    created_time: Mapped[datetime | None]
    kind: Mapped[str | None]
    permission_id: Mapped[str | None]
    me: Mapped[bool | None]


class Group(TimedRow):
    """A group of users, to which files can be shared."""

    __tablename__ = "groups"
    label = "group"
    kinds = {"email": Kind.ADDRESS}

    id: Mapped[Key]
    name: Mapped[str | None]
    email: Mapped[str]
    created_time: Mapped[datetime | None]


class GroupMembership(TimedRow):
    """A user's membership in a group."""

    __tablename__ = "group_memberships"
    label = "group membership"

    id: Mapped[Key]
    group_id: Mapped[GroupRef]
    user_id: Mapped[UserRef]
    role: Mapped[str | None] = _one_of(enums.GroupRole, "Role in the group")
    created_time: Mapped[datetime | None]


# --- shared drives and files -----------------------------------------------------------------------------------------


class SharedDrive(TimedRow):
    """A shared drive: its files belong to the drive and not to a user."""

    __tablename__ = "drives"
    label = "shared drive"
    kinds = {"name": Kind.TITLE}
    updated = "modified_time"
    defaults = {
        "kind": "drive#drive",
        "hidden": False,
        "restricted_to_domain": False,
        "trashed": False,
        "copy_requires_writer_permission": False,
        "domain_users_only": False,
        "drive_members_only": False,
        "admin_managed_restrictions": False,
        "sharing_folders_requires_organizer_permission": False,
        "download_restricted_for_readers": False,
        "download_restricted_for_writers": False,
    }

    id: Mapped[Key]
    name: Mapped[str] = says("Name of the shared drive")
    color_rgb: Mapped[str | None] = says("Colour, for instance #0b8043")
    theme_id: Mapped[str | None] = says("Theme of the shared drive")
    background_image_link: Mapped[str | None] = says("Link to the background image")
    hidden: Mapped[bool | None] = says("Whether the default view leaves the shared drive out")
    restricted_to_domain: Mapped[bool | None]
    trashed: Mapped[bool | None]
    created_time: Mapped[datetime | None]
    modified_time: Mapped[datetime | None]
    copy_requires_writer_permission: Mapped[bool | None]
    domain_users_only: Mapped[bool | None]
    drive_members_only: Mapped[bool | None]
    admin_managed_restrictions: Mapped[bool | None]
    sharing_folders_requires_organizer_permission: Mapped[bool | None] = says(
        "Whether only organizers share folders of the drive"
    )
    download_restricted_for_readers: Mapped[bool | None] = says("Whether readers cannot download")
    download_restricted_for_writers: Mapped[bool | None] = says("Whether writers cannot download")
    org_unit_id: Mapped[str | None]
    kind: Mapped[str | None]


class DriveMembership(TimedRow):
    """A member of a shared drive: a user, a group or all users of a domain."""

    __tablename__ = "drive_memberships"
    label = "drive membership"
    kinds = {"domain": Kind.DOMAIN}

    id: Mapped[Key]
    drive_id: Mapped[DriveRef]
    type: Mapped[str | None] = _one_of(enums.MembershipType, "Kind of the member")
    user_id: Mapped[UserRef | None]
    group_id: Mapped[GroupRef | None]
    domain: Mapped[str | None]
    role: Mapped[str | None]
    created_time: Mapped[datetime | None]


_WORDS: Mapping[str, Any] = {"postgresql_using": "gin", "postgresql_with": {"fastupdate": "off"}}
"""Options of an index of words: what is inserted goes into it at once. Else it waits for a vacuum, which a new database
has not had, and each search reads all that waits."""
OTHER_PARENTS = """
    (CASE WHEN parent_ids <> '[]' AND parent_ids IS DISTINCT FROM '["' || parent_id || '"]' THEN 1 END) = 1
"""
"""Condition of files with other parents than that of `parent_id`, which are few. It is an equation, of which Postgres'
planner expects that few rows meet it, so that it reads their index."""


class Blob(TimedRow):
    """The content of a file. Of the storage `DB` it is the text in `key`; elsewhere `key` is the object's name."""

    __tablename__ = "blobs"
    label = "blob"
    __table_args__ = (
        Index(
            "ix_blobs_content",
            text("drive_lexemes(key)"),
            postgresql_where=text("storage = 'DB'"),
            **_WORDS,
        ),
    )

    id: Mapped[Key]
    digest: Mapped[str | None]
    size_bytes: Mapped[int | None]
    storage: Mapped[str | None] = _one_of(enums.Storage, "Where the content is")
    key: Mapped[str | None]
    created_time: Mapped[datetime | None]


class File(TimedRow):
    """A file, a folder or a shortcut."""

    __tablename__ = "files"
    label = "file"
    kinds = {"name": Kind.TITLE}
    __table_args__ = (
        Index("ix_files_parent", "parent_id"),
        # Without the files of no shared drive, which are most of them.
        Index("ix_files_drive", "drive_id", postgresql_where=text("drive_id IS NOT NULL")),
        Index("ix_files_head_revision", "head_revision_id"),
        Index("ix_files_other_parents", "id", postgresql_where=text(OTHER_PARENTS)),
        Index("ix_files_name", text("drive_lexemes(name)"), **_WORDS),
        Index("ix_files_description", text("drive_lexemes(description)"), **_WORDS),
    )
    actor = "created_by"
    defaults = {
        "kind": "drive#file",
        "space": "drive",
        "starred": False,
        "trashed": False,
        "explicitly_trashed": False,
        "is_shortcut": False,
        "shared": False,
        "owned_by_me": True,
        "viewed_by_me": True,
        "modified_by_me": True,
        "writers_can_share": True,
        "version": 1,
    }

    id: Mapped[Key]
    drive_id: Mapped[DriveRef | None]
    name: Mapped[str] = says("Name of the file")
    mime_type: Mapped[str | None] = says("MIME type, for instance application/pdf")
    size_bytes: Mapped[int | None]
    md5_checksum: Mapped[str | None]
    parent_id: Mapped[FileRef | None]
    parent_ids: Mapped[Json | None]
    starred: Mapped[bool | None] = says("Whether the file has a star")
    trashed: Mapped[bool | None] = says("Whether the file is in the trash")
    trashed_time: Mapped[datetime | None]
    created_by: Mapped[UserRef | None]
    modified_by: Mapped[UserRef | None]
    created_time: Mapped[datetime | None] = says("Time of creation; now unless given")
    modified_time: Mapped[datetime | None] = says("Time of the last change; now unless given")
    viewed_by_me_time: Mapped[datetime | None]
    properties: Mapped[Json | None] = says("Properties: texts by key")
    is_shortcut: Mapped[bool | None]
    shortcut_target_id: Mapped[str | None]
    shortcut_target_mime: Mapped[str | None]
    kind: Mapped[str | None]
    space: Mapped[str | None]
    file_extension: Mapped[str | None]
    full_file_extension: Mapped[str | None]
    original_filename: Mapped[str | None] = says("Name of the file when it was uploaded; its name unless given")
    web_view_link: Mapped[str | None]
    web_content_link: Mapped[str | None]
    thumbnail_link: Mapped[str | None]
    icon_link: Mapped[str | None]
    shared: Mapped[bool | None]
    owned_by_me: Mapped[bool | None]
    viewed_by_me: Mapped[bool | None]
    modified_by_me: Mapped[bool | None]
    explicitly_trashed: Mapped[bool | None]
    writers_can_share: Mapped[bool | None] = says("Whether writers may share the file")
    version: Mapped[int | None]
    head_revision_id: Mapped[str | None]
    sha1_checksum: Mapped[str | None]
    quota_bytes_used: Mapped[int | None]
    description: Mapped[str | None] = says("Short description of the file")
    app_properties: Mapped[Json | None] = says("Properties of the app: texts by key")


class Revision(TimedRow):
    """A state of a file's content."""

    __tablename__ = "revisions"
    label = "revision"
    __table_args__ = (
        Index("ix_revisions_file", "file_id"),
        Index("ix_revisions_blob", "blob_id"),
    )
    defaults = {
        "kind": "drive#revision",
        "keep_forever": False,
        "published": False,
        "publish_auto": False,
        "published_outside_domain": False,
    }
    actor = "last_modifying_user_id"

    id: Mapped[Key]
    file_id: Mapped[FileRef]
    revision_number: Mapped[int | None]
    blob_id: Mapped[BlobRef | None]
    md5_checksum: Mapped[str | None]
    size_bytes: Mapped[int | None]
    mime_type: Mapped[str | None]
    keep_forever: Mapped[bool | None] = says("Whether the revision is kept when newer ones exist")
    published: Mapped[bool | None] = says("Whether the revision is published on the web")
    published_link: Mapped[str | None]
    created_time: Mapped[datetime | None]
    modified_time: Mapped[datetime | None]
    properties: Mapped[Json | None]
    last_modifying_user_id: Mapped[UserRef | None]
    kind: Mapped[str | None]
    publish_auto: Mapped[bool | None] = says("Whether later revisions are published by themselves")
    published_outside_domain: Mapped[bool | None]
    original_filename: Mapped[str | None]
    export_links: Mapped[Json | None]


# --- sharing and discussion ------------------------------------------------------------------------------------------


class Permission(TimedRow):
    """A role on a file or a shared drive. It holds for everything below a folder too."""

    __tablename__ = "permissions"
    label = "permission"
    __table_args__ = (
        Index("ix_permissions_file", "file_id"),
        Index("ix_permissions_user", "user_id"),
    )
    updated = "updated_time"
    defaults = {"kind": "drive#permission", "deleted": False, "inherited": False}
    kinds = {"email_address": Kind.ADDRESS, "domain": Kind.DOMAIN}

    id: Mapped[Key]
    file_id: Mapped[FileRef | None]
    drive_id: Mapped[DriveRef | None]
    role: Mapped[str | None] = says("Role that the permission gives")
    type: Mapped[str | None] = says("Kind of the grantee")
    user_id: Mapped[UserRef | None]
    group_id: Mapped[GroupRef | None]
    email_address: Mapped[str | None] = says("Email address of the user or group; required for these types")
    domain: Mapped[str | None] = says("Domain whose users get the role; required for the type domain")
    allow_file_discovery: Mapped[bool | None] = says("Whether a search finds the file, for the types domain and anyone")
    kind: Mapped[str | None]
    deleted: Mapped[bool | None]
    view: Mapped[str | None] = says("View that the permission belongs to")
    inherited: Mapped[bool | None]
    inherited_from: Mapped[str | None]
    created_time: Mapped[datetime | None]
    updated_time: Mapped[datetime | None]
    expiration_time: Mapped[datetime | None] = says("When the permission ends")


class Comment(TimedRow):
    """A comment on a file."""

    __tablename__ = "comments"
    label = "comment"
    __table_args__ = (Index("ix_comments_file", "file_id"),)
    actor = "author_id"
    defaults = {"kind": "drive#comment", "resolved": False, "deleted": False}

    id: Mapped[Key]
    file_id: Mapped[FileRef]
    author_id: Mapped[UserRef | None]
    content: Mapped[str | None] = says("Text of the comment")
    anchor: Mapped[Json | None] = says("Place in the document, as a JSON text")
    resolved: Mapped[bool | None]
    deleted: Mapped[bool | None]
    quoted_file_content_mime_type: Mapped[str | None]
    quoted_file_content_value: Mapped[str | None]
    kind: Mapped[str | None]
    html_content: Mapped[str | None]
    created_time: Mapped[datetime | None]
    modified_time: Mapped[datetime | None]


class Reply(TimedRow):
    """A reply to a comment."""

    __tablename__ = "replies"
    label = "reply"
    __table_args__ = (Index("ix_replies_comment", "comment_id"),)
    actor = "author_id"
    defaults = {"kind": "drive#reply", "deleted": False}

    id: Mapped[Key]
    comment_id: Mapped[CommentRef]
    author_id: Mapped[UserRef | None]
    content: Mapped[str | None] = says("Text of the reply")
    action: Mapped[str | None]
    deleted: Mapped[bool | None]
    kind: Mapped[str | None]
    html_content: Mapped[str | None]
    created_time: Mapped[datetime | None]
    modified_time: Mapped[datetime | None]


# --- changes ---------------------------------------------------------------------------------------------------------


class Change(DriveRow):
    """A change of a file or a shared drive."""

    __tablename__ = "changes"
    label = "change"
    created = "change_time"
    has_uuid = False
    defaults = {"kind": "drive#change", "removed": False}

    token: Mapped[Token]
    change_time: Mapped[datetime | None]
    file_id: Mapped[str | None]
    drive_id: Mapped[str | None]
    change_type: Mapped[str | None]
    payload: Mapped[Json | None]
    kind: Mapped[str | None]
    removed: Mapped[bool | None]


class ChangeToken(DriveRow):
    """The newest change of a scope: `global`, `user:<id>` or `drive:<id>`."""

    __tablename__ = "change_tokens"
    label = "change token"
    has_uuid = False

    scope: Mapped[Key]
    last_token: Mapped[str | None]


# --- content and its forms -------------------------------------------------------------------------------------------


class Upload(TimedRow):
    """An upload of content in parts."""

    __tablename__ = "uploads"
    label = "upload"
    updated = "updated_time"

    id: Mapped[Key]
    file_id: Mapped[FileRef | None]
    intended_mime: Mapped[str | None]
    total_size: Mapped[int | None]
    received_bytes: Mapped[int | None]
    chunk_size: Mapped[int | None]
    state: Mapped[str | None] = _one_of(enums.UploadState, "State of the upload")
    created_time: Mapped[datetime | None]
    updated_time: Mapped[datetime | None]


class Thumbnail(TimedRow):
    """A small picture of a revision."""

    __tablename__ = "thumbnails"
    label = "thumbnail"

    id: Mapped[Key]
    file_id: Mapped[FileRef | None]
    revision_id: Mapped[RevisionRef | None]
    kind: Mapped[str | None]
    blob_id: Mapped[BlobRef | None]
    width: Mapped[int | None]
    height: Mapped[int | None]
    created_time: Mapped[datetime | None]


# --- labels ----------------------------------------------------------------------------------------------------------


class Label(TimedRow):
    """A label that files can have, with a value of its type."""

    __tablename__ = "labels"
    label = "label"

    id: Mapped[Key]
    key: Mapped[str]
    name: Mapped[str | None]
    type: Mapped[str | None] = _one_of(enums.LabelType, "Type of the value")
    options: Mapped[Json | None]
    required: Mapped[bool | None]
    created_time: Mapped[datetime | None]


class FileLabel(TimedRow):
    """A label of a file, with its value."""

    __tablename__ = "file_labels"
    label = "label of a file"
    __table_args__ = (Index("ix_file_labels_file", "file_id"),)

    id: Mapped[Key]
    file_id: Mapped[FileRef]
    label_id: Mapped[LabelRef]
    value_string: Mapped[str | None]
    value_number: Mapped[Number | None]
    value_boolean: Mapped[bool | None]
    value_date: Mapped[date | None]
    value_enum: Mapped[str | None]
    created_time: Mapped[datetime | None]


class ShareLink(TimedRow):
    """A link by which a file can be opened."""

    __tablename__ = "share_links"
    label = "share link"

    id: Mapped[Key]
    file_id: Mapped[FileRef]
    permission_role: Mapped[str | None]
    link_token: Mapped[str | None]
    allow_discovery: Mapped[bool | None]
    expires_time: Mapped[datetime | None]
    created_by: Mapped[UserRef | None]
    created_time: Mapped[datetime | None]


class PathClosure(DriveRow):
    """A folder and a file below it, with the number of steps between them; 0 for a file and itself."""

    __tablename__ = "path_closure"
    label = "path"
    __table_args__ = (Index("ix_path_closure_descendant", "descendant_id"),)
    has_uuid = False

    ancestor_id: Mapped[PathRef]
    descendant_id: Mapped[PathRef]
    depth: Mapped[int | None]


class PooledId(DriveRow):
    """An id that a file may get."""

    __tablename__ = "id_pool"
    label = "generated id"

    id: Mapped[Key]
    reserved: Mapped[bool | None]
    reserved_time: Mapped[datetime | None]


class TrashEntry(DriveRow):
    """A file that was removed from the trash, and by whom."""

    __tablename__ = "trash_log"
    label = "entry of the trash log"

    id: Mapped[Key]
    file_id: Mapped[str | None]
    emptied_time: Mapped[datetime | None]
    actor_id: Mapped[UserRef | None]


# --- notifications ---------------------------------------------------------------------------------------------------


class DriveChannel(TimedRow):
    """A channel of a subscription."""

    __tablename__ = "drive_channels"
    label = "subscription channel"
    kinds = {"expiration": Kind.MOMENT}

    id: Mapped[Key]
    resource_id: Mapped[str | None]
    resource_uri: Mapped[str | None]
    address: Mapped[str | None]
    expiration: Mapped[str | None]
    type: Mapped[str | None]
    token: Mapped[str | None]
    params: Mapped[Json | None]
    created_time: Mapped[datetime | None]


class Subscription(TimedRow):
    """A subscription to changes."""

    __tablename__ = "subscriptions"
    label = "subscription"

    id: Mapped[Key]
    channel_id: Mapped[DriveChannelRef | None]
    resource_type: Mapped[str | None]
    resource_id: Mapped[str | None]
    callback_url: Mapped[str | None]
    created_time: Mapped[datetime | None]
    expires_time: Mapped[datetime | None]
    active: Mapped[bool | None]


class WebhookDelivery(TimedRow):
    """A notification that is sent."""

    __tablename__ = "webhook_deliveries"
    label = "delivery"
    updated = "updated_time"

    id: Mapped[Key]
    subscription_id: Mapped[SubscriptionRef | None]
    channel_id: Mapped[DriveChannelRef | None]
    change_token: Mapped[str | None]
    status: Mapped[str | None] = _one_of(enums.DeliveryStatus, "Status of the delivery")
    attempts: Mapped[int | None]
    last_error: Mapped[str | None]
    next_retry_time: Mapped[datetime | None]
    created_time: Mapped[datetime | None]
    updated_time: Mapped[datetime | None]


# --- requests and operations -----------------------------------------------------------------------------------------


class AccessProposal(DriveRow):
    """A request for a role on a file."""

    __tablename__ = "access_proposals"
    label = "access proposal"
    kinds = {"requester_email": Kind.ADDRESS, "recipient_email": Kind.ADDRESS, "resolved_by_email": Kind.ADDRESS}
    __allow_unmapped__ = True  # for the attribute without a column

    granted: str | None = None
    """Role with which the call at hand accepts the request, for the rules; no column keeps it."""

    id: Mapped[Key]
    file_id: Mapped[FileRef]
    requester_email: Mapped[str | None]
    recipient_email: Mapped[str | None]
    proposed_roles: Mapped[Json | None]
    proposed_view: Mapped[str | None]
    request_message: Mapped[str | None]
    status: Mapped[str | None] = _one_of(enums.ProposalStatus, "Status of the request")
    resolved_at: Mapped[Moment | None]
    resolved_by_email: Mapped[str | None]
    created_at: Mapped[Moment | None]


class Operation(DriveRow):
    """Work that takes a while, such as an export."""

    __tablename__ = "operations"
    label = "operation"
    created = "created_at"

    id: Mapped[Key]
    name: Mapped[str | None]
    operation_type: Mapped[str | None] = _one_of(enums.OperationType, "Kind of the operation")
    status: Mapped[str | None] = _one_of(enums.OperationStatus, "Status of the operation")
    operation_metadata: Mapped[Json | None]
    response_data: Mapped[Json | None]
    error_data: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]


class App(DriveRow):
    """An application that opens files."""

    __tablename__ = "apps"
    label = "app"
    created, updated = "created_at", "updated_at"

    id: Mapped[Key]
    name: Mapped[str | None]
    object_type: Mapped[str | None]
    product_id: Mapped[str | None]
    product_url: Mapped[str | None]
    supports_create: Mapped[bool | None]
    supports_import: Mapped[bool | None]
    supports_multi_open: Mapped[bool | None]
    supports_offline_create: Mapped[bool | None]
    has_drive_wide_scope: Mapped[bool | None]
    installed: Mapped[bool | None]
    authorized: Mapped[bool | None]
    use_by_default: Mapped[bool | None]
    primary_mime_types: Mapped[Json | None]
    secondary_mime_types: Mapped[Json | None]
    primary_file_extensions: Mapped[Json | None]
    secondary_file_extensions: Mapped[Json | None]
    create_url: Mapped[str | None]
    create_in_folder_template: Mapped[str | None]
    open_url_template: Mapped[str | None]
    short_description: Mapped[str | None]
    long_description: Mapped[str | None]
    icons: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    installed_by: Mapped[UserRef | None]


class Channel(TimedRow):
    """A channel to which changes of a file, or all changes, are sent."""

    __tablename__ = "channels"
    label = "channel"
    kinds = {"expiration": Kind.MOMENT}
    actor = "user_id"
    has_uuid = False
    defaults = {"active": True}

    id: Mapped[Key]
    resource_id: Mapped[str | None] = says("Id of the watched resource, as the channel reports it")
    resource_uri: Mapped[str | None] = says("Address of the watched resource")
    type: Mapped[str | None] = says("How notifications are sent: web_hook")
    address: Mapped[str | None] = says("HTTPS address that receives the notifications")
    token: Mapped[str | None] = says("Text that is sent with each notification")
    payload: Mapped[bool | None] = says("Whether notifications contain the change")
    params: Mapped[Json | None] = says("Further parameters of the channel")
    expiration: Mapped[str | None] = says("When the channel ends")
    active: Mapped[bool | None]
    user_id: Mapped[UserRef | None]
    created_time: Mapped[datetime | None]
