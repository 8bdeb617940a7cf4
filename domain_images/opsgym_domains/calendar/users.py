"""Users and their settings."""

from __future__ import annotations

from typing import Any

from opsgym_domains.calendar.tables import Setting, User
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool()
async def get_user_by_email(gym: Gym, email: str) -> dict[str, Any]:
    """Look up a user by the exact email address.

    Returns the user's id, name, zone and whether the account is active.
    """
    user = await gym.find(User, email=email)
    if user is None:
        raise ToolError("NOT_FOUND", f"User not found with email: {email}", "email")
    return {
        "id": user.user_id,
        "email": user.email,
        "name": user.name,
        "given_name": user.given_name,
        "family_name": user.family_name,
        "picture": user.picture,
        "locale": user.locale,
        "timezone": user.timezone,
        "is_active": user.is_active,
        "is_verified": user.is_verified,
        "provider": user.provider,
        "created_at": user.created_at and user.created_at.isoformat(),
        "updated_at": user.updated_at and user.updated_at.isoformat(),
        "last_login_at": user.last_login_at and user.last_login_at.isoformat(),
    }


@tool()
async def get_settings(gym: Gym, setting_id: str) -> dict[str, Any]:
    """Read one of your settings.

    Returns its value.
    """
    setting = await gym.find(Setting, id=setting_id, user_id=gym.actor.user_id)
    if setting is None:
        message = f"Setting {setting_id} not found for user {gym.actor.user_id}"
        raise ToolError("NOT_FOUND", message, "settingId")
    return _shown(setting)


@tool()
async def list_settings(gym: Gym) -> dict[str, Any]:
    """List all of your settings.

    Returns the value of each.
    """
    settings = await gym.all(Setting, Setting.user_id == gym.actor.user_id)
    return {"etag": "settings-collection-etag", "items": list(map(_shown, settings)), "nextPageToken": None}


def _shown(setting: Setting) -> dict[str, Any]:
    return {"etag": setting.etag, "id": setting.id, "value": setting.value, "user_id": setting.user_id}
