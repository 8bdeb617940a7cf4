"""Fixture records of cases that tasks are about; in the seed `desk` only."""

from __future__ import annotations

from opsgym_suites.csm.seeds.setting import CaseFixture

CASE_FIXTURES = (
    CaseFixture(
        "cold-store", "Brightwater Foods", "Frost Sensor F2", "Cold store two sends no readings since four",
        "11-16 06:20", "high",
    ),
    CaseFixture(
        "cold-store-again", "Brightwater Foods", "Frost Sensor F2", "No readings from cold store two", "11-16 07:45",
        "high", contact=1, channel="email",
    ),
    CaseFixture(
        "cold-store-app", "Brightwater Foods", "ColdView Cloud", "Cold store two missing on the dashboard",
        "11-16 08:10", "moderate", contact=1, channel="web",
    ),
    CaseFixture(
        "blood-alarm", "Hudson Blood Services", "Alarm Router", "Night alarms reach nobody", "11-15 23:40", "high",
        "in_progress", assignee="Simone Baptiste",
    ),
    CaseFixture(
        "blood-beacon", "Hudson Blood Services", "Alarm Beacon B1", "Beacon in bank three silent", "11-16 08:55",
        "moderate",
    ),
    CaseFixture(
        "toyosu-trips", "Ferro Seafood", "Transport Logger T5", "Three loggers stopped on the same truck",
        "11-13 05:30", "high", "in_progress", assignee="Maya Torres",
    ),
    CaseFixture(
        "toyosu-audit", "Ferro Seafood", "Route Audit", "Audit counts the harbour trip twice", "11-12 09:15",
        "moderate", "pending", assignee="Emi Kondo", channel="email",
    ),
    CaseFixture(
        "dairy-gateway", "Anand Dairy", "Gateway G100", "Gateway of the chilling centre restarts at noon",
        "11-14 11:05", "high", "pending", assignee="Grace Holloway",
    ),
    CaseFixture(
        "dairy-charts", "Anand Dairy", "ColdView Cloud", "Charts of the bottling plant end at six", "11-16 09:20",
        "moderate", channel="web",
    ),
    CaseFixture(
        "pier-network", "Coral Bay Fisheries", "Gateway G100", "Gateway lost after the pier's network changed",
        "11-13 22:10", "moderate", "in_progress", assignee="Callum Reid", channel="email",
    ),
    CaseFixture(
        "vaccine-probe", "Pacific Vaccine Store", "Humidity Probe H2", "Humidity stands still in store two",
        "11-15 21:30", "moderate", "in_progress", assignee="Asha Nair",
    ),
    CaseFixture(
        "vaccine-shift", "Pacific Vaccine Store", "Alarm Router", "Alarms still go to last week's shift",
        "11-16 01:15", "high", contact=1,
    ),
    CaseFixture(
        "ota-delay", "Sakura Logistics", "Gateway G200", "Readings of the hub arrive an hour late", "11-11 04:40",
        "moderate", "resolved", assignee="Maya Torres", reopened=2, updated="11-15 02:10",
    ),
    CaseFixture(
        "ota-missing", "Sakura Logistics", "Gateway G200", "Forty sensors missing at the hub", "11-12 03:00", "high",
        "resolved", contact=1, assignee="Callum Reid", updated="11-14 06:30",
    ),
    CaseFixture(
        "ice-cable", "Harbour Ice Cream", "Frost Sensor F2", "Probe cable broke at the factory door", "11-10 20:00",
        "moderate", "resolved", assignee="Yuki Tanabe", updated="11-12 01:20",
    ),
    CaseFixture(
        "museum-probe", "Tamesis Museum", "Humidity Probe H2", "Archive probe shows 99 percent", "11-14 15:45",
        "moderate", "in_progress", assignee="Lena Fischer", channel="email",
    ),
    CaseFixture(
        "museum-mails", "Tamesis Museum", "ColdView Cloud", "Alarm mails arrive in the junk folder", "11-16 09:05",
        "low", channel="chat",
    ),
    CaseFixture(
        "clinic-door", "Northgate Clinics", "Door Sensor D4", "Fridge door reported open at night", "11-13 08:30",
        "moderate", "in_progress", contact=1, assignee="Rohan Mehta",
    ),
    CaseFixture(
        "clinic-door-again", "Northgate Clinics", "Door Sensor D4", "Door alarm of the fridge again", "11-14 08:05",
        "moderate", contact=1, channel="web",
    ),
    CaseFixture(
        "lab-sensor", "Liberty Labs", "Frost Sensor F2", "Cold room sensor gone every night", "11-15 16:25", "high",
        "in_progress", assignee="Lena Fischer",
    ),
    CaseFixture(
        "lab-report", "Liberty Labs", "Report Builder", "Report of the first of November failed", "11-09 14:10", "low",
        "pending", assignee="Dwight Larson", channel="email",
    ),
    CaseFixture(
        "yard-loggers", "Kestrel Freight", "Transport Logger T5", "Loggers of the night trucks stop at midnight",
        "11-14 23:20", "high", "in_progress", assignee="Grace Holloway",
    ),
    CaseFixture(
        "deccan-sensor", "Deccan Biologics", "Frost Sensor F2", "Freezer four without readings", "11-16 03:35", "high",
    ),
    CaseFixture(
        "butcher-battery", "Wharf Butchers", "Frost Sensor F1", "Sensor empty after two months", "11-12 10:00", "low",
        "in_progress", assignee="Rohan Mehta", channel="web",
    ),
    CaseFixture(
        "dairy-drift", "Anand Dairy", "Frost Sensor F1", "Milk tank sensor five degrees off after defrost",
        "11-16 02:40", "high", "in_progress", assignee="Asha Nair",
    ),
    CaseFixture(
        "spice-probe", "Malabar Spices", "Humidity Probe H2", "Godown probe jumps to 99", "11-05 12:30", "moderate",
        "resolved", assignee="Yuki Tanabe", updated="11-11 10:30",
    ),
    CaseFixture(
        "food-bank", "Bronx Food Bank", "Gateway G100", "Gateway restarts during deliveries", "11-13 18:20", "high",
        "pending", assignee="Maya Torres",
    ),
)  # fmt: skip
"""Oldest or newest does not matter here: numbers follow the time of registration."""
