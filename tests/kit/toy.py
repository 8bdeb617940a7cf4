"""A domain of two tables and six tools, to test the kit without any real domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypedDict, Unpack

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.filters import matching
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.schema import Money, Row, Str20, Str32, new_metadata, varchar
from opsgym_domains.kit.signatures import Arg
from opsgym_domains.kit.tools import Toolbox


class ToyRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Keeper(ToyRow):
    __tablename__ = "keeper"
    __table_args__ = (UniqueConstraint("name", info={"code": "DUPLICATE_KEEPER"}),)
    id_prefix = "KEEPER_"

    keeper_id: Mapped[Str32] = mapped_column(primary_key=True)
    name: Mapped[Str20]
    token: Mapped[Str32]


class Animal(ToyRow):
    __tablename__ = "animal"
    __table_args__ = (CheckConstraint("weight >= 0", name="weight", info={"code": "NEGATIVE_WEIGHT"}),)
    id_prefix, created, updated = "ANIMAL_", "arrived", "changed"

    animal_id: Mapped[Str32] = mapped_column(primary_key=True)
    name: Mapped[Str20]
    keeper: Mapped[str] = mapped_column(varchar(32), ForeignKey("keeper.keeper_id"))
    tame: Mapped[bool]
    weight: Mapped[Money | None]
    arrived: Mapped[datetime | None]
    changed: Mapped[datetime | None]


TOOLBOX = Toolbox()
tool = TOOLBOX.tool


class AnimalFilters(TypedDict, total=False):
    name: Annotated[str, Arg("Part of the name")]
    tame: Annotated[bool | None, Arg("Whether it bites")]
    created_after: Annotated[str, Arg("Arrived then or later")]
    created_before: Annotated[str, Arg("Arrived then or earlier")]


@tool()
async def list_animals(gym: Gym, **filters: Unpack[AnimalFilters]) -> Sequence[Animal]:
    """Lists animals."""
    return await gym.all(Animal, *matching(Animal, filters, partial=("name",)))


@tool(adds=Animal, closed=True)
async def add_animal(
    gym: Gym,
    name: Annotated[str, Arg("Name", min_length=1, max_length=20)],
    kind: Annotated[Literal["cat", "dog"], Arg("cat or dog", enum_shown=False)],
    keeper: Annotated[str, Arg("Keeper")] = "",
    tame: Annotated[bool, Arg("Whether it bites not")] = True,
    weight: Annotated[float | None, Arg("Kilograms", minimum=-5)] = None,
) -> Animal:
    """Adds an animal."""
    return await gym.insert(Animal(name=f"{name} the {kind}", keeper=keeper or "KEEPER_001", tame=tame, weight=weight))


@tool(changes=Animal)
async def rename_animal(
    gym: Gym, animal_id: Annotated[str, Arg("Animal")], name: Annotated[str | None, Arg("New name")] = None
) -> Animal:
    """Renames an animal."""
    given = changes({"name": name} if name is not None else {})
    return await gym.update(await gym.fetch(Animal, animal_id), given)


@tool(removes=Keeper)
async def dismiss_keeper(gym: Gym, keeper_id: Annotated[str, Arg("Keeper")]) -> dict[str, int]:
    """Removes a keeper."""
    return {"deleted": await gym.delete([await gym.fetch(Keeper, keeper_id)])}


@tool(writes=True)
async def add_then_fail(gym: Gym) -> None:
    """Writes a row and is refused afterwards."""
    await gym.insert(Animal(name="ghost", keeper="KEEPER_001", tame=True))
    raise ToolError("TOO_LATE", "the row was written before the rule was checked")


@tool(writes=True)
async def add_then_crash(gym: Gym) -> None:
    """Writes a row and fails by a fault of its own afterwards."""
    animal = await gym.insert(Animal(name="ghost", keeper="KEEPER_001", tame=True))
    raise TypeError(f"{animal.name} has no form")


async def identify(session: AsyncSession, token: str | None) -> Actor:
    if token is None:
        return Actor("anonymous", anonymous=True)
    keeper_id = await session.scalar(select(Keeper.keeper_id).where(Keeper.token == token))
    if keeper_id is None:
        raise ToolError("UNAUTHORIZED", "unknown token")
    return Actor(keeper_id)


SEED = """
INSERT INTO keeper VALUES ('KEEPER_001', 'Ada', 't1'), ('KEEPER_002', "Bob", 't2');
INSERT INTO animal VALUES ('ANIMAL_007', 'Rex', 'KEEPER_001', TRUE, 12.50, '2026-01-01 08:00:00', NULL);
INSERT INTO animal VALUES ('ANIMAL_003', 'Mia', 'KEEPER_001', 0, 4, datetime('now'), NULL);
"""

DOMAIN = Domain(
    name="toy",
    service="toy-api",
    metadata=ToyRow.metadata,
    toolbox=TOOLBOX,
    identity_header="x-toy-token",
    identify=identify,
    seeds={"zoo": lambda: SEED},
)
