"""The seeds of the domain, each generated from a setting."""

from __future__ import annotations

from functools import cache

from opsgym_suites.hr.seeds.generate import generate
from opsgym_suites.hr.seeds.hospital import HOSPITAL
from opsgym_suites.hr.seeds.works import WORKS
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.seed_sql import seed_sql


@cache
def hospital_world() -> World:
    """The rows of the seed `hospital`."""
    return generate(HOSPITAL)


def hospital_sql() -> str:
    """The seed `hospital`: the HR department of a group of hospitals, in November."""
    return seed_sql(hospital_world())


@cache
def works_world() -> World:
    """The rows of the seed `works`."""
    return generate(WORKS)


def works_sql() -> str:
    """The seed `works`: the HR department of a maker of turbines, in February."""
    return seed_sql(works_world())
