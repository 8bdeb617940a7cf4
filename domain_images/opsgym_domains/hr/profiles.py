"""HR profiles: employment and personal data of users, from the first day of employment to the last.

Invariant: a user has at most one profile. A manager is given by the id of the manager's profile and stored as a user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.hr.numbering import next_number
from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import HrProfile, User
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym, not_found

IDENTIFIERS = ("hr_profile_id", "number", "user_id", "personal_email")
WORDS = {
    "manager": "Manager, by the id of the manager's HR profile; the user must have the role manager",
    "national_tax_id": "National tax id: its last three digits, for instance 123",
}
IDENTIFYING = {
    "hr_profile_id": "HR profile to change, by its id",
    "number": "HR profile to change, by its number, for instance HR-001",
    "user_id": "HR profile to change, by its user (user id)",
    "personal_email": "HR profile to change, by the personal email address",
}
FILTER_WORDS = {
    "manager": "Include only people of this manager (HR profile id of the manager)",
    "national_tax_id": "National tax id, for instance TAX-001-123",
    "employment_end_date": "Last day of employment: YYYY-MM-DD; null for people without one",
}


# --- reading -------------------------------------------------------------------------------------------------------


@tool(words={"hr_profile_id": "HR profile id"})
async def get_hr_profile_by_id(gym: Gym, hr_profile_id: str) -> HrProfile:
    """Look up one HR profile by id.

    Refused (HR_PROFILE_NOT_FOUND) if your organisation has no such profile.
    """
    return await gym.fetch(HrProfile, hr_profile_id)


@tool(words={"personal_email": "Personal email address, in any case"})
async def get_hr_profile_by_personal_email(gym: Gym, personal_email: str) -> HrProfile:
    """Look up one HR profile by the personal email address.

    Refused (HR_PROFILE_NOT_FOUND) if no profile of your organisation has this address.
    """
    return await _with_personal_email(gym, personal_email)


@tool()
async def get_users_hr_profile(gym: Gym, user_id: str) -> HrProfile:
    """Look up the HR profile of a user.

    Refused if the user does not exist (USER_NOT_FOUND) or has no profile (HR_PROFILE_NOT_FOUND).
    """
    user = await gym.fetch(User, user_id)
    return await gym.fetch_by(HrProfile, user_id=user.user_id)


@tool()
async def fetch_hr_profile_by_number(gym: Gym, number: str) -> HrProfile:
    """Look up one HR profile by its number.

    Refused (HR_PROFILE_NOT_FOUND) if no profile of your organisation has this number.
    """
    return await gym.fetch_by(HrProfile, number=number)


@tool(words=FILTER_WORDS)
async def fetch_hr_profiles(gym: Gym, **filters: Any) -> Sequence[HrProfile]:
    """List HR profiles, lowest id first, optionally filtered.

    Filters are combined with AND and match exactly; without filters, every profile is returned.
    """
    return await _matching(gym, filters)


# --- writing -------------------------------------------------------------------------------------------------------


@tool(adds=HrProfile, words=WORDS)
async def onboard_new_hr_profile(gym: Gym, user_id: str, national_tax_id: str, **fields: Any) -> HrProfile:
    """Create the HR profile of a user.

    Id, number and full tax id are generated. The user must exist and have no profile yet (DUPLICATE_PROFILE); personal
    email address and tax id must be unique (DUPLICATE_PERSONAL_EMAIL, DUPLICATE_NATIONAL_TAX_ID). Returns the profile.
    """
    user = await gym.fetch(User, user_id)
    profile = HrProfile(
        **await _with_manager(gym, fields, user.user_id),
        user_id=user.user_id,
        number=await next_number(gym, HrProfile.number, "HR-", 3),
        national_tax_id=_tax_id(gym, national_tax_id),
    )
    return await gym.insert(profile)


@tool(
    changes=HrProfile,
    words=WORDS
    | IDENTIFYING
    | {"personal_email": "Personal email address: a new one, or the profile to change if nothing else identifies it"},
)
async def update_hr_profile(gym: Gym, **fields: Any) -> Shown:
    """Update an HR profile. Fields that are not given keep their value.

    Identify the profile by hr_profile_id, number, user_id or personal_email (INVALID_IDENTIFIER otherwise). Personal
    email address and tax id must be unique. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one.
    Returns the profile, and in `changes` the fields that changed.
    """
    identifiers = _identifiers(fields)
    given = changes(fields)
    profile = await _identified(gym, identifiers)
    given = await _with_manager(gym, given, profile.user_id)
    if given.get("national_tax_id"):
        given["national_tax_id"] = _tax_id(gym, given["national_tax_id"])
    return await changed(gym, profile, given)


@tool(changes=HrProfile, words=IDENTIFYING)
async def offboard_hr_profile(gym: Gym, **identifiers: Any) -> HrProfile:
    """End the employment of a person today.

    Identify the profile by hr_profile_id, number, user_id or personal_email (INVALID_IDENTIFIER otherwise). Users
    cannot end their own employment (SELF_OFFBOARDING). A profile whose employment has ended stays as it is. The user
    account, its groups and cases do not change. Returns the profile.
    """
    profile = await _identified(gym, _identifiers(identifiers))
    if profile.user_id == gym.actor.user_id:
        raise ToolError("SELF_OFFBOARDING", "you cannot end your own employment", "hr_profile_id")
    return profile if _has_left(gym, profile) else await gym.update(profile, {"employment_end_date": _today(gym)})


@tool(changes=HrProfile, words=FILTER_WORDS | {"hr_profile_id": "HR profile id"})
async def offboard_hr_profiles(gym: Gym, **filters: Any) -> dict[str, Any]:
    """End the employment of all people who match the filters today.

    Filters are combined with AND and match exactly; at least one is needed (MISSING_FILTER). The acting user, and
    people whose employment has ended, are left out. Returns offboarded_count and the profiles.
    """
    if not filters:
        raise ToolError("MISSING_FILTER", "give at least one filter; ending every employment is not allowed")
    leaving = [
        profile
        for profile in await _matching(gym, filters)
        if profile.user_id != gym.actor.user_id and not _has_left(gym, profile)
    ]
    for profile in leaving:
        await gym.update(profile, {"employment_end_date": _today(gym)})
    return {"offboarded_count": len(leaving), "profiles": leaving}


async def _matching(gym: Gym, filters: dict[str, Any]) -> Sequence[HrProfile]:
    """Profiles that match the filters of a list."""
    conditions: list[ColumnElement[bool]] = []
    if filters.get("employment_end_date") == "null":
        conditions.append(HrProfile.employment_end_date.is_(None))
        del filters["employment_end_date"]
    if "manager" in filters:
        manager = await gym.get(HrProfile, filters.pop("manager"))
        conditions.append(HrProfile.manager == (-1 if manager is None else manager.user_id))
    return await gym.list(HrProfile, filters, *conditions)


def _identifiers(fields: dict[str, Any]) -> dict[str, Any]:
    """Takes the arguments that identify a profile out of `fields`: all of `IDENTIFIERS`, except for a new personal
    address.

    Raises:
        ToolError: `INVALID_IDENTIFIER` without any.
    """
    keys = {name: fields.pop(name) for name in IDENTIFIERS if name in fields}
    if not keys:
        raise ToolError("INVALID_IDENTIFIER", f"identify the HR profile by {', '.join(IDENTIFIERS)}", "hr_profile_id")
    if len(keys) > 1 and "personal_email" in keys:
        fields["personal_email"] = keys.pop("personal_email")
    return keys


async def _identified(gym: Gym, identifiers: Mapping[str, Any]) -> HrProfile:
    """The profile that all identifiers name.

    Raises:
        ToolError: `HR_PROFILE_NOT_FOUND`; `PROFILE_MISMATCH`.
    """
    (name, value), *others = identifiers.items()
    if name == "personal_email":
        return await _with_personal_email(gym, value)
    profiles = await gym.list(HrProfile, {name: value})
    if not profiles:
        raise not_found(HrProfile, value, name)
    for other, expected in others:
        if str(expected).strip() != str(getattr(profiles[0], other)):
            raise ToolError("PROFILE_MISMATCH", f"{name} {value} belongs to another HR profile than {other}", other)
    return profiles[0]


async def _with_personal_email(gym: Gym, address: str) -> HrProfile:
    profile = await gym.first(HrProfile, func.lower(HrProfile.personal_email) == address.strip().lower())
    if profile is None:
        raise not_found(HrProfile, address, "personal_email")
    return profile


async def _with_manager(gym: Gym, fields: dict[str, Any], user_id: int) -> dict[str, Any]:
    """Fields with the manager as a user.

    Raises:
        ToolError: `SELF_REFERENCE`, `INVALID_MANAGER`, or no profile has the id.
    """
    if not fields.get("manager"):
        return fields
    manager = await gym.fetch(HrProfile, fields["manager"], field="manager")
    user = await gym.fetch(User, manager.user_id, field="manager")
    if user.user_id == user_id:
        raise ToolError("SELF_REFERENCE", "a user cannot be their own manager", "manager")
    if user.role != "manager":
        raise ToolError("INVALID_MANAGER", f"user {user.user_id} has the role {user.role}, not manager", "manager")
    return fields | {"manager": user.user_id}


def _tax_id(gym: Gym, digits: str) -> str:
    """The full tax id of three digits.

    Raises:
        ToolError: `INVALID_NATIONAL_TAX_ID`.
    """
    if not re.fullmatch(r"[0-9]{3}", digits.strip()):
        raise ToolError(
            "INVALID_NATIONAL_TAX_ID", "national_tax_id must be three digits, such as 123", "national_tax_id"
        )
    return f"TAX-{int(gym.actor.org_id or 0):03d}-{digits.strip()}"


def _today(gym: Gym) -> datetime:
    return gym.now().replace(hour=0, minute=0, second=0, microsecond=0)


def _has_left(gym: Gym, profile: HrProfile) -> bool:
    end = profile.employment_end_date
    return end is not None and end <= gym.now()
