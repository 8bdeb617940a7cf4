"""A `coordination.k8s.io/Lease` that at most one holder has at a time, and the time for which its holder may write.

Invariant: a holder stops before another contender can take its Lease. It counts the duration from the moment before its
renewal was sent; others count the same duration from the moment at which they saw that renewal, which is later. Each
side compares times of its own monotonic clock only, so clocks of nodes need not agree. A write of the Lease names the
version that was read, so that of two contenders the API server accepts one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from opsgym_core.common.clock import utc_now
from opsgym_core.kube.client import LEASES, ApiError, Client, Manifest

MARGIN_S = 2.0
"""Seconds before the end of a Lease at which its holder stops to write: a request may take effect shortly after it was
given up."""


@dataclass(frozen=True)
class LeaseRecord:
    """A Lease as the API server has it."""

    version: str
    """Its resource version; empty if it does not exist."""
    holder: str
    """Identity of the holder; empty if it was released."""
    duration_s: float
    """Seconds from a renewal for which it is held."""
    transitions: int
    """How often it changed hands."""
    acquired: str
    """When the holder got it, RFC 3339."""
    renewed: str
    """When it was last renewed, RFC 3339."""


ABSENT = LeaseRecord("", "", 0.0, 0, "", "")
"""A Lease that does not exist."""


def read_lease(manifest: Manifest | None) -> LeaseRecord:
    """A Lease object; fields that others removed count as zero or empty."""
    if manifest is None:
        return ABSENT
    spec = manifest.get("spec") or {}
    return LeaseRecord(
        version=manifest["metadata"]["resourceVersion"],
        holder=spec.get("holderIdentity") or "",
        duration_s=float(spec.get("leaseDurationSeconds") or 0),
        transitions=int(spec.get("leaseTransitions") or 0),
        acquired=spec.get("acquireTime") or "",
        renewed=spec.get("renewTime") or "",
    )


class LeaseView:
    """What one contender knows of a Lease, and what it may do. Pure: times are seconds of a monotonic clock.

    Args:
        identity: Name of the contender; two that may run at the same time have different ones.
        duration_s: Seconds for which it holds the Lease after each renewal.
    """

    def __init__(self, identity: str, duration_s: float) -> None:
        self._identity = identity
        self._duration_s = duration_s
        self.record = ABSENT
        """The Lease as last seen."""
        self._changed_at = float("-inf")
        """When a change of the Lease was last seen."""
        self._held_until = float("-inf")
        self._transitions: int | None = None
        """Transitions of the Lease when this contender got it; None if it never has."""

    def observe(self, record: LeaseRecord, now: float) -> None:
        """Notes the Lease as it was read."""
        if record != self.record:
            self.record, self._changed_at = record, now

    @property
    def entered(self) -> bool:
        """Whether this contender got the Lease and has not given it back."""
        return self._transitions is not None

    @property
    def lost(self) -> bool:
        """Whether another contender has had the Lease since this contender got it."""
        own = (self.record.holder, self.record.transitions) == (self._identity, self._transitions)
        return self.entered and not own

    @property
    def other(self) -> str:
        """Who else holds the Lease or held it last; empty if none does."""
        return "" if self.record.holder == self._identity else self.record.holder

    def claimable(self, now: float) -> bool:
        """Whether this contender may write itself into the Lease."""
        return not self.other or now - self._changed_at >= self.record.duration_s

    def claim(self, at: str) -> LeaseRecord:
        """The Lease with this contender as its holder, renewed at a time, RFC 3339."""
        renewed = replace(self.record, holder=self._identity, duration_s=self._duration_s, renewed=at)
        if self.record.holder == self._identity:
            return renewed
        return replace(renewed, acquired=at, transitions=self.record.transitions + bool(self.record.version))

    def hold(self, record: LeaseRecord, sent_at: float) -> None:
        """Notes that the API server accepted a claim that was sent at that time."""
        self.observe(record, sent_at)
        self._transitions = record.transitions
        self._held_until = sent_at + self._duration_s

    def release(self) -> None:
        """Notes that this contender gave the Lease back."""
        self._held_until, self._transitions = float("-inf"), None

    def writable_s(self, now: float) -> float:
        """Seconds for which the holder may still write; 0 for any other contender."""
        return 0.0 if self.lost else max(0.0, self._held_until - MARGIN_S - now)


class Lease:
    """A Lease in the API server and one contender for it.

    Args:
        client: The API server; not the client whose writes depend on the Lease.
        namespace: Namespace of the Lease.
        name: Its name.
        identity: Name of the contender.
        duration_s: Seconds for which it holds the Lease after each renewal; whole ones.
        clock: Monotonic seconds.
        now: The time, for people who read the Lease.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        identity: str,
        duration_s: int,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._client = client
        self.namespace = namespace
        self.name = name
        self._clock = clock
        self._now = now
        self.view = LeaseView(identity, duration_s)

    @property
    def writable_s(self) -> float:
        """Seconds for which the holder may still write; 0 for any other contender."""
        return self.view.writable_s(self._clock())

    async def hold(self) -> bool:
        """Gets or renews the Lease if no other one has it; returns whether this contender holds it now.

        Raises:
            ApiError: The API server refused the request, or is unavailable.
        """
        if not self.writable_s:
            await self._read()
        for _ in range(2):
            if self.view.lost or not self.view.claimable(self._clock()):
                return False
            if await self._claim():
                return True
            # Another contender was faster, or the answer to an own renewal was lost.
            await self._read()
        return False

    async def release(self) -> None:
        """Gives the Lease back, so that the next contender need not wait; nothing happens unless this one holds it.

        Raises:
            ApiError: The API server refused the request, or is unavailable.
        """
        if not self.writable_s:
            return
        self.view.release()
        change = {"metadata": {"resourceVersion": self.view.record.version}, "spec": {"holderIdentity": ""}}
        await self._client.patch(LEASES, self.namespace, self.name, change)

    async def _read(self) -> None:
        manifest = await self._client.get(LEASES, self.namespace, self.name)
        self.view.observe(read_lease(manifest), self._clock())

    async def _claim(self) -> bool:
        """Writes the claim; False if the Lease has changed since it was read."""
        claim = self.view.claim(self._now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
        sent_at = self._clock()
        try:
            written = await self._write(claim)
        except ApiError as error:
            if error.exists or error.missing:
                return False
            raise
        self.view.hold(read_lease(written), sent_at)
        return True

    async def _write(self, claim: LeaseRecord) -> Manifest:
        spec = {
            "holderIdentity": claim.holder,
            "leaseDurationSeconds": int(claim.duration_s),
            "leaseTransitions": claim.transitions,
            "acquireTime": claim.acquired or claim.renewed,
            "renewTime": claim.renewed,
        }
        if claim.version:
            change = {"metadata": {"resourceVersion": claim.version}, "spec": spec}
            return await self._client.patch(LEASES, self.namespace, self.name, change)
        metadata = {"name": self.name, "namespace": self.namespace}
        manifest = {"apiVersion": LEASES.api_version, "kind": LEASES.name, "metadata": metadata, "spec": spec}
        return await self._client.create(manifest)
