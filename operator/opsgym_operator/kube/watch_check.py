"""Detects watches that report nothing although something has changed.

Invariant: a watch is called dead only if a restart of the operator helps. An API server that does not answer makes no
watch dead: the operator waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from opsgym_core.kube.client import ApiError, Client, Kind
from opsgym_operator.kube.cache import MANAGED_KINDS, WATCHED, ObjectCache
from opsgym_operator.kube.settings import MANAGED

log = structlog.get_logger(__name__)

CHECK_S = 45.0
"""Seconds between two checks. A working watch reports a change in less than one."""


class WatchCheck:
    """Compares what the watches reported with what the API server lists.

    A change that the API server lists in one check and that the watch has not reported by the next makes the watch
    dead. An object that is missing in both and still cached is forgotten: a watch that had to start anew never reports
    what was deleted meanwhile.

    Args:
        client: The API server.
        cache: What the watches reported.
        namespaces: Watched namespaces; the whole cluster if empty.
        interval_s: Seconds between two checks.
    """

    def __init__(
        self, client: Client, cache: ObjectCache, namespaces: Sequence[str], interval_s: float = CHECK_S
    ) -> None:
        self._client = client
        self._cache = cache
        self._namespaces: Sequence[str | None] = namespaces or (None,)
        self._interval_s = interval_s
        self._behind: dict[str, str] = {}
        """Listed resource versions, by uid, that the watches had not reported at the last check."""
        self._missing: set[str] = set()
        """Cached uids that were not listed at the last check."""
        self.problem = ""
        """Which watches are dead; empty if none is."""

    async def run(self) -> None:
        """Checks until it is cancelled."""
        while True:
            await asyncio.sleep(self._interval_s)
            try:
                await self.check()
            except ApiError as error:
                # Without a list there is nothing to compare the watches with.
                log.warning("cannot compare watches with the API server", problem=str(error))
                self._behind, self._missing = {}, set()

    async def check(self) -> None:
        """Compares once.

        Raises:
            ApiError: The API server refused to list objects.
        """
        behind: dict[str, str] = {}
        missing: set[str] = set()
        dead: list[str] = []
        for kind in WATCHED:
            before = self._cache.versions(kind)
            listed = await self._list(kind)
            cached = self._cache.versions(kind)
            late = {uid: version for uid, version in listed.items() if int(cached.get(uid, 0)) < int(version)}
            if any(self._behind.get(uid) == version for uid, version in late.items()):
                dead.append(kind.plural)
            behind |= late
            # Only objects that were cached before the list began: newer ones cannot be in it.
            missing |= before.keys() & cached.keys() - listed.keys()
        for uid in missing & self._missing:
            self._cache.forget(uid)
        self._behind, self._missing = behind, missing
        self.problem = f"the watch of {', '.join(dead)} reports nothing" if dead else ""

    async def _list(self, kind: Kind) -> dict[str, str]:
        """Resource versions of a kind's objects, by uid."""
        labels = MANAGED if kind in MANAGED_KINDS else ""
        versions: dict[str, str] = {}
        for namespace in self._namespaces:
            for item in await self._client.list(kind, namespace, labels, metadata_only=True):
                versions[item["metadata"]["uid"]] = item["metadata"]["resourceVersion"]
        return versions
