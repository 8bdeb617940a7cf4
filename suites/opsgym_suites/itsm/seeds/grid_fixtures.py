"""Fixture records of the seed `grid`, which stands at 20:30 UTC on 9 March 2027: 09:30 of the next day in Wellington.

Invariant: times are UTC, none after the seed's. What tells two similar records apart stands in notes, devices and times
and not in their summaries.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from opsgym_domains.itsm.tables import Incident, IncidentSla, Notification, SlaDefinition, User
from opsgym_suites.itsm.seeds.desk_random_records import fail_some_messages
from opsgym_suites.itsm.seeds.fixtures import ChangeFixture, IncidentFixture, ProblemFixture
from opsgym_suites.itsm.seeds.leftovers import add_grid_leftovers
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.world import at

R, H = "Rimutaka Lines", "Harakeke Clinics"
NOW = at("2027-03-09 20:30")
"""The time at which the seed stands."""

CHANGES = (
    ChangeFixture(
        "console-1-memory", R, "More memory for a control console", "Graham Pirie", "Grid Applications", "Wiremu Paki",
        "Grid Control", "Control console 1", "scheduled", "hardware", "low", "medium", "moderate", "2027-03-01 21:00",
        "Swap the memory between two shifts.", "Run the day's switching plan.",
    ),
    ChangeFixture(
        "console-2-memory", R, "More memory for a control console", "Graham Pirie", "Grid Applications", "Priya Raman",
        "Grid Control", "Control console 2", "scheduled", "hardware", "low", "low", "low", "2027-03-02 21:00",
        "Swap the memory between two shifts.", "Run the day's switching plan.",
    ),
    ChangeFixture(
        "head-end-patch", R, "Patch 12 of the meter head-end", "Leilani Fonoti", "Grid Platform", "Mei Tan",
        "Smart Meters", "Meter head-end", "authorize", "system_software", "medium", "low", "moderate",
        "2027-03-04 22:10", "Patch at night, restart once.", "Read a hundred meters.",
    ),
    ChangeFixture(
        "fridge-firmware", H, "Firmware 3.3 on all fridge loggers", "Ofa Taufa", "Clinic Networks", "Fetu Lagi",
        "Vaccine Fridges", "Fridge logger Suva", "review", "hardware", "low", "medium", "high", "2027-02-20 01:00",
        "One clinic a day.", "Open a door for ten minutes.",
    ),
)  # fmt: skip

PROBLEMS = (
    ProblemFixture(
        "fridge-alarms", H, "False fridge alarms", "Loggers send an alarm at every restart.", "Ofa Taufa",
        "Clinic Networks", "Fetu Lagi", "Vaccine Fridges", "Fridge logger Suva", "fix_in_progress", "hardware",
        "medium", "high", "2027-02-18 02:00", workaround="Confirm the alarm on the logger.", change="fridge-firmware",
    ),
    ProblemFixture(
        "records-timeouts", H, "Patient files time out", "Sessions end after a minute.", "Vikram Shah",
        "Clinic Applications", "Tane Bishop", "Patient Records", None, "root_cause", "software", "medium", "medium",
        "2027-03-03 23:30", workaround="Open the file from the day list instead of the search.",
    ),
    ProblemFixture(
        "dispatch-queue", R, "Jobs stay in the queue", "Jobs are sent to vans that have gone home.", "Graham Pirie",
        "Grid Applications", "Priya Raman", "Crew Dispatch", None, "root_cause", "software", "medium", "medium",
        "2027-03-05 03:00",
    ),
)  # fmt: skip


def _of(company: str) -> Callable[..., IncidentFixture]:
    """Maker of a company's incidents: key, summary, description, caller, category, levels, time without year."""

    def made(
        key: str, summary: str, description: str, caller: str, category: str, levels: str, created: str, **fields: Any
    ) -> IncidentFixture:
        impact, _, urgency = levels.partition(" ")
        return IncidentFixture(
            key, company, summary, description, caller, category, impact, urgency, f"2027-{created}", **fields
        )

    return made


_r, _h = _of(R), _of(H)
APPS, YARD, PLATFORM, DESK = "Grid Applications", "Yard Technicians", "Grid Platform", "Lines Service Desk"
INCIDENTS = (
    # The outage map is blank; an older report about its legend is something else, and one report is in another group.
    _r("map-not-1", "Outage map has old colours", "Legend only.", "Stuart Blyth", "software", "low low", "03-09 18:40",
       service="Outage Map", team=APPS),
    _r("map-1", "Outage map stays blank", "Frame without streets.", "Kiri Walker", "software", "low medium",
       "03-09 19:02", service="Outage Map", team=APPS, assignee="Wiremu Paki", status="in_progress"),
    _r("map-2", "No streets on the outage map", "Since the shift began.", "Ana Vea", "software", "medium medium",
       "03-09 19:20", service="Outage Map", team=APPS, channel="phone"),
    _r("map-3", "Callers say our map is empty", "Four calls.", "Owen Tait", "inquiry-help", "low medium",
       "03-09 19:41", service="Outage Map", team=DESK, channel="phone"),
    _r("map-4", "Map of outages is white", "On the wall screen too.", "Stuart Blyth", "software", "medium low",
       "03-09 20:05", service="Outage Map", team=APPS),
    # Reports of tablets that are offline hang under one incident; two of them are the gateway's.
    _r("offline", "Crew tablets are offline", "Several vans.", "Ana Vea", "network", "medium medium", "03-08 19:30",
       service="Crew Dispatch", team=PLATFORM, assignee="Mei Tan", status="in_progress"),
    _r("gateway-h3", "Gateway H3 does not answer", "Alarm in the control room.", "Kiri Walker", "hardware",
       "medium medium", "03-08 19:50", service="Crew Dispatch", device="Gateway H3", team=YARD, assignee="Callum Reade",
       status="in_progress"),
    _r("offline-1", "No jobs on the tablet", "Van 4.", "Stuart Blyth", "network", "low medium", "03-08 20:10",
       service="Crew Dispatch", team=PLATFORM, parent="offline", worknotes="SIM card expired."),
    _r("offline-2", "Tablet finds no network", "Van 9.", "Owen Tait", "network", "low medium", "03-08 20:25",
       service="Crew Dispatch", team=PLATFORM, parent="offline", worknotes="Traced: sits behind gateway H3."),
    _r("offline-3", "Job list is empty", "Van 2, near gateway H8.", "Ngaire Hopa", "network", "low medium",
       "03-08 20:40", service="Crew Dispatch", team=PLATFORM, parent="offline", worknotes="Aeroplane mode was on."),
    _r("offline-4", "Tablet shows yesterday's jobs", "Van 11.", "Kiri Walker", "network", "low medium", "03-08 21:05",
       service="Crew Dispatch", team=PLATFORM, parent="offline", worknotes="Traced: sits behind gateway H3."),
    # Gaps in meter readings: three have one cause, as the notes say.
    _r("gap-1", "Readings missing in Carterton", "Two streets.", "Ana Vea", "database", "low medium", "03-07 22:00",
       service="Smart Meters", device="Meter head-end", team=PLATFORM, worknotes="Job 7 of the head-end stopped."),
    _r("gap-2", "Readings missing in Greytown", "One farm.", "Stuart Blyth", "database", "low low", "03-07 22:40",
       service="Smart Meters", device="Meter head-end", team=PLATFORM, worknotes="Fuse of the customer was out."),
    _r("gap-3", "Readings missing in Featherston", "All of it.", "Kiri Walker", "database", "medium low", "03-08 01:15",
       service="Smart Meters", device="Meter head-end", team=PLATFORM, worknotes="Job 7 of the head-end stopped."),
    _r("gap-4", "Readings missing in Martinborough", "One street.", "Owen Tait", "database", "low medium",
       "03-08 02:30", service="Smart Meters", device="Meter head-end", team=PLATFORM,
       worknotes="Meter was swapped, number not entered."),
    _r("gap-5", "Readings missing in Eketahuna", "Half of it.", "Ngaire Hopa", "database", "low low", "03-08 03:45",
       service="Smart Meters", device="Meter head-end", team=PLATFORM, worknotes="Job 7 of the head-end stopped."),
    # Noise on the dispatch radio.
    _r("noise-1", "Hum on the dispatch channel", "All morning.", "Ana Vea", "network", "low low", "03-09 17:20",
       service="Crew Dispatch", team=PLATFORM, assignee="Sam Ioane", status="in_progress"),
    _r("noise-2", "Crackling when crews call in", "Hard to understand.", "Stuart Blyth", "network", "low medium",
       "03-09 17:55", service="Crew Dispatch", team=PLATFORM, channel="phone"),
    _r("noise-3", "Voices are cut on the radio", "Every second word.", "Ngaire Hopa", "network", "low low",
       "03-09 18:30", service="Crew Dispatch", team=PLATFORM),
    _r("noise-not-1", "Radio base beeps at night", "Battery warning.", "Owen Tait", "hardware", "low low",
       "03-09 16:10", service="Crew Dispatch", device="Dispatch radio base", team=YARD),
    _r("console", "Console freezes at the change of shifts", "For two minutes.", "Kiri Walker", "hardware",
       "medium medium", "03-09 02:15", service="Grid Control", device="Control console 2", team=YARD,
       assignee="Callum Reid", status="in_progress"),
    _r("console-1", "Console swaps pages all the time", "Slow in the evening.", "Kiri Walker", "hardware",
       "medium medium", "03-04 05:15", service="Grid Control", device="Control console 1", team=YARD,
       assignee="Callum Reade", status="on_hold", hold_reason="Awaiting Change", change="console-1-memory"),
    _r("reading-stop", "Reading run stops at 60 percent", "Every night.", "Ana Vea", "database", "medium low",
       "03-06 23:10", service="Smart Meters", device="Meter head-end", team=PLATFORM, assignee="Mei Tan",
       status="in_progress", worknotes="Patch 12 removes the fault."),
    _r("export", "Meter export is empty", "Billing waits for it.", "Stuart Blyth", "database", "medium low",
       "03-09 09:40", service="Smart Meters", team=PLATFORM, assignee="Sam Ioane", status="in_progress"),
    _r("queue-1", "Job went to a van at home", "Crew had left.", "Ana Vea", "software", "low medium", "03-05 01:00",
       service="Crew Dispatch", team=APPS, assignee="Priya Raman", status="on_hold", hold_reason="Awaiting Problem",
       problem="dispatch-queue"),
    _r("queue-2", "Van gets no job all day", "List says sent.", "Owen Tait", "software", "medium medium", "03-05 02:10",
       service="Crew Dispatch", team=APPS, assignee="Wiremu Paki", status="on_hold", hold_reason="Awaiting Problem",
       problem="dispatch-queue"),
    _r("queue-3", "Job was sent twice", "To two vans.", "Kiri Walker", "software", "low low", "03-05 04:30",
       service="Crew Dispatch", team=APPS, assignee="Priya Raman", status="in_progress", problem="dispatch-queue"),
    _r("billing-1", "Bill shows two meters", "One house.", "Ana Vea", "software", "low low", "03-03 00:20",
       service="Smart Meters", team=APPS, assignee="Wiremu Paki", status="in_progress"),
    _r("billing-2", "Tariff of a meter is wrong", "Night rate.", "Kiri Walker", "software", "low medium", "03-04 00:50",
       service="Smart Meters", team=APPS),
    _r("nelson-print", "Printer in Nelson folds the paper", "Every page.", "Owen Tait", "hardware", "low low",
       "03-05 22:00", service="Workplace", device="Nelson printer", team=YARD, assignee="Callum Reid",
       status="in_progress", worknotes="New tray ordered."),
    _r("nelson-net", "Nelson is offline for minutes", "Twice a day.", "Owen Tait", "network", "medium medium",
       "03-08 21:40", service="Workplace", device="Nelson router", team=PLATFORM, assignee="Tevita Moala",
       status="in_progress"),
    _r("nelson-over", "Printer in Nelson has no toner", "Since Friday.", "Owen Tait", "hardware", "low low",
       "02-20 22:00", service="Workplace", device="Nelson printer", team=YARD, assignee="Callum Reid", status="closed",
       code="Solution Provided", notes="Toner replaced.", resolved="2027-02-21 01:00", resolved_by="Callum Reid",
       close_notes="Confirmed."),
    _r("hopa-open", "Mail goes to my old name", "Since the wedding.", "Ngaire Hopa", "software", "low low",
       "03-07 20:15", service="Workplace", team=APPS, assignee="Wiremu Paki", status="in_progress"),
    _r("hopa-over", "Badge shows my old name", "Photo is right.", "Ngaire Hopa", "hardware", "low low", "02-16 20:00",
       service="Workplace", team=YARD, assignee="Callum Reid", status="closed", code="Solution Provided",
       notes="Badge printed again.", resolved="2027-02-17 00:30", resolved_by="Callum Reid", close_notes="Confirmed."),
    _r("weekend", "Gate of the yard does not log", "Guards write on paper.", "Ana Vea", "software", "low low",
       "03-05 21:00", service="Workplace", team=APPS, assignee="Priya Raman", status="resolved",
       code="Solution Provided", notes="Clock of the gate set.", resolved="2027-03-06 22:40",
       resolved_by="Priya Raman"),
    # Clinics.
    *(
        _h(f"fridge-{number}", summary, "It was not opened.", caller, "hardware", levels, created,
           service="Vaccine Fridges", team="Clinic Networks" if number == 2 else "Clinic Devices", assignee=assignee,
           status=status, hold_reason="Awaiting Problem" if status == "on_hold" else None, problem="fridge-alarms")
        for number, summary, caller, levels, created, assignee, status in (
            (1, "Fridge alarm without a reason", "Petra Hale", "low high", "02-17 21:10", "Isla Ford", "on_hold"),
            (2, "Fridge alarm at four in the morning", "Sina Latu", "medium medium", "02-18 00:30", "Fetu Lagi",
             "on_hold"),
            (3, "Fridge rings after the restart", "Alipate Vuki", "low medium", "02-18 01:15", "Moana Grey", "on_hold"),
            (4, "Fridge rings, and its light is off", "Joan Mellor", "low high", "02-24 01:15", "Isla Ford",
             "in_progress"),
        )
    ),
    *(
        _h(f"timeout-{number}", summary, "Once an hour.", caller, "software", levels, created,
           service="Patient Records", team="Clinic Applications", assignee=assignee, status=status,
           hold_reason="Awaiting Problem" if status == "on_hold" else None, problem="records-timeouts")
        for number, summary, caller, levels, created, assignee, status in (
            (1, "Logged out in the middle of a file", "Petra Hale", "low medium", "03-02 21:00", "Tane Bishop",
             "on_hold"),
            (2, "Patient file closes by itself", "Joan Mellor", "medium medium", "03-02 23:20", "Lucy Penn", "on_hold"),
            (3, "Search for patients ends at once", "Sina Latu", "low medium", "03-03 02:40", "Lucy Penn",
             "in_progress"),
        )
    ),
    _h("frozen", "Reception terminal is frozen", "The queue is long.", "Petra Hale", "hardware", "medium high",
       "03-09 19:45", service="Patient Records", device="Reception terminal 1", team="Clinic Devices",
       assignee="Isla Ford", status="in_progress"),
    _h("booking-1", "Booking list is empty", "On Mondays.", "Petra Hale", "software", "low medium", "03-07 20:20",
       service="Old Booking", team="Clinic Applications", assignee="Lucy Penn", status="in_progress"),
    _h("booking-2", "Phone booking is cut off", "After two minutes.", "Joan Mellor", "software", "low low",
       "03-08 20:50", service="Old Booking", team="Clinic Applications"),
    _h("booking-over", "Booking list is slow", "Since January.", "Sina Latu", "software", "low low", "02-14 20:50",
       service="Old Booking", team="Clinic Applications", assignee="Lucy Penn", status="closed", code="Known Error",
       notes="Index rebuilt.", resolved="2027-02-15 01:00", resolved_by="Lucy Penn", close_notes="Confirmed."),
)  # fmt: skip


def finish(world: World) -> None:
    """Adds what earlier work at the desk left behind: an SLA of a definition out of use, messages that failed."""
    fail_some_messages(world)
    _track_by_unused_definition(world, world.fixture(Incident, "export"))
    for key, text in (("hopa-open", "Which mailbox is it?"), ("hopa-over", "Your badge is at the front desk.")):
        incident = world.fixture(Incident, key)
        world.add(_failed(world, incident, text))
    add_grid_leftovers(world)


def _track_by_unused_definition(world: World, incident: Incident) -> None:
    """Makes the first SLA of an incident one of a definition that is out of use."""
    unused = world.one(SlaDefinition, org_id=incident.org_id, name="Critical resolution 2025")
    sla = world.all(IncidentSla, incident_id=incident.incident_id)[0]
    sla.sla_def_id, sla.stage, sla.has_breached, sla.completed_time = unused.sla_def_id, "in_progress", False, None
    sla.breach_time, sla.updated_on = NOW + timedelta(hours=5), incident.created_at


def _failed(world: World, incident: Incident, text: str) -> Notification:
    return Notification(
        incident_id=incident.incident_id,
        org_id=incident.org_id,
        email=world.one(User, user_id=incident.caller_id).email,
        subject=f"{incident.number}: {incident.short_description}",
        message=text,
        type="update",
        status="failed",
        created_on=incident.updated_at,
        updated_on=incident.updated_at,
    )
