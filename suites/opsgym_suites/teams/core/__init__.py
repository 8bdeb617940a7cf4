"""The suite `teams-core`, written as families of tasks.

Invariant: a family is a function that writes the tasks of one kind for a world; they differ in more than names: in what
the world holds that settles them, and in whose words they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.kit.drafts import Draft
from opsgym_suites.teams.core import directory, during, events, handing_over, nights, people, refusals, talk
from opsgym_suites.teams.seeds.world import World

Family = Callable[[World, str], Iterable[Draft]]
FAMILIES: tuple[Family, ...] = (
    *people.FAMILIES,
    *talk.FAMILIES,
    *events.FAMILIES,
    *directory.FAMILIES,
    *refusals.FAMILIES,
    *nights.FAMILIES,
    *during.FAMILIES,
    *handing_over.FAMILIES,
)


def bridges_drafts(world: World) -> tuple[Draft, ...]:
    """The tasks in the world `bridges`."""
    return tuple(draft for family in FAMILIES for draft in family(world, "bridges"))


def wards_drafts(world: World) -> tuple[Draft, ...]:
    """The tasks in the world `wards`."""
    return tuple(draft for family in FAMILIES for draft in family(world, "wards"))
