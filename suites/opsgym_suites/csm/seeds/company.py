"""The company that the desk belongs to: its people, teams, products, SLA targets and articles."""

from __future__ import annotations

from opsgym_suites.csm.seeds.setting import Employee, Item, KnownIssue, Team

COMPANY_NAME = "Larkspur Cold Chain"
DOMAIN = "larkspur.example"
COUNTRIES = {"new_york": "usa", "london": "uk", "mumbai": "india", "tokyo": "japan", "sydney": "australia"}
OFFICES = (
    ("Larkspur Head Office", "london", "14", "Copperfield Street"),
    ("Larkspur New York", "new_york", "220", "Water Street"),
    ("Larkspur Mumbai", "mumbai", "7", "Ballard Pier Road"),
    ("Larkspur Tokyo", "tokyo", "3-9", "Kaigan"),
    ("Larkspur Sydney", "sydney", "61", "Pirrama Road"),
)


EMPLOYEES = (
    Employee("Ines Calloway", "admin", "london"),
    Employee("Marek Doyle", "admin", "sydney"),
    Employee("Priya Venkat", "manager", "mumbai"),
    Employee("Jonas Ekberg", "manager", "london"),
    Employee("Ruth Abara", "manager", "new_york"),
    Employee("Kenji Morita", "manager", "tokyo"),
    Employee("Helen Osei", "manager", "london"),
    Employee("Tom Barrow", "manager", "sydney", active=False),
    Employee("Asha Nair", "agent", "mumbai"),
    Employee("Rohan Mehta", "agent", "mumbai"),
    Employee("Lena Fischer", "agent", "london"),
    Employee("Callum Reid", "agent", "london"),
    Employee("Grace Holloway", "agent", "london"),
    Employee("Owen Pryce", "agent", "london"),
    Employee("Maya Torres", "agent", "new_york"),
    Employee("Dwight Larson", "agent", "new_york"),
    Employee("Simone Baptiste", "agent", "new_york"),
    Employee("Yuki Tanabe", "agent", "tokyo"),
    Employee("Haruto Sakai", "agent", "tokyo"),
    Employee("Emi Kondo", "agent", "tokyo"),
    Employee("Bronte Walsh", "agent", "sydney"),
    Employee("Liam Cattell", "agent", "sydney"),
    Employee("Noor Siddiqui", "agent", "mumbai"),
    Employee("Felix Brandt", "agent", "london", active=False),
)  # fmt: skip


TEAMS = (
    Team("Sensor Support", "support", ("Priya Venkat", "Asha Nair", "Rohan Mehta", "Lena Fischer", "Yuki Tanabe")),
    Team(
        "Gateway Support", "support", ("Jonas Ekberg", "Callum Reid", "Grace Holloway", "Maya Torres", "Felix Brandt")
    ),
    Team("Software Support", "support", ("Jonas Ekberg", "Owen Pryce", "Dwight Larson", "Emi Kondo", "Lena Fischer")),
    Team("Enterprise Desk", "support", ("Ruth Abara", "Simone Baptiste", "Noor Siddiqui", "Bronte Walsh")),
    Team("Field Service Europe", "field", ("Helen Osei", "Callum Reid", "Owen Pryce")),
    Team("Field Service Asia Pacific", "field", ("Kenji Morita", "Haruto Sakai", "Liam Cattell", "Tom Barrow")),
    Team("Contracts Office", "backoffice", ("Helen Osei", "Grace Holloway", "Emi Kondo")),
    Team("Returns Office", "backoffice", ("Kenji Morita", "Bronte Walsh", "Liam Cattell")),
    Team("Calibration Partners", "vendor", ("Priya Venkat", "Haruto Sakai")),
    Team("Legacy Loggers", "support", ("Liam Cattell",), active=False),
)


PRODUCTS = (
    Item("Frost Sensor F1", "hardware", 89, "Sensor Support", "F1"),
    Item("Frost Sensor F2", "hardware", 129, "Sensor Support", "F2"),
    Item("Door Sensor D4", "hardware", 59, "Sensor Support", "D4"),
    Item("Humidity Probe H2", "hardware", 149, "Sensor Support", "H2"),
    Item("Gateway G100", "hardware", 420, "Gateway Support", "G1"),
    Item("Gateway G200", "hardware", 690, "Gateway Support", "G2"),
    Item("Transport Logger T5", "hardware", 210, "Gateway Support", "T5"),
    Item("Transport Logger T3", "hardware", 160, "Gateway Support", "T3", "retired"),
    Item("Alarm Beacon B1", "hardware", 75, "Gateway Support", "B1"),
    Item("Calibration Bath C9", "hardware", 5200, "Field Service Europe", "C9"),
    Item("ColdView Cloud", "software", 1800, "Software Support", "CV"),
    Item("ColdView Mobile", "software", 300, "Software Support"),
    Item("ColdView Desktop", "software", 950, "Software Support", "CD", "retired"),
    Item("Route Audit", "software", 1200, "Software Support"),
    Item("Report Builder", "software", 640, "Software Support"),
    Item("Alarm Router", "software", 780, "Enterprise Desk"),
    Item("Yearly Calibration", "service", 350, "Calibration Partners"),
    Item("Site Survey", "service", 900, "Field Service Europe"),
    Item("On-site Repair", "service", 480, "Field Service Asia Pacific"),
    Item("Operator Training", "service", 260, "Contracts Office"),
)

SLA_TARGETS = (
    ("critical", 15, 240),
    ("high", 60, 480),
    ("moderate", 240, 2880),
    ("low", 480, 7200),
)
"""Priority, minutes to the response, minutes to the resolution."""
RETIRED_SLAS = (("Critical response 2024", "response", "critical", 30), ("High resolution 2024", "resolution", "high",
    960),
                ("Moderate resolution 2024", "resolution", "moderate", 4320))  # fmt: skip
"""SLA definitions that are no longer active."""


KNOWN_ISSUES = (
    KnownIssue(
        "Frost Sensor F1", ("Sensor reads five degrees too warm", "Readings jump after defrost"), ("moderate", "high"),
        "Frost Sensor F1 drifts after defrost", "Set the defrost filter to 20 minutes and restart the sensor.",
    ),
    KnownIssue(
        "Frost Sensor F1", ("Battery empty after two months", "Low battery warning on new sensor"),
        ("low", "moderate"), "Short battery life of Frost Sensor F1",
        "Raise the sending interval to 10 minutes; replace the cell once.",
    ),
    KnownIssue(
        "Frost Sensor F2", ("No readings since the weekend", "Sensor drops off the list at night"),
        ("high", "moderate"), "Frost Sensor F2 loses its gateway",
        "Pair the sensor again within two metres of the gateway.",
    ),
    KnownIssue(
        "Frost Sensor F2", ("Probe cable frozen through", "Cable breaks at the freezer door"), ("moderate",),
        "Cable routing for Frost Sensor F2", "Lead the cable through the gasket port; order kit F2-C.",
    ),
    KnownIssue(
        "Door Sensor D4", ("Door shown as open all day", "Door alarm although door is shut"), ("moderate", "low"),
        "Door Sensor D4 reports open doors", "Move the magnet to within 8 mm of the mark.",
    ),
    KnownIssue(
        "Humidity Probe H2", ("Humidity stuck at 99 percent", "Probe shows no humidity"), ("moderate", "high"),
        "Humidity Probe H2 stuck at a value", "Dry the filter cap, then run the self test.",
    ),
    KnownIssue(
        "Gateway G100", ("Gateway offline since power cut", "Gateway restarts every hour"), ("high", "critical"),
        "Gateway G100 restarts", "Install firmware 4.2 from the service page.",
    ),
    KnownIssue(
        "Gateway G100", ("Cannot join the new wireless network", "Gateway forgets its network"), ("moderate",),
        "Gateway G100 and wireless networks", "Use 2.4 GHz and a password without spaces.",
    ),
    KnownIssue(
        "Gateway G200", ("Half of the sensors missing on gateway", "Gateway full, no new sensor"),
        ("high", "moderate"), "Sensor limit of Gateway G200", "Split sensors above 120 between two gateways.",
    ),
    KnownIssue(
        "Gateway G200", ("Data arrives with an hour's delay", "Time on gateway is wrong"), ("moderate",),
        "Clock of Gateway G200", "Point the gateway at the site's time server.",
    ),
    KnownIssue(
        "Transport Logger T5", ("Logger stopped half way", "Trip report is empty"), ("high", "moderate"),
        "Transport Logger T5 stops on trips", "Press start for three seconds until the light turns green.",
    ),
    KnownIssue(
        "Transport Logger T3", ("Old logger not recognised", "Software no longer reads the logger"), ("low",),
        "Reading out Transport Logger T3", "Use the last desktop reader, version 2.9.",
    ),
    KnownIssue(
        "Alarm Beacon B1", ("Beacon silent during alarm", "Beacon flashes without alarm"), ("high", "moderate"),
        "Alarm Beacon B1 stays silent", "Set jumper J2 and test from the gateway.",
    ),
    KnownIssue(
        "Calibration Bath C9", ("Bath does not reach minus 40", "Pump of the bath is loud"), ("moderate",),
        "Calibration Bath C9 cools slowly", "Refill the medium up to the upper mark.", "internal",
    ),
    KnownIssue(
        "ColdView Cloud", ("Dashboard shows no data", "Charts end at midnight"), ("high", "moderate"),
        "Empty dashboards in ColdView Cloud", "Reassign sites to the account's workspace.",
    ),
    KnownIssue(
        "ColdView Cloud", ("Alarm mails go to junk", "No alarm mails for new colleague"), ("moderate", "low"),
        "Alarm mails of ColdView Cloud", "Allow the sender and verify the address once.",
    ),
    KnownIssue(
        "ColdView Mobile", ("App logs out every day", "Push messages come late"), ("low", "moderate"),
        "ColdView Mobile signs out", "Turn off battery saving for the app.",
    ),
    KnownIssue(
        "Route Audit", ("Audit shows trips twice", "Trip missing from the audit"), ("moderate",),
        "Double trips in Route Audit", "Run the merge of trips for the day.",
    ),
    KnownIssue(
        "Report Builder", ("Monthly report has wrong logo", "Report fails on the first of the month"),
        ("low", "moderate"), "Report Builder fails at month end", "Shift the schedule to the second day.",
    ),
    KnownIssue(
        "Alarm Router", ("Alarms reach the wrong shift", "Escalation chain skipped"), ("critical", "high"),
        "Shift plans in Alarm Router", "Publish the shift plan again after each change.", "internal",
    ),
    KnownIssue(
        "Yearly Calibration", ("Certificate has the wrong date", "Calibration visit not confirmed"),
        ("low", "moderate"), "Calibration certificates", "Certificates are reissued by the returns desk.",
    ),
    KnownIssue(
        "Site Survey", ("Survey report not received", "Survey missed the cold room"), ("low",),
        "What a site survey covers", "Rooms on the order form, and one gateway path.",
    ),
    KnownIssue(
        "On-site Repair", ("Engineer did not come", "Repair did not last"), ("high", "moderate"),
        "Second visits after a repair", "A second visit within 30 days is free.", "internal",
    ),
    KnownIssue(
        "Operator Training", ("Training certificate not found", "Training in the wrong language"), ("low",),
        "Operator training certificates", "Certificates stay in the training portal for two years.",
    ),
)  # fmt: skip

MORE_ARTICLES = (
    ("Frost Sensor F2 after firmware 3", "Draft: sensors need pairing after firmware 3.", "draft", "external",
        "Frost Sensor F2"),
    ("Gateway G200 on cellular networks", "Draft: use the low traffic profile.", "draft", "internal", "Gateway G200"),
    ("ColdView Desktop export", "Export to CSV from the file menu.", "published", "external", "ColdView Desktop"),
    ("ColdView Desktop licences", "Licence keys are bound to a machine.", "retired", "external", "ColdView Desktop"),
    ("How to write to us", "Web, mail, phone and chat reach the same desk.", "published", "external", None),
    ("Handling of goods at risk", "Call the site, then the duty manager.", "published", "internal", None),
)  # fmt: skip
