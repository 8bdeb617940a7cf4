"""Customer service management, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.csm import (  # noqa: F401 - see above
    users,
    groups,
    locations,
    accounts,
    products,
    contracts,
    sla_definitions,
    cases,
    case_slas,
    interactions,
    knowledge,
    notifications,
)

# isort: on
from opsgym_domains.csm.access import access_rules
from opsgym_domains.csm.deadlines import DEADLINES
from opsgym_domains.csm.tables import METADATA, User
from opsgym_domains.csm.toolbox import TOOLBOX
from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.identity import identify_by
from opsgym_domains.kit.response_style import PLAIN

HEADER = PUBLISHED_SERVERS["csm"].header
ACTORS = """
    SELECT trim(first_name || ' ' || last_name) AS name,
           role || iif(active, '', ', inactive') AS note,
           email AS identity
    FROM user ORDER BY role = 'customer', name
"""

DOMAIN = Domain(
    name="csm",
    service="sn-csm",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify_by(User.email, header=HEADER, role=User.role, active=User.active),
    response_style=PLAIN,
    lists_results=True,
    query_limit=100,
    seeds=packaged_seeds("opsgym_domains.csm", "quickstart", "desk", "charging", "fenmoor"),
    policy=lambda: files("opsgym_domains.csm").joinpath("policy.md").read_text(encoding="utf-8"),
    actors=ACTORS,
    deadlines=DEADLINES,
    access=access_rules(TOOLBOX.tools),
)
