"""Gym servers of the published benchmark.

Invariant: these names, ports and headers are those of published rows. A name does not follow from its domain, so it is
looked up here; servers of other domains are named by a rule (`GymServer.domain`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedServer:
    """A gym server as published rows name it."""

    name: str
    """`mcp_server_name`."""
    port: int
    """Port of the published image on the harness's machine."""
    header: str
    """Header that names the acting user."""

    @property
    def url(self) -> str:
        """`mcp_server_url`."""
        return f"http://localhost:{self.port}"


PUBLISHED_SERVERS: Mapping[str, PublishedServer] = {
    "csm": PublishedServer("sn-csm-server", 8001, "x-user-email"),
    "teams": PublishedServer("gym-teams-mcp", 8002, "x-teams-access-token"),
    "calendar": PublishedServer("gym-calendar", 8003, "x-access-token"),
    "email": PublishedServer("gym-email-mcp", 8004, "x-email-user-token"),
    "itsm": PublishedServer("gym-itsm-mcp", 8006, "x-itsm-user-token"),
    "hr": PublishedServer("sn-hr-internal", 8008, "x-hr-user-token"),
    "drive": PublishedServer("gym-google-drive-mcp", 8009, "x-gdrive-user-token"),
}
"""Servers by domain."""
DOMAINS_BY_SERVER: Mapping[str, str] = {server.name: domain for domain, server in PUBLISHED_SERVERS.items()}
"""Domains by the name of their published server."""
