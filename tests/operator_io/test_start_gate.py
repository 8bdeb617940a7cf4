"""The start gate in the store is that of the leader, whatever an earlier one wrote late."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.material import CELL
from tests.operator_io.test_isolation import SPEC, Namespace

from opsgym_api.records.run import Control, PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.state import run_state as run_state_module

RUN = "team.first.uid-first"
KEY = RunKeys(RUN).control_json


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        yield served


def test_a_start_gate_that_an_earlier_leader_wrote_late_is_written_again(
    server: ApiServer, stores: Stores, config: OperatorConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_state_module, "CONTROL_S", 0.0)
    store = stores.get("results")
    record = RunRecord(
        run=RUN, name="first", spec=SPEC, task_ids=["task-0"], cells=[PlannedCell(cell=CELL, task_ids=["task-0"])],
        suite_digest="d", opsgym="0", created_at="2026-11-22T11:00:00Z",
    )  # fmt: skip
    store.put(RunKeys(RUN).run_json, record.model_dump_json().encode())
    namespace = Namespace(server, stores, config)
    namespace.apply("first", {**SPEC, "suspend": True})
    late = [Control().model_dump_json().encode()]

    def closed() -> bool:
        content = store.get(KEY)
        return content is not None and not Control.model_validate_json(content).start

    def closed_again() -> bool:
        if late and closed():
            store.put(KEY, late.pop())
        return not late and closed()

    namespace.reconcile(closed_again)
