"""Seeds of the domain, generated from fixture records and random ones."""

from __future__ import annotations

from functools import cache

from opsgym_suites.csm.seeds.generate import CHARGING, DESK, QUICKSTART, generate
from opsgym_suites.csm.seeds.halden import HALDEN
from opsgym_suites.csm.seeds.larkspur import LARKSPUR
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.seed_sql import seed_sql


@cache
def quickstart_world() -> World:
    """The rows of the seed `quickstart`."""
    return generate(QUICKSTART, LARKSPUR)


def quickstart_sql() -> str:
    """The seed `quickstart`: a maker of cold chain monitors, its customers, and several hundred rows."""
    return seed_sql(quickstart_world())


@cache
def desk_world() -> World:
    """The rows of the seed `desk`."""
    return generate(DESK, LARKSPUR)


def desk_sql() -> str:
    """The seed `desk`: the same company on a busy day, several thousand rows."""
    return seed_sql(desk_world())


@cache
def charging_world() -> World:
    """The rows of the seed `charging`."""
    return generate(CHARGING, HALDEN)


def charging_sql() -> str:
    """The seed `charging`: an operator of charging stations and its customers, in June."""
    return seed_sql(charging_world())
