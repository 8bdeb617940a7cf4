"""Converts task rows to the published interchange form.

Invariant: an exported row has only the fields, verifier types and server names that the published harness knows. What
they cannot state is left out and named in the result: a verifier that would judge differently is left out, and so is a
task that would be another one, or that an agent would pass without acting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from opsgym.taskexport.conditions import NotExpressibleError
from opsgym.taskexport.difference_sql import difference_queries
from opsgym.taskexport.files import SEED_FOLDER
from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import GymServer, Task, ToolCall
from opsgym_api.tasks.verifiers import Comparison, Verifier
from opsgym_runner.verification.comparison import holds

if TYPE_CHECKING:
    import apsw

    from opsgym_domains.kit.domain import Domain

HARNESS = {"mcp_endpoint": "/mcp", "number_of_runs": 1, "reset_database_between_runs": True}
"""Settings of the harness that every published row has."""
_COPIED = ("database_state", "tool_execution", "response_check")
_NOT_PUBLISHED = {
    "answer_match": "the published harness matches no patterns with the answer",
    "never_called": "the published harness does not judge what a call attempts",
    "looked_up": "the published harness does not look into results of tools",
}


@dataclass(frozen=True)
class GymSeed:
    """The seed of a gym server of a task."""

    domain: Domain
    rows: apsw.Connection
    """Its rows, as SQLite snapshots have them."""
    file: str
    """Name of the SQL file that is written."""

    now: datetime
    """Time that its script and queries read."""

    def value(self, sql: str) -> Any:
        """First value that a verifier's query returns; None if it fails or returns no row."""
        from opsgym_domains.kit.errors import QueryError
        from opsgym_domains.kit.sqlite import query

        try:
            return next(iter(query(self.rows, sql, self.now).rows), (None,))[0]
        except QueryError:
            return None


@dataclass(frozen=True)
class Exported:
    """A task in the published form."""

    row: Mapping[str, Any] | None
    """The row; None if the published form has no equal task."""
    left_out: list[str]
    """What is missing, and why, each as `field: reason`."""


def seed_rows(domain: Domain, sql: str, now: datetime) -> apsw.Connection:
    """A seed's rows as snapshots of a gym server have them.

    Args:
        domain: The seed's domain.
        sql: Seed script.
        now: Time that the script reads.

    Raises:
        SeedError: The script fails.
    """
    from opsgym_domains.kit.sqlite import postgres_rows, run_seed, snapshot

    seeded = run_seed(domain.metadata, sql, now).db
    return snapshot(
        domain.metadata, [(table.name, postgres_rows(seeded, table)) for table in domain.metadata.tables.values()]
    )


def exported(task: Task, seeds: Mapping[str, GymSeed]) -> Exported:
    """A task in the published form.

    Args:
        task: The task.
        seeds: Seeds by gym server; all gym servers of the task.
    """
    left_out = list(_not_a_published_task(task))
    if left_out:
        return Exported(None, left_out)
    queries, left_out = _queries(task, seeds)
    names = _server_names(task)
    verifiers: list[dict[str, Any]] = []
    for index, verifier in enumerate(task.verifiers):
        if verifier.verifier_type in _NOT_PUBLISHED:
            left_out.append(f"verifiers[{index}] ({verifier.name}): {_NOT_PUBLISHED[verifier.verifier_type]}")
        elif verifier.dialect != "sqlite":
            left_out.append(f"verifiers[{index}] ({verifier.name}): the published servers have no {verifier.dialect}")
        elif verifier.verifier_type in _COPIED:
            verifiers.append(_verifier(verifier, names, verifier.verifier_type, verifier.validation_config, verifiers))
        elif index in queries:
            config = {"query": queries[index], "expected_value": 1, "comparison_type": "equals"}
            verifiers.append(_verifier(verifier, names, "database_state", config, verifiers))
    if not verifiers:
        return Exported(None, [*left_out, "verifiers: none is left"])
    by_name = {names[gym]: seed for gym, seed in seeds.items()}
    if all(_passes_untouched(verifier, by_name) for verifier in verifiers):
        return Exported(None, [*left_out, "verifiers: an agent that does nothing passes those that are left"])
    return Exported(_row(task, seeds, names, verifiers), left_out)


def _not_a_published_task(task: Task) -> Iterator[str]:
    """Fields without which a task is another one."""
    if task.events:
        yield f"events: a published row has none, and the task has {len(task.events)}"
    if task.days:
        yield f"days: a published row has one day, and the task has {len(task.days) + 1}"
    if task.clock.seconds_per_step:
        yield "clock: in a published row steps take no time"
    if task.access is Access.STRICT:
        yield "access: a published row cannot require access strict"
    if any(map(is_refused_there, task.gold_actions or ())):
        yield "gold_actions: the published email server refuses create_filter with an empty criterion"
    if len(set(_server_names(task).values())) < len(task.gym_servers_config):
        yield "gym_servers_config: two servers of one domain have the same published name"


def is_refused_there(call: ToolCall) -> bool:
    """Whether a published server refuses a call that opsgym's servers accept in either access."""
    criteria = call.arguments.get("criteria")
    return call.name == "create_filter" and isinstance(criteria, Mapping) and "" in criteria.values()


def _server_names(task: Task) -> dict[str, str]:
    """Published names of a task's gym servers, by the names that the task gives them."""
    return {
        server.mcp_server_name: PUBLISHED_SERVERS[server.domain].name
        if server.domain in PUBLISHED_SERVERS
        else server.mcp_server_name
        for server in task.gym_servers_config
    }


def _passes_untouched(verifier: Mapping[str, Any], seeds: Mapping[str, GymSeed]) -> bool:
    """Whether a verifier of an exported row passes on the seeds, by the published names of their gym servers."""
    if verifier["verifier_type"] != "database_state":
        return False
    config = verifier["validation_config"]
    seed = seeds.get(verifier.get("gym_name", ""), next(iter(seeds.values())))
    return holds(seed.value(config["query"]), config["expected_value"], Comparison(config["comparison_type"]))


def _queries(task: Task, seeds: Mapping[str, GymSeed]) -> tuple[dict[int, str], list[str]]:
    """Queries of the `state_difference` verifiers by position, and what is left out of them."""
    queries: dict[int, str] = {}
    left_out: list[str] = []
    for gym, seed in seeds.items():
        verifiers = task.state_differences(gym)
        try:
            expected = {index: verifier.state_difference for index, verifier in verifiers}
            queries |= difference_queries(expected, seed.domain.metadata, seed.rows)
        except NotExpressibleError as error:
            left_out += [f"verifiers[{index}] ({verifier.name}): {error}" for index, verifier in verifiers]
    return queries, left_out


def _verifier(
    verifier: Verifier,
    servers: Mapping[str, str],
    kind: str,
    config: Mapping[str, Any],
    before: list[dict[str, Any]],
) -> dict[str, Any]:
    """A published verifier. Its name is its own: of several with one name, the published harness counts the last."""
    names = [other["name"] for other in before]
    name, number = verifier.name or kind, 2
    while name in names:
        name, number = f"{verifier.name or kind} ({number})", number + 1
    made = {"verifier_type": kind, "name": name, "description": verifier.description, "validation_config": config}
    return made | ({"gym_name": servers[verifier.gym_name]} if verifier.gym_name else {})


def _url(server: GymServer) -> str:
    published = PUBLISHED_SERVERS.get(server.domain)
    return server.mcp_server_url if published is None else published.url


def _row(
    task: Task, seeds: Mapping[str, GymSeed], names: Mapping[str, str], verifiers: list[dict[str, Any]]
) -> dict[str, Any]:
    servers = [
        {
            "mcp_server_name": names[server.mcp_server_name],
            "mcp_server_url": _url(server),
            "seed_database_file": f"{SEED_FOLDER}/{seeds[server.mcp_server_name].file}",
            "context": server.context,
        }
        for server in task.gym_servers_config
    ]
    return {
        **HARNESS,
        "gym_servers_config": servers,
        "system_prompt": task.system_prompt,
        "user_prompt": task.user_prompt,
        "selected_tools": task.selected_tools,
        "restricted_tools": task.restricted_tools,
        "verifiers": verifiers,
    }
