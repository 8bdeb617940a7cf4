"""Several processes that are given the same run: one plays it, the others start nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.world import HeldModel, World, row, until

from opsgym.exits import Exit
from opsgym.local.lease import LeaseRecord
from opsgym_api.records.store_layout import RunKeys


@pytest.fixture
def model() -> Iterator[HeldModel]:
    with HeldModel.serving() as held:
        yield held


@pytest.fixture
def world(tmp_path: Path, model: HeldModel, desk_url: dict[str, str]) -> World:
    """Three tasks at a priced model, of which one trial runs at a time."""
    world = World(tmp_path, desk_url)
    world.write_suite([row("a"), row("b"), row("c")])
    endpoint = {"model": "openai/stub", "endpoints": [{"url": model.url}], "maxConcurrency": 1}
    world.write_run({"stub": {**endpoint, "prices": {"inputUsd": 1000, "outputUsd": 0}}})
    return world


def booked(world: World) -> float:
    return float(json.loads(world.inline("results", "demo", "--format", "json").stdout)["total"]["cost_usd"])


def test_a_second_process_is_refused_and_names_the_first(world: World, model: HeldModel) -> None:
    model.hold()
    with world.started("run", "run.yaml") as first:
        until(lambda: len(model.prompts) == 1, "the first request", first)
        second = world.inline("run", "run.yaml")
        assert second.returncode == Exit.HELD, second.stderr
        assert f"is played by process {first.pid} on {os.uname().nodename}" in second.stderr
        assert len(model.prompts) == 1
        model.release()
        first.communicate(timeout=90)
    assert first.returncode == 0
    assert len(model.prompts) == 3
    assert booked(world) == pytest.approx(3 * price(world))


def price(world: World) -> float:
    cost = world.trials()[0].cost_usd
    assert cost
    return cost


def test_a_killed_process_is_replaced_at_once_and_its_attempt_stays(world: World, model: HeldModel) -> None:
    model.hold(after=1)
    with world.started("run", "run.yaml") as first:
        until(lambda: len(model.prompts) == 2, "the second trial's request", first)
        first.kill()
        first.wait()
    model.release()
    again = world.inline("run", "run.yaml")
    assert again.returncode == 0, again.stderr
    assert "waiting" not in again.stderr
    attempts = [(attempt.task_id, attempt.attempt, attempt.outcome is None) for attempt in world.attempts()]
    assert attempts == [("a", 0, False), ("b", 0, True), ("b", 1, False), ("c", 0, False)]
    assert booked(world) == pytest.approx(3 * price(world))


def test_a_process_whose_run_is_taken_over_stops_without_another_request(world: World, model: HeldModel) -> None:
    model.hold()
    with world.started("run", "run.yaml") as first:
        until(lambda: len(model.prompts) == 1, "the first request", first)
        keys = RunKeys(world.run)
        content = world.store.get(keys.lease(1))
        assert content is not None
        taken = LeaseRecord.model_validate_json(content).model_copy(update={"token": "another", "host": "elsewhere"})
        world.store.put_once(keys.lease(2), taken.model_dump_json().encode())
        _, err = first.communicate(timeout=90)
    assert first.returncode == Exit.HELD
    assert "another process took over run demo." in err
    assert len(model.prompts) == 1


def test_an_attempt_that_another_process_began_is_not_written_over(world: World, model: HeldModel) -> None:
    model.hold()
    with world.started("run", "run.yaml") as first:
        until(lambda: len(model.prompts) == 1, "the first request", first)
        trial = RunKeys(world.run).trial(world.attempts()[0].cell, "b", 0)
        foreign = world.attempts()[0]
        content = foreign.to_json().replace(b'"task_id":"a"', b'"task_id":"b"')
        assert world.store.put_once(trial.attempt(0), content)
        model.release()
        first.communicate(timeout=90)
    assert first.returncode == 0
    assert world.store.get(trial.attempt(0)) == content
    assert [(record.task_id, record.attempt) for record in world.trials()] == [("a", 0), ("b", 1), ("c", 0)]
