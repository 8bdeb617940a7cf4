"""What a run cost, over random prices, faults, kills and processes that are started at the same time.

Invariants proved here: what the endpoint charged is what `opsgym results` prints; of processes that start together one
spends; the spend exceeds a budget by at most a step of each trial in flight. OPSGYM_SOAK=1 plays many rounds.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.cli.world import DEADLINE_S, World, row, until
from tests.runner.servers import serving
from tests.runner.stub_model import CutConnection, calls, completion, refuses, says

from opsgym.exits import Exit

SOAK = os.environ.get("OPSGYM_SOAK") == "1"
SEEDS = range(40) if SOAK else range(1)
CONCURRENCY = 3
TRIALS = 12
REPLIES_A_STEP = 4
"""Most answers that a step pays for: one that cannot be read and one that is empty are requested once more each."""


@dataclass
class Till:
    """A model endpoint that charges for what it answers, with faults; each process has a key of its own."""

    chance: random.Random
    prices: tuple[float, float]
    """Dollars per million tokens, in and out."""
    charged: float = 0.0
    dearest: float = 0.0
    """Dollars of the most expensive answer."""
    answers: Counter[str] = field(default_factory=Counter)
    """Requests that were let through, by key."""
    most: dict[str, float] = field(default_factory=dict)
    """By key: after this number of requests, later ones wait."""
    waiting: Counter[str] = field(default_factory=Counter)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request: Request) -> Response:
        body, key = await request.json(), request.headers["authorization"].removeprefix("Bearer ")
        self.waiting[key] += 1
        while self.answers[key] >= self.most.get(key, math.inf):
            if await request.is_disconnected():
                return Response(status_code=499)  # its process was killed; nothing is charged
            await asyncio.sleep(0.01)
        self.waiting[key] -= 1
        self.answers[key] += 1
        return self._answer(sum(message["role"] == "tool" for message in body["messages"]))

    def _answer(self, steps: int) -> Response:
        fault = self.chance.random()
        if fault < 0.06:
            return refuses(429, headers={"retry-after": "0"})
        if fault < 0.10:
            return refuses(500)
        if fault < 0.13:
            return CutConnection()
        usage = self._charge()
        if fault < 0.16:
            return completion({}, choices=[], usage=usage)
        if fault < 0.19:
            return says("", usage=usage)
        if fault < 0.22:
            return calls(("find_incident_by_id", '{"incident_id": '), usage=usage)
        if steps < 3 and self.chance.random() < 0.5:
            return calls(("find_incident_by_id", {"incident_id": "INC_001"}), usage=usage)
        return says("All done.", usage=usage)

    def _charge(self) -> dict[str, int]:
        read, written = self.chance.randint(1, 5000), self.chance.randint(0, 500)
        cost = (read * self.prices[0] + written * self.prices[1]) / 1e6
        self.charged += cost
        self.dearest = max(self.dearest, cost)
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def open_attempts(world: World) -> set[tuple[str, int, int]]:
    if not (world.folder / "results" / "runs").exists():
        return set()
    return {(item.task_id, item.trial, item.attempt) for item in world.attempts() if item.outcome is None}


def results(world: World) -> dict[str, Any]:
    total: dict[str, Any] = json.loads(world.inline("results", "demo", "--format", "json").stdout)["total"]
    return total


def kill_while_all_wait(world: World, till: Till, key: str, after: int) -> None:
    """Plays the run in two processes that start together and kills the one that holds it, while each of its trials
    waits for an answer.
    """
    earlier = open_attempts(world)
    keys = [f"{key}-one", f"{key}-two"]
    till.most |= dict.fromkeys(keys, after)
    with (
        world.started("run", "run.yaml", STUB_KEY=keys[0]) as one,
        world.started("run", "run.yaml", STUB_KEY=keys[1]) as two,
    ):
        until(lambda: one.poll() is not None or two.poll() is not None, "one is refused or both have ended")
        refused, holder = (one, two) if one.poll() is not None else (two, one)
        refused_key, held_key = (keys[0], keys[1]) if refused is one else (keys[1], keys[0])
        assert (refused.returncode, till.answers[refused_key]) == (Exit.HELD, 0)

        def all_wait() -> bool:
            waiting = till.waiting[held_key]
            return holder.poll() is not None or (
                till.answers[held_key] >= after and waiting > 0 and waiting == len(open_attempts(world) - earlier)
            )

        until(all_wait, "every trial waits for an answer, or the run ends")
        holder.kill()
        holder.wait(DEADLINE_S)
    till.waiting.clear()


@pytest.mark.timeout(14_400 if SOAK else 900)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_charged_is_what_results_print_and_the_cap_holds(
    tmp_path: Path, desk_url: dict[str, str], seed: int
) -> None:
    chance = random.Random(seed)
    till = Till(chance, (chance.uniform(1, 1000), chance.uniform(0, 3000)))
    cap = chance.uniform(0.2, 1.5) * TRIALS * 2 * (2500 * till.prices[0] + 250 * till.prices[1]) / 1e6
    world = World(tmp_path, desk_url)
    world.write_suite([row(name) for name in "abcd"])
    with serving(till.app) as url:
        endpoint = {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "maxConcurrency": CONCURRENCY}
        prices = {"inputUsd": till.prices[0], "outputUsd": till.prices[1]}
        stub = {**endpoint, "prices": prices, "credentials": {"env": "STUB_KEY"}}
        world.write_run({"stub": stub}, trials=TRIALS // 4, budget={"maxUsd": cap}, limits={"infraRetries": 1})
        for number in range(chance.randint(1, 3) if SOAK else 1):
            kill_while_all_wait(world, till, f"round-{number}", after=chance.randint(0, 12))
            assert (results(world)["cost_usd"] or 0.0) == pytest.approx(till.charged), f"after kill {number}"
        ended = world.inline("run", "run.yaml", STUB_KEY="last")
    assert ended.returncode in (Exit.OK, Exit.NOT_SCORED), ended.stderr
    total = results(world)
    assert total["cost_usd"] == pytest.approx(till.charged)
    assert total["total"] == TRIALS
    assert till.charged <= cap + CONCURRENCY * REPLIES_A_STEP * till.dearest
    unscored = TRIALS - total["passed"] - total["failed"]
    assert (ended.returncode == Exit.OK) == (unscored == 0)
