"""Replicas and releases that share a cluster: one of them writes, the others wait. Real HTTP, injected clocks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.lease_server import LEADER, LeaseServer

from opsgym_core.kube.client import JOBS, ApiError, Client
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_operator.config import LeaseConfig
from opsgym_operator.kube.leadership import (
    LEADER_DURATION_S,
    NAMESPACE_DURATION_S,
    NAMESPACE_LEASE,
    RETRY_S,
    SERVED,
    SKIPPED,
    Claim,
    Leadership,
    LostLeaseError,
)
from opsgym_operator.kube.lease import Lease

CONFIG = LeaseConfig(namespace="release", name="opsgym-operator")
TEAM = ("team", NAMESPACE_LEASE)
JOB = "/apis/batch/v1/namespaces/team/jobs/j"


class Time:
    """A clock that moves when everybody sleeps, to the moment at which the first one wakes up."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleepers = 1
        """How many tasks sleep in turn; none of them is late."""
        self.until: Callable[[], bool] = lambda: False
        """Sleeping ends the test once this holds."""
        self._wakes: list[float] = []

    async def sleep(self, seconds: float) -> None:
        wakes = self.now + seconds
        self._wakes.append(wakes)
        try:
            while len(self._wakes) < self.sleepers or wakes > min(self._wakes):  # noqa: ASYNC110 - others are served
                await asyncio.sleep(0.001)
        finally:
            self._wakes.remove(wakes)
        self.now = max(self.now, wakes)
        if self.until():
            raise asyncio.CancelledError


class Replica:
    """A process of a release."""

    def __init__(self, client: Client, identity: str, time: Time, config: LeaseConfig = CONFIG) -> None:
        self.time = time
        self.metrics = Metrics()

        def lease(namespace: str, name: str, own: str, duration_s: int) -> Lease:
            return Lease(client, namespace, name, own, duration_s, clock=lambda: time.now)

        self.leadership = Leadership(client, config, identity, self.metrics, lease, time.sleep)

    def shows(self, metric: str) -> float:
        lines = self.metrics.text().decode().splitlines()
        return float(next(line for line in lines if line.startswith(f"{metric} ")).split()[1])


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as api:
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
        yield api


@pytest.fixture
def leases(server: ApiServer) -> LeaseServer:
    return LeaseServer(server, LEADER, TEAM, ("second", NAMESPACE_LEASE))


async def keep(replica: Replica, until: Callable[[], bool] = lambda: False) -> None:
    """Lets a leader renew its Leases until a condition holds."""
    replica.time.sleepers, replica.time.until = 2, until
    try:
        await replica.leadership.keep()
    except asyncio.CancelledError:
        assert until()


def with_client(work: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(login) as client, asyncio.timeout(60):
            await work(client)

    asyncio.run(run())


def test_the_first_replica_leads_and_the_second_takes_over_in_time_when_it_is_gone(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        first, second = Replica(client, "pod-1", time), Replica(client, "pod-2", time)
        await first.leadership.elect()
        assert (leases.holder(), first.shows("opsgym_operator_leading")) == ("pod-1", 1)
        # The first one has just renewed its Lease, and dies.
        began = time.now
        await second.leadership.elect()
        assert leases.holder() == "pod-2"
        assert LEADER_DURATION_S <= time.now - began <= LEADER_DURATION_S + 2 * RETRY_S

    with_client(work)


def test_a_replica_that_stops_hands_over_at_once(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        first, second = Replica(client, "pod-1", time), Replica(client, "pod-2", time)
        await first.leadership.elect()
        await first.leadership.release()
        assert first.shows("opsgym_operator_leading") == 0
        began = time.now
        await second.leadership.elect()
        assert time.now == began
        assert first.leadership.writable_s("team") == 0

    with_client(work)


def test_a_standby_is_known_as_one_and_writes_nothing(leases: LeaseServer, server: ApiServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        await Replica(client, "pod-1", time).leadership.elect()
        standby = Replica(client, "pod-2", time)
        time.until = lambda: standby.leadership.standing_by
        with pytest.raises(asyncio.CancelledError):
            await standby.leadership.elect()
        assert standby.shows("opsgym_operator_leading") == 0
        async with Client(login, standby.leadership.writable_s) as writer:
            with pytest.raises(ApiError, match="does not hold the Lease for namespace team"):
                await writer.patch(JOBS, "team", "j", {})
        assert not [request for request in server.received if "jobs" in request[1]]

    with_client(work)


def test_a_leader_stops_writing_before_another_can_lead_and_goes_on_when_none_did(
    leases: LeaseServer, server: ApiServer
) -> None:
    server.answer("PATCH", JOB, 200, {})

    async def work(client: Client) -> None:
        time = Time()
        leader = Replica(client, "pod-1", time)
        await leader.leadership.elect()
        assert await leader.leadership.claim("team") == SERVED
        async with Client(login, leader.leadership.writable_s) as writer:
            await writer.patch(JOBS, "team", "j", {})
            leases.away = True
            await keep(leader, lambda: time.now > 1000 + LEADER_DURATION_S)
            with pytest.raises(ApiError, match="does not hold"):
                await writer.patch(JOBS, "team", "j", {})
            with pytest.raises(ApiError, match="cannot be renewed"):
                await leader.leadership.claim("team")
            leases.away = False
            await keep(leader, lambda: leader.leadership.writable_s("team") > 0)
            await writer.patch(JOBS, "team", "j", {})

    with_client(work)


def test_a_leader_that_finds_another_holder_ends(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        leader = Replica(client, "pod-1", Time())
        await leader.leadership.elect()
        await leader.leadership.claim("team")
        leases.take(LEADER, "pod-7")
        with pytest.raises(LostLeaseError, match="its holder is pod-7"):
            await keep(leader)

    with_client(work)


@pytest.mark.parametrize("seen_by", ["renewal", "claim"])
def test_a_tenant_who_takes_the_lease_of_its_namespace_stops_no_other(leases: LeaseServer, seen_by: str) -> None:
    """Its namespace is dropped, which its reconciler learns from the next claim, and served again in time."""

    async def work(client: Client) -> None:
        time = Time()
        leader = Replica(client, "pod-1", time)
        await leader.leadership.elect()
        for namespace in ("team", "second"):
            assert await leader.leadership.claim(namespace) == SERVED
        leases.take(TEAM, "mallory")
        if seen_by == "renewal":
            await keep(leader, lambda: time.now > 1000 + NAMESPACE_DURATION_S / 2)
        else:
            time.now += NAMESPACE_DURATION_S - 1
            await leader.leadership.elect()
        assert await leader.leadership.claim("team") == Claim(served=False, other="mallory")
        assert leader.leadership.writable_s("team") == 0
        assert await leader.leadership.claim("second") == SERVED
        assert leader.shows("opsgym_namespaces_lost_total") == 1
        assert await leader.leadership.claim("team") == Claim(served=False, other="mallory")
        assert leader.shows("opsgym_namespaces_of_other_releases") == 1
        await keep(leader, lambda: time.now > 1000 + 3 * NAMESPACE_DURATION_S)
        assert await leader.leadership.claim("team") == SERVED
        assert leader.leadership.writable_s("team") > 0

    with_client(work)


def test_a_lease_that_was_away_and_is_back_is_claimed_anew_after_the_namespace_was_dropped(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        leader = Replica(client, "pod-1", time)
        await leader.leadership.elect()
        assert await leader.leadership.claim("team") == SERVED
        own = leases.holder(TEAM)
        leases.take(TEAM, "mallory")
        leases.take(TEAM, own)
        await keep(leader, lambda: time.now > 1000 + NAMESPACE_DURATION_S / 2)
        assert not (await leader.leadership.claim("team")).served
        assert await leader.leadership.claim("team") == SERVED

    with_client(work)


def test_a_namespace_that_is_deleted_ends_nobody_and_may_come_back(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        leader = Replica(client, "pod-1", time)
        await leader.leadership.elect()
        await leader.leadership.claim("team")
        del leases.objects[TEAM]
        await keep(leader, lambda: time.now > 1000 + 2 * NAMESPACE_DURATION_S)
        assert leader.leadership.writable_s("team") == 0
        assert await leader.leadership.claim("team") == SERVED

    with_client(work)


def gone(leases: LeaseServer, status: int) -> None:
    """The tenant's namespace is deleted: its Lease is gone, and the API server creates no other."""
    leases.objects.pop(TEAM, None)
    path = "/apis/coordination.k8s.io/v1/namespaces/team/leases"
    message = "leases is forbidden" if status == 403 else 'namespaces "team" not found'
    leases.server.answers[("POST", path)] = [(status, {"message": message})]
    if status == 403:
        for method in ("GET", "PATCH"):
            leases.server.answers[(method, f"{path}/{NAMESPACE_LEASE}")] = [(status, {"message": message})]


@pytest.mark.parametrize("status", [403, 404])
def test_a_namespace_that_is_gone_is_skipped_without_an_error_until_it_is_back(
    leases: LeaseServer, status: int
) -> None:
    before = dict(leases.server.answers)

    async def work(client: Client) -> None:
        time = Time()
        leader = Replica(client, "pod-1", time)
        await leader.leadership.elect()
        assert await leader.leadership.claim("team") == SERVED
        gone(leases, status)
        with capture_logs() as lines:
            await keep(leader, lambda: time.now > 1000 + NAMESPACE_DURATION_S)
            for _ in range(3):
                assert await leader.leadership.claim("team") == SKIPPED
            await keep(leader, lambda: time.now > 1000 + 3 * NAMESPACE_DURATION_S)
        [line] = [line for line in lines if line["log_level"] == "warning"]
        assert (line["event"], line["namespace"]) == ("a namespace is skipped", "team")
        assert leader.leadership.writable_s("team") == 0
        assert leader.shows("opsgym_namespaces_skipped") == 1
        assert leader.shows("opsgym_namespaces_of_other_releases") == 0
        leases.server.answers.update(before)
        assert await leader.leadership.claim("team") == SERVED
        assert leader.shows("opsgym_namespaces_skipped") == 0

    with_client(work)


def test_a_namespace_of_which_nothing_is_left_counts_no_longer(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        leader = Replica(client, "pod-1", Time())
        await leader.leadership.elect()
        gone(leases, 404)
        assert await leader.leadership.claim("team") == SKIPPED
        leader.leadership.leave("team")
        assert leader.shows("opsgym_namespaces_skipped") == 0

    with_client(work)


def test_an_api_server_that_fails_at_the_lease_of_a_namespace_is_an_error(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        leader = Replica(client, "pod-1", Time())
        await leader.leadership.elect()
        gone(leases, 500)
        with pytest.raises(ApiError, match="HTTP 500"):
            await leader.leadership.claim("team")
        assert leader.shows("opsgym_namespaces_skipped") == 0

    with_client(work)


def test_two_releases_cannot_serve_a_namespace_and_the_second_says_so(leases: LeaseServer) -> None:
    leases_of_other = ("other", "opsgym-operator")
    LeaseServer(leases.server, leases_of_other)

    async def work(client: Client) -> None:
        time = Time()
        first = Replica(client, "pod-1", time)
        second = Replica(client, "pod-9", time, LeaseConfig(namespace="other", name="opsgym-operator"))
        await first.leadership.elect()
        await second.leadership.elect()
        assert await first.leadership.claim("team") == SERVED
        assert await second.leadership.claim("team") == Claim(served=False, other="release/opsgym-operator")
        assert second.leadership.writable_s("team") == 0
        assert (second.shows("opsgym_namespaces_of_other_releases"), second.shows("opsgym_operator_leading")) == (1, 1)
        time.now += NAMESPACE_DURATION_S
        await second.leadership._leads()
        assert await second.leadership.claim("team") == SERVED
        assert second.shows("opsgym_namespaces_of_other_releases") == 0

    with_client(work)


def test_the_next_leader_of_a_release_serves_its_namespaces_without_waiting(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        first, second = Replica(client, "pod-1", time), Replica(client, "pod-2", time)
        await first.leadership.elect()
        await first.leadership.claim("team")
        await second.leadership.elect()
        assert await second.leadership.claim("team") == SERVED
        assert first.leadership.writable_s("team") == 0

    with_client(work)


def test_missing_rights_end_the_operator_instead_of_leaving_it_waiting(server: ApiServer) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/release/leases/opsgym-operator"
    server.answer("GET", path, 403, {"message": "leases is forbidden"})

    async def work(client: Client) -> None:
        with pytest.raises(ApiError, match="leases is forbidden"):
            await Replica(client, "pod-1", Time()).leadership.elect()

    with_client(work)


def test_an_answer_that_is_lost_costs_a_renewal_and_no_leadership(leases: LeaseServer) -> None:
    async def work(client: Client) -> None:
        time = Time()
        lease = Lease(client, *LEADER, "pod-1", LEADER_DURATION_S, clock=lambda: time.now)
        assert await lease.hold()
        # The API server has taken a renewal of which this process knows nothing.
        spec: dict[str, Any] = leases.objects[LEADER]["spec"]
        leases._store(LEADER, {**spec, "renewTime": "later"})
        assert await lease.hold()
        assert not lease.view.lost

    with_client(work)
