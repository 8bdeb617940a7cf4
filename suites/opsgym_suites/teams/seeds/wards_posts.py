"""Posts and chats of the seed `wards` on which tasks turn, each in the words of its author."""

from __future__ import annotations

from opsgym_suites.kit.world import at
from opsgym_suites.teams.seeds.description import ChatPlan, Post

POSTS = (
    # --- channels whose work is over, and others that only look so ---
    Post(
        "Patient Records",
        "Maternity pilot",
        "marama.tautahi",
        "The pilot is over and signed off, so the work of this channel is finished! Thanks, Marama",
        at("11-12 22:10"),
    ),
    Post(
        "Patient Records",
        "Pharmacy pilot",
        "pania.rangi",
        "We pause until the cutover and then carry on here.",
        at("11-12 22:30"),
    ),
    Post(
        "Patient Records",
        "Data migration",
        "jorunn.aasen",
        "<p>Load 7 of 9 is in. Two are left.</p>",
        at("11-12 23:00"),
    ),
    Post(
        "Network Renewal",
        "Car park",
        "viliami.taufa",
        "gates and cameras work, the work of this channel is finished",
        at("11-11 21:00"),
    ),
    Post(
        "Network Renewal",
        "Wireless survey",
        "zubin.daruwala",
        "All rooms are measured and the report is filed. The work of this channel is finished.",
        at("11-11 22:00"),
    ),
    Post(
        "Network Renewal",
        "South block",
        "farid.noorzai",
        "Floor four waits for the ceiling, floors one to three are done.",
        at("11-11 23:00"),
    ),
    Post(
        "Imaging",
        "Viewer upgrade",
        "ravindu.perera",
        "version nine is live everywhere, work of this channel is finished",
        at("11-12 20:00"),
    ),
    Post(
        "Imaging",
        "Scanner two",
        "chandra.m.iyer",
        "<p>The old scanner is out, the new one comes on 8 December.</p>",
        at("11-12 20:40"),
    ),
    # --- posts that their authors correct ---
    Post(
        "Patient Records",
        "Cutover",
        "tamsin.oglethorpe",
        "Good day, rehearsal is on Friday at 18:00 in room K2. Kind regards, Tamsin",
        at("11-12 23:10"),
    ),
    Post("Patient Records", "Cutover", "tamsin.oglethorpe", "Who brings the spare label printers?", at("11-12 23:20")),
    Post(
        "Patient Records",
        "Cutover",
        "tamsin.oglethorpe",
        "Who brings the spare label printers? (sent twice)",
        at("11-12 23:21"),
    ),
    Post(
        "Patient Records",
        "General",
        "tamsin.oglethorpe",
        "The list of go-live contacts is in the files of General.",
        at("11-09 23:21"),
        deleted=True,
    ),
    Post("Telephony", "Pagers", "viliami.taufa", "pager test is tuesday 13:00, all wards", at("11-12 21:00")),
    Post("Telephony", "Pagers", "viliami.taufa", "lost my badge, anyone?", at("11-12 21:05")),
    Post(
        "Telephony",
        "Pagers",
        "viliami.taufa",
        "battery list is pinned in the store room",
        at("11-10 21:05"),
        deleted=True,
    ),
    # --- questions with answers ---
    Post(
        "Patient Records",
        "Cutover",
        "mereana.tipene",
        "Who can sit in the control room on Saturday night?",
        at("11-12 21:30"),
        replies=(("dunstan.pryor", "sunday yes, saturday no"), ("chandra.iyer", "I can, from 20:00 to 04:00.")),
        reactions=(("mereana.tipene", "surprised"),),
    ),
    Post(
        "Network Renewal",
        "North block",
        "anselm.drexler",
        "who lets the cablers into floor five on thursday?",
        at("11-12 20:30"),
        replies=(("zubin.daruwala", "I have lectures, sorry."), ("bartek.zielinski", "me, 7 to 15")),
        reactions=(("anselm.drexler", "surprised"), ("farid.noorzai", "like")),
    ),
    # --- joiners, and people for tags ---
    Post(
        "Service Desk",
        "General",
        "odile.charpentier",
        "Good day, from Monday the early shift is Lorcan Devlin and Zubin Daruwala;"
        " Kahu Wiremu has leave. Kind regards, Odile",
        at("11-13 00:30"),
    ),
    Post(
        "Network Renewal",
        "General",
        "anselm.drexler",
        "night changes from now on: bartek zielinski, viliami taufa. farid noorzai is off nights",
        at("11-13 01:00"),
    ),
    # --- confidential ---
    Post(
        "Security Watch",
        "Cases",
        "isidro.valverde",
        "kahu wiremu opened 14 records without reason, interview on 24 november",
        at("11-11 20:00"),
    ),
    Post(
        "Wireless Tender",
        "Bids",
        "callum.strachan",
        "<p>Netlumen is 80,000 above the others, but we like their plan.</p>",
        at("11-11 22:20"),
    ),
    # --- drills and calls ---
    Post(
        "Telephony",
        "Switchboard",
        "tevita.fonoti",
        "Fire drill! The Ward Pager calls Viliami Taufa, Kahu Wiremu and Hinemoa Rewi,"
        " sound only, subject 'Fire drill'! Thanks, Tevita",
        at("11-12 23:40"),
    ),
    Post(
        "Service Desk",
        "Major faults",
        "lorcan.devlin",
        "Printing in admissions is back since 09:40.",
        at("11-13 02:00"),
    ),
    Post(
        "Service Desk",
        "Major faults",
        "lorcan.devlin",
        "Printing in outpatients is back since 09:40.",
        at("11-13 02:01"),
    ),
)

CHATS = (
    ChatPlan(
        ("mereana.tipene", "dunstan.pryor", "jorunn.aasen", "nerida.cawthorn"),
        "Cutover core",
        (
            ("nerida.cawthorn", "Two findings are left."),
            ("mereana.tipene", "Control room is K5! Thanks, Mereana"),
            ("dunstan.pryor", "interfaces stop at 22:15"),
            ("mereana.tipene", "Go or no go is on Thursday at 15:00! Thanks, Mereana"),
        ),
    ),
    ChatPlan(
        ("anselm.drexler", "bartek.zielinski", "farid.noorzai", "takumi.hoshino"),
        "North block nights",
        (
            ("takumi.hoshino", "spare switch is in rack 4"),
            ("anselm.drexler", "outage is 01:30 to 02:15"),
            ("bartek.zielinski", "floor five first"),
            ("anselm.drexler", "outage starts at 01:00"),
        ),
    ),
    ChatPlan(
        ("declan.moriarty", "ravindu.perera", "mirela.stanescu", "umberto.ferrante"),
        "Scanner move",
        (
            ("mirela.stanescu", "The crane is booked for 7 December."),
            ("umberto.ferrante", "<p>Two rooms are free that day.</p>"),
            ("declan.moriarty", "floor is checked for 6 tonnes"),
        ),
    ),
    ChatPlan(
        ("brigid.halloran", "aroha.kingi", "saoirse.keating"),
        "Trainers",
        (
            ("brigid.halloran", "Room T1 is ours all week! Thanks, Brigid"),
            ("saoirse.keating", "I take the night staff!"),
            ("aroha.kingi", "I take the clerks!"),
        ),
    ),
    ChatPlan(("odile.charpentier", "kahu.wiremu", "lorcan.devlin", "zubin.daruwala"), "Desk"),
    ChatPlan(("rosalba.quintero", "isidro.valverde", "farid.noorzai"), "Watch"),
    ChatPlan(("nikau.parata", "hinemoa.rewi", "giselle.lamoureux"), "Nurses"),
    ChatPlan(
        ("mereana.tipene", "chandra.iyer"), lines=(("chandra.iyer", "I can do Saturday night in the control room."),)
    ),
    ChatPlan(("mereana.tipene", "tamsin.oglethorpe")),
    ChatPlan(("anselm.drexler", "bartek.zielinski")),
    ChatPlan(("declan.moriarty", "ravindu.perera")),
    ChatPlan(("fatuma.abdirahman", "dunstan.pryor")),
    ChatPlan(("odile.charpentier", "kahu.wiremu")),
    ChatPlan(("brigid.halloran", "aroha.kingi")),
    ChatPlan(("hemi.ngata", "zubin.daruwala")),
    ChatPlan(("tevita.fonoti", "viliami.taufa")),
    ChatPlan(("callum.strachan", "mereana.tipene")),
    ChatPlan(("rosalba.quintero", "ysolde.marchbanks")),
    ChatPlan(("nikau.parata", "marama.tautahi")),
    ChatPlan(("elowen.trethewey", "nerida.cawthorn")),
)
