"""Checks of a task row against the domains installed here: gym servers, seeds, identities, tools, arguments, tables.

Invariant: a check reports what makes the task end without a score, fail for every agent, or judge something else than
was written. It needs no gym server: queries in SQLite's dialect run on the seed in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opsgym.taskcheck.doubts import doubts_of, start_of
from opsgym.taskcheck.findings import Finding, unknown, unknown_server
from opsgym.taskcheck.queries import QueryFailedError, SeedDatabases, is_builtin_seed
from opsgym_api.tasks.task import GymServer, Task, ToolCall
from opsgym_api.tasks.unknown_fields import unknown_fields
from opsgym_domains import registry
from opsgym_runner.gyms.seeds import BUILTIN, SeedFinder, SeedNotFoundError

if TYPE_CHECKING:
    from opsgym_domains.kit.domain import Domain
    from opsgym_domains.kit.tools import Tool


@dataclass(frozen=True)
class Checker:
    """Checks the rows of one suite.

    Args:
        finder: Locates the seed files of the suite.
        databases: Databases of these seeds, by the names in the rows.
    """

    finder: SeedFinder
    databases: SeedDatabases

    def findings(self, task: Task) -> list[Finding]:
        """What is wrong with a row, in the order of its fields."""
        findings = [*_fields(task), *_servers(task), *self._seeds(task)]
        if any(server.domain not in registry.domains() for server in task.gym_servers_config):
            return findings
        findings += [*_tools(task), *_gold_calls(task), *_tables(task)]
        if not any(finding.where.endswith("seed_database_file") for finding in findings):
            findings += [*self._identities(task), *self._queries(task), *self._doubts(task)]
        return findings

    def _seeds(self, task: Task) -> Iterator[Finding]:
        for index, server in enumerate(task.gym_servers_config):
            where = f"gym_servers_config[{index}].seed_database_file"
            name = server.seed_database_file
            if not name.startswith(BUILTIN):
                try:
                    self.finder.seed_for(server)
                except SeedNotFoundError as error:
                    yield Finding(where, str(error))
            elif server.domain in registry.domains() and not is_builtin_seed(server.domain, name):
                known = registry.load(server.domain).seeds
                kind = f"built-in seed of {server.domain}"
                yield Finding(where, unknown(kind, name.removeprefix(BUILTIN), known))

    def _identities(self, task: Task) -> Iterator[Finding]:
        for index, server in enumerate(task.gym_servers_config):
            domain = registry.load(server.domain)
            value = server.headers.get(domain.identity_header)
            where = f"gym_servers_config[{index}].context"
            if value is None and server.headers:
                known = f"{domain.name} knows the acting user by the header {domain.identity_header}"
                yield Finding(where, f"names no acting user: {known}", is_problem=False)
            if value is None or not domain.actors:
                continue
            try:
                actors = self.databases.rows(server.domain, server.seed_database_file, domain.actors)
            except QueryFailedError as error:
                yield Finding(f"gym_servers_config[{index}].seed_database_file", str(error))
                continue
            if value not in {actor["identity"] for actor in actors}:
                advice = f"`opsgym gym explore {domain.name}` lists the users that may act"
                yield Finding(f"{where}.{domain.identity_header}", f"no user of the seed has {value!r}; {advice}")

    def _queries(self, task: Task) -> Iterator[Finding]:
        """Queries in SQLite's dialect that fail on the seed. Those in Postgres' dialect need a server."""
        servers = {server.mcp_server_name: server for server in task.gym_servers_config}
        for index, verifier in enumerate(task.verifiers):
            field = {"database_state": "query", "response_check": "sql_query"}.get(verifier.verifier_type)
            if field is None or verifier.dialect != "sqlite":
                continue
            server = servers[verifier.gym_name or task.gym_servers_config[0].mcp_server_name]
            try:
                self.databases.rows(server.domain, server.seed_database_file, verifier.validation_config[field])
            except QueryFailedError as error:
                yield Finding(f"verifiers[{index}].validation_config.{field}", f"fails on the seed: {error}")

    def _doubts(self, task: Task) -> Iterator[Finding]:
        """Warnings about queries that run."""
        seeds = {server.mcp_server_name: server.seed_database_file for server in task.gym_servers_config}
        for doubt in doubts_of(task, start_of(task, self.databases, seeds)):
            yield Finding(doubt.where(task), f"{doubt.kind}: {doubt.message}", is_problem=False)


def _fields(task: Task) -> Iterator[Finding]:
    for field in unknown_fields(task):
        if field.meant is None:
            yield Finding(field.path, "is not a field of a task and has no effect", is_problem=False)
        else:
            yield Finding(field.path, f"is not a field here; did you mean {field.meant}?")


def _servers(task: Task) -> Iterator[Finding]:
    installed = registry.domains()
    domains = [server.domain for server in task.gym_servers_config]
    for index, server in enumerate(task.gym_servers_config):
        if server.domain not in installed:
            yield Finding(f"gym_servers_config[{index}].mcp_server_name", unknown_server(server, installed))
    if task.domain and len(set(domains)) == 1 and task.domain_name != domains[0]:
        yield Finding("domain", f"is {task.domain!r}, the gym server is one of {domains[0]}", is_problem=False)


def _tools(task: Task) -> Iterator[Finding]:
    known = _tools_of(task.gym_servers_config)
    for where, name in _tool_names(task):
        if name not in known:
            yield Finding(where, unknown("tool", name, known, _explore(task)))


def _tools_of(servers: list[GymServer]) -> Mapping[str, tuple[Domain, Tool]]:
    """Tools by name; of several with one name, that of the first server."""
    domains = [registry.load(server.domain) for server in servers]
    return {name: (domain, tool) for domain in reversed(domains) for name, tool in domain.toolbox.tools.items()}


def _explore(task: Task) -> str:
    commands = dict.fromkeys(f"`opsgym gym explore {server.domain}`" for server in task.gym_servers_config)
    return f"{' and '.join(commands)} list{'s' if len(commands) == 1 else ''} all tools and tables"


def _tool_names(task: Task) -> Iterator[tuple[str, str]]:
    """Names of tools in a row with their places."""
    yield from (("selected_tools", name) for name in task.selected_tools)
    yield from ((f"mode_tools.{mode}", name) for mode, names in task.mode_tools.items() for name in names)
    yield from (("restricted_tools", name) for name in task.restricted_tools)
    for index, verifier in enumerate(task.verifiers):
        where = f"verifiers[{index}].validation_config"
        if verifier.verifier_type == "tool_execution":
            yield from ((f"{where}.selected_tools", name) for name in verifier.tool_execution.selected_tools)
        if verifier.verifier_type == "looked_up":
            yield from ((f"{where}.writing_tools", name) for name in verifier.looked_up.writing_tools)
        if verifier.verifier_type == "never_called":
            yield from ((f"{where}.calls", call.tool) for call in verifier.never_called.calls if call.tool)
    yield from ((f"gold_actions[{index}].name", call.name) for index, call in enumerate(task.gold_actions or []))
    yield from ((f"events[{index}].on_tool", event.on_tool) for index, event in enumerate(task.events) if event.on_tool)


def _gold_calls(task: Task) -> Iterator[Finding]:
    """Arguments of gold actions that the tool would refuse or ignore."""
    for index, call in enumerate(task.gold_actions or []):
        where = f"gold_actions[{index}]"
        own = _tools_of(servers_of(task, call))
        if call.name in own:
            yield from _arguments(where, call, *own[call.name])
            yield from _hidden(where, task, call)
        elif call.name in _tools_of(task.gym_servers_config):
            yield Finding(f"{where}.gym", f"gym server {call.gym} has no tool {call.name}")


def servers_of(task: Task, call: ToolCall) -> list[GymServer]:
    """Gym servers that a gold action may be for: the one that it names, else all of the task."""
    return [server for server in task.gym_servers_config if call.gym in (None, server.mcp_server_name)]


def _hidden(where: str, task: Task, call: ToolCall) -> Iterator[Finding]:
    """A gold action that agents with published names cannot make, since another gym server has a tool of that name."""
    having = [s.mcp_server_name for s in task.gym_servers_config if call.name in registry.load(s.domain).toolbox.tools]
    if call.gym not in (None, having[0]):
        hidden = f"{call.gym} has the tool {call.name}, and so has {having[0]}, which is named before it"
        advice = "only agents with `toolNames: qualified` can call it"
        yield Finding(f"{where}.gym", f"{hidden}: {advice}", is_problem=False)


def _arguments(where: str, call: ToolCall, domain: Domain, tool: Tool) -> Iterator[Finding]:
    from opsgym_domains.kit.errors import InvalidArguments, ToolError

    names: Mapping[str, Any] = tool.input_schema.get("properties", {})
    for name in call.arguments:
        if name not in names:
            yield Finding(f"{where}.arguments", unknown(f"argument of {tool.name}", name, names))
    try:
        domain.accept(tool, {name: value for name, value in call.arguments.items() if name in names})
    except (InvalidArguments, ToolError) as error:
        yield Finding(f"{where}.arguments", f"{tool.name} refuses them: {error}")


def _tables(task: Task) -> Iterator[Finding]:
    """Tables and columns of `state_difference` verifiers that the domain does not have."""
    for server in task.gym_servers_config:
        tables = registry.load(server.domain).metadata.tables
        columns = {name: set(table.columns.keys()) for name, table in tables.items()}
        days = (None, *range(1, len(task.days) + 1))
        for index, verifier in (one for day in days for one in task.state_differences(server.mcp_server_name, day)):
            expected = verifier.state_difference
            named = [
                (row.table, name)
                for row in expected.every_row()
                for name in ["", *row.values, *row.may, *(name for key in row.keys or [] for name in key)]
            ]
            named += [
                (table, name) for table, names in expected.ignored.items() for name in ["", *names] if name != "*"
            ]
            yield from _unknown_columns(f"verifiers[{index}].validation_config", dict.fromkeys(named), columns, task)


def _unknown_columns(
    where: str, named: Mapping[tuple[str, str], None], columns: Mapping[str, set[str]], task: Task
) -> Iterator[Finding]:
    """Unknown tables, and unknown columns of known ones.

    Args:
        where: Path of the configuration.
        named: Pairs of a table and one of its columns; an empty column stands for the table itself.
        columns: Columns by table.
        task: The row.
    """
    for table, column in named:
        if table not in columns:
            if not column:
                yield Finding(where, unknown("table", table, columns, _explore(task)))
        elif column and column not in columns[table]:
            yield Finding(where, unknown(f"column of {table}", column, columns[table]))
