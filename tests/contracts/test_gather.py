"""Reading a run's single records takes no more memory than the rows that are kept of them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.large_run import RUN, put_large_run

from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import CHUNK_ROWS, gather
from opsgym_core.store.location import open_store


class _Cycle:
    """Garbage that only the search for reference cycles finds."""

    def __init__(self, alive: list[None]) -> None:
        self.itself, self.alive = self, alive
        alive.append(None)

    def __del__(self) -> None:
        self.alive.pop()


def test_what_a_client_leaves_of_its_requests_is_freed_meanwhile(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    put_large_run(store, cells=5, tasks=CHUNK_ROWS // 2)
    record = RunRecord.model_validate_json(store.get(RunKeys(RUN).run_json) or b"")
    alive: list[None] = []
    most = 0

    class Littering:
        """The store, with a client like boto3, which leaves a cycle with each object."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def get(self, key: str) -> bytes | None:
            nonlocal most
            _Cycle(alive)
            most = max(most, len(alive))
            return store.get(key)

    _, loose = gather(Littering(), RUN, record)  # type: ignore[arg-type]
    assert sum(len(cell.trials) for cell in loose.rows()) == 5 * CHUNK_ROWS // 2
    assert most <= 2 * CHUNK_ROWS
