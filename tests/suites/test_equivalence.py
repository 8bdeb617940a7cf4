"""The published harness itself beside opsgym: same rows, same gym servers, same replies of the model, equal verdicts.

OPSGYM_HARNESS names its work tree; without it `make soak` skips these tests.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.equivalence import TASKS, Rows, compare, export, exported, report, shuffled
from benchmarks.equivalence_plays import INCOMPLETE, RIGHT, play_of
from tests.suites.conftest import Gyms
from tests.support.published_harness import ROW_FIELDS
from tests.support.upstream import upstream

from opsgym.taskexport.files import MODE, SEED_FOLDER
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import load_suite

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]


@pytest.fixture
def harness() -> Path:
    """The work tree."""
    if not os.environ.get("OPSGYM_HARNESS"):
        pytest.skip("OPSGYM_HARNESS does not name a work tree of the published harness")
    return Path(os.environ["OPSGYM_HARNESS"])


def one_of_each_server(folder: Path) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    """The first task of each domain that the published form can state, and its row."""
    for domain in PUBLISHED_SERVERS:
        yield next(one for _, one in exported(load_suite(f"{domain}-core"), folder))


def published_rows(folder: Path) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    """Published rows of ITSM with a solution, written where both programs look for them and their seeds."""
    for file in sorted((upstream() / "tasks/itsm").glob("*.json")):
        content = json.loads(file.read_text())
        if "gold_actions" in content:
            row = {name: value for name, value in content.items() if name in ROW_FIELDS}
            row["system_prompt"] = row["system_prompt"] or "Do what you are asked."  # a reconstructed row lost its own
            put(folder / MODE / f"{file.name.partition('.')[0]}.json", json.dumps(row))
            for server in row["gym_servers_config"]:
                seed = Path(server["seed_database_file"])
                for place in (folder / seed, folder / SEED_FOLDER / seed.name):
                    put(place, (upstream() / "seeds/itsm" / seed.name).read_text())
            solved = {**row, "task_id": file.name.partition(".")[0], "gold_actions": content["gold_actions"]}
            yield Task.model_validate(solved), row


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def assert_equal(harness: Path, rows: Rows, folder: Path, gyms: Gyms) -> None:
    named = {server["mcp_server_name"] for row in rows.rows.values() for server in row["gym_servers_config"]}
    used = [domain for domain, published in PUBLISHED_SERVERS.items() if published.name in named]
    pairs = compare(harness, rows, folder, {domain: gyms(domain).url for domain in used})
    assert all(pair.equal for pair in pairs), "\n".join(report(pairs))


def test_a_row_of_each_published_server_has_the_same_verdict_in_both(harness: Path, tmp_path: Path, gyms: Gyms) -> None:
    solved = list(one_of_each_server(tmp_path))
    kinds = {task.task_id: (RIGHT, INCOMPLETE)[number % 2] for number, (task, _) in enumerate(solved)}
    plays = {task.task_id: play_of(task, kinds[task.task_id], 1) for task, _ in solved}
    assert_equal(harness, Rows({task.task_id: row for task, row in solved}, plays), tmp_path, gyms)


def test_published_rows_with_their_own_seeds_have_the_same_verdict_in_both(
    harness: Path, tmp_path: Path, gyms: Gyms
) -> None:
    solved = list(published_rows(tmp_path))
    rows = {task.task_id: row for task, row in solved}
    assert rows
    assert_equal(harness, Rows(rows, {task.task_id: play_of(task, RIGHT, 1) for task, _ in solved}), tmp_path, gyms)


def test_exported_rows_have_the_same_verdict_in_both(harness: Path, tmp_path: Path, gyms: Gyms) -> None:
    rows = export(shuffled(1), TASKS, 1, tmp_path)
    assert_equal(harness, rows, tmp_path, gyms)
