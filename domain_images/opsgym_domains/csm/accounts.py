"""Accounts (organisations that are customers or partners) and their contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.csm.tables import Account, Contact
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import columns_but

IN_LIST = ("account_id", "name", "email_domain", "account_type", "active", "sys_created_on")


@tool(shows=columns_but(Account, "sys_created_on", "sys_updated_on"), words={"name": "Full name, case-sensitive"})
async def find_account(gym: Gym, name: str) -> Account | None:
    """Look up an account by its exact name.

    Returns an empty object if there is no match.
    """
    return await gym.find(Account, name=name)


@tool(shows=IN_LIST, words={"account_types": "Account types to include; all if omitted or empty"})
async def get_accounts(gym: Gym, account_types: Sequence[str] = (), **filters: Any) -> Sequence[Account]:
    """List accounts, optionally filtered.

    Filters are combined with AND; name and email domain match a part, ignoring case; all other filters match exactly.
    Lowest id first.
    """
    return await gym.list(Account, {"account_type": account_types, **filters})


@tool(adds=Account)
async def create_new_account(gym: Gym, **fields: Any) -> Account:
    """Create an account without contacts.

    The name must be unique (DUPLICATE_ACCOUNT_NAME). Returns the new account.
    """
    return await gym.insert(Account(**fields))


@tool(changes=Account)
async def update_account_details(gym: Gym, account_id: int, **fields: Any) -> Account:
    """Update an account. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Contacts, contracts and cases do not change. Returns the updated
    account.
    """
    return await gym.change(Account, account_id, fields)


# --- contacts --------------------------------------------------------------------------------------------------------


@tool(shows=columns_but(Contact, "is_primary", "sys_created_on", "sys_updated_on"))
async def find_contact_by_portal_user(gym: Gym, portal_user_id: int) -> Contact | None:
    """Look up the contact of a portal user.

    Returns the one with the lowest id if there are several, and an empty object if there is no match.
    """
    return await gym.find(Contact, portal_user_id=portal_user_id)


@tool(shows=columns_but(Contact, "sys_updated_on"))
async def find_contacts(gym: Gym, **filters: Any) -> Sequence[Contact]:
    """List contacts, optionally filtered.

    Filters are combined with AND and match exactly. Lowest id first.
    """
    return await gym.list(Contact, filters)


@tool(adds=Contact)
async def create_contact(gym: Gym, **fields: Any) -> Contact:
    """Create a contact: link a user to an account.

    User and account must exist. An existing primary contact stays primary until you update it. Returns the new contact.
    """
    return await gym.insert(Contact(**fields))


@tool(changes=Contact)
async def update_contact(gym: Gym, contact_id: int, **fields: Any) -> Contact:
    """Update a contact. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Other contacts of the account do not change. Returns the updated
    contact.
    """
    return await gym.change(Contact, contact_id, fields)
