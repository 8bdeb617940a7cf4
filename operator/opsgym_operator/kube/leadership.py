"""Leadership of a release's replicas, and the namespaces that the release serves.

Invariant: an object of a namespace is written only by the leader of the one release that serves the namespace. Two
Leases say so: one elects the leader among the replicas of a release, and one in each served namespace names the
release. Writes end before another process can get either of them. A leader that has lost its own Lease ends, since what
it has in memory may be out of date; one that merely cannot renew it stops writing and goes on once the API server
answers. A namespace whose Lease is lost, which its editors can cause, is dropped from memory and claimed anew; one
whose Lease the API server refuses is skipped, because it was deleted or has lost the operator's Role.
"""

from __future__ import annotations

import asyncio
import http
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import structlog

from opsgym_core.kube.client import ApiError, Client
from opsgym_core.metrics.registry import Metrics
from opsgym_operator.config import LeaseConfig
from opsgym_operator.kube.lease import Lease

log = structlog.get_logger(__name__)

LEADER_DURATION_S = 12
"""Seconds after which another replica takes over from a leader that does not renew its Lease."""
RENEW_S = 3.0
"""Seconds between renewals of the leader's Lease."""
RETRY_S = 2.0
"""Seconds between two looks of a standby at the Lease, and after a failed renewal."""
NAMESPACE_DURATION_S = 60
"""Seconds after which another release may serve a namespace that its release has left. Replicas of one release take
over from each other at once, so this may be long, and renewals of a hundred namespaces are few."""
NAMESPACE_RENEW_S = 20.0
"""Seconds between renewals of a namespace's Lease."""
NAMESPACE_LEASE = "opsgym-namespace"
"""Name of the Lease, in each served namespace, whose holder is the release that serves the namespace."""


class LostLeaseError(Exception):
    """Another process leads the release that this one led."""


@dataclass(frozen=True)
class Claim:
    """Whether the release serves a namespace."""

    served: bool
    other: str = ""
    """The release that serves it instead; empty if none does, because the namespace is gone or its Lease is refused."""


SERVED = Claim(served=True)
SKIPPED = Claim(served=False)


class Leadership:
    """The Leases of one process.

    Args:
        client: The API server; another client than that of the writes that depend on it.
        config: The leader's Lease.
        identity: Name of this process, which no other process has at the same time.
        metrics: Shows whether this process leads, and the namespaces that are left out.
        lease: Makes a Lease of a namespace, name, identity and duration; for tests.
        sleep: Waits for a number of seconds.
    """

    def __init__(
        self,
        client: Client,
        config: LeaseConfig,
        identity: str,
        metrics: Metrics,
        lease: Callable[[str, str, str, int], Lease] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._lease = lease or partial(Lease, client)
        self._leader = self._lease(config.namespace, config.name, identity, LEADER_DURATION_S)
        self._release = f"{config.namespace}/{config.name}"
        self._metrics = metrics
        self._sleep = sleep
        self._namespaces: dict[str, Lease] = {}
        self._refused: set[str] = set()
        """Namespaces whose Lease the API server refuses."""
        self._lost: dict[str, Claim] = {}
        """Namespaces whose Lease was lost, until the next claim says so to their reconcilers."""
        self.standing_by = False
        """Whether another process is known to lead."""

    def writable_s(self, namespace: str) -> float:
        """Seconds for which objects of a namespace may still be written; 0 if they may not."""
        claim = self._namespaces.get(namespace)
        return min(self._leader.writable_s, claim.writable_s) if claim is not None else 0.0

    async def elect(self) -> None:
        """Returns once this process leads.

        Raises:
            ApiError: The API server refuses access to the Lease.
        """
        while not await self._leads():
            await self._sleep(RETRY_S)
        self.standing_by = False
        self._metrics.show_leading(True)
        log.info("leading", release=self._release)

    async def _leads(self) -> bool:
        try:
            leads = await self._leader.hold()
        except ApiError as error:
            if error.refused:
                raise
            log.warning("cannot read or write the leader's Lease", problem=str(error))
            return False
        if not leads and not self.standing_by:
            log.info("standing by", leader=self._leader.view.other)
        self.standing_by = not leads
        return leads

    async def keep(self) -> None:
        """Renews the Leases until it is cancelled.

        Raises:
            LostLeaseError: Another process leads.
        """
        tasks = [asyncio.create_task(work) for work in (self._keep_leader(), self._keep_namespaces())]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _keep_leader(self) -> None:
        while True:
            await self._sleep(RENEW_S if await self._renewed(self._leader) else RETRY_S)

    async def _keep_namespaces(self) -> None:
        while True:
            await self._sleep(NAMESPACE_RENEW_S)
            for namespace, lease in list(self._namespaces.items()):
                if not lease.view.entered or await self._renewed(lease):
                    continue
                if not lease.view.record.version:
                    # Deleted, as a rule with its namespace; a reconcile of the namespace would claim it again.
                    del self._namespaces[namespace]
                elif lease.view.lost:
                    self._lost[namespace] = self._dropped(namespace, lease)

    async def _renewed(self, lease: Lease) -> bool:
        """Renews a Lease that this process has got; False if that failed and will be tried again.

        Raises:
            LostLeaseError: It is the leader's, and another process has got it.
        """
        try:
            held = await lease.hold()
        except ApiError as error:
            if lease is not self._leader and _for_good(error):
                self._skip(lease.namespace, str(error))
            else:
                log.warning("cannot renew a Lease", problem=str(error), writable_s=round(lease.writable_s, 1))
            return False
        if lease.view.lost and lease is self._leader:
            holder = lease.view.other or "none: it was deleted"
            raise LostLeaseError(f"Lease {lease.name} is lost; its holder is {holder}")
        if held:
            self._refused.discard(lease.namespace)
        return held

    def _dropped(self, namespace: str, lease: Lease) -> Claim:
        """Leaves a namespace whose Lease another one has had; its reconciler drops it too, and then claims it anew."""
        self._namespaces.pop(namespace, None)
        self._metrics.count_lost_namespace()
        log.warning("the Lease of a namespace is lost", namespace=namespace, holder=lease.view.record.holder)
        self._show()
        return Claim(served=False, other=lease.view.other)

    async def claim(self, namespace: str) -> Claim:
        """Claims a namespace for the release; after a loss its first result is that the namespace is not served.

        Raises:
            ApiError: Nothing may be written now, because the Leases cannot be renewed.
        """
        if not self._leader.writable_s:
            raise ApiError(f"reconcile {namespace}", 0, "the leader's Lease cannot be renewed")
        if namespace in self._lost:
            return self._lost.pop(namespace)
        lease = self._namespaces.get(namespace)
        if lease is None:
            lease = self._lease(namespace, NAMESPACE_LEASE, self._release, NAMESPACE_DURATION_S)
            self._namespaces[namespace] = lease
        try:
            claim = await self._held(lease)
        except ApiError as error:
            if not _for_good(error):
                raise
            self._skip(namespace, str(error))
            claim = SKIPPED
        if lease.view.lost and lease.view.record.version:
            return self._dropped(namespace, lease)
        if claim is SKIPPED:
            # What is in memory of it is dropped too, so that a later claim need not notice other holders in between.
            self._namespaces.pop(namespace, None)
        self._show()
        return claim

    async def _held(self, lease: Lease) -> Claim:
        """Holds the Lease of a namespace if no other release does.

        Raises:
            ApiError: The API server refuses the Lease, or is unavailable.
        """
        if lease.writable_s:
            return SERVED
        if (held := await lease.hold()) or lease.view.other:
            self._refused.discard(lease.namespace)
            return SERVED if held else Claim(served=False, other=lease.view.other)
        if lease.view.lost and lease.view.record.version:
            return Claim(served=False)
        if lease.view.record.version:
            raise ApiError(f"claim {lease.namespace}", 0, "its Lease has changed at each attempt to hold it")
        self._skip(lease.namespace, "the namespace does not exist")
        return SKIPPED

    def leave(self, namespace: str) -> None:
        """Forgets a namespace of which nothing is left; it may be claimed again."""
        self._namespaces.pop(namespace, None)
        self._refused.discard(namespace)
        self._show()

    def _skip(self, namespace: str, problem: str) -> None:
        """Says once that a namespace is not served."""
        if namespace in self._namespaces and namespace not in self._refused:
            log.warning("a namespace is skipped", namespace=namespace, problem=problem)
            self._refused.add(namespace)
            self._show()

    def _show(self) -> None:
        self._metrics.show_namespaces_of_others(sum(bool(lease.view.other) for lease in self._namespaces.values()))
        self._metrics.show_skipped_namespaces("claim", self._refused)

    async def release(self) -> None:
        """Gives the leadership back, after the last write; the namespaces stay with the release."""
        self._metrics.show_leading(False)
        try:
            await self._leader.release()
        except ApiError as error:
            log.warning("cannot give back the leader's Lease", problem=str(error))


def _for_good(error: ApiError) -> bool:
    """Whether the API server refuses a Lease until an administrator acts; what fails in it (5xx) passes."""
    return error.refused and error.status < http.HTTPStatus.INTERNAL_SERVER_ERROR
