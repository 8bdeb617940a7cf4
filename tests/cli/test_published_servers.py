"""A row that names any of the seven published gym servers is imported and played on the domain it means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World
from tests.support.upstream import upstream

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite


def plain_task(domain: str) -> Task:
    """A task of a domain's suite that a published row can state."""
    return next(
        task
        for task in load_suite(f"{domain}-core")
        if task.feasible and task.access is Access.PUBLISHED and not (task.events or task.days)
    )


def published_row(domain: str) -> dict[str, Any]:
    """Such a task, on the published server."""
    published = PUBLISHED_SERVERS[domain]
    row = plain_task(domain).model_dump(mode="json", exclude_unset=True) | {"domain": ""}
    (server,) = row["gym_servers_config"]
    assert list(server["context"]) == [published.header]
    server |= {"mcp_server_name": published.name, "mcp_server_url": published.url}
    for named in [*row["verifiers"], *row["gold_actions"]]:
        named.pop("gym_name", None)
        named.pop("gym", None)
    return row


@pytest.mark.parametrize("domain", PUBLISHED_SERVERS)
def test_a_published_name_means_its_domain(domain: str) -> None:
    published = PUBLISHED_SERVERS[domain]
    assert GymServer(mcp_server_name=published.name).domain == domain
    assert registry.load(domain).identity_header == published.header


@pytest.mark.timeout(300)
def test_a_row_of_each_published_server_is_imported_and_played(tmp_path: Path) -> None:
    world = World(tmp_path)
    rows = [published_row(domain) for domain in PUBLISHED_SERVERS]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    done = world.inline("tasks", "import", "rows.json", "--out", "suite", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {entry["domain"]: entry["rows"] for entry in report["rows"]} == dict.fromkeys(PUBLISHED_SERVERS, 1)
    assert "invalid_row" not in {fault["kind"] for fault in report["faults"]}

    models = {name: {"model": f"replay/{name}"} for name in ("gold", "noop")}
    world.write_run(models, suite={"path": "suite/oracle", "modes": ["oracle"]})
    done = world.inline("run", "run.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    outcomes = {(trial.cell.model, trial.cell.domain): trial.outcome for trial in world.trials()}
    assert outcomes == {("gold", domain): "passed" for domain in PUBLISHED_SERVERS} | {
        ("noop", domain): "failed" for domain in PUBLISHED_SERVERS
    }


def test_the_table_has_the_published_names_and_ports() -> None:
    facts = {
        content["domain"]: (content["gym_name"], content["default_url"])
        for file in (upstream() / "tools").glob("[!_]*.json")
        for content in [json.loads(file.read_text())]
    }
    assert {domain: (server.name, server.url) for domain, server in PUBLISHED_SERVERS.items()} == facts
