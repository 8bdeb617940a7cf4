"""The 51 tables of the Teams server.

Invariant: names and order of the columns are the published ones, so that published seeds and queries fit. References
are declared and not enforced, as in the published server; people are named by ids that need not have a row. Columns of
objects and lists hold JSON text.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from sqlalchemy import BLOB, JSON, ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.schema import Kind, Row, new_metadata
from opsgym_domains.teams.seeding import complete


class TeamsRow(Row):
    """Base class of the domain's rows."""

    __abstract__ = True
    metadata = new_metadata(references_are_enforced=False, complete_seed=complete)
    newest_first = no_op_is_refused = blank_is_null = False


METADATA = TeamsRow.metadata

Key = Annotated[str, mapped_column(primary_key=True)]
Json = Annotated[str, mapped_column(Text().with_variant(JSON(), "sqlite"))]
"""An object or a list as JSON text."""
Blob = Annotated[str, mapped_column(Text().with_variant(BLOB(), "sqlite"))]
"""Bytes, which are kept as base64 (see `seeding`)."""
TeamRef = Annotated[str, mapped_column(ForeignKey("teams.team_id"))]
ChannelRef = Annotated[str, mapped_column(ForeignKey("channels.channel_id"))]
ChatRef = Annotated[str, mapped_column(ForeignKey("chats.chat_id"))]
CallRef = Annotated[str, mapped_column(ForeignKey("calls.id"))]


class Org(TeamsRow):
    """A tenant: an organisation whose people and teams are its own."""

    __tablename__ = "teams_orgs"
    label = "organisation"
    created, updated = "created_at", "updated_at"

    org_id: Mapped[Key]
    tenant_id: Mapped[str | None]
    display_name: Mapped[str | None]
    domain_name: Mapped[str | None]
    country_letter_code: Mapped[str | None]
    preferred_language: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    soft_deleted: Mapped[bool | None]


class User(TeamsRow):
    """A user account of an organisation, of a person, a guest or an application."""

    __tablename__ = "teams_users"
    label, owner = "user", "org_id"
    created, updated = "created_at", "updated_at"
    has_uuid = True
    defaults = {"account_enabled": True, "user_type": "Member", "is_resource_account": False, "soft_deleted": False}
    kinds = {
        "display_name": Kind.FULL_NAME,
        "given_name": Kind.GIVEN_NAME,
        "surname": Kind.FAMILY_NAME,
        "user_principal_name": Kind.EMAIL,
        "mail": Kind.EMAIL,
        "city": Kind.CITY,
    }

    org_id: Mapped[str]
    user_id: Mapped[Key]
    user_principal_name: Mapped[str]
    display_name: Mapped[str]
    job_title: Mapped[str | None]
    mail: Mapped[str | None]
    given_name: Mapped[str | None]
    surname: Mapped[str | None]
    mail_nickname: Mapped[str | None]
    account_enabled: Mapped[bool | None]
    business_phones: Mapped[Json | None]
    mobile_phone: Mapped[str | None]
    office_location: Mapped[str | None]
    preferred_language: Mapped[str | None]
    department: Mapped[str | None]
    company_name: Mapped[str | None]
    usage_location: Mapped[str | None]
    city: Mapped[str | None]
    state: Mapped[str | None]
    country: Mapped[str | None]
    street_address: Mapped[str | None]
    postal_code: Mapped[str | None]
    employee_id: Mapped[str | None]
    employee_type: Mapped[str | None]
    user_type: Mapped[str | None]
    employee_hire_date: Mapped[datetime | None]
    other_mails: Mapped[Json | None]
    on_premises_sync_enabled: Mapped[bool | None]
    about_me: Mapped[str | None]
    birthday: Mapped[datetime | None]
    interests: Mapped[Json | None]
    skills: Mapped[Json | None]
    my_site: Mapped[str | None]
    preferred_name: Mapped[str | None]
    fax_number: Mapped[str | None]
    age_group: Mapped[str | None]
    is_resource_account: Mapped[bool | None]
    past_projects: Mapped[Json | None]
    responsibilities: Mapped[Json | None]
    schools: Mapped[Json | None]
    employee_org_data: Mapped[Json | None]
    static_token: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    soft_deleted: Mapped[bool | None]


class App(TeamsRow):
    """An app of an organisation's catalogue."""

    __tablename__ = "teams_apps"
    label = "app"
    created, updated = "created_at", "updated_at"

    org_id: Mapped[Key]
    app_id: Mapped[Key]
    display_name: Mapped[str | None]
    external_id: Mapped[str | None]
    distribution_method: Mapped[str | None]
    description: Mapped[str | None]
    version: Mapped[str | None]
    developer_name: Mapped[str | None]
    publishing_state: Mapped[str | None]
    teams_app_id: Mapped[str | None]
    azure_ad_app_id: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Template(TeamsRow):
    """A template that teams are created from; those of the service belong to the organisation `default`."""

    __tablename__ = "teams_templates"
    label = "team template"
    created, updated = "created_date_time", "updated_date_time"

    org_id: Mapped[Key]
    template_id: Mapped[Key]
    display_name: Mapped[str | None]
    short_description: Mapped[str | None]
    description: Mapped[str | None]
    icon_url: Mapped[str | None]
    visibility: Mapped[str | None]
    categories: Mapped[Json | None]
    channel_count: Mapped[int | None]
    app_count: Mapped[int | None]
    is_system_template: Mapped[bool | None]
    created_date_time: Mapped[datetime | None]
    updated_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class Group(TeamsRow):
    """A group of users, which a team may have been made for. Members and owners are JSON lists of users."""

    __tablename__ = "groups"
    label, owner, has_uuid = "group", "org_id", True
    created, updated = "created_date_time", "updated_date_time"

    org_id: Mapped[str]
    group_id: Mapped[Key]
    display_name: Mapped[str]
    description: Mapped[str | None]
    mail_nickname: Mapped[str | None]
    mail: Mapped[str | None]
    visibility: Mapped[str | None]
    group_types: Mapped[Json | None]
    security_enabled: Mapped[bool | None]
    mail_enabled: Mapped[bool | None]
    classification: Mapped[str | None]
    members: Mapped[Json | None]
    owners: Mapped[Json | None]
    created_date_time: Mapped[datetime | None]
    updated_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class Permission(TeamsRow):
    """A permission of the directory: `<name>:<delegated or application>`."""

    __tablename__ = "permissions_catalog"
    label = "permission"
    created, updated = "created_at", "updated_at"

    id: Mapped[Key]
    name: Mapped[str | None]
    type: Mapped[str | None]
    admin_consent_required: Mapped[bool | None]
    description: Mapped[str | None]
    resource: Mapped[str | None]
    operation: Mapped[str | None]
    constraint: Mapped[str | None]
    constraint_scope: Mapped[str | None]
    permission_level_rank: Mapped[int | None]
    requires_resource_ownership: Mapped[bool | None]
    allowed_fields_read: Mapped[Json | None]
    allowed_fields_write: Mapped[Json | None]
    applies_to_scope: Mapped[str | None]
    resource_constraint: Mapped[Json | None]
    source_url: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class ModulePermission(TeamsRow):
    """A permission that a part of the service asks for."""

    __tablename__ = "module_permissions"
    label = "module permission"
    created = "created_at"

    module_name: Mapped[Key]
    permission_id: Mapped[Key]
    created_at: Mapped[datetime | None]


class UserPermission(TeamsRow):
    """A permission that a user has."""

    __tablename__ = "user_permissions"
    label = "user permission"

    org_id: Mapped[Key]
    user_id: Mapped[Key]
    permission_id: Mapped[Key]
    resource_scope: Mapped[str | None]
    granted_by: Mapped[str | None]
    granted_at: Mapped[datetime | None]


class UserRole(TeamsRow):
    """A directory role that a user has."""

    __tablename__ = "teams_user_roles"
    label = "user role"

    org_id: Mapped[Key]
    user_id: Mapped[Key]
    role_id: Mapped[Key]
    role_name: Mapped[str | None]
    role_description: Mapped[str | None]
    assigned_at: Mapped[datetime | None]
    assigned_by: Mapped[str | None]


class Chat(TeamsRow):
    """A conversation of two users, of a group, or of a meeting."""

    __tablename__ = "chats"
    label = "chat"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    chat_id: Mapped[Key]
    org_id: Mapped[str]
    topic: Mapped[str | None]
    chat_type: Mapped[str]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class ChatMember(TeamsRow):
    """A user who is in a chat."""

    __tablename__ = "chat_members"
    label = "chat member"
    owner = "org_id"

    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.chat_id"), primary_key=True)
    org_id: Mapped[str | None]
    user_id: Mapped[Key]
    roles: Mapped[str | None]
    tenant_id: Mapped[str | None]
    display_name: Mapped[str | None]
    is_hidden: Mapped[bool | None]
    last_message_read_datetime: Mapped[datetime | None]
    added_at: Mapped[datetime | None]


class ChatMessage(TeamsRow):
    """A message in a chat; its id is the time in milliseconds since 1970."""

    __tablename__ = "chat_messages"
    label = "chat message"
    created, updated = "created_datetime", "last_modified_datetime"

    message_id: Mapped[Key]
    chat_id: Mapped[ChatRef]
    reply_to_id: Mapped[str | None]
    etag: Mapped[str | None]
    message_type: Mapped[str | None]
    created_datetime: Mapped[datetime | None]
    last_modified_datetime: Mapped[datetime | None]
    last_edited_datetime: Mapped[datetime | None]
    deleted_datetime: Mapped[datetime | None]
    subject: Mapped[str | None]
    summary: Mapped[str | None]
    importance: Mapped[str | None]
    locale: Mapped[str | None]
    web_url: Mapped[str | None]
    channel_identity_json: Mapped[Json | None]
    policy_violation_json: Mapped[Json | None]
    on_behalf_of_json: Mapped[Json | None]
    event_detail_json: Mapped[Json | None]
    from_json: Mapped[Json | None]
    body_json: Mapped[Json | None]
    attachments_json: Mapped[Json | None]
    mentions_json: Mapped[Json | None]
    reactions_json: Mapped[Json | None]
    message_history_json: Mapped[Json | None]


class ChannelMessage(TeamsRow):
    """A message in a channel, or a reply to one."""

    __tablename__ = "channel_messages"
    label = "channel message"
    created, updated = "created_datetime", "last_modified_datetime"

    message_id: Mapped[Key]
    channel_id: Mapped[ChannelRef]
    team_id: Mapped[TeamRef]
    reply_to_id: Mapped[str | None]
    etag: Mapped[str | None]
    message_type: Mapped[str | None]
    created_datetime: Mapped[datetime | None]
    last_modified_datetime: Mapped[datetime | None]
    last_edited_datetime: Mapped[datetime | None]
    deleted_datetime: Mapped[datetime | None]
    subject: Mapped[str | None]
    summary: Mapped[str | None]
    importance: Mapped[str | None]
    locale: Mapped[str | None]
    web_url: Mapped[str | None]
    channel_identity_json: Mapped[Json | None]
    policy_violation_json: Mapped[Json | None]
    on_behalf_of_json: Mapped[Json | None]
    event_detail_json: Mapped[Json | None]
    from_json: Mapped[Json | None]
    body_json: Mapped[Json | None]
    attachments_json: Mapped[Json | None]
    mentions_json: Mapped[Json | None]
    reactions_json: Mapped[Json | None]
    message_history_json: Mapped[Json | None]


class PinnedMessage(TeamsRow):
    """A message that is pinned in a chat."""

    __tablename__ = "pinned_chat_messages"
    label = "pinned message"
    created = "created_datetime"
    has_uuid = True

    pinned_message_id: Mapped[Key]
    chat_id: Mapped[ChatRef]
    message_id: Mapped[str] = mapped_column(ForeignKey("chat_messages.message_id"))
    created_datetime: Mapped[datetime | None]


class HostedContent(TeamsRow):
    """A file within a chat message."""

    __tablename__ = "chat_message_hosted_contents"
    label = "hosted content"
    created = "created_datetime"

    hosted_content_id: Mapped[Key]
    message_id: Mapped[str | None] = mapped_column(ForeignKey("chat_messages.message_id"))
    chat_id: Mapped[ChatRef | None]
    content_type: Mapped[str | None]
    content_bytes: Mapped[Blob | None]
    created_datetime: Mapped[datetime | None]


class ChatApp(TeamsRow):
    """An app that is installed in a chat."""

    __tablename__ = "chat_app_installations"
    label = "app installation of a chat"
    owner = "org_id"

    installation_id: Mapped[Key]
    chat_id: Mapped[ChatRef | None]
    org_id: Mapped[str | None]
    app_id: Mapped[str | None]
    app_display_name: Mapped[str | None]
    app_external_id: Mapped[str | None]
    app_distribution_method: Mapped[str | None]
    installed_by_user_id: Mapped[str | None]
    installed_at: Mapped[datetime | None]
    consented_permission_set: Mapped[Json | None]
    teams_app_definition_id: Mapped[str | None]


class Team(TeamsRow):
    """A team. Its members are a JSON list; a deleted team keeps its row."""

    __tablename__ = "teams"
    label = "team"
    created, updated = "created_date_time", "updated_date_time"
    owner = "org_id"

    org_id: Mapped[str]
    team_id: Mapped[Key]
    group_id: Mapped[str | None]
    template_id: Mapped[str | None]
    display_name: Mapped[str]
    description: Mapped[str | None]
    visibility: Mapped[str | None]
    specialization: Mapped[str | None]
    classification: Mapped[str | None]
    internal_id: Mapped[str | None]
    incoming_channels: Mapped[Json | None]
    member_settings: Mapped[Json | None]
    guest_settings: Mapped[Json | None]
    messaging_settings: Mapped[Json | None]
    fun_settings: Mapped[Json | None]
    discovery_settings: Mapped[Json | None]
    members: Mapped[Json | None]
    is_archived: Mapped[bool | None]
    migration_mode: Mapped[bool | None]
    web_url: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    updated_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class Channel(TeamsRow):
    """A channel of a team: standard, private or shared."""

    __tablename__ = "channels"
    label = "channel"
    created = "created_date_time"
    owner = "org_id"

    channel_id: Mapped[Key]
    org_id: Mapped[str]
    team_id: Mapped[TeamRef]
    display_name: Mapped[str]
    description: Mapped[str | None]
    email: Mapped[str | None]
    membership_type: Mapped[str]
    is_favorite_by_default: Mapped[bool | None]
    is_archived: Mapped[bool | None]
    migration_mode: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class ChannelMember(TeamsRow):
    """A user who is a direct member of a private or shared channel."""

    __tablename__ = "channel_members"
    label = "channel member"

    channel_id: Mapped[str] = mapped_column(ForeignKey("channels.channel_id"), primary_key=True)
    user_id: Mapped[Key]
    roles: Mapped[str | None]
    display_name: Mapped[str | None]
    email: Mapped[str | None]
    tenant_id: Mapped[str | None]
    added_at: Mapped[datetime | None]


class ChannelTab(TeamsRow):
    """A tab of a channel, which shows an app."""

    __tablename__ = "teams_channel_tabs"
    label = "channel tab"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    org_id: Mapped[str | None]
    team_id: Mapped[TeamRef]
    channel_id: Mapped[ChannelRef]
    tab_id: Mapped[Key]
    display_name: Mapped[str | None]
    web_url: Mapped[str | None]
    app_id: Mapped[str | None]
    sort_order_index: Mapped[str | None]
    configuration_json: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class ChatTab(TeamsRow):
    """A tab of a chat, which shows an app."""

    __tablename__ = "chat_tabs"
    label = "chat tab"
    created, updated = "created_at", "updated_at"

    chat_id: Mapped[ChatRef | None]
    tab_id: Mapped[Key]
    display_name: Mapped[str | None]
    web_url: Mapped[str | None]
    app_id: Mapped[str | None]
    sort_order_index: Mapped[str | None]
    configuration_json: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class SharedTeam(TeamsRow):
    """A team that a shared channel is shared with."""

    __tablename__ = "shared_with_channel_teams"
    label = "shared team"
    created, updated = "created_at", "updated_at"

    shared_team_id: Mapped[Key]
    channel_id: Mapped[ChannelRef | None]
    team_id: Mapped[str | None]
    tenant_id: Mapped[str | None]
    display_name: Mapped[str | None]
    is_host_team: Mapped[bool | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class InstalledApp(TeamsRow):
    """An app that is installed in a team."""

    __tablename__ = "installed_apps"
    label = "installed app"
    created = "created_date_time"
    owner = "org_id"

    org_id: Mapped[str | None]
    team_id: Mapped[TeamRef]
    installation_id: Mapped[Key]
    teams_app_id: Mapped[str | None]
    teams_app_external_id: Mapped[str | None]
    teams_app_display_name: Mapped[str | None]
    teams_app_distribution_method: Mapped[str | None]
    teams_app_definition_id: Mapped[str | None]
    teams_app_definition_version: Mapped[str | None]
    azure_ad_app_id: Mapped[str | None]
    publishing_state: Mapped[str | None]
    short_description: Mapped[str | None]
    description: Mapped[str | None]
    required_resource_specific_permissions: Mapped[Json | None]
    consented_permission_set: Mapped[Json | None]
    created_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class ResourceGrant(TeamsRow):
    """A permission that an app has on one team or chat."""

    __tablename__ = "resource_specific_permission_grants"
    label = "resource permission grant"
    created = "created_date_time"
    owner = "org_id"

    org_id: Mapped[str | None]
    grant_id: Mapped[Key]
    resource_type: Mapped[str | None]
    resource_id: Mapped[str | None]
    client_app_id: Mapped[str | None]
    resource_app_id: Mapped[str | None]
    client_id: Mapped[str | None]
    permission_type: Mapped[str | None]
    permission: Mapped[str | None]
    installation_id: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    soft_deleted: Mapped[bool | None]
    additional_metadata: Mapped[Json | None]


class Teamwork(TeamsRow):
    """Settings of the service for an organisation."""

    __tablename__ = "teamwork"
    label = "teamwork settings"

    org_id: Mapped[str] = mapped_column(ForeignKey("teams_orgs.org_id"), primary_key=True)
    teamwork_id: Mapped[str | None]
    is_teams_enabled: Mapped[bool | None]
    region: Mapped[str | None]


class DayNote(TeamsRow):
    """A note for a day of a team's schedule."""

    __tablename__ = "day_notes"
    label = "day note"
    created, updated = "created_date_time", "last_modified_date_time"
    owner = "org_id"

    org_id: Mapped[str | None]
    team_id: Mapped[TeamRef | None]
    day_note_id: Mapped[Key]
    day_note_date: Mapped[date | None]
    draft_day_note: Mapped[Json | None]
    shared_day_note: Mapped[Json | None]
    created_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]


class LearningProvider(TeamsRow):
    """A provider of courses."""

    __tablename__ = "learning_providers"
    label = "learning provider"
    created, updated = "created_date_time", "last_modified_date_time"

    learning_provider_id: Mapped[Key]
    org_id: Mapped[str | None]
    display_name: Mapped[str | None]
    square_logo_web_url_for_dark_theme: Mapped[str | None]
    long_logo_web_url_for_dark_theme: Mapped[str | None]
    square_logo_web_url_for_light_theme: Mapped[str | None]
    long_logo_web_url_for_light_theme: Mapped[str | None]
    login_web_url: Mapped[str | None]
    is_course_activity_sync_enabled: Mapped[bool | None]
    created_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class CourseActivity(TeamsRow):
    """A course that a user takes or was assigned."""

    __tablename__ = "learning_course_activities"
    label = "course activity"
    created, updated = "created_date_time", "last_modified_date_time"
    owner = "org_id"

    learning_course_activity_id: Mapped[Key]
    org_id: Mapped[str | None]
    learning_provider_id: Mapped[str | None] = mapped_column(ForeignKey("learning_providers.learning_provider_id"))
    learner_user_id: Mapped[str | None]
    learning_content_id: Mapped[str | None]
    activity_type: Mapped[str | None]
    status: Mapped[str | None]
    assignment_type: Mapped[str | None]
    assigner_user_id: Mapped[str | None]
    assigned_date_time: Mapped[datetime | None]
    due_date_time: Mapped[datetime | None]
    notes_content: Mapped[str | None]
    completion_percentage: Mapped[int | None]
    completed_date_time: Mapped[datetime | None]
    started_date_time: Mapped[datetime | None]
    external_course_activity_id: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class Tag(TeamsRow):
    """A tag of a team, by which several members are mentioned at once."""

    __tablename__ = "teamwork_tags"
    label = "tag"
    created, updated = "created_at", "updated_at"
    has_uuid = True

    id: Mapped[Key]
    team_id: Mapped[TeamRef]
    display_name: Mapped[str | None]
    description: Mapped[str | None]
    tag_type: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class TagMember(TeamsRow):
    """A user who has a tag."""

    __tablename__ = "teamwork_tag_members"
    label = "tag member"
    has_uuid = True

    id: Mapped[Key]
    tagId: Mapped[str] = mapped_column(ForeignKey("teamwork_tags.id"))
    teamId: Mapped[str | None]
    userId: Mapped[str]
    displayName: Mapped[str | None]
    tenantId: Mapped[str | None]


class FilesFolder(TeamsRow):
    """The folder with the files of a channel."""

    __tablename__ = "channel_files_folders"
    label = "files folder"
    created = "created_date_time"

    channel_id: Mapped[str] = mapped_column(ForeignKey("channels.channel_id"), primary_key=True)
    team_id: Mapped[TeamRef | None]
    drive_item_id: Mapped[str | None]
    name: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]
    web_url: Mapped[str | None]
    size: Mapped[int | None]
    e_tag: Mapped[str | None]
    c_tag: Mapped[str | None]
    description: Mapped[str | None]
    web_dav_url: Mapped[str | None]
    created_by_json: Mapped[Json | None]
    last_modified_by_json: Mapped[Json | None]
    drive_id: Mapped[str | None]
    drive_type: Mapped[str | None]
    parent_id: Mapped[str | None]
    parent_path: Mapped[str | None]
    parent_name: Mapped[str | None]
    parent_site_id: Mapped[str | None]
    child_count: Mapped[int | None]
    fs_created_date_time: Mapped[datetime | None]
    fs_last_modified_date_time: Mapped[datetime | None]


class DriveItem(TeamsRow):
    """A file or folder."""

    __tablename__ = "drive_items"
    label = "drive item"
    created = "created_date_time"

    drive_item_id: Mapped[Key]
    name: Mapped[str | None]
    size: Mapped[int | None]
    created_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]
    web_url: Mapped[str | None]
    web_dav_url: Mapped[str | None]
    e_tag: Mapped[str | None]
    c_tag: Mapped[str | None]
    description: Mapped[str | None]
    created_by_json: Mapped[Json | None]
    last_modified_by_json: Mapped[Json | None]
    drive_id: Mapped[str | None]
    drive_type: Mapped[str | None]
    parent_id: Mapped[str | None]
    parent_path: Mapped[str | None]
    parent_name: Mapped[str | None]
    parent_site_id: Mapped[str | None]
    child_count: Mapped[int | None]
    fs_created_date_time: Mapped[datetime | None]
    fs_last_modified_date_time: Mapped[datetime | None]
    folder_id: Mapped[str | None]
    file_id: Mapped[str | None]
    image_id: Mapped[str | None]
    photo_id: Mapped[str | None]
    video_id: Mapped[str | None]
    audio_id: Mapped[str | None]
    shared_id: Mapped[str | None]
    root_id: Mapped[str | None]
    special_folder_id: Mapped[str | None]
    sharepoint_ids_id: Mapped[str | None]
    file_system_info_id: Mapped[str | None]
    channel_files_folder_id: Mapped[str | None]


class SharingSession(TeamsRow):
    """A session in which a call's screen is shared."""

    __tablename__ = "content_sharing_sessions"
    label = "content sharing session"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str | None]
    call_id: Mapped[CallRef | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Call(TeamsRow):
    """A call that an application places or receives."""

    __tablename__ = "calls"
    label = "call"
    created, updated = "created_at", "updated_at"
    has_uuid = True
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str]
    callback_uri: Mapped[str | None]
    call_chain_id: Mapped[str | None]
    direction: Mapped[str | None]
    state: Mapped[str | None]
    subject: Mapped[str | None]
    source: Mapped[Json | None]
    targets: Mapped[Json | None]
    my_participant_id: Mapped[str | None]
    requested_modalities: Mapped[Json | None]
    call_options: Mapped[Json | None]
    media_config: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    soft_delete: Mapped[bool | None]


class Participant(TeamsRow):
    """A participant of a call."""

    __tablename__ = "participants"
    label = "participant"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str | None]
    call_id: Mapped[CallRef | None]
    info: Mapped[Json | None]
    media_streams: Mapped[Json | None]
    is_muted: Mapped[bool | None]
    is_in_lobby: Mapped[bool | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class CallRecord(TeamsRow):
    """What is known of a call after it ended."""

    __tablename__ = "call_records"
    label = "call record"
    created = "created_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str]
    version: Mapped[int | None]
    type: Mapped[str | None]
    modalities: Mapped[Json | None]
    organizer: Mapped[Json | None]
    participants: Mapped[Json | None]
    start_date_time: Mapped[datetime | None]
    end_date_time: Mapped[datetime | None]
    last_modified_date_time: Mapped[datetime | None]
    join_web_url: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Meeting(TeamsRow):
    """An online meeting."""

    __tablename__ = "online_meetings"
    label = "online meeting"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str | None]
    user_id: Mapped[str | None]
    subject: Mapped[str | None]
    start_date_time: Mapped[datetime | None]
    end_date_time: Mapped[datetime | None]
    creation_date_time: Mapped[datetime | None]
    external_id: Mapped[str | None]
    join_web_url: Mapped[str | None]
    video_teleconference_id: Mapped[str | None]
    allow_attendee_to_enable_camera: Mapped[bool | None]
    allow_attendee_to_enable_mic: Mapped[bool | None]
    allow_breakout_rooms: Mapped[bool | None]
    allow_copying_and_sharing_meeting_content: Mapped[bool | None]
    allow_live_share: Mapped[str | None]
    allow_meeting_chat: Mapped[str | None]
    allow_participants_to_change_name: Mapped[bool | None]
    allow_powerpoint_sharing: Mapped[bool | None]
    allow_recording: Mapped[bool | None]
    allow_teamwork_reactions: Mapped[bool | None]
    allow_transcription: Mapped[bool | None]
    allow_whiteboard: Mapped[bool | None]
    allowed_lobby_admitters: Mapped[str | None]
    allowed_presenters: Mapped[str | None]
    is_end_to_end_encryption_enabled: Mapped[bool | None]
    is_entry_exit_announced: Mapped[bool | None]
    record_automatically: Mapped[bool | None]
    share_meeting_chat_history_default: Mapped[str | None]
    meeting_template_id: Mapped[str | None]
    is_broadcast: Mapped[bool | None]
    chat_info: Mapped[Json | None]
    participants: Mapped[Json | None]
    lobby_bypass_settings: Mapped[Json | None]
    audio_conferencing: Mapped[Json | None]
    chat_restrictions: Mapped[Json | None]
    join_information: Mapped[Json | None]
    join_meeting_id_settings: Mapped[Json | None]
    watermark_protection: Mapped[Json | None]
    broadcast_settings: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Transcript(TeamsRow):
    """The transcript of a meeting."""

    __tablename__ = "call_transcripts"
    label = "call transcript"
    created, updated = "created_date_time", "updated_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str | None]
    meeting_id: Mapped[str | None]
    call_id: Mapped[str | None]
    created_date_time: Mapped[datetime | None]
    end_date_time: Mapped[datetime | None]
    content_correlation_id: Mapped[str | None]
    transcript_content_url: Mapped[str | None]
    content: Mapped[str | None]
    metadata_content: Mapped[str | None]
    meeting_organizer: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class AudioRoutingGroup(TeamsRow):
    """Who of a call hears whom."""

    __tablename__ = "audio_routing_groups"
    label = "audio routing group"
    created, updated = "created_at", "updated_at"
    has_uuid = True
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str]
    call_id: Mapped[CallRef]
    routing_mode: Mapped[str | None]
    sources: Mapped[Json | None]
    receivers: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class GalleryOperation(TeamsRow):
    """An operation that shows many participants of a call at once."""

    __tablename__ = "large_gallery_view_operations"
    label = "large gallery view operation"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    id: Mapped[Key]
    org_id: Mapped[str | None]
    call_id: Mapped[CallRef | None]
    status: Mapped[str | None]
    client_context: Mapped[str | None]
    result_info: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class HoldMusic(TeamsRow):
    """Music for callers on hold."""

    __tablename__ = "hold_music_configs"
    label = "hold music configuration"
    owner = "org_id"

    config_id: Mapped[Key]
    org_id: Mapped[str | None]
    name: Mapped[str | None]
    description: Mapped[str | None]
    media_uri: Mapped[str | None]
    resource_id: Mapped[str | None]
    client_context: Mapped[str | None]
    is_active: Mapped[bool | None]


class Webinar(TeamsRow):
    """A webinar: draft, published or canceled. Its times are the wall clock's; zones stand beside them."""

    __tablename__ = "virtual_event_webinars"
    label = "webinar"
    created, updated = "created_at", "updated_at"
    has_uuid = True
    owner = "org_id"

    org_id: Mapped[str]
    id: Mapped[Key]
    display_name: Mapped[str | None]
    description_content_type: Mapped[str | None]
    description_content: Mapped[str | None]
    start_date_time: Mapped[datetime | None]
    start_time_zone: Mapped[str | None]
    end_date_time: Mapped[datetime | None]
    end_time_zone: Mapped[str | None]
    audience: Mapped[str | None]
    status: Mapped[str]
    created_by_user_id: Mapped[str | None]
    created_by_display_name: Mapped[str | None]
    created_by_tenant_id: Mapped[str | None]
    is_attendee_email_notification_enabled: Mapped[bool | None]
    external_event_information: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class WebinarCoOrganizer(TeamsRow):
    """A user who organises a webinar too."""

    __tablename__ = "virtual_event_webinar_coorganizers"
    label = "co-organiser of a webinar"
    owner = "org_id"

    org_id: Mapped[str | None]
    webinar_id: Mapped[str] = mapped_column(ForeignKey("virtual_event_webinars.id"), primary_key=True)
    user_id: Mapped[Key]
    added_at: Mapped[datetime | None]


class WebinarPresenter(TeamsRow):
    """A presenter of a webinar."""

    __tablename__ = "virtual_event_webinar_presenters"
    label = "presenter of a webinar"
    owner = "org_id"

    org_id: Mapped[str | None]
    webinar_id: Mapped[str | None] = mapped_column(ForeignKey("virtual_event_webinars.id"))
    presenter_id: Mapped[Key]
    identity_type: Mapped[str | None]
    identity_id: Mapped[str | None]
    email: Mapped[str | None]
    display_name: Mapped[str | None]
    guest_email: Mapped[str | None]
    presenter_details_bio_content: Mapped[str | None]
    presenter_details_bio_content_type: Mapped[str | None]
    presenter_details_company: Mapped[str | None]
    presenter_details_job_title: Mapped[str | None]
    presenter_details_linkedin_profile_web_url: Mapped[str | None]
    presenter_details_personal_site_web_url: Mapped[str | None]
    presenter_details_twitter_profile_web_url: Mapped[str | None]
    added_at: Mapped[datetime | None]


class TownHall(TeamsRow):
    """A town hall: draft, published or canceled. Its times are the wall clock's; zones stand beside them."""

    __tablename__ = "virtual_event_townhalls"
    label = "town hall"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    org_id: Mapped[str]
    id: Mapped[Key]
    display_name: Mapped[str | None]
    description_content_type: Mapped[str | None]
    description_content: Mapped[str | None]
    start_date_time: Mapped[datetime | None]
    start_time_zone: Mapped[str | None]
    end_date_time: Mapped[datetime | None]
    end_time_zone: Mapped[str | None]
    audience: Mapped[str | None]
    is_invite_only: Mapped[bool | None]
    status: Mapped[str]
    created_by_user_id: Mapped[str | None]
    created_by_display_name: Mapped[str | None]
    created_by_tenant_id: Mapped[str | None]
    is_attendee_email_notification_enabled: Mapped[bool | None]
    external_event_information: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class TownHallCoOrganizer(TeamsRow):
    """A user who organises a town hall too."""

    __tablename__ = "virtual_event_townhall_coorganizers"
    label = "co-organiser of a town hall"
    owner = "org_id"

    org_id: Mapped[str | None]
    townhall_id: Mapped[str] = mapped_column(ForeignKey("virtual_event_townhalls.id"), primary_key=True)
    user_id: Mapped[Key]
    added_at: Mapped[datetime | None]


class Invited(TeamsRow):
    """A user or guest who is invited to a town hall."""

    __tablename__ = "virtual_event_townhall_invited_attendees"
    label = "invited attendee"
    owner = "org_id"

    org_id: Mapped[str | None]
    townhall_id: Mapped[str] = mapped_column(ForeignKey("virtual_event_townhalls.id"), primary_key=True)
    identity_id: Mapped[Key]
    identity_type: Mapped[str | None]
    display_name: Mapped[str | None]
    tenant_id: Mapped[str | None]
    guest_email: Mapped[str | None]
    added_at: Mapped[datetime | None]


class TownHallPresenter(TeamsRow):
    """A presenter of a town hall."""

    __tablename__ = "virtual_event_townhall_presenters"
    label = "presenter of a town hall"
    owner = "org_id"

    org_id: Mapped[str | None]
    townhall_id: Mapped[str | None] = mapped_column(ForeignKey("virtual_event_townhalls.id"))
    presenter_id: Mapped[Key]
    identity_type: Mapped[str | None]
    identity_id: Mapped[str | None]
    email: Mapped[str | None]
    display_name: Mapped[str | None]
    guest_email: Mapped[str | None]
    added_at: Mapped[datetime | None]


class AttendanceReport(TeamsRow):
    """Who attended a meeting, in numbers."""

    __tablename__ = "meeting_attendance_reports"
    label = "attendance report"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    org_id: Mapped[str | None]
    id: Mapped[Key]
    meeting_id: Mapped[str | None]
    total_participant_count: Mapped[int | None]
    meeting_start_date_time: Mapped[datetime | None]
    meeting_end_date_time: Mapped[datetime | None]
    external_event_information: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class AttendanceRecord(TeamsRow):
    """When one person attended a meeting."""

    __tablename__ = "attendance_records"
    label = "attendance record"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    org_id: Mapped[str | None]
    id: Mapped[Key]
    report_id: Mapped[str | None] = mapped_column(ForeignKey("meeting_attendance_reports.id"))
    email_address: Mapped[str | None]
    identity_id: Mapped[str | None]
    display_name: Mapped[str | None]
    total_attendance_in_seconds: Mapped[int | None]
    role: Mapped[str | None]
    attendance_intervals: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Presence(TeamsRow):
    """What others see of a user: availability and status message."""

    __tablename__ = "teams_presence_sessions"
    label = "presence"
    created, updated = "created_at", "updated_at"
    owner = "org_id"

    user_id: Mapped[Key]
    org_id: Mapped[str | None]
    session_id: Mapped[str | None]
    availability: Mapped[str | None]
    activity: Mapped[str | None]
    expiration_datetime: Mapped[datetime | None]
    status_message: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
