"""The mailboxes of the company: everybody of the cast, and the customers' contacts whose cases are open.

`FenmoorWorld` finds what tasks turn on by name: `mailbox` (by HR's name, or `@` and the key of a customer's case),
`message` (of a conversation or an alert of `email_conversations`, by its key), `delegates`, `forwards_to`, `reply` and
`filters`.

What disagrees with the other systems, beyond the names and addresses of the cast:

- `FORWARDS`: who has left (Gow, Fitch) or works here (Castle) forwards all mail to a private address; Amato, on leave,
  forwards to a colleague as she should. Policy rule SET-1 forbids the former.
- `DELEGATES`: Grady, Gow and Blum have left and are still delegates; Onslow reads the mailbox of Banks, and so
  grievances, although HR's relations circle has only Banks and Corrie; that of Iredale is not yet accepted.
- `REPLIES`: Croft's names Fitch, who has left; Amato's ended before her leave; Pryor's names Blum. Dawe is away
  without one.
- `FILTERS`: forward to Fitch, Grady and Amato.
- `ALIASES`: former names from which Okafor, Lowell and Monroe still send by default, and the address of Halloway from
  before the merger.
- Customers write to people who have left (`ashdown-charts`, `bendigo-shaft`), to a namesake (`warragul-twin`), and are
  given days on which colleagues are away: Pinto visits on a day of jury duty (`hudson-start`), Dawe swaps a card on
  a day of leave
  (`quay-switch`), Pryor speaks during his conference (`release`).
- `hudson-quote` is confidential in mail, while its sheet on Drive has no label; `legal-ashdown` forbids what
  `tidy-ashdown` asks for; `false-tully` asks for another account than the HR case has.
- Handing on that was said and not done: `leaver-blum`, `leaver-gow`, `transfer-castle`, `moved-castellan`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from opsgym_domains.email.tables import (
    AutoForwarding,
    Delegate,
    Filter,
    Message,
    SendAsAlias,
    User,
    VacationSettings,
)
from opsgym_suites.email.seeds.description import Company, Correspondent, Notice, Topic
from opsgym_suites.email.seeds.letters import add_accounts, add_alias, add_draft, exchange, notice
from opsgym_suites.email.seeds.press_stories import add_delegate, add_filter, add_forwarding
from opsgym_suites.email.seeds.traffic import add_traffic
from opsgym_suites.email.seeds.world import World
from opsgym_suites.hybrid.cast import DOMAIN, OLD_DOMAIN, PEOPLE, PRIVATE_DOMAIN, person
from opsgym_suites.hybrid.seeds.email_conversations import ALERTS, CONVERSATIONS, Conversation
from opsgym_suites.hybrid.seeds.records import contacts, filled
from opsgym_suites.kit.world import NOW, at

PARTNER = Correspondent("ottoline.brand@kelderwater.example", "Ottoline Brand", 0)
"""A guest of the calendar, whom customer service does not know as a contact."""
TOPICS: Sequence[Topic] = (
    Topic("Laptop for a new colleague on {day}", (
        ("casper.onslow", "a colleague starts on {day}. Laptop, badge and a desk at {site}, please."),
        ("me", "Ordered as number {number}. Yolanda sets it up."),
    ), "Joiners", copied=("yolanda.reyes",)),
    Topic("Quota of {person}'s mailbox", (
        ("nadia.okafor", "{person} has used {count} gigabytes. May I switch the archive on?"),
        ("me", "Yes, and tell {person}."),
        ("nadia.okafor", "Done."),
    ), "Desk"),
    Topic("Maintenance of {system} on {day}", (
        ("mirabel.stone", "{system} needs {count} minutes on {day} at {hour}:00. Notice to all sites?"),
        ("me", "To those who use it. Lavender knows the list."),
    ), "Changes", copied=("lavender.crewe",)),
    Topic("Invoice {number} of {supplier}", (
        ("magnus.orrin", "{supplier} asks {amount} for {count} licences. We have half as many people."),
        ("me", "Send it back with our count."),
    ), "Budget", "invoice-{number}.pdf"),
    Topic("Review of incidents, week {count}", (
        ("ruben.castellan", "{count} incidents about {system}, two of them came back."),
        ("me", "Please open a problem for those two."),
    ), "Desk", "week-{count}.csv"),
    Topic("Wireless in the test hall", (
        ("piotr.zielin", "it dropped {count} times on {day}. The second channel helps for an hour."),
        ("me", "Then a third one. Quote from {supplier}, please."),
        ("piotr.zielin", "{amount}, with the antenna."),
    ), "Network"),
)  # fmt: skip
NOTICES: Sequence[Notice] = (
    Notice("Licence Desk <notice@licencedesk.example>", "Renewal {number} in {count} days",
        "Your licences for {system} end in {count} days.\n", "CATEGORY_UPDATES"),
    Notice("Pump Trade Fair <fair@pumpfair.example>", "Stand {number} is still free",
        "Meet {count} makers of pumps on {day}.\n", "CATEGORY_PROMOTIONS"),
    Notice("Status of networks <status@networkstatus.example>", "Works on {day}",
        "The line of {site} is off for {count} minutes on {day}.\n", "CATEGORY_UPDATES"),
    Notice("Winning Number <win@luckynumber.example>", "Number {number} has won", "Claim {amount} today.\n",
        "CATEGORY_PROMOTIONS", "SPAM"),
)  # fmt: skip
LABELS: Mapping[str, Sequence[str]] = {
    "Elodie Marsh": ("Kelder", "Waiting for customer"), "Odalys Pinto": ("Hudson",), "Fabian Trask": ("Renewals",),
    "Duncan Iredale": ("Contracts", "Legal hold"), "Tobiah Mercer": ("Visits", "Legal hold"),
    "Casper Onslow": ("Joiners", "Leavers"), "Hamish Corrie": ("Relations",), "Ngozi Tremaine": ("Pay",),
    "Jocasta Finn": ("Release", "Handover"), "Horatio Beale": ("Quotes",), "Osric Bellamy": ("Audit", "Leavers"),
}  # fmt: skip
"""Labels of mailboxes other than that of everyday mail."""
FORWARDS: Mapping[str, str] = {
    "Philippa Gow": f"philippa.gow@{PRIVATE_DOMAIN}", "Lorne Fitch": f"lorne.fitch@{PRIVATE_DOMAIN}",
    "Juno Castle": f"juno.castle@{PRIVATE_DOMAIN}", "Giselle Amato": f"kester.dunne@{DOMAIN}",
}  # fmt: skip
"""Where all new mail of a mailbox goes, by its owner."""
DELEGATES: Sequence[tuple[str, str, str]] = (
    ("Kirra Dawe", "Sefton Grady", "accepted"), ("Kirra Dawe", "Yolanda Reyes", "accepted"),
    ("Venetia Croft", "Philippa Gow", "accepted"), ("Tobiah Mercer", "Isolde Wray", "accepted"),
    ("Aurelio Banks", "Casper Onslow", "accepted"), ("Wendell Achebe", "Dorothea Blum", "accepted"),
    ("Giselle Amato", "Kester Dunne", "accepted"), ("Honora Quill", "Lavender Crewe", "accepted"),
    ("Linnea Storrs", "Duncan Iredale", "pending"),
)  # fmt: skip
"""Owner of a mailbox, delegate, and the state of the delegation."""
FILTERS: Sequence[tuple[str, str, str]] = (
    ("Fabian Trask", "renewal", "Lorne Fitch"), ("Sunniva Hale", "leaver", "Sefton Grady"),
    ("Piotr Zielin", "prices", "Giselle Amato"), ("Osric Bellamy", "access", "Perpetua Lyle"),
)  # fmt: skip
"""Owner of a mailbox, a word of subjects, and to whom new mail with that word is forwarded."""
ALIASES: Sequence[tuple[str, str, bool]] = (
    ("Nadia Okafor", f"nadia.petrov@{DOMAIN}", True), ("Beatrix Lowell", f"beatrix.harrow@{DOMAIN}", True),
    ("Keziah Monroe", f"keziah.lund@{DOMAIN}", True), ("Bram Halloway", f"bram.halloway@{OLD_DOMAIN}", False),
    ("Sunniva Hale", f"service.desk@{DOMAIN}", False),
)  # fmt: skip
"""Owner of a mailbox, a further address, and whether messages are sent from it by default."""


@dataclass(frozen=True)
class Reply:
    """An automatic reply."""

    owner: str
    first: str
    last: str
    text: str
    only_company: bool = True


REPLIES = (
    Reply("Venetia Croft", "11-16 00:00", "11-21 00:00", "I am away until 20 November. Please ask Lorne Fitch.", False),
    Reply("Giselle Amato", "11-06 17:00", "11-13 17:00", "I am on leave. Please ask Kester Dunne.", False),
    Reply("Piotr Zielin", "11-18 00:00", "11-20 00:00", "I am at a training. Please ask Ruben Castellan."),
    Reply("Anselm Pryor", "11-24 00:00", "11-27 00:00", "I am at a conference. Please ask Dorothea Blum."),
)


def _address(who: str) -> str:
    """Address of a person of the cast, of a customer's contact, or of the partner."""
    if who.startswith("@"):
        return contacts()[who[1:]].address
    return PARTNER.address if who == PARTNER.name else person(who).address_in("email")


def _company() -> Company:
    people = [
        Correspondent(one.address_in("email"), one.name_in("email"), number % 6, active=one.active_in("email"))
        for number, one in enumerate(PEOPLE)
    ]
    customers = {one.address: one.name for one in contacts().values()}
    partners = [Correspondent(address, name, number % 6) for number, (address, name) in enumerate(customers.items())]
    return Company(
        host=DOMAIN,
        people=people,
        partners=(*partners, PARTNER),
        owner=_address("Sunniva Hale"),
        topics=TOPICS,
        notices=NOTICES,
        slots={
            "site": ("Fenmoor House", "Fenmoor Americas", "Fenmoor Pacific"),
            "system": ("PumpWatch", "the order desk", "the wireless", "the mail archive"),
            "supplier": ("Brightwire", "Tallstack", "Northcable"),
            "person": ("Caspian", "Beatrix", "Horatio", "Juno", "Nell"),
        },
        labels=("Joiners", "Desk", "Changes", "Budget", "Network", "Audit"),
        messages=90,
        founded=datetime(2026, 1, 5, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
        keys="fenmoor ",
        colleagues=2,
        label_names={_address(name): names for name, names in LABELS.items()},
    )


class FenmoorWorld(World):
    """The company's mailboxes, on a Monday in November."""

    company: ClassVar[Company] = _company()
    now = NOW

    def __init__(self, now: datetime | None = None, first_id: int = 1) -> None:
        super().__init__(now, first_id)
        self._conversations: dict[str, Mapping[str, Sequence[Message]]] = {}

    def mailbox(self, who: str) -> User:
        """The user of a person by HR's name, of a customer's contact by `@` and the key of the case, or of the partner.

        Raises:
            LookupError: No one at the company has the name, or no case the key.
        """
        return self.user(_address(who))

    def keep(self, key: str, messages: Mapping[str, Sequence[Message]]) -> None:
        """Stores the messages of a conversation by mailbox under its key."""
        self._conversations[key] = messages

    def message(self, key: str, owner: str, turn: int = 0) -> Message:
        """A message of a conversation or an alert, in one of the mailboxes that have it.

        Args:
            key: Key of the conversation or alert in `email_conversations`.
            owner: Whose mailbox, as `mailbox` takes it.
            turn: Number of the message in the conversation, from 0; -1 for the last one.

        Raises:
            LookupError: No conversation has the key, the mailbox does not have it, or it has fewer messages.
        """
        return self._conversations[key][_address(owner)][turn]

    def delegates(self, owner: str) -> list[Delegate]:
        """Who may act in a mailbox, oldest first."""
        return self.all(Delegate, user_id=self.mailbox(owner).id)

    def forwarding(self, owner: str) -> AutoForwarding:
        """Where a mailbox forwards new messages."""
        return self.one(AutoForwarding, user_id=self.mailbox(owner).id)

    def reply(self, owner: str) -> VacationSettings:
        """The automatic reply of a mailbox."""
        return self.one(VacationSettings, user_id=self.mailbox(owner).id)

    def filters(self, owner: str) -> list[Filter]:
        """The filters of a mailbox, oldest first."""
        return self.all(Filter, user_id=self.mailbox(owner).id)


# --- settings --------------------------------------------------------------------------------------------------------


def _add_settings(world: FenmoorWorld) -> None:
    for owner, target in FORWARDS.items():
        add_forwarding(world, _address(owner), target)
        forwarding = world.forwarding(owner)
        forwarding.enabled, forwarding.email_address = True, target
    for owner, name, status in DELEGATES:
        add_delegate(world, _address(owner), _address(name)).verification_status = status
    for owner, word, name in FILTERS:
        add_forwarding(world, _address(owner), _address(name))
        add_filter(world, _address(owner), {"forward": _address(name)}, subject=word)
    for owner, address, is_default in ALIASES:
        user = world.mailbox(owner)
        if is_default:
            world.one(SendAsAlias, user_id=user.id, is_primary=True).is_default = False
        add_alias(world, user, address, address.partition("@")[0].replace(".", " ").title(), is_default=is_default)
    for given in REPLIES:
        reply = world.reply(given.owner)
        reply.enable_auto_reply, reply.restrict_to_domain = True, given.only_company
        reply.response_subject, reply.response_body_plain_text = "Away", given.text
        reply.start_time, reply.end_time = at(given.first), at(given.last)


# --- messages --------------------------------------------------------------------------------------------------------


def _add_conversation(world: FenmoorWorld, one: Conversation) -> None:
    turns = [(_address(who), filled(text), at(when)) for who, when, text in one.turns]
    between = dict.fromkeys([turns[0][0], *map(_address, one.to), *(who for who, _text, _time in turns)])
    headers = {"Sensitivity": "Company-Confidential"} if one.is_confidential else None
    made = exchange(
        world,
        filled(one.subject),
        turns,
        between=list(between),
        copied=[_address(who) for who in one.copied],
        unread=[_address(who) for who in one.unread],
        files=one.files,
        headers=headers,
    )
    world.keep(one.key, made)


DRAFTS: Sequence[tuple[str, str, str, str, str]] = (
    ("Casper Onslow", "Osric Bellamy", "Accounts of Dorothea Blum", "11-13 15:30",
        "please close all accounts of Dorothea Blum, {leaver-blum}."),
    ("Keziah Monroe", "@kelder-charts", "PumpWatch is back", "11-16 09:45", "PumpWatch shows all values again."),
    ("Horatio Beale", "@hudson-start", "Prices of six F40", "11-13 19:05", "the sheet is attached."),
)  # fmt: skip
"""Owner, reader, subject, time and text of messages that have not been sent."""


def email_world() -> FenmoorWorld:
    """The rows of the mailboxes, with the names and addresses that this system has."""
    world = FenmoorWorld()
    add_accounts(world)
    add_traffic(world)
    _add_settings(world)
    for one in CONVERSATIONS:
        _add_conversation(world, one)
    for alert in ALERTS:
        owner = _address(alert.owner)
        message = notice(world, owner, alert.sender, alert.subject, alert.text, at(alert.when))
        world.keep(alert.key, {owner: [message]})
    for name, reader, subject, when, text in DRAFTS:
        add_draft(world, _address(name), [_address(reader)], subject, filled(text), at(when))
    return world
