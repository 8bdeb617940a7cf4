"""Seeds of the domain, generated from fixture records and random ones."""

from __future__ import annotations

from functools import cache

from opsgym_suites.itsm.seeds.generate import DESK, GRID, QUICKSTART, generate
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.seed_sql import seed_sql


@cache
def quickstart_world() -> World:
    """The rows of the seed `quickstart`."""
    return generate(*QUICKSTART)


def quickstart_sql() -> str:
    """The seed `quickstart`: two companies and half a thousand rows in all 24 tables."""
    return seed_sql(quickstart_world())


@cache
def desk_world() -> World:
    """The rows of the seed `desk`."""
    return generate(*DESK)


def desk_sql() -> str:
    """The seed `desk`: the same companies on a busy day, several thousand rows."""
    return seed_sql(desk_world())


@cache
def grid_world() -> World:
    """The rows of the seed `grid`."""
    return generate(*GRID)


def grid_sql() -> str:
    """The seed `grid`: an electricity network and clinics in another year and time zone, several thousand rows."""
    return seed_sql(grid_world())
