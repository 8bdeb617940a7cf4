"""The log of changes: every write of a file, a permission, a comment or a drive adds a change.

Invariant: the order of tokens as text is the order of changes. `change_tokens` has the newest token of all changes, of
each shared drive and of each acting user.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func

from opsgym_domains.drive.forms import milliseconds
from opsgym_domains.drive.tables import Change, ChangeToken, File, SharedDrive
from opsgym_domains.kit.gym import SYSTEM, Gym
from opsgym_domains.kit.identifiers import in_base_32

START = "0" * 26
"""Token before all changes."""
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


async def record_file(gym: Gym, kind: str, file: File, *, removed: bool = False, **payload: Any) -> None:
    """Adds a change of a file, with the shared drive that it is in, so that a change of a deleted file can be found.

    Args:
        gym: The call.
        kind: Type of the change, for instance `file_updated`.
        file: The file.
        removed: Whether the file is gone.
        payload: What else the change states.
    """
    if file.drive_id:
        payload["drive_id"] = file.drive_id
    await _record(gym, kind, payload, file_id=file.id, drive=file.drive_id, removed=removed)


async def record_drive(gym: Gym, kind: str, drive: SharedDrive, *, removed: bool = False, **payload: Any) -> None:
    """Adds a change of a shared drive; arguments as for `record_file`."""
    await _record(gym, kind, {"drive_name": drive.name, **payload}, drive=drive.id, removed=removed)


async def is_recorded(gym: Gym, kind: str, **payload: str) -> bool:
    """Whether a change of a type states a text."""
    stated = json.dumps(payload, ensure_ascii=False)[1:-1]
    return await gym.first(Change, Change.change_type == kind, func.strpos(Change.payload, stated) > 0) is not None


async def _record(
    gym: Gym, kind: str, payload: dict[str, Any], *, drive: str | None, removed: bool, file_id: str | None = None
) -> None:
    token = next_token(await newest(gym), milliseconds(gym.now()))
    change = Change(
        token=token,
        change_time=gym.now(),
        file_id=file_id,
        drive_id=None if file_id else drive,
        change_type=kind,
        payload=json.dumps({"actor_id": str(gym.actor.user_id), **payload}, ensure_ascii=False),
        removed=removed,
    )
    await gym.insert(change)
    user = () if gym.actor is SYSTEM else (f"user:{gym.actor.user_id}",)
    for scope in ("global", *user, *([f"drive:{drive}"] if drive else ())):
        row = await gym.get(ChangeToken, scope)
        if row is None:
            await gym.insert(ChangeToken(scope=scope, last_token=token))
        else:
            await gym.update(row, {"last_token": token})


async def newest(gym: Gym) -> str:
    """Token of the newest change; `START` if there is none."""
    return str(await gym.measure(Change, func.max(Change.token)) or START)


def next_token(last: str, now: int) -> str:
    """The token of a new change: a ULID of the time, or what follows the last token if that is later.

    Args:
        last: Token of the newest change.
        now: Current time in milliseconds since 1970.
    """
    return max(f"{in_base_32(max(now, 0), 10)}{'0' * 16}", _after(last))


def _after(token: str) -> str:
    """A text that sorts right after a token of the same length, if there is one."""
    for place in reversed(range(len(token))):
        digit = _DIGITS.find(token[place])
        if digit < 0:
            break
        if digit < len(_DIGITS) - 1:
            return f"{token[:place]}{_DIGITS[digit + 1]}{'0' * (len(token) - place - 1)}"
    return f"{token}0"
