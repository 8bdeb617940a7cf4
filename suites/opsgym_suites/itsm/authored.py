"""The seeds and suites that ship with the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opsgym_domains.itsm.domain import HEADER
from opsgym_domains.itsm.tables import Organization
from opsgym_suites.itsm import core, grid, quickstart
from opsgym_suites.itsm.seeds import (
    desk_sql,
    desk_world,
    grid_sql,
    grid_world,
    quickstart_sql,
    quickstart_world,
)
from opsgym_suites.itsm.seeds.grid_companies import GRID_COMPANIES
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.suite import GymServer, SeedTasks, Suite
from opsgym_suites.kit.wordings import read_wordings
from opsgym_suites.kit.world import World

LOCAL_TIMES = {company.name: company.local_time for company in GRID_COMPANIES}


def _identity(actor: Any) -> Mapping[str, str]:
    return {HEADER: actor.static_token}


def _introduction(actor: Any, world: World) -> str:
    company = world.one(Organization, org_id=actor.org_id).name
    return " ".join(filter(None, [f"You are the service desk assistant of {company}.", LOCAL_TIMES.get(company)]))


SERVER = GymServer("itsm", "gym-itsm-mcp", "http://localhost:8006", _identity, _introduction)
QUICKSTART = Suite(
    SERVER, "quickstart", (SeedTasks("quickstart", quickstart_world, quickstart.drafts),), numbered="itsm-qs"
)
CORE = Suite(
    SERVER,
    "itsm-core",
    (SeedTasks("desk", desk_world, core.drafts), SeedTasks("grid", grid_world, grid.drafts)),
    wordings=read_wordings(core.__name__),
)
AUTHORED = AuthoredDomain(
    "itsm", {"quickstart": quickstart_sql, "desk": desk_sql, "grid": grid_sql}, (QUICKSTART, CORE)
)
