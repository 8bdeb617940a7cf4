"""Searches of a mailbox of 5,000 messages, compared with a bare JSON-RPC endpoint that runs the same indexed query."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx

from benchmarks.bare import serve
from benchmarks.gym import serving
from benchmarks.timing import milliseconds, p50, p99
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.registry import load

MESSAGES = 5000
ROUNDS = 60
WORDS = 4000
"""Number of different words of the texts, the first ones more frequent than the last."""
DATABASE = "bench-mail"
USER = {"x-email-user-token": "token"}
PAGE = "ORDER BY m.internal_date_ms::bigint DESC LIMIT 100"
IN_BODY = """
    SELECT m.id, m.thread_id FROM messages m JOIN message_parts p ON p.message_id = m.id
    JOIN message_part_bodies b ON b.message_part_id = p.id
    WHERE m.user_id = 'u' AND email_words(email_text(b.data, b.size)) @@ phraseto_tsquery('simple', '{}')
"""
IN_HEADER = """
    SELECT m.id, m.thread_id FROM messages m JOIN message_parts p ON p.message_id = m.id
    JOIN message_headers h ON h.message_part_id = p.id
    WHERE m.user_id = 'u' AND lower(h.name) = '{}' AND email_words(h.value) @@ phraseto_tsquery('simple', '{}')
"""


@dataclass(frozen=True)
class Search:
    """A search, and the query of a program that only needs its result.

    Attributes:
        text: The search.
        query: The query.
    """

    text: str
    query: str


SEARCHES = (
    Search("word300", f"{IN_BODY.format('word300')} {PAGE}"),
    Search("from:person7", f"{IN_HEADER.format('from', 'person7')} {PAGE}"),
    Search("subject:word20", f"{IN_HEADER.format('subject', 'word20')} {PAGE}"),
    Search(
        "label:project after:2026/10/01",
        "SELECT m.id, m.thread_id FROM messages m JOIN message_labels ml ON ml.message_id = m.id "
        f"WHERE ml.label_id = 'project' AND m.internal_date_ms::bigint >= 1790812800000 {PAGE}",
    ),
)


def seed() -> str:
    """A mailbox of `MESSAGES` messages of 80 words in 250 days."""
    chance = random.Random(5)
    rows: dict[str, list[str]] = {name: [] for name in ("threads", "messages", "parts", "bodies", "headers", "links")}
    for number in range(MESSAGES):
        words = [f"word{int(WORDS * chance.random() ** 3)}" for _ in range(80)]
        text = " ".join(words)
        data = base64.urlsafe_b64encode(text.encode()).decode()
        time_ms = 1772323200000 + number * 250 * 86_400_000 // MESSAGES
        rows["threads"].append(f"('t{number}', 'u', '{words[0]}')")
        rows["messages"].append(f"('m{number}', 'u', 't{number}', '{words[0]}', '{time_ms}', {len(text)})")
        rows["parts"].append(f"('p{number}', 'm{number}', '0', 'text/plain')")
        rows["bodies"].append(f"('b{number}', 'p{number}', {len(text)}, '{data}')")
        headers = {"From": f"person{number % 50}@mail.example", "To": "me@mail.example", "Subject": " ".join(words[:5])}
        rows["headers"] += [f"('{name}{number}', 'p{number}', '{name}', '{value}')" for name, value in headers.items()]
        rows["links"] += [f"('m{number}', 'inbox')", *([f"('m{number}', 'project')"] if number % 20 == 0 else [])]
    tables = {
        "threads": "threads (id, user_id, snippet)",
        "messages": "messages (id, user_id, thread_id, snippet, internal_date_ms, size_estimate)",
        "parts": "message_parts (id, message_id, part_id, mime_type)",
        "bodies": "message_part_bodies (id, message_part_id, size, data)",
        "headers": "message_headers (id, message_part_id, name, value)",
        "links": "message_labels (message_id, label_id)",
    }
    begin = (
        "INSERT INTO users (id, token, primary_email) VALUES ('u', 'token', 'me@mail.example');\n"
        "INSERT INTO labels (id, user_id, name, type) VALUES "
        "('inbox', 'u', 'INBOX', 'system'), ('project', 'u', 'Project', 'user');\n"
    )
    return begin + "".join(f"INSERT INTO {tables[name]} VALUES {', '.join(rows[name])};\n" for name in rows)


async def measure() -> list[str]:
    """Lines of the report."""
    lines = [f"{MESSAGES:,} messages:", "", "| search | results | tool, p50 | p99 | bare, p50 | ratio of p50 |"]
    lines.append("| --- " * 6 + "|")
    with serving("email") as gym, _bare() as bare:
        async with httpx.AsyncClient(timeout=300) as client:
            body = {"database_id": DATABASE, "sql_content": seed()}
            (await client.post(f"{gym.url}/api/seed-database", json=body)).raise_for_status()
            for number, search in enumerate(SEARCHES):
                lines.append(await _compare(client, gym.url, bare, number, search))
    return lines


async def _compare(client: httpx.AsyncClient, gym: str, bare: str, number: int, search: Search) -> str:
    """A line of the report; both are called in turn, so that other load on the machine affects both."""
    taken: Mapping[str, list[float]] = {"tool": [], "bare": []}
    calls = {"tool": (gym, "list_messages", {"userId": "me", "q": search.text}), "bare": (bare, str(number), {})}
    shown = {name: await _call(client, *call) for name, call in calls.items()}
    if (listed := shown["tool"].get("messages", [])) != shown["bare"]["messages"]:
        raise RuntimeError(f"{search.text}: the query does not do what the search does")
    for name in itertools.chain.from_iterable(itertools.repeat(tuple(calls), ROUNDS)):
        started = time.perf_counter()
        await _call(client, *calls[name])
        taken[name].append(time.perf_counter() - started)
    tool, base = taken["tool"], taken["bare"]
    figures = f"{milliseconds(p50(tool))} | {milliseconds(p99(tool))} | {milliseconds(p50(base))}"
    return f"| `{search.text}` | {len(listed)} | {figures} | {p50(tool) / p50(base):.2f} |"


async def _call(client: httpx.AsyncClient, url: str, tool: str, arguments: Mapping[str, Any]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    reply = await client.post(f"{url}/mcp", json=message, headers={**USER, "x-database-id": DATABASE})
    result = reply.raise_for_status().json()["result"]
    if result["isError"]:
        raise RuntimeError(result["content"][0]["text"])
    return json.loads(result["content"][0]["text"])


@contextmanager
def _bare() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-m", "benchmarks.searches"], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.terminate()


async def _serve_bare() -> None:
    """Serves the queries of the searches on a database of the same rows; a call names a search by its number."""
    postgres = await EmbeddedPostgres.start()
    domain = load("email")
    where = PostgresServer(str(postgres.socket_folder))
    databases = Databases(where, domain.name, domain.metadata, {})
    await databases.start()
    database = await databases.create("bench", Origin(sql=seed()))
    connection: asyncpg.Connection = await where.connect(database.name)

    async def answer(tool: str, _arguments: Mapping[str, Any]) -> str:
        rows: Sequence[Any] = await connection.fetch(SEARCHES[int(tool)].query)
        return json.dumps({"messages": [{"id": row["id"], "threadId": row["thread_id"]} for row in rows]})

    async def close() -> None:
        await connection.close()
        await databases.stop()
        await postgres.stop()

    await serve(answer, close)


if __name__ == "__main__":
    asyncio.run(_serve_bare())
