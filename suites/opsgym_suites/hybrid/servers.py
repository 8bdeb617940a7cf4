"""The gym servers of the company's systems, and the verifiers of tasks on them."""

from __future__ import annotations

from opsgym_suites.calendar.authored import SERVER as CALENDAR
from opsgym_suites.calendar.verification import VERIFIERS as CALENDAR_VERIFIERS
from opsgym_suites.csm.authored import SERVER as CSM
from opsgym_suites.csm.verification import VERIFIERS as CSM_VERIFIERS
from opsgym_suites.drive.authored import SERVER as DRIVE
from opsgym_suites.drive.verification import of_draft as drive_verifiers
from opsgym_suites.email.authored import SERVER as EMAIL
from opsgym_suites.email.verification import of_draft as email_verifiers
from opsgym_suites.hr.authored import SERVER as HR
from opsgym_suites.hr.verification import VERIFIERS as HR_VERIFIERS
from opsgym_suites.hybrid.seeds import WORLDS
from opsgym_suites.itsm.authored import SERVER as ITSM
from opsgym_suites.itsm.verification import VERIFIERS as ITSM_VERIFIERS
from opsgym_suites.kit.hybrid import HybridVerifiers
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.authored import SERVER as TEAMS
from opsgym_suites.teams.verification import of_draft as teams_verifiers

__all__ = ["CALENDAR", "CSM", "DRIVE", "EMAIL", "HR", "ITSM", "OTHERS", "TEAMS", "VERIFIERS", "worlds"]

VERIFIERS = HybridVerifiers(
    {
        ITSM: ITSM_VERIFIERS,
        CSM: CSM_VERIFIERS,
        HR: HR_VERIFIERS,
        CALENDAR: CALENDAR_VERIFIERS,
        EMAIL: email_verifiers,
        DRIVE: drive_verifiers,
        TEAMS: teams_verifiers,
    },
    shared={"query_freebusy"},
)
OTHERS = (CSM, HR, CALENDAR, EMAIL, DRIVE, TEAMS)
"""Gym servers of the suite besides the service desk's."""


def worlds() -> Worlds:
    """The company's seeds, by gym server."""
    servers = (ITSM, *OTHERS)
    return {server.gym: made() for server in servers for system, made in WORLDS.items() if system == server.domain}
