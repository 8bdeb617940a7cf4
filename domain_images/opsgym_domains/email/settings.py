"""Settings of a mailbox: automatic forwarding, IMAP, language, POP and the automatic reply.

Invariant: a mailbox has at most one row of each kind of settings; the first update adds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from opsgym_domains.email.mailbox import forwarding_address, mailbox_of
from opsgym_domains.email.mime import milliseconds, time_of
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import (
    AutoForwarding,
    ImapSettings,
    LanguageSettings,
    PopSettings,
    User,
    VacationSettings,
)
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

S = TypeVar("S", AutoForwarding, ImapSettings, LanguageSettings, PopSettings, VacationSettings)


# --- automatic forwarding --------------------------------------------------------------------------------------------


@tool(row=AutoForwarding)
async def get_auto_forwarding(gym: Gym, user_id: str) -> Resource:
    """Get whether and to where the new messages of a mailbox are forwarded.

    Without a setting nothing is forwarded: enabled is false.
    """
    return _forwarding(await _setting(gym, AutoForwarding, await mailbox_of(gym, user_id)))


@tool(changes=AutoForwarding)
async def update_auto_forwarding(gym: Gym, user_id: str, **fields: Any) -> Resource:
    """Set whether and to where the new messages of a mailbox are forwarded.

    To enable it, emailAddress must be a verified forwarding address of the mailbox (FORWARDING_ADDRESS_NOT_VERIFIED).
    Returns the setting.
    """
    mailbox = await mailbox_of(gym, user_id)
    if fields.get("enabled"):
        await refuse_unverified(gym, mailbox, fields.get("email_address"), "emailAddress")
    return _forwarding(await _save(gym, AutoForwarding, mailbox, fields))


async def refuse_unverified(gym: Gym, mailbox: User, address: str | None, field: str) -> None:
    """Refuses an address that is not a verified forwarding address of a mailbox.

    Raises:
        ToolError: `FORWARDING_ADDRESS_NOT_VERIFIED`.
    """
    verified = await forwarding_address(gym, mailbox, address or "")
    if verified is None or verified.verification_status != "accepted":
        raise ToolError("FORWARDING_ADDRESS_NOT_VERIFIED", f"Unrecognized forwarding address: {address or ''}", field)


def _forwarding(setting: AutoForwarding | None) -> Resource:
    if setting is None or not setting.enabled:
        return {"enabled": False}
    return {"enabled": True, "emailAddress": setting.email_address, "disposition": setting.disposition}


# --- IMAP, POP, language ---------------------------------------------------------------------------------------------


@tool(row=ImapSettings)
async def get_imap_settings(gym: Gym, user_id: str) -> Resource:
    """Get whether and how a mailbox can be read by IMAP.

    Without a setting IMAP is enabled.
    """
    return _imap(await _setting(gym, ImapSettings, await mailbox_of(gym, user_id)))


@tool(changes=ImapSettings)
async def update_imap_settings(gym: Gym, user_id: str, max_folder_size: str, **fields: Any) -> Resource:
    """Set whether and how a mailbox can be read by IMAP.

    expungeBehavior counts only if autoExpunge is false. Returns the setting.
    """
    given = {**fields, "max_folder_size": int(max_folder_size)}
    return _imap(await _save(gym, ImapSettings, await mailbox_of(gym, user_id), given))


def _imap(setting: ImapSettings | None) -> Resource:
    if setting is None:
        return {"enabled": True, "autoExpunge": True, "expungeBehavior": "archive", "maxFolderSize": 0}
    return {
        "enabled": bool(setting.enabled),
        "autoExpunge": bool(setting.auto_expunge),
        "expungeBehavior": setting.expunge_behavior,
        "maxFolderSize": setting.max_folder_size or 0,
    }


@tool(row=PopSettings)
async def get_pop_settings(gym: Gym, user_id: str) -> Resource:
    """Get which messages of a mailbox can be read by POP.

    Without a setting POP is disabled.
    """
    return _pop(await _setting(gym, PopSettings, await mailbox_of(gym, user_id)))


@tool(changes=PopSettings)
async def update_pop_settings(gym: Gym, user_id: str, **fields: Any) -> Resource:
    """Set which messages of a mailbox can be read by POP, and what happens to them then.

    Returns the setting.
    """
    return _pop(await _save(gym, PopSettings, await mailbox_of(gym, user_id), fields))


def _pop(setting: PopSettings | None) -> Resource:
    if setting is None:
        return {"accessWindow": "disabled", "disposition": "leaveInInbox"}
    return {"accessWindow": setting.access_window, "disposition": setting.disposition}


@tool(row=LanguageSettings)
async def get_language_settings(gym: Gym, user_id: str) -> Resource:
    """Get the language of a mailbox.

    Without a setting it is en.
    """
    setting = await _setting(gym, LanguageSettings, await mailbox_of(gym, user_id))
    return {"displayLanguage": "en" if setting is None else setting.display_language}


@tool(changes=LanguageSettings)
async def update_language_settings(gym: Gym, user_id: str, **fields: Any) -> Resource:
    """Set the language of a mailbox.

    The texts of messages do not change. Returns the setting.
    """
    setting = await _save(gym, LanguageSettings, await mailbox_of(gym, user_id), fields)
    return {"displayLanguage": setting.display_language}


# --- the automatic reply ---------------------------------------------------------------------------------------------


@tool(row=VacationSettings)
async def get_vacation_settings(gym: Gym, user_id: str) -> Resource:
    """Get the automatic reply of a mailbox.

    Without a setting there is none: enableAutoReply is false.
    """
    return _vacation(await _setting(gym, VacationSettings, await mailbox_of(gym, user_id)))


@tool(changes=VacationSettings)
async def update_vacation_settings(gym: Gym, user_id: str, **fields: Any) -> Resource:
    """Set the automatic reply of a mailbox, its text, and when and to whom it is sent.

    To enable it, give a subject or a text (RESPONSE_MISSING); startTime must be before endTime (INVALID_PERIOD).
    Returns the setting.
    """
    texts = ("response_subject", "response_body_plain_text", "response_body_html")
    if fields.get("enable_auto_reply") and not any(str(fields.get(name) or "").strip() for name in texts):
        raise ToolError("RESPONSE_MISSING", "give responseSubject or a response body", "responseSubject")
    times = {name: _time(fields[name]) for name in ("start_time", "end_time") if fields.get(name)}
    setting = await _save(gym, VacationSettings, await mailbox_of(gym, user_id), {**fields, **times})
    if setting.start_time is not None and setting.end_time is not None and setting.start_time >= setting.end_time:
        raise ToolError("INVALID_PERIOD", "startTime must be before endTime", "endTime")
    return _vacation(setting)


def _time(text: str) -> str:
    """A time that a call gives in milliseconds since 1970, as the API takes it, or in another usual form."""
    return time_of(text).isoformat() if re.fullmatch(r"\d{1,14}", text) else text


def _vacation(setting: VacationSettings | None) -> Resource:
    if setting is None:
        return {"enableAutoReply": False, "restrictToContacts": False, "restrictToDomain": False}
    shown: Resource = {
        "enableAutoReply": bool(setting.enable_auto_reply),
        "responseSubject": setting.response_subject or "",
        "responseBodyPlainText": setting.response_body_plain_text or "",
        "responseBodyHtml": setting.response_body_html or "",
        "restrictToContacts": bool(setting.restrict_to_contacts),
        "restrictToDomain": bool(setting.restrict_to_domain),
    }
    times = {"startTime": setting.start_time, "endTime": setting.end_time}
    return shown | {name: milliseconds(time) for name, time in times.items() if time is not None}


# --- rows ------------------------------------------------------------------------------------------------------------


async def _setting(gym: Gym, kind: type[S], mailbox: User) -> S | None:
    return await gym.find(kind, user_id=mailbox.id)


async def _save(gym: Gym, kind: type[S], mailbox: User, fields: Mapping[str, Any]) -> S:
    setting = await _setting(gym, kind, mailbox)
    if setting is None:
        return await gym.insert(kind(**fields, user_id=mailbox.id))
    return await gym.update(setting, fields)
