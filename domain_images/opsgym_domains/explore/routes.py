"""Routes of the explore page: static files, and one endpoint besides the gym server's API.

Invariant: these routes only read. The page uses the gym server's endpoints for tools, seeds, clock and SQL, so that it
shows what agents and verifiers get.
"""

from __future__ import annotations

from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from opsgym_domains.explore.describe import describe, row_counts
from opsgym_domains.explore.headers import PageHeaders
from opsgym_domains.kit.database import Database
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.domain import Domain

DEFAULT_DATABASE = "explore"
"""Database that the page shows unless its address selects another one (`?database=`)."""
DATABASE_HEADER = "x-database-id"
PATH = "/explore/"


def explore_routes(domain: Domain, databases: Databases) -> list[BaseRoute]:
    """Routes of the page."""

    async def read_domain(request: Request) -> Response:
        """`/explore/api/domain`: tables with keys and row counts, writing tools, seed, access, policy, acting users."""
        database = databases.get(request.headers.get(DATABASE_HEADER, DEFAULT_DATABASE))
        return JSONResponse(await _domain_now(domain, database))

    return [
        Route(f"{PATH}api/domain", read_domain),
        Mount(PATH, StaticFiles(packages=[("opsgym_domains.explore", "page"), ("opsgym_core", "web")], html=True)),
    ]


def explore_middleware() -> list[Middleware]:
    """Middleware that a server with the page needs."""
    return [Middleware(PageHeaders)]


async def _domain_now(domain: Domain, database: Database) -> dict[str, Any]:
    access = database.origin.access
    shown = describe(domain, access) | {"access": access, "seed": database.origin.builtin}
    counts: dict[Any, Any] = dict((await database.query(row_counts(domain))).rows)
    for table in shown["tables"]:
        table["row_count"] = counts[table["name"]]
    shown["actors"] = []
    if domain.actors:
        actors = await database.query(domain.actors)
        shown["actors"] = [dict(zip(actors.columns, row, strict=True)) for row in actors.rows]
    return shown
