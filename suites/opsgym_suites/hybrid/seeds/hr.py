"""The HR department of the company."""

from __future__ import annotations

from datetime import datetime

from opsgym_suites.hr.seeds.generate import generate
from opsgym_suites.hr.seeds.setting import (
    Article,
    AssignRule,
    CaseFixture,
    Criteria,
    Employee,
    Service,
    Setting,
    Staff,
    TaskFixture,
    Team,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hybrid.cast import COMPANY, DOMAIN, PRIVATE_DOMAIN, accounts
from opsgym_suites.kit.world import NOW

HEAD = "Aurelio Banks"
"""Head of HR; the generator lets managers report to the first manager, which `hr_world` corrects."""
TEAMS = (
    Team("People Desk", (HEAD, "Casper Onslow", "Delia Fairbanks"), "People Leads"),
    Team("Payroll Office", ("Ngozi Tremaine", "Delia Fairbanks"), "People Leads"),
    Team("Leave Office", ("Casper Onslow", "Hamish Corrie"), "People Leads"),
    Team("People Leads", (HEAD, "Perpetua Lyle", "Hamish Corrie")),
)
SKILLS = (("Joiners", True), ("Absence", True), ("Payroll", True), ("Employment law", True))
CATEGORIES = (
    ("Joining and leaving", "Workforce Administration"), ("Pay", "Payroll"), ("Leave", "Total Rewards"),
    ("Relations", "Workforce Administration"),
)  # fmt: skip
CRITERIA = (
    Criteria("Relations circle", "case_visibility", users=(HEAD, "Hamish Corrie")),
    Criteria("Pay approvers", "approval", users=(HEAD, "Perpetua Lyle")),
)
SERVICES = (
    Service("Onboarding", "Joiners", "Joining and leaving", "People Desk", "Joiners",
        summaries=("Start of a fitter", "Start moved by a week"), steps=("File contract", "Plan first day")),
    Service("Offboarding", "Leavers", "Joining and leaving", "People Desk", "Joiners",
        summaries=("Reference for a leaver", "Last day moved"), steps=("Collect badge", "Write reference")),
    Service("Change of name", "Personal data", "Joining and leaving", "People Desk",
        summaries=("New family name after a wedding",), steps=("Check certificate",)),
    Service("Pay question", "Pay slips", "Pay", "Payroll Office", "Payroll",
        summaries=("Overtime is missing", "Slip shows the old address")),
    Service("New bank account", "Bank accounts", "Pay", "Payroll Office", "Payroll", "Pay approvers"),
    Service("Leave request", "Absences", "Leave", "Leave Office", "Absence",
        summaries=("Days carried over", "Unpaid leave in spring"), steps=("Confirm dates", "Tell the manager")),
    Service("Grievance", "Complaints", "Relations", "People Leads", "Employment law", "Relations circle",
        summaries=("Doubts about a rating",)),
)  # fmt: skip
RULES = (
    AssignRule("Joiners", "moderate", "Joiners", "People Desk", ("Casper Onslow", "Delia Fairbanks")),
    AssignRule("Pay", "moderate", "Payroll", "Payroll Office", ("Ngozi Tremaine", "Delia Fairbanks")),
    AssignRule("Leave", "moderate", "Absence", "Leave Office", ("Casper Onslow", "Hamish Corrie")),
)
CASES = (
    CaseFixture("leaver-blum", "Offboarding", "Dorothea Blum", "Last day on 13 November", "10-30 09:00",
        status="work_in_progress", team="People Desk", assignee="Casper Onslow", skills=("Joiners",),
        opened_by="Casper Onslow", tasks=(TaskFixture("Close what is open", "work_in_progress", "Casper Onslow",
            items=(("Collect badge", True), ("Ask IT to close the account", False))),)),
    CaseFixture("name-lowell", "Change of name", "Beatrix Lowell", "Family name is Lowell since the wedding",
        "09-21 10:30", status="awaiting_acceptance", team="People Desk", assignee="Delia Fairbanks",
        updated="11-13 09:00"),
    CaseFixture("parental-amato", "Leave request", "Giselle Amato", "Parental leave from 9 November", "10-05 14:00",
        status="work_in_progress", team="Leave Office", assignee="Casper Onslow", skills=("Absence",)),
    CaseFixture("ill-reyes", "Leave request", "Yolanda Reyes", "Ill from 16 to 18 November", "11-16 07:30",
        priority="high", status="work_in_progress", team="Leave Office", assignee="Hamish Corrie", skills=("Absence",)),
    CaseFixture("extended-dawe", "Leave request", "Kirra Dawe", "Annual leave extended to 20 November", "11-12 05:10",
        status="work_in_progress", team="Leave Office", assignee="Hamish Corrie", skills=("Absence",)),
    CaseFixture("withdrawn-okafor", "Leave request", "Nadia Okafor", "Day off on 17 November", "11-06 09:40",
        status="cancelled", team="Leave Office", assignee="Casper Onslow", skills=("Absence",), notes="Withdrawn."),
    CaseFixture("unpaid-rusk", "Leave request", "Gideon Rusk", "Unpaid leave from 17 to 19 November", "11-10 16:05",
        status="work_in_progress", team="Leave Office", assignee="Casper Onslow", skills=("Absence",)),
    CaseFixture("withdrawn-marsh", "Leave request", "Elodie Marsh", "Day off on 17 November", "11-09 12:20",
        status="cancelled", team="Leave Office", assignee="Casper Onslow", skills=("Absence",), notes="Withdrawn."),
    CaseFixture("grievance-rowe", "Grievance", "Caspian Rowe", "Doubts about the rating of October", "11-09 11:00",
        priority="high", status="work_in_progress", team="People Leads", assignee="Hamish Corrie",
        skills=("Employment law",)),
    CaseFixture("bank-tully", "New bank account", "Ingram Tully", "Pay to a new account from December", "11-12 16:20",
        status="ready", team="Payroll Office", assignee="Ngozi Tremaine", skills=("Payroll",), account="55102937"),
)  # fmt: skip


def _setting() -> Setting:
    people = accounts("hr")
    staff = [one for one in people if one.roles.get("hr", "employee") != "employee"]
    staff.sort(key=lambda one: one.name != HEAD)
    return Setting(
        now=NOW,
        number=57,
        organisation=COMPANY,
        domain=DOMAIN,
        private=PRIVATE_DOMAIN,
        phone="+44 20 5553",
        founded=datetime(2025, 1, 6, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
        staff=[Staff(one.name, one.roles["hr"], one.skills, one.active_in("hr")) for one in staff],
        managers=[one.name for one in staff if one.roles["hr"] == "manager"],
        teams=TEAMS,
        skills=SKILLS,
        categories=CATEGORIES,
        criteria=CRITERIA,
        services=SERVICES,
        rules=RULES,
        articles=(
            Article("The first day", "Come to reception at nine.", "published", "external", "Onboarding"),
            Article("Leaving us", "Badge and laptop go to the desk.", "published", "external", "Offboarding"),
            Article("Carrying days over", "Five days until March.", "published", "internal", "Leave request"),
        ),
        surveys=(("How was your first week?", "What was missing?"),),
        employees=[
            Employee(
                one.name,
                one.manager or HEAD,
                one.position,
                one.site.iso,
                active=one.active_in("hr"),
                last_day=None if one.left is None else f"2026-{one.left}",
            )
            for one in people
            if one not in staff
        ],
        first_names=(),
        last_names=(),
        countries=("GB",),
        crowd=0,
        cases=CASES,
        everyday=110,
    )


def hr_world() -> World:
    """The rows of the HR department, in which everybody has the manager of the cast."""
    world = generate(_setting())
    for one in accounts("hr"):
        profile = world.profile(one.name)
        profile.manager = None if one.manager is None else world.user(one.manager).user_id
        profile.position, profile.nationality = one.position, one.site.iso
    return world
