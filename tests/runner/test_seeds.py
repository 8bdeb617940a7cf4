"""Where a seed file of a row is searched, and the error if it does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsgym_api.tasks.task import GymServer
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.gyms.seeds import SeedFinder, SeedNotFoundError


def server(seed: str) -> GymServer:
    return GymServer(mcp_server_name="gym-itsm-mcp", seed_database_file=seed)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_builtin_seed_is_passed_on_by_name() -> None:
    assert SeedFinder(None, None).seed_for(server("builtin:small")) == Seed(builtin="small")


def test_a_seed_is_found_by_the_rows_relative_path_before_its_file_name(tmp_path: Path) -> None:
    write(tmp_path / "suite/dbs/a.sql", "-- by path")
    write(tmp_path / "suite/seeds/other/a.sql", "-- by name")
    assert SeedFinder(tmp_path / "suite", None).seed_for(server("dbs/a.sql")) == Seed(sql="-- by path")


def test_published_rows_find_their_seed_in_a_sibling_tree(tmp_path: Path) -> None:
    suite = tmp_path / "tasks" / "itsm"
    suite.mkdir(parents=True)
    write(tmp_path / "seeds/itsm/db_1.sql", "-- sibling")
    seed = SeedFinder(suite, None).seed_for(server("Domain Wise DBs and Mappings/itsm/dbs/db_1.sql"))
    assert seed == Seed(sql="-- sibling")


def test_a_named_seed_folder_is_the_only_one_searched(tmp_path: Path) -> None:
    write(tmp_path / "suite/a.sql", "-- beside the suite")
    write(tmp_path / "mine/deep/a.sql", "-- mine")
    finder = SeedFinder(tmp_path / "suite", tmp_path / "mine")
    assert finder.seed_for(server("x/a.sql")) == Seed(sql="-- mine")


def test_folders_further_up_than_three_are_not_searched(tmp_path: Path) -> None:
    suite = tmp_path / "1/2/3/suite"
    suite.mkdir(parents=True)
    write(tmp_path / "seeds/a.sql", "-- too far")
    with pytest.raises(SeedNotFoundError, match=r"found neither a\.sql"):
        SeedFinder(suite, None).seed_for(server("a.sql"))


def test_a_missing_seed_names_the_file_and_the_folders_searched(tmp_path: Path) -> None:
    write(tmp_path / "suite/seeds/b.sql", "")
    with pytest.raises(SeedNotFoundError) as caught:
        SeedFinder(tmp_path / "suite", None).seed_for(server("dbs/a.sql"))
    message = str(caught.value)
    assert "gym-itsm-mcp" in message
    assert "dbs/a.sql" in message
    assert str(tmp_path / "suite" / "seeds") in message


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../secret.sql", "a/../../secret.sql"])
def test_a_row_reaches_no_file_outside_the_folders_searched(tmp_path: Path, name: str) -> None:
    write(tmp_path / "secret.sql", "-- secret")
    write(tmp_path / "suite/a/x", "")
    with pytest.raises(SeedNotFoundError, match="expected a path below the seed folder"):
        SeedFinder(tmp_path / "suite", tmp_path / "suite").seed_for(server(name))


def test_a_seed_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_bytes(b"\xff\xfe")
    with pytest.raises(SeedNotFoundError, match=r"a\.sql is not UTF-8 text"):
        SeedFinder(tmp_path, None).seed_for(server("a.sql"))
