"""`replay/flaky` in a local run and in a task pod."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.world import World, row
from tests.pods.pod import Pod, job_spec, model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym

from opsgym_api.jobs.exit_codes import Exit

FAULTS = {"rate_limit": 0.2, "server_error": 0.2, "cut_stream": 0.1, "malformed_tool_call": 0.2}

FLAKY = {"rates": FAULTS, "seed": 2, "timeout": 60}
"""Parameters with a timeout so long that a busy machine adds no timeouts."""


@pytest.fixture
def gym_url() -> Iterator[str]:
    with serving(StubGym().app) as url:
        yield url


def test_a_run_on_a_flaky_model_is_scored_and_meets_the_same_faults_again(
    tmp_path: Path, desk_url: dict[str, str]
) -> None:
    retries = []
    for folder in ("first", "second"):
        world = World(tmp_path / folder, desk_url)
        world.write_suite([row("one"), row("two")])
        world.write_run({"shaky": {"model": "replay/flaky", "parameters": FLAKY}}, trials=2)

        ended = world.inline("run", "run.yaml", "--format", "json")

        assert ended.returncode == 0, ended.stderr
        retries.append(sorted((t.task_id, t.trial, t.model_retries, t.tool_errors) for t in world.trials()))
        assert sum(trial.model_retries for trial in world.trials()) > 0
    assert retries[0] == retries[1]


def test_invalid_fault_rates_are_refused_before_the_run_starts(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write_suite([row("one")])
    world.write_run({"shaky": {"model": "replay/flaky", "parameters": {"rates": {"timeout": 7}}}})

    ended = world.inline("run", "run.yaml")

    assert ended.returncode == 2
    problem = "models[shaky].parameters.rates.timeout: must be less than or equal to 1, found 7"
    assert ended.stderr.splitlines() == [f"run.yaml: {problem}"]


def test_a_task_pod_plays_a_flaky_model(tmp_path: Path, gym_url: str) -> None:
    pod = Pod.local(tmp_path)
    pod.freeze()

    ended = pod.task(job_spec(gym_url, model=model("replay/flaky", parameters={"rates": FAULTS, "seed": 4})))

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, "passed")
    assert pod.attempt().model_retries > 0
