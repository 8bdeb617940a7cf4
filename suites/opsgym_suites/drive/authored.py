"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.drive.domain import HEADER
from opsgym_domains.drive.tables import User
from opsgym_suites.drive.seeds import consultancy_sql, consultancy_world, foundation_sql, foundation_world
from opsgym_suites.drive.seeds.world import Person, World
from opsgym_suites.drive.verification import with_verifiers
from opsgym_suites.kit import drafts, world
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.task_files import FileTasks


def _identity(actor: drafts.Person) -> Mapping[str, str]:
    return {HEADER: str(cast("Person", actor).user.auth_token)}


def _introduction(_actor: drafts.Person, of_seed: world.World) -> str:
    host = cast("World", of_seed).company.host
    return (
        f"You manage files at {host.partition('.')[0].capitalize()}. Addresses of colleagues are first.last@{host}; "
        "groups have addresses there too, and other companies have other hosts."
    )


SERVER = GymServer("drive", "gym-drive-mcp", "http://localhost:8005", _identity, _introduction)
TASKS = FileTasks("drive", lambda of_seed: map(Person, of_seed.all(User)), with_verifiers)
CORE = Suite(
    SERVER,
    "drive-core",
    (
        SeedTasks("consultancy", consultancy_world, TASKS.of_seed("consultancy")),
        SeedTasks("foundation", foundation_world, TASKS.of_seed("foundation")),
    ),
)
AUTHORED = AuthoredDomain("drive", {"consultancy": consultancy_sql, "foundation": foundation_sql}, (CORE,))
