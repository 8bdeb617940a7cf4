"""What time does to Drive by itself.

Invariant: what has been in the trash for 30 days is deleted (RET-5 of the policy), and a channel ends at its
expiration. What was due before the clock's earlier time stays as it is. A file under legal hold or retention stays, and
so does a folder above it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, case, cast

from opsgym_domains.drive.file_changes import delete
from opsgym_domains.drive.forms import milliseconds
from opsgym_domains.drive.governance import held, retained
from opsgym_domains.drive.tables import Channel, File, TrashEntry
from opsgym_domains.kit.gym import Gym

EMPTIED_AFTER = timedelta(days=30)
"""How long a file stays in the trash. Source: Drive's help, "Delete files in Google Drive"."""


async def expire(gym: Gym, before: datetime, after: datetime) -> None:
    """Deletes files that have been in the trash for 30 days, and ends channels, between two times."""
    then = gym.at(after)
    trashed_between = (File.trashed_time > before - EMPTIED_AFTER, File.trashed_time <= after - EMPTIED_AFTER)
    due = await gym.all(File, File.trashed.is_(True), *trashed_between)
    files = [file for file in due if not (await held(then, file.id) or await retained(then, file.id))]
    await then.insert_all([TrashEntry(file_id=file.id, emptied_time=after) for file in files])
    await delete(then, files)
    ends = case((Channel.expiration.regexp_match("^[0-9]{1,18}$"), cast(Channel.expiration, BigInteger)))
    passed = (ends > milliseconds(before), ends <= milliseconds(after))
    for channel in await gym.all(Channel, Channel.active.is_(True), *passed):
        await then.update(channel, {"active": False})
