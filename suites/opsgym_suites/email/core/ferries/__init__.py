"""Tasks of `email-core` in the world `ferries`: access `strict`, where messages arrive, and time that passes.

Invariant: a family is a function that writes several tasks of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.email.core.ferries import access, conversations, keys, partners, services, weeks
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    *partners.FAMILIES,
    *access.FAMILIES,
    *weeks.FAMILIES,
    *keys.FAMILIES,
    *conversations.FAMILIES,
    *services.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
