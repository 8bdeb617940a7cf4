"""The suite `calendar-core`, written as families of tasks.

Invariant: a family is a function that writes several tasks of one kind which differ in more than names: in what the
records hold that settles them, and in whose words they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.calendar.core import imports, meetings, refusals, rooms, sharing
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    *rooms.FAMILIES,
    *meetings.FAMILIES,
    *sharing.FAMILIES,
    *refusals.FAMILIES,
    *imports.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
