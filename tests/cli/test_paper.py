"""Every experiment of the paper runs from its file and gives the table of the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import yaml
from tests.cli.world import World
from tests.support.gym import Gym

from opsgym_domains import registry

PAPER = Path(__file__).parents[2] / "examples" / "paper"
PLAIN = {
    row["domain"]: row["task_id"] for row in registry.suite_rows("core") if not (row.get("events") or row.get("days"))
}
"""The last task of each domain that has neither events nor days, by domain."""
TWO = ("strong", "weak")
MODES = ("oracle", "plus_5_tools", "plus_10_tools", "plus_15_tools", "all_tools")
EXPERIMENTS = {
    "main-table": {(model, "react", "oracle") for model in TWO},
    "tool-overload": set(product(TWO, ("react",), MODES)),
    "plan-conditioning": set(product(TWO, ("no-plan", "human-plan", "model-plan"), ("oracle",))),
    "multi-agent": set(product(TWO, ("react", "planner-react", "decomposing"), ("oracle",))),
    "thinking-budget": {(f"effort-{effort}", "react", "oracle") for effort in ("low", "medium", "high")},
}


def test_every_file_is_an_experiment_listed_in_the_readme() -> None:
    assert {file.stem for file in PAPER.glob("*.yaml")} == set(EXPERIMENTS)
    readme = (PAPER / "README.md").read_text()
    assert all(f"[{name}.yaml]({name}.yaml)" in readme for name in EXPERIMENTS)


@pytest.mark.timeout(600)  # the first of them starts the gym servers of all domains
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_a_row_for_every_condition_and_a_column_for_every_domain(
    name: str, tmp_path: Path, gym_servers: Callable[[str], Gym]
) -> None:
    world = World(tmp_path, {domain: gym_servers(domain).url for domain in PLAIN})
    document = yaml.safe_load((PAPER / f"{name}.yaml").read_text())
    document["spec"]["suite"] |= {"limit": None, "seed": None, "ids": [*PLAIN.values()]}
    (file := tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(document))
    done = world.inline("run", str(file), "--format", "json")
    assert done.returncode == 0, done.stderr
    table = world.inline("leaderboard", name, "--format", "csv")
    assert table.returncode == 0, table.stderr
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert {(row["model"], row["agent"], row["mode"]) for row in rows} == EXPERIMENTS[name]
    for row in rows:
        rate = 0.0 if row["model"] == "weak" else 1.0
        columns = (*(f"success_{domain}" for domain in PLAIN), "mean_over_domains")
        assert {float(row[column]) for column in columns} == {rate}
