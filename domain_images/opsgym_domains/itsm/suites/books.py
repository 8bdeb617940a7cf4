"""The suites that ship with the domain."""

from __future__ import annotations

from opsgym_domains.itsm.seeds import desk_world, quickstart_world
from opsgym_domains.itsm.suites import core, tasks
from opsgym_domains.itsm.suites.rows import Suite

QUICKSTART = Suite(
    "quickstart",
    "quickstart",
    quickstart_world,
    tasks.drafts,
    numbered=True,
)
CORE = Suite("itsm-core", "desk", desk_world, core.drafts)
SUITES = (QUICKSTART, CORE)
