"""The seeds of the domain, each generated from the description of a company."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from opsgym_suites.calendar.seeds.clinics_stories import add_clinics_stories
from opsgym_suites.calendar.seeds.records import add_company, add_series
from opsgym_suites.calendar.seeds.routine import add_routine
from opsgym_suites.calendar.seeds.stories import add_stories
from opsgym_suites.calendar.seeds.world import ClinicsWorld, World
from opsgym_suites.kit.seed_sql import seed_sql

W = TypeVar("W", bound=World)


def generate() -> World:
    """The rows that follow from the description of the survey company."""
    world = _described(World())
    add_stories(world)
    return world


def generate_clinics() -> ClinicsWorld:
    """The rows that follow from the description of the clinics."""
    world = _described(ClinicsWorld())
    add_clinics_stories(world)
    return world


def _described(world: W) -> W:
    add_company(world)
    add_series(world)
    add_routine(world)
    return world


@cache
def offices_world() -> World:
    """The rows of the seed `offices`."""
    return generate()


@cache
def clinics_world() -> ClinicsWorld:
    """The rows of the seed `clinics`."""
    return generate_clinics()


def offices_sql() -> str:
    """The seed `offices`: a company with houses in Lisbon, Toronto and Sydney, around the change of clocks."""
    return seed_sql(offices_world())


def clinics_sql() -> str:
    """The seed `clinics`: clinics in Adelaide, Santiago and Pune, around the end of southern summer time."""
    return seed_sql(clinics_world())
