"""Dependencies of a run fail and recover: nothing is lost, nothing is scored twice, no user has to intervene."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from devcluster.places import NODE_IP
from tests.cluster.conftest import S3
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, condition_of, evalrun, operating

from opsgym_core.results.score import RunResults

pytestmark = pytest.mark.timeout(900)

OUTAGE_S = 60
"""How long the store is away."""
OURS = "app.kubernetes.io/managed-by=opsgym-operator"


def begin(operator: Operator, model: HeldModel, kube: Kube, tasks: int, **spec: Any) -> None:
    """Starts a run, and returns when two of its episodes wait for their model."""
    model.hold()
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=2)}]
    kube.create(
        evalrun(operator.namespace, "r", suite={"builtin": "quickstart", "limit": tasks}, models=models, **spec)
    )
    operator.wait(lambda: model.requests >= 2, "has not begun two episodes", 240)


def lead(cluster: Cluster) -> None:
    """Does what losing their leadership does to them: here they are the only ones, and would pause for a minute."""
    for name in ("controller-manager", "scheduler"):
        cluster.restart(name)


def complete(operator: Operator, kube: Kube, tasks: int) -> RunResults:
    """Waits for the end, and checks that every trial is scored once and nothing is left running."""
    run = operator.await_end("r", 400)
    assert condition_of(run, "Succeeded")["status"] == "True", run["status"]
    assert run["status"]["progress"] == f"{tasks}/{tasks}"
    results = operator.results("r")
    assert len({trial.task_id for trial in results.trials}) == len(results.trials) == tasks
    scored = Counter(item.task_id for item in results.attempts if item.outcome is not None and item.outcome.scored)
    assert set(scored.values()) == {1}, "a trial was scored twice"
    assert operator.metrics()["opsgym_trials_total"] == tasks
    operator.wait(lambda: not operator.pods(), "left pods behind")
    jobs = {job["metadata"]["name"] for job in kube.list("Job", operator.namespace)}
    orders = {item["metadata"]["name"] for item in kube.list("ConfigMap", operator.namespace, OURS)}
    assert orders <= jobs, "an order has no Job"
    return results


def test_a_run_survives_restarts_of_the_api_server_and_of_etcd(
    operator: Operator, model: HeldModel, kube: Kube, cluster: Cluster
) -> None:
    begin(operator, model, kube, 3)
    cluster.stop("apiserver")
    try:
        # An episode ends while the API server is down.
        model.hold(after=1)
        operator.wait(lambda: model.answered == 1, "has not gone on without API server")
        assert operator.ask("/healthz") == 200
    finally:
        cluster.start("apiserver")
    lead(cluster)
    operator.wait(lambda: model.requests >= 3, "has not begun another episode", 120)
    cluster.stop("etcd")
    try:
        model.hold(after=1)
        operator.wait(lambda: model.answered == 2, "has not gone on without etcd")
        assert operator.ask("/healthz") == 200
    finally:
        cluster.start("etcd")
        cluster.await_ready("apiserver")
    lead(cluster)
    model.release()
    results = complete(operator, kube, 3)
    assert len(results.attempts) == 3, "a trial was run twice"


def test_a_run_survives_a_store_that_refuses_for_a_minute(
    operator: Operator, model: HeldModel, kube: Kube, cluster: Cluster
) -> None:
    # With a budget the operator, too, has business with the store while episodes go on.
    begin(operator, model, kube, 3, budget={"maxUsd": 5})
    cluster.stop("s3")
    try:
        back = time.monotonic() + OUTAGE_S
        model.release()
        assert operator.s3.url in operator.await_condition("r", "Stalled", "True", "StoreUnreachable")
        operator.wait(lambda: time.monotonic() > back, "has died", 2 * OUTAGE_S)
        assert operator.ask("/healthz") == 200
        assert condition_of(operator.run("r"), "Succeeded")["status"] == "Unknown"
    finally:
        cluster.start("s3")
    complete(operator, kube, 3)
    assert condition_of(operator.run("r"), "Stalled")["status"] == "False"


@pytest.mark.soak  # a store that refuses for a minute is met in the same way
def test_a_store_that_is_out_of_reach_is_named_and_awaited(
    task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path
) -> None:
    wrong = {
        "name": "results",
        "url": s3.url,
        "endpointUrl": f"http://{NODE_IP}:1",
        "region": s3.region,
        "secret": s3.secret,
    }
    with operating(namespace, s3, tmp_path, kube, stores=[wrong]) as operator:
        kube.create(evalrun(namespace, "r", suite={"builtin": "quickstart", "limit": 1}))

        def store_is_reported_unreachable() -> bool:
            assert operator.ask("/readyz") == 200, "a run whose store is not read yet hides the metrics of all"
            return condition_of(operator.run("r"), "Stalled").get("reason") == "StoreUnreachable"

        operator.wait(store_is_reported_unreachable, "does not report that the store is unreachable")
        message = operator.await_condition("r", "Stalled", "True", "StoreUnreachable")
        assert s3.url in message
        assert s3.secret_access_key not in message
        # What `helm upgrade` does; the run itself is not touched.
        operator.stop()
        operator.config.clear()
        operator.start()
        operator.await_condition("r", "Succeeded", "True", seconds=240)
    assert [trial.trial for trial in operator.results("r").trials] == [0]
