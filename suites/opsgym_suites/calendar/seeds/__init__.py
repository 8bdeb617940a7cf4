"""The seed of the domain, generated from a description of the company."""

from __future__ import annotations

from functools import cache

from opsgym_suites.calendar.seeds.records import add_company, add_series
from opsgym_suites.calendar.seeds.routine import add_routine
from opsgym_suites.calendar.seeds.stories import add_stories
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.kit.seed_sql import seed_sql


def generate() -> World:
    """The rows that follow from the description of the company."""
    world = World()
    add_company(world)
    add_series(world)
    add_routine(world)
    add_stories(world)
    return world


@cache
def offices_world() -> World:
    """The rows of the seed `offices`."""
    return generate()


def offices_sql() -> str:
    """The seed `offices`: a company with houses in Lisbon, Toronto and Sydney, around the change of clocks."""
    return seed_sql(offices_world())
