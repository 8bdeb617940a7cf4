"""The two companies of the seed `desk`: those of `companies`, grown. More people, teams, services and devices.

Invariant: every name of `companies` has the same meaning here, so that its fixtures fit. Some names resemble others on
purpose: a look-up by half a name finds two.
"""

from __future__ import annotations

from dataclasses import replace

from opsgym_suites.itsm.seeds.companies import HALDEN, MIRELLE, Company, Device, Person, ServiceLine, Site, Team

GROWN_HALDEN = replace(
    HALDEN,
    sites=(
        *HALDEN.sites,
        Site("Harbour Terminal West", "Gothenburg", "Sweden", "18", "Kajgatan"),
        Site("Airfreight Office", "Billund", "Denmark", "6", "Cargovej"),
    ),
    people=(
        *HALDEN.people,
        Person("Maren", "Toft", "manager", "Airfreight Office"),
        Person("Henrik", "Solberg", "agent", "Head Office"),
        Person("Henrike", "Solberg", "agent", "Harbour Terminal"),
        Person("Aino", "Lehto", "agent", "Harbour Terminal West"),
        Person("Karim", "Nasser", "agent", "Airfreight Office"),
        Person("Signe", "Aaberg", "agent", "Inland Depot"),
        Person("Viktor", "Ek", "agent", "Harbour Terminal"),
        Person("Nadja", "Haddad", "reporter", "Head Office"),
        Person("Oskar", "Lindkvist", "reporter", "Inland Depot"),
        Person("Liv", "Bakke", "reporter", "Airfreight Office"),
        Person("Rune", "Falk", "agent", "Harbour Terminal West", active=False),
    ),
    teams=(
        *HALDEN.teams,
        Team(
            "Airfreight Applications",
            "IT Support",
            "Maren Toft",
            ("Karim Nasser", "Henrik Solberg", "Aino Lehto"),
            "Airway bills, slots and scales",
        ),
        Team(
            "Harbour Service Desk West",
            "Service Desk",
            "Maren Toft",
            ("Aino Lehto", "Henrike Solberg"),
            "First answers on the western quay",
        ),
        Team(
            "Quay Field Team",
            "Field Support Technicians",
            "Maren Toft",
            ("Signe Aaberg", "Viktor Ek", "Henrike Solberg"),
            "Devices on the western quay",
        ),
    ),
    services=(
        *HALDEN.services,
        ServiceLine(
            "Airway Bills",
            "Maren Toft",
            "business",
            "critical",
            "Papers for airfreight",
            ("Airway Bills - Export", "Airway Bills - Import"),
        ),
        ServiceLine(
            "Weighbridge",
            "Beatriz Fontes",
            "application",
            "somewhat-critical",
            "Weights of trucks at the gates",
            ("Weighbridge - Gates", "Weighbridge - Quay"),
        ),
        ServiceLine(
            "Crane Telemetry",
            "Oskar Lindqvist",
            "application",
            "less-critical",
            "What the cranes report",
            ("Crane Telemetry - Harbour", "Crane Telemetry - Archive"),
        ),
        ServiceLine(
            "Tracking Archive",
            "Oskar Lindqvist",
            "application",
            "not-critical",
            "Positions older than a year",
            ("Tracking Archive - Planners",),
        ),
    ),
    devices=(
        *HALDEN.devices,
        Device("Label printer dock 14", "LP-4471-N", "Viktor Ek", "Harbour Terminal West", 910),
        Device("Weighbridge terminal 1", "WB-2001", "Signe Aaberg", "Inland Depot", 3100),
        Device("Weighbridge terminal 2", "WB-2002", "Signe Aaberg", "Inland Depot", 3100, status="maintenance"),
        Device("Airway bill printer", "AB-0450", "Karim Nasser", "Airfreight Office", 1320),
        Device("Crane gateway west", "CG-0077-W", "Viktor Ek", "Harbour Terminal West", 5400),
        Device("Slot planning server", "SRV-SLT-01", "Henrik Solberg", "Head Office", 6600),
    ),
    first_names=(*HALDEN.first_names, "Sofie", "Lars"),
    last_names=(*HALDEN.last_names, "Strandh", "Dahle"),
)

GROWN_MIRELLE = replace(
    MIRELLE,
    sites=(
        *MIRELLE.sites,
        Site("Garden Works South", "Lyon", "France", "7", "Rue des Serres"),
        Site("Boutique Lille", "Lille", "France", "12", "Place du Lin"),
    ),
    people=(
        *MIRELLE.people,
        Person("Ines", "Moreau", "manager", "Garden Works"),
        Person("Lucas", "Morel", "agent", "City Studio"),
        Person("Lucas", "Maurel", "agent", "Garden Works"),
        Person("Yara", "Haidar", "agent", "Fulfilment Centre"),
        Person("Oumar", "Sarr", "agent", "Fulfilment Centre"),
        Person("Jana", "Novak", "agent", "Garden Works South"),
        Person("Pauline", "Rey", "agent", "Boutique Lille"),
        Person("Chloe", "Petitjean", "reporter", "Boutique Lille"),
        Person("Marc", "Duvall", "reporter", "City Studio"),
        Person("Simone", "Achard", "reporter", "Garden Works"),
        Person("Gilles", "Baron", "agent", "City Studio", active=False),
    ),
    teams=(
        *MIRELLE.teams,
        Team(
            "Boutique Support",
            "Service Desk",
            "Hugo Lambert",
            ("Pauline Rey", "Lucas Morel"),
            "First answers for the boutiques",
        ),
        Team(
            "Laboratory Applications",
            "IT Support",
            "Ines Moreau",
            ("Lucas Maurel", "Jana Novak", "Yara Haidar"),
            "Formulas, batches and scales",
        ),
        Team(
            "Greenhouse Field Team",
            "Field Support Technicians",
            "Ines Moreau",
            ("Oumar Sarr", "Jana Novak"),
            "Sensors and devices in the greenhouses",
        ),
    ),
    services=(
        *MIRELLE.services,
        ServiceLine(
            "Greenhouse Control",
            "Ines Moreau",
            "business",
            "critical",
            "Climate of the greenhouses",
            ("Greenhouse Control - Lyon", "Greenhouse Control - Alarms"),
        ),
        ServiceLine(
            "Batch Labels",
            "Ines Moreau",
            "application",
            "somewhat-critical",
            "Labels on jars and cartons",
            ("Batch Labels - Works", "Batch Labels - Cartons"),
        ),
        ServiceLine(
            "Loyalty Cards",
            "Hugo Lambert",
            "application",
            "less-critical",
            "Points of those who come back",
            ("Loyalty Cards - Boutiques", "Loyalty Cards - Webshop"),
        ),
        ServiceLine(
            "Webshop Archive",
            "Hugo Lambert",
            "application",
            "not-critical",
            "Orders older than two years",
            ("Webshop Archive - Finance",),
        ),
    ),
    devices=(
        *MIRELLE.devices,
        Device("Studio till 2", "MB-TIL-02", "Bruno Keller", "City Studio", 1450),
        Device("Boutique till 1", "MB-TIL-11", "Pauline Rey", "Boutique Lille", 1490),
        Device("Greenhouse controller 3", "MB-GH-03", "Oumar Sarr", "Garden Works South", 2700),
        Device("Greenhouse controller 4", "MB-GH-04", "Oumar Sarr", "Garden Works South", 2700, status="maintenance"),
        Device("Batch label printer", "MB-LAB-02", "Jana Novak", "Garden Works", 1180),
        Device("Loyalty server", "MB-LOY-01", "Lucas Morel", "City Studio", 4100),
    ),
    first_names=(*MIRELLE.first_names, "Solene", "Remi"),
    last_names=(*MIRELLE.last_names, "Leroy", "Carr"),
)

DESK_COMPANIES: tuple[Company, ...] = (GROWN_HALDEN, GROWN_MIRELLE)
