"""Random faults over three tenants' runs: no trial is lost or scored twice, nothing is left over, and no tenant stands
still because of another's fault.

An hour with the day as seed; OPSGYM_CHAOS_SEED and OPSGYM_CHAOS_SECONDS choose others. The seed is part of the output.
A machine that is too slow for the whole schedule carries out its beginning.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

import pytest
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from tests.cluster.chaos import verify
from tests.cluster.chaos.faults import FAULTS, cause
from tests.cluster.chaos.schedule import Planned, plan_faults
from tests.cluster.chaos.world import Stopped, World, chaos_world

SEED = os.environ.get("OPSGYM_CHAOS_SEED") or datetime.now(UTC).date().isoformat()
SECONDS = float(os.environ.get("OPSGYM_CHAOS_SECONDS") or 3600)
RECOVERY_S = 2400


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + RECOVERY_S)
def test_random_faults_lose_no_trial_and_leave_nothing(
    task_images: None, cluster: Cluster, kube: Kube, tmp_path: Path
) -> None:
    planned = plan_faults(SEED, SECONDS, [kind for kind, _ in FAULTS.values()])
    print(f"OPSGYM_CHAOS_SEED={SEED} OPSGYM_CHAOS_SECONDS={SECONDS:.0f} repeats this schedule")
    with chaos_world(cluster, kube, tmp_path) as world:
        carried_out = endure(world, planned)
        world.await_replicas()
        trials = sum(verify.verify_complete(world, tenant) for tenant in world.tenants.values())
        verify.verify_written_once(world)
        verify.verify_noticed(world)
        verify.verify_nothing_runs(world)
        for tenant in world.tenants.values():
            verify.verify_results_agree(world, tenant, tmp_path)
        verify.verify_nothing_left(world)
        world.note(f"{carried_out} faults, {trials} trials in finished runs: none lost, none scored twice")


def endure(world: World, planned: Sequence[Planned]) -> int:
    """Has the tenants start runs while the faults come, and returns when the last runs are over.

    Returns: Number of faults that were carried out.
    """

    def carry_out(faults: Sequence[Planned]) -> None:
        for fault in faults:
            # Takeovers and the others' progress take longer on a busy machine: the pause is kept, the time is not.
            world.pause(fault.pause)
            if world.seconds > SECONDS:
                return
            cause(world, fault)
            carried_out.append(fault.fault)

    carried_out: list[str] = []
    with ThreadPoolExecutor(len(world.tenants) + 2) as pool:
        shared, others = (
            [fault for fault in planned if not fault.tenants],
            [fault for fault in planned if fault.tenants],
        )
        users = [pool.submit(world.keep_running, tenant) for tenant in world.tenants.values()]
        sequences = [pool.submit(carry_out, faults) for faults in (shared, others)]
        try:
            finish(world, [*sequences, *users], until=sequences)
            world.over.set()
            world.note(f"{len(carried_out)} of {len(planned)} faults are over")
            finish(world, users, until=users)
        finally:
            world.over.set()
        world.note("the last runs are over")
    return len(carried_out)


def finish(world: World, futures: Sequence[Future[None]], until: Sequence[Future[None]]) -> None:
    """Waits until some futures are done; the first failure among all of them ends the others."""
    pending = set(until)
    while pending:
        done, _ = wait(futures, timeout=1.0, return_when=FIRST_EXCEPTION)
        failures = [error for future in done if (error := future.exception()) is not None]
        if failures:
            world.failed.set()
            raise next((error for error in failures if not isinstance(error, Stopped)), failures[0])
        pending -= done
