"""`opsgym list` and `opsgym version`: what this installation has."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version as version_of
from typing import Any

import click

from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table
from opsgym_core.planning.run_id import suite_digest
from opsgym_domains import registry
from opsgym_domains.editions import editions, resolved
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import prices_of

_PRICED = ("chat", "responses")
"""Modes of the models in litellm's map that an agent can use."""


def print_list(kind: str, word: str, *, as_json: bool) -> int:
    """Prints the suites, domains, tools or priced models whose line has a word.

    Args:
        kind: A key of `LISTS`.
        word: Word that a value of the line contains, in any case; empty for all lines.
        as_json: Whether to print a JSON array on one line instead of a table.
    """
    columns, rows = LISTS[kind]
    chosen = [row for row in rows() if any(word.lower() in str(value).lower() for value in row.values())]
    table = Table(columns, chosen)
    if as_json:
        click.echo(json.dumps(table.records()))
    elif chosen:
        table.for_console().print(console())
    else:
        click.echo(f"no {kind} with {word!r}" if word else f"no {kind} are installed", err=True)
    return Exit.OK


def print_version(*, as_json: bool) -> int:
    """Prints the version, and edition and digest of every built-in suite."""
    suites = {row["suite"]: {"edition": row["edition"], "digest": row["digest"]} for row in _suites()}
    versions = {"opsgym": version_of("opsgym"), "python": platform.python_version()}
    if as_json:
        click.echo(json.dumps({**versions, "suites": suites}))
        return Exit.OK
    for name, version in versions.items():
        click.echo(f"{name} {version}")
    for name, suite in suites.items():
        click.echo(f"suite {name}@{suite['edition']} {suite['digest']}")
    return Exit.OK


def _suites() -> Iterator[Mapping[str, Any]]:
    for name in registry.suites():
        tasks = load_suite(name)
        domains = sorted({server.domain for task in tasks for server in task.gym_servers_config})
        yield {
            "suite": name,
            "edition": resolved(name).partition("@")[2],
            "pinned": ", ".join(editions(name)) or None,
            "tasks": len(tasks),
            "domains": ", ".join(domains),
            "digest": suite_digest(tasks),
        }


def _domains() -> Iterator[Mapping[str, Any]]:
    for name in registry.domains():
        domain = registry.load(name)
        tools, tables = domain.toolbox.tools, domain.metadata.tables
        writing = sum(tool.writes for tool in tools.values())
        seeds = ", ".join(domain.seeds)
        yield {"domain": name, "tools": len(tools), "writing": writing, "tables": len(tables), "seeds": seeds}


def _tools() -> Iterator[Mapping[str, Any]]:
    for name in registry.domains():
        for tool in registry.load(name).toolbox.tools.values():
            first = tool.description.strip().partition("\n")[0]
            yield {"domain": name, "tool": tool.name, "writes": tool.writes, "description": first}


def _models() -> Iterator[Mapping[str, Any]]:
    """Models whose prices litellm's bundled map has."""
    for name, entry in sorted(load_litellm().model_cost.items()):
        prices = prices_of(entry) if entry.get("mode") in _PRICED else None
        if prices is not None:
            context = entry.get("max_input_tokens")
            yield {"model": name, "input": prices.input_usd, "output": prices.output_usd, "context": context}


LISTS: Mapping[str, tuple[tuple[Column, ...], Callable[[], Iterator[Mapping[str, Any]]]]] = {
    "suites": (
        (
            *(Column(name, Kind.TEXT, name) for name in ("suite", "edition", "pinned")),
            Column("tasks", Kind.COUNT, "tasks"),
            Column("domains", Kind.TEXT, "domains"),
            Column("digest", Kind.TEXT),
        ),
        _suites,
    ),
    "domains": (
        (
            Column("domain", Kind.TEXT, "domain"),
            *(Column(name, Kind.COUNT, name) for name in ("tools", "writing", "tables")),
            Column("seeds", Kind.TEXT, "seeds"),
        ),
        _domains,
    ),
    "tools": (
        (
            *(Column(name, Kind.TEXT, name) for name in ("domain", "tool")),
            Column("writes", Kind.FLAG, "writes"),
            Column("description", Kind.TEXT, "description"),
        ),
        _tools,
    ),
    "models": (
        (
            Column("model", Kind.TEXT, "model"),
            Column("input", Kind.DOLLARS, "1M input tokens"),
            Column("output", Kind.DOLLARS, "1M output tokens"),
            Column("context", Kind.COUNT, "context"),
        ),
        _models,
    ),
}
"""Columns and rows by what is listed."""
