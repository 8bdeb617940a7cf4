"""`opsgym prune` and `opsgym pin`: what is printed, deleted and refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_run, put_trial

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.local import LocalStore

STATE = b"x" * 1000
YEAR_AGO = 1_700_000_000


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    """Two runs of a trial each, of long ago."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    store = LocalStore("results")
    for day in (1, 2):
        run = f"nightly.{day}"
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a"])], created_at=f"2023-01-0{day}T00:00:00Z")
        put_trial(store, run, "a", Outcome.PASSED)
        store.put(RunKeys(run).trial(CELL, "a", 0).state("itsm"), STATE)
    age(store)
    return store


def age(store: LocalStore) -> None:
    for key in store.keys(""):
        os.utime(store.root / key, (YEAR_AGO, YEAR_AGO))


def states(store: LocalStore) -> list[str]:
    return [key.split("/")[1] for key in store.keys("runs/") if "state" in key]


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert invoke(arguments) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_nothing_is_deleted_before_yes_and_runs_objects_and_bytes_are_printed(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    dry, _ = output(capsys, "prune", "--states", "30d")
    assert dry.splitlines()[-1] == "would delete 2 objects of 2 runs, 2,000 bytes; --yes deletes them"
    assert ["nightly.1", "states", "1", "1,000"] in [line.split() for line in dry.splitlines()]
    assert output(capsys, "prune", "--states", "30d", "--dry-run")[0] == dry
    assert states(store) == ["nightly.1", "nightly.2"]

    done, _ = output(capsys, "prune", "--states", "30d,1runs", "--yes")
    assert done.splitlines()[-1] == "deleted 1 objects of 1 runs, 1,000 bytes"
    assert states(store) == ["nightly.2"]


def test_without_a_time_it_prints_what_each_run_takes(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    sizes, _ = output(capsys, "prune")
    row = next(line.split() for line in sizes.splitlines() if line.startswith("nightly.1"))
    records = sum(one.size for one in store.objects("runs/nightly.1/") if "state" not in one.key)
    assert row == ["nightly.1", "1", "3", f"{records:,}", "0", "1,000", f"{records + 1000:,}"]
    assert states(store) == ["nightly.1", "nightly.2"]


def test_a_pinned_run_stays_until_it_is_let_go(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    output(capsys, "pin", "nightly.1", "--reason", "table 2")
    age(store)
    _, err = output(capsys, "prune", "--records", "1d", "--yes")
    assert "nightly.1 stays: it is pinned; `opsgym pin --remove nightly.1` lets it go" in err
    assert list(store.folders("runs")) == ["nightly.1"]

    output(capsys, "pin", "--remove", "nightly.1")
    output(capsys, "prune", "--records", "1d", "--yes")
    assert list(store.keys("")) == []


def test_nothing_is_deleted_while_a_gate_may_compare_with_what_it_is_unknown(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store.put(RunKeys("newer.1").run_json, b'{"version": 99}')
    _, err = output(capsys, "prune", "--states", "30d", "--yes", code=2)
    assert "was written by a newer opsgym" in err
    assert "so nothing is deleted; use the opsgym that wrote them" in err
    assert states(store) == ["nightly.1", "nightly.2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--states", "30"], "'30' is not a time to keep; give days (30d), newest runs (10runs) or both"),
        (["--states", "0d"], "is not a time to keep"),
        (["--states", "30d,20d"], "is not a time to keep"),
        (["--states", "99999d"], "is not a time to keep"),
        (["--states", "30d", "--yes", "--dry-run"], "choose one of --yes and --dry-run"),
        (["--yes"], "name what to delete: --records, --transcripts or --states, for example --states 30d"),
        (["--store", "missing", "--states", "30d"], "does not exist; give the folder that a run wrote to"),
    ],
)
def test_a_wrong_request_is_refused_with_what_to_give(
    store: LocalStore, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    _, err = output(capsys, "prune", *arguments, code=2)
    assert words in err
    assert states(store) == ["nightly.1", "nightly.2"]
