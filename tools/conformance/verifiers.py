"""Verifiers of published rows as evidence: what their queries read must be there.

Invariant: SQLite itself says which tables and columns a query reads; a query that fails, or a name in double quotes
that SQLite takes for a text, is reported with its row.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from opsgym_api.tasks.published_servers import DOMAINS_BY_SERVER
from opsgym_domains import registry
from opsgym_domains.kit.errors import QueryError
from opsgym_domains.kit.schema import CHOICES
from opsgym_domains.kit.sqlite import query, snapshot

_NOW = datetime.fromisoformat("2026-01-01T00:00:00")
_PATH = re.compile(
    r"\bjson_(?:extract|each|tree|type|array_length)\s*\(\s*(?:\w+\.)?(\w+)\s*,\s*'(\$[^']*)'", re.IGNORECASE
)
_ARROW = re.compile(r"(?:\w+\.)?(\w+)\s*->>?\s*'(\$?[^']+)'")
_PART = re.compile(r"(?:\w+\.)?(\w+)\s+LIKE\s+'(%[^']*\"[^']*)'", re.IGNORECASE)
"""A column that is searched for a part of its JSON text."""
_STATES = re.compile(r"(\w+)\s*(?:=|\bIN\s*\()\s*('[^']*'(?:\s*,\s*'[^']*')*)", re.IGNORECASE)
"""A column and the texts that it may equal."""


@dataclass(frozen=True)
class PublishedVerifier:
    """A verifier of a published row."""

    row: str
    """Id of the row."""
    domain: str
    query: str
    expected: Any


@dataclass(frozen=True)
class Evidence:
    """What a query relies on."""

    verifier: PublishedVerifier
    columns: frozenset[tuple[str, str]] = frozenset()
    """Tables and columns that it reads."""
    forms: Sequence[tuple[str, str]] = field(default=())
    """Columns, each with a path into its JSON or a part of its JSON text."""
    problem: str | None = None
    """Why it cannot run on our tables; None if it can."""


def read_verifiers(upstream: Path) -> list[PublishedVerifier]:
    """The verifiers of all rows whose gym server is known."""
    files = sorted((upstream / "verifiers").glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        PublishedVerifier(line["row"], DOMAINS_BY_SERVER[line["gym"]], line["query"], line["expected_value"])
        for line in lines
        if line.get("gym")
    ]


def evidence_of(verifier: PublishedVerifier) -> Evidence:
    """What a verifier's query relies on, on the empty tables of its domain."""
    db = _empty(verifier.domain)
    read: set[tuple[str, str]] = set()

    def note(action: int, table: str | None, column: str | None, *_: str | None) -> int:
        if action == apsw.SQLITE_READ and table and column:
            read.add((table, column))
        return int(apsw.SQLITE_OK)

    try:
        query(db, verifier.query, _NOW)
        db.authorizer = note
        apsw.ext.query_info(db, verifier.query)
    except QueryError as error:
        return Evidence(verifier, problem=str(error))
    finally:
        db.authorizer = None
    forms = [match.groups() for form in (_PATH, _ARROW, _PART) for match in form.finditer(verifier.query)]
    return Evidence(verifier, frozenset(read), [(column, part) for column, part in forms])


@cache
def _empty(domain: str) -> apsw.Connection:
    metadata = registry.load(domain).metadata
    return snapshot(metadata, [(table.name, []) for table in metadata.tables.values()])


def unknown_states(evidence: Evidence) -> Iterator[str]:
    """Columns that the query wants in a state that their declared enumeration lacks, each with its state."""
    tables = registry.load(evidence.verifier.domain).metadata.tables
    for column, texts in _STATES.findall(evidence.verifier.query):
        declared = [
            tables[table].columns[name].info.get(CHOICES) or () for table, name in evidence.columns if name == column
        ]
        if declared and all(declared):
            allowed = {choice for choices in declared for choice in choices}
            yield from (f"{column} = {text}" for text in re.findall(r"'([^']*)'", texts) if text not in allowed)


def unknown_names(evidence: Evidence, free: Collection[str]) -> Iterator[str]:
    """Names in JSON paths that no tool of the domain takes, each with its column.

    Args:
        evidence: Of a query.
        free: Columns whose JSON has names of the caller's choice.
    """
    paths = [match.groups() for form in (_PATH, _ARROW) for match in form.finditer(evidence.verifier.query)]
    known = _argument_names(evidence.verifier.domain)
    for column, path in paths:
        if column not in free:
            yield from (f"{column} has {name}" for name in re.findall(r"[A-Za-z_]\w*", path) if name not in known)


@cache
def _argument_names(domain: str) -> frozenset[str]:
    """Names of properties at any depth of a domain's tool schemas."""
    tools = registry.load(domain).toolbox.tools.values()
    return frozenset(name for tool in tools for name in _property_names(tool.input_schema))


def _property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("properties", {})
        schema = schema.values()
    elif not isinstance(schema, list):
        return
    for part in schema:
        yield from _property_names(part)


def render_evidence(listed: Sequence[Evidence]) -> str:
    """Verifiers that can run by domain, then columns and forms that they rely on, then those that cannot run."""
    total, running = Counter(e.verifier.domain for e in listed), Counter(_runs(listed))
    lines = [f"{domain:9} {running[domain]:4} of {total[domain]:4} queries run" for domain in sorted(total)]
    by_domain: dict[str, Mapping[str, int]] = {
        domain: Counter(line for e in listed if e.verifier.domain == domain for line in _lines(e)) for domain in total
    }
    for domain, counted in sorted(by_domain.items()):
        lines += ["", f"{domain} relies on:", *(f"  {line}  {counted[line]}" for line in sorted(counted))]
    problems = [f"  {e.verifier.row} {e.verifier.domain}: {e.problem}" for e in listed if e.problem]
    return "\n".join([*lines, "", f"cannot run: {len(problems)}", *problems])


def _runs(listed: Sequence[Evidence]) -> Iterator[str]:
    return (evidence.verifier.domain for evidence in listed if evidence.problem is None)


def _lines(evidence: Evidence) -> Iterator[str]:
    yield from (f"{table}.{column}" for table, column in evidence.columns)
    yield from (f"{column} has {part}" for column, part in evidence.forms)
