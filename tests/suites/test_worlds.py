"""Rows of worlds are found by their present values, quickly or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from opsgym_domains.email.tables import Message, User
from opsgym_domains.kit.schema import columns_of
from opsgym_suites.calendar.seeds import clinics_world
from opsgym_suites.csm.seeds import charging_world
from opsgym_suites.drive.seeds import foundation_world
from opsgym_suites.email.seeds import ferries_world, press_world
from opsgym_suites.email.seeds.world import FerriesWorld
from opsgym_suites.hr.seeds import works_world
from opsgym_suites.itsm.seeds import grid_world
from opsgym_suites.kit.world import World, plain, primary_key
from opsgym_suites.teams.seeds import wards_world

WORLDS: dict[str, Callable[[], World]] = {
    "calendar": clinics_world,
    "csm": charging_world,
    "drive": foundation_world,
    "email-ferries": ferries_world,
    "email-press": press_world,
    "hr": works_world,
    "itsm": grid_world,
    "teams": wards_world,
}


@pytest.mark.parametrize("name", WORLDS)
def test_rows_of_a_seed_are_found_by_the_values_that_they_have(name: str) -> None:
    world = WORLDS[name]()
    missed = []
    for kind in world.kinds:
        for column in {*primary_key(kind), *world.indexed} & {*columns_of(kind)}:
            by_value: defaultdict[Any, list[int]] = defaultdict(list)
            for row in world.all(kind):
                by_value[plain(row).get(column)].append(id(row))
            shown = {value: [id(row) for row in world.all(kind, **{column: value})] for value in by_value}
            missed += [f"{kind.__tablename__}.{column}"] if shown != by_value else []
    assert missed == []


def test_a_row_is_found_by_a_value_that_was_changed_and_so_is_one_that_is_added_later() -> None:
    world = FerriesWorld()
    first, second = (world.add(User(primary_email=f"{name}@ferries.example")) for name in ("ann", "ben"))
    one, two = (world.add(Message(user_id=owner.id)) for owner in (first, second))
    assert world.all(Message, user_id=second.id) == [two]
    world.change(one, user_id=second.id)
    three = world.add(Message(user_id=second.id))
    assert world.all(Message, user_id=second.id) == [one, two, three]
    assert world.all(Message, user_id=first.id) == []
    assert world.all(Message, user_id=second.id, id=two.id) == [two]
    assert world.all(User, primary_email="cy@ferries.example") == []
