"""The tasks of `csm-core` at Halden Charging, the seed `charging`.

Invariant: each task needs a decision that only the records settle: the state of a case, the level of an entitlement,
the members of a group, the site of a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.csm.charging import customers, desk, figures, people
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft

FAMILIES: tuple[Callable[[World], Iterable[Draft]], ...] = (
    *desk.FAMILIES,
    *customers.FAMILIES,
    *people.FAMILIES,
    *figures.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
