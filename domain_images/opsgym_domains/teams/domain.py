"""The Teams server, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.kit.domain import Domain, Timeline
from opsgym_domains.teams.access import access_rules
from opsgym_domains.teams.conversations import CONVERSATIONS
from opsgym_domains.teams.identity import HEADER, identify
from opsgym_domains.teams.result_formats import GRAPH
from opsgym_domains.teams.tables import METADATA
from opsgym_domains.teams.toolbox import TOOLBOX
from opsgym_domains.teams.visibility import of_organisation

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_domains.teams import (  # noqa: F401 - see above
    users,
    chats,
    chat_messages,
    channels,
    channel_messages,
    files_folders,
    tabs,
    teams,
    team_members,
    apps,
    tags,
    groups,
    call_records,
    calls,
    presence,
    webinars,
    townhalls,
)

# isort: on

ACTORS = """
    SELECT u.display_name AS name,
        coalesce(u.job_title || ', ', '') || u.org_id || iif(coalesce(u.account_enabled, 1), '', ', disabled') AS note,
        u.static_token AS identity
    FROM teams_users u WHERE u.static_token IS NOT NULL AND NOT coalesce(u.soft_deleted, 0) ORDER BY u.org_id, name
"""
WEEK = """
    SELECT id AS key, 'webinars' AS list_key, 'Webinars' AS list_name, display_name AS title,
        substr(start_date_time, 1, 19) AS starts, substr(end_date_time, 1, 19) AS ends, start_time_zone AS zone,
        status AS note
    FROM virtual_event_webinars
"""

DOMAIN = Domain(
    name="teams",
    service="gym-teams-mcp",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify,
    response_style=GRAPH,
    actors=ACTORS,
    conversations=CONVERSATIONS,
    seeds=packaged_seeds("opsgym_domains.teams", "bridges", "wards", "fenmoor"),
    timeline=Timeline(table="virtual_event_webinars", key="id", query=WEEK),
    policy=lambda: files("opsgym_domains.teams").joinpath("policy.md").read_text(encoding="utf-8"),
    scope=of_organisation,
    access=access_rules(TOOLBOX.tools),
)
