"""The second setting: an operator of charging stations for cars and buses, on a Thursday in June."""

from __future__ import annotations

from datetime import date, datetime

from opsgym_suites.csm.seeds.setting import (
    Article,
    CaseFixture,
    Customer,
    Employee,
    Item,
    KnownIssue,
    MessageSlip,
    Office,
    Periods,
    Setting,
    SlaSlip,
    Team,
)
from opsgym_suites.kit.world import at

OFFICES = (
    Office("Halden House", "new_york", "88", "Tillary Street"),
    Office("Halden Europe", "london", "5", "Corsham Yard"),
    Office("Halden Pacific", "sydney", "230", "Kent Terrace"),
)
EMPLOYEES = (
    Employee("Odile Marchetti", "admin", "new_york"),
    Employee("Bjorn Haugen", "admin", "london"),
    Employee("Camila Duarte", "manager", "new_york"),
    Employee("Ewan Strachan", "manager", "london"),
    Employee("Mirela Petrov", "manager", "new_york"),
    Employee("Jasper Tolland", "manager", "sydney"),
    Employee("Adaeze Okoro", "manager", "london"),
    Employee("Rupert Vance", "manager", "sydney", active=False),
    Employee("Femi Adebayo", "agent", "london"),
    Employee("Greta Lundqvist", "agent", "london"),
    Employee("Teodor Banik", "agent", "new_york"),
    Employee("Salome Ferreira", "agent", "new_york"),
    Employee("Wes Kincaid", "agent", "new_york"),
    Employee("Ottilie Brandvold", "agent", "london"),
    Employee("Pavel Novotny", "agent", "london"),
    Employee("Renata Kolar", "agent", "new_york"),
    Employee("Dashiell Crane", "agent", "new_york"),
    Employee("Maeve Corrigan", "agent", "london"),
    Employee("Tarquin Bell", "agent", "sydney"),
    Employee("Imogen Faulkner", "agent", "sydney"),
    Employee("Lachlan Muir", "agent", "sydney"),
    Employee("Beatriz Salgado", "agent", "new_york"),
    Employee("Conrad Pike", "agent", "sydney", active=False),
)
TEAMS = (
    Team("Charger Desk", "support", ("Camila Duarte", "Femi Adebayo", "Greta Lundqvist", "Teodor Banik")),
    Team("Backend Desk", "support", ("Ewan Strachan", "Femi Adebayo", "Salome Ferreira", "Pavel Novotny")),
    Team("Payments Desk", "support", ("Mirela Petrov", "Adaeze Okoro", "Wes Kincaid", "Renata Kolar")),
    Team("Field Crew", "field", ("Jasper Tolland", "Tarquin Bell", "Imogen Faulkner", "Wes Kincaid", "Rupert Vance")),
    Team("Accounts Office", "backoffice", ("Adaeze Okoro", "Maeve Corrigan", "Beatriz Salgado")),
    Team("Inspection Partners", "vendor", ("Jasper Tolland", "Lachlan Muir")),
    Team("Pilot Programme", "support", ("Dashiell Crane",), active=False),
)
PRODUCTS = (
    Item("Wallbox W7", "hardware", 540, "Charger Desk", "W7"),
    Item("Wallbox W22", "hardware", 890, "Charger Desk", "W2"),
    Item("Depot Charger P60", "hardware", 14200, "Charger Desk", "P6"),
    Item("Fast Charger P150", "hardware", 38500, "Charger Desk", "P1"),
    Item("Load Balancer L8", "hardware", 2100, "Backend Desk", "L8"),
    Item("Card Reader R3", "hardware", 310, "Payments Desk", "R3"),
    Item("Wallbox W3", "hardware", 420, "Charger Desk", "W3", "retired"),
    Item("ChargeHub", "software", 2400, "Backend Desk"),
    Item("FleetPlan", "software", 1900, "Backend Desk"),
    Item("PaySuite", "software", 1500, "Payments Desk"),
    Item("Yearly Inspection", "service", 270, "Inspection Partners"),
    Item("Cable Exchange", "service", 190, "Field Crew"),
)
KNOWN_ISSUES = (
    KnownIssue(
        "Wallbox W7", ("Wallbox stops after ten minutes", "Charging ends when it gets warm"), ("moderate", "low"),
        "Wallbox W7 stops when warm", "Lower the current to 28 A and clear the vents.",
    ),
    KnownIssue(
        "Wallbox W22", ("Fuse trips at every start", "Wallbox trips the breaker"), ("moderate", "high"),
        "Wallbox W22 trips the breaker", "Fit a breaker of type B and restart the wallbox.",
    ),
    KnownIssue(
        "Depot Charger P60", ("Chargers of the depot offline", "Depot charger not reachable at night"),
        ("high", "moderate"), "Depot Charger P60 goes offline", "Turn off power saving of the modem.",
    ),
    KnownIssue(
        "Fast Charger P150", ("Screen dark, no charging", "Fast charger gives half its power"), ("high", "critical"),
        "Fast Charger P150 with a dark screen", "Reset the inverter, then the screen.",
    ),
    KnownIssue(
        "Load Balancer L8", ("Balancer hums and cuts the load", "Load is shared unevenly"), ("moderate",),
        "Uneven load on Load Balancer L8", "Set the same phase order on all chargers.",
    ),
    KnownIssue(
        "Card Reader R3", ("Reader refuses every card", "Reader needs several tries"), ("moderate", "high"),
        "Card Reader R3 refuses cards", "Load the new certificate from the service menu.",
    ),
    KnownIssue(
        "Wallbox W3", ("Old wallbox without contact", "Lamp of the old wallbox is red"), ("low",),
        "Last firmware of Wallbox W3", "Version 1.9 is the last one; it is on the archive page.",
    ),
    KnownIssue(
        "ChargeHub", ("Map shows no stations", "Sessions missing in the overview"), ("high", "moderate"),
        "Stations missing in ChargeHub", "Assign the stations to the operator's area.",
    ),
    KnownIssue(
        "FleetPlan", ("Plan ends at midnight", "Buses planned twice"), ("moderate", "low"),
        "FleetPlan across midnight", "Split the shift at midnight and save both parts.",
    ),
    KnownIssue(
        "PaySuite", ("Sessions charged twice", "Receipt without tax"), ("high", "moderate"),
        "Double bookings in PaySuite", "Run the reconciliation for the day.", "internal",
    ),
    KnownIssue(
        "Yearly Inspection", ("Inspection report missing", "Inspector came on the wrong day"), ("low",),
        "Reports of yearly inspections", "Reports arrive within ten working days.",
    ),
    KnownIssue(
        "Cable Exchange", ("Cable exchange took two visits", "Wrong cable was brought"), ("low", "moderate"),
        "Which cable fits which charger", "The table on page two lists them.", "internal",
    ),
)  # fmt: skip
ARTICLES = (
    Article("Fast Charger P150 and cold nights", "Heat the cabinet before the first session.", "draft", "external",
        "Fast Charger P150"),
    Article("ChargeHub export", "Draft: export sessions by month.", "draft", "internal", "ChargeHub"),
    Article("Wallbox W3 spare parts", "Spare parts are no longer made.", "retired", "external", "Wallbox W3"),
    Article("When our desk can be reached", "By phone from six to ten, in the portal at any time.", "published",
        "external", None),
)  # fmt: skip
CUSTOMERS = (
    Customer(
        "Solent Buses", "solentbuses.example", "london", "enterprise",
        ("Depot Charger P60", "Load Balancer L8", "FleetPlan", "ChargeHub"), 6, ("Solent Garage", "Solent Terminus"),
        wide=True,
    ),
    Customer(
        "Corvid Couriers", "corvid.example", "london", "premium", ("Depot Charger P60", "Wallbox W22", "FleetPlan"), 5,
        ("Corvid Yard",),
    ),
    Customer(
        "Lumiere Parking", "lumiereparking.example", "new_york", "premium",
        ("Card Reader R3", "Wallbox W22", "PaySuite"), 6, ("Lumiere Deck",),
    ),
    Customer(
        "Pinnacle Motorways", "pinnacle.example", "sydney", "enterprise",
        ("Fast Charger P150", "Load Balancer L8", "PaySuite", "ChargeHub"), 6,
        ("Pinnacle North", "Pinnacle South"), wide=True,
    ),
    Customer(
        "Ravello Hotels", "ravello.example", "new_york", "premium", ("Wallbox W7", "Card Reader R3", "PaySuite"), 5,
        ("Ravello Garage",),
    ),
    Customer(
        "Marlowe Retail", "marlowe.example", "london", "premium", ("Wallbox W22", "Card Reader R3", "ChargeHub"), 5,
        ("Marlowe Mall",),
    ),
    Customer(
        "Tasman Ferries", "tasmanferries.example", "sydney", "standard",
        ("Depot Charger P60", "Load Balancer L8", "ChargeHub"), 4, ("Tasman Slip",),
    ),
    Customer(
        "Juniperus Homes", "juniperus.example", "new_york", "standard", ("Wallbox W7", "Wallbox W22", "PaySuite"), 4,
        ("Juniperus Court",),
    ),
    Customer(
        "Kobayashi Taxis", "kobayashitaxis.example", "tokyo", "premium", ("Fast Charger P150", "FleetPlan"), 5,
        ("Kobayashi Rank",),
    ),
    Customer(
        "Deccan Rickshaws", "deccanrickshaws.example", "mumbai", "standard", ("Wallbox W7", "Cable Exchange"), 4,
        ("Deccan Stand",),
    ),
    Customer(
        "Hollis Breweries", "hollisbrew.example", "london", "standard", ("Wallbox W7", "Yearly Inspection"), 4,
        ("Hollis Malthouse",), contract="suspended",
    ),
    Customer(
        "Quayside Marina", "quaysidemarina.example", "sydney", "premium", ("Wallbox W22", "Card Reader R3"), 4,
        ("Quayside Pontoon",),
    ),
    Customer(
        "Oakridge College", "oakridge.example", "new_york", "standard", ("Wallbox W7", "Wallbox W3"), 4,
        ("Oakridge Campus",),
    ),
    Customer(
        "Voltano Installers", "voltano.example", "london", None, ("Wallbox W22", "Cable Exchange"), 3,
        ("Voltano Store",), type="partner",
    ),
    Customer(
        "Tidewater Mills", "tidewatermills.example", "london", "standard", ("Wallbox W7",), 3, ("Tidewater Wharf",),
        active=False, contract="expired",
    ),
)  # fmt: skip
FIRST_NAMES = {
    "london": ("Barnaby", "Cordelia", "Dominic", "Elspeth", "Fergus", "Harriet", "Jocelyn", "Winifred"),
    "new_york": ("Abner", "Delphine", "Everett", "Lorena", "Marisol", "Preston", "Roxanne", "Thaddeus"),
    "mumbai": ("Bhavna", "Chirag", "Gauri", "Harish", "Lalita", "Nikhil"),
    "tokyo": ("Emiko", "Goro", "Isamu", "Kaori", "Noboru", "Yoko"),
    "sydney": ("Brendan", "Coralie", "Dermot", "Keira", "Lorcan", "Sienna"),
}
LAST_NAMES = {
    "london": ("Aldous", "Beckwith", "Challoner", "Drummond", "Egerton", "Fanshawe", "Gresham"),
    "new_york": ("Abernathy", "Buckner", "Callaway", "Delacroix", "Esposito", "Figueroa", "Goldman"),
    "mumbai": ("Agarwal", "Banerjee", "Chauhan", "Deshpande", "Ghosh"),
    "tokyo": ("Arakawa", "Fukuda", "Hasegawa", "Kuroda", "Matsui"),
    "sydney": ("Abbott", "Bannerman", "Cavanagh", "Delaney", "Fogarty"),
}
CASES = (
    CaseFixture("depot-offline", "Corvid Couriers", "Depot Charger P60", "Three chargers of the depot offline",
        "06-11 08:10", "moderate", "in_progress", assignee="Greta Lundqvist"),
    CaseFixture("reader-refuses", "Lumiere Parking", "Card Reader R3", "Reader at the exit refuses every card",
        "06-10 18:20", "moderate", "in_progress", assignee="Renata Kolar", channel="email"),
    CaseFixture("plan-midnight", "Solent Buses", "FleetPlan", "Night buses vanish from the plan at midnight",
        "06-11 11:40", "moderate", channel="web"),
    CaseFixture("hub-blank", "Marlowe Retail", "ChargeHub", "Map of the mall shows no stations", "06-11 09:05",
        "moderate", contact=1, channel="email"),
    CaseFixture("double-booking", "Ravello Hotels", "PaySuite", "Guests charged twice for one night", "06-10 09:30",
        "high", "in_progress", assignee="Wes Kincaid"),
    CaseFixture("mall-receipts", "Lumiere Parking", "PaySuite", "Receipts of the deck come without tax", "06-09 13:00",
        "moderate", "pending", assignee="Renata Kolar"),
    CaseFixture("north-dark", "Pinnacle Motorways", "Fast Charger P150", "Two screens dark at Pinnacle North",
        "06-11 05:15", "high", "in_progress", assignee="Teodor Banik"),
    CaseFixture("south-half", "Pinnacle Motorways", "Fast Charger P150", "Half the power at Pinnacle South in the cold",
        "06-10 21:50", "moderate", "in_progress", contact=1, assignee="Greta Lundqvist"),
    CaseFixture("breaker-trips", "Marlowe Retail", "Wallbox W22", "Breaker of row four trips", "06-02 10:15",
        "moderate", "resolved", assignee="Greta Lundqvist", reopened=2, updated="06-09 09:00"),
    CaseFixture("taxi-plan", "Kobayashi Taxis", "FleetPlan", "Shifts of two taxis are planned twice", "06-03 02:20",
        "moderate", "resolved", assignee="Salome Ferreira", reopened=2, updated="06-08 07:40"),
    CaseFixture("garage-heat", "Ravello Hotels", "Wallbox W7", "Wallbox of bay two stops when warm", "06-04 15:00",
        "moderate", "resolved", contact=1, assignee="Teodor Banik", updated="06-10 11:00"),
    CaseFixture("balancer-hum", "Solent Buses", "Load Balancer L8", "Balancer of the terminus hums and cuts the load",
        "06-10 12:10", "moderate", "in_progress", contact=2, assignee="Pavel Novotny"),
    CaseFixture("pontoon-socket", "Quayside Marina", "Wallbox W22", "Wallbox on the pontoon trips in the rain",
        "06-09 22:30", "moderate", "pending", assignee="Femi Adebayo"),
    CaseFixture("court-socket", "Juniperus Homes", "Wallbox W7", "Wallbox in the court stops after an hour",
        "06-11 10:20", "moderate", contact=1),
    CaseFixture("corvid-fuse", "Corvid Couriers", "Wallbox W22", "Fuse of the yard trips at every start",
        "06-10 07:45", "high", "in_progress", contact=1, assignee="Femi Adebayo"),
    CaseFixture("slip-load", "Tasman Ferries", "Load Balancer L8", "Load is shared unevenly at the slip",
        "06-10 23:10", "moderate", "in_progress", assignee="Femi Adebayo"),
    CaseFixture("slip-map", "Tasman Ferries", "ChargeHub", "Stations of the slip missing on the map", "06-11 03:30",
        "low", channel="web"),
    CaseFixture("court-receipts", "Juniperus Homes", "PaySuite", "Receipts of the tenants lack the tax",
        "06-10 14:40", "low", "in_progress", assignee="Wes Kincaid", channel="web"),
    CaseFixture("mall-reader", "Marlowe Retail", "Card Reader R3", "Reader of the mall needs several tries",
        "06-11 12:15", "moderate"),
    CaseFixture("deck-reader", "Lumiere Parking", "Card Reader R3", "Reader of level two refuses cards",
        "06-08 16:05", "moderate", "resolved", contact=2, assignee="Renata Kolar", reopened=1, updated="06-09 17:30"),
)  # fmt: skip
HALDEN = Setting(
    now=at("06-11 14:30"),
    company="Halden Charging",
    domain="halden.example",
    phone="+1 212 555",
    countries={"new_york": "usa", "london": "uk", "mumbai": "india", "tokyo": "japan", "sydney": "australia"},
    offices=OFFICES,
    employees=EMPLOYEES,
    teams=TEAMS,
    products=PRODUCTS,
    subscribed="ChargeHub",
    sla_targets=(("critical", 20, 180), ("high", 90, 600), ("moderate", 300, 2400), ("low", 600, 9600)),
    retired_slas=(("Critical response 2025", "response", "critical", 40), ("Low resolution 2025", "resolution", "low",
        12000)),
    known_issues=KNOWN_ISSUES,
    articles=ARTICLES,
    customers=CUSTOMERS,
    first_names=FIRST_NAMES,
    last_names=LAST_NAMES,
    shared_name="Harriet Gresham",
    shared_by=("Corvid Couriers", "Marlowe Retail"),
    periods=Periods(
        founded=datetime(2024, 5, 6, 7, 0),  # noqa: DTZ001 - tables keep UTC without a zone
        first_case=datetime(2025, 7, 15),  # noqa: DTZ001 - tables keep UTC without a zone
        drafted=at("05-28 09:00"),
        previous=(date(2024, 7, 1), date(2025, 6, 30)),
        begins=date(2025, 7, 1),
        renewals=date(2026, 6, 30),
        later=tuple(date(2027, month, 15) for month in (1, 3, 4, 6)),
        subscription=(date(2026, 1, 1), date(2026, 12, 31)),
        warranty=(date(2026, 9, 1), date(2027, 8, 31)),
        bought=date(2023, 8, 1),
    ),
    cases=CASES,
    unsold=(
        (Item("Wallbox W9", "hardware", 610, "Charger Desk"), "Wallbox W9 at first sight"),
        (Item("TowerPlan", "software", 700, "Backend Desk"), None),
        (Item("Canopy Charger C4", "hardware", 2600, "Charger Desk"), None),
    ),
    sla_slips=(SlaSlip("Quayside Marina", "Wallbox W22", "in_progress", "Low response", 30),),
    message_slips=(
        MessageSlip("Corvid Couriers", "FleetPlan", "pending", "reminder", "Solent Buses"),
        MessageSlip("Deccan Rickshaws", "Cable Exchange", "pending", "reminder"),
        MessageSlip("Lumiere Parking", "PaySuite", "pending", "other"),
    ),
)  # fmt: skip
