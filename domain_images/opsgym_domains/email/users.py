"""Users: the profile of a mailbox, and subscriptions to its changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from opsgym_domains.email.mailbox import label_named, mailbox_of
from opsgym_domains.email.mime import milliseconds
from opsgym_domains.email.tables import WatchSubscription
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.gym import Gym

VALID_FOR = timedelta(days=7)
"""How long a subscription lasts."""


@tool()
async def get_user_profile(gym: Gym, user_id: str) -> dict[str, Any]:
    """Get the profile of a mailbox.

    Returns its email address, the numbers of messages and threads, and the current history id.
    """
    mailbox = await mailbox_of(gym, user_id)
    return {
        "emailAddress": mailbox.primary_email,
        "messagesTotal": mailbox.messages_total or 0,
        "threadsTotal": mailbox.threads_total or 0,
        "historyId": mailbox.history_id_current,
    }


@tool(
    adds=WatchSubscription,
    words={
        "topicName": "Topic that gets the changes: projects/<project>/topics/<topic>",
        "labelIds": "Labels whose messages are reported: ids, or names of system labels",
    },
)
async def watch_user_mailbox(
    gym: Gym, user_id: str, topic_name: str, label_ids: Sequence[str] = (), label_filter_behavior: str | None = None
) -> dict[str, Any]:
    """Subscribe a topic to the changes of a mailbox, beside the present subscriptions.

    Labels must exist. Nothing is sent to the topic; stop_user_watch ends all subscriptions. Returns the current history
    id and the end of the subscription, which is a week from now.
    """
    mailbox = await mailbox_of(gym, user_id)
    labels = [(await label_named(gym, mailbox, label, add=True)).id for label in label_ids]
    watch = WatchSubscription(
        user_id=mailbox.id,
        topic_name=topic_name,
        label_ids=json.dumps(labels) if labels else None,
        label_filter_behavior=label_filter_behavior or ("include" if labels else None),
        history_id=mailbox.history_id_current,
        expiration=milliseconds(gym.now() + VALID_FOR),
        is_active=True,
    )
    await gym.insert(watch)
    return {"historyId": mailbox.history_id_current, "expiration": watch.expiration}


@tool(changes=WatchSubscription)
async def stop_user_watch(gym: Gym, user_id: str) -> None:
    """End all subscriptions to the changes of a mailbox.

    Returns nothing, also where there is no subscription.
    """
    owner = await mailbox_of(gym, user_id)
    active = (WatchSubscription.user_id == owner.id, WatchSubscription.is_active.is_(True))
    for watch in await gym.all(WatchSubscription, *active):
        await gym.update(watch, {"is_active": False})
