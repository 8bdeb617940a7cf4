"""What time does to mailboxes by itself.

Invariant: all of it is a rule of the policy: TIM-1 and TIM-2. What was due before the clock's earlier time stays as it
is. An automatic reply needs nothing: whether it is sent is decided when a message arrives.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, cast

from opsgym_domains.email.mime import milliseconds
from opsgym_domains.email.search import HIDDEN, has_label
from opsgym_domains.email.storage import remove
from opsgym_domains.email.tables import Delegate, Message, User, WatchSubscription
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.passing import Deadline

EMPTIED_AFTER = timedelta(days=30)
"""How long a message stays in TRASH or SPAM after its last change. Source: Gmail's help, "Delete or recover"."""
INVITED_FOR = timedelta(days=7)
"""How long a delegate can accept. Source: users.settings.delegates of the Gmail API."""

DEADLINES = (
    Deadline(
        Delegate,
        where={"verification_status": "pending"},
        since="created_at",
        after=INVITED_FOR,
        changes={"verification_status": "expired"},
    ),
)


async def expire(gym: Gym, before: datetime, after: datetime) -> None:
    """Deletes messages that have been in TRASH or SPAM for 30 days, and ends watches, between two times."""
    changed_between = (Message.updated_at > before - EMPTIED_AFTER, Message.updated_at <= after - EMPTIED_AFTER)
    by_owner: dict[str, list[Message]] = defaultdict(list)
    for message in await gym.all(Message, has_label(*HIDDEN), *changed_between):
        by_owner[message.user_id].append(message)
    for owner, messages in by_owner.items():
        await remove(gym.at(after), await gym.fetch(User, owner), messages)
    ends = cast(WatchSubscription.expiration, BigInteger)
    passed = (ends > int(milliseconds(before)), ends <= int(milliseconds(after)))
    for watch in await gym.all(WatchSubscription, WatchSubscription.is_active.is_(True), *passed):
        await gym.at(after).update(watch, {"is_active": False})
