"""What a run cost, over random prices, faults, kills and processes that are started at the same time.

Invariants proved here: what the endpoint charged is what `opsgym results` prints, but for steps that a kill cuts off;
of processes that start together one spends; the spend exceeds a budget by at most a step of each trial in flight.
OPSGYM_SOAK=1 plays many rounds.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
from collections import Counter, defaultdict
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
    repeated: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """By key: dollars of answers that a step requests once more; they are written down with the step's last answer."""
    lost: float = 0.0
    """Dollars of such answers to processes that were killed before."""

    def to_book(self, key: str) -> float:
        """The least dollars that the store has once a process waits for answers."""
        return self.charged - self.lost - self.repeated[key]

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
        return self._answer(key, sum(message["role"] == "tool" for message in body["messages"]))

    def _answer(self, key: str, steps: int) -> Response:
        fault = self.chance.random()
        if fault < 0.06:
            return refuses(429, headers={"retry-after": "0"})
        if fault < 0.10:
            return refuses(500)
        if fault < 0.13:
            return CutConnection()
        before, usage = self.charged, self._charge()
        if fault < 0.19:
            self.repeated[key] += self.charged - before
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


def booked(world: World) -> float:
    """Dollars of all attempts, as the store has them while they run."""
    if not (world.folder / "results" / "runs").exists():
        return 0.0
    return sum(item.cost_usd or 0.0 for item in world.attempts())


def results(world: World) -> dict[str, Any]:
    total: dict[str, Any] = json.loads(world.inline("results", "demo", "--format", "json").stdout)["total"]
    return total


def kill_while_answers_wait(world: World, till: Till, key: str, after: int) -> None:
    """Plays the run in two processes that start together, and kills the one that holds it once it waits for answers and
    has written down what it paid.
    """
    keys = [f"{key}-one", f"{key}-two"]
    till.most |= dict.fromkeys(keys, after)
    with (
        world.started("run", "run.yaml", STUB_KEY=keys[0]) as one,
        world.started("run", "run.yaml", STUB_KEY=keys[1]) as two,
    ):
        until(lambda: one.poll() is not None or two.poll() is not None, "one is refused or both have ended")
        refused, holder = (one, two) if one.poll() is not None else (two, one)
        refused_key, held_key = keys if refused is one else reversed(keys)
        assert (refused.returncode, till.answers[refused_key]) == (Exit.HELD, 0)

        def waits() -> bool:
            held = till.answers[held_key] >= after and till.waiting[held_key] > 0
            return holder.poll() is not None or (held and booked(world) >= till.to_book(held_key) - 1e-9)

        until(waits, "what was paid is written down, or the run ends")
        holder.kill()
        holder.wait(DEADLINE_S)
    till.lost = till.charged - booked(world)
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
            kill_while_answers_wait(world, till, f"round-{number}", after=chance.randint(0, 12))
            assert (results(world)["cost_usd"] or 0.0) == pytest.approx(till.charged - till.lost), (
                f"after kill {number}"
            )
        ended = world.inline("run", "run.yaml", STUB_KEY="last")
    assert ended.returncode in (Exit.OK, Exit.NOT_SCORED), ended.stderr
    total = results(world)
    assert total["cost_usd"] == pytest.approx(till.charged - till.lost)
    assert till.lost + 1e-9 >= 0
    assert till.lost <= sum(till.repeated.values()) + 1e-9
    assert total["total"] == TRIALS
    assert till.charged <= cap + CONCURRENCY * REPLIES_A_STEP * till.dearest
    unscored = TRIALS - total["passed"] - total["failed"]
    assert (ended.returncode == Exit.OK) == (unscored == 0)
