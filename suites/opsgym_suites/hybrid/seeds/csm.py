"""The customer service desk of the company."""

from __future__ import annotations

from datetime import date, datetime

from opsgym_suites.csm.seeds.generate import Scale, generate
from opsgym_suites.csm.seeds.setting import (
    Article,
    CaseFixture,
    Customer,
    Employee,
    Item,
    KnownIssue,
    Office,
    Periods,
    Setting,
    Team,
)
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.hybrid.cast import COMPANY, DOMAIN, SITES, accounts
from opsgym_suites.kit.world import NOW, at

TEAMS = (
    Team("Pump Desk", "support", ("Tobiah Mercer", "Fabian Trask", "Odalys Pinto", "Bram Halloway", "Cyril Nott")),
    Team("Telemetry Desk", "support", ("Venetia Croft", "Keziah Lund", "Elodie Marsh", "Gideon Rusk", "Lachlan Ord")),
    Team("Field Visits", "field", ("Linnea Storrs", "Bram Hallowell", "Winona Tabor", "Marnie Stroud")),
    Team("Contracts Office", "backoffice", ("Duncan Iredale", "Tamsin Yarwood", "Ezra Colby", "Philippa Gow")),
)
PRODUCTS = (
    Item("Lift Pump F20", "hardware", 4200, "Pump Desk", "F2"),
    Item("Lift Pump F40", "hardware", 7900, "Pump Desk", "F4"),
    Item("Flow Meter M5", "hardware", 610, "Telemetry Desk", "M5"),
    Item("Lift Pump F10", "hardware", 2900, "Pump Desk", "F1", "retired"),
    Item("PumpWatch", "software", 1800, "Telemetry Desk"),
    Item("Yearly Overhaul", "service", 950, "Field Visits"),
)
KNOWN_ISSUES = (
    KnownIssue("Lift Pump F20", ("Pump stops after an hour", "Pump runs hot"), ("moderate", "high"),
        "Lift Pump F20 runs hot", "Clean the inlet and lower the speed to 80 percent."),
    KnownIssue("Lift Pump F40", ("Pump does not start after a power cut",), ("high", "critical"),
        "Lift Pump F40 after a power cut", "Hold the reset for ten seconds, then start in steps."),
    KnownIssue("Flow Meter M5", ("Meter counts backwards", "Meter shows zero"), ("moderate", "low"),
        "Flow Meter M5 shows zero", "Turn the arrow of the meter into the flow."),
    KnownIssue("PumpWatch", ("Charts end in the morning", "Alarm came twice"), ("high", "moderate"),
        "Charts missing in PumpWatch", "Register the station again.", "internal"),
    KnownIssue("Yearly Overhaul", ("Overhaul report is missing",), ("low",),
        "Reports of overhauls", "Reports arrive within ten working days."),
)  # fmt: skip
CUSTOMERS = (
    Customer("Kelder Water", "kelderwater.example", "london", "enterprise",
        ("Lift Pump F40", "Flow Meter M5", "PumpWatch"), 6, ("Kelder North", "Kelder South"), wide=True),
    Customer("Ashdown Canals", "ashdowncanals.example", "london", "premium", ("Lift Pump F20", "PumpWatch"), 5,
        ("Ashdown Lock",)),
    Customer("Pelham Breweries", "pelhambrew.example", "london", "standard", ("Lift Pump F20", "Flow Meter M5"), 4,
        ("Pelham Cellar",)),
    Customer("Hudson Reservoirs", "hudsonreservoirs.example", "new_york", "enterprise",
        ("Lift Pump F40", "Flow Meter M5", "PumpWatch"), 6, ("Hudson Upper", "Hudson Lower"), wide=True),
    Customer("Catskill Dairies", "catskilldairies.example", "new_york", "premium", ("Lift Pump F20", "PumpWatch"), 4,
        ("Catskill Plant",)),
    Customer("Montauk Marinas", "montaukmarinas.example", "new_york", "standard", ("Lift Pump F10", "Flow Meter M5"),
        4, ("Montauk Dock",)),
    Customer("Warragul Farms", "warragulfarms.example", "sydney", "premium", ("Lift Pump F20", "Flow Meter M5"), 5,
        ("Warragul Dam",)),
    Customer("Cronulla Pools", "cronullapools.example", "sydney", "standard", ("Lift Pump F20", "Yearly Overhaul"), 3,
        ("Cronulla Baths",), contract="suspended"),
    Customer("Bendigo Mines", "bendigomines.example", "sydney", "enterprise", ("Lift Pump F40", "PumpWatch"), 5,
        ("Bendigo Shaft",), wide=True),
    Customer("Wexcombe Fitters", "wexcombefitters.example", "london", None, ("Lift Pump F20",), 2,
        ("Wexcombe Yard",), type="partner"),
)  # fmt: skip
CASES = (
    CaseFixture("kelder-charts", "Kelder Water", "PumpWatch", "Charts of Kelder North end at 06:40", "11-16 07:20",
        "high", "in_progress", assignee="Elodie Marsh"),
    CaseFixture("ashdown-charts", "Ashdown Canals", "PumpWatch", "No values of the lock since this morning",
        "11-16 08:05", "moderate", channel="email"),
    CaseFixture("hudson-start", "Hudson Reservoirs", "Lift Pump F40", "Two pumps stand still after the power cut",
        "11-16 04:50", "critical", "in_progress", assignee="Odalys Pinto"),
    CaseFixture("pelham-zero", "Pelham Breweries", "Flow Meter M5", "Meter of the cellar shows zero", "11-12 13:30",
        "moderate", "in_progress", assignee="Keziah Lund", channel="web"),
    CaseFixture("warragul-hot", "Warragul Farms", "Lift Pump F20", "Pump at the dam runs hot", "11-13 02:40",
        "moderate", "in_progress", assignee="Bram Halloway"),
    CaseFixture("catskill-alarm", "Catskill Dairies", "PumpWatch", "Every alarm comes twice", "11-10 15:15", "moderate",
        "pending", assignee="Gideon Rusk"),
    CaseFixture("gow-bendigo", "Bendigo Mines", "PumpWatch", "Shaft is missing in the overview", "10-14 00:30",
        "moderate", "in_progress", assignee="Lachlan Ord"),
)  # fmt: skip


def _employees() -> list[Employee]:
    ranks = ("admin", "manager", "agent")
    chosen = sorted(accounts("csm"), key=lambda one: ranks.index(one.roles["csm"]))
    return [
        Employee(one.name_in("csm"), one.roles["csm"], one.site_in("csm").code, one.active_in("csm")) for one in chosen
    ]


def _setting() -> Setting:
    return Setting(
        now=NOW,
        company=COMPANY,
        domain=DOMAIN,
        phone="+44 20 5554",
        countries={site.code: site.land for site in SITES},
        offices=[Office(site.name, site.code, site.plot, site.street) for site in SITES],
        employees=_employees(),
        teams=TEAMS,
        products=PRODUCTS,
        subscribed="PumpWatch",
        sla_targets=(("critical", 20, 180), ("high", 60, 480), ("moderate", 240, 1920), ("low", 480, 7200)),
        retired_slas=(("Critical response 2025", "response", "critical", 45),),
        known_issues=KNOWN_ISSUES,
        articles=(
            Article("When the pump desk answers", "By phone from six to ten.", "published", "external", None),
            Article("Lift Pump F10 spare parts", "No longer made.", "retired", "external", "Lift Pump F10"),
        ),
        customers=CUSTOMERS,
        first_names={
            "london": ("Barnaby", "Cordelia", "Dominic", "Elspeth", "Harriet", "Winifred"),
            "new_york": ("Abner", "Delphine", "Everett", "Lorena", "Preston", "Roxanne"),
            "sydney": ("Brendan", "Coralie", "Keira", "Lorcan", "Sienna"),
        },
        last_names={
            "london": ("Aldous", "Beckwith", "Challoner", "Egerton", "Fanshawe"),
            "new_york": ("Abernathy", "Buckner", "Callaway", "Esposito", "Goldman"),
            "sydney": ("Abbott", "Bannerman", "Cavanagh", "Fogarty"),
        },
        shared_name="Harriet Egerton",
        shared_by=("Ashdown Canals", "Pelham Breweries"),
        periods=Periods(
            founded=datetime(2025, 1, 6, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
            first_case=datetime(2025, 10, 1),  # noqa: DTZ001 - tables keep UTC without a zone
            drafted=at("11-02 08:00"),
            previous=(date(2025, 1, 1), date(2025, 12, 31)),
            begins=date(2026, 1, 1),
            renewals=date(2026, 12, 31),
            later=tuple(date(2027, month, 28) for month in (3, 5, 7)),
            subscription=(date(2026, 1, 1), date(2026, 12, 31)),
            warranty=(date(2027, 1, 1), date(2027, 12, 31)),
            bought=date(2025, 2, 1),
        ),
        cases=CASES,
    )


def csm_world() -> World:
    """The rows of the customer service desk, with the addresses that this system has."""
    world = generate(Scale(number=71, customers=len(CUSTOMERS), devices=6, cases=14, stories=True), _setting())
    for one in accounts("csm"):
        world.user(one.name_in("csm")).email = one.address_in("csm")
    return world
