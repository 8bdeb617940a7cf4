"""Cache of the cluster's objects: kopf's indexes, overlaid with the operator's own recent writes.

Invariant: an object that the operator has just created, changed or deleted is listed as such at once, although the
watch reports it later. Otherwise the next reconcile would create it twice, or allocate slots that it holds. A creation
that was not answered is remembered until the object was read: it may exist all the same.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import kopf

from opsgym_core.kube.client import CONFIGMAPS, EVALMODELS, EVALRUNS, EVALSCHEDULES, JOBS, PODS, Kind, Manifest
from opsgym_operator.observe.labels import JOB_SPEC_KEY
from opsgym_operator.observe.parse import read_job_trials
from opsgym_operator.observe.snapshot import JOB_TRIALS

WATCHED = (EVALRUNS, EVALMODELS, EVALSCHEDULES, JOBS, PODS, CONFIGMAPS)
"""Kinds that are watched."""
MANAGED_KINDS = (JOBS, PODS, CONFIGMAPS)
"""Kinds of which only the objects that the operator created are watched."""

_DROPPED = ("managedFields", "finalizers", "generateName", "selfLink")
"""Metadata that the operator does not read; it is most of an object's size."""
_POD_METADATA = (
    "name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "labels",
    "ownerReferences",
)  # fmt: skip
_POD_STATUS = ("phase", "reason", "message", "hostIP", "conditions", "initContainerStatuses", "containerStatuses")
_CONDITION = ("type", "status", "reason", "message", "lastTransitionTime")
_CONTAINER = ("name", "image", "imageID", "state", "lastState")

_SHORT = 200
"""Characters of a text that is stored once for all objects: names, images, times."""
_REMEMBERED = 2000
"""Reported deletions that are remembered, for answers to writes that arrive after them."""


class ObjectCache:
    """Objects by kind and namespace.

    Args:
        enqueue: Called with the namespace of every object that was added, changed or deleted.
    """

    def __init__(self, enqueue: Callable[[str], None]) -> None:
        self._enqueue = enqueue
        self._indexes: dict[str, Mapping[str, Iterable[Manifest]]] = {}
        """What the watches reported: by kind, then by namespace."""
        self._written: dict[str, dict[str, Manifest]] = {kind.name: {} for kind in WATCHED}
        """What the operator wrote and the watch has not reported yet: by kind, then by uid."""
        self._deleted: deque[str] = deque(maxlen=_REMEMBERED)
        """Uids of objects that the watch reported as deleted."""
        self._tombstones: set[str] = set()
        """Uids of objects that the operator deleted and the watch still has."""
        self._unanswered: dict[tuple[str, str, str], Kind] = {}
        """Kinds of objects whose creation was requested and not answered, by kind, namespace and name."""

    def register(self, registry: kopf.OperatorRegistry) -> None:
        """Registers watches and indexes of all kinds with kopf."""
        for kind in WATCHED:
            group, _, version = kind.api_version.rpartition("/")
            self._register(kind, (group, version, kind.plural), registry)

        @kopf.on.startup(registry=registry)
        def take_indexes(**indexes: Any) -> None:
            self._indexes = {kind.name: indexes[kind.plural] for kind in WATCHED}

    def _register(self, kind: Kind, selector: tuple[str, str, str], registry: kopf.OperatorRegistry) -> None:
        @kopf.index(*selector, id=kind.plural, registry=registry)
        async def index(namespace: str | None, body: kopf.Body, **_: Any) -> Mapping[str, Manifest]:
            return {str(namespace): take_slim(kind, body)}

        @kopf.on.event(*selector, id=f"enqueue-{kind.plural}", registry=registry)
        async def enqueue(namespace: str | None, uid: str, type: str, **_: Any) -> None:  # noqa: A002 (kopf's name)
            if type == "DELETED":
                self.removed(kind, uid)
            self._enqueue(str(namespace))

    def objects(self, kind: Kind, namespace: str) -> list[Manifest]:
        """Objects of a kind in a namespace, in no order."""
        watched = {
            uid: item
            for item in self._indexes.get(kind.name, {}).get(namespace, ())
            if (uid := item["metadata"]["uid"]) not in self._tombstones
        }
        written = self._written[kind.name]
        superseded = [
            uid for uid, item in written.items() if uid in watched and _version(watched[uid]) >= _version(item)
        ]
        for uid in superseded:
            del written[uid]
        overlay = {uid: item for uid, item in written.items() if item["metadata"]["namespace"] == namespace}
        return list({**watched, **overlay}.values())

    def uid_of(self, kind: Kind, namespace: str, name: str) -> str:
        """Uid of the object of that name; empty if none is known."""
        watched = self._indexes.get(kind.name, {}).get(namespace, ())
        for items in (self._written[kind.name].values(), watched):
            for item in items:
                metadata = item["metadata"]
                own = (metadata["namespace"], metadata["name"]) == (namespace, name)
                if own and metadata["uid"] not in self._tombstones:
                    return str(metadata["uid"])
        return ""

    def namespaces(self) -> set[str]:
        """Namespaces that hold watched objects."""
        return {name for kind in WATCHED for name in self._indexes.get(kind.name, {})}

    def versions(self, kind: Kind, namespace: str | None = None) -> dict[str, str]:
        """Resource versions, by uid, of objects that the watch reported and the operator has not deleted.

        Args:
            kind: The kind.
            namespace: Namespace of the objects; None for all.
        """
        indexed = self._indexes.get(kind.name, {})
        return {
            item["metadata"]["uid"]: item["metadata"]["resourceVersion"]
            for items in ([indexed.get(namespace, ())] if namespace else indexed.values())
            for item in items
            if item["metadata"]["uid"] not in self._tombstones
        }

    def record_write(self, kind: Kind, manifest: Manifest) -> None:
        """Records what the API server answered to a write."""
        uid = manifest["metadata"]["uid"]
        if kind.name in self._written and uid not in self._deleted:
            self._written[kind.name][uid] = slim(kind, manifest)

    def record_request(self, kind: Kind, namespace: str, name: str) -> None:
        """Records that the creation of an object is requested."""
        self._unanswered[kind.name, namespace, name] = kind

    def record_answer(self, kind: Kind, namespace: str, name: str) -> None:
        """Records that it is known whether that object exists."""
        self._unanswered.pop((kind.name, namespace, name), None)

    def unanswered(self, namespace: str) -> list[tuple[Kind, str]]:
        """Kinds and names of objects in a namespace whose creation was requested and not answered."""
        return [(kind, name) for (_, within, name), kind in self._unanswered.items() if within == namespace]

    def record_deletion(self, uid: str) -> None:
        """Hides an object that the operator has deleted, until the watch reports the deletion."""
        self._tombstones.add(uid)
        for items in self._written.values():
            items.pop(uid, None)

    def removed(self, kind: Kind, uid: str) -> None:
        """Forgets an object that the watch reported as deleted."""
        self._deleted.append(uid)
        self._tombstones.discard(uid)
        self._written[kind.name].pop(uid, None)

    def forget(self, uid: str) -> None:
        """Hides an object that is gone although no watch has reported it."""
        self.record_deletion(uid)
        for namespace in self.namespaces():
            self._enqueue(namespace)


def _version(manifest: Manifest) -> int:
    """Resource version as a number: Kubernetes specifies since 1.35 that those of one object can be compared so."""
    return int(manifest["metadata"]["resourceVersion"])


def slim(kind: Kind, body: Mapping[str, Any]) -> Manifest:
    """An object without the fields that the operator does not read, to hold thousands of pods in little memory."""
    metadata = {name: value for name, value in body["metadata"].items() if name not in _DROPPED}
    slimmed: Manifest = {"metadata": metadata, "status": dict(body.get("status") or {})}
    if kind is JOBS:
        spec = body["spec"]
        slimmed["spec"] = {name: spec[name] for name in ("parallelism", "completions", "suspend") if name in spec}
    elif kind is CONFIGMAPS:
        slimmed[JOB_TRIALS] = read_job_trials((body.get("data") or {}).get(JOB_SPEC_KEY, ""))
    elif kind is PODS:
        slimmed = _slim_pod(body)
    else:
        slimmed |= {"apiVersion": kind.api_version, "kind": kind.name, "spec": body.get("spec")}
    return slimmed


def take_slim(kind: Kind, body: Mapping[str, Any]) -> Manifest:
    """An object as `slim` makes it; what it leaves out is removed from the given one.

    At its start kopf keeps every object until all are indexed. A thousand pods would take 133 MB, and take 8.
    """
    slimmed = slim(kind, body)
    if kind in MANAGED_KINDS:
        for content in (body.get("spec"), body.get("data"), body["metadata"].get("managedFields")):
            if content:
                content.clear()
    return slimmed


def _slim_pod(body: Mapping[str, Any]) -> Manifest:
    """A pod with what the operator reads; texts that thousands of pods share are stored once."""
    status = _shared(_part(body.get("status") or {}, _POD_STATUS))
    for name, keys in (
        ("conditions", _CONDITION),
        ("initContainerStatuses", _CONTAINER),
        ("containerStatuses", _CONTAINER),
    ):
        if name in status:
            status[name] = [_part(item, keys) for item in status[name]]
    return {"metadata": _shared(_part(body["metadata"], _POD_METADATA)), "status": status}


def _part(content: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: content[key] for key in keys if content.get(key) not in (None, {})}


def _shared(content: Any) -> Any:
    """Content whose short texts are interned."""
    if isinstance(content, str):
        return sys.intern(content) if len(content) <= _SHORT else content
    if isinstance(content, Mapping):
        return {sys.intern(key): _shared(value) for key, value in content.items()}
    return [_shared(value) for value in content] if isinstance(content, list) else content
