"""Tells an EvalRun's story in `kubectl describe`. Needs the right to create and patch events of the namespace.

Invariant: the same thing said again is counted, not repeated; an event that cannot be written stops nothing.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

import structlog

from opsgym_operator.client import EVENTS, ApiError, Client, Manifest
from opsgym_operator.desired import Event
from opsgym_operator.status import Reason

log = structlog.get_logger(__name__)

SOURCE = "opsgym-operator"
LONGEST = 1024
"""Characters of a message that the API server takes."""


async def tell(client: Client, subject: Manifest, event: Event, now: datetime) -> None:
    """Writes an event about an object, or counts it up if it was told before.

    Args:
        client: The API server.
        subject: The object, with its `apiVersion`, `kind` and metadata.
        event: What to tell.
        now: When it happened.
    """
    manifest = event_of(subject, event, now)
    namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
    said = event.reason if event.reason == Reason.BREAKER_OPEN else event.message  # which quotes an attempt's message
    log.info(said, namespace=namespace, reason=event.reason, **_about(subject))
    try:
        try:
            await client.create(manifest)
        except ApiError as error:
            if not error.exists:
                raise
            there = await client.get(EVENTS, namespace, name)
            count = (there or {}).get("count", 0) + 1
            change = {"count": count, "lastTimestamp": manifest["lastTimestamp"]}
            await client.patch(EVENTS, namespace, name, change)
    except ApiError as error:
        log.warning("cannot write an event", problem=str(error), reason=event.reason)


def _about(subject: Manifest) -> dict[str, str]:
    """Whom a log line is about: a run by the id that its pods log too."""
    metadata = subject["metadata"]
    if subject["kind"] == "EvalRun":
        return {"run": f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}"}
    return {"schedule": metadata["name"]}


def event_of(subject: Manifest, event: Event, now: datetime) -> Manifest:
    """The event as an object; its name is a function of what it says."""
    metadata = subject["metadata"]
    said = hashlib.sha256(f"{metadata['uid']} {event.kind} {event.reason} {event.message}".encode()).hexdigest()[:16]
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{said}", "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": subject["apiVersion"],
            "kind": subject["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "type": event.kind,
        "reason": event.reason,
        "message": event.message[:LONGEST],
        "source": {"component": SOURCE},
        "reportingComponent": SOURCE,
        "reportingInstance": SOURCE,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }
