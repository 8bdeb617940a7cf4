"""OpenAPI description of the service, made from the types that it reads."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from opsgym.episodes.api import EpisodeRequest, FinishRequest

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_ERRORS = {"default": {"description": "An error: {error: {reason, message}}; the message names what is wrong."}}


def description() -> dict[str, Any]:
    """The description, version 3.1 of OpenAPI."""
    schemas = {kind.__name__: kind.model_json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
               for kind in (EpisodeRequest, FinishRequest)}  # fmt: skip
    shared = {name: part for schema in schemas.values() for name, part in schema.pop("$defs", {}).items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "opsgym episodes", "version": version("opsgym")},
        "security": [{"trainer": []}],
        "paths": {
            "/episodes": {"post": _operation("Starts an episode", 201, EpisodeRequest.__name__)},
            "/episodes/{id}": {
                "parameters": [_ID],
                "get": _operation("State of an episode, and its verdict if it is finished", 200),
                "delete": _operation("Ends an episode without a verdict, or forgets its verdict", 204),
            },
            "/episodes/{id}/finish": {
                "parameters": [_ID],
                "post": _operation("Ends the agent's turn: the verdict, or what is next", 200, FinishRequest.__name__),
            },
        },
        "components": {
            "securitySchemes": {"trainer": {"type": "http", "scheme": "bearer"}},
            "schemas": {**shared, **schemas},
        },
    }


def _operation(summary: str, status: int, body: str = "") -> dict[str, Any]:
    operation: dict[str, Any] = {"summary": summary, "responses": {str(status): {"description": "Done."}, **_ERRORS}}
    if body:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation
