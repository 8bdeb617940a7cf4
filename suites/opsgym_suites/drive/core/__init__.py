"""The suite `drive-core`, written as families of tasks.

Invariant: a family is a scene: a function that writes several tasks about one situation, which differ in what the
files, labels and roles say, and in whose words they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.drive.core import asking, clients, estates, holds, keeping, leavers, spaces
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    *leavers.FAMILIES,
    *clients.FAMILIES,
    *keeping.FAMILIES,
    *asking.FAMILIES,
    *spaces.FAMILIES,
    *holds.FAMILIES,
    *estates.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
