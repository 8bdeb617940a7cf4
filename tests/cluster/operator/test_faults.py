"""What production does to pods: the attempt is on record with what ended it, and the trial is tried again.

A pod that gets SIGTERM records that it was cancelled; for a pod that dies, the operator records the cause.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from devcluster.kube import Kube, Manifest
from tests.cluster.faults import evict, kill_in_container, oom_kill
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, condition_of, evalrun

from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome

pytestmark = pytest.mark.timeout(600)

Harm = Callable[[Kube, str, str], object]
"""Does something to a pod of a namespace."""

HARM: dict[str, Harm] = {
    "pod deleted": lambda kube, namespace, pod: kube.delete("Pod", pod, namespace),
    "pod evicted": evict,
    "agent out of memory": lambda kube, namespace, pod: oom_kill(kube, namespace, pod, "agent"),
    "agent hung": lambda kube, namespace, pod: kill_in_container(
        kube, namespace, pod, "agent", "opsgym_runner", signal.SIGSTOP
    ),
    "Postgres killed": lambda kube, namespace, pod: kill_in_container(kube, namespace, pod, "postgres", "postgres"),
    "gym server killed": lambda kube, namespace, pod: kill_in_container(
        kube, namespace, pod, "gym-itsm", "opsgym_domains"
    ),
}
TERMINATED = ("pod deleted", "pod evicted")
LIKE_ANOTHER = ("pod evicted", "gym server killed")
"""Harm that ends a pod in the way of another one, which make soak plays."""
USUAL = tuple(harm for harm in HARM if harm not in LIKE_ANOTHER)


def task_of(kube: Kube, pod: Manifest) -> str:
    """The task that a pod plays."""
    labels, namespace = pod["metadata"]["labels"], pod["metadata"]["namespace"]
    order = json.loads(kube.get("ConfigMap", labels["batch.kubernetes.io/job-name"], namespace)["data"]["job.json"])
    return str(order["trials"][int(labels["batch.kubernetes.io/job-completion-index"])]["task_id"])


def lost(operator: Operator) -> Mapping[str, AttemptRecord]:
    """The first attempt of each task."""
    return {attempt.task_id: attempt for attempt in operator.results("r").attempts if attempt.attempt == 0}


@pytest.mark.parametrize(
    "harms", [pytest.param(USUAL, id="usual"), pytest.param(LIKE_ANOTHER, id="like others", marks=pytest.mark.soak)]
)
def test_trials_survive_what_happens_to_their_pods(
    operator: Operator, model: HeldModel, kube: Kube, harms: Sequence[str]
) -> None:
    model.hold()
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=len(harms))}]
    suite = {"builtin": "quickstart", "limit": len(harms)}
    kube.create(evalrun(operator.namespace, "r", suite=suite, models=models))
    operator.wait(lambda: model.requests >= len(harms), "has not called the model for each trial", 240)
    harmed = {}
    for harm, pod in zip(harms, operator.pods("r"), strict=True):
        harmed[harm] = task_of(kube, pod)
        HARM[harm](kube, operator.namespace, pod["metadata"]["name"])
    model.release()
    if "agent hung" in harms:

        def is_named() -> bool:
            return "hung: container agent hung" in condition_of(operator.run("r"), "Progressing")["message"]

        operator.wait(is_named, "does not name the hung agent", 200)
    run = operator.await_end("r", 300)

    assert run["status"]["progress"] == f"{len(harms)}/{len(harms)}"
    for harm, attempt in ((harm, lost(operator)[task]) for harm, task in harmed.items()):
        assert attempt.outcome is (Outcome.CANCELLED if harm in TERMINATED else Outcome.INFRA_ERROR), (harm, attempt)
        assert attempt.message, harm
        if harm == "agent hung":
            assert attempt.reason == "hung"
        if "killed" in harm:
            assert attempt.reason == "gym_lost"
    assert [trial.attempt for trial in operator.results("r").trials] == [1] * len(harms)
    counted = operator.metrics()
    assert counted["opsgym_attempts_total"] == 2 * len(harms)
    assert counted["opsgym_trials_total"] == len(harms)
