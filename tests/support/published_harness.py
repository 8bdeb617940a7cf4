"""How the published harness reads a row.

Its classes take their fields as keyword arguments, so a field that they lack makes a row unusable. The field names are
facts; where OPSGYM_HARNESS names a work tree of the harness, its own classes read the row too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROW_FIELDS = {
    "system_prompt", "user_prompt", "verifiers", "number_of_runs", "gym_servers_config", "mcp_server_url",
    "mcp_endpoint", "database_id", "context", "auth_config", "selected_tools", "restricted_tools", "temperature",
    "max_tokens", "reset_database_between_runs",
}  # fmt: skip
SERVER_FIELDS = {
    "mcp_server_name", "mcp_server_url", "mcp_endpoint", "seed_database_file", "auth_config", "context", "database_id",
}  # fmt: skip
VERIFIER_FIELDS = {"verifier_type", "validation_config", "name", "description", "gym_name"}
VERIFIER_TYPES = {"database_state", "response_check", "tool_execution"}


def load_as_harness(row: Mapping[str, Any]) -> None:
    """Fails where the published harness would refuse a row, or skip one of its verifiers."""
    assert set(row) <= ROW_FIELDS
    servers, verifiers = row["gym_servers_config"], row["verifiers"]
    assert all(set(server) <= SERVER_FIELDS for server in servers)
    assert all(set(verifier) <= VERIFIER_FIELDS for verifier in verifiers)
    assert {verifier["verifier_type"] for verifier in verifiers} <= VERIFIER_TYPES
    named = {verifier["gym_name"] for verifier in verifiers if "gym_name" in verifier}
    assert named <= {server["mcp_server_name"] for server in servers}
    assert len({server["mcp_server_url"] for server in servers}) == len(servers)
    if (models := _models()) is not None:
        models.BenchmarkConfig(**row)
        for server in servers:
            models.GymServerConfig(**server)
        for verifier in verifiers:
            models.VerifierConfig(**verifier)


@cache
def _models() -> ModuleType | None:
    """The harness's module of configuration classes; None where there is no work tree."""
    folder = os.environ.get("OPSGYM_HARNESS")
    if not folder:
        return None
    spec = importlib.util.spec_from_file_location("published_models", Path(folder) / "benchmark" / "models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
