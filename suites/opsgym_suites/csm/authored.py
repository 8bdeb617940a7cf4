"""The seeds and suites that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_domains.csm.domain import HEADER
from opsgym_domains.csm.tables import Account
from opsgym_suites.csm import charging, core
from opsgym_suites.csm.seeds import charging_sql, charging_world, desk_sql, desk_world, quickstart_sql
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.drafts import Person
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.wordings import read_wordings
from opsgym_suites.kit.world import World


def _identity(actor: Person) -> Mapping[str, str]:
    return {HEADER: actor.email}


def _introduction(_actor: Person, world: World) -> str:
    company = world.one(Account, account_type="internal").name
    return f"You are the customer service assistant of {company}."


SERVER = GymServer("csm", "gym-csm-mcp", "http://localhost:8001", _identity, _introduction)
PARTS = (SeedTasks("desk", desk_world, core.drafts), SeedTasks("charging", charging_world, charging.drafts))
CORE = Suite(SERVER, "csm-core", PARTS, wordings=read_wordings(core.__name__))
AUTHORED = AuthoredDomain("csm", {"quickstart": quickstart_sql, "desk": desk_sql, "charging": charging_sql}, (CORE,))
