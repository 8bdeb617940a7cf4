"""The two companies of the seed `grid`: an electricity network and a group of clinics, in New Zealand and Fiji.

Invariant: their people, teams, sites, services and devices have no name in common with those of `companies`, except for
the services that every company has. Some names resemble others on purpose.
"""

from __future__ import annotations

from opsgym_suites.itsm.seeds.companies import Company, Device, Person, ServiceLine, Site, Team

RIMUTAKA = Company(
    name="Rimutaka Lines",
    domain="rimutaka-lines.example",
    phone="+64-004",
    sites=(
        Site("Control Centre", "Wellington", "New Zealand", "41", "Cobden Lane"),
        Site("Masterton Yard", "Masterton", "New Zealand", "7", "Transformer Road"),
        Site("Hutt Substation Works", "Upper Hutt", "New Zealand", "230", "Pylon Drive"),
        Site("Nelson Office", "Nelson", "New Zealand", "15", "Wharf Rise"),
    ),
    people=(
        Person("Aroha", "Tamihana", "admin", "Control Centre"),
        Person("Graham", "Pirie", "manager", "Control Centre"),
        Person("Leilani", "Fonoti", "manager", "Masterton Yard"),
        Person("Wiremu", "Paki", "agent", "Control Centre"),
        Person("Priya", "Raman", "agent", "Control Centre"),
        Person("Callum", "Reid", "agent", "Masterton Yard"),
        Person("Callum", "Reade", "agent", "Hutt Substation Works"),
        Person("Tevita", "Moala", "agent", "Nelson Office"),
        Person("Mei", "Tan", "agent", "Control Centre"),
        Person("Sam", "Ioane", "agent", "Hutt Substation Works"),
        Person("Hana", "Ruru", "agent", "Control Centre"),
        Person("Josh", "Abbott", "agent", "Nelson Office"),
        Person("Dion", "Marsh", "agent", "Masterton Yard", active=False),
        Person("Ngaire", "Hopa", "reporter", "Masterton Yard", reserved=True),
        Person("Kiri", "Walker", "reporter", "Control Centre", reserved=True),
        Person("Stuart", "Blyth", "reporter", "Hutt Substation Works", reserved=True),
        Person("Ana", "Vea", "reporter", "Masterton Yard", reserved=True),
        Person("Owen", "Tait", "reporter", "Nelson Office", reserved=True),
        Person("Rewi", "Cole", "reporter", "Nelson Office", active=False),
    ),
    teams=(
        Team("Lines Service Desk", "Service Desk", "Graham Pirie", ("Hana Ruru", "Josh Abbott"), "First answers"),
        Team(
            "Grid Applications",
            "IT Support",
            "Graham Pirie",
            ("Wiremu Paki", "Priya Raman"),
            "Outage map, dispatch and meter programs",
        ),
        Team(
            "Yard Technicians",
            "Field Support Technicians",
            "Leilani Fonoti",
            ("Callum Reid", "Callum Reade"),
            "Devices in yards, substations and vans",
        ),
        Team(
            "Grid Platform",
            "Infrastructure Problem Team",
            "Leilani Fonoti",
            ("Tevita Moala", "Mei Tan", "Sam Ioane"),
            "Networks, radio links and databases",
        ),
        Team(
            "Hutt Technicians",
            "Field Support Technicians",
            "Leilani Fonoti",
            ("Dion Marsh",),
            "Merged into the Yard Technicians in 2026",
            active=False,
        ),
    ),
    services=(
        ServiceLine(
            "Outage Map", "Graham Pirie", "business", "critical", "Where the power is off, and until when",
            ("Outage Map - Public", "Outage Map - Crews"),
        ),
        ServiceLine(
            "Grid Control", "Graham Pirie", "application", "critical", "Consoles of the control room",
            ("Grid Control - Operators",),
        ),
        ServiceLine(
            "Crew Dispatch", "Leilani Fonoti", "application", "somewhat-critical", "Jobs and radios of the crews",
            ("Crew Dispatch - Vans", "Crew Dispatch - Yards"),
        ),
        ServiceLine(
            "Smart Meters", "Leilani Fonoti", "technology-management", "somewhat-critical", "Readings of all meters",
            ("Smart Meters - Billing", "Smart Meters - Field"),
        ),
        ServiceLine(
            "Workplace", "Graham Pirie", "technology-management", "less-critical", "Laptops, mail and accounts",
            ("Workplace - Wellington", "Workplace - Yards"),
        ),
        ServiceLine(
            "Pager Network", "Leilani Fonoti", "technology-management", "not-critical", "Switched off in 2026",
            ("Pager Network - Crews",), status="retired",
        ),
    ),
    devices=(
        Device("Control console 1", "CC-3301", "Wiremu Paki", "Control Centre", 4200),
        Device("Control console 2", "CC-3302", "Wiremu Paki", "Control Centre", 4200),
        Device("Meter head-end", "MH-0900", "Mei Tan", "Control Centre", 15800),
        Device("Gateway H3", "SG-H3-11", "Sam Ioane", "Hutt Substation Works", 2750),
        Device("Gateway H8", "SG-H8-11", "Sam Ioane", "Hutt Substation Works", 2750),
        Device("Dispatch radio base", "RB-7710", "Callum Reid", "Masterton Yard", 6900),
        Device("Crew tablet 17", "CT-0417", "Callum Reid", "Masterton Yard", 880),
        Device("Crew tablet 71", "CT-0471", "Callum Reade", "Hutt Substation Works", 880),
        Device("Nelson printer", "NP-1200", "Josh Abbott", "Nelson Office", 640),
        Device("Nelson router", "NR-1201", "Tevita Moala", "Nelson Office", 1150),
    ),
    targets=(("critical", 10, 180), ("high", 25, 360), ("moderate", 90, 1080), ("low", 200, 3600)),
    first_names=("Nikau", "Bex", "Jarrod", "Keri", "Manu", "Selwyn", "Tasi", "Whina", "Zoe", "Barrie"),
    last_names=("Duff", "Heke", "Kemp", "Lusk", "Nairn", "Puru", "Quirk", "Sefo"),
    local_time="Its sites keep New Zealand daylight time, UTC+13.",
)  # fmt: skip

HARAKEKE = Company(
    name="Harakeke Clinics",
    domain="harakeke-clinics.example",
    phone="+64-009",
    sites=(
        Site("Ponsonby Clinic", "Auckland", "New Zealand", "12", "Raroa Terrace"),
        Site("Records House", "Hamilton", "New Zealand", "3", "Ledger Street"),
        Site("Suva Clinic", "Suva", "Fiji", "66", "Reef Parade"),
    ),
    people=(
        Person("Mere", "Kingi", "admin", "Ponsonby Clinic"),
        Person("Vikram", "Shah", "manager", "Ponsonby Clinic"),
        Person("Ofa", "Taufa", "manager", "Suva Clinic"),
        Person("Ruth", "Salmon", "manager", "Records House", active=False),
        Person("Sione", "Latu", "agent", "Ponsonby Clinic"),
        Person("Lucy", "Penn", "agent", "Ponsonby Clinic"),
        Person("Tane", "Bishop", "agent", "Records House"),
        Person("Moana", "Grey", "agent", "Suva Clinic"),
        Person("Isla", "Ford", "agent", "Ponsonby Clinic"),
        Person("Fetu", "Lagi", "agent", "Records House"),
        Person("Petra", "Hale", "reporter", "Ponsonby Clinic", reserved=True),
        Person("Sina", "Latu", "reporter", "Suva Clinic", reserved=True),
        Person("Joan", "Mellor", "reporter", "Records House", reserved=True),
        Person("Alipate", "Vuki", "reporter", "Suva Clinic", active=False, reserved=True),
    ),
    teams=(
        Team("Clinic Help Desk", "Service Desk", "Vikram Shah", ("Sione Latu",), "First answers"),
        Team(
            "Clinic Applications", "IT Support", "Vikram Shah", ("Lucy Penn", "Tane Bishop"), "Records and bookings"
        ),
        Team(
            "Clinic Devices", "Field Support Technicians", "Ofa Taufa", ("Moana Grey", "Isla Ford"),
            "Terminals, fridges and printers",
        ),
        Team("Clinic Networks", "Infrastructure Problem Team", "Ofa Taufa", ("Fetu Lagi",), "Networks and databases"),
    ),
    services=(
        ServiceLine(
            "Patient Records", "Vikram Shah", "application", "critical", "Files of all patients",
            ("Patient Records - Doctors", "Patient Records - Reception"),
        ),
        ServiceLine(
            "Old Booking", "Vikram Shah", "application", "less-critical", "Appointments on the old system",
            ("Old Booking - Reception", "Old Booking - Phone"),
        ),
        ServiceLine(
            "Vaccine Fridges", "Ofa Taufa", "technology-management", "critical", "Temperatures and alarms",
            ("Vaccine Fridges - Clinics",),
        ),
        ServiceLine(
            "Lab Results", "Ofa Taufa", "application", "somewhat-critical", "Results from the laboratories",
            ("Lab Results - Doctors",),
        ),
        ServiceLine(
            "Office Tools", "Vikram Shah", "technology-management", "less-critical", "Laptops, mail and accounts",
            ("Office Tools - Clinics",),
        ),
    ),
    devices=(
        Device("Reception terminal 1", "RT-5001", "Isla Ford", "Ponsonby Clinic", 1450),
        Device("Reception terminal 2", "RT-5002", "Moana Grey", "Suva Clinic", 1450),
        Device("Spare terminal A", "RT-5011", "Moana Grey", "Suva Clinic", 1450, status="in_stock"),
        Device("Spare terminal B", "RT-5012", "Isla Ford", "Ponsonby Clinic", 1450, status="maintenance"),
        Device("Spare terminal C", "RT-5013", "Vikram Shah", "Ponsonby Clinic", 1450, status="in_stock"),
        Device("Fridge logger Suva", "FL-0808", "Moana Grey", "Suva Clinic", 390),
    ),
    targets=(("critical", 15, 200), ("high", 40, 400), ("moderate", 120, 1300), ("low", 480, 4000)),
    first_names=("Elisapeta", "Ravinder", "Coralie", "Hemi", "Noeline", "Poppy", "Rangi", "Salote", "Trish", "Una"),
    last_names=("Aitken", "Beale", "Crowe", "Dunlop", "Erueti", "Fifita", "Gounder", "Hapuku"),
    local_time="Its sites in New Zealand keep UTC+13, the one in Fiji UTC+12.",
)  # fmt: skip

GRID_COMPANIES = (RIMUTAKA, HARAKEKE)
