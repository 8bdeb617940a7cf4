"""Applies a plan to the API server.

Invariant: applying a plan twice has the effect of applying it once; what fails is left to the next plan. A refused new
object prevents neither patches nor deletions, which stop pods and free quota. Each answer is recorded in the object
cache, so that the next plan counts on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from opsgym_core.kube.client import JOBS, KINDS, ApiError, Client, Kind, Manifest
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observe.labels import JOB_SPEC_KEY
from opsgym_operator.plan.desired import Desired, JobPatch, ObjectRef

WRITES = 8
"""Writes of one plan at the same time."""


async def apply_objects(
    client: Client, cache: ObjectCache, namespace: str, jobs: Iterable[Sequence[Manifest]], desired: Desired
) -> ApiError | None:
    """Patches, deletes and creates objects.

    Args:
        client: The API server.
        cache: Records what is written.
        namespace: Namespace of the objects.
        jobs: The objects of each new Job, in the order in which they are created.
        desired: The plan of a run.

    Returns:
        The first request that failed; None if all succeeded. After a failure no further one of its kind is made.
    """
    steps: tuple[Iterable[_Write], ...] = (
        (partial(_patch, client, cache, namespace, patch) for patch in desired.patches),
        (partial(delete, client, cache, namespace, ref) for ref in desired.delete),
        (partial(_create_in_order, client, cache, manifests) for manifests in jobs),
    )
    failures = [await write_each(step) for step in steps]
    return next((failure for failure in failures if failure is not None), None)


_Write = Callable[[], Awaitable[None]]


async def write_each(writes: Iterable[_Write], at_once: int = WRITES) -> ApiError | None:
    """Makes writes, some at the same time, until one fails; returns its error.

    Args:
        writes: The writes, each made when its turn comes.
        at_once: Writes at the same time.
    """
    remaining, failures = iter(writes), list[ApiError]()

    async def work() -> None:
        for write in remaining:
            try:
                await write()
            except ApiError as error:
                failures.append(error)
            if failures:
                return

    await asyncio.gather(*(work() for _ in range(at_once)))
    return failures[0] if failures else None


async def _create_in_order(client: Client, cache: ObjectCache, manifests: Iterable[Manifest]) -> None:
    for manifest in manifests:
        await create(client, cache, manifest)


async def create(client: Client, cache: ObjectCache, manifest: Manifest) -> None:
    """Creates an object unless it exists.

    Raises:
        ApiError: The API server refused it, or has another object of that name.
    """
    kind, namespace, name = KINDS[manifest["kind"]], manifest["metadata"]["namespace"], manifest["metadata"]["name"]
    # Before it is sent: the reconcile may be given up while the request is under way.
    cache.record_request(kind, namespace, name)
    try:
        created = await client.create(manifest)
    except ApiError as error:
        if not (error.uncertain or error.exists):
            cache.record_answer(kind, namespace, name)
        if not error.exists:
            raise
        existing = await client.get(kind, namespace, name)
        cache.record_answer(kind, namespace, name)
        if existing is None:
            raise
        cache.record_write(kind, existing)
        if _differs(manifest, existing):
            problem = f"{kind.name} {name} exists with other content; delete it if nothing uses it"
            raise ApiError(f"create {kind.name}", error.status, problem) from None
        return
    cache.record_answer(kind, namespace, name)
    cache.record_write(kind, created)


async def read_unanswered(client: Client, cache: ObjectCache, namespace: str) -> None:
    """Reads the objects of a namespace whose creation was not answered.

    The watches may report them only seconds after the API server has come back. A plan without them would delete their
    ConfigMaps and create Jobs for the same trials.

    Raises:
        ApiError: The API server is unavailable.
    """
    for kind, name in cache.unanswered(namespace):
        try:
            existing = await client.get(kind, namespace, name)
        except ApiError as error:
            if not error.refused:
                raise
            existing = None  # the watch is left to report it
        if existing is not None:
            cache.record_write(kind, existing)
        cache.record_answer(kind, namespace, name)


_COMPARED: Mapping[str, Sequence[tuple[str, str]]] = {
    "ConfigMap": [("data", JOB_SPEC_KEY)],
    "Job": [("spec", "completions"), ("spec", "backoffLimitPerIndex")],
}
"""Fields, by kind, in which an object that exists must equal the one to create. Of a Job these are fields that neither
its controller nor a user changes; what its pods do is in its ConfigMap."""


def _differs(manifest: Manifest, existing: Manifest) -> bool:
    """Whether an existing object is not the one that should be created: of another run, or with other trials."""
    compared = _COMPARED.get(manifest["kind"])
    if compared is None:
        return False
    owners = [item["metadata"].get("ownerReferences", [{}])[0].get("uid") for item in (manifest, existing)]
    return owners[0] != owners[1] or any(
        manifest[part].get(field) != (existing.get(part) or {}).get(field) for part, field in compared
    )


async def delete(client: Client, cache: ObjectCache, namespace: str, ref: ObjectRef) -> None:
    """Deletes the object that was seen, and its dependents, never a later one of its name.

    An object that has left the state in which it was to go stays.

    Raises:
        ApiError: The API server refused.
    """
    kind = KINDS[ref.kind]
    uid = ref.uid or cache.uid_of(kind, namespace, ref.name)
    try:
        await client.delete(kind, namespace, ref.name, uid=uid or None, version=ref.version or None)
    except ApiError as error:
        if not (ref.version and error.exists):
            raise
        return
    if uid:
        cache.record_deletion(uid)


async def _patch(client: Client, cache: ObjectCache, namespace: str, patch: JobPatch) -> None:
    fields = {"parallelism": patch.parallelism, "suspend": patch.suspend}
    change = {"spec": {name: value for name, value in fields.items() if value is not None}}
    try:
        cache.record_write(JOBS, await client.patch(JOBS, namespace, patch.name, change))
    except ApiError as error:
        # Deleted meanwhile, by a user or with its run: the watch reports it.
        if not error.missing:
            raise


async def apply_status(client: Client, cache: ObjectCache, kind: Kind, manifest: Manifest, status: BaseModel) -> bool:
    """Writes what differs between an object's current status and the desired one.

    Conditions are one list, which a patch replaces as a whole: they are written only to the version that was read, so
    that those which another controller has added since are not lost.

    Args:
        client: The API server.
        cache: Records what is written.
        kind: Kind of the object.
        manifest: The object as last observed.
        status: Its whole desired status.

    Returns:
        Whether the status is written; False if the object has changed since it was observed.

    Raises:
        ApiError: The API server refused it.
    """
    desired = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    change = merge_patch(manifest.get("status") or {}, desired)
    if not change:
        return True
    metadata = manifest["metadata"]
    patch: Manifest = {"status": change}
    if "conditions" in change:
        patch["metadata"] = {"resourceVersion": metadata["resourceVersion"]}
    try:
        written = await client.patch(kind, metadata["namespace"], metadata["name"], patch, "status")
    except ApiError as error:
        if error.missing or error.exists:
            return not error.exists
        raise
    cache.record_write(kind, written)
    return True


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch that turns `old` into `new`; empty if they are equal."""
    change: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if inner := merge_patch(before, value):
                change[name] = inner
        elif name not in old or before != value:
            change[name] = value
    return change
