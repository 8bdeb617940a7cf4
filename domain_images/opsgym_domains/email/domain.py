"""Email, as the kit serves it."""

from __future__ import annotations

from importlib.resources import files

# isort: off
# Importing the modules declares their tools; pages list tools in this order.
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.email import (  # noqa: F401 - see above
    users,
    drafts,
    history,
    labels,
    messages,
    settings,
    encryption,
    delegates,
    filters,
    forwarding,
    send_as,
    smime,
    threads,
)

# isort: on
from opsgym_domains.data_files import packaged_seeds
from opsgym_domains.email.access import IS_ACTIVE, access_rules
from opsgym_domains.email.expiry import DEADLINES, expire
from opsgym_domains.email.inbox import MAIL
from opsgym_domains.email.meaning import meaning
from opsgym_domains.email.result_formats import PUBLISHED
from opsgym_domains.email.tables import METADATA, User
from opsgym_domains.email.toolbox import TOOLBOX
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.identity import FIRST, identify_by

HEADER = PUBLISHED_SERVERS["email"].header
ACTORS = "SELECT name, primary_email AS note, token AS identity FROM users ORDER BY name"

DOMAIN = Domain(
    name="email",
    service="email-api",
    metadata=METADATA,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify_by(
        User.token,
        header=HEADER,
        active=IS_ACTIVE,
        otherwise=FIRST,
        unknown=f"401 Unauthorized: the {HEADER} header does not match any user",
    ),
    response_style=PUBLISHED,
    actors=ACTORS,
    seeds=packaged_seeds("opsgym_domains.email", "ferries", "press", "fenmoor"),
    mail=MAIL,
    policy=lambda: files("opsgym_domains.email").joinpath("policy.md").read_text(encoding="utf-8"),
    deadlines=DEADLINES,
    expire=expire,
    meaning=meaning,
    access=access_rules(TOOLBOX.tools),
)
