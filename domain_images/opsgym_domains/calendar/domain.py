"""The calendar server, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.calendar.access import access_rules
from opsgym_domains.calendar.meaning import meaning
from opsgym_domains.calendar.result_formats import PUBLISHED
from opsgym_domains.calendar.tables import METADATA, User
from opsgym_domains.calendar.toolbox import TOOLBOX
from opsgym_domains.calendar.validation import accept
from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.kit.domain import Domain, Timeline
from opsgym_domains.kit.identity import FIRST, identify_by

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_domains.calendar import (  # noqa: F401 - see above
    calendars,
    calendar_list,
    events,
    event_creation,
    event_import,
    event_changes,
    colors,
    users,
    acl,
    channels,
    freebusy,
)

# isort: on

HEADER = PUBLISHED_SERVERS["calendar"].header
ACTORS = """
    SELECT name, email || iif(is_active, '', ', inactive') AS note, static_token AS identity
    FROM users ORDER BY name
"""
WEEK = """
    SELECT e.event_id AS key, e.calendar_id AS list_key, c.summary AS list_name, e.summary AS title,
        replace(substr(e.start_datetime, 1, 19), 'T', ' ') AS starts,
        replace(substr(e.end_datetime, 1, 19), 'T', ' ') AS ends,
        e.start_timezone AS zone, nullif(e.status, 'confirmed') AS note
    FROM events e JOIN calendars c ON c.calendar_id = e.calendar_id
"""

DOMAIN = Domain(
    name="calendar",
    service="gym-calendar",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify_by(
        User.static_token,
        header=HEADER,
        active=User.is_active,
        otherwise=FIRST,
        unknown="User not found for given access token",
    ),
    response_style=PUBLISHED,
    accept=accept,
    seeds=packaged_seeds("opsgym_domains.calendar", "offices", "clinics", "fenmoor"),
    actors=ACTORS,
    timeline=Timeline(table="events", key="event_id", query=WEEK),
    policy=lambda: files("opsgym_domains.calendar").joinpath("policy.md").read_text(encoding="utf-8"),
    meaning=meaning,
    access=access_rules(TOOLBOX.tools),
)
