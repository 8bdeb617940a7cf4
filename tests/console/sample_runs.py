"""A store with runs of several kinds: running, finished, with gate verdicts, and stopped."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.cli.runs import put_attempt, put_run, put_trial
from tests.console.harness import at

from opsgym_api.records.attempt import Cell, Timings
from opsgym_api.records.gate import GateRecord, Verdict
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import Store

TASKS = [f"itsm-{number:03}" for number in range(1, 31)]


@dataclass(frozen=True)
class Sample:
    """A run of the picture."""

    run: str
    hours: float
    """How long ago it started."""
    rates: dict[str, float]
    """Success of each model."""
    suite: str = "itsm-core"
    schedule: str = ""
    verdict: Verdict | None = None
    ended: float = 1.0
    """Share of its trials that are over."""


SAMPLES: Sequence[Sample] = (
    Sample("nightly.7c41e09a", 0.3, {"gpt-5": 0.63, "sonnet": 0.6}, schedule="nightly", ended=0.55),
    Sample("nightly.5be2d213", 24.3, {"gpt-5": 0.42, "sonnet": 0.58}, schedule="nightly", verdict="NO-GO"),
    Sample("release-check.e07f5521", 29, {"gpt-5": 0.66}, suite="opsgym-1150", verdict="INCONCLUSIVE"),
    Sample("nightly.19a0c3f8", 48.3, {"gpt-5": 0.64, "sonnet": 0.58}, schedule="nightly", verdict="GO"),
    Sample("prompt-tries.2d6b7740", 75, {"haiku": 0.31, "haiku-planned": 0.45}, suite="csm-core", ended=0.7),
    Sample("nightly.f3380b6e", 72.3, {"gpt-5": 0.6, "sonnet": 0.55}, schedule="nightly", verdict="GO"),
)


def fill(store: Store) -> None:
    """Writes the sample runs."""
    for sample in SAMPLES:
        _write(store, sample)


def _write(store: Store, sample: Sample) -> None:
    started = datetime.now(UTC) - timedelta(hours=sample.hours)
    draw = random.Random(sample.run)
    plan = [
        PlannedCell(cell=Cell(model=model, agent="react", mode="oracle", domain="itsm"), task_ids=TASKS)
        for model in sample.rates
    ]
    gate = {"gate": {"minSuccessRate": 0.5}} if sample.verdict else {}
    spec = {"suite": {"builtin": sample.suite}, **gate}
    put_run(store, sample.run, plan, created_at=started.isoformat(), schedule=sample.schedule, spec=spec)
    for cell, rate in zip(plan, sample.rates.values(), strict=True):
        for position, task_id in enumerate(TASKS):
            if position >= sample.ended * len(TASKS):
                if position < sample.ended * len(TASKS) + 3 and sample.hours < 1:
                    put_attempt(store, sample.run, task_id, None, cell=cell.cell, timings=at())
                continue
            outcome = Outcome.PASSED if draw.random() < rate else Outcome.FAILED
            timings = Timings(
                started_at=(started + timedelta(seconds=20 * position)).isoformat(), total_s=18 + 40 * draw.random()
            )
            cost = round(0.02 + 0.05 * draw.random(), 4)
            put_trial(
                store,
                sample.run,
                task_id,
                outcome,
                cell.cell,
                timings=timings,
                cost_usd=cost,
                steps=draw.randint(3, 14),
            )
    if sample.verdict is not None:
        record = GateRecord(run=sample.run, verdict=sample.verdict, checks=[], decided_at=datetime.now(UTC).isoformat())
        store.put(RunKeys(sample.run).gate_json, record.model_dump_json().encode())
