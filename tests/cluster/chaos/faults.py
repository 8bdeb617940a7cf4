"""The faults of the chaos test: each begins, lasts and ends, and concerns every tenant or some of them.

Invariant: when a fault has ended, what it has harmed works again without help of a user. A fault that lasts and
concerns some tenants ends only when each other tenant has had a trial scored and reported meanwhile.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TypeAlias

from devcluster.errors import ClusterError
from devcluster.kube import KubeError, Manifest
from devcluster.places import NODE
from tests.cluster.chaos.schedule import Kind, Planned
from tests.cluster.chaos.servers import Mode
from tests.cluster.chaos.world import LIMITED, NOTIFIED, QUOTA, STORED, TENANTS, Tenant, World
from tests.cluster.faults import evict, kill_in_container

from opsgym_operator.kube.leadership import LEADER_DURATION_S

Fault: TypeAlias = Callable[[World, Planned], AbstractContextManager[None]]
"""Begins when its context is entered, and ends with it."""

TASK_PODS = "opsgym.dev/role=task"
EACH = tuple((name,) for name in TENANTS)
LONGER_THAN_LEASE = (LEADER_DURATION_S + 4.0, LEADER_DURATION_S + 8.0)


@contextmanager
def leader_killed(world: World, _: Planned) -> Iterator[None]:
    leader, _standby = world.await_replicas()
    leader.signal(signal.SIGKILL)
    yield
    # Either the standby leads, or the process that the leader's container is started again with.
    world.await_replicas()


@contextmanager
def standby_killed(world: World, _: Planned) -> Iterator[None]:
    _leader, standby = world.await_replicas()
    standby.signal(signal.SIGKILL)
    yield
    world.await_replicas()


@contextmanager
def leader_stopped(world: World, _: Planned) -> Iterator[None]:
    """Stops the leader for longer than its Lease; when it goes on, it ends itself, since another one leads."""
    leader, standby = world.await_replicas()
    lives = len(leader.ends)
    leader.signal(signal.SIGSTOP)
    try:
        yield
        world.wait(lambda: world.leads(standby), "the standby does not take over from a leader that was stopped")
    finally:
        leader.signal(signal.SIGCONT)
    world.wait(lambda: len(leader.ends) > lives, "a leader that has lost its Lease does not end")


@contextmanager
def leader_cut_off(world: World, _: Planned) -> Iterator[None]:
    """Nothing passes between the leader and the API server for longer than the Lease."""
    leader, standby = world.await_replicas()
    lives = len(leader.ends)
    with leader.relay.silent():
        yield
        world.wait(lambda: world.leads(standby), "the standby does not take over from a leader that was cut off")
    world.wait(lambda: len(leader.ends) > lives, "a leader that was cut off and has lost its Lease does not end")


@contextmanager
def watches_cut(world: World, _: Planned) -> Iterator[None]:
    """Every connection of the operator to the API server ends."""
    for replica in world.replicas:
        replica.relay.cut()
    yield


@contextmanager
def control_plane_down(name: str, world: World, _: Planned) -> Iterator[None]:
    world.cluster.stop(name)
    try:
        yield
    finally:
        world.cluster.start(name)
        world.cluster.await_ready("apiserver")
        # Here they are the only ones, and would pause for a minute after the loss of their leadership.
        for controller in ("controller-manager", "scheduler"):
            world.cluster.restart(controller)


@contextmanager
def component_down(name: str, world: World, _: Planned) -> Iterator[None]:
    world.cluster.stop(name)
    try:
        yield
    finally:
        world.cluster.start(name)


@contextmanager
def node_drained(world: World, _: Planned) -> Iterator[None]:
    """The node takes no pods, and those of every tenant are evicted from it."""
    _cordon(world, unschedulable=True)
    try:
        for tenant in world.tenants.values():
            for pod in task_pods(world, tenant):
                _if_there(world, partial(evict, world.kube, tenant.namespace, pod["metadata"]["name"]))
        yield
    finally:
        _cordon(world, unschedulable=False)


def store(name: str, mode: Mode, world: World, _: Planned) -> AbstractContextManager[None]:
    return world.proxies[name].failing(mode)


def webhook(mode: Mode, world: World, _: Planned) -> AbstractContextManager[None]:
    return world.receiver.failing(mode)


@contextmanager
def quota_used_up(resource: str, world: World, planned: Planned) -> Iterator[None]:
    """A tenant gets no further object of a kind: the API server refuses pods to Jobs, or ConfigMaps to the operator."""
    (tenant,) = _tenants(world, planned)
    _set_quota(world, tenant, {**QUOTA, resource: "0"})
    try:
        yield
    finally:
        _set_quota(world, tenant, QUOTA)


@contextmanager
def pod_deleted(world: World, planned: Planned) -> Iterator[None]:
    (tenant,) = _tenants(world, planned)
    harm_a_pod(world, tenant, lambda pod: world.kube.delete("Pod", pod, tenant.namespace))
    yield


@contextmanager
def pod_evicted(world: World, planned: Planned) -> Iterator[None]:
    (tenant,) = _tenants(world, planned)
    harm_a_pod(world, tenant, lambda pod: evict(world.kube, tenant.namespace, pod))
    yield


@contextmanager
def process_killed(container: str, program: str, world: World, planned: Planned) -> Iterator[None]:
    (tenant,) = _tenants(world, planned)
    harm_a_pod(world, tenant, lambda pod: kill_in_container(world.kube, tenant.namespace, pod, container, program))
    yield


@contextmanager
def run_recreated(world: World, planned: Planned) -> Iterator[None]:
    """A user deletes the newest run and creates it again under the same name."""
    (tenant,) = _tenants(world, planned)
    name = f"r{tenant.created - 1}"
    run = world.insist(lambda: world.kube.find("EvalRun", name, tenant.namespace))
    if run is not None:
        world.insist(lambda: world.kube.delete("EvalRun", name, tenant.namespace))
        world.create(tenant.manifest(name))
    yield


_TABLE: tuple[tuple[Kind, Fault], ...] = (
    (Kind("leader killed"), leader_killed),
    (Kind("leader stopped", seconds=LONGER_THAN_LEASE), leader_stopped),
    (Kind("leader cut off from the API server", seconds=LONGER_THAN_LEASE), leader_cut_off),
    (Kind("standby killed"), standby_killed),
    (Kind("watches cut"), watches_cut),
    (Kind("API server down", seconds=(1, 6)), partial(control_plane_down, "apiserver")),
    (Kind("etcd down", seconds=(1, 6)), partial(control_plane_down, "etcd")),
    (Kind("kubelet down", seconds=(2, 10)), partial(component_down, "kubelet")),
    (Kind("containerd down", seconds=(1, 5)), partial(component_down, "containerd")),
    (Kind("node drained", seconds=(2, 6)), node_drained),
    *(
        (Kind(f"own store {mode}", ((STORED,),), (6, 12)), partial(store, "own", mode))
        for mode in (Mode.FAILS, Mode.HANGS, Mode.REFUSES, Mode.FORGETS)
    ),
    *(
        (Kind(f"shared store {mode}", ((NOTIFIED, LIMITED),), (6, 12)), partial(store, "results", mode))
        for mode in (Mode.FAILS, Mode.HANGS)
    ),
    *(
        (Kind(f"webhook {mode}", ((NOTIFIED,),), (4, 12)), partial(webhook, mode))
        for mode in (Mode.REFUSES, Mode.HANGS)
    ),
    (Kind("pods refused by the quota", EACH, (6, 12)), partial(quota_used_up, "pods")),
    (Kind("objects refused by the quota", EACH, (6, 12)), partial(quota_used_up, "count/configmaps")),
    (Kind("pod deleted", EACH), pod_deleted),
    (Kind("pod evicted", EACH), pod_evicted),
    (Kind("runner killed", EACH), partial(process_killed, "agent", "opsgym_runner")),
    (Kind("gym server killed", EACH), partial(process_killed, "gym-itsm", "opsgym_domains")),
    (Kind("Postgres killed", EACH), partial(process_killed, "postgres", "postgres")),
    (Kind("run deleted and created again", EACH), run_recreated),
)
FAULTS: Mapping[str, tuple[Kind, Fault]] = {kind.name: (kind, fault) for kind, fault in _TABLE}
"""Every kind of fault, by its name."""


def cause(world: World, planned: Planned) -> None:
    """Carries a fault out.

    Raises:
        TimeoutError: It has not ended as it should, or a tenant that it does not concern has stood still meanwhile.
    """
    world.note(f"{planned.fault} ({', '.join(planned.tenants) or 'all'}) for {planned.seconds:.0f} s")
    others = [tenant for name, tenant in world.tenants.items() if planned.tenants and name not in planned.tenants]
    go_on = progressing(world, others, planned) if planned.seconds else nullcontext()
    with FAULTS[planned.fault][1](world, planned), go_on:
        world.pause(planned.seconds)
    world.note(f"{planned.fault}: over")
    if not planned.tenants:
        recovered(world, planned)


@contextmanager
def progressing(world: World, tenants: list[Tenant], planned: Planned) -> Iterator[None]:
    """Ends only when each tenant has had a trial scored, and the operator has reported one, since the beginning."""
    before = {tenant.name: (tenant.scores, world.reported(tenant)) for tenant in tenants}
    began = time.monotonic()
    yield
    for tenant in tenants:
        scores, reported = before[tenant.name]

        def has_gone_on(tenant: Tenant = tenant, scores: int = scores, reported: int = reported) -> bool:
            return tenant.scores > scores and world.reported(tenant) > reported

        world.wait(has_gone_on, f"tenant {tenant.name} stands still while only {planned.tenants} have a fault")
    if tenants:
        others = ", ".join(f"{tenant.name} {tenant.scores - before[tenant.name][0]}" for tenant in tenants)
        world.note(f"{planned.fault}: trials of others in {time.monotonic() - began:.0f} s: {others}")


def recovered(world: World, planned: Planned) -> None:
    """Waits until a trial is scored: a slow machine is not given the next fault before it has got over this one."""
    before = sum(tenant.scores for tenant in world.tenants.values())
    world.wait(
        lambda: sum(tenant.scores for tenant in world.tenants.values()) > before,
        f"no tenant has gone on after: {planned.fault}",
    )


def task_pods(world: World, tenant: Tenant) -> list[Manifest]:
    """Task pods of a tenant that have not ended, the oldest first."""
    pods = world.insist(lambda: world.kube.list("Pod", tenant.namespace, TASK_PODS))
    alive = [pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
    return sorted(alive, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))


def harm_a_pod(world: World, tenant: Tenant, harm: Callable[[str], object]) -> None:
    """Does something to the first task pod of a tenant to which it can be done."""

    def done() -> bool:
        for pod in task_pods(world, tenant):
            try:
                harm(pod["metadata"]["name"])
            except ClusterError:  # the container does not run yet, or has ended
                continue
            except KubeError as error:
                if error.code != 404:
                    raise
                continue
            return True
        return False

    world.wait(done, f"tenant {tenant.name} has no pod to harm")


def _tenants(world: World, planned: Planned) -> list[Tenant]:
    return [world.tenants[name] for name in planned.tenants]


def _if_there(world: World, request: Callable[[], object]) -> None:
    try:
        world.insist(request)
    except KubeError as error:
        if error.code != 404:
            raise


def _set_quota(world: World, tenant: Tenant, hard: Mapping[str, str]) -> None:
    """Changes the quota, and returns when the API server goes by it."""
    world.insist(lambda: world.kube.patch("ResourceQuota", "quota", tenant.namespace, {"spec": {"hard": dict(hard)}}))

    def holds() -> bool:
        quota = world.kube.get("ResourceQuota", "quota", tenant.namespace)
        return bool(quota.get("status", {}).get("hard") == dict(hard))

    world.wait(holds, f"the quota of tenant {tenant.name} does not change")


def _cordon(world: World, *, unschedulable: bool) -> None:
    world.insist(lambda: world.kube.patch("Node", NODE, None, {"spec": {"unschedulable": unschedulable}}))
