"""HTTP APIs: a page, and for each service a description in OpenAPI.

Invariant: the paths of a description are the routes of its server, which are read from the server's source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from tools.reference.tables import cell, table

from opsgym.episodes.description import description as episodes
from opsgym_api.described import DescribedSchema
from opsgym_api.records.state_difference import StateDifference
from opsgym_console.report.model import PageData, TrialDetail
from opsgym_console.server.run_list import RunListing

ROOT = Path(__file__).resolve().parents[2]
_ROUTE = re.compile(r'(?:\bRoute|web\.(?:get|put))\(\s*"([^"]+)"')
_REF = "#/components/schemas/{model}"


@dataclass(frozen=True)
class Operation:
    """A request that a service answers."""

    method: str
    path: str
    summary: str
    query: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the query with their meaning."""
    body: Mapping[str, str] = field(default_factory=dict)
    """Fields of the body with their meaning; `*` is a body of bytes."""
    answer: type[Any] | None = None
    """Type of the answer; None if it is described by the summary."""


@dataclass(frozen=True)
class Service:
    """A server with an API."""

    name: str
    title: str
    purpose: str
    source: str
    """File with its routes, relative to the root."""
    operations: Sequence[Operation]
    pages: frozenset[str] = frozenset()
    """Routes for browsers."""
    security: Mapping[str, Any] = field(default_factory=dict)


_BEARER = {"type": "http", "scheme": "bearer"}
_DATABASE = {"database_id": "The database, if no header `x-database-id` names it."}
_CLOCK = {"time": "New time, RFC 3339.", "advance_seconds": "Seconds by which the clock moves, instead of `time`."}
SERVICES = (
    Service(
        "console",
        "Console",
        "`opsgym serve`, read-only ([console.md](../console.md)). With a token: `Authorization: Bearer`.",
        "console/opsgym_console/server/app.py",
        (
            Operation("get", "/healthz", "`ok`; needs no token"),
            Operation("get", "/api/runs", "The list of runs", answer=RunListing),
            Operation(
                "get",
                "/api/runs/{run}/page",
                "Everything on a run's page, with an ETag",
                query={"baseline": "Run to compare with."},
                answer=PageData,
            ),
            Operation(
                "get",
                "/api/runs/{run}/events",
                "Server-sent events: `page` with the page's data, its trials only from `trials.offset` on; `gone`",
                query={"baseline": "Run to compare with."},
            ),
            Operation(
                "get",
                "/api/runs/{run}/trials/{cell}/{task}/{trial}",
                "A trial: verifiers, attempts, transcript, state difference",
                answer=TrialDetail,
            ),
        ),
        frozenset({"/", "/sign-in", "/static/{name}", "/runs/{run}", "/runs/{run}/"}),
        {"token": _BEARER},
    ),
    Service(
        "gym",
        "Gym server",
        "`opsgym gym serve DOMAIN`, and the containers of pods ([domains.md](../domains.md)). Requests to a database "
        "name it in the header `x-database-id`.",
        "domain_images/opsgym_domains/kit/server.py",
        (
            Operation("post", "/mcp", "MCP over streamable HTTP, with GET and DELETE as MCP has them"),
            Operation("get", "/health", "200 if Postgres answers, else 503"),
            Operation(
                "post",
                "/api/seed-database",
                "Creates a database, or replaces it",
                body={
                    "database_id": "Its id.",
                    "sql_content": "Seed script; empty tables without one.",
                    "builtin": "Name of a built-in seed instead; `NAME@7` is its variant 7.",
                    "access": "`published` or `strict`.",
                },
            ),
            Operation("post", "/api/reset-database", "Restores a database to its seed", body=_DATABASE),
            Operation("delete", "/api/delete-database", "Deletes a database", body={"database_id": "Its id."}),
            Operation(
                "post",
                "/api/sql-runner",
                "Runs one read-only query; `data` has the rows",
                body={
                    "query": "The query.",
                    "dialect": "`sqlite` (default) or `postgres`.",
                    "limit": "Most rows of the answer.",
                    **_DATABASE,
                },
            ),
            Operation("get", "/api/download-db-file", "The state as a SQLite file; its clock is in `x-database-time`"),
            Operation(
                "get",
                "/api/state-difference",
                "Rows that are not as they were seeded",
                query={"whole": "`true`: everything, as verifiers need it; else bounded, as records keep it."},
                answer=StateDifference,
            ),
            Operation("get", "/api/tool-effects", "`writing`: names of the tools that write"),
            Operation("get", "/api/clock", "`time`, and whether it is `set`"),
            Operation("post", "/api/clock", "Sets the clock, or moves it", body={**_CLOCK, **_DATABASE}),
            Operation(
                "post",
                "/api/apply-event",
                "Moves the clock, then changes rows, all or nothing",
                body={"sql": "Statements in Postgres' dialect.", **_CLOCK, **_DATABASE},
            ),
        ),
    ),
    Service(
        "store-gateway",
        "Store gateway",
        "Reads and writes objects of runs for their pods ([security.md](../security.md)). Each request has the pod's "
        "token; an error has `code` and `message`.",
        "operator/opsgym_operator/gateway/server.py",
        (
            Operation("get", "/healthz", "`ok`; needs no token"),
            Operation("get", "/stores/{store}/object", "An object's bytes, or 404", query={"key": "Its key."}),
            Operation(
                "put",
                "/stores/{store}/object",
                "Writes an object; with `If-None-Match: *` 412 if it exists",
                query={"key": "Its key."},
                body={"*": "The content, 64 MiB at most."},
            ),
            Operation("get", "/stores/{store}/keys", "`keys` below a prefix", query={"prefix": "The prefix."}),
        ),
        security={"pod": _BEARER},
    ),
)
_INTRO = """
Each service has its description in OpenAPI 3.1: [openapi-episodes.json](openapi-episodes.json), {others}.
What an agent's program may call is in [own-agents.md](../own-agents.md), metrics are in [metrics.md](../metrics.md).

## Episodes

`opsgym episodes serve` ([episodes.md](../episodes.md)); it serves the description at `/openapi.json`.

"""


def http_page() -> str:
    """A section for each service."""
    others = ", ".join(f"[openapi-{service.name}.json](openapi-{service.name}.json)" for service in SERVICES)
    rows = [
        (f"`{method.upper()} {path}`", cell(operation["summary"]))
        for path, item in episodes()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]
    return _INTRO.format(others=others) + table(("request", "meaning"), rows) + "".join(map(_section, SERVICES))


def descriptions() -> dict[str, str]:
    """Text of each description, by file name."""
    made = {"episodes": episodes(), **{service.name: _description(service) for service in SERVICES}}
    return {
        f"openapi-{name}.json": json.dumps(text, ensure_ascii=False, separators=(",", ":")) + "\n"
        for name, text in made.items()
    }


def _section(service: Service) -> str:
    rows = [
        (f"`{one.method.upper()} {one.path}`", cell(one.summary), _fields(one.query), _fields(one.body))
        for one in service.operations
    ]
    return f"\n## {service.title}\n\n{service.purpose}\n\n{table(('request', 'meaning', 'query', 'body'), rows)}"


def _fields(fields: Mapping[str, str]) -> str:
    return "<br>".join(f"{text}" if name == "*" else f"`{name}`: {text}" for name, text in fields.items())


def _description(service: Service) -> dict[str, Any]:
    declared = {operation.path for operation in service.operations} | service.pages
    routes = set(_ROUTE.findall((ROOT / service.source).read_text(encoding="utf-8")))
    if declared != routes:
        raise ValueError(f"{service.source} has other routes than SERVICES in {__file__}: {sorted(declared ^ routes)}")
    answers = [one.answer for one in service.operations if one.answer is not None]
    schemas = _schemas(answers)
    paths: dict[str, dict[str, Any]] = {}
    for one in service.operations:
        paths.setdefault(one.path, {})[one.method] = _operation(one)
    components = {"schemas": schemas, "securitySchemes": dict(service.security)}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"opsgym {service.title.lower()}", "version": version("opsgym")},
        "security": [{name: []} for name in service.security],
        "paths": paths,
        "components": {name: part for name, part in components.items() if part},
    }


def _schemas(kinds: Sequence[type[Any]]) -> dict[str, Any]:
    _, schema = TypeAdapter.json_schemas(
        [(kind.__name__, "serialization", TypeAdapter(kind)) for kind in kinds],
        schema_generator=DescribedSchema,
        ref_template=_REF,
    )
    return dict(schema.get("$defs", {}))


def _operation(one: Operation) -> dict[str, Any]:
    text = {"schema": {"type": "string"}}
    named = [{"name": name, "in": "path", "required": True, **text} for name in re.findall(r"{(\w+)}", one.path)]
    parameters = [{"name": name, "in": "query", "description": meaning, **text} for name, meaning in one.query.items()]
    answer: dict[str, Any] = {"description": one.summary}
    if one.answer is not None:
        answer["content"] = {"application/json": {"schema": {"$ref": _REF.format(model=one.answer.__name__)}}}
    made: dict[str, Any] = {"summary": one.summary, "parameters": [*named, *parameters], "responses": {"200": answer}}
    if "*" in one.body:
        made["requestBody"] = {"content": {"application/octet-stream": {}}}
    elif one.body:
        fields = {name: {"description": meaning} for name, meaning in one.body.items()}
        made["requestBody"] = {"content": {"application/json": {"schema": {"type": "object", "properties": fields}}}}
    return made
