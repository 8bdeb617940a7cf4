"""Two replicas of an operator: one works, the other takes over when the first is gone or loses its Lease."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from devcluster.kube import Kube
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, condition_of, evalrun

from opsgym_operator.kube.leadership import LEADER_DURATION_S, NAMESPACE_LEASE

pytestmark = pytest.mark.timeout(600)

TAKEOVER_S = 20.0
CEILING = 2


@pytest.fixture
def standby(operator: Operator, kube: Kube) -> Iterator[Operator]:
    """Another replica of the operator's release."""
    second = Operator(operator.namespace, operator.s3, operator.folder, kube, stores=operator.stores, name="second")
    second.start()
    try:
        yield second
    finally:
        second.kill()


def holder(kube: Kube, namespace: str, name: str = "opsgym-operator") -> str:
    """Holder of a Lease."""
    return str(kube.get("Lease", name, namespace)["spec"]["holderIdentity"])


def test_a_standby_is_ready_writes_nothing_and_takes_over_from_a_dead_leader_in_time(
    operator: Operator, standby: Operator, model: HeldModel, kube: Kube
) -> None:
    assert (operator.metrics()["opsgym_operator_leading"], standby.metrics()["opsgym_operator_leading"]) == (1, 0)
    model.hold()
    models = [{"name": "held", "inline": model.inline(maxConcurrency=CEILING)}]
    kube.create(evalrun(operator.namespace, "r", suite={"builtin": "quickstart", "limit": 3}, models=models))
    operator.wait(lambda: model.requests >= CEILING, "has not begun two episodes", 240)
    before = {pod["metadata"]["uid"] for pod in operator.pods("r")}

    operator.kill()
    began = time.monotonic()
    standby.wait(
        lambda: standby.ask("/readyz") == 200 and holder(kube, operator.namespace) == "second", "does not lead"
    )
    standby.wait(lambda: standby.metrics().get("opsgym_operator_leading") == 1, "does not say that it leads")
    assert time.monotonic() - began <= TAKEOVER_S
    # The old leader's pods go on, and the new leader hands out no slot that they hold.
    assert {pod["metadata"]["uid"] for pod in standby.pods("r")} == before

    model.release()
    run = standby.await_end("r", 300)
    assert condition_of(run, "Succeeded")["status"] == "True"
    assert len(standby.results("r").attempts) == 3, "a trial was run twice"


def test_a_leader_that_stops_hands_over_at_once(operator: Operator, standby: Operator, kube: Kube) -> None:
    operator.stop()
    began = time.monotonic()
    standby.wait(lambda: holder(kube, operator.namespace) == "second", "does not lead", TAKEOVER_S)
    assert time.monotonic() - began < LEADER_DURATION_S


def test_another_release_leaves_a_served_namespace_alone(operator: Operator, kube: Kube) -> None:
    kube.create(evalrun(operator.namespace, "r", models=[{"name": "m", "ref": "no-such-model"}]))
    operator.await_condition("r", "Accepted", "False", "ModelNotFound")
    lease = {"namespace": operator.namespace, "name": "another"}
    other = Operator(
        operator.namespace, operator.s3, operator.folder, kube, {"lease": lease}, operator.stores, name="other"
    )
    other.start()
    try:
        other.wait(
            lambda: other.metrics().get("opsgym_namespaces_of_other_releases") == 1, "does not see the first release"
        )
        assert holder(kube, operator.namespace, NAMESPACE_LEASE) == f"{operator.namespace}/opsgym-operator"
        assert other.ask("/readyz") == 200
    finally:
        other.kill()
