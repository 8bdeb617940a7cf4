"""Users of the directory."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.pages import LAST_OFFSET
from opsgym_domains.teams.graph import Shown, context, filters, loaded, next_link, picked, shown_time, stored
from opsgym_domains.teams.odata import Columns, parse_order, parse_select
from opsgym_domains.teams.people import user_of
from opsgym_domains.teams.tables import User
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": User.user_id,
    "userPrincipalName": User.user_principal_name,
    "displayName": User.display_name,
    "accountEnabled": User.account_enabled,
    "givenName": User.given_name,
    "surname": User.surname,
    "jobTitle": User.job_title,
    "mail": User.mail,
    "mailNickname": User.mail_nickname,
    "mobilePhone": User.mobile_phone,
    "officeLocation": User.office_location,
    "preferredLanguage": User.preferred_language,
    "department": User.department,
    "companyName": User.company_name,
    "usageLocation": User.usage_location,
    "city": User.city,
    "state": User.state,
    "country": User.country,
    "streetAddress": User.street_address,
    "postalCode": User.postal_code,
    "employeeId": User.employee_id,
    "employeeType": User.employee_type,
    "userType": User.user_type,
    "onPremisesSyncEnabled": User.on_premises_sync_enabled,
    "mySite": User.my_site,
    "preferredName": User.preferred_name,
    "ageGroup": User.age_group,
    "isResourceAccount": User.is_resource_account,
    "employeeHireDate": User.employee_hire_date,
    "birthday": User.birthday,
    "createdDateTime": User.created_at,
}
"""Column by property that users can be filtered and sorted by."""


def shown_user(user: User) -> Shown:
    """A user as the directory shows it."""
    return {
        "@odata.context": context("users/$entity"),
        "id": user.user_id,
        "userPrincipalName": user.user_principal_name,
        "displayName": user.display_name,
        "accountEnabled": user.account_enabled,
        "givenName": user.given_name,
        "surname": user.surname,
        "jobTitle": user.job_title,
        "mail": user.mail,
        "mailNickname": user.mail_nickname,
        "businessPhones": loaded(user.business_phones),
        "mobilePhone": user.mobile_phone,
        "officeLocation": user.office_location,
        "preferredLanguage": user.preferred_language,
        "department": user.department,
        "companyName": user.company_name,
        "usageLocation": user.usage_location,
        "city": user.city,
        "state": user.state,
        "country": user.country,
        "streetAddress": user.street_address,
        "postalCode": user.postal_code,
        "employeeId": user.employee_id,
        "employeeType": user.employee_type,
        "userType": user.user_type,
        "employeeHireDate": shown_time(user.employee_hire_date),
        "otherMails": loaded(user.other_mails),
        "onPremisesSyncEnabled": user.on_premises_sync_enabled,
        "identities": None,
        "passwordPolicies": None,
        "aboutMe": user.about_me,
        "birthday": shown_time(user.birthday),
        "interests": loaded(user.interests),
        "skills": loaded(user.skills),
        "mySite": user.my_site,
        "preferredName": user.preferred_name,
        "faxNumber": user.fax_number,
        "ageGroup": user.age_group,
        "lastPasswordChangeDateTime": None,
        "isResourceAccount": user.is_resource_account,
        "pastProjects": loaded(user.past_projects),
        "responsibilities": loaded(user.responsibilities),
        "schools": loaded(user.schools),
        "employeeOrgData": loaded(user.employee_org_data),
        "orgId": user.org_id,
        "createdDateTime": shown_time(user.created_at, ""),
        "lastModifiedDateTime": shown_time(user.updated_at, ""),
        "softDeleted": bool(user.soft_deleted),
    }


PROPERTIES = tuple(name for name in shown_user(User()) if not name.startswith("@"))
"""Properties of a user."""


@tool(row=User)
async def list_users(
    gym: Gym,
    top: int = 100,
    skip: int = 0,
    filter: str | None = None,  # noqa: A002 - published name
    orderby: str | None = None,
    select: str | None = None,
    count: bool = False,
) -> Shown:
    """List the users of your organisation.

    In the order of their user principal names unless _orderby says otherwise. Deleted users are left out. Further
    pages are at @odata.nextLink: pass its $skip. Refused with INVALID_FILTER or UNKNOWN_PROPERTY where an option cannot
    be read.
    """
    names = parse_select(select, PROPERTIES)
    order = [*parse_order(orderby, COLUMNS), User.user_principal_name.asc()]
    page, total = await gym.page(User, filters(filter, COLUMNS), order, min(skip, LAST_OFFSET), top)
    listed: Shown = {
        "@odata.context": context("users"),
        "value": [picked(shown_user(user), names) for user in page],
    }
    if count:
        listed["@odata.count"] = total
    if skip + top < total:
        given = {"filter": filter, "orderby": orderby, "select": select, "count": count}
        listed["@odata.nextLink"] = next_link("users", {"top": top, "skip": skip + top, **given})
    return listed


@tool(adds=User)
async def create_user(gym: Gym, user_principal_name: str, password_profile: Shown, **fields: Any) -> Shown:
    """Create a user account in your organisation.

    Returns the new user with a generated id. The password is not kept. Refused if another user has the name
    (DUPLICATE_USER_PRINCIPAL_NAME).
    """
    del password_profile  # passwords are not stored
    await _refuse_taken_name(gym, user_principal_name)
    user = await gym.insert(User(user_principal_name=user_principal_name, **stored(fields)))
    return shown_user(user)


async def _refuse_taken_name(gym: Gym, name: str) -> None:
    if await gym.first(User, func.lower(User.user_principal_name) == name.lower()) is not None:
        message = "Another object with the same value for property userPrincipalName already exists."
        raise ToolError("DUPLICATE_USER_PRINCIPAL_NAME", message, "userPrincipalName")


@tool(row=User)
async def get_user(
    gym: Gym, user_id: str | None = None, user_principal_name: str | None = None, select: str | None = None
) -> Shown:
    """Read one user, by id or by user principal name.

    Returns all properties unless _select names some. Refused if no user is named (MISSING_IDENTIFIER) or none is found
    (USER_NOT_FOUND).
    """
    names = parse_select(select, PROPERTIES)
    return picked(shown_user(await _named(gym, user_id, user_principal_name)), names)


@tool(changes=User)
async def update_user(
    gym: Gym, user_id: str | None = None, user_principal_name: str | None = None, **fields: Any
) -> Shown:
    """Change properties of a user, who is named by id or by user principal name.

    Properties that are not given keep their value; the user principal name cannot be changed. Returns the whole user.
    Refused without a property to change (NO_FIELDS_TO_UPDATE).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give at least one property to change besides the user.")
    user = await _named(gym, user_id, user_principal_name)
    return shown_user(await gym.update(user, stored(fields)))


@tool(changes=User)
async def delete_user(gym: Gym, user_id: str | None = None, user_principal_name: str | None = None) -> None:
    """Delete a user account, which is named by id or by user principal name.

    The user no longer shows and cannot act; messages and memberships stay. Refused if no user is found
    (USER_NOT_FOUND).
    """
    user = await _named(gym, user_id, user_principal_name)
    await gym.update(user, {"soft_deleted": True})


async def _named(gym: Gym, user_id: str | None, name: str | None) -> User:
    """The user that an id or a user principal name names; the id counts if both are given."""
    key = user_id or name
    if not key:
        raise ToolError("MISSING_IDENTIFIER", "Give userId or userPrincipalName.", "userId")
    return await user_of(gym, key, "userId" if user_id else "userPrincipalName")
