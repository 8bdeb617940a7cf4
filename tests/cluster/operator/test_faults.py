"""What production does to pods: the attempt is on record with what ended it, and the trial is tried again.

A pod that gets SIGTERM records that it was cancelled; for a pod that dies, the operator records the cause.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest
from devcluster.kube import Kube
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
LIKE_ANOTHER = {"pod evicted", "gym server killed"}
"""Harm that ends a pod in the way of another one, which make soak plays."""


def first_attempt(operator: Operator) -> AttemptRecord:
    (record,) = [attempt for attempt in operator.results("r").attempts if attempt.attempt == 0]
    return record


@pytest.mark.parametrize(
    "harm", [pytest.param(harm, marks=[pytest.mark.soak] if harm in LIKE_ANOTHER else []) for harm in HARM]
)
def test_a_trial_survives(operator: Operator, model: HeldModel, kube: Kube, harm: str) -> None:
    model.hold()
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
    kube.create(evalrun(operator.namespace, "r", suite={"builtin": "quickstart", "limit": 1}, models=models))
    operator.wait(lambda: model.requests >= 1, "has not called the model", 180)
    (pod,) = operator.pods("r")

    HARM[harm](kube, operator.namespace, pod["metadata"]["name"])
    model.release()
    if harm == "agent hung":

        def is_named() -> bool:
            return "hung: container agent hung" in condition_of(operator.run("r"), "Progressing")["message"]

        operator.wait(is_named, "does not name the hung agent", 200)
    run = operator.await_end("r", 300)

    assert run["status"]["progress"] == "1/1"
    lost = first_attempt(operator)
    assert lost.outcome is (Outcome.CANCELLED if harm in TERMINATED else Outcome.INFRA_ERROR), lost
    assert lost.message
    if harm == "agent hung":
        assert lost.reason == "hung"
    if "killed" in harm:
        assert lost.reason == "gym_lost"
    assert [trial.attempt for trial in operator.results("r").trials] == [1]
    counted = operator.metrics()
    assert counted["opsgym_attempts_total"] == 2
    assert counted["opsgym_trials_total"] == 1
