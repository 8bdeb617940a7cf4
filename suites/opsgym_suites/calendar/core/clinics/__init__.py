"""Tasks of `calendar-core` in the world of the clinics: other people, other zones, another season.

Invariant: most of them take several days, and a rule of sharing, an amendment or the clock makes the second day differ.
"""

from __future__ import annotations

from opsgym_suites.calendar.core.clinics import (
    busy_times,
    clearing,
    covering,
    drills,
    endings,
    ownership,
    studies,
    watching,
)
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.kit.drafts import Draft

FAMILIES = (
    covering.covers_change,
    ownership.calendars_change_hands,
    drills.drills_fall_through,
    studies.studies_begin,
    endings.calendars_end,
    busy_times.hours_are_sought,
    *watching.FAMILIES,
    *clearing.FAMILIES,
)


def drafts(world: ClinicsWorld) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
