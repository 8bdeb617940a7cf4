"""The explore page and the one thing it reads beyond the gym server's own API.

Invariant: nothing here writes. The page calls tools, seeds, clock and SQL through the same endpoints as everybody else,
so what a person sees is what an agent and a verifier get.
"""

from __future__ import annotations

from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from opsgym_domains.explore.describe import described, row_counts
from opsgym_domains.explore.guard import Guard
from opsgym_domains.kit.databases import Database, Databases
from opsgym_domains.kit.domain import Domain

DEFAULT_DATABASE = "explore"
"""Database that the page shows unless its address names another (`?database=`)."""
DATABASE_HEADER = "x-database-id"
PATH = "/explore/"


def explore_routes(domain: Domain, databases: Databases) -> list[BaseRoute]:
    """Routes of the page."""

    async def read_domain(request: Request) -> Response:
        """`/explore/api/domain`: tables with keys and row counts, tools that write, access, policy, who may act."""
        database = databases.get(request.headers.get(DATABASE_HEADER, DEFAULT_DATABASE))
        return JSONResponse(await _domain_now(domain, database))

    return [
        Route(f"{PATH}api/domain", read_domain),
        Mount(PATH, StaticFiles(packages=[("opsgym_domains.explore", "page")], html=True)),
    ]


def explore_middleware() -> list[Middleware]:
    """What stands between a browser and a server that has the page."""
    return [Middleware(Guard)]


async def _domain_now(domain: Domain, database: Database) -> dict[str, Any]:
    access = database.origin.access
    shown = described(domain, access) | {"access": access}
    counts: dict[Any, Any] = dict((await database.query(row_counts(domain))).rows)
    for table in shown["tables"]:
        table["row_count"] = counts[table["name"]]
    shown["actors"] = []
    if domain.actors:
        actors = await database.query(domain.actors)
        shown["actors"] = [dict(zip(actors.columns, row, strict=True)) for row in actors.rows]
    return shown
