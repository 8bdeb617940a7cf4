"""EvalRuns on a real cluster, with real pods and models that replay calls: they end, and score as on one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from tests.cluster.operator.world import ROOT, Operator, condition_of, evalrun

from opsgym_core.results.load import find_run, load_run
from opsgym_core.results.score import RunResults
from opsgym_core.store.location import open_store

pytestmark = pytest.mark.timeout(1500)

RECORDING = ROOT / "examples" / "recordings" / "mixed.jsonl"
TASKS, TRIALS = 4, 2
"""The recording solves half of these tasks."""


def quickstart(namespace: str) -> dict[str, Any]:
    models = [
        {"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 2}},
        {
            "name": "mixed",
            "inline": {
                "model": "replay/recordings/mixed.jsonl",
                "maxConcurrency": 2,
                "prices": {"inputUsd": 0.10, "outputUsd": 0.40},
            },
        },
    ]
    return evalrun(
        namespace,
        "quickstart",
        suite={"builtin": "quickstart", "limit": TASKS},
        models=models,
        trials=TRIALS,
        trialsPerPod=TASKS,
        limits={"taskTimeoutSeconds": 600},
    )


def local_run(folder: Path, manifest: Mapping[str, Any]) -> RunResults:
    """The same run on this machine."""
    (folder / "recordings").mkdir()
    (folder / "recordings" / "mixed.jsonl").write_bytes(RECORDING.read_bytes())
    document = {**manifest, "metadata": {"name": manifest["metadata"]["name"]}}
    (folder / "run.yaml").write_text(yaml.safe_dump(document))
    command: list[str | Path] = [Path(sys.executable).with_name("opsgym"), "run", "run.yaml", "--store", "results"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    store = open_store(str(folder / "results"))
    return load_run(store, find_run(store, "quickstart"))


def scores(results: RunResults) -> dict[tuple[str, str, int], Any]:
    """What decides a score of each trial, verifier by verifier."""
    return {
        (trial.cell.key, trial.task_id, trial.trial): (
            trial.outcome,
            trial.reason,
            trial.published_score,
            [(result.index, result.name, result.executed, result.passed) for result in trial.verifiers],
        )
        for trial in results.trials
    }


def test_the_quickstart_scores_in_pods_as_it_does_on_one_machine(
    operator: Operator, kube: Kube, cluster: Cluster, tmp_path: Path
) -> None:
    manifest = quickstart(operator.namespace)
    metadata = {"name": "recordings", "namespace": operator.namespace}
    recordings = {"mixed.jsonl": RECORDING.read_text()}
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": recordings})
    kube.create(manifest)
    run = operator.await_end("quickstart", 1200)

    assert condition_of(run, "Succeeded")["status"] == "True", run["status"]
    assert run["status"]["progress"] == f"{2 * TASKS * TRIALS}/{2 * TASKS * TRIALS}"
    results = operator.results("quickstart")
    assert len(results.trials) == 2 * TASKS * TRIALS
    here = scores(local_run(tmp_path, manifest))
    assert scores(results) == here
    assert 0 < sum(score[0] == "failed" for score in here.values()) < len(here)
    events = json.loads(cluster.kubectl("get", "events", "-n", operator.namespace, "-o", "json").stdout)
    reasons = {event["reason"] for event in events["items"] if event["involvedObject"]["kind"] == "EvalRun"}
    assert {"Accepted", "PreflightRunning", "JobsCreated", "Complete"} <= reasons
    counted = operator.metrics()
    assert counted["opsgym_trials_total"] == 2 * TASKS * TRIALS
    assert counted["opsgym_cost_usd_total"] == pytest.approx(sum(trial.cost_usd or 0 for trial in results.trials))
