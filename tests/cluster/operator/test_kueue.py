"""Runs in queues of a real Kueue: it decides when their pods start, and everything else stays as it is without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from devcluster import kueue
from devcluster.cluster import Cluster
from devcluster.kube import Kube, Manifest
from devcluster.kueue import API
from devcluster.places import ADMIN
from devcluster.processes import until
from tests.cluster.faults import sampled
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, evalrun

from opsgym_api.records.outcomes import Outcome

pytestmark = pytest.mark.timeout(600)

ONE_TASK = {"builtin": "quickstart", "limit": 1}
PLENTY = ("cpu", "memory")
"""What pods request besides their number; a queue admits only what it has a quota for."""


@pytest.fixture(scope="module")
def queueing(cluster: Cluster) -> Iterator[None]:
    """Kueue while the tests of this module run."""
    with Kube(ADMIN) as kube, kueue.installed(cluster, kube):
        kube.create({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "any-node"}})
        yield
        for kind in ("ClusterQueue", "ResourceFlavor", "WorkloadPriorityClass"):
            for item in kube.list(kind):
                kube.delete(kind, item["metadata"]["name"])
        left = ("Workload", "ClusterQueue", "ResourceFlavor")
        assert until(lambda: not any(kube.list(kind) for kind in left), 60), "Kueue holds on to its objects"


@dataclass
class Queues:
    """Queues of the test's namespace, with a quota of pods each."""

    kube: Kube
    namespace: str
    names: list[str] = field(default_factory=list)

    def create(self, name: str, pods: int, **spec: Any) -> None:
        """A LocalQueue, and a ClusterQueue for it alone."""
        cluster_queue = {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": self._cluster_queue(name)}}
        self.kube.create({**cluster_queue, "spec": {"namespaceSelector": {}, **self._quota(pods), **spec}})
        metadata = {"name": name, "namespace": self.namespace}
        local_queue = {"apiVersion": API, "kind": "LocalQueue", "metadata": metadata}
        self.kube.create({**local_queue, "spec": {"clusterQueue": self._cluster_queue(name)}})

    def set_quota(self, name: str, pods: int) -> None:
        """Changes how many pods a queue admits."""
        self.kube.patch("ClusterQueue", self._cluster_queue(name), None, {"spec": self._quota(pods)})

    def workloads(self) -> list[Manifest]:
        """What Kueue has queued or admitted."""
        return self.kube.list("Workload", self.namespace)

    def _cluster_queue(self, name: str) -> str:
        return f"{self.namespace}-{name}"

    def _quota(self, pods: int) -> dict[str, Any]:
        quotas = [{"name": name, "nominalQuota": "1000Gi"} for name in PLENTY]
        flavor = {"name": "any-node", "resources": [*quotas, {"name": "pods", "nominalQuota": pods}]}
        return {"resourceGroups": [{"coveredResources": [*PLENTY, "pods"], "flavors": [flavor]}]}


@pytest.fixture
def queues(queueing: None, operator: Operator, kube: Kube) -> Queues:
    return Queues(kube, operator.namespace)


@contextmanager
def priority_classes(kube: Kube, **values: int) -> Iterator[None]:
    """Priorities of workloads while the context is open."""
    kind = "WorkloadPriorityClass"
    for name, value in values.items():
        kube.create({"apiVersion": API, "kind": kind, "metadata": {"name": name}, "value": value})
    try:
        yield
    finally:
        for name in values:
            kube.delete(kind, name)


def test_a_queue_and_a_priority_that_are_not_there_are_named_and_a_run_that_waits_takes_no_slot_of_its_model(
    operator: Operator, queues: Queues, kube: Kube
) -> None:
    metadata = {"name": "shared", "namespace": operator.namespace}
    spec = {"model": "replay/gold", "maxConcurrency": 1}
    kube.create({"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalModel", "metadata": metadata, "spec": spec})
    fields: dict[str, Any] = {"suite": ONE_TASK, "models": [{"name": "shared", "ref": "shared"}]}
    kube.create(evalrun(operator.namespace, "waiting", **fields, queueName="team", queuePriorityClass="urgent"))
    assert "unknown LocalQueue 'team'" in operator.await_condition("waiting", "Accepted", "False", "QueueNotFound")
    queues.create("team", 0)
    message = operator.await_condition("waiting", "Accepted", "False", "PriorityClassNotFound")
    assert "unknown WorkloadPriorityClass 'urgent'" in message
    with priority_classes(kube, urgent=100):
        waits = operator.await_condition("waiting", "Progressing", "True", "WaitingForQueue", seconds=120)
        assert "team" in waits
        assert operator.pods("waiting") == []
        [workload] = queues.workloads()
        assert workload["spec"]["priority"] == 100

        with sampled(operator.namespace) as samples:
            kube.create(evalrun(operator.namespace, "working", **fields))
            operator.await_condition("working", "Succeeded", "True", seconds=300)
            assert operator.run("waiting")["status"]["progress"] == "0/1"
            queues.set_quota("team", 1)
            operator.await_condition("waiting", "Succeeded", "True", seconds=400)
    assert max(samples.running({"opsgym.dev/role": "task"})) == 1, "the model's ceiling"


def test_an_urgent_run_preempts_another_which_then_goes_on(
    operator: Operator, queues: Queues, model: HeldModel, kube: Kube
) -> None:
    with priority_classes(kube, urgent=100, nightly=1):
        queues.create("team", 1, preemption={"withinClusterQueue": "LowerPriority"})
        model.hold()
        slow: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
        place = {"suite": ONE_TASK, "queueName": "team"}
        kube.create(evalrun(operator.namespace, "slow", **place, models=slow, queuePriorityClass="nightly"))
        operator.wait(lambda: model.requests >= 1, "has not called the model", 180)

        kube.create(evalrun(operator.namespace, "fast", **place, queuePriorityClass="urgent"))
        operator.await_condition("fast", "Succeeded", "True", seconds=300)
        model.release()
        operator.await_condition("slow", "Succeeded", "True", seconds=300)
    attempts = {record.attempt: record.outcome for record in operator.results("slow").attempts}
    assert attempts[0] is Outcome.CANCELLED
    assert [trial.attempt for trial in operator.results("slow").trials] == [1], "scored once, by the second attempt"


@pytest.mark.soak  # quotas are Kueue's; that the operator obeys them is what the other tests show
def test_two_queues_each_admit_as_many_pods_as_they_have_quota_for(
    operator: Operator, queues: Queues, model: HeldModel, kube: Kube
) -> None:
    model.hold()
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=2)}]
    for name in ("left", "right"):
        queues.create(name, 1)
        kube.create(evalrun(operator.namespace, name, models=models, queueName=name))
    operator.wait(lambda: model.requests >= 2, "has not begun an episode in each queue", 240)
    for name in ("left", "right"):
        assert len(operator.pods(name)) == 1, "its model would take two, and it has two trials"
