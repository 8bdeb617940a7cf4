"""Kubernetes Events of EvalRuns and EvalSchedules. Requires the right to create and patch events of the namespace.

Invariant: an event that recurs is counted, not repeated; an event that cannot be written is logged and stops nothing. A
series of events is written once a minute at most, however often it goes on.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import structlog

from opsgym_core.kube.client import EVENTS, ApiError, Client, Manifest
from opsgym_operator.plan.desired import Event
from opsgym_operator.plan.status.status import Reason

log = structlog.get_logger(__name__)

COMPONENT = "opsgym-operator"
SERIES_S = 60.0
"""Seconds between two writes of a series."""
LONGEST = 1024
"""Characters of a message that the API server accepts."""


class EventSeries:
    """Counts the events of series, and says when to write them.

    Args:
        clock: The monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unwritten: Counter[tuple[str, str]] = Counter()
        """Events since the last write, by uid of the object and reason."""
        self._written_at: dict[tuple[str, str], float] = {}

    def due(self, uid: str, event: Event) -> int:
        """Counts an event about an object; returns how many to write now, 0 for none yet."""
        if not event.series:
            return 1
        key, at = (uid, event.reason), self._clock()
        self._unwritten[key] += 1
        if at - self._written_at.get(key, float("-inf")) < SERIES_S:
            return 0
        self._written_at[key] = at
        return self._unwritten.pop(key)

    def forget(self, uid: str) -> None:
        """Drops the series about a deleted object."""
        for key in [key for key in self._written_at if key[0] == uid]:
            del self._written_at[key]
            self._unwritten.pop(key, None)


async def record_event(client: Client, subject: Manifest, event: Event, now: datetime, times: int = 1) -> None:
    """Writes an event about an object, or adds to its count if it was recorded before.

    Args:
        client: The API server.
        subject: The object, with its `apiVersion`, `kind` and metadata.
        event: The event.
        now: When it last happened.
        times: How often it has happened since it was last written.
    """
    manifest = event_of(subject, event, now) | {"count": times}
    namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
    # The message of an open breaker quotes that of an attempt, which may hold content of the episode.
    line = event.reason if event.reason in (Reason.BREAKER_OPEN, Reason.QUOTA_EXHAUSTED) else event.message
    log.info(line, namespace=namespace, reason=event.reason, **_log_fields(subject))
    try:
        try:
            await client.create(manifest)
        except ApiError as error:
            if not error.exists:
                raise
            recorded = await client.get(EVENTS, namespace, name)
            count = (recorded or {}).get("count", 0) + times
            change = {"count": count, "lastTimestamp": manifest["lastTimestamp"]}
            if event.series:
                change["message"] = manifest["message"]
            await client.patch(EVENTS, namespace, name, change)
    except ApiError as error:
        log.warning("cannot write an event", problem=str(error), reason=event.reason)


def _log_fields(subject: Manifest) -> dict[str, str]:
    """The subject in log lines: a run by the id that its pods log too."""
    metadata = subject["metadata"]
    if subject["kind"] == "EvalRun":
        return {"run": f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}"}
    return {"schedule": metadata["name"]}


def event_of(subject: Manifest, event: Event, now: datetime) -> Manifest:
    """The event as an object; its name is a digest of its subject and content."""
    metadata = subject["metadata"]
    content = f"{metadata['uid']} {event.kind} {event.reason} {'' if event.series else event.message}"
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{digest}", "namespace": metadata["namespace"]},
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
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": COMPONENT,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }
