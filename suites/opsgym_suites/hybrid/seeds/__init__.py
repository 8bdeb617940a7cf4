"""The seed `fenmoor` of each domain, drawn from one cast.

Invariant: a domain of `cast.System` has a module here and a place in `WORLDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from opsgym_suites.hybrid.cast import System
from opsgym_suites.hybrid.seeds.calendar import calendar_world
from opsgym_suites.hybrid.seeds.csm import csm_world
from opsgym_suites.hybrid.seeds.drive import drive_world
from opsgym_suites.hybrid.seeds.email import email_world
from opsgym_suites.hybrid.seeds.hr import hr_world
from opsgym_suites.hybrid.seeds.itsm import itsm_world
from opsgym_suites.hybrid.seeds.teams import teams_world
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import World

SEED = "fenmoor"
"""Name of the seeds in all domains."""
mailboxes = cache(email_world)
"""The mailboxes of the company, with their look-ups by name."""
files = cache(drive_world)
"""The files of the company, with their look-ups by name."""
collaboration = cache(teams_world)
"""The teams, channels and chats of the company, with their look-ups by name."""
WORLDS: Mapping[System, Callable[[], World]] = {
    "itsm": cache(itsm_world), "csm": cache(csm_world), "hr": cache(hr_world), "calendar": cache(calendar_world),
    "email": mailboxes, "drive": files, "teams": collaboration,
}  # fmt: skip
"""The rows of the company, by domain."""


def fenmoor_sql(system: System) -> Callable[[], str]:
    """Makes the seed of a domain."""
    return lambda: seed_sql(WORLDS[system]())
