"""The seeds of the domain, each generated from the description of a company."""

from __future__ import annotations

from functools import cache

from opsgym_suites.email.seeds.ferries_stories import add_ferries_stories
from opsgym_suites.email.seeds.letters import add_accounts
from opsgym_suites.email.seeds.press_stories import add_press_stories
from opsgym_suites.email.seeds.traffic import add_traffic
from opsgym_suites.email.seeds.world import FerriesWorld, PressWorld
from opsgym_suites.kit.seed_sql import seed_sql


def generate_press() -> PressWorld:
    """The rows that follow from the description of the publisher."""
    world = PressWorld()
    add_accounts(world)
    add_traffic(world)
    add_press_stories(world)
    return world


def generate_ferries() -> FerriesWorld:
    """The rows that follow from the description of the ferry company."""
    world = FerriesWorld()
    add_accounts(world)
    add_traffic(world)
    add_ferries_stories(world)
    return world


@cache
def press_world() -> PressWorld:
    """The rows of the seed `press`."""
    return generate_press()


@cache
def ferries_world() -> FerriesWorld:
    """The rows of the seed `ferries`."""
    return generate_ferries()


def press_sql() -> str:
    """The seed `press`: a publisher, one of whose mailboxes has more than 5,000 messages."""
    return seed_sql(press_world())


def ferries_sql() -> str:
    """The seed `ferries`: a ferry company in June."""
    return seed_sql(ferries_world())
