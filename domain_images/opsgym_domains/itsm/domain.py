"""IT service management, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.itsm import (  # noqa: F401 - see above
    users,
    groups,
    locations,
    templates,
    configuration_items,
    services,
    changes,
    problems,
    incidents,
    child_incidents,
    knowledge,
    slas,
    notifications,
    change_mappings,
    affected_cis,
    incident_slas,
)

# isort: on
from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.itsm.access import access_rules
from opsgym_domains.itsm.deadlines import DEADLINES
from opsgym_domains.itsm.tables import METADATA, User
from opsgym_domains.itsm.toolbox import TOOLBOX
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.identity import FIRST, identify_by

HEADER = PUBLISHED_SERVERS["itsm"].header
ACTORS = """
    SELECT trim(u.first_name || ' ' || u.last_name) AS name,
           u.role || ', ' || o.name || iif(u.active, '', ', inactive') AS note,
           u.static_token AS identity
    FROM users u JOIN organization o USING (org_id) ORDER BY o.name, name
"""

DOMAIN = Domain(
    name="itsm",
    service="itsm-api",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify_by(
        User.static_token,
        header=HEADER,
        org=User.org_id,
        role=User.role,
        active=User.active,
        otherwise=FIRST,
        unknown=f"401 Unauthorized: the {HEADER} header does not match any user",
    ),
    seeds=packaged_seeds("opsgym_domains.itsm", "quickstart", "desk", "grid", "fenmoor"),
    policy=lambda: files("opsgym_domains.itsm").joinpath("policy.md").read_text(encoding="utf-8"),
    actors=ACTORS,
    deadlines=DEADLINES,
    access=access_rules(TOOLBOX.tools),
)
