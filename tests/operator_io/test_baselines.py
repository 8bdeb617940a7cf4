"""What the runs that gates compare with take of the operator's memory, and when their scores are read again."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.operator_io.material import START
from tests.operator_io.test_chunks import all_done, new_state
from tests.operator_io.test_run_end import put_run, spec

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_core.gates.judge import Baseline
from opsgym_core.metrics.registry import RunFigures
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore
from opsgym_core.store.mounted import Stores
from opsgym_operator.plan.desired import Load
from opsgym_operator.state import run_state as run_state_module
from opsgym_operator.state.baselines import Baselines
from opsgym_operator.state.final_figures import put_figures

MOST_MB = 64
"""For six runs that start at once and compare with three runs of 50,400 trials."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return LocalStore(tmp_path)


def end(store: Store, run: str, minutes: int = 0) -> None:
    """Notes that a run has ended."""
    put_figures(store, run, RunFigures({}, None, 0.0, None), START + timedelta(minutes=minutes))


def test_gates_with_large_baselines_fit_into_the_memory_of_the_operator(tmp_path: Path) -> None:
    def printed(command: str) -> str:
        module = [sys.executable, "-m", "tests.operator_io.large_baseline", command, str(tmp_path)]
        return subprocess.run(module, cwd=ROOT, capture_output=True, check=True, text=True, timeout=150).stdout

    printed("write")
    measured = json.loads(printed("read").splitlines()[-1])
    assert measured["peak"] < MOST_MB
    assert (measured["scores"], measured["left"]) == (3, 0)


def test_the_scores_of_an_ended_run_are_read_once_for_all_that_compare_with_it(store: Store) -> None:
    run = put_run(store, "release", passed=20, spec=spec())
    end(store, run)
    baselines = Baselines()
    first = baselines.read("results", store, run)
    assert baselines.read("results", store, run) is first
    assert baselines.read("other", store, run) is not first


def test_scores_that_may_still_change_are_read_for_each_run(store: Store) -> None:
    run = put_run(store, "release", passed=20, spec=spec())
    baselines = Baselines()
    assert baselines.read("results", store, run) is not baselines.read("results", store, run)
    end(store, run)
    first = baselines.read("results", store, run)
    end(store, run, minutes=5)
    assert baselines.read("results", store, run) is not first, "it was resumed"


def test_scores_go_with_the_last_run_that_needs_them(store: Store) -> None:
    run = put_run(store, "release", passed=20, spec=spec())
    end(store, run)
    baselines = Baselines()
    held = [Baseline(baselines.read("results", store, run)) for _ in range(2)]
    held.pop()
    gc.collect()
    assert len(baselines) == 1
    held.pop()
    gc.collect()
    assert len(baselines) == 0


def test_a_baseline_is_read_in_the_turn_of_its_run(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    put_run(stores.get("results"), "release", passed=20, spec=spec())
    state = new_state(stores)
    state.spec = EvalRunSpec.model_validate(spec(baseline="release", maxRegression=0.1))
    others: list[bool] = []

    def read(original: Any, *arguments: Any) -> Any:
        others.append(another_waits.is_set())
        return original(*arguments)

    monkeypatch.setattr(run_state_module, "_baseline", partial(read, run_state_module._baseline))

    async def compare() -> None:
        async with state.turns.turn("another"):
            state.read([Load.BASELINE])
            await asyncio.sleep(0)  # it begins
            assert state.baseline is None
            another_waits.set()
        await all_done(state)

    another_waits = asyncio.Event()
    asyncio.run(compare())
    assert others == [True], "not before the turn of another ended"
    assert isinstance(state.baseline, Baseline)
