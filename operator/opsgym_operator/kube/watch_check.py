"""Detects watches that report nothing although something has changed.

Invariant: a watch is called dead only if a restart of the operator helps. An API server that does not answer makes no
watch dead: the operator waits for it. Each namespace is checked by itself: one that was deleted together with the
operator's Role is skipped and affects no other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from opsgym_core.kube.client import EVALRUNS, ApiError, Client, Kind
from opsgym_operator.kube.cache import MANAGED_KINDS, WATCHED, ObjectCache
from opsgym_operator.kube.settings import MANAGED

log = structlog.get_logger(__name__)

CHECK_S = 45.0
"""Seconds between two checks. A working watch reports a change in less than one."""


@dataclass
class _Differences:
    """What the watches have not reported."""

    behind: dict[str, str] = field(default_factory=dict)
    """Listed resource versions by uid."""
    missing: set[str] = field(default_factory=set)
    """Cached uids that are not listed."""
    dead: dict[str, None] = field(default_factory=dict)
    """Kinds, by their plural, whose watch is dead; in order."""


class WatchCheck:
    """Compares what the watches reported with what the API server lists.

    A change that the API server lists in one check and that the watch has not reported by the next makes the watch
    dead. An object that is missing in both and still cached is forgotten: a watch that had to start anew never reports
    what was deleted meanwhile.

    Args:
        client: The API server.
        cache: What the watches reported.
        namespaces: Watched namespaces; the whole cluster if empty.
        unwatched: Namespaces that should be watched and could not be listed when the watches began.
        show_skipped: Called with the skipped namespaces after each check.
        interval_s: Seconds between two checks.
    """

    def __init__(
        self,
        client: Client,
        cache: ObjectCache,
        namespaces: Sequence[str],
        unwatched: Sequence[str] = (),
        show_skipped: Callable[[Collection[str]], None] = lambda _: None,
        interval_s: float = CHECK_S,
    ) -> None:
        self._client = client
        self._cache = cache
        self._namespaces: Sequence[str | None] = namespaces or (None,)
        self._unwatched = unwatched
        self._show_skipped = show_skipped
        self._interval_s = interval_s
        self._skipped: set[str] = set(unwatched)
        """Namespaces that could not be listed at the last check."""
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
            ApiError: The API server is unavailable, or refuses to list objects of the whole cluster.
        """
        differences = _Differences()
        skipped: set[str] = set()
        for namespace in self._namespaces:
            try:
                await self._compare(namespace, differences)
            except ApiError as error:
                if namespace is None or not error.refused:
                    raise
                if namespace not in self._skipped:
                    log.warning("a namespace is skipped", namespace=namespace, problem=str(error))
                skipped.add(namespace)
        for uid in differences.missing & self._missing:
            self._cache.forget(uid)
        self._behind, self._missing, self._skipped = differences.behind, differences.missing, skipped
        self._show_skipped(skipped)
        self.problem = _problem(differences.dead, [name for name in self._unwatched if name not in skipped])

    async def _compare(self, namespace: str | None, differences: _Differences) -> None:
        """Adds what the watches of a namespace have not reported.

        Raises:
            ApiError: The API server refused to list objects.
        """
        if namespace in self._unwatched:
            await self._list(EVALRUNS, namespace)
            return
        for kind in WATCHED:
            before = self._cache.versions(kind, namespace)
            listed = await self._list(kind, namespace)
            cached = self._cache.versions(kind, namespace)
            late = {uid: version for uid, version in listed.items() if int(cached.get(uid, 0)) < int(version)}
            if any(self._behind.get(uid) == version for uid, version in late.items()):
                differences.dead[kind.plural] = None
            differences.behind |= late
            # Only objects that were cached before the list began: newer ones cannot be in it.
            differences.missing |= before.keys() & cached.keys() - listed.keys()

    async def _list(self, kind: Kind, namespace: str | None) -> dict[str, str]:
        """Resource versions of a kind's objects, by uid."""
        labels = MANAGED if kind in MANAGED_KINDS else ""
        items = await self._client.list(kind, namespace, labels, metadata_only=True)
        return {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for item in items}


def _problem(dead: Iterable[str], returned: Sequence[str]) -> str:
    problems = [f"the watch of {', '.join(dead)} reports nothing"] if dead else []
    if returned:
        problems.append(f"namespace {', '.join(returned)} can be listed again and is not watched")
    return "; ".join(problems)
