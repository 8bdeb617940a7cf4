"""The tasks of `itsm-core` that play in the seed `grid`: an electricity network and clinics, in 2027 and at UTC+13.

Invariant: each decides something that no task on the seed `desk` decides; what settles it stands in a note, a device, a
time or a count, and not in the request.
"""

from __future__ import annotations

from opsgym_suites.itsm.grid import assets, kinds, messages, outages, people, process, refusals
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft

FAMILIES = (
    *outages.FAMILIES,
    *assets.FAMILIES,
    *people.FAMILIES,
    *process.FAMILIES,
    *refusals.FAMILIES,
    *messages.FAMILIES,
    *kinds.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(family(world) for family in FAMILIES)
