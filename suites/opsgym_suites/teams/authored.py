"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.teams.identity import HEADER
from opsgym_domains.teams.tables import Org, User
from opsgym_suites.kit import drafts, world
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.task_files import FileTasks
from opsgym_suites.teams.seeds import bridges_sql, bridges_world, wards_sql, wards_world
from opsgym_suites.teams.seeds.world import Actor
from opsgym_suites.teams.verification import with_verifiers


def _identity(actor: drafts.Person) -> Mapping[str, str]:
    return {HEADER: cast("Actor", actor).token}


def _introduction(_actor: drafts.Person, of_seed: world.World) -> str:
    org = of_seed.all(Org)[0]
    return f"You manage Teams at {org.display_name}. Addresses there are first.last@{org.domain_name}."


SERVER = GymServer("teams", "gym-teams-mcp", "http://localhost:8005", _identity, _introduction)
TASKS = FileTasks("teams", lambda world: map(Actor, world.all(User)), with_verifiers)
CORE = Suite(
    SERVER,
    "teams-core",
    (
        SeedTasks("bridges", bridges_world, TASKS.of_seed("bridges")),
        SeedTasks("wards", wards_world, TASKS.of_seed("wards")),
    ),
)
AUTHORED = AuthoredDomain("teams", {"bridges": bridges_sql, "wards": wards_sql}, (CORE,))
