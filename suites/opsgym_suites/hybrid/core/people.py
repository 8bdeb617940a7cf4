"""What tasks about people look up and change in several systems: employment in HR, seats in teams, roles on Drive.

Invariant: people are named as HR names them; each function finds the account, seat or role that the system has.
"""

from __future__ import annotations

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import DriveMembership, File, Permission
from opsgym_domains.hr.tables import HrCase
from opsgym_domains.teams.tables import Team
from opsgym_suites.drive.calls import hand_over, unshare
from opsgym_suites.hr.calls import find_user as find_in_hr
from opsgym_suites.hr.calls import read_profile, read_subject
from opsgym_suites.hybrid.core.jobs import Calls, in_hr
from opsgym_suites.hybrid.systems import Systems
from opsgym_suites.kit.drafts import call
from opsgym_suites.teams.calls import find_team, members_of


def employment(systems: Systems, *names: str) -> Calls:
    """Reads the profiles of people in HR."""
    users = [systems.in_hr(name) for name in names]
    return in_hr(*(made for user in users for made in (find_in_hr(user), read_profile(user))))


def employment_by_case(systems: Systems, name: str) -> Calls:
    """Reads the profile of a person in HR by a case about the person, where another server has the look-up by name."""
    case = systems.hr.all(HrCase, opened_for=systems.hr.profile(name).hr_profile_id)[0]
    return in_hr(call("list_hr_cases", opened_for=name), read_subject(case))


def seat(systems: Systems, team: Team, name: str) -> str:
    """Key of a person's membership of a team."""
    return systems.teams.membership(team, systems.teams.account(name))


def people_of(*teams: Team) -> Calls:
    """Finds teams by name and lists their members."""
    return tuple(made for team in teams for made in (find_team(team), members_of(team)))


def member(systems: Systems, drive: str, name: str) -> DriveMembership:
    """A person's place on a shared drive."""
    return systems.files.member(drive, systems.files.account(name).email)


def granted(systems: Systems, file: File, name: str) -> Permission:
    """A person's permission on a file."""
    return systems.files.permission(file, systems.files.account(name).email)


def handed_over(systems: Systems, files: list[File], leaver: str, heir: str) -> list[ToolCall]:
    """Makes a colleague the owner of files, on which the leaver keeps no role."""
    to = systems.files.account(heir).email
    return [
        made
        for file in files
        for made in (
            hand_over(systems.files, file, to, admin=True),
            unshare(file, granted(systems, file, leaver)),
        )
    ]
