"""Tasks about settings: absences, people who left, aliases, certificates and keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from opsgym_api.tasks.answer_patterns import on_date, term
from opsgym_domains.email.tables import CseIdentity, Filter, SmimeInfo
from opsgym_suites.email.calls import delegate, end_delegate, send, vacation, with_mailbox
from opsgym_suites.email.seeds.press_stories import FORWARDS, LEAVER
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

SETTINGS = ("get_vacation_settings", "get_auto_forwarding", "list_forwarding_addresses", "email_list_delegates")


def absences(world: World) -> Iterator[Draft]:
    """An automatic reply for some days, a delegate, and forwarding, as the request says."""
    for slug, owner, first, last, deputy, forwards, prompt in (
        (
            "jonas-is-away",
            "jonas.berglund",
            "11-23",
            "12-04",
            "samuel.osei",
            "archive",
            (
                "I'm on leave from Monday 23 November up to and including Friday 4 December (UTC days). Set my"
                " automatic reply for colleagues, it should send them to Samuel Osei. Samuel also becomes delegate of"
                " my mailbox, and my new mail is forwarded to Harriet and archived here. Write Samuel, subject"
                " Absence, what my last day off is."
            ),
        ),
        (
            "mei-is-away",
            "mei.tanaka",
            "11-30",
            "12-02",
            "amira.haddad",
            "leaveInInbox",
            (
                "From 30 November until the evening of 2 December I am at a fair (whole days, UTC). Please switch on an"
                " automatic reply for people of the house that names Amira Haddad as the one to ask, make Amira a"
                " delegate of mine, and forward what comes in to Harriet Vance, with a copy staying in my inbox. Also"
                " tell Amira in a message with the subject Absence which day is my last one away."
            ),
        ),
        (
            "felix-is-away",
            "felix.brandt",
            "12-07",
            "12-11",
            "lucas.moreau",
            "markRead",
            (
                "im off 7 december through 11 december, full days utc. out of office for colleagues only: ask Lucas"
                " Moreau. give lucas access to my mailbox. forward everything to harriet meanwhile and mark it read"
                " here. and mail lucas my last day off, subject Absence"
            ),
        ),
        (
            "amira-is-away",
            "amira.haddad",
            "11-18",
            "11-20",
            "mei.tanaka",
            "leaveInInbox",
            (
                "I shall be in court from Wednesday 18 to Friday 20 November, all day, in UTC. An automatic reply"
                " within the company should refer to Mei Tanaka. Mei is to act in my mailbox as a delegate. New"
                " messages go on to Harriet Vance too; they remain in my inbox. Please write Mei under the subject"
                " Absence which day the last one is."
            ),
        ),
    ):
        acting, other = world.person(owner), world.person(deputy)
        user = acting.user
        begin, end = at(f"{first} 00:00"), at(f"{last} 00:00") + timedelta(days=1)
        looked = tuple(with_mailbox(tool, user) for tool in SETTINGS)
        text = f"I am away. Please ask {other.first_name} {other.last_name}."
        away = vacation(user, text, begin, end)
        access = delegate(user, other.email)
        goes_on = with_mailbox(
            "update_auto_forwarding",
            user,
            enabled=True,
            emailAddress=world.address("harriet.vance"),
            disposition=forwards,
        )
        last_day = end - timedelta(days=1)
        note = f"You are a delegate of my mailbox. My last day off is {last_day.day} {last_day:%B}."
        written = send(world, user, [deputy], "Absence", note)
        until_late = vacation(user, text, begin, end - timedelta(minutes=1))
        outsider = vacation(user, text, begin, end, inside=False)
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Look at the present settings and the verified forwarding addresses (LKP-1).",
                    (
                        "Set the automatic reply with its period, add the delegate, turn forwarding on, and write to"
                        " the deputy (SET-1, SET-2, SET-4, SND-2)."
                    ),
                ),
                gold=(*looked, away, access, goes_on, written),
                answer=(
                    f"The automatic reply names {other.first_name} {other.last_name}, who is a delegate now; mail goes"
                    " on to Harriet."
                ),
                verifiers=(
                    answer_says("names_the_deputy", "The answer names the deputy [REF-3]", term(other.first_name)),
                ),
                tools=("email_delete_delegate", "create_forwarding_address", "create_filter", "update_imap_settings"),
                mistakes={
                    "answers people outside": (outsider,),
                    "adds a second delegate": (delegate(user, world.address("ingrid.solheim")),),
                    "adds a forwarding address": (
                        with_mailbox("create_forwarding_address", user, forwardingEmail=other.email),
                    ),
                },
                also={
                    "ends a minute before midnight": Solution((*looked, until_late, access, goes_on, written)),
                    "in another order": Solution((*looked, written, goes_on, access, away)),
                },
            ),
            says={text: [term(other.first_name)], note: [on_date(last_day.date())]},
        )


def leavers(world: World) -> Iterator[Draft]:
    """Who left loses access: as a delegate, as a forwarding address and in filters; those who stay keep it."""
    for slug, owner, prompt in (
        (
            "ingrid-out-of-the-warehouse",
            FORWARDS[0],
            (
                "Ingrid Solheim has left. kick her out of everything in my mailbox: delegate, forwarding address, the"
                " filter that sends her stuff. nadia and tobias stay as they are. mail nadia that Ingrid is out,"
                " subject Access"
            ),
        ),
        (
            "ingrid-out-of-marketing",
            FORWARDS[1],
            (
                "Ingrid Solheim no longer works here. Could you take all access from her that my mailbox still gives:"
                " as delegate, by a filter, as an address to forward to? Nadia and Tobias keep theirs. Should my"
                " language setting not be British English, make it en-GB on the way."
            ),
        ),
        (
            "ingrid-out-of-design",
            FORWARDS[2],
            (
                "Please remove Ingrid Solheim, who left us, from my mailbox: she is a delegate, mail may be forwarded"
                " to her and one filter does so. Also close POP for my mailbox if it is not closed, and switch IMAP"
                " off, I only use the web. No one else loses anything."
            ),
        ),
        (
            "ingrid-out-of-the-editors",
            FORWARDS[3],
            (
                "As Ingrid Solheim has left the house, end whatever lets her read my mail (delegates, filters,"
                " forwarding addresses). In her place Oscar Delgado becomes my delegate. What Nadia and Tobias have"
                " stays."
            ),
        ),
    ):
        acting, address = world.person(owner), world.address(LEAVER)
        user = acting.user
        filters = world.all(Filter, user_id=user.id)
        (hers,) = [row for row in filters if address in str(row.action_json)]
        (other,) = [row for row in filters if row is not hers]
        note = "Ingrid no longer has access to my mailbox."
        tools: Sequence[str] = (
            "email_list_delegates",
            "list_filters",
            "list_forwarding_addresses",
            "get_auto_forwarding",
        )
        tools = [
            *tools,
            *{FORWARDS[1]: ["get_language_settings"], FORWARDS[2]: ["get_pop_settings", "get_imap_settings"]}.get(
                owner, []
            ),
        ]
        looked = tuple(with_mailbox(tool, user) for tool in tools)
        removed = (
            end_delegate(user, address),
            with_mailbox("delete_filter", user, id=hers.id),
            with_mailbox("delete_forwarding_address", user, forwardingEmail=address),
        )
        more = {
            FORWARDS[0]: (send(world, user, ["nadia.petrov"], "Access", note),),
            FORWARDS[1]: (with_mailbox("update_language_settings", user, displayLanguage="en-GB"),),
            FORWARDS[2]: (
                with_mailbox(
                    "update_imap_settings",
                    user,
                    enabled=False,
                    autoExpunge=True,
                    expungeBehavior="archive",
                    maxFolderSize="0",
                ),
            ),
            FORWARDS[3]: (delegate(user, world.address("oscar.delgado")),),
        }.get(owner, ())
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "List delegates, filters and forwarding addresses (LKP-1).",
                    (
                        "Remove those of the person who left, do what else the request asks, and leave the others"
                        " (ID-4, SET-2)."
                    ),
                ),
                gold=(*looked, *removed, *more, with_mailbox("list_filters", user)),
                answer="Ingrid Solheim is no longer a delegate, and neither a filter nor forwarding leads to her.",
                verifiers=(
                    answer_says("names_the_leaver", "The answer names who lost access [REF-3]", term("Ingrid")),
                ),
                tools=("update_auto_forwarding", "create_filter", "email_create_delegate", "update_pop_settings"),
                mistakes={
                    "deletes the other filter": (with_mailbox("delete_filter", user, id=other.id),),
                    "removes another delegate": (end_delegate(user, world.address("nadia.petrov")),),
                },
                also={"in another order": Solution((*looked, *reversed(removed), *more))},
            ),
            says={note: [term("Ingrid")]} if owner == FORWARDS[0] else None,
        )


def aliases(world: World) -> Iterator[Draft]:
    """Addresses from which a mailbox sends: verified, made the default, signed, or removed."""
    for slug, owner, old, new, prompt in (
        (
            "foreign-rights-address",
            "mei.tanaka",
            "rights",
            "foreign-rights",
            (
                "The address rights@quillmark.example is history. Add foreign-rights@quillmark.example to the addresses"
                " I send from (name: Foreign Rights), verify it, make it the default and then delete the old alias."
            ),
        ),
        (
            "launches-address",
            "felix.brandt",
            "events",
            "launches",
            (
                "i want to send from launches@quillmark.example, display name Launch Desk: create, verify, default. the"
                " alias events@quillmark.example never got verified, drop it"
            ),
        ),
        (
            "ledger-address",
            "lucie.moreau",
            "accounts",
            "ledger",
            (
                "Could you replace my alias accounts@quillmark.example by ledger@quillmark.example with the name"
                " Ledger? It has to be verified and become my default sender before the old one is deleted."
            ),
        ),
        (
            "careers-address",
            "nadia.petrov",
            "jobs",
            "careers",
            (
                "Please set up careers@quillmark.example (shown as Careers) for sending, verified and as default, and"
                " remove jobs@quillmark.example from my aliases, which is still unverified anyway."
            ),
        ),
    ):
        acting = world.person(owner)
        user, added, gone = acting.user, world.address(new), world.address(old)
        title = {"foreign-rights": "Foreign Rights", "launches": "Launch Desk", "ledger": "Ledger"}.get(new, "Careers")
        looked = (
            with_mailbox("list_send_as_aliases", user),
            with_mailbox("get_send_as_alias", user, sendAsEmail=gone),
            with_mailbox("list_smime_configs", user, sendAsEmail=gone),
        )
        made = with_mailbox("create_send_as_alias", user, sendAsEmail=added, displayName=title)
        verified = with_mailbox("verify_send_as_alias", user, sendAsEmail=added)
        default = with_mailbox("patch_send_as_alias", user, sendAsEmail=added, isDefault=True)
        removed = with_mailbox("delete_send_as_alias", user, sendAsEmail=gone)
        primary = with_mailbox("patch_send_as_alias", user, sendAsEmail=acting.email, isDefault=True)
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "List the addresses and look at the old one (LKP-1).",
                    "Create the new one, verify it, make it the default, and delete the old one (SND-3, ID-4).",
                ),
                gold=(*looked, made, verified, default, removed),
                answer=f"{added} is verified and your default; {gone} is deleted.",
                verifiers=(
                    answer_says("names_the_address", "The answer names the new address [REF-3]", rf"\b{new}\b"),
                ),
                tools=("update_send_as_alias", "insert_smime_config", "update_vacation_settings"),
                mistakes={
                    "makes the primary address the default again": (primary,),
                    "adds another one": (
                        with_mailbox(
                            "create_send_as_alias", user, sendAsEmail=world.address("info"), displayName="Info"
                        ),
                    ),
                },
                also={
                    "removes it first": Solution((*looked, removed, made, verified, default)),
                    "makes it the default at once": Solution(
                        (
                            *looked,
                            with_mailbox(
                                "create_send_as_alias", user, sendAsEmail=added, displayName=title, isDefault=True
                            ),
                            verified,
                            removed,
                        )
                    ),
                },
            ),
        )


def certificates(world: World) -> Iterator[Draft]:
    """The valid certificate becomes the default, and the one that has expired goes."""
    for slug, owner, prompt in (
        (
            "certificate-of-the-rights-desk",
            "mei.tanaka",
            (
                "My S/MIME certificate runs out on Friday. Among those of my own address is one that is valid longest:"
                " make that the default. Certificates that have expired already are to be deleted, the others stay."
            ),
        ),
        (
            "certificate-of-finance",
            "lucie.moreau",
            (
                "could you look through the S/MIME certificates of my primary address. default should be the one with"
                " the latest expiry, whatever is past its expiry today: delete. the present one keep until it runs out"
            ),
        ),
    ):
        acting = world.person(owner)
        user = acting.user
        rows: Sequence[SmimeInfo] = sorted(
            world.certificates(world.alias(owner, owner)), key=lambda row: int(row.expiration or 0)
        )
        expired, current, best = rows
        looked = (
            with_mailbox("list_send_as_aliases", user),
            with_mailbox("list_smime_configs", user, sendAsEmail=acting.email),
            *(with_mailbox("get_smime_config", user, sendAsEmail=acting.email, id=row.id) for row in rows),
        )
        default = with_mailbox("set_default_smime_config", user, sendAsEmail=acting.email, id=best.id)
        gone = with_mailbox("delete_smime_config", user, sendAsEmail=acting.email, id=expired.id)
        wrong = with_mailbox("delete_smime_config", user, sendAsEmail=acting.email, id=current.id)
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "List the certificates of the address with their expiration (LKP-1).",
                    "Make the one that is valid longest the default, and delete those that have expired (ID-4).",
                ),
                gold=(*looked, default, gone),
                answer=f"{best.issuer_cn} is the default now, {expired.issuer_cn} is deleted.",
                verifiers=(
                    answer_says(
                        "names_them", "The answer names the default certificate [REF-3]", term(str(best.issuer_cn))
                    ),
                ),
                tools=("insert_smime_config", "delete_send_as_alias"),
                mistakes={
                    "deletes the present one": (wrong,),
                    "makes another one the default": (
                        with_mailbox("set_default_smime_config", user, sendAsEmail=acting.email, id=current.id),
                    ),
                },
                also={"deletes first": Solution((*looked, gone, default))},
            ),
        )


def key_pairs(world: World) -> Iterator[Draft]:
    """An identity gets the newer key pair, the older one is turned off, and those turned off long ago go."""
    for slug, owner, prompt in (
        (
            "keys-of-the-lawyer",
            "amira.haddad",
            (
                "Please renew my client-side encryption: the identity of my address uses an old key pair, while the"
                " token with number 8 is the new one. Let the identity use that, turn the old pair off, and delete for"
                " good any pair that has been off for more than thirty days. The one turned off in late October is not"
                " due yet. Write Tobias Kern, subject Keys, on which token the pair in use is."
            ),
        ),
        (
            "keys-of-the-editor-in-chief",
            "priyanka.nair",
            (
                "My encryption keys need tidying. The identity has to use the key pair on token 8 from now on and the"
                " pair it uses today is to be disabled afterwards. Whatever was disabled over thirty days ago can be"
                " obliterated; leave what was disabled more recently. Tobias Kern wants to know by a message, subject"
                " Keys, which token it is."
            ),
        ),
    ):
        acting = world.person(owner)
        user = acting.user
        old, new, first, third = world.key_pairs(owner)
        identity = world.one(CseIdentity, user_id=user.id)
        looked = (
            with_mailbox("list_cse_identities", user),
            with_mailbox("email_list_cse_keypairs", user),
            *(
                with_mailbox("email_get_cse_keypair", user, keyPairId=row.key_pair_id)
                for row in (old, new, first, third)
            ),
        )
        changed = with_mailbox(
            "patch_cse_identity", user, emailAddress=identity.email_address, primaryKeyPairId=new.key_pair_id
        )
        off = with_mailbox("email_disable_cse_keypair", user, keyPairId=old.key_pair_id)
        gone = with_mailbox("email_obliterate_cse_keypair", user, keyPairId=first.key_pair_id)
        note = "The identity uses the key pair on token 8."
        written = send(world, user, ["tobias.kern"], "Keys", note)
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "List the identity and the key pairs, with the time at which they were turned off (LKP-1).",
                    (
                        "Give the identity the new pair, turn the old one off, delete what was off for thirty days, and"
                        " report the token (SET-5, SND-2)."
                    ),
                ),
                gold=(*looked, changed, off, gone, written),
                answer=(
                    "The identity uses the key pair on token 8; the old one is off, and one that was off since"
                    " September is deleted."
                ),
                verifiers=(answer_says("says_what_is_used", "The answer says which pair is used [REF-3]", r"\b8\b"),),
                tools=("email_enable_cse_keypair", "delete_cse_identity", "create_cse_identity"),
                mistakes={
                    "turns the new one off": (
                        with_mailbox("email_disable_cse_keypair", user, keyPairId=new.key_pair_id),
                    ),
                    "turns a pair on again": (
                        with_mailbox("email_enable_cse_keypair", user, keyPairId=third.key_pair_id),
                    ),
                },
                also={"deletes first": Solution((*looked, gone, changed, off, written))},
            ),
            says={note: [r"\b8\b"]},
        )


FAMILIES = (absences, leavers, aliases, certificates, key_pairs)
