"""The suite `email-core`, written as families of tasks.

Invariant: a family is a function that writes several tasks of one kind which differ in more than names: in what the
mailbox holds that settles them, and in whose words they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.email.core import filing, hostile, refusals, settings, writing
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    *filing.FAMILIES,
    *writing.FAMILIES,
    *settings.FAMILIES,
    *hostile.FAMILIES,
    *refusals.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
