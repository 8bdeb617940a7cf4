"""`opsgym tasks export` writes rows and seeds that the published harness and `opsgym tasks validate` read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.cli.world import World, row
from tests.itsm.seed import SEED
from tests.support.published_harness import load_as_harness

from opsgym.taskexport.dataset import PUBLISHED_COLUMNS
from opsgym.taskexport.published import HARNESS
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task

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


def export(world: World, *arguments: str, form: str = "published") -> tuple[int, str, str]:
    done = world.inline("tasks", "export", *arguments, "--format", form, "--out", "published")
    return done.returncode, done.stdout, done.stderr


def test_an_exported_suite_has_rows_seeds_and_a_list_of_what_is_missing(world: World) -> None:
    world.write_suite([row("plain", verifiers=[CLOSED, *row("x")["verifiers"]]), row("amended", events=[AMENDED])])
    code, out, err = export(world, "suite", "--seeds", "suite/seeds")
    assert code == 0, err
    assert "1 of 2 tasks" in out
    assert "plain: verifiers[1] (answers): the published harness matches no patterns with the answer" in err
    assert "amended (not exported): events" in err
    made = json.loads((world.folder / "published/oracle/plain.json").read_text())
    load_as_harness(made)
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


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_whole_suite_is_exported_and_imported_again_unchanged(world: World, form: str) -> None:
    rows = [
        row("plain", verifiers=[CLOSED, *row("x")["verifiers"]], plan=["Look.", "Close."]),
        row("amended", events=[AMENDED]),
    ]
    world.write_suite(rows)
    code, out, err = export(world, "suite", "--seeds", "suite/seeds", form=form)
    assert code == 0, err
    assert f"2 tasks in published/oracle/itsm-00000-of-00001.{form}" in out
    imported = world.inline("tasks", "import", "published/oracle", "--seeds", "published/seeds", "--out", "again")
    assert imported.returncode == 0, imported.stderr
    again = {task.task_id: task for task in read_tasks(world.folder / "again" / "oracle")[0]}
    assert [again[made["task_id"]] for made in rows] == [
        Task.model_validate(HARNESS | made | {"domain": "itsm"}) for made in rows
    ]


def test_columns_of_an_exported_suite_begin_with_the_published_ones(world: World) -> None:
    world.write_suite([row("plain", plan=["Look."]), row("amended", events=[AMENDED], team="Blue")])
    assert export(world, "suite", "--seeds", "suite/seeds", form="parquet")[0] == 0
    table = parquet.read_table(world.folder / "published/oracle/itsm-00000-of-00001.parquet")
    assert table.column_names[: len(PUBLISHED_COLUMNS)] == list(PUBLISHED_COLUMNS)
    assert table.column_names[-1] == "team"
    assert str(table.schema.field("selected_tools").type) in ("list<element: string>", "list<item: string>")
    assert json.loads(table.column("verifiers")[0].as_py()) == row("plain")["verifiers"]
    assert table.column("events").to_pylist() == [None, json.dumps([AMENDED])]


def test_the_files_of_a_suite_have_one_schema(world: World) -> None:
    assert export(world, "opsgym-1150", form="parquet")[0] == 0
    schemas = [parquet.read_schema(file) for file in (world.folder / "published/oracle").glob("*.parquet")]
    assert len(schemas) >= 3
    assert all(schema.equals(schemas[0]) for schema in schemas)


def test_a_seed_is_written_inside_of_the_folder_whatever_its_row_names(world: World) -> None:
    servers = [{**row("x")["gym_servers_config"][0], "seed_database_file": "../../desk.sql"}]
    world.write_suite([row("plain", gym_servers_config=servers)])
    assert export(world, "suite", "--seeds", "suite/seeds", form="jsonl")[0] == 0
    assert (world.folder / "published/seeds/desk.sql").read_text() == SEED
    assert not (world.folder.parent / "desk.sql").exists()
