"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.calendar.domain import HEADER
from opsgym_suites.calendar import core
from opsgym_suites.calendar.core import clinics
from opsgym_suites.calendar.seeds import clinics_sql, clinics_world, offices_sql, offices_world
from opsgym_suites.calendar.seeds.world import Colleague, World
from opsgym_suites.kit import world as kit
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.drafts import Person
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.wordings import read_wordings


def _identity(actor: Person) -> Mapping[str, str]:
    return {HEADER: cast("Colleague", actor).user.static_token}


def _introduction(actor: Person, of_seed: kit.World) -> str:
    zone, company = cast("Colleague", actor).user.timezone, cast("World", of_seed).company
    return (
        f"You manage calendars at {company.name}. Addresses there are first.last@{company.domain}, without accents; "
        "where two people have the same name, the second has an initial in the middle. The acting user's "
        f"time zone is {zone}."
    )


TIMES = "that time is UTC, and times of events are those of the time zone that stands beside them"
SERVER = GymServer("calendar", "gym-calendar-mcp", "http://localhost:8002", _identity, _introduction, TIMES)
CORE = Suite(
    SERVER,
    "calendar-core",
    (SeedTasks("offices", offices_world, core.drafts), SeedTasks("clinics", clinics_world, clinics.drafts)),
    wordings=read_wordings(core.__name__),
)
AUTHORED = AuthoredDomain("calendar", {"offices": offices_sql, "clinics": clinics_sql}, (CORE,))
