"""What must hold after the faults: nothing is lost, scored twice or left over, and everything says the same.

Invariant: each check compares what it found with what it should be, so that a failure shows the whole difference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devcluster import sandbox
from devcluster.images import ctr
from devcluster.kube import Manifest
from devcluster.places import ADMIN, S3_ACCESS_KEY, S3_BUCKET, S3_REGION, S3_SECRET_KEY, S3_URL
from pydantic import SecretStr
from tests.cluster.chaos.world import LEASE, NOTIFIED, TASKS, TRIALS, Tenant, World
from tests.cluster.operator.world import condition_of

from opsgym_api.records.outcomes import Outcome
from opsgym_core.results.load import load_run
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access
from opsgym_operator.kube.leadership import NAMESPACE_LEASE

EACH_RUN = TASKS * TRIALS
OURS = "app.kubernetes.io/managed-by=opsgym-operator"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
"""Label that the kubelet gives to containers."""
LEFT_S = 300.0
"""Seconds in which everything of deleted runs must be gone from the cluster and the node."""


def run_id(run: Manifest) -> str:
    """Name of a run in its store."""
    metadata = run["metadata"]
    return f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}"


def store_of(world: World, tenant: Tenant) -> Store:
    """A tenant's store, reached directly."""
    access = S3Access(S3_URL, S3_REGION, S3_ACCESS_KEY, SecretStr(S3_SECRET_KEY))
    return open_store(f"s3://{S3_BUCKET}/{world.release}/{tenant.store}", access)


def verify_complete(world: World, tenant: Tenant) -> int:
    """Requires every trial of each run to be scored once, in the store and in the status.

    Returns: Number of trials.
    """
    runs, store = world.runs(tenant), store_of(world, tenant)
    for run in runs:
        succeeded, run_name = condition_of(run, "Succeeded"), run_id(run)
        assert (succeeded["status"], succeeded["reason"]) == ("True", "Complete"), (run_name, run["status"])
        assert run["status"]["progress"] == f"{EACH_RUN}/{EACH_RUN}", (run_name, run["status"])
        results = load_run(store, run_name)
        assert not results.unreadable, run_name
        scored = Counter((trial.task_id, trial.trial) for trial in results.trials)
        assert len(scored) == EACH_RUN, f"{run_name}: trials are lost: {scored}"
        assert set(scored.values()) == {1}, f"{run_name}: trials are scored twice: {scored}"
        outcomes = Counter(trial.outcome for trial in results.trials)
        assert outcomes == {Outcome.PASSED: EACH_RUN}, f"{run_name}: a fault has changed a score: {outcomes}"
        assert run["status"]["counters"][Outcome.PASSED.value] == EACH_RUN, (run_name, run["status"]["counters"])
        attempts = Counter(
            (attempt.task_id, attempt.trial)
            for attempt in results.attempts
            if attempt.outcome is not None and attempt.outcome.scored
        )
        assert set(attempts.values()) <= {1}, f"{run_name}: attempts at one trial are scored twice: {attempts}"
        open_attempts = [attempt for attempt in results.attempts if attempt.outcome is None]
        assert open_attempts == [], f"{run_name}: attempts are left open"
    return len(runs) * EACH_RUN


def verify_written_once(world: World) -> None:
    """Requires that the stores have taken each score once, and that no request would have replaced one."""
    puts = [put for proxy in world.proxies.values() for put in proxy.scores]
    assert [put for put in puts if not put.once] == []
    twice = {key: count for key, count in Counter(put.key for put in puts if put.written).items() if count > 1}
    assert twice == {}, "scores were written twice"


def verify_results_agree(world: World, tenant: Tenant, folder: Path) -> None:
    """Requires `opsgym results` to show of the tenant's last run what the store and the status have."""
    run = max(world.runs(tenant), key=lambda one: str(one["metadata"]["creationTimestamp"]))
    environment = {
        **os.environ,
        "KUBECONFIG": str(ADMIN),
        "AWS_ENDPOINT_URL_S3": S3_URL,
        "AWS_REGION": S3_REGION,
        "AWS_ACCESS_KEY_ID": S3_ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": S3_SECRET_KEY,
    }
    place = f"s3://{S3_BUCKET}/{world.release}/{tenant.store}"
    arguments = ["results", run_id(run), "--store", place, "--format", "json"]
    command = [str(Path(sys.executable).with_name("opsgym")), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    rows: list[Mapping[str, Any]] = json.loads(done.stdout)["rows"]
    assert sum(row["passed"] for row in rows) == EACH_RUN == run["status"]["counters"][Outcome.PASSED.value]
    assert sum(row["failed"] for row in rows) == 0


def verify_noticed(world: World) -> None:
    """Requires the webhook to have got the end of every run that names it."""
    tenant = world.tenants[NOTIFIED]
    runs = {run_id(run) for run in world.runs(tenant)}

    def missing() -> set[str]:
        return runs - {notice["run"] for notice in list(world.receiver.notices) if notice["event"] == "finished"}

    world.wait(lambda: not missing(), lambda: f"the webhook was not notified of the end of {missing()}")


def verify_nothing_runs(world: World) -> None:
    """Requires that no pod is at work once the runs have ended, and that what they keep belongs together."""
    left: list[str] = []

    def nothing_runs() -> bool:
        left.clear()
        for tenant in world.tenants.values():
            pods = world.kube.list("Pod", tenant.namespace)
            left.extend(f"pod {name(pod)}" for pod in pods if pod["status"]["phase"] not in ("Succeeded", "Failed"))
            jobs = {name(job) for job in world.kube.list("Job", tenant.namespace)}
            specs = {name(item) for item in world.kube.list("ConfigMap", tenant.namespace, OURS)}
            left.extend(f"job spec {spec} without its Job" for spec in specs - jobs)
        return not left

    world.wait(nothing_runs, lambda: f"these are left of finished runs: {left}", LEFT_S)


def name(manifest: Manifest) -> str:
    """Name of an object."""
    return str(manifest["metadata"]["name"])


def verify_nothing_left(world: World) -> None:
    """Deletes every run, and requires everything of them to be gone from the cluster and the node."""
    namespaces = [tenant.namespace for tenant in world.tenants.values()]
    for tenant in world.tenants.values():
        for run in world.runs(tenant):
            world.kube.delete("EvalRun", run["metadata"]["name"], tenant.namespace)
    left: list[str] = []

    def nothing_left() -> bool:
        left[:] = [*left_objects(world, namespaces), *left_on_node(world, namespaces)]
        return not left

    world.wait(nothing_left, lambda: f"these are left: {left}", LEFT_S)
    leases = {(lease["metadata"]["namespace"], lease["metadata"]["name"]) for lease in world.kube.list("Lease")}
    declared = {(world.release, LEASE), *((namespace, NAMESPACE_LEASE) for namespace in namespaces)}
    assert {lease for lease in leases if lease[0] in (world.release, *namespaces)} == declared


def left_objects(world: World, namespaces: list[str]) -> list[str]:
    """Pods, Jobs and ConfigMaps of runs."""
    return [
        f"{kind} {namespace}/{item['metadata']['name']}"
        for namespace in namespaces
        for kind in ("Pod", "Job", "ConfigMap")
        for item in world.kube.list(kind, namespace, "" if kind == "Pod" else OURS)
    ]


def left_on_node(world: World, namespaces: list[str]) -> list[str]:
    """Containers of the tenants' pods, and control groups of pods that the cluster does not know."""
    known = {pod["metadata"]["uid"] for pod in world.kube.list("Pod")}
    containers = [f"container {name} of {namespace}" for namespace in namespaces for name in _containers_of(namespace)]
    groups = [
        f"control group {path}"
        for root in sandbox.left_groups()
        for path in root.glob("**/pod*-*")
        if path.is_dir() and path.name.removeprefix("pod") not in known
    ]
    return containers + groups


def _containers_of(namespace: str) -> list[str]:
    listed = ctr("containers", "ls", "-q", f'labels."{POD_NAMESPACE}"=={namespace}')
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.split()
