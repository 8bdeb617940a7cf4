"""An operator whose runs compare with large runs.

python -m tests.operator_io.large_baseline write FOLDER
python -m tests.operator_io.large_baseline read FOLDER

`write` puts baselines of 50,400 trials into a folder, in chunks. `read` reads them as the gates of six runs do that
start at once, two with each baseline, and prints as JSON in megabytes by how much memory grew at most (`peak`) and
until all were read (`kept`), and the number of scores in memory then (`scores`) and when all runs have ended (`left`).
Each has a process of its own, since what was written would count.
"""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import sys
from pathlib import Path

from devcluster.processes import until
from tests.operator_io.large import NOW, SPEC, run_record, trials_of
from tests.operator_io.large_operator import CONFIG

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import Cell, FinishCounts, ScoredAttempt, Timings, Usage, VerifierOutcome
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.gates.judge import Baseline
from opsgym_core.metrics.registry import Metrics, run_figures
from opsgym_core.results.compaction import put_chunk
from opsgym_core.results.rows import CellRows
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore
from opsgym_core.store.mounted import Stores
from opsgym_operator.memory import share_arenas
from opsgym_operator.observe.objects import StoredState
from opsgym_operator.plan.desired import Load
from opsgym_operator.state.final_figures import put_figures
from opsgym_operator.state.run_state import RunState

BASELINES = 3
RUNS = 6
CELLS_OF_CHUNK = 16


class FolderStores(Stores):
    """A store in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(CONFIG.store_by_name)
        self._store = LocalStore(folder)

    def get(self, name: str) -> Store:
        return self._store


def write(folder: Path) -> None:
    """Writes the baselines."""
    store, record = LocalStore(folder), run_record("release-0")
    cells = list(trials_of(record).items())
    for start in range(0, len(cells), CELLS_OF_CHUNK):
        chunk = cells[start : start + CELLS_OF_CHUNK]
        rows = [CellRows(cell, tuple(_row(cell, ref.task_id, ref.trial) for ref in refs), ()) for cell, refs in chunk]
        put_chunk(store, record.run, f"chunk-{start}", rows)
    put_figures(store, record.run, run_figures(AttemptLedger(0), {}, None), NOW)
    for number in range(BASELINES):
        named = run_record(f"release-{number}")
        if number:
            shutil.copytree(folder / "runs" / record.run, folder / "runs" / named.run)
        store.put(RunKeys(named.run).run_json, named.model_dump_json().encode())


def _row(cell: Cell, task_id: str, trial: int) -> ScoredAttempt:
    verifiers = tuple(
        VerifierOutcome(
            index=index, name=f"verifier {index}", verifier_type="state", category="integrity", executed=True,
            passed=True, published_passed=True,
        )
        for index in range(4)
    )  # fmt: skip
    return ScoredAttempt(
        cell=cell, task_id=task_id, trial=trial, attempt=0, outcome=Outcome.PASSED, score=1, published_score=1,
        verifiers=verifiers, usage=Usage(prompt_tokens=9000 + trial, completion_tokens=400), cost_usd=0.0123, steps=7,
        tool_calls=9, finish_reasons=FinishCounts(length=1), horizon=6, tags=("tag",),
        timings=Timings(started_at=NOW.isoformat(), model_s=12.5, tools_s=3.5, total_s=17.25),
    )  # fmt: skip


def _memory_mb(name: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(f"{name}:"))


def _forget_peak() -> float:
    """Lets the kernel measure the peak from now on; the memory that is resident."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return _memory_mb("VmRSS")


async def _grown(folder: Path) -> dict[str, float]:
    share_arenas()
    states = [_state(FolderStores(folder), number) for number in range(RUNS)]
    turns, baselines = states[0].turns, states[0].baselines
    gc.collect()
    before = _forget_peak()
    for state in states:
        state.turns, state.baselines = turns, baselines
        state.read([Load.BASELINE])
    while reads := [task for state in states for task in state._reading.values()]:
        await asyncio.wait(reads)
    peak, after = _memory_mb("VmHWM"), _memory_mb("VmRSS")
    compared = [state.baseline.scores for state in states if isinstance(state.baseline, Baseline)]
    assert [one and one.trials for one in compared] == [50_400] * RUNS
    del compared
    scores = len(baselines)
    for state in states:
        state.finish(NOW)
    # The thread that read the last scores lets go of them in its own time.
    await asyncio.to_thread(until, lambda: len(baselines) == 0, 10)
    return {"peak": peak - before, "kept": after - before, "scores": scores, "left": len(baselines)}


def _state(stores: Stores, number: int) -> RunState:
    gate = {"baseline": f"release-{number % BASELINES}", "maxRegression": 0.1}
    state = RunState(
        id=f"team.run-{number}.uid", spec=EvalRunSpec.model_validate(SPEC | {"gate": gate}), store="results",
        stores=stores, metrics=Metrics(), since=NOW, enqueue=lambda: None, baseline_namespaces=frozenset({"team"}),
    )  # fmt: skip
    state.stored = StoredState(None, None, None, None, AttemptLedger(2))
    return state


def main() -> None:
    """Writes or reads."""
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "write":
        write(folder)
    else:
        sys.stdout.write(json.dumps(asyncio.run(_grown(folder))) + "\n")


if __name__ == "__main__":
    main()
