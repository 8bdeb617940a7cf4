"""Delegates: users who may act in the mailbox of another one."""

from __future__ import annotations

from sqlalchemy import func

from opsgym_domains.email.mailbox import mailbox_of, not_found
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import Delegate, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(row=Delegate)
async def email_list_delegates(gym: Gym, user_id: str) -> Resource:
    """List the delegates of a mailbox, whatever their verification status.

    Returns `delegates`.
    """
    mailbox = await mailbox_of(gym, user_id)
    delegates = await gym.all(Delegate, Delegate.user_id == mailbox.id)
    return {"delegates": [_resource(delegate) for delegate in delegates]}


@tool(row=Delegate)
async def email_get_delegate(gym: Gym, user_id: str, delegate_email: str) -> Resource:
    """Get a delegate of a mailbox and the verification status.

    Refused (NOT_FOUND) if the address is not that of a delegate.
    """
    return _resource(await _owned(gym, await mailbox_of(gym, user_id), delegate_email))


@tool(adds=Delegate)
async def email_create_delegate(gym: Gym, user_id: str, delegate_email: str) -> Resource:
    """Let another user act in a mailbox, at once.

    The address must be the primary one of a user (INVALID_DELEGATE), and not that of a delegate already
    (DELEGATE_EXISTS). Returns the delegate.
    """
    mailbox = await mailbox_of(gym, user_id)
    user = await gym.first(User, func.lower(User.primary_email) == delegate_email.strip().lower())
    if user is None or user is mailbox:
        raise ToolError("INVALID_DELEGATE", f"Invalid delegate: {delegate_email}", "delegateEmail")
    if await gym.exists(Delegate, user_id=mailbox.id, delegate_email=user.primary_email):
        raise ToolError("DELEGATE_EXISTS", "Delegate already exists", "delegateEmail")
    delegate = Delegate(user_id=mailbox.id, delegate_email=user.primary_email, verification_status="accepted")
    return _resource(await gym.insert(delegate))


@tool(removes=Delegate)
async def email_delete_delegate(gym: Gym, user_id: str, delegate_email: str) -> None:
    """End the access of a delegate to a mailbox.

    Refused (NOT_FOUND) if the address is not that of a delegate. Returns nothing.
    """
    await gym.delete([await _owned(gym, await mailbox_of(gym, user_id), delegate_email)])


async def _owned(gym: Gym, mailbox: User, email: str) -> Delegate:
    delegate = await gym.first(
        Delegate, Delegate.user_id == mailbox.id, func.lower(Delegate.delegate_email) == email.strip().lower()
    )
    if delegate is None:
        raise not_found()
    return delegate


def _resource(delegate: Delegate) -> Resource:
    return {"delegateEmail": delegate.delegate_email, "verificationStatus": delegate.verification_status}
