"""The seeds of the domain, each generated from the description of a company."""

from __future__ import annotations

from functools import cache

from opsgym_suites.drive.seeds.consultancy_dossiers import add_consultancy_dossiers
from opsgym_suites.drive.seeds.consultancy_stories import add_consultancy_stories
from opsgym_suites.drive.seeds.foundation_dossiers import add_foundation_dossiers
from opsgym_suites.drive.seeds.foundation_stories import add_foundation_stories
from opsgym_suites.drive.seeds.routine import Routine, finish
from opsgym_suites.drive.seeds.rows import add_people
from opsgym_suites.drive.seeds.world import ConsultancyWorld, FoundationWorld
from opsgym_suites.kit.seed_sql import seed_sql


def generate_consultancy() -> ConsultancyWorld:
    """The rows that follow from the description of the consultancy."""
    world = ConsultancyWorld()
    add_people(world)
    Routine(world).add()
    add_consultancy_stories(world)
    add_consultancy_dossiers(world)
    finish(world)
    return world


def generate_foundation() -> FoundationWorld:
    """The rows that follow from the description of the foundation."""
    world = FoundationWorld()
    add_people(world)
    Routine(world).add()
    add_foundation_stories(world)
    add_foundation_dossiers(world)
    finish(world)
    return world


@cache
def consultancy_world() -> ConsultancyWorld:
    """The rows of the seed `consultancy`."""
    return generate_consultancy()


@cache
def foundation_world() -> FoundationWorld:
    """The rows of the seed `foundation`."""
    return generate_foundation()


def consultancy_sql() -> str:
    """The seed `consultancy`: shared drives of engineers, their clients, and what those who left have left."""
    return seed_sql(consultancy_world())


def foundation_sql() -> str:
    """The seed `foundation`: files of a foundation whose staff leaves, with partners outside."""
    return seed_sql(foundation_world())
