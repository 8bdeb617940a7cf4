"""What others see of users."""

from __future__ import annotations

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, dumped
from opsgym_domains.teams.people import user_of
from opsgym_domains.teams.tables import Presence
from opsgym_domains.teams.toolbox import tool

OK = 200
"""What the published tool returns: the status of an answer without content."""


@tool(changes=Presence)
async def set_user_status_message(gym: Gym, user_id: str, status_message: Shown) -> int:
    """Set the status message that others see of a user.

    Replaces the former message and returns 200. Refused for an unknown user (USER_NOT_FOUND).
    """
    user = await user_of(gym, user_id, "user_id")
    message = dumped(status_message)
    presence = await gym.find(Presence, user_id=user.user_id)
    if presence is None:
        await gym.insert(Presence(user_id=user.user_id, status_message=message))
    else:
        await gym.update(presence, {"status_message": message})
    return OK
