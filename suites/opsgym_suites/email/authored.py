"""The seeds and the suite that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from opsgym_domains.email.domain import HEADER
from opsgym_suites.email import core
from opsgym_suites.email.core import ferries
from opsgym_suites.email.seeds import ferries_sql, ferries_world, press_sql, press_world
from opsgym_suites.email.seeds.world import Person, World
from opsgym_suites.kit import drafts, world
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.wordings import read_wordings


def _identity(actor: drafts.Person) -> Mapping[str, str]:
    return {HEADER: str(cast("Person", actor).user.token)}


def _introduction(_actor: drafts.Person, of_seed: world.World) -> str:
    host = cast("World", of_seed).company.host
    return (
        f"You manage mailboxes at {host.partition('.')[0].capitalize()}. Addresses of the company are "
        f"first.last@{host}; other companies have other hosts."
    )


SERVER = GymServer("email", "gym-email-mcp", "http://localhost:8006", _identity, _introduction)
CORE = Suite(
    SERVER,
    "email-core",
    (SeedTasks("press", press_world, core.drafts), SeedTasks("ferries", ferries_world, ferries.drafts)),
    wordings=read_wordings(core.__name__),
)
AUTHORED = AuthoredDomain("email", {"ferries": ferries_sql, "press": press_sql}, (CORE,))
