"""The suite `csm-core`, written as families of tasks.

Invariant: a family is a function that writes several tasks of one kind which differ in more than names. Its tasks stay
together, and tasks keep their ids wherever the family stands in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.csm.core import (
    case_intake,
    case_lifecycle,
    changing_permissions,
    closures,
    contacts_and_agents,
    corrections,
    declined,
    events,
    figures,
    infeasible_requests,
    knowledge_and_messages,
    over_the_week,
    products_and_contracts,
    several_days,
    strict_access,
    thresholds,
)
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    *contacts_and_agents.FAMILIES,
    *case_intake.FAMILIES,
    *case_lifecycle.FAMILIES,
    *products_and_contracts.FAMILIES,
    *knowledge_and_messages.FAMILIES,
    *strict_access.FAMILIES,
    *events.FAMILIES,
    *several_days.FAMILIES,
    *changing_permissions.FAMILIES,
    *infeasible_requests.FAMILIES,
    *figures.FAMILIES,
    *corrections.FAMILIES,
    *declined.FAMILIES,
    *thresholds.FAMILIES,
    *closures.FAMILIES,
    *over_the_week.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
