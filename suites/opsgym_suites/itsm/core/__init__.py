"""The suite `itsm-core`, written as families of tasks.

Invariant: a family is a function that writes several tasks of one kind which differ in more than names. Its tasks stay
together, and tasks keep their ids wherever the family stands in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opsgym_suites.itsm.core import (
    backlog,
    cmdb,
    events_people,
    events_records,
    events_time,
    follow_ups,
    halfway,
    infeasible_requests,
    locks,
    major_incidents,
    messages,
    mornings,
    offboarding,
    offerings,
    parents,
    recurring,
    several_days,
    strict_access,
    targets,
    user_requests,
    weeks,
)
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft

Family = Callable[[World], Iterable[Draft]]

FAMILIES: tuple[Family, ...] = (
    offboarding.handovers,
    offboarding.returned_devices,
    major_incidents.major_incidents,
    major_incidents.recurring_faults,
    major_incidents.known_problems,
    backlog.settled,
    backlog.unanswered,
    backlog.shared_out,
    backlog.reviews,
    backlog.merged_teams,
    cmdb.newcomers,
    cmdb.replaced_devices,
    cmdb.moves,
    cmdb.catalogue,
    cmdb.sla_definitions,
    user_requests.reported,
    user_requests.answered,
    user_requests.articles,
    user_requests.messages,
    user_requests.corrections,
    *strict_access.FAMILIES,
    *events_people.FAMILIES,
    *events_records.FAMILIES,
    *events_time.FAMILIES,
    *several_days.FAMILIES,
    *infeasible_requests.FAMILIES,
    *messages.FAMILIES,
    *targets.FAMILIES,
    *parents.FAMILIES,
    *offerings.FAMILIES,
    *weeks.FAMILIES,
    *recurring.FAMILIES,
    *locks.FAMILIES,
    *follow_ups.FAMILIES,
    *halfway.FAMILIES,
    *mornings.FAMILIES,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(draft for family in FAMILIES for draft in family(world))
