"""What users do to runs while they are under way, and what runs do to each other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from devcluster.kube import Kube
from tests.cluster.faults import sampled
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, condition_of, evalrun, opsgym

from opsgym_api.records.outcomes import Outcome

pytestmark = pytest.mark.timeout(1800)

TASK_PODS = {"opsgym.dev/role": "task"}


def run_of(operator: Operator, model: HeldModel, name: str, tasks: int, **spec: Any) -> dict[str, Any]:
    models = [{"name": "held", "inline": model.inline()}]
    return evalrun(operator.namespace, name, suite={"builtin": "quickstart", "limit": tasks}, models=models, **spec)


def scored(operator: Operator, name: str) -> int:
    return int(operator.run(name).get("status", {}).get("progress", "0/0").split("/")[0])


def test_suspending_stops_pods_and_resuming_runs_only_the_rest(
    operator: Operator, model: HeldModel, kube: Kube, tmp_path: Path
) -> None:
    model.hold(after=1)
    kube.create(run_of(operator, model, "r", 2))
    operator.wait(lambda: scored(operator, "r") == 1 and model.requests >= 2, "has not scored one and begun two", 240)
    (first,) = operator.results("r").trials

    held = next(task for task in operator.results("r").run.task_ids if task != first.task_id)
    assert "running" in opsgym(operator, tmp_path, "status", "r")
    assert "attempt 0 has not ended" in opsgym(operator, tmp_path, "why", "r", f"{held}/0")
    logged = {line.partition(":")[0] for line in opsgym(operator, tmp_path, "logs", "r", f"{held}/0").splitlines()}
    assert logged & {"agent", "postgres"}

    kube.patch("EvalRun", "r", operator.namespace, {"spec": {"suspend": True}})
    operator.await_condition("r", "Progressing", "False", "Suspended")
    operator.wait(lambda: not operator.pods("r"), "still has pods", 90)
    stopped = operator.results("r")
    assert [trial.task_id for trial in stopped.trials] == [first.task_id]

    model.release()
    kube.patch("EvalRun", "r", operator.namespace, {"spec": {"suspend": False}})
    run = operator.await_end("r", 300)
    assert run["status"]["progress"] == "2/2"
    ended = operator.results("r")
    assert first in ended.trials
    assert Counter(attempt.task_id for attempt in ended.attempts)[first.task_id] == 1
    assert all(attempt.outcome is not None for attempt in ended.attempts)


def test_deleting_a_run_leaves_its_results_and_nothing_else(operator: Operator, model: HeldModel, kube: Kube) -> None:
    model.hold(after=1)
    manifest = run_of(operator, model, "r", 2)
    kube.create(manifest)
    operator.wait(lambda: scored(operator, "r") == 1 and model.requests >= 2, "has not scored one and begun two", 240)
    kube.delete("EvalRun", "r", operator.namespace)
    managed = "app.kubernetes.io/managed-by=opsgym-operator"
    operator.wait(
        lambda: not any(kube.list(kind, operator.namespace, managed) for kind in ("Pod", "Job", "ConfigMap")),
        "still has objects of a deleted run",
        120,
    )
    before = operator.results("r")
    assert len(before.trials) == 1

    model.release()
    kube.create(manifest)
    operator.await_end("r", 300)
    again = operator.results("r")
    assert again.run.run != before.run.run
    assert len(again.trials) == 2
    assert operator.metrics()["opsgym_run_progress_ratio"] == 1


def finished(operator: Operator) -> bool:
    return "finishedAt" in operator.run("r").get("status", {})


def pod_phases(kube: Kube, operator: Operator) -> frozenset[tuple[str, str]]:
    """Pods of the namespace with their phases."""
    pods = kube.list("Pod", operator.namespace)
    return frozenset((pod["metadata"]["name"], pod.get("status", {}).get("phase", "")) for pod in pods)


def test_a_run_survives_an_operator_that_is_killed_again_and_again(operator: Operator, kube: Kube) -> None:
    kube.create(evalrun(operator.namespace, "r", trials=2))
    seen: set[frozenset[tuple[str, str]]] = set()
    for _ in range(6):
        # A kill after every change that the operator or its pods make, so that each step of a run is interrupted.
        operator.wait(lambda: pod_phases(kube, operator) not in seen or finished(operator), "makes no progress", 120)
        seen.add(pod_phases(kube, operator))
        operator.kill()
        operator.start()
    operator.await_end("r", 600)
    results = operator.results("r")
    assert len(results.trials) == 4
    tries = Counter((attempt.task_id, attempt.trial) for attempt in results.attempts)
    assert set(tries.values()) == {1}, "a trial was run twice"
    assert all(trial.outcome is Outcome.PASSED for trial in results.trials)
    operator.wait(lambda: not operator.pods(), "left pods behind")


def test_runs_share_a_models_ceiling_and_neither_starves(operator: Operator, model: HeldModel, kube: Kube) -> None:
    metadata = {"name": "shared", "namespace": operator.namespace}
    kind = {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalModel"}
    kube.create({**kind, "metadata": metadata, "spec": model.inline(maxConcurrency=2)})
    shared = [{"name": "shared", "ref": "shared"}]
    # More than a chunk, which is 5 × 2: a live Job keeps its slots, so the second run waits for one chunk at most.
    suite = {"builtin": "quickstart", "limit": 7}
    with sampled(operator.namespace) as samples:
        kube.create(evalrun(operator.namespace, "first", suite=suite, trials=2, models=shared))
        operator.wait(lambda: len(operator.pods("first")) == 2, "has not begun", 120)
        kube.create(evalrun(operator.namespace, "second", suite={"builtin": "quickstart", "limit": 2}, models=shared))
        operator.await_end("second", 900)
        left = 14 - scored(operator, "first")
        operator.await_end("first", 600)
    assert left > 0, "the second run had to wait for all of the first"
    assert max(samples.running(TASK_PODS)) == 2
    assert model.most <= 2


@pytest.mark.soak  # the plan keeps it in tests/operator/plan, many processes in tests/soak
def test_a_budget_is_kept_and_the_rest_is_skipped(operator: Operator, model: HeldModel, kube: Kube) -> None:
    kube.create(run_of(operator, model, "r", 6, budget={"maxUsd": 0.15}))
    run = operator.await_end("r", 400)
    results = operator.results("r")
    spent = sum(attempt.cost_usd or 0 for attempt in results.attempts)
    assert 0.1 <= spent <= 0.15 + 2 * 0.1 + 1e-9
    assert condition_of(run, "Succeeded")["status"] == "True"
    # A pod that starts while the rest of the budget is reserved skips its trial, which may run later and be scored.
    scored = {trial.task_id for trial in results.trials}
    skipped = {attempt.task_id for attempt in results.attempts if attempt.outcome is Outcome.BUDGET_SKIPPED} - scored
    assert len(skipped) + len(scored) == 6
    assert len(skipped) >= 3
    assert operator.metrics()["opsgym_run_cost_usd"] == pytest.approx(spent)
