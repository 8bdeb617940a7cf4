"""What the cluster holds, as far as the operator is concerned: kopf's indexes, and what was written a moment ago.

Invariant: an object that the operator has just created or changed is seen as such at once, although the watch tells of
it later. Otherwise a second look would create it twice, or count a model's ceiling without it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import kopf

from opsgym_operator.client import CONFIGMAPS, EVALMODELS, EVALRUNS, EVALSCHEDULES, JOBS, PODS, Kind, Manifest
from opsgym_operator.read import read_order

WATCHED = (EVALRUNS, EVALMODELS, EVALSCHEDULES, JOBS, PODS, CONFIGMAPS)
"""Kinds that are watched."""
OURS = (JOBS, PODS, CONFIGMAPS)
"""Those of which only what the operator made is watched."""

_DROPPED = ("managedFields", "finalizers", "generateName", "selfLink")
"""Metadata that nobody here reads, and that is most of an object's size."""

_REMEMBERED = 2000
"""Deletions remembered, for answers to writes that arrive after the watch told that the object is gone."""


class Watched:
    """Objects by kind and namespace.

    Args:
        wake: Called with the namespace of every object that came, changed or went.
    """

    def __init__(self, wake: Callable[[str], None]) -> None:
        self._wake = wake
        self._indexes: dict[str, Mapping[str, Iterable[Manifest]]] = {}
        self._written: dict[str, dict[str, Manifest]] = {kind.name: {} for kind in WATCHED}
        self._gone: deque[str] = deque(maxlen=_REMEMBERED)
        self._ghosts: set[str] = set()

    def register(self, registry: kopf.OperatorRegistry) -> None:
        """Tells kopf what to watch."""
        for kind in WATCHED:
            group, _, version = kind.api_version.rpartition("/")
            self._register(kind, (group, version, kind.plural), registry)

        @kopf.on.startup(registry=registry)
        def take_indexes(**given: Any) -> None:
            self._indexes = {kind.name: given[kind.plural] for kind in WATCHED}

    def _register(self, kind: Kind, selector: tuple[str, str, str], registry: kopf.OperatorRegistry) -> None:
        @kopf.index(*selector, id=kind.plural, registry=registry)
        async def index(namespace: str | None, body: kopf.Body, **_: Any) -> Mapping[str, Manifest]:
            return {str(namespace): slim(kind, body)}

        @kopf.on.event(*selector, id=f"wake-{kind.plural}", registry=registry)
        async def wake(namespace: str | None, uid: str, type: str, **_: Any) -> None:  # noqa: A002 (kopf's name)
            if type == "DELETED":
                self.removed(kind, uid)
            self._wake(str(namespace))

    def objects(self, kind: Kind, namespace: str) -> list[Manifest]:
        """Objects of a kind in a namespace, in no order."""
        index = self._indexes.get(kind.name, {})
        written = self._written[kind.name]
        there = index.get(namespace, ())
        told = {uid: item for item in there if (uid := item["metadata"]["uid"]) not in self._ghosts}
        for uid in [uid for uid, item in written.items() if uid in told and _version(told[uid]) >= _version(item)]:
            del written[uid]
        mine = {uid: item for uid, item in written.items() if item["metadata"]["namespace"] == namespace}
        return list({**told, **mine}.values())

    def namespaces(self) -> set[str]:
        """Namespaces that hold objects of our own kinds."""
        return {name for kind in WATCHED for name in self._indexes.get(kind.name, {})}

    def versions(self, kind: Kind) -> dict[str, str]:
        """Resource version by uid of everything the watch told."""
        told = {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for item in self._told(kind)}
        return {uid: version for uid, version in told.items() if uid not in self._ghosts}

    def wrote(self, kind: Kind, manifest: Manifest) -> None:
        """Takes what the API server answered to a write."""
        uid = manifest["metadata"]["uid"]
        if kind.name in self._written and uid not in self._gone:
            self._written[kind.name][uid] = slim(kind, manifest)

    def removed(self, kind: Kind, uid: str) -> None:
        """Forgets an object that is gone."""
        self._gone.append(uid)
        self._ghosts.discard(uid)
        self._written[kind.name].pop(uid, None)

    def hide(self, uid: str) -> None:
        """Shows an object no more that was just deleted, before the watch tells."""
        self._ghosts.add(uid)
        for items in self._written.values():
            items.pop(uid, None)

    def forget(self, uid: str) -> None:
        """Forgets an object that is gone although no watch told so."""
        self.hide(uid)
        for namespace in self.namespaces():
            self._wake(namespace)

    def _told(self, kind: Kind) -> Iterator[Manifest]:
        for items in self._indexes.get(kind.name, {}).values():
            yield from items


def _version(manifest: Manifest) -> int:
    """Resource versions of one object grow, and are numbers since Kubernetes 1.35 promises it (and were before)."""
    return int(manifest["metadata"]["resourceVersion"])


def slim(kind: Kind, body: Mapping[str, Any]) -> Manifest:
    """An object without what nobody here reads: a thousand pods must fit into a small operator's memory."""
    metadata = {name: value for name, value in body["metadata"].items() if name not in _DROPPED}
    kept: Manifest = {"metadata": metadata, "status": dict(body.get("status") or {})}
    if kind is JOBS:
        spec = body["spec"]
        kept["spec"] = {name: spec[name] for name in ("parallelism", "completions", "suspend") if name in spec}
    elif kind is CONFIGMAPS:
        kept["order"] = read_order((body.get("data") or {}).get("order.json", ""))
    elif kind is not PODS:
        kept |= {"apiVersion": kind.api_version, "kind": kind.name, "spec": body.get("spec")}
    return kept
