"""`opsgym tasks export` writes rows and seeds that the published harness and `opsgym tasks validate` read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.world import World, row
from tests.itsm.seed import SEED

CLOSED = {
    "verifier_type": "state_difference",
    "name": "closed",
    "validation_config": {
        "rows": [
            {
                "table": "incident",
                "change": "changed",
                "keys": [{"incident_id": "INC_001"}],
                "values": {"status": "closed"},
            }
        ]
    },
}
AMENDED = {"after_step": 1, "tell": "Stop."}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def export(world: World, *arguments: str) -> tuple[int, str, str]:
    done = world.inline("tasks", "export", *arguments, "--format", "published", "--out", "published")
    return done.returncode, done.stdout, done.stderr


def test_an_exported_suite_has_rows_seeds_and_a_list_of_what_is_missing(world: World) -> None:
    world.write_suite([row("plain", verifiers=[CLOSED, *row("x")["verifiers"]]), row("amended", events=[AMENDED])])
    code, out, err = export(world, "suite", "--seeds", "suite/seeds")
    assert code == 0, err
    assert "1 of 2 tasks" in out
    assert "plain: verifiers[1] (answers): the published harness matches no patterns with the answer" in err
    assert "amended (not exported): events" in err
    made = json.loads((world.folder / "published/oracle/plain.json").read_text())
    assert [verifier["verifier_type"] for verifier in made["verifiers"]] == ["database_state"] * 2
    assert (world.folder / "published" / made["gym_servers_config"][0]["seed_database_file"]).read_text() == SEED
    assert set(json.loads((world.folder / "published/left_out.json").read_text())) == {"plain", "amended"}
    assert world.inline("tasks", "validate", "published/oracle").returncode == 0


def test_an_unknown_suite_and_a_missing_seed_are_named(world: World) -> None:
    code, _, err = export(world, "nonesuch")
    assert code == 2
    assert "nonesuch" in err
    assert "built-in suite" in err
    world.write_suite([row("plain")])
    code, _, err = export(world, "suite")
    assert code == 2
    assert "seed 'desk.sql' is missing" in err
