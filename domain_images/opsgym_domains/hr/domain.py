"""HR service delivery, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.hr import (  # noqa: F401 - see above
    services,
    topics,
    templates,
    users,
    groups,
    criteria,
    skills,
    checklists,
    surveys,
    cases,
    profiles,
    knowledge,
    assignment_rules,
    escalation_rules,
    counts,
    notifications,
    case_tasks,
)

# isort: on
from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.hr.access import access_rules
from opsgym_domains.hr.deadlines import DEADLINES
from opsgym_domains.hr.story import STORY
from opsgym_domains.hr.tables import METADATA, User
from opsgym_domains.hr.toolbox import TOOLBOX
from opsgym_domains.kit.access import own_rows
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.identity import FIRST, identify_by

HEADER = PUBLISHED_SERVERS["hr"].header
ACTORS = """
    SELECT trim(u.first_name || ' ' || u.last_name) AS name,
           u.role || ', ' || o.name || iif(u.active, '', ', inactive') AS note,
           u.static_token AS identity
    FROM user u JOIN organization o USING (org_id) ORDER BY o.name, name
"""


DOMAIN = Domain(
    name="hr",
    service="hr-api",
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
    policy=lambda: files("opsgym_domains.hr").joinpath("policy.md").read_text(encoding="utf-8"),
    actors=ACTORS,
    scope=lambda table, actor: own_rows(table, actor.org_id),
    story=STORY,
    deadlines=DEADLINES,
    seeds=packaged_seeds("opsgym_domains.hr", "hospital", "works", "fenmoor"),
    access=access_rules(TOOLBOX.tools),
)
