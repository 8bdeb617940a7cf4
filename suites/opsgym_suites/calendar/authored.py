"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.calendar.domain import HEADER
from opsgym_domains.calendar.tables import User
from opsgym_suites.calendar.seeds import clinics_sql, clinics_world, offices_sql, offices_world
from opsgym_suites.calendar.seeds.world import Colleague, World
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit import world as kit
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.drafts import Person
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.task_files import FileTasks


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
TASKS = FileTasks("calendar", lambda of_seed: map(Colleague, of_seed.all(User)), with_verifiers)
CORE = Suite(
    SERVER,
    "calendar-core",
    (
        SeedTasks("offices", offices_world, TASKS.of_seed("offices")),
        SeedTasks("clinics", clinics_world, TASKS.of_seed("clinics")),
    ),
)
AUTHORED = AuthoredDomain("calendar", {"offices": offices_sql, "clinics": clinics_sql}, (CORE,))
