"""A real gym server in a process of its own, and what tests do with it: seed, call, query.

    with gym_server("itsm") as gym:
        desk = gym.database(SEED, token="...")
        assert desk.call("find_incident_by_id", incident_id="INC_003").data["status"] == "new"

Invariant: whatever a test does, server and Postgres end when the `with` block ends, and a database's id is used once.
"""

from __future__ import annotations

import ast
import asyncio
import hashlib
import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw
import httpx

from opsgym_domains.kit.embedded import EmbeddedPostgres

START_SECONDS = 60.0
STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Outcome:
    """What a tool call came to."""

    text: str
    is_error: bool
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The result object."""

    @property
    def data(self) -> Any:
        """The result of a call that must have succeeded."""
        assert not self.is_error, self.text
        return self.text if self.text == DONE else json.loads(self.text)

    @property
    def codes(self) -> list[str]:
        """Error codes of a call that must have been refused, in order."""
        assert self.is_error, f"the call was not refused, it returned {self.text[:500]}"
        if self.text.startswith("API Error ["):
            return _codes_in_a_sentence(self.text)
        if not self.text.startswith("{"):
            return _codes_of_plain_text(self.text)
        refusal = json.loads(self.text)
        if "error" in refusal:
            error = refusal["error"]
            coded = error.get("errors") or error.get("details") or ()
            return [item["code"] for item in coded] or [error["reason"]]
        detail = refusal["detail"]
        problems = detail["details"] if isinstance(detail, dict) else [item["ctx"] for item in detail]
        return [item.get("code") or item["error_code"] for item in problems]

    @property
    def code(self) -> str:
        """The only error code of a call that must have been refused."""
        (code,) = self.codes
        return code

    @property
    def refusal(self) -> str:
        """Code and message of a call that one business rule must have refused."""
        return f"{self.code}: {self.message}"

    @property
    def message(self) -> str:
        """What a business rule that refused the call says."""
        assert self.is_error, f"the call was not refused, it returned {self.text[:500]}"
        if not self.text.startswith("{"):
            return self.text
        refusal = json.loads(self.text)
        return str(refusal.get("error", refusal.get("detail"))["message"])


DONE = "Operation completed successfully"
"""Result of a tool that returns nothing, on servers that write refusals as plain text."""


def _is_plain_refusal(text: str) -> bool:
    """Whether a result is a refusal of a server that flags none: a text that is not JSON."""
    try:
        json.loads(text)
    except ValueError:
        return text != DONE
    return False


def _codes_of_plain_text(text: str) -> list[str]:
    """Codes of a refusal without an envelope: `rule N: message [CODE]`, a list of invalid arguments, or a sentence."""
    if text.startswith("rule ") and text.endswith("]"):
        return [text.rpartition("[")[2].removesuffix("]")]
    if text.startswith("❌ Invalid Tool Arguments: "):
        problems = ast.literal_eval(text.partition(": ")[2])
        return ["missing" if one.endswith(("is required", "got 'null'")) else "invalid" for one in problems]
    if text.startswith("Validation errors:"):
        return ["missing" if line.endswith("is required") else "invalid" for line in text.splitlines()[1:]]
    return ["missing" if "is required and cannot be empty" in text else "refused"]


def _codes_in_a_sentence(text: str) -> list[str]:
    """Codes of a refusal in plain text: `API Error [tool]: field: message [CODE]`, or a list of what is wrong."""
    _, _, message = text.partition("]: ")
    if message.startswith("[{"):
        return re.findall(r"\{'type': '(\w+)', 'loc': \['body', ", message)
    return [message.rpartition("[")[2].removesuffix("]")]


@dataclass(frozen=True)
class GymDatabase:
    """One database of a gym server, and the headers that calls on it carry."""

    client: httpx.Client
    id: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def call(self, tool: str, **arguments: Any) -> Outcome:
        """Calls a tool as the published harness does; a transport or protocol error fails the test."""
        return self.call_with(tool, arguments)

    def call_with(self, tool: str, arguments: Mapping[str, Any], **headers: str) -> Outcome:
        """Calls a tool with arguments in a mapping, and with headers instead of the database's own."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        sent = {"x-database-id": self.id, **(headers or self.headers)}
        answer = self.client.post("/mcp", content=json.dumps(message), headers=sent)
        assert answer.status_code == 200, f"{tool}: HTTP {answer.status_code} {answer.text[:500]}"
        result = answer.json()["result"]
        (content,) = result["content"]
        return Outcome(content["text"], result["isError"] or _is_plain_refusal(content["text"]), result)

    def rows(self, query: str, **body: Any) -> list[dict[str, Any]]:
        """Rows that `/api/sql-runner` returns."""
        answer = self.client.post("/api/sql-runner", json={"query": query, "database_id": self.id, **body})
        assert answer.status_code == 200, f"{query}: {answer.text}"
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows

    def value(self, query: str) -> Any:
        """The only value of the only row."""
        (row,) = self.rows(query)
        (value,) = row.values()
        return value

    def download(self) -> bytes:
        """The present state as a SQLite file."""
        return self.client.get("/api/download-db-file", headers={"x-database-id": self.id}).raise_for_status().content

    def sqlite(self) -> apsw.Connection:
        """The present state, opened by SQLite itself."""
        db = apsw.Connection(":memory:")
        db.deserialize("main", self.download())
        return db

    def digest(self) -> str:
        """A digest of every row; equal if and only if nothing differs."""
        return hashlib.sha256(self.download()).hexdigest()

    def set_clock(self, time: str) -> None:
        """Stops the database's clock at a time."""
        self.client.post("/api/clock", json={"database_id": self.id, "time": time}).raise_for_status()


@dataclass(frozen=True)
class Gym:
    """A running gym server.

    Attributes:
        url: Its address.
        client: Talks to it.
        socket_folder: Where its Postgres listens, for tests that use the kit directly.
    """

    url: str
    client: httpx.Client
    socket_folder: str
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def database(
        self, sql: str | None = None, *, builtin: str | None = None, access: str = "published", **headers: str
    ) -> GymDatabase:
        """A new database from a script or a built-in seed; calls on it carry the headers."""
        database = GymDatabase(self.client, f"test-{next(self._numbers)}", headers)
        origin = {"sql_content": sql, "builtin": builtin, "access": access}
        answer = self.client.post("/api/seed-database", json={"database_id": database.id, **origin})
        assert answer.status_code == 200, answer.text
        return database

    def drop(self, database: GymDatabase) -> None:
        """Removes a database."""
        self.client.request("DELETE", "/api/delete-database", json={"database_id": database.id}).raise_for_status()


@contextmanager
def gym_server(domain: str, *options: str) -> Iterator[Gym]:
    """Starts `python -m opsgym_domains.serve` on a Postgres of its own, and ends both."""
    postgres = asyncio.run(EmbeddedPostgres.start())
    try:
        socket_folder = str(postgres.socket_folder)
        command = [sys.executable, "-m", "opsgym_domains.serve", domain, *options]
        environment = {**os.environ, "OPSGYM_POSTGRES_HOST": socket_folder}
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment) as process,
        ):
            try:
                url = _ready_url(process, log)
                with httpx.Client(base_url=url, timeout=60) as client:
                    yield Gym(url, client, socket_folder)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
    finally:
        asyncio.run(postgres.stop())


def _ready_url(process: subprocess.Popen[bytes], log: Any) -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    line = process.stdout.readline() if ready else b""
    if not line:
        log.seek(0)
        raise AssertionError(f"the gym server did not come up: {log.read().decode(errors='replace')[-2000:]}")
    return str(json.loads(line)["url"])
