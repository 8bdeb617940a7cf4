"""The episode path stays short: a request to a model is few frames away from its trial."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, says

from opsgym_runner.models.sending import posting

PRICES = {"inputUsd": 1, "outputUsd": 1}
MAX_FRAMES = 14
"""Frames of the project between the task of a trial and its request over HTTP."""


def project_frames() -> list[str]:
    """Functions of the project on the current stack, innermost first, up to the event loop."""
    functions: list[str] = []
    frame = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).parent.name != "asyncio":
        if "/opsgym" in frame.f_code.co_filename:
            functions.append(frame.f_code.co_qualname)
        assert frame.f_back is not None
        frame = frame.f_back
    return functions


def test_a_local_trial_reaches_its_model_within_a_few_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, desk_url: dict[str, str]
) -> None:
    stacks: list[list[str]] = []

    def recording(*arguments: Any, **options: Any) -> Any:
        stacks.append(project_frames())
        return posting(*arguments, **options)

    monkeypatch.setattr("opsgym_runner.models.client.posting", recording)
    world = World(tmp_path, desk_url)
    world.write_suite([row("a")])
    with serving(StubModel(says("Done.")).app) as url:
        world.write_run({"stub": {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "prices": PRICES}})
        ended = world.inline("run", "run.yaml")

    assert ended.returncode == 0, ended.stderr
    assert stacks, "no model was called"
    assert {stack[-1] for stack in stacks} == {"LocalRun._run_trials.<locals>.attempt"}
    assert "Runner.run" in stacks[0]
    assert max(map(len, stacks)) <= MAX_FRAMES, stacks[0]
