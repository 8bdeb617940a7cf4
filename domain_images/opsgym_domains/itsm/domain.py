"""IT service management, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

# isort: off
# Importing the modules declares their tools; this is the order in which agents see them.
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
from opsgym_domains.itsm.access import access_rules
from opsgym_domains.itsm.identity import ACTORS, HEADER, identify
from opsgym_domains.itsm.seeds import desk, quickstart
from opsgym_domains.itsm.tables import METADATA
from opsgym_domains.itsm.toolbox import TOOLBOX
from opsgym_domains.kit.domain import Domain

DOMAIN = Domain(
    name="itsm",
    service="itsm-api",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify,
    seeds={"quickstart": quickstart, "desk": desk},
    policy=lambda: files("opsgym_domains.itsm").joinpath("policy.md").read_text(encoding="utf-8"),
    actors=ACTORS,
    access=access_rules(TOOLBOX.tools),
)
