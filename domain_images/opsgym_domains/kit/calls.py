"""One tool call, from arguments to result.

Invariant: every failure of a call (unknown tool, invalid arguments, violated rule or constraint, a fault in the tool)
becomes a result that the agent can read. Only `DatabaseLost` is raised, which the server answers with 503.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy.exc import DBAPIError

from opsgym_api.kinds.access import Access
from opsgym_domains.kit.constraint_errors import as_tool_error
from opsgym_domains.kit.database import Database
from opsgym_domains.kit.databases import Databases, UnknownDatabase
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.errors import INTERNAL_ERROR, CallError, DatabaseLost, InvalidArguments, ToolError
from opsgym_domains.kit.gym import Gym

log = structlog.get_logger()


@dataclass(frozen=True)
class CallResult:
    """Result of a call: the text that the agent receives."""

    text: str
    is_error: bool = False
    is_internal: bool = False
    """Whether the tool failed by a fault of the server's, not of the call."""


async def call_tool(
    domain: Domain,
    databases: Databases,
    *,
    name: str,
    arguments: Mapping[str, Any],
    database_id: str | None,
    identity: str | None,
) -> CallResult:
    """Runs a tool on the database of the call.

    Raises:
        DatabaseLost: Postgres cannot be reached.
    """
    style, flagged = domain.response_style, domain.response_style.published_errors_are_flagged
    try:
        database = _database(databases, database_id)
        flagged = flagged or database.origin.access is Access.STRICT
        return CallResult(await _run(domain, database, name, arguments, identity, str(database_id)))
    except (ToolError, InvalidArguments) as error:
        return CallResult(style.refusal(name, error), is_error=flagged)
    except DatabaseLost:
        raise
    except Exception as error:
        refusal = as_tool_error(domain.metadata, error) if isinstance(error, DBAPIError) else None
        if refusal is None:
            log.exception("tool_failed", tool=name, database_id=database_id)
            return CallResult(style.refusal(name, INTERNAL_ERROR), is_error=True, is_internal=True)
        return CallResult(style.refusal(name, refusal), is_error=flagged)


def _database(databases: Databases, database_id: str | None) -> Database:
    if not database_id:
        raise CallError("DATABASE_REQUIRED", "the x-database-id header is required; it selects the database")
    try:
        return databases.get(database_id)
    except UnknownDatabase:
        raise CallError("UNKNOWN_DATABASE", f"unknown database {database_id!r}; seed it first") from None


async def _run(
    domain: Domain,
    database: Database,
    name: str,
    arguments: Mapping[str, Any],
    identity: str | None,
    database_id: str,
) -> str:
    tool = domain.toolbox.tools.get(name)
    async with database.transaction(writes=tool is not None and tool.writes) as session:
        actor = await domain.identify(session, identity)
        if tool is None:
            raise CallError("UNKNOWN_TOOL", f"unknown tool {name!r}; use tools/list for the available tools")
        accepted = domain.accept(tool, arguments)
        strict = domain.access if database.origin.access is Access.STRICT else None
        if strict is not None:
            await strict.admit(session, actor, tool)
        gym = Gym(session, domain.metadata, actor, database.clock, strict, database_id, domain.scope)
        result = await tool.run(gym, **accepted)
        return domain.response_style.result(result, tool.shows)
