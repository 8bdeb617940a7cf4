"""A pod that plays several trials, as the processes of its containers: real Postgres, gym server and runner."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.pod_processes import PodProcesses, baked, task_ids

from opsgym_api.jobs.exit_codes import Exit

pytestmark = pytest.mark.xdist_group("pod-postgres")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lies in one that only its user reads
        yield baked(Path(folder))


def starts(folder: Path) -> int:
    """Processes of the gym server that became ready."""
    return sum(json.loads(line).get("ready", False) for line in (folder / "gym.log").read_text().splitlines())


def test_each_trial_has_a_postgres_and_a_gym_process_of_its_own(folder: Path) -> None:
    first, second, third = task_ids()[:3]
    with PodProcesses.started(folder, trials_per_pod=3) as pod:
        assert pod.preflight().code == 0
        ended = pod.play([first, second, third])
        assert ended.code == Exit.DONE, ended.log
        assert [pod.trial(task).outcome for task in (first, second, third)] == ["passed"] * 3
        assert starts(folder) == 3
        held = {path.parent.name: path.is_dir() for path in pod.volumes.glob("data/generation-*/data")}
        assert held == {"generation-2": True}, "what earlier trials left behind is deleted"
        assert sorted(path.name for path in pod.volumes.glob("data/*")) == [f"generation-{n}" for n in range(3)]
    assert {name: process.code for name, process in pod.ended.items()} == {"gym": 0, "postgres": 0}
    assert "Traceback" not in pod.ended["gym"].log


def test_a_lost_postgres_costs_the_trial_that_the_pod_was_at(folder: Path) -> None:
    lost, next_task = task_ids()[3:5]
    with PodProcesses.started(folder, trials_per_pod=2) as pod:
        (data,) = pod.volumes.glob("data/generation-0/data")
        os.kill(int((data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
        ended = pod.play([lost, next_task])
        assert ended.code == Exit.INFRA_ERROR, ended.log
        assert [(attempt.outcome, attempt.reason) for attempt in pod.attempts(lost)] == [("infra_error", "gym_lost")]
        assert pod.trial(next_task).outcome == "passed"
