"""Client-side encryption: identities that send encrypted messages, and their key pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from opsgym_domains.email.listing import offset, paged
from opsgym_domains.email.mailbox import mailbox_of, not_found
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import CseIdentity, CseKeyPair, CsePrivateKeyMetadata, SendAsAlias, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

DISABLED_FOR = timedelta(days=30)
"""How long a key pair must have been turned off before it can be deleted. Source: the Gmail API."""


# --- identities ------------------------------------------------------------------------------------------------------


@tool(row=CseIdentity)
async def list_cse_identities(gym: Gym, user_id: str, page_size: int = 20, page_token: str | None = None) -> Resource:
    """List the identities of a mailbox that send encrypted messages.

    Returns `cseIdentities`, each with its key pairs.
    """
    mailbox, start = await mailbox_of(gym, user_id), offset(page_token)
    identities = await gym.all(CseIdentity, CseIdentity.user_id == mailbox.id)
    shown = [_identity(identity) for identity in identities[start : start + page_size]]
    return _page("cseIdentities", shown, len(identities), start, page_size)


@tool(row=CseIdentity)
async def get_cse_identity(gym: Gym, user_id: str, cse_email_address: str) -> Resource:
    """Get an identity of a mailbox that sends encrypted messages.

    Refused (NOT_FOUND) if the mailbox does not have it.
    """
    return _identity(await _owned_identity(gym, await mailbox_of(gym, user_id), cse_email_address))


@tool(adds=CseIdentity)
async def create_cse_identity(gym: Gym, user_id: str, email_address: str, **keys: Any) -> Resource:
    """Let an address of a mailbox send encrypted messages.

    The address must be one that the mailbox sends from (INVALID_ADDRESS), and have no identity yet (IDENTITY_EXISTS).
    Give one key pair for both purposes, or one for signing and one for encryption (INVALID_KEY_PAIR); they must be
    enabled key pairs of the mailbox. Returns the identity.
    """
    mailbox = await mailbox_of(gym, user_id)
    own = email_address.lower() == mailbox.primary_email.lower()
    if not own and not await gym.exists(SendAsAlias, user_id=mailbox.id, send_as_email=email_address):
        raise ToolError("INVALID_ADDRESS", f"{email_address} is not an address of the mailbox", "emailAddress")
    if await gym.exists(CseIdentity, user_id=mailbox.id, email_address=email_address):
        raise ToolError("IDENTITY_EXISTS", "the address has an identity already", "emailAddress")
    columns = await _key_columns(gym, mailbox, keys)
    return _identity(await gym.insert(CseIdentity(**columns, user_id=mailbox.id, email_address=email_address)))


@tool(changes=CseIdentity)
async def patch_cse_identity(gym: Gym, user_id: str, email_address: str, **keys: Any) -> Resource:
    """Change the key pairs of an identity that sends encrypted messages.

    Give one key pair for both purposes, or one for signing and one for encryption (INVALID_KEY_PAIR). Returns the
    identity.
    """
    mailbox = await mailbox_of(gym, user_id)
    identity = await _owned_identity(gym, mailbox, email_address)
    return _identity(await gym.update(identity, await _key_columns(gym, mailbox, keys)))


@tool(removes=CseIdentity)
async def delete_cse_identity(gym: Gym, user_id: str, cse_email_address: str) -> None:
    """Delete an identity: its address sends no more encrypted messages.

    Its key pairs stay. Returns nothing.
    """
    await gym.delete([await _owned_identity(gym, await mailbox_of(gym, user_id), cse_email_address)])


async def _owned_identity(gym: Gym, mailbox: User, address: str) -> CseIdentity:
    identity = await gym.find(CseIdentity, user_id=mailbox.id, email_address=address)
    if identity is None:
        raise not_found()
    return identity


async def _key_columns(gym: Gym, mailbox: User, keys: Mapping[str, Any]) -> dict[str, str | None]:
    """Columns of an identity with its key pairs.

    Raises:
        ToolError: `INVALID_KEY_PAIR`.
    """
    apart = keys.get("sign_and_encrypt_key_pairs") or {}
    columns = {
        "primary_key_pair_id": keys.get("primary_key_pair_id"),
        "signing_key_pair_id": apart.get("signingKeyPairId"),
        "encryption_key_pair_id": apart.get("encryptionKeyPairId"),
    }
    given = [key for key in columns.values() if key]
    if not given or (columns["primary_key_pair_id"] and len(given) > 1):
        raise ToolError("INVALID_KEY_PAIR", "give primaryKeyPairId or signAndEncryptKeyPairs", "primaryKeyPairId")
    for key in given:
        if not await gym.exists(CseKeyPair, user_id=mailbox.id, key_pair_id=key, enablement_state="enabled"):
            raise ToolError("INVALID_KEY_PAIR", f"{key} is not an enabled key pair of the mailbox", "primaryKeyPairId")
    return columns


def _identity(identity: CseIdentity) -> Resource:
    shown: Resource = {"emailAddress": identity.email_address}
    if identity.primary_key_pair_id:
        return shown | {"primaryKeyPairId": identity.primary_key_pair_id}
    pairs = {
        "signingKeyPairId": identity.signing_key_pair_id,
        "encryptionKeyPairId": identity.encryption_key_pair_id,
    }
    return shown | {"signAndEncryptKeyPairs": {name: key for name, key in pairs.items() if key}}


# --- key pairs -------------------------------------------------------------------------------------------------------


@tool(row=CseKeyPair)
async def email_list_cse_keypairs(
    gym: Gym, user_id: str, page_size: int = 20, page_token: str | None = None
) -> Resource:
    """List the key pairs of a mailbox.

    Returns `cseKeyPairs`, each with its state.
    """
    mailbox, start = await mailbox_of(gym, user_id), offset(page_token)
    pairs = await gym.all(CseKeyPair, CseKeyPair.user_id == mailbox.id)
    shown = [await _key_pair(gym, pair) for pair in pairs[start : start + page_size]]
    return _page("cseKeyPairs", shown, len(pairs), start, page_size)


@tool(row=CseKeyPair)
async def email_get_cse_keypair(gym: Gym, user_id: str, key_pair_id: str) -> Resource:
    """Get a key pair of a mailbox.

    Refused (NOT_FOUND) if the mailbox has no such key pair.
    """
    return await _key_pair(gym, await _owned_pair(gym, user_id, key_pair_id))


@tool(adds=CseKeyPair)
async def email_create_cse_keypair(
    gym: Gym, user_id: str, pkcs7: str, private_key_metadata: Sequence[Mapping[str, Any]] = ()
) -> Resource:
    """Add a key pair to a mailbox: its public key, and where the private key is.

    pkcs7 must be PEM with its first and last line (INVALID_CERTIFICATE). The key pair is enabled. Returns the key pair.
    """
    mailbox = await mailbox_of(gym, user_id)
    if "-----BEGIN" not in pkcs7 or "-----END" not in pkcs7:
        raise ToolError("INVALID_CERTIFICATE", "pkcs7 must be PEM with its BEGIN and END lines", "pkcs7")
    key = str(await gym.next_id(CseKeyPair)).replace("-", "")
    pair = await gym.insert(
        CseKeyPair(
            user_id=mailbox.id,
            key_pair_id=f"kp_{key}",
            pkcs7=pkcs7,
            subject_email_addresses=mailbox.primary_email,
            enablement_state="enabled",
        )
    )
    for metadata in private_key_metadata:
        await gym.insert(await _metadata(gym, pair, metadata))
    return await _key_pair(gym, pair)


@tool(changes=CseKeyPair)
async def email_disable_cse_keypair(gym: Gym, user_id: str, key_pair_id: str) -> Resource:
    """Turn a key pair off: it neither signs nor decrypts any more.

    Refused if it is off already (ALREADY_DISABLED). Returns the key pair.
    """
    pair = await _owned_pair(gym, user_id, key_pair_id)
    if pair.enablement_state == "disabled":
        raise ToolError("ALREADY_DISABLED", "the key pair is turned off already", "keyPairId")
    changed = await gym.update(pair, {"enablement_state": "disabled", "disable_time": gym.now()})
    return await _key_pair(gym, changed)


@tool(changes=CseKeyPair)
async def email_enable_cse_keypair(gym: Gym, user_id: str, key_pair_id: str) -> Resource:
    """Turn a key pair on again.

    Refused if it is on already (ALREADY_ENABLED). Returns the key pair.
    """
    pair = await _owned_pair(gym, user_id, key_pair_id)
    if pair.enablement_state == "enabled":
        raise ToolError("ALREADY_ENABLED", "the key pair is turned on already", "keyPairId")
    return await _key_pair(gym, await gym.update(pair, {"enablement_state": "enabled", "disable_time": None}))


@tool(removes=CseKeyPair)
async def email_obliterate_cse_keypair(gym: Gym, user_id: str, key_pair_id: str) -> None:
    """Delete a key pair for good.

    Refused (NOT_DISABLED_LONG_ENOUGH) until 30 days after email_disable_cse_keypair. Returns nothing.
    """
    pair = await _owned_pair(gym, user_id, key_pair_id)
    if pair.disable_time is None or gym.now() - pair.disable_time <= DISABLED_FOR:
        raise ToolError(
            "NOT_DISABLED_LONG_ENOUGH", "a key pair can be deleted 30 days after it was turned off", "keyPairId"
        )
    await gym.delete([pair])


async def _owned_pair(gym: Gym, user_id: str, key_pair_id: str) -> CseKeyPair:
    mailbox = await mailbox_of(gym, user_id)
    pair = await gym.find(CseKeyPair, user_id=mailbox.id, key_pair_id=key_pair_id)
    if pair is None:
        raise not_found()
    return pair


async def _metadata(gym: Gym, pair: CseKeyPair, given: Mapping[str, Any]) -> CsePrivateKeyMetadata:
    service, hardware = given.get("kaclsKeyMetadata") or {}, given.get("hardwareKeyMetadata") or {}
    key = str(await gym.next_id(CsePrivateKeyMetadata)).replace("-", "")
    return CsePrivateKeyMetadata(
        private_key_metadata_id=f"pkm_{key}",
        key_pair_id=pair.id,
        metadata_type="KMS" if service else "HSM",
        kacls_uri=service.get("kaclsUri"),
        kacls_data=service.get("kaclsData"),
        hardware_description=hardware.get("description"),
    )


async def _key_pair(gym: Gym, pair: CseKeyPair) -> Resource:
    metadata = await gym.all(CsePrivateKeyMetadata, CsePrivateKeyMetadata.key_pair_id == pair.id)
    shown: Resource = {
        "keyPairId": pair.key_pair_id,
        "pem": pair.pem or pair.pkcs7 or "",
        "subjectEmailAddresses": [
            one.strip() for one in (pair.subject_email_addresses or "").split(",") if one.strip()
        ],
        "enablementState": pair.enablement_state,
    }
    if pair.disable_time is not None:
        shown["disableTime"] = pair.disable_time
    return shown | {"privateKeyMetadata": [_shown_metadata(one) for one in metadata]}


def _shown_metadata(metadata: CsePrivateKeyMetadata) -> Resource:
    shown: Resource = {"privateKeyMetadataId": metadata.private_key_metadata_id}
    if metadata.kacls_uri:
        return shown | {"kaclsKeyMetadata": {"kaclsUri": metadata.kacls_uri, "kaclsData": metadata.kacls_data or ""}}
    return shown | {"hardwareKeyMetadata": {"description": metadata.hardware_description or ""}}


def _page(name: str, shown: Sequence[Resource], total: int, start: int, size: int) -> Resource:
    page = paged(name, shown, total, start, size)
    del page["resultSizeEstimate"]
    return page
