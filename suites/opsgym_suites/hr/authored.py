"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.hr.domain import HEADER
from opsgym_domains.hr.tables import Organization, User
from opsgym_suites.hr.seeds import hospital_sql, hospital_world, works_sql, works_world
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.drafts import Person
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.task_files import FileTasks
from opsgym_suites.kit.world import World


def _identity(actor: Person) -> Mapping[str, str]:
    return {HEADER: str(cast("User", actor).static_token)}


def _introduction(_actor: Person, world: World) -> str:
    return f"You are the assistant of the HR department of {world.one(Organization, org_id=1).name}."


SERVER = GymServer("hr", "gym-hr-mcp", "http://localhost:8005", _identity, _introduction)
TASKS = FileTasks("hr", lambda world: world.all(User), with_verifiers)
CORE = Suite(
    SERVER,
    "hr-core",
    (
        SeedTasks("hospital", hospital_world, TASKS.of_seed("hospital")),
        SeedTasks("works", works_world, TASKS.of_seed("works")),
    ),
)
AUTHORED = AuthoredDomain("hr", {"hospital": hospital_sql, "works": works_sql}, (CORE,))
