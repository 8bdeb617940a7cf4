"""Generates a world from companies, fixture records and random rows.

Invariant: equal scales give equal worlds. All random choices come from one generator with a fixed seed, and fixtures
are the same at every scale: a larger seed has more people and more incidents in addition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from opsgym_domains.itsm.tables import Change, ChangeRequestMapping, ChildIncident, Incident, Problem
from opsgym_suites.itsm.seeds import (
    desk_companies,
    desk_fixtures,
    desk_random_records,
    fixtures,
    grid_fixtures,
    random_incidents,
)
from opsgym_suites.itsm.seeds.companies import COMPANIES, Company
from opsgym_suites.itsm.seeds.fixture_rows import change_row, incident_row, problem_row
from opsgym_suites.itsm.seeds.fixtures import ChangeFixture, IncidentFixture, ProblemFixture
from opsgym_suites.itsm.seeds.grid_companies import GRID_COMPANIES
from opsgym_suites.itsm.seeds.grid_routine import ROUTINE
from opsgym_suites.itsm.seeds.leftovers import add_desk_leftovers
from opsgym_suites.itsm.seeds.organisations import add_company, add_roles
from opsgym_suites.itsm.seeds.related_rows import add_related_rows
from opsgym_suites.itsm.seeds.routine_records import ARTICLES, KINDS, TEMPLATES, IncidentKind, Routine
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.world import NOW, at

NEW_NUMBERS = at("09-01 00:00")
"""Incidents reported before this have numbers of the older form."""


@dataclass(frozen=True)
class Scale:
    """Numbers of random rows for each company."""

    number: int
    """Number that random choices start from."""
    colleagues: int
    """Reporters beside the cast; at most 100."""
    incidents: int
    """Incidents beside the stories."""


@dataclass(frozen=True)
class Setting:
    """Companies, fixture records and random rows of a seed."""

    companies: tuple[Company, ...]
    routine: Routine
    changes: tuple[ChangeFixture, ...]
    problems: tuple[ProblemFixture, ...]
    incidents: tuple[IncidentFixture, ...]
    add_random_records: Callable[[World, Company, random.Random], None]
    """Draws what a company has beside `companies`."""
    draw: Callable[[World, Company, Sequence[IncidentKind], int, random.Random], Iterator[Incident]]
    """Draws incidents beside the stories."""
    recurrence: Callable[[Incident], object]
    """What old reports of one fault have in common beside company and summary."""
    finish: Callable[[World], None]
    now: datetime = NOW
    first_id: int = 1


def _finish_desk(world: World) -> None:
    desk_random_records.fail_some_messages(world)
    add_desk_leftovers(world)


SMALL = Setting(
    COMPANIES,
    Routine(KINDS, ARTICLES, TEMPLATES),
    fixtures.CHANGES,
    fixtures.PROBLEMS,
    fixtures.INCIDENTS,
    add_random_records=lambda _world, _company, _dice: None,
    draw=random_incidents.incidents,
    recurrence=lambda _incident: None,
    finish=lambda _world: None,
)
LARGE = Setting(
    desk_companies.DESK_COMPANIES,
    Routine((*KINDS, *desk_random_records.MORE_KINDS), ARTICLES, TEMPLATES),
    (*fixtures.CHANGES, *desk_fixtures.CHANGES),
    (*fixtures.PROBLEMS, *desk_fixtures.PROBLEMS),
    (*fixtures.INCIDENTS, *desk_fixtures.INCIDENTS),
    add_random_records=desk_random_records.add_random_records,
    draw=desk_random_records.incidents,
    recurrence=lambda incident: reported(incident).isocalendar().week,
    finish=_finish_desk,
)
GRID_SETTING = Setting(
    GRID_COMPANIES,
    ROUTINE,
    grid_fixtures.CHANGES,
    grid_fixtures.PROBLEMS,
    grid_fixtures.INCIDENTS,
    add_random_records=desk_random_records.add_random_records,
    draw=desk_random_records.incidents,
    recurrence=lambda incident: reported(incident).isocalendar()[:2],
    finish=grid_fixtures.finish,
    now=grid_fixtures.NOW,
    first_id=301,
)
QUICKSTART = Scale(number=2026, colleagues=6, incidents=16), SMALL
DESK = Scale(number=4, colleagues=60, incidents=240), LARGE
GRID = Scale(number=11, colleagues=50, incidents=190), GRID_SETTING


def generate(scale: Scale, setting: Setting) -> World:
    """A world of this scale."""
    world = World(setting.now, setting.first_id)
    rng = random.Random(scale.number)  # noqa: S311 - has to be the same every time; nothing here is secret
    add_roles(world)
    for company in setting.companies:
        add_company(world, company, list(random_incidents.colleagues(company, scale.colleagues, rng)), setting.routine)
        setting.add_random_records(world, company, rng)
    for change in setting.changes:
        world.register(change.key, world.add(change_row(world, change)))
    for problem in setting.problems:
        world.register(problem.key, world.add(problem_row(world, problem)))
    _add_incidents(world, scale, setting, rng)
    _add_child_incidents(world, setting)
    _set_original_tasks(world, setting)
    _add_change_mappings(world, setting)
    add_related_rows(world, setting.incidents, rng)
    setting.finish(world)
    return world


def _add_incidents(world: World, scale: Scale, setting: Setting, rng: random.Random) -> None:
    """Adds fixture and random incidents in order of time, so that numbers rise with time."""
    dated: list[tuple[str, Incident]] = [(fixture.key, incident_row(world, fixture)) for fixture in setting.incidents]
    for company in setting.companies:
        kinds = [kind for kind in setting.routine.kinds if kind.company == company.name]
        dated += (("", incident) for incident in setting.draw(world, company, kinds, scale.incidents, rng))
    dated.sort(key=lambda item: (reported(item[1]), item[1].short_description))
    for key, incident in dated:
        number = world.draw_number(Incident)
        incident.number = f"INC-{number:06d}" if reported(incident) >= NEW_NUMBERS else f"INC{number:07d}"
        world.add(incident)
        if key:
            world.register(key, incident)


def reported(incident: Incident) -> datetime:
    """When an incident of a seed was reported."""
    if incident.created_at is None:
        raise LookupError(f"{incident.short_description!r} has no time of report")
    return incident.created_at


def _add_child_incidents(world: World, setting: Setting) -> None:
    """Fixtures become children of the parents that they name, old reports of one fault of the first of them."""
    for fixture in setting.incidents:
        if fixture.parent is not None:
            _add_child(world, world.fixture(Incident, fixture.parent), world.fixture(Incident, fixture.key))
    families: dict[tuple[str, str, object], list[Incident]] = {}
    for incident in world.all(Incident, status="closed"):
        key = (incident.org_id, incident.short_description, setting.recurrence(incident))
        families.setdefault(key, []).append(incident)
    for parent, *children in families.values():
        for child in children:
            _add_child(world, parent, child)


def _add_child(world: World, parent: Incident, child: Incident) -> None:
    child.parent_incident = parent.incident_id
    world.add(
        ChildIncident(
            parent_incident=parent.incident_id,
            child_incident=child.incident_id,
            created_at=child.updated_at,
            updated_at=child.updated_at,
        )
    )


def _set_original_tasks(world: World, setting: Setting) -> None:
    for fixture in setting.problems:
        problem = world.fixture(Problem, fixture.key)
        behind = world.all(Incident, problem=problem.problem_id)
        problem.original_task = behind[0].incident_id if behind else None


def _add_change_mappings(world: World, setting: Setting) -> None:
    for problem in setting.problems:
        if problem.change is not None:
            row = world.fixture(Problem, problem.key)
            world.add(_change_mapping(world, problem.change, row.updated_on, problem_id=row.problem_id))
    for fixture in setting.incidents:
        if fixture.change is not None:
            incident = world.fixture(Incident, fixture.key)
            world.add(_change_mapping(world, fixture.change, incident.updated_at, incident_id=incident.incident_id))


def _change_mapping(world: World, change: str, made: datetime | None, **linked: str) -> ChangeRequestMapping:
    row = world.fixture(Change, change)
    return ChangeRequestMapping(change_id=row.change_id, org_id=row.org_id, created_at=made, updated_at=made, **linked)
