"""What labels and addresses say about a file: legal hold, retention, sensitivity, and who is outside the company.

Invariant: a label counts by its key: `legal_hold` (boolean), `retention_until` (date), `sensitivity` (public, internal,
confidential, restricted). A label of a folder says nothing about the files in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlalchemy import ColumnElement, select

from opsgym_domains.drive.reach import below, owners_of
from opsgym_domains.drive.tables import DriveMembership, File, FileLabel, Group, Label, Permission, User
from opsgym_domains.kit.gym import Gym

HOLD, RETENTION, SENSITIVITY = "legal_hold", "retention_until", "sensitivity"
"""Keys of the labels that rules look at."""
LEVELS = ("public", "internal", "confidential", "restricted")
"""Values of the label of sensitivity, the lowest first."""
SECRET = LEVELS[2:]
"""Levels of files that stay inside the company."""


def labelled(key: str, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Condition of the files that have a label whose value meets a condition."""
    labels = select(Label.id).where(Label.key == key)
    return File.id.in_(select(FileLabel.file_id).where(FileLabel.label_id.in_(labels), condition))


async def held(gym: Gym, file_id: str) -> File | None:
    """A file under legal hold: the file itself or one below it; None if there is none."""
    return await _first(gym, file_id, labelled(HOLD, FileLabel.value_boolean.is_(True)))


async def retained(gym: Gym, file_id: str) -> File | None:
    """A file that is kept, today included: the file itself or one below it; None if there is none."""
    return await _first(gym, file_id, labelled(RETENTION, FileLabel.value_date >= gym.now().date()))


async def secret(gym: Gym, file_id: str) -> File | None:
    """A file that stays inside the company: the file itself or one below it; None if there is none."""
    return await _first(gym, file_id, labelled(SENSITIVITY, FileLabel.value_enum.in_(SECRET)))


async def secret_in(gym: Gym, drive_id: str | None) -> File | None:
    """A file in a shared drive that stays inside the company; None if there is none."""
    return await gym.first(File, File.drive_id == drive_id, labelled(SENSITIVITY, FileLabel.value_enum.in_(SECRET)))


async def _first(gym: Gym, file_id: str, condition: ColumnElement[bool]) -> File | None:
    return await gym.first(File, File.id.in_(below(File.id == file_id)), condition)


async def retained_until(gym: Gym, file_id: str) -> date | None:
    """Day until which a file is retained; None if no label says one."""
    label = await gym.find(Label, key=RETENTION)
    row = await gym.find(FileLabel, file_id=file_id, label_id=label.id) if label else None
    return row.value_date if row else None


# --- inside and outside ----------------------------------------------------------------------------------------------


async def home(gym: Gym, file: File | None) -> str:
    """Mail domain of the company that a file belongs to: its owner's, else its creator's, else the acting user's."""
    owners = await owners_of(gym, file.id) if file else ()
    keys = [row.user_id for row in owners] + ([file.created_by] if file else []) + [str(gym.actor.user_id)]
    for key in keys:
        user = await gym.get(User, key) if key else None
        if user is not None:
            return domain_of(user.email)
    return ""


def domain_of(email: str) -> str:
    """The domain of an email address."""
    return email.rpartition("@")[2].lower()


async def grantee_domain(gym: Gym, row: Permission | DriveMembership) -> str | None:
    """Mail domain of whom a permission is for; None for everybody."""
    if row.type == "anyone":
        return None
    if row.domain:
        return row.domain.lower()
    user = await gym.get(User, row.user_id) if row.user_id else None
    group = await gym.get(Group, row.group_id) if row.group_id else None
    email = row.email_address if isinstance(row, Permission) else None
    return domain_of(user.email if user else group.email if group else email or "")


async def outsiders(gym: Gym, rows: Sequence[Permission | DriveMembership], company: str) -> list[str]:
    """Ids of the permissions that reach beyond a mail domain."""
    return [row.id for row in rows if await grantee_domain(gym, row) != company]
