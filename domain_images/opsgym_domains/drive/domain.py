"""Drive, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files as package_files

from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.data_files import packaged_seeds

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_domains.drive import (  # noqa: F401 - see above
    operations,
    drives,
    comments,
    permissions,
    proposals,
    team_drives,
    revisions,
    files,
    file_creation,
    file_changes,
    file_labels,
    replies,
    about,
    changes,
    channels,
)

# isort: on
from opsgym_domains.drive.access import access_rules
from opsgym_domains.drive.browser import BROWSER
from opsgym_domains.drive.expiry import expire
from opsgym_domains.drive.result_formats import PUBLISHED
from opsgym_domains.drive.tables import METADATA, User
from opsgym_domains.drive.toolbox import TOOLBOX
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.identity import FIRST, identify_by

HEADER = PUBLISHED_SERVERS["drive"].header
ACTORS = """
    SELECT display_name AS name, email AS note, auth_token AS identity
    FROM users WHERE auth_token IS NOT NULL ORDER BY display_name
"""

DOMAIN = Domain(
    name="drive",
    service="drive-api",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify_by(
        User.auth_token,
        header=HEADER,
        otherwise=FIRST,
        unknown=f"the {HEADER} header does not match any user",
    ),
    response_style=PUBLISHED,
    policy=lambda: package_files("opsgym_domains.drive").joinpath("policy.md").read_text(encoding="utf-8"),
    actors=ACTORS,
    files=BROWSER,
    expire=expire,
    seeds=packaged_seeds("opsgym_domains.drive", "consultancy", "foundation", "fenmoor"),
    access=access_rules(TOOLBOX.tools),
)
