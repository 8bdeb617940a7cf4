"""Send-as aliases: the addresses from which a mailbox sends.

Invariant: a mailbox has one default alias. The primary address is verified and cannot be deleted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import func

from opsgym_domains.email.mailbox import mailbox_of, not_found
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import SendAsAlias, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ADDRESS = {"sendAsEmail": "Address of the alias", "verificationStatus": "Has no effect: verify_send_as_alias sets it"}
VALID_FOR = timedelta(days=7)
"""How long the token of a verification is valid."""


@tool(row=SendAsAlias)
async def list_send_as_aliases(gym: Gym, user_id: str) -> Resource:
    """List the addresses from which a mailbox sends: the primary one and its aliases.

    Returns `sendAs`, each with its verification status.
    """
    mailbox = await mailbox_of(gym, user_id)
    aliases = await gym.all(SendAsAlias, SendAsAlias.user_id == mailbox.id)
    return {"sendAs": [_resource(alias) for alias in aliases]}


@tool(row=SendAsAlias, words=ADDRESS)
async def get_send_as_alias(gym: Gym, user_id: str, send_as_email: str) -> Resource:
    """Get a send-as alias.

    Refused (NOT_FOUND) if the mailbox does not have it.
    """
    return _resource(await owned_alias(gym, await mailbox_of(gym, user_id), send_as_email))


@tool(adds=SendAsAlias, words=ADDRESS)
async def create_send_as_alias(
    gym: Gym,
    send_as_email: str,
    user_id: str | None = None,
    smtp_msa: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Resource:
    """Add an address from which a mailbox may send.

    It is pending until verify_send_as_alias. Refused if the mailbox has it already (ALIAS_EXISTS). Returns the alias.
    """
    mailbox = await mailbox_of(gym, user_id)
    if await _alias(gym, mailbox, send_as_email) is not None:
        raise ToolError("ALIAS_EXISTS", "Send-as alias already exists", "sendAsEmail")
    if fields.get("is_default"):
        await _unset_default(gym, mailbox)
    token = hashlib.sha256(f"{mailbox.id}:{send_as_email}".encode()).hexdigest()[:32]
    alias = SendAsAlias(
        **{"treat_as_alias": True, "is_default": False, **fields},
        user_id=mailbox.id,
        send_as_email=send_as_email,
        is_primary=False,
        smtp_msa=_stored_server(smtp_msa),
        verification_status="pending",
        verification_token=token,
        verification_token_expires=gym.now() + VALID_FOR,
    )
    return _resource(await gym.insert(alias))


@tool(changes=SendAsAlias, words=ADDRESS)
async def patch_send_as_alias(gym: Gym, user_id: str, send_as_email: str, **fields: Any) -> Resource:
    """Change fields of a send-as alias. Fields that are not given keep their value.

    isDefault true makes it the default instead of another one; false is refused for the default (DEFAULT_NEEDED).
    Returns the alias.
    """
    return await _change(gym, user_id, send_as_email, fields)


@tool(changes=SendAsAlias, words=ADDRESS)
async def update_send_as_alias(gym: Gym, user_id: str, send_as_email: str, **fields: Any) -> Resource:
    """Replace the fields of a send-as alias.

    isDefault true makes it the default instead of another one; false is refused for the default (DEFAULT_NEEDED).
    Returns the alias.
    """
    return await _change(gym, user_id, send_as_email, fields)


@tool(changes=SendAsAlias, words=ADDRESS)
async def verify_send_as_alias(gym: Gym, user_id: str, send_as_email: str) -> Resource:
    """Verify a send-as alias, as its owner does with the message that the address gets.

    Refused if it is not pending (NOT_PENDING). Returns the alias.
    """
    alias = await owned_alias(gym, await mailbox_of(gym, user_id), send_as_email)
    if alias.verification_status != "pending":
        raise ToolError("NOT_PENDING", f"the verification of {send_as_email} is {alias.verification_status}")
    verified = {"verification_status": "accepted", "verification_token": None, "verification_token_expires": None}
    return _resource(await gym.update(alias, verified))


@tool(removes=SendAsAlias, words=ADDRESS)
async def delete_send_as_alias(gym: Gym, user_id: str, send_as_email: str) -> None:
    """Delete a send-as alias and its certificates.

    The primary address cannot be deleted (PRIMARY_ALIAS). If the alias is the default, the primary address becomes it.
    Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    alias = await owned_alias(gym, mailbox, send_as_email)
    if alias.is_primary:
        raise ToolError("PRIMARY_ALIAS", "the primary address cannot be deleted", "sendAsEmail")
    await gym.delete([alias])
    primary = await gym.find(SendAsAlias, user_id=mailbox.id, is_primary=True)
    if alias.is_default and primary is not None:
        await gym.update(primary, {"is_default": True})


async def owned_alias(gym: Gym, mailbox: User, address: str) -> SendAsAlias:
    """A send-as alias of a mailbox.

    Raises:
        ToolError: `NOT_FOUND`.
    """
    alias = await _alias(gym, mailbox, address)
    if alias is None:
        raise not_found()
    return alias


async def _alias(gym: Gym, mailbox: User, address: str) -> SendAsAlias | None:
    return await gym.first(
        SendAsAlias,
        SendAsAlias.user_id == mailbox.id,
        func.lower(SendAsAlias.send_as_email) == address.strip().lower(),
    )


async def _change(gym: Gym, user_id: str, address: str, fields: dict[str, Any]) -> Resource:
    mailbox = await mailbox_of(gym, user_id)
    alias = await owned_alias(gym, mailbox, address)
    fields.pop("verification_status", None)
    if "smtp_msa" in fields:
        fields["smtp_msa"] = _stored_server(fields["smtp_msa"])
    if fields.get("is_default") and not alias.is_default:
        await _unset_default(gym, mailbox)
    elif fields.get("is_default") is False and alias.is_default:
        raise ToolError("DEFAULT_NEEDED", "make another alias the default instead", "isDefault")
    return _resource(await gym.update(alias, fields))


async def _unset_default(gym: Gym, mailbox: User) -> None:
    for alias in await gym.all(SendAsAlias, SendAsAlias.user_id == mailbox.id, SendAsAlias.is_default.is_(True)):
        await gym.update(alias, {"is_default": False})


def _stored_server(server: Mapping[str, Any] | None) -> str | None:
    """The server of an alias as JSON; its password is replaced, since nothing ever needs it."""
    if not server:
        return None
    stored = dict(server)
    if stored.get("password"):
        stored["password"] = f"enc_{hashlib.sha256(str(stored['password']).encode()).hexdigest()[:24]}"
    return json.dumps(stored)


def _resource(alias: SendAsAlias) -> Resource:
    shown: Resource = {
        "sendAsEmail": alias.send_as_email,
        "displayName": alias.display_name or "",
        "replyToAddress": alias.reply_to_address or "",
        "signature": alias.signature or "",
        "isPrimary": bool(alias.is_primary),
        "isDefault": bool(alias.is_default),
        "treatAsAlias": bool(alias.treat_as_alias),
    }
    if alias.smtp_msa:
        server = json.loads(alias.smtp_msa)
        shown["smtpMsa"] = {name: server.get(name) for name in ("host", "port", "securityMode")}
    return shown | {"verificationStatus": alias.verification_status}
