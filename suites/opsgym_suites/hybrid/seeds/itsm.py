"""The service desk of the company."""

from __future__ import annotations

from opsgym_suites.hybrid.cast import COMPANY, DOMAIN, SITES, accounts
from opsgym_suites.hybrid.cast import Person as Member
from opsgym_suites.itsm.seeds import desk_random_records
from opsgym_suites.itsm.seeds.companies import Company, Device, Person, ServiceLine, Site, Team
from opsgym_suites.itsm.seeds.fixtures import IncidentFixture
from opsgym_suites.itsm.seeds.generate import Scale, Setting, generate, reported
from opsgym_suites.itsm.seeds.routine_records import APPLICATIONS, DESK, FIELD, PLATFORM, IncidentKind, Routine
from opsgym_suites.itsm.seeds.world import World

TEAMS = (
    Team("Fenmoor Help Desk", DESK, "Sunniva Hale", ("Nadia Okafor", "Yolanda Reyes"), "First answers and passwords"),
    Team("Business Applications", APPLICATIONS, "Mirabel Stone", ("Piotr Zielin", "Ruben Castellan"), "Programs"),
    Team("Site Technicians", FIELD, "Sunniva Hale", ("Kirra Dawe", "Yolanda Reyes", "Sefton Grady"), "Devices"),
    Team("Core Systems", PLATFORM, "Sunniva Hale", ("Ruben Castellan", "Nadia Okafor"), "Networks and databases"),
)
SERVICES = (
    ServiceLine("PumpWatch", "Sunniva Hale", "business", "critical", "Telemetry of pumps that customers watch",
        ("PumpWatch - Customers", "PumpWatch - Engineers")),
    ServiceLine("Workplace", "Sunniva Hale", "technology-management", "somewhat-critical", "Laptops, mail and rooms",
        ("Workplace - Everybody",)),
    ServiceLine("Order Desk", "Mirabel Stone", "application", "critical", "Orders and spare parts",
        ("Order Desk - Sales", "Order Desk - Stores")),
    ServiceLine("Site Network", "Sunniva Hale", "technology-management", "critical", "Networks of the three sites",
        ("Site Network - Staff",)),
)  # fmt: skip
DEVICES = (
    Device("Telemetry Gateway", "TG-40117", "Ruben Castellan", "Fenmoor House", 8200),
    Device("Label Printer Stores", "LP-20931", "Yolanda Reyes", "Fenmoor Americas", 760),
    Device("Core Switch Quay", "CS-31145", "Kirra Dawe", "Fenmoor Pacific", 5400),
)
KINDS = (
    IncidentKind(COMPANY, "Telemetry chart stays empty", "One station only.", "software", "PumpWatch", APPLICATIONS,
        (("low", "medium"), ("medium", "medium")), "Solution Provided", "Station registered again."),
    IncidentKind(COMPANY, "Mailbox is over its quota", "Cannot send.", "software", "Workplace", APPLICATIONS,
        (("low", "low"), ("low", "medium")), "Solution Provided", "Archive switched on."),
    IncidentKind(COMPANY, "Laptop battery swells", "Lid does not close.", "hardware", "Workplace", FIELD,
        (("low", "high"), ("low", "medium")), "Solution Provided", "Battery replaced."),
    IncidentKind(COMPANY, "Locked out after leave", "Password is too old.", "password-reset", "Workplace", DESK,
        (("low", "high"), ("low", "medium")), "Solution Provided", "Password reset after a call back."),
    IncidentKind(COMPANY, "Spare part is listed twice", "Two prices.", "database", "Order Desk", PLATFORM,
        (("low", "medium"), ("medium", "low")), "Known Error", "Rows merged."),
    IncidentKind(COMPANY, "Wireless drops in the test hall", "Every hour.", "network", "Site Network", PLATFORM,
        (("medium", "medium"), ("low", "medium")), "Workaround Provided", "Second channel opened."),
    IncidentKind(COMPANY, "How to order a second screen", "New desk.", "inquiry-help", "Workplace", DESK,
        (("low", "low"),), "Solution Provided", "Sent the form."),
)  # fmt: skip
INCIDENTS = (
    IncidentFixture("gateway", COMPANY, "Telemetry of customers in the north is missing", "Charts end at 06:40.",
        "Kester Dunne", "network", "high", "high", "11-16 07:05", "in_progress", service="PumpWatch",
        device="Telemetry Gateway", team="Core Systems", assignee="Ruben Castellan", channel="phone"),
    IncidentFixture("grady-laptop", COMPANY, "Dock of the third floor has no picture", "Since Thursday.",
        "Lavender Crewe", "hardware", "low", "medium", "11-05 09:20", "in_progress", service="Workplace",
        team="Site Technicians", assignee="Sefton Grady", channel="email"),
    IncidentFixture("grady-printer", COMPANY, "Badge printer prints stripes", "All badges.", "Nell Whitcombe",
        "hardware", "medium", "low", "11-10 14:40", "on_hold", service="Workplace", team="Site Technicians",
        assignee="Sefton Grady", hold_reason="Awaiting Caller", worknotes="Asked for a photo."),
    IncidentFixture("access-orders", COMPANY, "No access to spare parts in Sydney", "New task since Monday.",
        "Orla Keating", "inquiry-help", "low", "medium", "11-13 01:15", "new", service="Order Desk",
        team="Fenmoor Help Desk"),
    IncidentFixture("quay-switch", COMPANY, "Calls from the quay break off", "Voice only.", "Juno Castle", "network",
        "medium", "medium", "11-15 22:30", "in_progress", service="Site Network", device="Core Switch Quay",
        team="Core Systems", assignee="Nadia Okafor"),
    IncidentFixture("order-prices", COMPANY, "Prices of seals are last year's", "Quotes go out wrong.",
        "Giselle Amato", "database", "medium", "high", "11-12 15:10", "in_progress", service="Order Desk",
        team="Business Applications", assignee="Piotr Zielin"),
)  # fmt: skip


def _people() -> tuple[Person, ...]:
    return tuple(map(_account, accounts("itsm")))


def _account(one: Member) -> Person:
    first, _, last = one.name_in("itsm").partition(" ")
    role = one.roles.get("itsm", "reporter")
    return Person(first, last, role, one.site_in("itsm").name, active=one.active_in("itsm"))


def _setting() -> Setting:
    company = Company(
        name=COMPANY,
        domain=DOMAIN,
        phone="+44-020",
        sites=tuple(Site(site.name, site.city, site.country, site.plot, site.street) for site in SITES),
        people=_people(),
        teams=TEAMS,
        services=SERVICES,
        devices=DEVICES,
        targets=(("critical", 15, 240), ("high", 60, 480), ("moderate", 240, 1440), ("low", 480, 4320)),
        first_names=(),
        last_names=(),
        local_time="Its sites are in London, New York and Sydney.",
    )
    return Setting(
        (company,),
        Routine(KINDS, (), ()),
        (),
        (),
        INCIDENTS,
        add_random_records=desk_random_records.add_random_records,
        draw=desk_random_records.incidents,
        recurrence=lambda incident: reported(incident).isocalendar().week,
        finish=_finish,
    )


def _finish(world: World) -> None:
    """Gives people the addresses that this system has for them."""
    org_id = world.org(COMPANY).org_id
    for one in accounts("itsm"):
        world.user(one.name_in("itsm"), org_id).email = one.address_in("itsm")
    desk_random_records.fail_some_messages(world)


def itsm_world() -> World:
    """The rows of the service desk."""
    return generate(Scale(number=83, colleagues=0, incidents=150), _setting())
