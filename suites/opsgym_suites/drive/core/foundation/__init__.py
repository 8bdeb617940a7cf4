"""Tasks of `drive-core` in the world `foundation`: access `strict`, and things that change while the agent works.

Invariant: a family is a function that writes several tasks about one situation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.drive.core.foundation import bursaries, changing, guarded, weeks
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (*guarded.FAMILIES, *changing.FAMILIES, *weeks.FAMILIES, *bursaries.FAMILIES)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
