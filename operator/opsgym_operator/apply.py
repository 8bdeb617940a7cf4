"""Does what a plan wants. Invariant: doing it twice is doing it once; what fails leaves the rest for the next plan."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from opsgym_operator.client import JOBS, KINDS, ApiError, Client, Kind, Manifest
from opsgym_operator.desired import Desired, JobPatch, ObjectRef
from opsgym_operator.events import tell
from opsgym_operator.watch import Watched


async def apply_objects(client: Client, watched: Watched, namespace: str, desired: Desired) -> bool:
    """Creates, changes and deletes objects; says whether anything was asked for.

    Raises:
        ApiError: The API server refused something; what follows it was not tried.
    """
    for manifest in desired.create:
        await create(client, watched, dict(manifest))
    for patch in desired.patches:
        await _patch(client, watched, namespace, patch)
    for ref in desired.delete:
        await delete(client, watched, namespace, ref)
    return bool(desired.create or desired.patches or desired.delete)


async def create(client: Client, watched: Watched, manifest: Manifest) -> None:
    """Creates an object unless there is one of its name.

    Raises:
        ApiError: The API server refused it.
    """
    kind = KINDS[manifest["kind"]]
    try:
        made = await client.create(manifest)
    except ApiError as error:
        if not error.exists:
            raise
        there = await client.get(kind, manifest["metadata"]["namespace"], manifest["metadata"]["name"])
        if there is None:
            raise
        made = there
    watched.wrote(kind, made)


async def delete(client: Client, watched: Watched, namespace: str, ref: ObjectRef) -> None:
    """Deletes an object and what it owns.

    Raises:
        ApiError: The API server refused.
    """
    kind = KINDS[ref.kind]
    await client.delete(kind, namespace, ref.name)
    for item in watched.objects(kind, namespace):
        if item["metadata"]["name"] == ref.name:
            watched.hide(item["metadata"]["uid"])


async def _patch(client: Client, watched: Watched, namespace: str, patch: JobPatch) -> None:
    fields = {"parallelism": patch.parallelism, "suspend": patch.suspend}
    change = {"spec": {name: value for name, value in fields.items() if value is not None}}
    try:
        watched.wrote(JOBS, await client.patch(JOBS, namespace, patch.name, change))
    except ApiError as error:
        # Deleted meanwhile, by a person or with its run: the watch tells.
        if not error.missing:
            raise


async def apply_status(client: Client, watched: Watched, kind: Kind, there: Manifest, status: BaseModel) -> None:
    """Writes what differs from the status that is there.

    Args:
        client: The API server.
        watched: Learns what was written.
        kind: Kind of the object.
        there: The object as last seen.
        status: Its whole status.

    Raises:
        ApiError: The API server refused it.
    """
    wanted = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    change = merge_patch(there.get("status") or {}, wanted)
    if not change:
        return
    metadata = there["metadata"]
    try:
        made = await client.patch(kind, metadata["namespace"], metadata["name"], {"status": change}, "status")
    except ApiError as error:
        if error.missing:
            return
        raise
    watched.wrote(kind, made)


async def apply_events(client: Client, there: Manifest, desired: Desired, now: datetime) -> None:
    """Tells what happened."""
    for event in desired.events:
        await tell(client, there, event, now)


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch that makes `new` of `old`; empty if they are equal."""
    change: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if inner := merge_patch(before, value):
                change[name] = inner
        elif name not in old or before != value:
            change[name] = value
    return change
