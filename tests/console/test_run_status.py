"""Status of runs, on one machine and in a cluster."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.cli.runs import put_attempt
from tests.console.harness import Running, at

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_console.server.evalruns import ClusterRun, cluster_run
from opsgym_console.server.incremental_reader import IncrementalReader
from opsgym_console.server.run_status import QUIET, RunStatus, cluster_state, run_status
from opsgym_core.results.load import load_record
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore

GATE = GateRecord(run="demo.1", verdict="GO", checks=[], decided_at="2026-01-01T00:00:00Z")


@pytest.fixture
def run(store: LocalStore) -> Running:
    return Running.begin(store, "demo.1", "a", "b", "c", models=["gpt"])


def _status(
    run: Running, evalrun: ClusterRun | None = None, *, after: timedelta = timedelta(0), in_cluster: bool = False,
    gate: GateRecord | None = None, spec: dict[str, object] | None = None,
) -> RunStatus:  # fmt: skip
    record = load_record(run.store, run.run)
    reading = IncrementalReader(record if spec is None else record.model_copy(update={"spec": spec}))
    reading.read_new(run.store)
    total = summarise(reading.rows).total
    return run_status(reading.rows, total, gate, evalrun, datetime.now(UTC) + after, in_cluster=in_cluster)


def _evalrun(phase: str, message: str = "") -> ClusterRun:
    status = {
        "phase": phase,
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "reason": "X",
                "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
            for kind in ("Accepted", "Stalled", "Progressing")
        ],
    }
    metadata = {"name": "demo", "namespace": "evals", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return cluster_run({"metadata": metadata, "spec": {}, "status": status})


def test_a_run_whose_records_change_is_running_and_says_how_many_attempts_are(run: Running) -> None:
    run.end("a")
    run.start("b")
    status = _status(run)
    assert (status.state, status.running, status.live, status.complete) == ("running", 1, True, False)
    assert status.message == "1 trial running, 1 waiting"


def test_a_trial_with_a_score_does_not_run_though_its_attempt_has_not_ended(run: Running) -> None:
    run.end("a")
    run.start("a")
    run.start("b")
    assert _status(run).message == "1 trial running, 1 waiting"


def test_a_run_that_has_been_silent_for_long_has_been_stopped(run: Running) -> None:
    run.end("a")
    run.start("b")
    status = _status(run, after=QUIET + timedelta(minutes=1))
    assert (status.state, status.running, status.live) == ("stopped", 0, False)
    assert "2 trials left" in status.message


def test_a_run_with_every_trial_ended_is_finished_but_complete_only_if_all_are_scored(run: Running) -> None:
    run.end("a")
    run.end("b")
    put_attempt(run.store, run.run, "c", Outcome.INFRA_ERROR, reason="gym_lost", cell=run.plan[0].cell, timings=at())
    assert (_status(run).state, _status(run).complete) == ("finished", False)
    run.end("c")
    assert (_status(run).state, _status(run).complete) == ("finished", True)


def test_a_run_with_a_gate_is_complete_once_the_gate_has_decided(run: Running) -> None:
    for task_id in ("a", "b", "c"):
        run.end(task_id)
    spec: dict[str, object] = {"gate": {"minSuccessRate": 0.5}}
    assert not _status(run, spec=spec).complete
    assert _status(run, spec=spec, gate=GATE).complete


@pytest.mark.parametrize(
    ("phase", "state", "live"),
    [
        ("Pending", "waiting", True),
        ("Running", "running", True),
        ("Stalled", "stalled", True),
        ("Suspended", "stopped", False),
        ("Complete", "finished", False),
        ("Failed", "finished", False),
    ],
)
def test_in_a_cluster_the_evalrun_says_how_it_stands(run: Running, phase: str, state: str, live: bool) -> None:
    run.start("a")
    status = _status(run, _evalrun(phase, "free a node"), in_cluster=True)
    assert (status.state, status.live, status.message) == (state, live, "free a node")
    assert cluster_state(_evalrun(phase)) == state


def test_a_clusters_run_whose_evalrun_is_gone_is_not_live(run: Running) -> None:
    run.start("a")
    assert _status(run, in_cluster=True).state == "stopped"
    for task_id in ("a", "b", "c"):
        run.end(task_id)
    assert _status(run, in_cluster=True).state == "finished"
