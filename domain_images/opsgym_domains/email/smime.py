"""S/MIME certificates of send-as aliases."""

from __future__ import annotations

import hashlib
from typing import Any

from opsgym_domains.email.mailbox import mailbox_of, not_found
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.send_as import owned_alias
from opsgym_domains.email.tables import SendAsAlias, SmimeInfo
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

WORDS = {"id": "S/MIME config id", "sendAsEmail": "Address of the alias"}


@tool(row=SmimeInfo, words=WORDS)
async def list_smime_configs(gym: Gym, user_id: str, send_as_email: str) -> Resource:
    """List the S/MIME certificates of a send-as alias.

    Returns `smimeInfo`.
    """
    alias = await owned_alias(gym, await mailbox_of(gym, user_id), send_as_email)
    configs = await gym.all(SmimeInfo, SmimeInfo.send_as_alias_id == alias.id)
    return {"smimeInfo": [_resource(config) for config in configs]}


@tool(row=SmimeInfo, words=WORDS)
async def get_smime_config(gym: Gym, user_id: str, send_as_email: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Get an S/MIME certificate of a send-as alias.

    Refused (NOT_FOUND) if the alias does not have it. The private key is never returned.
    """
    return _resource((await _owned(gym, user_id, send_as_email, id))[1])


@tool(adds=SmimeInfo, words=WORDS)
async def insert_smime_config(gym: Gym, user_id: str, send_as_email: str, **fields: Any) -> Resource:
    """Add an S/MIME certificate to a send-as alias.

    Give the certificate as pem or pkcs12 (CERTIFICATE_MISSING). The first certificate of an alias is its default.
    Returns the certificate without its key.
    """
    mailbox = await mailbox_of(gym, user_id)
    alias = await owned_alias(gym, mailbox, send_as_email)
    if not (fields.get("pem") or fields.get("pkcs12")):
        raise ToolError("CERTIFICATE_MISSING", "give the certificate as pem or pkcs12", "pkcs12")
    is_first = not await gym.count(SmimeInfo, {"send_as_alias_id": alias.id})
    is_default = bool(fields.pop("is_default", False)) or is_first
    if is_default:
        await _unset_default(gym, alias)
    if fields.get("encrypted_key_password"):
        digest = hashlib.sha256(fields["encrypted_key_password"].encode()).hexdigest()
        fields["encrypted_key_password"] = f"enc_{digest[:24]}"
    config = SmimeInfo(
        **fields,
        send_as_alias_id=alias.id,
        user_id=mailbox.id,
        send_as_email=alias.send_as_email,
        is_default=is_default,
    )
    return _resource(await gym.insert(config))


@tool(changes=SmimeInfo, words=WORDS)
async def set_default_smime_config(gym: Gym, user_id: str, send_as_email: str, id: str) -> None:  # noqa: A002 - the published name
    """Make an S/MIME certificate the default of its send-as alias.

    Returns nothing.
    """
    alias, config = await _owned(gym, user_id, send_as_email, id)
    await _unset_default(gym, alias)
    await gym.update(config, {"is_default": True})


@tool(removes=SmimeInfo, words=WORDS)
async def delete_smime_config(gym: Gym, user_id: str, send_as_email: str, id: str) -> None:  # noqa: A002 - the published name
    """Delete an S/MIME certificate of a send-as alias.

    The alias then has no default certificate if it was the default. Returns nothing.
    """
    await gym.delete([(await _owned(gym, user_id, send_as_email, id))[1]])


async def _owned(gym: Gym, user_id: str, address: str, config_id: str) -> tuple[SendAsAlias, SmimeInfo]:
    alias = await owned_alias(gym, await mailbox_of(gym, user_id), address)
    config = await gym.get(SmimeInfo, config_id)
    if config is None or config.send_as_alias_id != alias.id:
        raise not_found()
    return alias, config


async def _unset_default(gym: Gym, alias: SendAsAlias) -> None:
    defaults = SmimeInfo.send_as_alias_id == alias.id, SmimeInfo.is_default.is_(True)
    for config in await gym.all(SmimeInfo, *defaults):
        await gym.update(config, {"is_default": False})


def _resource(config: SmimeInfo) -> Resource:
    shown: Resource = {
        "id": config.id,
        "issuerCn": config.issuer_cn or "",
        "isDefault": bool(config.is_default),
        "expiration": config.expiration,
    }
    return shown | ({"pem": config.pem} if config.pem else {})
