"""Generates a world from the company, its customers, fixture records and random cases.

Invariant: the same scale gives the same world. Everything random comes from one generator with a fixed number.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from opsgym_domains.csm.tables import CustomerCase
from opsgym_suites.csm.seeds.cases import NewCase, add_related_rows, case_of_fixture, random_cases
from opsgym_suites.csm.seeds.customers import CUSTOMERS
from opsgym_suites.csm.seeds.fixtures import CASE_FIXTURES, CaseFixture
from opsgym_suites.csm.seeds.organisation import add_company, add_customer
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
    stories: tuple[CaseFixture, ...]


QUICKSTART = Scale(number=2026, customers=12, devices=4, cases=7, stories=())
DESK = Scale(number=7, customers=24, devices=6, cases=18, stories=CASE_FIXTURES)


def generate(scale: Scale) -> World:
    """A world of this scale."""
    world = World()
    rng = random.Random(scale.number)  # noqa: S311 - has to be the same every time; nothing here is secret
    add_company(world)
    customers = CUSTOMERS[: scale.customers]
    for number, customer in enumerate(customers):
        add_customer(world, customer, number, scale.devices, rng)
    cases: list[NewCase] = [case_of_fixture(world, fixture, rng) for fixture in scale.stories]
    for customer in customers:
        cases += random_cases(world, customer, scale.cases if customer.active else 4, rng)
    cases.sort(key=lambda one: (one.created, one.case.short_description))
    for one in cases:
        one.case.number = f"CS-{world.draw_number(CustomerCase):07d}"
        world.add(one.case)
        if one.key:
            world.register(one.key, one.case)
    for one in cases:
        add_related_rows(world, one, rng)
    return world
