"""Customers and partners of the company, their sites and contracts."""

from __future__ import annotations

from opsgym_suites.csm.seeds.setting import Customer

CUSTOMERS = (
    Customer(
        "Brightwater Foods", "brightwater.example", "london", "enterprise",
        ("Frost Sensor F2", "Gateway G200", "ColdView Cloud", "Alarm Router"), 6,
        ("Brightwater Cold Store", "Brightwater Depot East"), wide=True,
    ),
    Customer(
        "Calder Pharmacies", "calder.example", "london", "premium",
        ("Frost Sensor F1", "Humidity Probe H2", "Gateway G100", "ColdView Cloud"), 5, ("Calder Warehouse",),
    ),
    Customer(
        "Hudson Blood Services", "hudsonblood.example", "new_york", "enterprise",
        ("Frost Sensor F2", "Gateway G200", "Alarm Beacon B1", "Alarm Router"), 6,
        ("Hudson Central Bank", "Hudson Donor Centre"), wide=True,
    ),
    Customer(
        "Ferro Seafood", "ferroseafood.example", "tokyo", "premium",
        ("Frost Sensor F1", "Transport Logger T5", "Route Audit"), 6, ("Ferro Toyosu Hall",),
    ),
    Customer(
        "Anand Dairy", "ananddairy.example", "mumbai", "enterprise",
        ("Frost Sensor F1", "Gateway G100", "Transport Logger T5", "ColdView Cloud"), 5,
        ("Anand Chilling Centre", "Anand Bottling Plant"), wide=True,
    ),
    Customer(
        "Coral Bay Fisheries", "coralbay.example", "sydney", "standard",
        ("Frost Sensor F1", "Gateway G100", "ColdView Mobile"), 4, ("Coral Bay Pier",),
    ),
    Customer(
        "Northgate Clinics", "northgate.example", "london", "standard",
        ("Frost Sensor F2", "Door Sensor D4", "Gateway G100"), 4, ("Northgate Clinic",),
    ),
    Customer(
        "Pacific Vaccine Store", "pacificvaccine.example", "sydney", "enterprise",
        ("Frost Sensor F2", "Humidity Probe H2", "Gateway G200", "Alarm Router"), 5,
        ("Pacific Store One", "Pacific Store Two"), wide=True,
    ),
    Customer(
        "Sakura Logistics", "sakuralogistics.example", "tokyo", "premium",
        ("Transport Logger T5", "Gateway G200", "Route Audit", "ColdView Cloud"), 6, ("Sakura Hub Ota",),
    ),
    Customer(
        "Empire Produce", "empireproduce.example", "new_york", "standard",
        ("Frost Sensor F1", "Door Sensor D4", "Report Builder"), 4, ("Empire Market Hall",),
    ),
    Customer(
        "Malabar Spices", "malabarspices.example", "mumbai", "standard", ("Humidity Probe H2", "Gateway G100"), 4,
        ("Malabar Godown",),
    ),
    Customer(
        "Harbour Ice Cream", "harbourice.example", "sydney", "premium",
        ("Frost Sensor F2", "Alarm Beacon B1", "ColdView Cloud"), 5, ("Harbour Factory",),
    ),
    Customer(
        "Tamesis Museum", "tamesis.example", "london", "standard", ("Humidity Probe H2", "ColdView Cloud"), 5,
        ("Tamesis Archive",),
    ),
    Customer(
        "Ginza Flowers", "ginzaflowers.example", "tokyo", "standard", ("Humidity Probe H2", "Door Sensor D4"), 3,
        ("Ginza Shop",),
    ),
    Customer(
        "Bronx Food Bank", "bronxfood.example", "new_york", "standard", ("Frost Sensor F1", "Gateway G100"), 3,
        ("Bronx Pantry",),
    ),
    Customer(
        "Deccan Biologics", "deccanbio.example", "mumbai", "premium",
        ("Frost Sensor F2", "Calibration Bath C9", "Yearly Calibration", "ColdView Cloud"), 3, ("Deccan Lab",),
    ),
    Customer(
        "Southern Cross Wines", "southerncross.example", "sydney", "standard",
        ("Humidity Probe H2", "Transport Logger T3"), 3, ("Southern Cross Cellar",),
    ),
    Customer(
        "Liberty Labs", "libertylabs.example", "new_york", "premium",
        ("Frost Sensor F2", "Gateway G200", "Report Builder"), 4, ("Liberty Cold Room",),
    ),
    Customer(
        "Kestrel Freight", "kestrel.example", "london", "premium", ("Transport Logger T5", "Route Audit"), 6,
        ("Kestrel Yard",), type="partner",
    ),
    Customer(
        "Mizu Repairs", "mizurepairs.example", "tokyo", None, ("On-site Repair", "Alarm Beacon B1"), 3,
        ("Mizu Workshop",), type="partner",
    ),
    Customer(
        "Wharf Butchers", "wharfbutchers.example", "london", "standard", ("Frost Sensor F1", "Door Sensor D4"), 3,
        ("Wharf Shop",), contract="expired",
    ),
    Customer(
        "Monsoon Fresh", "monsoonfresh.example", "mumbai", "premium",
        ("Frost Sensor F2", "Gateway G100", "ColdView Mobile"), 4, ("Monsoon Store",), contract="suspended",
    ),
    Customer(
        "Old Quay Market", "oldquay.example", "london", "standard", ("Frost Sensor F1",), 2, ("Old Quay Hall",),
        active=False, contract="expired",
    ),
    Customer(
        "Riverside Bakery", "riversidebakery.example", "london", "standard", ("Frost Sensor F1", "Operator Training"),
        2, ("Riverside Ovens",),
    ),
)  # fmt: skip

FIRST_NAMES = {
    "london": ("Alice", "Edward", "Nadia", "Peter", "Sophie", "Hugh", "Tessa", "Martin", "Isla", "Gareth", "Ruby",
        "Alan"),
    "new_york": ("Carla", "Derek", "Janet", "Luis", "Monica", "Andre", "Paula", "Greg", "Tanya", "Victor", "Leah",
        "Sam"),
    "mumbai": ("Anil", "Deepa", "Farhan", "Kavita", "Manoj", "Neha", "Sunil", "Tara", "Vikram", "Zoya", "Arun",
        "Leela"),
    "tokyo": ("Akira", "Chika", "Daiki", "Hana", "Jiro", "Mika", "Naoko", "Ren", "Sora", "Takumi", "Aya", "Koji"),
    "sydney": ("Amber", "Blake", "Chloe", "Darcy", "Ella", "Finn", "Georgia", "Heath", "Jade", "Kyle", "Matilda",
        "Reece"),
}  # fmt: skip
LAST_NAMES = {
    "london": (
        "Ashworth",
        "Bramley",
        "Colley",
        "Denham",
        "Ellwood",
        "Fairfax",
        "Garland",
        "Hollis",
        "Ingram",
        "Jessop",
    ),
    "new_york": ("Alvarez", "Brewster", "Castillo", "Dunn", "Eriksen", "Fontana", "Greer", "Hobbs", "Ivers", "Kaplan"),
    "mumbai": ("Bhatt", "Chopra", "Desai", "Gokhale", "Iyer", "Joshi", "Kulkarni", "Menon", "Patil", "Rao"),
    "tokyo": ("Abe", "Endo", "Fujita", "Hirano", "Ishii", "Kimura", "Maeda", "Noguchi", "Ogawa", "Shibata"),
    "sydney": ("Anders", "Bourke", "Clancy", "Dunstan", "Ewing", "Frawley", "Gibb", "Hartigan", "Innes", "Kearney"),
}
SHARED_NAME = "Alan Jessop"
"""Two contacts of different customers share this name."""
SHARED_NAME_ACCOUNTS = ("Northgate Clinics", "Tamesis Museum")
