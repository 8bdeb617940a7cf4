"""Two invented companies: their people, groups, services and devices.

Invariant: everything here is written by hand and referred to by name; `routine_records` has what random rows are made
of.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """An office of a company."""

    name: str
    city: str
    country: str
    plot_no: str
    street: str


@dataclass(frozen=True)
class Person:
    """An employee who is written by hand."""

    first_name: str
    last_name: str
    role: str
    site: str
    active: bool = True
    reserved: bool = False
    """Kept out of drawn incidents: stories decide what this person has done."""

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"


@dataclass(frozen=True)
class Team:
    """A group that incidents are assigned to."""

    name: str
    type: str
    manager: str
    members: tuple[str, ...]
    description: str
    active: bool = True


@dataclass(frozen=True)
class ServiceLine:
    """A service with its offerings."""

    name: str
    owner: str
    classification: str
    criticality: str
    description: str
    offerings: tuple[str, ...]
    status: str = "operational"


@dataclass(frozen=True)
class Device:
    """A configuration item."""

    name: str
    serial_number: str
    owner: str
    site: str
    cost: int
    status: str = "in_use"


@dataclass(frozen=True)
class Company:
    """An organisation of the seed."""

    name: str
    domain: str
    """Domain of email addresses; `.example` is reserved for documentation."""
    phone: str
    """Country and area, the first two parts of phone numbers."""
    sites: tuple[Site, ...]
    people: tuple[Person, ...]
    teams: tuple[Team, ...]
    services: tuple[ServiceLine, ...]
    devices: tuple[Device, ...]
    targets: tuple[tuple[str, int, int], ...]
    """Priority, minutes to a response, minutes to a resolution."""
    first_names: tuple[str, ...]
    """Of people who are drawn."""
    last_names: tuple[str, ...]
    local_time: str = ""
    """Sentence about the time zones of its sites, for the system prompt; empty if they need no mention."""


HALDEN = Company(
    name="Halden Freight",
    domain="halden-freight.example",
    phone="+46-031",
    sites=(
        Site("Harbour Terminal", "Gothenburg", "Sweden", "14", "Kajgatan"),
        Site("Inland Depot", "Orebro", "Sweden", "3", "Spannvagen"),
        Site("Head Office", "Copenhagen", "Denmark", "88", "Pakhusvej"),
    ),
    people=(
        Person("Sigrid", "Aune", "admin", "Head Office"),
        Person("Oskar", "Lindqvist", "manager", "Head Office"),
        Person("Beatriz", "Fontes", "manager", "Harbour Terminal"),
        Person("Ines", "Carvalho", "agent", "Harbour Terminal"),
        Person("Joon", "Park", "agent", "Harbour Terminal"),
        Person("Ravi", "Menon", "agent", "Head Office"),
        Person("Dmitri", "Sokol", "agent", "Head Office", reserved=True),
        Person("Nadia", "Haddad", "agent", "Head Office"),
        Person("Yusuf", "Demir", "agent", "Inland Depot", reserved=True),
        Person("Ebba", "Nyholm", "agent", "Inland Depot"),
        Person("Pavel", "Horak", "agent", "Inland Depot", active=False),
        Person("Tomas", "Berg", "reporter", "Harbour Terminal", reserved=True),
        Person("Lucia", "Ferrante", "reporter", "Harbour Terminal"),
        Person("Anders", "Holt", "reporter", "Inland Depot"),
        Person("Grace", "Okafor", "reporter", "Head Office"),
        Person("Mette", "Krog", "reporter", "Head Office"),
        Person("Jonas", "Wiik", "reporter", "Inland Depot", active=False),
    ),
    teams=(
        Team(
            "Harbour Service Desk", "Service Desk", "Oskar Lindqvist", ("Ines Carvalho", "Ebba Nyholm"), "First answers"
        ),
        Team(
            "Freight Applications",
            "IT Support",
            "Oskar Lindqvist",
            ("Nadia Haddad", "Dmitri Sokol"),
            "Shipment, customs and scanning programs",
        ),
        Team(
            "Terminal Field Team",
            "Field Support Technicians",
            "Beatriz Fontes",
            ("Joon Park", "Yusuf Demir"),
            "Devices on docks, in yards and in offices",
        ),
        Team(
            "Network and Databases",
            "Infrastructure Problem Team",
            "Beatriz Fontes",
            ("Ravi Menon", "Ebba Nyholm"),
            "Networks, servers and databases",
        ),
        Team(
            "Depot Field Team",
            "Field Support Technicians",
            "Beatriz Fontes",
            ("Pavel Horak",),
            "Merged into the Terminal Field Team in spring 2026",
            active=False,
        ),
    ),
    services=(
        ServiceLine(
            "Shipment Tracking",
            "Oskar Lindqvist",
            "business",
            "critical",
            "Where every container is, for customers and planners",
            ("Shipment Tracking - Customers", "Shipment Tracking - Planners"),
        ),
        ServiceLine(
            "Dock Scheduling",
            "Beatriz Fontes",
            "business",
            "somewhat-critical",
            "Which truck loads at which dock",
            ("Dock Scheduling - Terminals",),
        ),
        ServiceLine(
            "Handheld Scanning",
            "Beatriz Fontes",
            "technology-management",
            "critical",
            "Handheld scanners on docks and in yards",
            ("Handheld Scanning - Docks", "Handheld Scanning - Yards"),
        ),
        ServiceLine(
            "Yard Wi-Fi",
            "Beatriz Fontes",
            "technology-management",
            "somewhat-critical",
            "Wireless network outdoors",
            ("Yard Wi-Fi - Staff",),
            status="repair_in_progress",
        ),
        ServiceLine(
            "Customs Declarations",
            "Oskar Lindqvist",
            "application",
            "critical",
            "Declarations to the customs authorities",
            ("Customs Declarations - Export",),
        ),
        ServiceLine(
            "Workplace",
            "Oskar Lindqvist",
            "technology-management",
            "less-critical",
            "Laptops, printers, mail and accounts",
            ("Workplace - Office", "Workplace - Terminal"),
        ),
        ServiceLine(
            "Fax Gateway",
            "Oskar Lindqvist",
            "technology-management",
            "not-critical",
            "Switched off in 2025",
            ("Fax Gateway - Office",),
            status="retired",
        ),
    ),
    devices=(
        Device("Label printer dock 4", "LP-4471-A", "Joon Park", "Harbour Terminal", 890),
        Device("Label printer dock 7", "LP-4471-B", "Joon Park", "Harbour Terminal", 890),
        Device("Scanner gateway north", "SG-0098-N", "Ravi Menon", "Harbour Terminal", 4200),
        Device("Scanner gateway south", "SG-0098-S", "Ravi Menon", "Harbour Terminal", 4200),
        Device("Yard access point 12", "AP-1200-12", "Ravi Menon", "Inland Depot", 640, status="maintenance"),
        Device("Tracking web server 1", "SRV-TRK-01", "Nadia Haddad", "Head Office", 7800),
        Device("Tracking database", "SRV-TRK-DB", "Ravi Menon", "Head Office", 15400),
        Device("Customs link router", "RT-5512", "Ravi Menon", "Head Office", 2300),
        Device("Office printer 3rd floor", "OP-3310", "Ebba Nyholm", "Head Office", 1250),
        Device("Fax server", "FX-0001", "Ebba Nyholm", "Head Office", 300, status="disposed"),
    ),
    targets=(("critical", 15, 240), ("high", 60, 480), ("moderate", 240, 1440), ("low", 480, 4320)),
    first_names=("Aksel", "Britta", "Carina", "Emil", "Freja", "Gustav", "Hanne", "Ivar", "Karin", "Mikkel"),
    last_names=("Dahl", "Eklund", "Friis", "Gran", "Hedlund", "Iversen", "Juul", "Kvist", "Moller", "Strand"),
)

MIRELLE = Company(
    name="Mirelle Botanics",
    domain="mirelle-botanics.example",
    phone="+33-047",
    sites=(
        Site("Garden Works", "Lyon", "France", "5", "Rue des Serres"),
        Site("Fulfilment Centre", "Dijon", "France", "210", "Avenue du Canal"),
        Site("City Studio", "Paris", "France", "31", "Rue Ambroise"),
    ),
    people=(
        Person("Camille", "Roche", "admin", "City Studio"),
        Person("Hugo", "Lambert", "manager", "City Studio"),
        Person("Amara", "Diallo", "manager", "Fulfilment Centre"),
        Person("Elise", "Garnier", "agent", "City Studio"),
        Person("Theo", "Marchand", "agent", "City Studio"),
        Person("Sana", "Qureshi", "agent", "Garden Works"),
        Person("Bruno", "Keller", "agent", "Fulfilment Centre"),
        Person("Lena", "Vogt", "agent", "Fulfilment Centre", active=False),
        Person("Chloe", "Petit", "reporter", "City Studio"),
        Person("Marc", "Duval", "reporter", "Fulfilment Centre"),
        Person("Aiko", "Mori", "reporter", "Garden Works"),
        Person("Rosa", "Delgado", "reporter", "Fulfilment Centre"),
        Person("Felix", "Brandt", "reporter", "Garden Works", active=False),
        # Shares his name with an employee of Halden Freight, and is the younger record of the two.
        Person("Tomas", "Berg", "reporter", "Fulfilment Centre", reserved=True),
    ),
    teams=(
        Team("Studio Service Desk", "Service Desk", "Hugo Lambert", ("Elise Garnier",), "First answers"),
        Team(
            "Shop Applications",
            "IT Support",
            "Hugo Lambert",
            ("Theo Marchand", "Elise Garnier"),
            "Webshop, tills and picking programs",
        ),
        Team(
            "Workshop Field Team",
            "Field Support Technicians",
            "Amara Diallo",
            ("Bruno Keller", "Lena Vogt"),
            "Devices in works, warehouse and studio",
        ),
        Team(
            "Platform and Data",
            "Infrastructure Problem Team",
            "Amara Diallo",
            ("Sana Qureshi",),
            "Networks, servers and the recipe database",
        ),
    ),
    services=(
        ServiceLine(
            "Webshop",
            "Hugo Lambert",
            "business",
            "critical",
            "The shop customers buy from",
            ("Webshop - Europe", "Webshop - Wholesale"),
        ),
        ServiceLine(
            "Warehouse Picking",
            "Amara Diallo",
            "business",
            "critical",
            "Orders on the pickers' tablets",
            ("Warehouse Picking - Dijon",),
        ),
        ServiceLine(
            "Recipe Vault",
            "Amara Diallo",
            "application",
            "somewhat-critical",
            "Database of formulas and batches",
            ("Recipe Vault - Laboratory",),
        ),
        ServiceLine(
            "Till System",
            "Hugo Lambert",
            "application",
            "somewhat-critical",
            "Tills of the studio shop",
            ("Till System - Paris",),
        ),
        ServiceLine(
            "Office Tools",
            "Hugo Lambert",
            "technology-management",
            "less-critical",
            "Laptops, printers, mail and accounts",
            ("Office Tools - Standard",),
        ),
    ),
    devices=(
        Device("Webshop front server", "MB-WEB-01", "Theo Marchand", "City Studio", 6900),
        Device("Payment gateway node", "MB-PAY-02", "Theo Marchand", "City Studio", 5200),
        Device("Recipe database server", "MB-RCP-DB", "Sana Qureshi", "Garden Works", 11800),
        Device("Picking tablet dock", "MB-TAB-17", "Bruno Keller", "Fulfilment Centre", 730),
        Device("Warehouse switch east", "MB-SW-03", "Sana Qureshi", "Fulfilment Centre", 1900),
        Device("Studio till 1", "MB-TIL-01", "Bruno Keller", "City Studio", 1450),
        Device("Spare tablet", "MB-TAB-99", "Bruno Keller", "Fulfilment Centre", 410, status="in_stock"),
    ),
    targets=(("critical", 10, 180), ("high", 45, 420), ("moderate", 180, 1440), ("low", 480, 2880)),
    first_names=("Adele", "Basile", "Clara", "Denis", "Estelle", "Florian", "Irene", "Jules", "Manon", "Quentin"),
    last_names=("Aubert", "Blanchet", "Carre", "Dumas", "Fabre", "Girard", "Hamon", "Leroux", "Noel", "Perrin"),
)

COMPANIES = (HALDEN, MIRELLE)
