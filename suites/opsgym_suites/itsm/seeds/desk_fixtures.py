"""Fixture records of the seed `desk`: faults that several callers report, and their changes and problems.

Invariant: each report of a shared fault is an incident with the key `<fault>-<number>`, the oldest number 1. Decoys,
which look like reports of it, have the key `<fault>-not-<number>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opsgym_suites.itsm.seeds.fixtures import ChangeFixture, IncidentFixture, ProblemFixture


@dataclass(frozen=True)
class Report:
    """A report in the words of its caller."""

    summary: str
    caller: str
    created: str
    levels: tuple[str, str]
    """Impact and urgency."""
    assignee: str | None = None
    status: str = "new"


@dataclass(frozen=True)
class SharedFault:
    """A fault that several people report."""

    key: str
    company: str
    service: str
    category: str
    team: str
    device: str | None
    reports: tuple[Report, ...]
    decoys: tuple[Report, ...] = ()
    decoy_service: str | None = None
    """Service that the decoys are about; none if None."""
    problem: str | None = None
    """Key of the problem that all reports are on hold for."""


SHARED_FAULTS = (
    SharedFault(
        "weighbridge-zero", "Halden Freight", "Weighbridge", "hardware", "Quay Field Team", "Weighbridge terminal 1",
        (
            Report("Weighbridge shows zero for loaded trucks", "Lucia Ferrante", "11-12 07:40", ("medium", "medium")),
            Report("Scale at the gate stays at zero", "Anders Holt", "11-13 06:55", ("medium", "high")),
            Report("No weight on the gate ticket", "Oskar Lindkvist", "11-13 14:20", ("low", "medium")),
            Report("Weighbridge reads 0 kg again", "Lucia Ferrante", "11-16 07:05", ("low", "high")),
        ),
        (Report("Weighbridge ticket has the wrong logo", "Anders Holt", "11-14 09:10", ("low", "low")),),
        "Weighbridge",
    ),
    SharedFault(
        "airway-stamp", "Halden Freight", "Airway Bills", "software", "Airfreight Applications", None,
        (
            Report("Airway bill prints without a stamp", "Liv Bakke", "11-11 10:15", ("low", "medium")),
            Report("Stamp is missing on export papers", "Grace Okafor", "11-12 09:30", ("medium", "medium")),
            Report("Bills go out unstamped, customs sends them back", "Liv Bakke", "11-13 16:45", ("medium", "high")),
        ),
        (Report("Please order a new rubber stamp", "Mette Krog", "11-13 11:00", ("low", "low")),),
        "Workplace",
    ),
    SharedFault(
        "crane-silence", "Halden Freight", "Crane Telemetry", "network", "Network and Databases",
        "Crane gateway west",
        (
            Report("Cranes 2 and 3 send no values", "Tomas Berg", "11-16 06:10", ("medium", "medium"), "Ravi Menon"),
            Report("Crane screen is grey on the western quay", "Lucia Ferrante", "11-16 06:35", ("medium", "high")),
            Report("No crane values since the night shift", "Oskar Lindkvist", "11-16 07:20", ("low", "medium")),
            Report("Telemetry of the west cranes is gone", "Nadja Haddad", "11-16 08:05", ("low", "medium")),
            Report("Crane alarms do not arrive", "Mette Krog", "11-16 08:50", ("low", "high")),
        ),
        (Report("Crane 1 squeaks", "Tomas Berg", "11-16 07:45", ("low", "low")),),
        "Crane Telemetry",
    ),
    SharedFault(
        "slot-freeze", "Halden Freight", "Dock Scheduling", "software", "Freight Applications", "Slot planning server",
        (
            Report("Slot planning freezes on Fridays", "Anders Holt", "10-30 13:00", ("medium", "medium"),
                   "Nadia Haddad", "on_hold"),
            Report("Dock plan hangs after lunch", "Grace Okafor", "11-06 13:10", ("low", "medium"),
                   "Henrik Solberg", "on_hold"),
            Report("Cannot move a slot, page freezes", "Liv Bakke", "11-13 13:25", ("low", "high"),
                   "Nadia Haddad", "on_hold"),
        ),
        problem="slot-freeze",
    ),
    SharedFault(
        "label-shift", "Mirelle Botanics", "Batch Labels", "hardware", "Greenhouse Field Team", "Batch label printer",
        (
            Report("Labels print half a centimetre too low", "Aiko Mori", "11-10 08:20", ("low", "medium")),
            Report("Barcode on the jar labels is cut off", "Simone Achard", "11-12 10:40", ("medium", "medium")),
            Report("Label printer shifts every third label", "Aiko Mori", "11-13 15:05", ("medium", "low")),
            Report("Cartons come back, label unreadable", "Rosa Delgado", "11-16 08:15", ("low", "high")),
        ),
        (Report("Label text has a spelling mistake", "Simone Achard", "11-12 11:15", ("low", "low")),),
        "Batch Labels",
    ),
    SharedFault(
        "loyalty-double", "Mirelle Botanics", "Loyalty Cards", "database", "Platform and Data", "Loyalty server",
        (
            Report("Points are counted twice", "Chloe Petit", "11-09 12:00", ("medium", "medium")),
            Report("Customer has 800 points after one candle", "Chloe Petitjean", "11-11 17:30", ("low", "medium")),
            Report("Double points on Sunday's receipts", "Marc Duvall", "11-16 09:05", ("medium", "high")),
        ),
        (Report("Loyalty flyer has last year's prices", "Chloe Petitjean", "11-12 09:00", ("low", "low")),),
        "Loyalty Cards",
    ),
    SharedFault(
        "greenhouse-cold", "Mirelle Botanics", "Greenhouse Control", "network", "Platform and Data",
        "Greenhouse controller 3",
        (
            Report("House 3 does not heat", "Simone Achard", "11-16 05:50", ("medium", "medium"), "Sana Qureshi"),
            Report("Climate screen of house 3 is empty", "Aiko Mori", "11-16 06:30", ("medium", "high")),
            Report("Cold alarm in the seedling house", "Simone Achard", "11-16 07:10", ("low", "high")),
            Report("No values from the greenhouse since five", "Rosa Delgado", "11-16 08:40", ("low", "medium")),
        ),
        (Report("Door of house 3 does not close", "Aiko Mori", "11-16 07:30", ("low", "medium")),),
        "Greenhouse Control",
    ),
    SharedFault(
        "voucher-expiry", "Mirelle Botanics", "Webshop", "software", "Shop Applications", "Webshop front server",
        (
            Report("Gift voucher expired a day early", "Chloe Petit", "10-28 15:00", ("low", "medium"),
                   "Theo Marchand", "on_hold"),
            Report("Voucher of today is refused", "Marc Duval", "11-04 10:10", ("low", "high"),
                   "Lucas Morel", "on_hold"),
            Report("Shop says the voucher has run out", "Chloe Petitjean", "11-10 18:20", ("medium", "medium"),
                   "Theo Marchand", "on_hold"),
            Report("Vouchers end at noon", "Marc Duvall", "11-12 12:30", ("low", "medium"),
                   "Elise Garnier", "on_hold"),
        ),
        problem="voucher-expiry",
    ),
)  # fmt: skip

PROBLEMS = (
    ProblemFixture(
        "slot-freeze", "Halden Freight", "Slot planning freezes", "The slot planning server runs out of connections.",
        "Nadia Haddad", "Freight Applications", "Henrik Solberg", "Dock Scheduling", "Slot planning server",
        "fix_in_progress", "software", "medium", "high", "11-02 09:00", "Connections are not given back.",
    ),
    ProblemFixture(
        "voucher-expiry", "Mirelle Botanics", "Vouchers expire early", "The shop compares days in another time zone.",
        "Theo Marchand", "Shop Applications", "Theo Marchand", "Webshop", "Webshop front server",
        "root_cause", "software", "medium", "high", "10-29 11:30", "Found in the voucher module.",
    ),
    ProblemFixture(
        "remote-access", "Halden Freight", "Remote access ends early", "The gateway drops sessions after ten minutes.",
        "Ravi Menon", "Network and Databases", "Ebba Nyholm", "Workplace", None,
        "assess", "network", "low", "medium", "09-21 10:00",
    ),
    ProblemFixture(
        "tablet-order-list", "Mirelle Botanics", "Slow order lists", "The list asks for every order one by one.",
        "Sana Qureshi", "Platform and Data", "Yara Haidar", "Warehouse Picking", None,
        "root_cause", "network", "medium", "medium", "09-14 14:00", "Index is missing.", "Filter by aisle first.",
    ),
)  # fmt: skip

CHANGES = (
    ChangeFixture(
        "slot-pool", "Halden Freight", "Larger connection pool for slot planning", "Oskar Lindqvist",
        "Freight Applications", "Henrik Solberg", "Dock Scheduling", "Slot planning server", "scheduled", "software",
        "medium", "medium", "high", "11-10 10:00", "Raise the pool to 200 and restart.", "Plan 50 slots in a minute.",
    ),
    ChangeFixture(
        "weighbridge-cells", "Halden Freight", "New load cells for weighbridge 2", "Beatriz Fontes",
        "Quay Field Team", "Signe Aaberg", "Weighbridge", "Weighbridge terminal 2", "assess", "hardware",
        "low", "low", "low", "11-05 08:30", "Change the cells on a Sunday.", "Weigh a truck of known weight.",
    ),
    ChangeFixture(
        "crane-firmware", "Halden Freight", "Firmware of the western crane gateway", "Maren Toft",
        "Network and Databases", "Ravi Menon", "Crane Telemetry", "Crane gateway west", "implement", "network",
        "medium", "medium", "moderate", "11-12 09:00", "Flash the gateway in the night of 15 November.",
        "Watch crane values for an hour.",
    ),
    ChangeFixture(
        "voucher-zone", "Mirelle Botanics", "Voucher dates in the shop's time zone", "Hugo Lambert",
        "Shop Applications", "Theo Marchand", "Webshop", "Webshop front server", "review", "software",
        "medium", "medium", "high", "11-11 15:00", "Deploy the corrected module.", "Use vouchers around midnight.",
    ),
    ChangeFixture(
        "greenhouse-vlan", "Mirelle Botanics", "Own network for greenhouse controllers", "Ines Moreau",
        "Platform and Data", "Sana Qureshi", "Greenhouse Control", "Greenhouse controller 3", "scheduled", "network",
        "high", "medium", "high", "11-09 10:30", "Move the controllers one by one.", "Read each sensor afterwards.",
    ),
    ChangeFixture(
        "loyalty-patch", "Mirelle Botanics", "Patch level of the loyalty server", "Hugo Lambert",
        "Platform and Data", "Yara Haidar", "Loyalty Cards", "Loyalty server", "new", "software",
        "low", "low", "low", "11-13 16:00", "Install patches, restart.", "Scan a card at both tills.",
    ),
)  # fmt: skip


def _incidents(fault: SharedFault) -> Iterator[IncidentFixture]:
    for number, report in enumerate(fault.reports, start=1):
        yield _report(fault, f"{fault.key}-{number}", report, fault.service, fault.device)
    for number, report in enumerate(fault.decoys, start=1):
        yield _report(fault, f"{fault.key}-not-{number}", report, fault.decoy_service, None)


def _report(fault: SharedFault, key: str, report: Report, service: str | None, device: str | None) -> IncidentFixture:
    return IncidentFixture(
        key,
        fault.company,
        report.summary,
        f"{report.summary}.",
        report.caller,
        fault.category,
        *report.levels,
        report.created,
        status="in_progress" if report.assignee and report.status == "new" else report.status,
        service=service,
        device=device,
        team=fault.team,
        assignee=report.assignee,
        hold_reason="Awaiting Problem" if report.status == "on_hold" else None,
        problem=fault.problem,
    )


INCIDENTS = tuple(fixture for fault in SHARED_FAULTS for fixture in _incidents(fault))
