"""Every write and list keeps what a row class declares: key, numbers, owner, defaults, uniqueness, filters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date, datetime
from typing import Any, ClassVar

import pytest
from sqlalchemy import ForeignKey, UniqueConstraint, func
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.clock import Clock
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.schema import Row, Str20, Str32, new_metadata, says, table_of, unique, uniques_of

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-03-01T12:00:00")
EARLY = datetime.fromisoformat("2025-01-01")


class StudioRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Order(StudioRow):
    """An order: everything that a class can declare, with a prefixed key."""

    __tablename__ = "orders"
    label = "order"
    __table_args__ = (
        UniqueConstraint("org_id", "title", name="uq_title", info={"code": "TITLE_TAKEN"}),
        UniqueConstraint("org_id", "number", name="uq_number", info={"code": "NEVER_ASKED"}),
    )
    id_prefix, created, updated = "ORDER_", "placed_on", "changed_on"
    owner, actor = "org_id", "placed_by"
    numbers: ClassVar = {"number": "NO-{:04d}"}
    defaults: ClassVar = {"notes": "none yet", "state": "new", "urgent": False}
    uniques = (unique("NUMBER_TAKEN", "number"), unique("PLACE_TAKEN", "room", "place"))

    order_id: Mapped[Str32] = mapped_column(primary_key=True)
    number: Mapped[Str20]
    title: Mapped[Str20] = says("Title", searched=True)
    notes: Mapped[Str20 | None]
    state: Mapped[Str20]
    room: Mapped[Str20 | None]
    place: Mapped[int | None]
    urgent: Mapped[bool]
    due: Mapped[date | None]
    placed_by: Mapped[Str32]
    org_id: Mapped[Str32]
    placed_on: Mapped[datetime | None]
    changed_on: Mapped[datetime | None]


class Item(StudioRow):
    """An item: counted keys, and writes without effect are accepted."""

    __tablename__ = "item"
    newest_first = no_op_is_refused = blank_is_null = False
    blank_is_missing = True
    numbers: ClassVar = {"label_no": "IT-{key:03d}"}

    item_id: Mapped[int] = mapped_column(primary_key=True)
    label_no: Mapped[Str20]
    order_id: Mapped[Str32] = mapped_column(ForeignKey("orders.order_id"))
    pieces: Mapped[int]
    remark: Mapped[Str20 | None]
    packed: Mapped[datetime | None]


@pytest.fixture
async def session(postgres: EmbeddedPostgres) -> AsyncIterator[AsyncSession]:
    server = PostgresServer(str(postgres.socket_folder))
    databases = Databases(server, "studio", StudioRow.metadata, {"empty": lambda: "SELECT 1"})
    await databases.start()
    database = await databases.create("studio", Origin(builtin="empty"))
    async with database.transaction(writes=True) as opened:
        yield opened
    await databases.drop("studio")
    await databases.stop()


def gym_of(session: AsyncSession, user: str = "u1", org: str = "north") -> Gym:
    clock = Clock()
    clock.set(NOW)
    return Gym(session, StudioRow.metadata, Actor(user, org), clock)


@pytest.fixture
def gym(session: AsyncSession) -> Gym:
    return gym_of(session)


def order(**fields: Any) -> Order:
    return Order(**{"title": "Desk", **fields})


async def refusal(awaitable: Any) -> tuple[str, str, str | None]:
    with pytest.raises(ToolError) as raised:
        await awaitable
    return raised.value.code, raised.value.message, raised.value.field


# --- creation --------------------------------------------------------------------------------------------------------


async def test_a_new_row_gets_what_its_class_declares(gym: Gym) -> None:
    row = await gym.insert(order())
    assert (row.order_id, row.number, row.org_id, row.placed_by) == ("ORDER_001", "NO-0001", "north", "u1")
    assert (row.notes, row.state, row.urgent, row.placed_on, row.changed_on) == ("none yet", "new", False, NOW, NOW)


async def test_what_is_given_is_not_replaced(gym: Gym) -> None:
    given = {"order_id": "ORDER_7", "number": "NO-0040", "state": "sent", "urgent": True, "placed_by": "u2",
             "org_id": "south", "placed_on": EARLY}  # fmt: skip
    row = await gym.insert(order(**given))
    assert {name: getattr(row, name) for name in given} == given


async def test_null_is_a_value_where_a_default_is_declared(gym: Gym) -> None:
    assert (await gym.insert(order(notes=None))).notes is None


async def test_a_blank_author_of_a_row_is_the_acting_user(gym: Gym) -> None:
    assert (await gym.insert(order(placed_by=" "))).placed_by == "u1"


async def test_a_number_is_one_more_than_the_highest_in_any_form(gym: Gym) -> None:
    await gym.insert(order(number="OLD17"))
    assert (await gym.insert(order(title="Lamp"))).number == "NO-0018"


async def test_a_number_may_be_made_of_the_key(gym: Gym) -> None:
    await gym.insert(order())
    rows = [await gym.insert(Item(order_id="ORDER_001", pieces=1)) for _ in range(2)]
    assert [(row.item_id, row.label_no) for row in rows] == [(1, "IT-001"), (2, "IT-002")]


async def test_a_blank_text_is_kept_where_the_class_says_so_and_a_blank_time_is_none(gym: Gym) -> None:
    await gym.insert(order())
    row = await gym.insert(Item(order_id="ORDER_001", pieces=1, remark="", packed=" "))
    assert (row.remark, row.packed) == ("", None)
    assert (await gym.insert(order(title="Lamp", notes=" "))).notes is None
    assert (await refusal(gym.insert(Item(order_id=" ", pieces=1))))[0] == "MISSING_FIELD"


# --- uniqueness ------------------------------------------------------------------------------------------------------


def test_a_declared_uniqueness_replaces_a_wider_constraint() -> None:
    assert [one.code for one in uniques_of(Order)] == ["NUMBER_TAKEN", "PLACE_TAKEN", "TITLE_TAKEN"]
    assert uniques_of(Item) == ()


async def test_a_taken_value_is_refused_with_its_holder(gym: Gym) -> None:
    await gym.insert(order(room="A", place=1))
    message = "order ORDER_001 already has room 'A', place 1"
    assert await refusal(gym.insert(order(title="Lamp", room="A", place=1))) == ("PLACE_TAKEN", message, "place")
    assert (await refusal(gym.insert(order()))) == (
        "TITLE_TAKEN", "order ORDER_001 already has org_id 'north', title 'Desk'", "title",
    )  # fmt: skip


async def test_a_declared_uniqueness_holds_over_all_organisations(session: AsyncSession) -> None:
    await gym_of(session).insert(order(number="NO-0009"))
    south = gym_of(session, org="south")
    assert (await refusal(south.insert(order(number="NO-0009"))))[0] == "NUMBER_TAKEN"
    assert (await south.insert(order())).number == "NO-0010"


async def test_null_is_never_taken(gym: Gym) -> None:
    await gym.insert(order(room="A"))
    assert (await gym.insert(order(title="Lamp", room="A"))).place is None


async def test_an_update_is_refused_for_a_taken_value_that_it_sets(gym: Gym) -> None:
    await gym.insert(order(room="A", place=1))
    lamp = await gym.insert(order(title="Lamp", room="B", place=1))
    assert (await refusal(gym.update(lamp, {"room": "A"})))[0] == "PLACE_TAKEN"


async def test_an_update_of_other_columns_is_not_asked_for_what_is_unique(gym: Gym, session: AsyncSession) -> None:
    first = await gym.insert(order(room="A", place=1))
    twin = await gym.insert(order(title="Lamp", room="A", place=2))
    await session.execute(table_of(Order).update().values(place=1))
    await session.refresh(twin)
    assert (await gym.update(twin, {"notes": "x", "room": "A"})).notes == "x"
    assert first.place == twin.place == 1


# --- updates ---------------------------------------------------------------------------------------------------------


async def test_a_change_is_refused_for_the_first_of_its_reasons(gym: Gym) -> None:
    await gym.insert(order())
    for fields, key, code in (
        ({}, "ORDER_404", "NO_FIELDS_TO_UPDATE"),
        ({"due": "soon"}, "ORDER_404", "INVALID_DATE"),
        ({"title": "x" * 21}, "ORDER_404", "STRING_TOO_LONG"),
        ({"title": "Lamp"}, "ORDER_404", "ORDER_NOT_FOUND"),
        ({"title": "Desk"}, "ORDER_001", "NO_CHANGES_DETECTED"),
    ):
        assert (await refusal(gym.change(Order, key, fields)))[0] == code


async def test_a_change_stores_the_given_fields(gym: Gym) -> None:
    await gym.insert(order(placed_on=EARLY, changed_on=EARLY))
    row = await gym.change(Order, "ORDER_001", {"due": "2026-05-01", "notes": ""})
    assert (row.due, row.notes, row.changed_on) == (date(2026, 5, 1), None, NOW)


async def test_a_change_takes_one_of_several_identifiers(gym: Gym) -> None:
    await gym.insert(order())
    await gym.change(Order, {"order_id": None, "number": "NO-0001"}, {"state": "sent"})
    assert (await gym.fetch(Order, "ORDER_001")).state == "sent"
    for keys in ({"order_id": "", "number": None}, {"order_id": "ORDER_001", "number": "NO-0001"}):
        assert (await refusal(gym.change(Order, keys, {"state": "x"})))[0] == "INVALID_IDENTIFIER"


async def test_a_change_without_effect_is_accepted_where_the_class_says_so(gym: Gym) -> None:
    await gym.insert(order())
    await gym.insert(Item(order_id="ORDER_001", pieces=1))
    assert (await gym.change(Item, 1, {"pieces": 1})).pieces == 1


# --- lists, counts and deletions -------------------------------------------------------------------------------------


@pytest.fixture
async def stocked(gym: Gym) -> Gym:
    for day, (title, state, urgent, place) in enumerate(
        [("Desk", "new", True, 1), ("Desk lamp", "sent", False, 5), ("100% oak", "new", False, 9)], start=1
    ):
        await gym.insert(order(title=title, state=state, urgent=urgent, place=place, placed_on=EARLY.replace(day=day)))
    return gym


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ({}, [9, 5, 1]),
        ({"title": "DESK"}, [5, 1]),
        ({"title": "%"}, [9]),
        ({"state": "ne"}, []),
        ({"state": "new"}, [9, 1]),
        ({"state": ["new", "sent"], "urgent": False}, [9, 5]),
        ({"state": []}, [9, 5, 1]),
        ({"urgent": "true"}, [1]),
        ({"urgent": "false"}, [9, 5]),
        ({"created_after": "2025-01-02"}, [9, 5]),
        ({"created_before": "2025-01-02", "created_after": "2025-01-02"}, [5]),
        ({"placed_on_before": "2025-01-02"}, [5, 1]),
        ({"place_range_start": 5}, [9, 5]),
        ({"place_range_start": 2, "place_range_end": 5}, [5]),
        ({"place_range_start": 6, "place_range_end": 5}, []),
    ],
)
async def test_a_list_has_the_rows_that_match_every_filter(
    stocked: Gym, filters: dict[str, Any], places: list[int]
) -> None:
    assert [row.place for row in await stocked.list(Order, filters)] == places


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ({"created_after": "2025-02-01", "created_before": "2025-01-01"}, "INVALID_DATE_RANGE"),
        ({"placed_on_after": "2025-02-01", "placed_on_before": "2025-01-01"}, "INVALID_DATE_RANGE"),
        ({"placed_on_after": "soon"}, "INVALID_DATE"),
        ({"placed_on_after": " "}, "INVALID_DATE"),
        ({"place_range_end": 2**31}, "NUMBER_TOO_LARGE"),
    ],
)
async def test_a_filter_that_fits_no_column_is_refused(gym: Gym, filters: dict[str, Any], code: str) -> None:
    assert (await refusal(gym.list(Order, filters)))[0] == code


async def test_counts_take_filters_that_match_exactly(stocked: Gym) -> None:
    assert await stocked.count(Order) == 3
    assert await stocked.count(Order, {"title": "Desk"}) == 1
    assert await stocked.count(Order, {"state": "new"}, Order.place > 1) == 1
    assert await stocked.count_by(Order.state) == {"new": 2, "sent": 1}
    assert await stocked.count_by(Order.state, ["new", "lost"], {"urgent": False}) == {"new": 1, "lost": 0}
    assert await stocked.measure(Order, func.sum(Order.place), {"state": "new"}) == 10
    assert await stocked.grouped(Order.state, func.max(Order.place), {"urgent": False}) == {"new": 9, "sent": 5}


async def test_a_removal_matches_exactly_and_returns_what_it_removed(stocked: Gym) -> None:
    assert [row.place for row in await stocked.remove(Order, {"title": "Desk"})] == [1]
    assert await stocked.count(Order) == 2


@pytest.mark.parametrize(("kind", "code"), [(Order, "ORDER_NOT_FOUND"), (Item, None)])
async def test_a_removal_of_nothing_is_refused_where_the_class_says_so(
    stocked: Gym, kind: type[Row], code: str | None
) -> None:
    assert (await refusal(stocked.remove(kind, {})))[0] == "MISSING_FILTER"
    if code is None:
        assert await stocked.remove(kind, {"order_id": "ORDER_404"}) == []
    else:
        assert (await refusal(stocked.remove(kind, {"order_id": "ORDER_404"})))[0] == code
