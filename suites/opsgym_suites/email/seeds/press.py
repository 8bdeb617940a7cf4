"""The publisher of the seed `press`: who works there, who writes to them, and about what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_suites.email.seeds.description import Company, Correspondent, Notice, Topic

PEOPLE: Sequence[Correspondent] = (
    Correspondent("harriet.vance", "Harriet Vance", 1),
    Correspondent("jonas.berglund", "Jonas Berglund", 2),
    Correspondent("mei.tanaka", "Mei Tanaka", 3),
    Correspondent("oscar.delgado", "Oscar Delgado", 5),
    Correspondent("priyanka.nair", "Priyanka Nair", 0),
    Correspondent("lucas.moreau", "Lucas Moreau", 1),
    Correspondent("lucie.moreau", "Lucie Moreau", 4),
    Correspondent("tobias.kern", "Tobias Kern", 2),
    Correspondent("amira.haddad", "Amira Haddad", 0),
    Correspondent("samuel.osei", "Samuel Osei", 5),
    Correspondent("greta.lindholm", "Greta Lindholm", 1),
    Correspondent("nadia.petrov", "Nadia Petrov", 3),
    Correspondent("felix.brandt", "Felix Brandt", 5),
    Correspondent("ingrid.solheim", "Ingrid Solheim", 4, active=False),
)
PARTNERS: Sequence[Correspondent] = (
    Correspondent("theo.marchetti@vellumprint.example", "Theo Marchetti", 3),
    Correspondent("paula.ferreira@vellumprint.example", "Paula Ferreira", 0),
    Correspondent("celeste.okoye@harrowlit.example", "Celeste Okoye", 4),
    Correspondent("ruben.castillo@harrowlit.example", "Ruben Castillo", 1),
    Correspondent("wendell.pryor@tallowbooks.example", "Wendell Pryor", 0),
    Correspondent("maren.dahl@nordbind.example", "Maren Dahl", 2),
)
THEO, PAULA, CELESTE, RUBEN, WENDELL, MAREN = (one.address for one in PARTNERS)

TOPICS: Sequence[Topic] = (
    Topic(
        "Proofs of {title}",
        (
            (
                THEO,
                (
                    "the proofs of {title} are ready. Please look at signature {count} once more, the blacks came out"
                    " heavy."
                ),
            ),
            (
                "me",
                "Seen. Signature {count} is fine for us, the captions on the last spread are not. New file by {day}.",
            ),
            (THEO, "Got the file, we go to press on {day} at {hour}:00."),
            ("me", "Good. Send me two advance copies, one for {person}."),
        ),
        "Production",
        "proofs-{number}.pdf",
        ("jonas.berglund",),
    ),
    Topic(
        "Invoice {number}",
        (
            (
                PAULA,
                "please find attached our invoice {number} over {amount} euros for {title}. It is due in thirty days.",
            ),
            ("me", "Thank you, Lucie has it for payment."),
            (PAULA, "We have received {amount} euros, thank you very much."),
        ),
        "Invoices",
        "invoice-{number}.pdf",
    ),
    Topic(
        "Paper for {title}",
        (
            (
                "jonas.berglund",
                "Vellumprint offers the {paper} at {amount} a tonne, delivery in week {count}. Take it?",
            ),
            ("me", "What did we pay in spring?"),
            ("jonas.berglund", "About a tenth less. But the mill in the north is closed until {day} week."),
            ("me", "Then take it, but only for this title."),
        ),
        "Production",
    ),
    Topic(
        "Contract for {title}",
        (
            (
                CELESTE,
                (
                    "my client is happy with the advance of {amount}, less so with clause {count}. Could we speak on"
                    " {day}?"
                ),
            ),
            ("me", "{day} at {hour}:00 suits me. Amira from our side will join."),
            (CELESTE, "Perfect. I shall send a marked copy before."),
        ),
        "Authors",
        "contract-{number}.pdf",
        ("amira.haddad",),
    ),
    Topic(
        "Returns from Tallowbooks",
        (
            (
                WENDELL,
                "we intend to return {count} copies of {title}; sales have not met what we hoped for. Please confirm.",
            ),
            ("me", "Confirmed, Samuel expects them at the warehouse from {day}."),
            (WENDELL, "They left our store today."),
        ),
        "Sales",
    ),
    Topic(
        "Reprint of {title}?",
        (
            (
                "lucas.moreau",
                "{title} is on the list of the {paper} prize. We have {count} copies left, should we reprint?",
            ),
            ("me", "Ask Jonas for a slot. Not more than two thousand."),
            ("lucas.moreau", "Slot in three weeks, Jonas says. I would take it."),
        ),
        "Production",
    ),
    Topic(
        "Cover of {title}",
        (
            ("greta.lindholm", "three covers for {title} attached. I like the second, Felix the third, and you?"),
            ("me", "The second, but with the type of the first."),
            ("greta.lindholm", "Done, see the new file on the share."),
        ),
        "Design",
        "covers-{number}.zip",
        ("felix.brandt",),
    ),
    Topic(
        "Budget meeting on {day}",
        (
            (
                "lucie.moreau",
                (
                    "the figures of the month are {amount} above plan, mostly {paper} and freight. Could you comment"
                    " before {day}?"
                ),
            ),
            ("me", "The freight is Samuel's new carrier, it evens out next month. The paper stays."),
            ("lucie.moreau", "Noted, I have put your comment in the sheet."),
        ),
        "Finance",
        "figures-{number}.csv",
    ),
    Topic(
        "Leave of {person}",
        (
            ("nadia.petrov", "{person} has asked for {count} days of leave from {day} on. Is that all right with you?"),
            ("me", "Yes, if the handover is written down."),
        ),
        "People",
    ),
    Topic(
        "Binding samples",
        (
            (MAREN, "Samples of {paper} are in the post. Sewn, {count} leaves, with and without ribbon."),
            ("me", "Arrived. The one with ribbon, please quote for {amount} copies."),
            (MAREN, "Quote attached next time, in short: two euros ten each."),
        ),
        "Production",
    ),
    Topic(
        "Translation rights of {title}",
        (
            ("mei.tanaka", "an offer for {title} came from {city}: {amount} on signature. I would accept by {day}."),
            ("me", "Accept, but keep audio out of it."),
            ("mei.tanaka", "They agree. Contract goes to Amira."),
        ),
        "Authors",
    ),
    Topic(
        "Launch of {title} in {city}",
        (
            (
                "felix.brandt",
                (
                    "launch of {title} in {city}, {day} at {hour}:00. The bookshop takes sixty guests. Will you say a"
                    " word?"
                ),
            ),
            ("me", "Three minutes, no more. Who brings the books?"),
            ("felix.brandt", "samuel sends two boxes on the van"),
        ),
        "Events",
    ),
    Topic(
        "Manuscript of {title}",
        (
            ("oscar.delgado", "the author of {title} is {count} days late, chapter {hour} is missing. Keep the date?"),
            ("me", "Keep it until {day}, then we swap the slot with the atlas."),
            ("oscar.delgado", "chapter is here! crisis over"),
        ),
        "Editing",
    ),
    Topic(
        "Pallets of {title}",
        (
            ("samuel.osei", "{count} pallets of {title} are here but the delivery note says fewer. who do i call?"),
            ("me", "Theo at Vellumprint. Do not sign before it is clear."),
            ("samuel.osei", "cleared, second lorry was early"),
        ),
        "Production",
    ),
    Topic(
        "Question about {title}",
        (
            (RUBEN, "Celeste asked me to find out how {title} sells. Is there a figure for the first {count} days?"),
            ("me", "Roughly {amount} copies including the chain. The statement follows in the usual month."),
        ),
        "Authors",
    ),
    Topic(
        "Laptop and accounts",
        (
            (
                "tobias.kern",
                "Your laptop is due for exchange, {day} {hour}:00, takes an hour. Keep it plugged in before.",
            ),
            ("me", "Fine. Please keep my shortcuts."),
        ),
    ),
    Topic(
        "Editorial meeting, {day}",
        (
            (
                "priyanka.nair",
                "on the agenda for {day}: {title}, the list for {city}, and the open position. Please bring figures.",
            ),
            ("me", "I will bring production dates for the next {count} titles."),
            ("priyanka.nair", "Thank you, that was a good meeting. Minutes follow from Oscar."),
        ),
        "Editing",
    ),
)
NOTICES: Sequence[Notice] = (
    Notice(
        "Bookwire Daily <newsletter@bookwire.example>",
        "Bookwire Daily: {city} fair, paper prices, and {count} debuts",
        "Good morning. In today's issue: what the fair in {city} tells us about the trade, why {paper} costs more than"
        " a year ago, and {count} debuts to watch.\n\nYou receive this message because you subscribed.\n",
        "CATEGORY_PROMOTIONS",
    ),
    Notice(
        "Parcelway <alerts@parcelway.example>",
        "Parcel {number} is on its way",
        "Your parcel {number} with {count} items left our hub and arrives on {day} before {hour}:00.\nDo not reply.\n",
        "CATEGORY_UPDATES",
    ),
    Notice(
        "Cloudrack Billing <billing@cloudrack.example>",
        "Your Cloudrack receipt {number}",
        "We charged {amount} euros to your card. Receipt {number}. Thank you for using Cloudrack.\n",
        "CATEGORY_UPDATES",
    ),
    Notice(
        "Litcircle <invitations@litcircle.example>",
        "{count} people follow your house on Litcircle",
        "Readers from {city} follow you. Post a photo of {title} to thank them!\n",
        "CATEGORY_SOCIAL",
    ),
    Notice(
        "Typeforum <digest@typeforum.example>",
        "[typeforum] Hyphenation in {city}, ligatures, {count} new answers",
        "New answers in threads that you follow: hyphenation, ligatures, {paper}.\n",
        "CATEGORY_FORUMS",
        "",
    ),
    Notice(
        "House printer <scanner@quillmark.example>",
        "Scan {number}",
        "A scan with {count} pages is attached on the share. This message comes from the printer on the second"
        " floor.\n",
        "CATEGORY_UPDATES",
    ),
    Notice(
        "Winner Office <prize@lucky-draw.example>",
        "You have been selected, claim {amount} today",
        "Dear friend, your address won {amount} dollars. Send your bank details to release the prize before {day}.\n",
        "CATEGORY_PROMOTIONS",
        "SPAM",
    ),
    Notice(
        "Cheap Toner <sales@tonerdeal.example>",
        "Toner at half price until {day}",
        "Half price on all cartridges, {count} left in stock. Order until {day}.\n",
        "CATEGORY_PROMOTIONS",
        "TRASH",
    ),
)
SLOTS: Mapping[str, Sequence[str]] = {
    "title": (
        "The Salt Road",
        "Winter Orchards",
        "A Map of Small Hours",
        "Northern Bees",
        "The Glassmaker's Ledger",
        "Bread and Weather",
        "Seven Harbours",
        "The Quiet Signal",
        "Letters to a Lighthouse",
        "Moss, a Biography",
        "Tin Roof Summer",
        "The Ninth Violin",
        "Rivers Without Names",
        "An Atlas of Doors",
        "The Understudy",
        "Cold Kitchen",
        "The Cartographer's Son",
        "Half a Kingdom",
        "Slow Trains",
        "The Apiary Murders",
    ),
    "paper": ("cream wove", "coated silk", "recycled offset", "bible paper", "grey board", "linen cloth"),
    "city": ("Leipzig", "Turin", "Bologna", "Gothenburg", "Antwerp", "Porto"),
    "person": ("Oscar", "Greta", "Samuel", "Felix", "Mei", "Jonas"),
}

PRESS = Company(
    host="quillmark.example",
    people=PEOPLE,
    partners=PARTNERS,
    owner="harriet.vance",
    topics=TOPICS,
    notices=NOTICES,
    slots=SLOTS,
    labels=(
        "Production",
        "Invoices",
        "Authors",
        "Sales",
        "Design",
        "Finance",
        "People",
        "Events",
        "Editing",
        "Legal hold",
        "Audit 2025",
        "Old newsletters",
    ),
    messages=5000,
    founded=datetime(2026, 1, 5, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    keys="press ",
    colleagues=18,
    label_names={
        "jonas.berglund": ("Printers", "Claims", "Done"),
        "mei.tanaka": ("Offers", "Signed", "Fairs"),
        "lucie.moreau": ("To pay", "Paid", "Payroll"),
        "amira.haddad": ("Contracts", "Legal hold", "Disputes"),
        "felix.brandt": ("Launches", "Press clippings"),
        "priyanka.nair": ("Board", "Minutes"),
        "samuel.osei": ("Carriers", "Stock"),
        "oscar.delgado": ("Manuscripts", "Authors"),
        "nadia.petrov": ("Applications", "Confidential"),
        "lucas.moreau": ("Campaigns", "Prizes"),
    },
)
"""The company of the seed `press`."""
