"""Routine records of the companies of the seed `grid`: kinds of incidents, articles, templates."""

from __future__ import annotations

from opsgym_suites.itsm.seeds.routine_records import (
    APPLICATIONS,
    DESK,
    FIELD,
    PLATFORM,
    Article,
    IncidentKind,
    Routine,
    Template,
)

R, H = "Rimutaka Lines", "Harakeke Clinics"

KINDS = (
    IncidentKind(
        R, "Switching sheet prints without a header", "Since the update.", "software", "Grid Control", APPLICATIONS,
        (("low", "low"), ("low", "medium")), "Solution Provided", "Header template restored.",
    ),
    IncidentKind(
        R, "Van charger gives no power", "The tablet is empty at noon.", "hardware", "Crew Dispatch", FIELD,
        (("low", "medium"), ("low", "high")), "Solution Provided", "Charger replaced.",
    ),
    IncidentKind(
        R, "Meter history ends in January", "One street only.", "database", "Smart Meters", PLATFORM,
        (("medium", "low"), ("low", "medium")), "Known Error", "History loaded again.",
    ),
    IncidentKind(
        R, "Radio link drops in the rain", "Comes back by itself.", "network", "Crew Dispatch", PLATFORM,
        (("medium", "medium"), ("low", "medium")), "Workaround Provided", "Second frequency given out.",
    ),
    IncidentKind(
        R, "Locked out after the long weekend", "Password is too old.", "password-reset", "Workplace", DESK,
        (("low", "high"), ("low", "medium")), "Solution Provided", "Password reset after a call back.",
    ),
    IncidentKind(
        R, "Second screen stays dark", "Cable is new.", "hardware", "Workplace", FIELD,
        (("low", "low"), ("low", "medium")), "User error", "Input of the screen chosen.",
    ),
    IncidentKind(
        R, "How to draw a planned outage", "First time.", "inquiry-help", "Outage Map", DESK,
        (("low", "low"),), "Solution Provided", "Showed the drawing tool.",
    ),
    IncidentKind(
        H, "Letter template shows the old address", "Since the move.", "software", "Patient Records", APPLICATIONS,
        (("low", "low"), ("low", "medium")), "Solution Provided", "Template corrected.",
    ),
    IncidentKind(
        H, "Lab result arrives without units", "Blood tests only.", "database", "Lab Results", PLATFORM,
        (("medium", "medium"), ("low", "medium")), "Known Error", "Import profile changed.",
    ),
    IncidentKind(
        H, "Label of a sample is unreadable", "Printer is pale.", "hardware", "Lab Results", FIELD,
        (("low", "medium"), ("low", "high")), "Solution Provided", "Ribbon replaced.",
    ),
    IncidentKind(
        H, "Video call has no sound", "In the second room.", "software", "Office Tools", APPLICATIONS,
        (("low", "low"), ("low", "medium")), "User error", "Microphone was muted.",
    ),
    IncidentKind(
        H, "Card reader does not take the badge", "Badge is new.", "hardware", "Office Tools", FIELD,
        (("low", "medium"),), "Solution Provided", "Badge enrolled.",
    ),
    IncidentKind(
        H, "Forgot the code of the badge", "On leave for a month.", "password-reset", "Office Tools", DESK,
        (("low", "high"), ("low", "medium")), "Solution Provided", "New code given in person.",
    ),
    IncidentKind(
        H, "Fridge chart skips an hour", "Night of Sunday.", "network", "Vaccine Fridges", PLATFORM,
        (("low", "medium"), ("medium", "low")), "Solution Provided", "Clock of the logger set.",
    ),
)  # fmt: skip

ARTICLES = (
    Article(
        R, "When a crew tablet is lost", "What to do in the first hour",
        "Call the desk, name the last place where you had it, and take a spare tablet from the yard.",
        "Hana Ruru", "published", "external",
    ),
    Article(
        R, "When a crew tablet is lost: steps for the desk", "Blocking and records",
        "Block the SIM card, then the account, then retire the device.", "Hana Ruru", "published", "internal",
    ),
    Article(
        R, "When a tablet is lost (2027)", "New form",
        "Use the new form as soon as it is there.", "Josh Abbott", "draft", "external",
    ),
    Article(
        R, "Reading a switching sheet", "Signs and colours", "Red is live, green is earthed.", "Wiremu Paki",
        "published", "external",
    ),
    Article(
        R, "Radio link budget", "How margins are counted", "Ten decibels in the rain.", "Tevita Moala", "published",
        "internal",
    ),
    Article(
        R, "Replacing a gateway", "Order of steps", "Earth, swap, test, report.", "Tevita Moala", "review", "internal",
    ),
    Article(
        R, "Pager groups", "Numbers of the crews", "The pagers were switched off.", "Tevita Moala", "retired",
        "internal",
    ),
    Article(
        H, "Patient file does not open", "First steps", "Close the browser and wait for ten minutes.", "Lucy Penn",
        "published", "external",
    ),
    Article(
        H, "Fridge alarms in a power cut", "What is normal", "The alarm ends five minutes after the power is back.",
        "Moana Grey", "published", "external",
    ),
    Article(
        H, "Fridge alarms after the logger update", "Cause and fix", "Loggers of 2026 need firmware 3.3.",
        "Fetu Lagi", "published", "internal",
    ),
)  # fmt: skip

TEMPLATES = (
    Template(
        R, "No readings from a street", "No readings from a street", "Ana Vea", "phone", "database", "medium", "medium",
        "Smart Meters",
    ),
    Template(
        H, "Booking is missing", "Booking is missing", "Petra Hale", "phone", "software", "low", "high", "Old Booking",
    ),
    Template(
        H, "Booking is shown twice", "Booking is shown twice", "Petra Hale", "email", "software", "low", "medium",
        "Old Booking",
    ),
    Template(
        H, "Fridge alarm", "Fridge alarm", "Sina Latu", "phone", "hardware", "high", "high", "Vaccine Fridges",
    ),
)  # fmt: skip

ROUTINE = Routine(KINDS, ARTICLES, TEMPLATES)
