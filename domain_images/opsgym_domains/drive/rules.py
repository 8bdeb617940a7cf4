"""Process rules of Drive that access `strict` enforces: data governance.

Invariant: every rule has a number in `policy.md` or `policy-strict.md`, and its refusal states what to do instead. A
rule checks only what a write changes, so that a record that already violates a rule can still be corrected.
"""

from __future__ import annotations

from opsgym_domains.drive.forms import loaded
from opsgym_domains.drive.governance import (
    HOLD,
    LEVELS,
    SENSITIVITY,
    grantee_domain,
    held,
    home,
    outsiders,
    retained,
    retained_until,
    secret,
    secret_in,
)
from opsgym_domains.drive.reach import (
    LEGAL,
    ROLES,
    holding,
    path,
    principal,
    principal_of,
    role_on,
    role_on_drive,
    suffices,
)
from opsgym_domains.drive.tables import (
    AccessProposal,
    DriveMembership,
    File,
    FileLabel,
    Label,
    Permission,
    Revision,
    SharedDrive,
    User,
)
from opsgym_domains.kit.access import Rulebook
from opsgym_domains.kit.desk import sets_any
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, on_delete = RULEBOOK.on_write, RULEBOOK.on_delete


# --- legal hold and retention ----------------------------------------------------------------------------------------


@on_write(File, "PRC-1", "LEGAL_HOLD")
async def held_files_stay_where_they_are(gym: Gym, after: File, before: File | None) -> str | None:
    """A file under legal hold is not renamed, not moved, and not put into the trash."""
    if before is None or not sets_any(after, before, "name", "parent_id", "drive_id", "trashed", "mime_type"):
        return None
    return _hold(await held(gym, after.id), after.id)


@on_delete(File, "PRC-1", "LEGAL_HOLD")
async def held_files_are_not_deleted(gym: Gym, file: File) -> str | None:
    """A file under legal hold is not deleted, nor a folder above it."""
    return _hold(await held(gym, file.id), file.id)


@on_delete(Revision, "PRC-1", "LEGAL_HOLD")
async def held_revisions_are_not_deleted(gym: Gym, revision: Revision) -> str | None:
    """Revisions of a file under legal hold stay."""
    return _hold(await held(gym, revision.file_id), revision.file_id)


def _hold(file: File | None, file_id: str) -> str | None:
    if file is None:
        return None
    where = "" if file.id == file_id else f", which is below {file_id},"
    return f"{file.id}{where} is under legal hold and stays as it is; the group {LEGAL}@… lifts holds"


@on_delete(File, "PRC-2", "RETENTION")
async def retained_files_are_not_deleted(gym: Gym, file: File) -> str | None:
    """A file is not deleted for good before its retention ends, nor a folder above it."""
    return await _retention(gym, await retained(gym, file.id))


@on_delete(Revision, "PRC-2", "RETENTION")
async def retained_revisions_are_not_deleted(gym: Gym, revision: Revision) -> str | None:
    """Revisions of a file stay until its retention ends."""
    file = await retained(gym, revision.file_id)
    return await _retention(gym, file)


async def _retention(gym: Gym, file: File | None) -> str | None:
    if file is None:
        return None
    until = await retained_until(gym, file.id)
    return f"{file.id} is retained until {until}; it may go to the trash, and be deleted after that day"


# --- sharing ---------------------------------------------------------------------------------------------------------


@on_write(Permission, "PRC-3", "CONFIDENTIAL")
async def secrets_are_not_shared_outside(gym: Gym, after: Permission, before: Permission | None) -> str | None:
    """No one outside the company gets a role on a confidential or restricted file, nor on what it is in."""
    if not _is_wider(after, before):
        return None
    file = await gym.get(File, after.file_id) if after.file_id else None
    secret_file = await (secret(gym, file.id) if file else secret_in(gym, after.drive_id))
    company = await home(gym, file)
    if secret_file is None or await grantee_domain(gym, after) == company:
        return None
    return f"{secret_file.id} is confidential or restricted and stays within {company}; share it with colleagues only"


@on_write(File, "PRC-3", "CONFIDENTIAL")
async def secrets_are_not_moved_outside(gym: Gym, after: File, before: File | None) -> str | None:
    """A confidential or restricted file is not moved to where outsiders have a role."""
    if before is None or not sets_any(after, before, "parent_id", "drive_id"):
        return None
    secret_file = await secret(gym, after.id)
    if secret_file is None:
        return None
    folders = [one.id for one in await path(gym, after) if one.id != after.id]
    rows: list[Permission | DriveMembership] = [
        *await gym.all(Permission, holding(Permission.file_id.in_(folders))),
        *await gym.all(Permission, holding(Permission.drive_id == after.drive_id, Permission.drive_id.is_not(None))),
        *await gym.all(DriveMembership, DriveMembership.drive_id == after.drive_id),
    ]
    wide = await outsiders(gym, rows, await home(gym, after))
    if not wide:
        return None
    return f"{secret_file.id} is confidential or restricted; {', '.join(wide[:3])} would open it to outsiders there"


@on_write(Permission, "PRC-4", "OUTSIDE_ROLE")
async def outsiders_read(gym: Gym, after: Permission, before: Permission | None) -> str | None:
    """Outsiders and links get at most the role commenter, and a link is not found by searches."""
    if after.role == "owner" or not _is_wider(after, before):
        return None
    file = await gym.get(File, after.file_id) if after.file_id else None
    company = await home(gym, file)
    if await grantee_domain(gym, after) == company:
        return None
    if suffices(after.role, "writer"):
        return f"outside {company} the highest role is commenter; give the role reader or commenter"
    if after.type == "anyone" and after.allow_file_discovery:
        return "a link for everybody must not be found by searches; leave allowFileDiscovery out"
    return None


@on_write(Permission, "PRC-5", "DRIVE_RESTRICTED")
async def restrictions_of_drives_hold(gym: Gym, after: Permission, before: Permission | None) -> str | None:
    """Restrictions of a shared drive hold for the drive and for everything in it."""
    if not _is_wider(after, before):
        return None
    file = await gym.get(File, after.file_id) if after.file_id else None
    drive_id = file.drive_id if file else after.drive_id
    drive = await gym.get(SharedDrive, drive_id) if drive_id else None
    if drive is None:
        return None
    if (drive.domain_users_only or drive.restricted_to_domain) and await grantee_domain(gym, after) != await home(
        gym, file
    ):
        return f"the shared drive {drive.id} is for users of its domain; share within it"
    user = await gym.get(User, after.user_id) if after.user_id else None
    if not drive.drive_members_only or file is None:
        return None
    if user is not None and await role_on_drive(gym, drive.id, await principal_of(gym, user)):
        return None
    return f"items of the shared drive {drive.id} are for its members; an organizer adds members to the drive"


def _is_wider(after: Permission, before: Permission | None) -> bool:
    """Whether a write gives a role, or a higher one."""
    if not sets_any(after, before, "role", "type", "email_address", "domain", "allow_file_discovery", "deleted"):
        return False
    return (
        before is None
        or bool(before.deleted)
        or not suffices(before.role, after.role or "reader")
        or (bool(after.allow_file_discovery) and not before.allow_file_discovery)
    )


# --- owners and organizers -------------------------------------------------------------------------------------------


@on_write(DriveMembership, "PRC-6", "LAST_ORGANIZER")
async def a_drive_keeps_an_organizer(gym: Gym, after: DriveMembership, before: DriveMembership | None) -> str | None:
    """The last organizer of a shared drive keeps the role."""
    if before is None or before.role != "organizer" or after.role == "organizer":
        return None
    return await _last_organizer(gym, after)


@on_delete(DriveMembership, "PRC-6", "LAST_ORGANIZER")
async def the_last_organizer_stays(gym: Gym, membership: DriveMembership) -> str | None:
    """The last organizer of a shared drive stays its member."""
    return await _last_organizer(gym, membership) if membership.role == "organizer" else None


async def _last_organizer(gym: Gym, membership: DriveMembership) -> str | None:
    organizers = await gym.all(
        DriveMembership, DriveMembership.drive_id == membership.drive_id, DriveMembership.role == "organizer"
    )
    if any(other.id != membership.id for other in organizers):
        return None
    return f"{membership.id} is the last organizer of {membership.drive_id}; make another member organizer first"


@on_write(Permission, "PRC-7", "OWNERSHIP")
async def owners_are_colleagues_with_an_account(gym: Gym, after: Permission, before: Permission | None) -> str | None:
    """Ownership goes only to a colleague whose account exists."""
    if after.role != "owner" or after.file_id is None or (before is not None and before.role == "owner"):
        return None
    file = await gym.fetch(File, after.file_id)
    company = await home(gym, file)
    user = await gym.get(User, after.user_id) if after.user_id else None
    if await grantee_domain(gym, after) != company:
        return f"the new owner is outside {company}; choose a colleague"
    if user is None or user.auth_token is None:
        return "the account of the new owner is gone; choose a colleague who is still here"
    return None


# --- proposals and labels --------------------------------------------------------------------------------------------


@on_write(AccessProposal, "PRC-8", "MORE_THAN_ASKED")
async def proposals_get_what_they_ask_for(
    _gym: Gym, after: AccessProposal, before: AccessProposal | None
) -> str | None:
    """A request is granted with no higher role than it asks for."""
    if before is None or after.granted is None:
        return None
    proposed = [role for role in loaded(after.proposed_roles, []) if role in ROLES]
    highest = max(proposed, key=ROLES.index, default=ROLES[0])
    if suffices(highest, after.granted):
        return None
    return f"{after.id} asks for {', '.join(proposed) or highest}; accept it with the role {highest} or a lower one"


@on_write(FileLabel, "PRC-9", "HOLD_BY_LEGAL")
async def legal_sets_holds(gym: Gym, after: FileLabel, before: FileLabel | None) -> str | None:
    """Only the legal department sets or changes a legal hold."""
    return await _legal(gym, after) if sets_any(after, before, "value_boolean", "label_id", "file_id") else None


@on_delete(FileLabel, "PRC-9", "HOLD_BY_LEGAL")
async def legal_lifts_holds(gym: Gym, row: FileLabel) -> str | None:
    """Only the legal department removes a legal hold."""
    return await _legal(gym, row)


async def _legal(gym: Gym, row: FileLabel) -> str | None:
    label = await gym.get(Label, row.label_id)
    if label is None or label.key != HOLD or (await principal(gym)).is_in(LEGAL):
        return None
    return f"only members of the group {LEGAL}@… set, change or lift a legal hold; ask one of them"


@on_write(FileLabel, "PRC-10", "SENSITIVITY_LOWERED")
async def owners_lower_sensitivity(gym: Gym, after: FileLabel, before: FileLabel | None) -> str | None:
    """Only the owner of a file, or an organizer of its drive, lowers its sensitivity."""
    if before is None or _level(after) >= _level(before):
        return None
    return await _lowering(gym, after)


@on_delete(FileLabel, "PRC-10", "SENSITIVITY_LOWERED")
async def owners_remove_sensitivity(gym: Gym, row: FileLabel) -> str | None:
    """Only the owner of a file, or an organizer of its drive, removes its sensitivity."""
    return await _lowering(gym, row) if _level(row) > 0 else None


def _level(row: FileLabel) -> int:
    return LEVELS.index(row.value_enum) if row.value_enum in LEVELS else -1


async def _lowering(gym: Gym, row: FileLabel) -> str | None:
    label = await gym.get(Label, row.label_id)
    if label is None or label.key != SENSITIVITY:
        return None
    file = await gym.fetch(File, row.file_id)
    role = await role_on(gym, file, await principal(gym))
    if suffices(role, "organizer"):
        return None
    return f"only the owner of {file.id}, or an organizer of its drive, lowers its sensitivity; ask one of them"
