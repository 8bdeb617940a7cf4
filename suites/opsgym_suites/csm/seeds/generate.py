"""Generates a world from the company, its customers, fixture records and random cases.

Invariant: the same scale gives the same world. Everything random comes from one generator with a fixed number.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from opsgym_domains.csm.tables import CustomerCase
from opsgym_suites.csm.seeds.cases import NewCase, add_related_rows, case_of_fixture, random_cases
from opsgym_suites.csm.seeds.organisation import add_company, add_customer
from opsgym_suites.csm.seeds.setting import Setting
from opsgym_suites.csm.seeds.slips import add_slips
from opsgym_suites.csm.seeds.world import World


@dataclass(frozen=True)
class Scale:
    """Numbers of random rows."""

    number: int
    """Number that random choices start from."""
    customers: int
    """How many of the customers there are."""
    devices: int
    """Most devices of one product that a customer has."""
    cases: int
    """Cases of each customer, beside the stories."""
    stories: bool
    """Whether there are the cases that tasks are about."""


QUICKSTART = Scale(number=2026, customers=12, devices=4, cases=7, stories=False)
CHARGING = Scale(number=41, customers=15, devices=6, cases=16, stories=True)
DESK = Scale(number=7, customers=24, devices=6, cases=18, stories=True)


def generate(scale: Scale, setting: Setting) -> World:
    """A world of this scale in a setting."""
    world = World(setting.now)
    rng = random.Random(scale.number)  # noqa: S311 - has to be the same every time; nothing here is secret
    add_company(world, setting)
    customers = setting.customers[: scale.customers]
    for number, customer in enumerate(customers):
        add_customer(world, setting, customer, number, scale.devices, rng)
    cases: list[NewCase] = [
        case_of_fixture(world, setting, fixture, rng) for fixture in (setting.cases if scale.stories else ())
    ]
    for customer in customers:
        cases += random_cases(world, setting, customer, scale.cases if customer.active else 4, rng)
    cases.sort(key=lambda one: (one.created, one.case.short_description))
    for one in cases:
        one.case.number = f"CS-{world.draw_number(CustomerCase):07d}"
        world.add(one.case)
        if one.key:
            world.register(one.key, one.case)
    for one in cases:
        add_related_rows(world, one, rng)
    if scale.stories:
        add_slips(world, setting)
    return world
