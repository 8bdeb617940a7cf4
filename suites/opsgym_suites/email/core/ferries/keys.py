"""Tasks about keys and certificates: what the right file is, what else uses a key pair, and how long it was off."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import apart, number, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.mime import milliseconds
from opsgym_domains.email.tables import SendAsAlias, User
from opsgym_suites.email.calls import new_key, read, search, send, with_mailbox
from opsgym_suites.email.core.ferries.jobs import attachment, job, key_pair, refusal
from opsgym_suites.email.core.ferries.nights import NIGHT, arrives, second_day, two_days
from opsgym_suites.email.seeds.ferries_desk import CERTIFICATES, CLERK, KEY_FILES, armoured
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at

OFF, OBLITERATE = "email_disable_cse_keypair", "email_obliterate_cse_keypair"

_WITH = r"(?:\s+(?:is|with|by|uses?|token))*"
TOKENS = apart((number(4), rf"sign\w*{_WITH}"), (number(6), rf"encrypt\w*{_WITH}"))
"""What the tokens are for."""


def a_new_token(world: World) -> Iterator[Draft]:
    """The second of two key files is the right one; the old pair is turned off once nothing uses it."""
    user = world.user("elsa.vinter")
    first, second = (world.mail("elsa.vinter", subject) for subject in KEY_FILES)
    old, gone, recent = (row.key_pair_id for row in world.key_pairs("elsa.vinter"))
    looked = (
        search(user, f"from:{CLERK} subject:token"),
        read(first, world),
        read(second, world),
        attachment(world, second),
        with_mailbox("get_cse_identity", user, cseEmailAddress=user.primary_email),
        with_mailbox("email_list_cse_keypairs", user),
    )

    adds, wrong = (
        with_mailbox(
            "email_create_cse_keypair",
            user,
            pkcs7=KEY_FILES[world.subject(mail)],
            privateKeyMetadata=[{"hardwareKeyMetadata": {"description": "token 11 in the harbour safe"}}],
        )
        for mail in (second, first)
    )
    new = f"kp_{new_key(1).replace('-', '')}"
    changed = with_mailbox("patch_cse_identity", user, emailAddress=user.primary_email, primaryKeyPairId=new)
    off, removed = key_pair(OFF, user, old), key_pair(OBLITERATE, user, gone)
    yield job(
        world,
        "keys-on-a-new-token",
        "elsa.vinter",
        "Gavin mailed me the public key for my new token. Please add it as a key pair (hardware key; as description put"
        " exactly where its private key is, in the form 'token … in the … safe'), let the identity of my address use it"
        " and turn the pair off that it replaces. Any pair that has been off for more than thirty days can be"
        " obliterated. Tell me which token it is.",
        (
            "Read both messages about the token and take the file of the later one (LKP-1, LKP-2).",
            "Add the key pair, give it to the identity, then turn the old pair off; delete what is off long (SET-5).",
        ),
        (*looked, adds, changed, off, removed),
        "Your identity now uses the key pair on token 11; the old pair is off and the one off since April is deleted.",
        [number(11)],
        access=Access.STRICT,
        tools=("email_enable_cse_keypair", "create_cse_identity", "delete_cse_identity"),
        mistakes={
            "turns a pair on again": (key_pair("email_enable_cse_keypair", user, recent),),
            "deletes the identity": (with_mailbox("delete_cse_identity", user, cseEmailAddress=user.primary_email),),
        },
        also={"deletes first": Solution((*looked, removed, adds, changed, off))},
        negative_trajectories={
            "takes the first file": NegativeTrajectory(
                (*looked, wrong, changed, off, removed),
                "The pair on token 11 is in use.",
            ),
            "turns the old pair off first": NegativeTrajectory(
                (*looked, adds, off, changed, removed), "The pair on token 11 is in use.", "PRC-7"
            ),
        },
    )


def a_shared_address(world: World) -> Iterator[Draft]:
    """A later message says which token stays off; each purpose has its own key pair."""
    user = world.user("astrid.falk")
    alias = world.alias("astrid.falk", "operations")
    mails = [world.mail("astrid.falk", name) for name in ("Tokens of the operations address", "Reader repaired")]
    _own, four, five, six = (row.key_pair_id for row in world.key_pairs("astrid.falk"))
    looked = (
        search(user, f"from:{CLERK} newer_than:14d"),
        *(read(mail, world) for mail in mails),
        with_mailbox("list_send_as_aliases", user),
        with_mailbox("list_cse_identities", user),
        with_mailbox("email_list_cse_keypairs", user),
    )
    on = key_pair("email_enable_cse_keypair", user, four)

    def identity(encrypts: str) -> ToolCall:
        return with_mailbox(
            "create_cse_identity",
            user,
            emailAddress=alias.send_as_email,
            signAndEncryptKeyPairs={"signingKeyPairId": four, "encryptionKeyPairId": encrypts},
        )

    named = with_mailbox("patch_send_as_alias", user, sendAsEmail=alias.send_as_email, displayName="Operations Desk")
    note = "The operations address signs with token 4 and encrypts with token 6."
    written = send(world, user, [CLERK], "Tokens", note)
    made = identity(six)
    other = key_pair("email_enable_cse_keypair", user, five)
    yield job(
        world,
        "keys-for-the-operations-address",
        "astrid.falk",
        "operations@skerryline.example is to send encrypted mail, one key pair for signing and one for encryption."
        " Gavin wrote me which tokens, more than once I believe. What is needed and off gets turned on, nothing else"
        " does. While you are there the address should be shown as Operations Desk. And confirm to Gavin (subject"
        " Tokens) which token does what.",
        (
            "Read both messages of Gavin and find the key pairs of the tokens (LKP-1).",
            "Turn the pair on that is needed, create the identity, rename the alias and write to Gavin (SND-2).",
        ),
        (*looked, on, made, named, written),
        note,
        TOKENS,
        tools=("patch_cse_identity", OFF, "create_send_as_alias"),
        mistakes={"turns the broken one on": (other,)},
        negative_trajectories={
            "follows the first message": NegativeTrajectory(
                (*looked, on, other, identity(five), named, written),
                note,
            )
        },
        says={note: TOKENS},
    )


def closed_addresses(world: World) -> Iterator[Draft]:
    """Two addresses stop to send encrypted mail; a key pair that another identity uses stays on."""
    user = world.user("dag.haugland")
    shared, alone, long_off, recent = (row.key_pair_id for row in world.key_pairs("dag.haugland"))
    crewing, relief = (world.address(name) for name in ("crewing", "relief"))
    looked = (
        with_mailbox("list_cse_identities", user),
        *(with_mailbox("get_cse_identity", user, cseEmailAddress=one) for one in (crewing, relief, user.primary_email)),
        with_mailbox("email_list_cse_keypairs", user),
        with_mailbox("get_send_as_alias", user, sendAsEmail=relief),
    )
    ended = tuple(with_mailbox("delete_cse_identity", user, cseEmailAddress=one) for one in (crewing, relief))
    off, removed = key_pair(OFF, user, alone), key_pair(OBLITERATE, user, long_off)
    alias = with_mailbox("delete_send_as_alias", user, sendAsEmail=relief)
    yield job(
        world,
        "keys-of-closed-addresses",
        "dag.haugland",
        "crewing@ and relief@ don't send encrypted mail any more: remove their identities. relief@ goes as an alias,"
        " too. key pairs that no identity uses after that: turn off. and what is already off: obliterate it if thirty"
        " days are over, otherwise it waits. tell me which token you turned off",
        (
            "Look at all identities and key pairs of the mailbox (LKP-1).",
            "Delete the identities and the alias, turn off the free pair, delete the old one (SET-5, ID-4).",
        ),
        (*looked, *ended, alias, off, removed),
        "Both identities and the alias relief@ are gone. I turned off the pair on token 3 and deleted the one on token"
        " 1; the pair on token 2 is still used by your own address.",
        [number(3)],
        tools=("patch_cse_identity", "email_enable_cse_keypair"),
        mistakes={
            "turns a pair on again": (key_pair("email_enable_cse_keypair", user, recent),),
            "deletes the other alias": (with_mailbox("delete_send_as_alias", user, sendAsEmail=crewing),),
        },
        negative_trajectories={
            "turns the shared pair off too": NegativeTrajectory(
                (*looked, *ended, alias, off, key_pair(OFF, user, shared), removed), "Tokens 3 and 2 are off."
            )
        },
        also={"begins with the old pair": Solution((*looked, removed, *ended, off, alias))},
    )


def too_young_to_delete(world: World) -> Iterator[Draft]:
    """A key pair was turned off less than thirty days ago."""
    user = world.user("kirsten.moar")
    _used, young = (row.key_pair_id for row in world.key_pairs("kirsten.moar"))
    yield refusal(
        world,
        "no-key-pair-before-its-time",
        "kirsten.moar",
        "The token with number 3 was lost in the dock. Its key pair is off; obliterate it today. If that does not work"
        " today, touch nothing at all and let me know from which day on it will.",
        (
            with_mailbox("email_list_cse_keypairs", user),
            key_pair("email_get_cse_keypair", user, young),
            with_mailbox("get_cse_identity", user, cseEmailAddress=user.primary_email),
        ),
        "I did not delete the pair on token 3: it has been off since 2 June, and thirty days must pass first, so it"
        " works from 2 July on.",
        [r"\b(?:30|thirty)\b", f"(?:{on_date(at('07-02').date())}|{on_date(at('07-03').date())})"],
        evidence=(("keyPairId", young),),
        tried=(key_pair(OBLITERATE, user, young),),
        rule=None,
        mistakes={"turns it on again": (key_pair("email_enable_cse_keypair", user, young),)},
    )


# --- certificates ----------------------------------------------------------------------------------------------------


def _certificate(world: World, alias: SendAsAlias, issuer: str, pem: str, until: str, *, is_default: bool) -> ToolCall:
    return with_mailbox(
        "insert_smime_config",
        world.one(User, id=alias.user_id),
        sendAsEmail=alias.send_as_email,
        issuerCn=issuer,
        expiration=milliseconds(at(until)),
        isDefault=is_default,
        pem=pem,
    )


def a_certificate_in_a_file(world: World) -> Iterator[Draft]:
    """Of two attached certificates one is for the shared address."""
    user, alias = world.user("noor.bakshi"), world.alias("noor.bakshi", "notices")
    mail = world.mail("noor.bakshi", "Certificates for signing")
    current, expired = world.certificates(alias)
    looked = (
        search(user, f"from:{CLERK} has:attachment"),
        read(mail, world),
        with_mailbox("list_smime_configs", user, sendAsEmail=alias.send_as_email),
        attachment(world, mail, "notices.pem"),
    )
    issuer = "Tessera Root 2026"
    added = _certificate(world, alias, issuer, CERTIFICATES["notices.pem"], "12-01 00:00", is_default=True)
    gone = with_mailbox("delete_smime_config", user, sendAsEmail=alias.send_as_email, id=expired.id)
    note = "The certificate is in place and valid until 1 December."
    written = send(world, user, [CLERK], "Certificate", note)
    own = _certificate(
        world,
        world.alias("noor.bakshi", "noor.bakshi"),
        issuer,
        CERTIFICATES["own.pem"],
        "10-01 00:00",
        is_default=True,
    )
    yield job(
        world,
        "certificate-from-a-file",
        "noor.bakshi",
        "Gavin sent certificates. Put the one for the shared address (notices@skerryline.example) in its place, with"
        " issuer and expiry as he states them, and make it the default there. Whatever has expired at that address:"
        " delete. Then drop Gavin a line, subject Certificate, until when ours is valid now.",
        (
            "Read Gavin's message, the certificates of the alias, and the file for it (LKP-1).",
            "Add it as the default, delete the expired one and write to Gavin (ID-4, SND-2).",
        ),
        (*looked, added, gone, written),
        "notices@ now signs with the certificate of Tessera Root 2026, valid until 1 December; the expired one is"
        " deleted.",
        [f"(?:{on_date(at('12-01').date())}|{on_date(at('11-30').date())})"],
        tools=("set_default_smime_config", "get_smime_config"),
        mistakes={
            "adds her own one, too": (own,),
            "deletes the present one": (
                with_mailbox("delete_smime_config", user, sendAsEmail=alias.send_as_email, id=current.id),
            ),
        },
        also={
            "deletes first": Solution((*looked, gone, added, written)),
        },
        says={note: [f"(?:{on_date(at('12-01').date())}|{on_date(at('11-30').date())})"]},
    )


def a_certificate_over_night(world: World) -> Iterator[Draft]:
    """The certificate that arrives ends before the present default, so it does not replace that."""
    user, alias = world.user("isla.drever"), world.alias("isla.drever", "isla.drever")
    current, *expired = world.certificates(alias)
    pem, issuer = armoured("CERTIFICATE", "MIICtTCCAZ0CFBn17isl8Qw"), "Tessera Root 2026"
    event = ScenarioEvent(world, NIGHT - world.now)
    text = f"here it is, issued by {issuer} and valid until 5 August 2026, 00:00 UTC:\n\n{pem}"
    mail = arrives(event, world, CLERK, "isla.drever", "Certificate for your address", text, at("06-15 18:20"))
    listed = with_mailbox("list_smime_configs", user, sendAsEmail=alias.send_as_email)
    first = (
        with_mailbox("list_send_as_aliases", user),
        listed,
        *(with_mailbox("get_smime_config", user, sendAsEmail=alias.send_as_email, id=row.id) for row in expired),
        *(with_mailbox("delete_smime_config", user, sendAsEmail=alias.send_as_email, id=row.id) for row in expired),
    )
    added, as_default = (
        _certificate(world, alias, issuer, pem, "08-05 00:00", is_default=is_default) for is_default in (False, True)
    )
    looked = (search(user, f"from:{CLERK} subject:certificate"), read(mail, event.after), listed)
    yield job(
        world,
        "certificate-over-night",
        "isla.drever",
        "My S/MIME certificates: delete those of my address that have expired and tell me how many that were. Gavin"
        " mails me another one tonight, we deal with that tomorrow.",
        (
            "Delete the certificates that have expired (ID-4).",
            "On the second day add the one that arrived, as the default only if it is valid longest (LKP-1).",
        ),
        two_days(first, (*looked, added)),
        "I added the certificate of Tessera Root 2026. It ends on 5 August, before the present one, which stays the"
        " default.",
        [term("default"), r"\b(?:stay\w*|remain\w*|still|keep\w*|kept|not|unchanged|earlier|before)\b"],
        event=event,
        days=second_day(
            "Gavin's mail with the certificate should be there. Add it to my address, issuer and expiry as he writes."
            " The default should be the one that is valid longest, whichever that is."
        ),
        day_answers=("I deleted two certificates that had expired.",),
        events=(event.happens_at(NIGHT),),
        access=Access.STRICT,
        tools=("set_default_smime_config", "delete_message"),
        mistakes={
            "deletes the present one": (
                with_mailbox("delete_smime_config", user, sendAsEmail=alias.send_as_email, id=current.id),
            )
        },
        also={
            "adds it as the default and takes that back": Solution(
                two_days(
                    first,
                    (
                        *looked,
                        added,
                        with_mailbox("set_default_smime_config", user, sendAsEmail=alias.send_as_email, id=current.id),
                    ),
                )
            )
        },
        negative_trajectories={
            "makes it the default": NegativeTrajectory(
                two_days(first, (*looked, as_default)), "It is added; the default is no longer the old one."
            ),
            "ends after the first day": NegativeTrajectory(two_days(first, ()), "Nothing came."),
        },
    )


FAMILIES = (
    a_new_token,
    a_shared_address,
    closed_addresses,
    too_young_to_delete,
    a_certificate_in_a_file,
    a_certificate_over_night,
)
