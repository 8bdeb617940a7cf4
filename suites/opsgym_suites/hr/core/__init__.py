"""The suite `hr-core`, written as families of tasks.

Invariant: a family is a function that writes several tasks of one kind which differ in more than names, from scenes of
its world: who asks, in whose words, and what the records hold that settles the matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opsgym_suites.hr.core import (
    amendments,
    answers,
    between_days,
    casework,
    catalogue,
    cover,
    leaving,
    messages,
    obstacles,
    paperwork,
    people,
    persons,
    privacy,
    reforms,
    refusals,
    returns,
    routing,
    rules,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World, str], Iterator[Draft]]
"""Writes the tasks of a world from the scenes of its seed, given by the seed's name."""

FAMILIES: tuple[Family, ...] = (
    *people.FAMILIES,
    *casework.FAMILIES,
    *routing.FAMILIES,
    *privacy.FAMILIES,
    *rules.FAMILIES,
    *catalogue.FAMILIES,
    *leaving.FAMILIES,
    *messages.FAMILIES,
    *answers.FAMILIES,
    *refusals.FAMILIES,
    *amendments.FAMILIES,
    *persons.FAMILIES,
    *reforms.FAMILIES,
    *returns.FAMILIES,
    *cover.FAMILIES,
    *between_days.FAMILIES,
    *paperwork.FAMILIES,
    *obstacles.FAMILIES,
)


def hospital(world: World) -> tuple[Draft, ...]:
    """The tasks of the seed `hospital`."""
    return _drafts(world, "hospital")


def works(world: World) -> tuple[Draft, ...]:
    """The tasks of the seed `works`."""
    return _drafts(world, "works")


def _drafts(world: World, seed: str) -> tuple[Draft, ...]:
    return tuple(draft for family in FAMILIES for draft in family(world, seed))
