"""Messages of the company's channels and chats, each about something that its other systems have too.

Invariant: people are named as HR names them, a customer's contact by `@` and the key of the case in customer service,
and records by the keys of their fixtures, so a text agrees with the systems that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Line = tuple[str, str]
"""Author and text."""


@dataclass(frozen=True)
class Said:
    """A message of a channel with its replies, each nine minutes after the one before."""

    channel: str
    """Team and channel, with a colon between them."""
    author: str
    when: str
    text: str
    replies: Sequence[Line] = ()
    subject: str = ""


SAID: Mapping[str, Said] = {
    # --- incidents ---
    "gateway-opened": Said("Major Incidents:Gateway 16 November", "Ruben Castellan", "11-16 07:22",
        "{gateway}: gateway TG-40117 stopped at 06:40, its certificate has ended. New one by 11:00.",
        (("Nadia Okafor", "who ordered the last one?"), ("Ruben Castellan", "Dorothea, from her own mailbox"),
            ("Sunniva Hale", "Keep the causes in the private channel, please.")), "Telemetry is missing"),
    "gateway-customers": Said("Major Incidents:Gateway 16 November", "Sunniva Hale", "11-16 08:05",
        "Customers so far: {kelder-charts} and {ashdown-charts}. Who writes the notice?",
        (("Keziah Monroe", "I do, the draft is on Drive."),
            ("Tobiah Mercer", "Nothing goes out before Venetia has read it."),
            ("Keziah Monroe", "Venetia is on leave and said that I decide."))),
    "gateway-guest": Said("Major Incidents:Gateway 16 November", "@kelder-charts", "11-16 09:20",
        "Since I can read this here: was it a certificate of yours that ended?"),
    "gateway-cause": Said("Major Incidents:Causes", "Ruben Castellan", "11-16 09:05",
        "The reminder went to the mailbox of Dorothea Blum only. Her successor was not on the list."),
    "quay-opened": Said("Major Incidents:Quay switch", "Nadia Okafor", "11-15 23:10",
        "{quay-switch}: errors on line card 2 of the core switch. Kirra swaps it on 17 November.",
        (("Kirra Dawe", "I am on leave until Wednesday, HR knows since August."),
            ("Nadia Okafor", "then Thursday, or Yolanda flies?"))),
    "visitors": Said("Major Incidents:General", "Mirabel Stone", "11-13 17:20",
        "Guests of customers read everything in this team but the private channel. Is that what we want?"),
    "prices-opened": Said("Major Incidents:Order desk", "Piotr Zielin", "11-13 15:45",
        "{order-prices} waits for Giselle. I am at a training on Wednesday and Thursday.",
        (("Mirabel Stone", "Giselle is on leave, ask Ingram."),)),
    # --- PumpWatch ---
    "release-date": Said("PumpWatch:Release December", "Jocasta Finn", "11-12 10:25",
        "The release is on 8 December, freeze on 1 December. Dorothea owns this team until we know who does."),
    "release-owner": Said("PumpWatch:General", "Dorothea Blum", "11-13 14:20",
        "My last day. Wendell said Jocasta takes the team; I could not make her an owner before lunch, so please do"
        " it.", (("Jocasta Finn", "I can't, I am a member."),)),
    "certificates": Said("PumpWatch:Certificates", "Dorothea Blum", "11-12 16:40",
        "Two certificates end soon: gateway on 16 November, portal on 30 November. The list is on Drive."),
    "charts-article": Said("PumpWatch:Charts", "Caspian Rowe", "11-10 15:30",
        "Customers quote our internal article on missing charts. Where do they have it from?"),
    # --- customers ---
    "kelder-visit": Said("Customer Desk:Kelder Water", "Keziah Monroe", "11-12 09:05",
        "Ottoline Brand comes with three people on 25 November, 13:00 at Tanner Row."),
    "hudson-visit": Said("Customer Desk:Hudson Reservoirs", "Odalys Pinto", "11-16 09:25",
        "{hudson-start}: Winona and I are there on 19 November at 10:00.",
        (("Tobiah Mercer", "That is your jury duty, Odalys."),)),
    "bendigo-silence": Said("Customer Desk:Bendigo Mines", "Lachlan Ord", "11-13 05:10",
        "{gow-bendigo} is mine since October, but the customer still writes to Philippa. I get nothing."),
    "refunds": Said("Customer Desk:General", "Venetia Croft", "11-13 17:00",
        "I am away from 16 to 20 November. Notices: Keziah. Refunds: Fabian."),
    "claim": Said("Customer Desk:Ashdown claim", "Duncan Iredale", "10-21 04:30",
        "Nothing about Ashdown is deleted, here neither. Lawyers answer by 4 December."),
    "prices-board": Said("Hudson Project:Prices", "Horatio Beale", "11-11 15:20",
        "Six F40 at 7,100 each, until the board has agreed not a word to Hudson.",
        (("Marguerite Sloane", "Their contact is a member of this channel, isn't he?"),)),
    "project-gate": Said("Hudson Project:General", "@hudson-start", "11-15 21:40",
        "The gate is open on Thursday from nine. Two visitors at most."),
    # --- people and sites ---
    "leaver-blum": Said("People:Leavers", "Casper Onslow", "11-13 15:25",
        "{leaver-blum}: badge is here, accounts on Monday. Owner of the team PumpWatch: not our business, or is it?",
        (("Perpetua Lyle", "It is, the checklist says 'everything that is open'."),)),
    "leaver-grady": Said("People:Leavers", "Perpetua Lyle", "11-10 10:40",
        "Sefton still appears as owner of Site Technicians and of Major Incidents."),
    "relations": Said("People:Relations", "Hamish Corrie", "11-11 03:20",
        "{grievance-rowe}: talk on 24 November, only Aurelio and I."),
    "castle-move": Said("Sales:General", "Marguerite Sloane", "09-02 13:20",
        "Juno Castle joins us from the customer desk. Magnus, please add her here."),
    "castellan-move": Said("New York House:General", "Mirabel Stone", "10-01 14:30",
        "Ruben sits with us from today, desk 4.02.",
        (("Magnus Orrin", "I add him when London has let him go."),)),
    "stock-taking": Said("Sydney House:Stock-taking", "Orla Keating", "11-11 04:10",
        "28 November from seven. Who counts seals?", (("Thora Vance", "I do"), ("Marnie Stroud", "starters for me"))),
    "drill": Said("London House:General", "Lavender Crewe", "11-12 09:00",
        "Fire drill on 18 November at 14:00. Third floor: Horatio Beale leads you out."),
    "keys": Said("Site Technicians:General", "Yolanda Reyes", "11-09 16:30",
        "No one can add our new fitter here, the owner is Sefton and he has left."),
    "audit": Said("All Company:General", "Honora Quill", "11-13 12:10",
        "The auditors come on 30 November. Please tell Osric Bellamy if someone who has left still reads your files."),
}  # fmt: skip
CHATS: Sequence[tuple[str, Sequence[str], Sequence[Line]]] = (
    ("Gateway this morning", ("Sunniva Hale", "Ruben Castellan", "Nadia Okafor", "Dorothea Blum"),
        (("Ruben Castellan", "new certificate is requested, {gateway}"),
            ("Sunniva Hale", "Honora wants two sentences before eleven."),
            ("Dorothea Blum", "I still see this. The form is in Handover."))),
    ("Visit to Hudson", ("Odalys Pinto", "Winona Tabor", "Tobiah Mercer"),
        (("Winona Tabor", "I have the spare starter."), ("Odalys Pinto", "Thursday at 10:00, gate 2."))),
    ("Croft's week", ("Keziah Monroe", "Fabian Trask", "Elodie Marsh", "Philippa Gow"),
        (("Fabian Trask", "who confirms the ten percent for Ashdown?"), ("Keziah Monroe", ("No one before Venetia is"
            " back.")))),
    ("Audit", ("Osric Bellamy", "Perpetua Lyle", "Sunniva Hale", "Sefton Grady"),
        (("Perpetua Lyle", "How many teams have an owner who has left?"), ("Osric Bellamy", "I count tomorrow."))),
    ("Quotes with seals", ("Piotr Zielin", "Giselle Amato", "Ingram Tully"),
        (("Piotr Zielin", "January or July?"),)),
    ("", ("Wendell Achebe", "Jocasta Finn"), (("Wendell Achebe", "From Monday PumpWatch is yours, also in Teams."),)),
    ("", ("Hamish Corrie", "Aurelio Banks"), (("Aurelio Banks", "Take Casper out of Relations, please."),)),
    ("", ("Wendell Achebe", "Hamish Corrie"), (("Wendell Achebe", "Could I see the notes about Caspian?"),)),
    ("", ("Linnea Storrs", "Orla Keating"), (("Linnea Storrs", "Reading is enough for the stock-taking."),)),
    ("", ("Venetia Croft", "Keziah Monroe"), (("Venetia Croft", "You release notices this week, no one else."),)),
    ("", ("Kirra Dawe", "Nadia Okafor"), ()),
    ("", ("Anselm Pryor", "Jocasta Finn"), (("Anselm Pryor", "I can't speak on the 24th, ask Fenella."),)),
    ("", ("Magnus Orrin", "Horatio Beale"), ()),
    ("", ("Osric Bellamy", "Casper Onslow"), ()),
)  # fmt: skip
"""Topic, empty for the chat of two, members, and what was said this morning."""
