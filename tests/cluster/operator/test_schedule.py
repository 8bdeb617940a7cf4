"""An EvalSchedule makes EvalRuns by the real clock, and they run to the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from devcluster.cluster import Cluster
from devcluster.kube import Kube, Manifest
from tests.cluster.operator.world import Operator, condition_of, evalrun

pytestmark = pytest.mark.timeout(600)

LAST = "lastScheduleTime"


def nightly(operator: Operator, **spec: Any) -> Manifest:
    template = {"metadata": {"labels": {"team": "desk"}}, "spec": small(operator)}
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalSchedule",
        "metadata": {"name": "nightly", "namespace": operator.namespace},
        "spec": {"schedule": "* * * * *", "timeZone": "Europe/Berlin", "runTemplate": template, **spec},
    }


def small(operator: Operator) -> Manifest:
    spec: Manifest = evalrun(operator.namespace, "template", suite={"builtin": "quickstart", "limit": 1})["spec"]
    return spec


def runs(operator: Operator, kube: Kube) -> Mapping[str, Manifest]:
    return {run["metadata"]["name"]: run for run in kube.list("EvalRun", operator.namespace)}


def miss(operator: Operator, kube: Kube, minutes: int) -> None:
    """Makes a schedule believe that it made its last EvalRun some minutes ago, as after a time without operator."""
    before = (datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    kube.patch("EvalSchedule", "nightly", operator.namespace, {"status": {LAST: before}}, part="status")


def await_passes(operator: Operator, kube: Kube) -> None:
    """Returns when the operator has looked at everything anew."""

    def passes() -> float:
        return operator.metrics()["opsgym_reconcile_duration_seconds_count"]

    def woken() -> bool:
        labels = {"looked-at": str(int(passes()))}
        kube.patch("EvalSchedule", "nightly", operator.namespace, {"metadata": {"labels": labels}})
        # The first to end may have begun before.
        return passes() >= before + 2

    before = passes()
    operator.wait(woken, "makes no more passes")


def columns(cluster: Cluster, namespace: str) -> list[str]:
    done = cluster.kubectl("get", "esched", "-n", namespace)
    assert done.stdout.splitlines()[0].split() == [
        "NAME",
        "SCHEDULE",
        "TIMEZONE",
        "SUSPEND",
        "ACTIVE",
        "LASTSCHEDULE",
        "LASTSUCCESS",
        "AGE",
    ]
    # The schedule itself holds spaces.
    return done.stdout.splitlines()[1].replace("* * * * *", "every-minute").split()


def scheduled(run: Manifest) -> datetime:
    """The time that an EvalRun is for."""
    return datetime.fromisoformat(run["metadata"]["annotations"]["opsgym.dev/scheduled-at"])


def suspend(operator: Operator, kube: Kube, suspended: bool) -> None:
    kube.patch("EvalSchedule", "nightly", operator.namespace, {"spec": {"suspend": suspended}})


def test_a_schedule_makes_runs_in_time_keeps_few_and_can_be_suspended(
    operator: Operator, kube: Kube, cluster: Cluster
) -> None:
    kube.create(nightly(operator, suspend=True, concurrencyPolicy="Forbid", successfulRunsHistoryLimit=1))
    miss(operator, kube, 5)
    await_passes(operator, kube)
    assert not runs(operator, kube), "a suspended schedule made a run"

    # Five times were missed; only the latest is made up for, and at once.
    suspend(operator, kube, False)
    operator.wait(lambda: bool(runs(operator, kube)), "has not made up for what was missed", 15)
    ((first, run),) = runs(operator, kube).items()
    made = datetime.fromisoformat(run["metadata"]["creationTimestamp"])
    assert made - timedelta(seconds=75) < scheduled(run) <= made
    assert scheduled(run).second == 0
    assert run["metadata"]["labels"]["team"] == "desk"
    at_work = ["every-minute", "Europe/Berlin", "false", "1"]
    operator.wait(lambda: columns(cluster, operator.namespace)[1:5] == at_work, "does not show the run at work", 15)

    # The next comes by the clock, when the first has ended; then there is one finished run too many.
    operator.wait(lambda: bool(runs(operator, kube).keys() - {first}), "has not made the next run", 240)
    ((second, after),) = ((name, run) for name, run in runs(operator, kube).items() if name != first)
    suspend(operator, kube, True)
    assert scheduled(run) < scheduled(after) <= datetime.fromisoformat(after["metadata"]["creationTimestamp"])
    before = operator.run(first)
    assert condition_of(before, "Succeeded")["status"] == "True"
    assert before["status"]["finishedAt"] <= after["metadata"]["creationTimestamp"]
    assert condition_of(operator.await_end(second, 240), "Succeeded")["status"] == "True"
    operator.wait(lambda: list(runs(operator, kube)) == [second], "has not removed the oldest run")
    operator.wait(lambda: columns(cluster, operator.namespace)[3:5] == ["true", "0"], "does not show that it rests", 15)
    events = cluster.kubectl("describe", "esched", "nightly", "-n", operator.namespace).stdout.partition("\nEvents:")[2]
    assert f"EvalRun {first}" in events
    assert f"EvalRun {second}" in events
    assert operator.results(first).trials, "the results of a removed run are gone"
