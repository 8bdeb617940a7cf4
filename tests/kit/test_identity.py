"""Who acts: the user of the header's value; without a header the first user, anonymously, or no one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from tests.kit.library import DOMAIN, Clerk

from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.errors import Unidentified
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.identity import FIRST, identify_by
from opsgym_domains.kit.postgres_server import PostgresServer

pytestmark = pytest.mark.anyio

STRICTLY = identify_by(Clerk.clerk_id, header="x-clerk")
OPENLY = identify_by(
    Clerk.clerk_id, header="x-clerk", org=Clerk.org_id, role=Clerk.role, active=Clerk.active, otherwise=FIRST
)


@pytest.fixture
async def session(postgres: EmbeddedPostgres) -> AsyncIterator[AsyncSession]:
    server = PostgresServer(str(postgres.socket_folder))
    databases = Databases(server, "identities", DOMAIN.metadata, dict(DOMAIN.seeds))
    await databases.start()
    database = await databases.create("identities", Origin(builtin="branches"))
    async with database.transaction(writes=True) as opened:
        yield opened
    await databases.drop("identities")
    await databases.stop()


async def test_the_actor_is_the_user_with_the_value_of_the_header(session: AsyncSession) -> None:
    assert await OPENLY(session, "c3") == Actor("c3", "north", "head", active=False)
    assert await STRICTLY(session, "c3") == Actor("c3")


@pytest.mark.parametrize("absent", [None, ""])
async def test_without_a_header_the_first_user_acts_anonymously_or_the_call_is_refused(
    session: AsyncSession, absent: str | None
) -> None:
    assert await OPENLY(session, absent) == Actor("c1", "north", "head", anonymous=True)
    with pytest.raises(Unidentified, match="the x-clerk header is required"):
        await STRICTLY(session, absent)


async def test_a_value_that_no_user_has_is_refused_without_repeating_it(session: AsyncSession) -> None:
    for value in ("C1", "c1 ", "stolen"):
        with pytest.raises(Unidentified, match="the x-clerk header does not match any user") as raised:
            await OPENLY(session, value)
        assert value not in raised.value.message
    named = identify_by(Clerk.clerk_id, header="x-clerk", unknown="401: who?")
    with pytest.raises(Unidentified, match=r"401: who\?"):
        await named(session, "stolen")


async def test_without_users_no_one_acts(session: AsyncSession) -> None:
    await session.execute(text("DELETE FROM loan; "))
    await session.execute(text("DELETE FROM book"))
    await session.execute(text("DELETE FROM clerk"))
    with pytest.raises(Unidentified, match="the database has no users"):
        await OPENLY(session, None)
