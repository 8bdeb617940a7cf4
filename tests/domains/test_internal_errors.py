"""A fault beneath a tool becomes the domain's own text of an internal error, marked for the metric, in every domain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from tests.domains.declaration import DomainDeclaration, sample
from tests.support.gym import Gym, GymDatabase

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_domains.kit.postgres_server import PostgresServer

OF_OTHERS = (
    *("VALIDATION_ERROR", "INVALID_ARGUMENT", '"code": 400', "Validation errors"),
    *("asyncpg", "does not exist", "relation", "SELECT", "INSERT", "Traceback"),
)
"""What refusals say of calls that are at fault themselves, and what a database says."""


async def _rows(gym: Gym, database: str, statement: str) -> list[str]:
    connection = await PostgresServer(gym.socket_folder).connect(database)
    try:
        return [str(row[0]) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


def connected(gym: Gym) -> set[str]:
    """Names, in Postgres, of the databases that the server has opened."""
    names = "SELECT datname FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
    return set(asyncio.run(_rows(gym, "postgres", names)))


@contextmanager
def without(gym: Gym, database: str, table: str) -> Iterator[None]:
    """Takes a table away beneath the server, and gives it back."""
    asyncio.run(_rows(gym, database, f'ALTER TABLE "{table}" RENAME TO taken_away'))
    yield
    asyncio.run(_rows(gym, database, f'ALTER TABLE taken_away RENAME TO "{table}"'))


def answer_of(declared: DomainDeclaration, database: GymDatabase, tool: str) -> httpx.Response:
    params = {"name": tool, "arguments": declared.examples[tool]}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return database.client.post("/mcp", json=message, headers={"x-database-id": database.id, **database.headers})


def test_a_fault_beneath_a_tool_is_an_internal_error_in_the_domains_form(declared: DomainDeclaration, gym: Gym) -> None:
    kinds = (declared.lists, declared.creates, declared.updates, declared.deletes)
    tables = [(tool, one.table) for kind in kinds for tool, one in kind.items() if tool in declared.examples]
    others, problems = connected(gym), []
    with declared.database(gym) as database:
        (name,) = connected(gym) - others
        for tool, table in sample(tables, 8):
            with without(gym, name, table):
                answer = answer_of(declared, database, tool)
            result = answer.json()["result"]
            text = result["content"][0]["text"]
            is_own = "internal" in text.lower() and not any(word in text for word in OF_OTHERS)
            if not (is_own and result["isError"] and INTERNAL_ERROR_HEADER in answer.headers):
                problems.append(f"{tool} without {table}: {text}")
    assert problems == []
