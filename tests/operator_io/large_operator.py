"""An operator with a large run in memory, between an API server in memory and a store that hangs.

python -m tests.operator_io.large_operator

prints as JSON: resident memory in megabytes; CPU seconds of a reconcile, those of a fixed amount of work at the same
moments (`yardstick_s`), and the requests of reconciles, when nothing has changed. It has a process of its own, since
the memory of other tests makes the collector of a reconcile's garbage slower.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.operator_io.large import (
    NOW,
    SPEC,
    UID,
    MemoryServer,
    evalrun,
    fill,
    run_record,
    suite_index,
    trials_of,
)
from tests.operator_io.large import attempt as attempt_at

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.run import RunRecord
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.kube.client import EVALRUNS, JOBS, PODS, Client
from opsgym_core.metrics.registry import Metrics, RunFigures
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.observation import Memos, snapshot_of
from opsgym_operator.controller.reconciler import NamespaceReconciler
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observe.objects import StoredState, parse_indexes, planned_trials
from opsgym_operator.state.harvest import PodHarvester
from opsgym_operator.state.run_state import RunState

CONFIG = OperatorConfig.model_validate(
    {
        "stores": [{"name": "results", "url": "s3://bucket"}],
        "defaultStore": "results",
        "images": {"runner": "runner:1", "domains": "domains:1"},
    }
)


class HangingStores(Stores):
    """Stores that never answer, so that chunks stay due and no Job goes."""

    def __init__(self) -> None:
        super().__init__(CONFIG.store_by_name)

    async def call(self, *_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()


@dataclass
class LargeOperator:
    """An operator that has read the run."""

    cache: ObjectCache
    server: MemoryServer
    metrics: Metrics
    reconciler: NamespaceReconciler

    async def reconcile(self) -> float:
        """Reconciles once; returns its CPU seconds."""
        began = time.process_time()
        await self.reconciler.reconcile_once()
        return time.process_time() - began


def large_operator(*, ended_jobs: int, pods: int, ended_trials: int = 0) -> LargeOperator:
    """An operator with the run of 840 cells.

    Args:
        ended_jobs: Jobs that have ended; each cell has one more that runs.
        pods: Pods of each Job.
        ended_trials: Trials that ended in Jobs that are gone.
    """
    cache, metrics, stores = ObjectCache(lambda _: None), Metrics(), HangingStores()
    server, record = MemoryServer(cache), run_record()
    client = cast("Client", server)
    context = ControllerContext(client, cache, stores, CONFIG, metrics, since=NOW, now=lambda: NOW)
    reconciler = NamespaceReconciler("team", context)
    ledger = AttemptLedger(2)
    harvester = PodHarvester(record.run, "results", ledger, stores, metrics, NOW)
    for done in fill(cache, record, ended=ended_jobs, pods=pods):
        ledger.record(done)
    _end_trials(record, ledger, ended_trials)
    for job in cache.objects(JOBS, "team"):
        indexes = parse_indexes(job["status"].get("completedIndexes", ""))
        harvester._harvested_indexes[job["metadata"]["name"]].update(indexes)
    state = RunState(
        id=record.run, spec=EvalRunSpec.model_validate(SPEC), store="results", stores=stores, metrics=metrics,
        since=NOW, enqueue=lambda: None, baseline_namespaces=frozenset(),
    )  # fmt: skip
    state.harvester, state.stored = harvester, StoredState(record, suite_index(), None, None, ledger)
    reconciler._states[UID] = state
    cache.record_write(EVALRUNS, evalrun())
    return LargeOperator(cache, server, metrics, reconciler)


def _end_trials(record: RunRecord, ledger: AttemptLedger, count: int) -> None:
    trials = ((cell, ref) for cell, refs in trials_of(record).items() for ref in refs)
    for _, (cell, ref) in zip(range(count), trials, strict=False):
        ledger.record(attempt_at(cell, ref))


def _add_ended_run(operator: LargeOperator, name: str) -> None:
    """A run of the same size that has ended and whose figures were read."""
    record = run_record(name, f"uid-{name}")
    succeeded = {
        "type": "Succeeded", "status": "True", "reason": "Complete", "message": "", "observedGeneration": 1,
        "lastTransitionTime": "2026-11-22T11:50:00Z",
    }  # fmt: skip
    ended = evalrun(name, f"uid-{name}", conditions=[succeeded], finishedAt="2026-11-22T11:50:00Z", phase="Complete")
    operator.cache.record_write(EVALRUNS, ended)
    state = operator.reconciler._state(snapshot_of(operator.cache, "team", Memos()).runs[f"uid-{name}"])
    assert state is not None
    trials = planned_trials(record)
    state._ended_figures = RunFigures({cell: {"passed": total} for cell, total in trials.items()}, 1.0, 500.0, None)


def resident_mb() -> float:
    """Resident memory of this process in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


def _yardstick_s() -> float:
    began = time.process_time()
    texts = {str(number): number for number in range(100_000)}
    assert sum(texts[str(number)] for number in range(100_000)) > 0
    return time.process_time() - began


async def _measured() -> dict[str, float]:
    operator = large_operator(ended_jobs=500, pods=4, ended_trials=50_000)
    for number in range(5):
        _add_ended_run(operator, f"ended-{number}")
    for _ in range(2):
        await operator.reconcile()
    operator.server.requests.clear()
    pairs = [(await operator.reconcile(), _yardstick_s()) for _ in range(7)]
    reconcile_s, yardstick_s = min(pairs, key=lambda pair: pair[0] / pair[1])
    operator.metrics.text()
    gc.collect()
    return {
        "megabytes": round(resident_mb()),
        "reconcile_s": reconcile_s,
        "yardstick_s": yardstick_s,
        "requests": sum(operator.server.requests.values()),
        "jobs": len(operator.cache.objects(JOBS, "team")),
        "pods": len(operator.cache.objects(PODS, "team")),
    }


def main() -> None:
    """Measures."""
    sys.stdout.write(json.dumps(asyncio.run(_measured())) + "\n")


if __name__ == "__main__":
    main()
