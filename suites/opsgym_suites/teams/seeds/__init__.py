"""The seeds of the domain, each generated from the description of an organisation."""

from __future__ import annotations

from functools import cache

from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.teams.seeds.bridges import BRIDGES
from opsgym_suites.teams.seeds.generate import generate
from opsgym_suites.teams.seeds.wards import WARDS
from opsgym_suites.teams.seeds.world import World


@cache
def bridges_world() -> World:
    """The rows of the seed `bridges`."""
    return generate(BRIDGES)


@cache
def wards_world() -> World:
    """The rows of the seed `wards`."""
    return generate(WARDS)


def bridges_sql() -> str:
    """The seed `bridges`: a group that builds tunnels, bridges and locks."""
    return seed_sql(bridges_world())


def wards_sql() -> str:
    """The seed `wards`: the digital services of a university hospital."""
    return seed_sql(wards_world())
