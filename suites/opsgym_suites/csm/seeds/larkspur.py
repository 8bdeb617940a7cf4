"""The first setting: a maker of cold chain monitors, on a Monday in November."""

from __future__ import annotations

from datetime import date, datetime

from opsgym_suites.csm.seeds.company import (
    COMPANY_NAME,
    COUNTRIES,
    DOMAIN,
    EMPLOYEES,
    KNOWN_ISSUES,
    MORE_ARTICLES,
    OFFICES,
    PRODUCTS,
    RETIRED_SLAS,
    SLA_TARGETS,
    TEAMS,
)
from opsgym_suites.csm.seeds.customers import CUSTOMERS, FIRST_NAMES, LAST_NAMES, SHARED_NAME, SHARED_NAME_ACCOUNTS
from opsgym_suites.csm.seeds.fixtures import CASE_FIXTURES
from opsgym_suites.csm.seeds.setting import Article, Item, MessageSlip, Office, Periods, Setting, SlaSlip
from opsgym_suites.kit.world import NOW, at

PERIODS = Periods(
    founded=datetime(2025, 2, 3, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    first_case=datetime(2025, 9, 1),  # noqa: DTZ001 - tables keep UTC without a zone
    drafted=at("11-02 08:00"),
    previous=(date(2024, 12, 1), date(2025, 11, 30)),
    begins=date(2025, 12, 1),
    renewals=date(2026, 11, 30),
    later=tuple(date(2027, month, 28) for month in range(2, 11)),
    subscription=(date(2026, 1, 1), date(2026, 12, 31)),
    warranty=(date(2027, 1, 1), date(2027, 12, 31)),
    bought=date(2024, 1, 15),
)
UNSOLD = (
    (Item("Door Sensor D5", "hardware", 65, "Sensor Support"), None),
    (Item("Vibration Probe V3", "hardware", 175, "Sensor Support"), "Mounting of the Vibration Probe V3"),
    (Item("Route Planner", "software", 990, "Software Support"), None),
    (Item("Vault Monitor", "software", 1450, "Software Support"), None),
)
SLA_SLIPS = (
    SlaSlip("Tamesis Museum", "Humidity Probe H2", "in_progress", "Moderate resolution", 130),
    SlaSlip("Harbour Ice Cream", "ColdView Cloud", "in_progress", "Low resolution", 45),
    SlaSlip("Kestrel Freight", "Route Audit", "in_progress", "Moderate resolution", 200),
    SlaSlip("Riverside Bakery", "Frost Sensor F1", "in_progress", "Low resolution", 60),
    SlaSlip("Riverside Bakery", "Frost Sensor F1", "in_progress", "Low response", 60),
)
MESSAGE_SLIPS = (
    MessageSlip("Riverside Bakery", "Frost Sensor F1", "pending", "reminder"),
    MessageSlip("Bronx Food Bank", "Gateway G100", "in_progress", "alert", "Kenji Morita"),
    MessageSlip("Tamesis Museum", "ColdView Cloud", "in_progress", "other"),
    MessageSlip("Deccan Biologics", "ColdView Cloud", "pending", "other"),
    MessageSlip("Malabar Spices", "Gateway G100", "pending", "reminder", "Anand Dairy"),
)
LARKSPUR = Setting(
    now=NOW,
    company=COMPANY_NAME,
    domain=DOMAIN,
    phone="+44 20 5550",
    countries=COUNTRIES,
    offices=tuple(Office(*office) for office in OFFICES),
    employees=EMPLOYEES,
    teams=TEAMS,
    products=PRODUCTS,
    subscribed="ColdView Cloud",
    sla_targets=SLA_TARGETS,
    retired_slas=RETIRED_SLAS,
    known_issues=KNOWN_ISSUES,
    articles=tuple(Article(*article) for article in MORE_ARTICLES),
    customers=CUSTOMERS,
    first_names=FIRST_NAMES,
    last_names=LAST_NAMES,
    shared_name=SHARED_NAME,
    shared_by=SHARED_NAME_ACCOUNTS,
    periods=PERIODS,
    cases=CASE_FIXTURES,
    unsold=UNSOLD,
    sla_slips=SLA_SLIPS,
    message_slips=MESSAGE_SLIPS,
)
