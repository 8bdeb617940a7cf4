"""A pod of a task on several gym servers: one Postgres with a database for each of them."""

from __future__ import annotations

from typing import Any

import pytest
from devcluster.kube import Kube
from tests.cluster.operator.world import Operator, evalrun

from opsgym_api.records.outcomes import Outcome

pytestmark = pytest.mark.timeout(900)

TASK = "hybrid-core-call-stays-as-the-leave-is-off"
"""A task on five gym servers, of two days, in which one system changes because of the morning."""
GYMS = {"hr", "calendar", "drive", "teams", "email"}


def test_the_pod_of_a_task_on_five_gym_servers_starts_them_and_scores_the_task(operator: Operator, kube: Kube) -> None:
    seen: list[Any] = []

    def has_a_pod() -> bool:
        seen.extend(operator.pods("r"))
        return bool(seen)

    kube.create(evalrun(operator.namespace, "r", suite={"builtin": "hybrid-core", "ids": [TASK]}))
    operator.wait(has_a_pod, "has no pod", 240)
    sidecars = {container["name"] for container in seen[0]["spec"]["initContainers"]}
    assert "postgres" in sidecars
    assert {name for name in sidecars if name.removeprefix("gym-") in GYMS} == {f"gym-{domain}" for domain in GYMS}
    operator.await_end("r", 400)
    (trial,) = operator.results("r").trials
    assert (trial.task_id, trial.outcome, trial.attempt) == (TASK, Outcome.PASSED, 0)
