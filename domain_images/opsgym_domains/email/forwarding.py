"""Forwarding addresses: where messages of a mailbox may be forwarded to."""

from __future__ import annotations

from opsgym_domains.email.mailbox import forwarding_address, mailbox_of, not_found
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import AutoForwarding, ForwardingAddress, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(row=ForwardingAddress)
async def list_forwarding_addresses(gym: Gym, user_id: str) -> Resource:
    """List the forwarding addresses of a mailbox, verified or not.

    Returns `forwardingAddresses`, each with its verification status.
    """
    mailbox = await mailbox_of(gym, user_id)
    addresses = await gym.all(ForwardingAddress, ForwardingAddress.user_id == mailbox.id)
    return {"forwardingAddresses": [_resource(address) for address in addresses]}


@tool(row=ForwardingAddress)
async def get_forwarding_address(gym: Gym, user_id: str, forwarding_email: str) -> Resource:
    """Get a forwarding address of a mailbox and its verification status.

    Refused (NOT_FOUND) if the mailbox does not have it.
    """
    return _resource(await _owned(gym, await mailbox_of(gym, user_id), forwarding_email))


@tool(adds=ForwardingAddress)
async def create_forwarding_address(gym: Gym, user_id: str, forwarding_email: str) -> Resource:
    """Add a forwarding address to a mailbox.

    An address of the mailbox' own domain is verified at once, any other one is pending. Refused if the mailbox has it
    already (FORWARDING_ADDRESS_EXISTS). Returns the address.
    """
    mailbox = await mailbox_of(gym, user_id)
    if await forwarding_address(gym, mailbox, forwarding_email) is not None:
        raise ToolError("FORWARDING_ADDRESS_EXISTS", "Forwarding address already exists", "forwardingEmail")
    own = forwarding_email.partition("@")[2].lower() == mailbox.primary_email.partition("@")[2].lower()
    return _resource(
        await gym.insert(
            ForwardingAddress(
                user_id=mailbox.id,
                forwarding_email=forwarding_email,
                verification_status="accepted" if own else "pending",
            )
        )
    )


@tool(removes=ForwardingAddress)
async def delete_forwarding_address(gym: Gym, user_id: str, forwarding_email: str) -> None:
    """Remove a forwarding address from a mailbox.

    Refused while automatic forwarding uses it (FORWARDING_ADDRESS_IN_USE). Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    address = await _owned(gym, mailbox, forwarding_email)
    setting = await gym.find(AutoForwarding, user_id=mailbox.id, enabled=True)
    if setting is not None and (setting.email_address or "").lower() == address.forwarding_email.lower():
        raise ToolError(
            "FORWARDING_ADDRESS_IN_USE", "disable automatic forwarding to the address first", "forwardingEmail"
        )
    await gym.delete([address])


async def _owned(gym: Gym, mailbox: User, email: str) -> ForwardingAddress:
    address = await forwarding_address(gym, mailbox, email)
    if address is None:
        raise not_found()
    return address


def _resource(address: ForwardingAddress) -> Resource:
    return {"forwardingEmail": address.forwarding_email, "verificationStatus": address.verification_status}
