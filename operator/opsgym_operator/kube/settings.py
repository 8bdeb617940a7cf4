"""Settings of kopf. Invariant: kopf only watches and caches; it writes to no object.

Only events and indexes are used: no handler keeps state, so kopf adds neither finalizers nor annotations, and the
deletion of an EvalRun never waits for an operator that is not running.
"""

from __future__ import annotations

from typing import Any

import kopf

from opsgym_core.kube.login import login

MANAGED = "app.kubernetes.io/managed-by=opsgym-operator"
"""Selects the objects that the operator created."""
PAGE = 50
"""Objects in one page of a list: a pod takes 130 kB until the cache has slimmed it, which happens between two pages."""


class _NoEssences(kopf.DiffBaseStorage):
    """Keeps no earlier state of any object."""

    def build(self, **_: Any) -> kopf.BodyEssence:
        """Nothing of an object."""
        return kopf.BodyEssence()

    def fetch(self, **_: Any) -> None:
        """Nothing is stored."""

    def store(self, **_: Any) -> None:
        """Stores nothing."""


class _NoProgress(kopf.ProgressStorage):
    """Keeps no progress of any handler."""

    def fetch(self, **_: Any) -> None:
        """Nothing is stored."""

    def store(self, **_: Any) -> None:
        """Stores nothing."""

    def purge(self, **_: Any) -> None:
        """Nothing is stored."""

    def touch(self, **_: Any) -> None:
        """Changes nothing."""

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        """The essence, which contains no progress."""
        return essence


def kopf_settings() -> kopf.OperatorSettings:
    """Settings, each with its reason."""
    settings = kopf.OperatorSettings()
    # No handler asks what has changed. kopf would copy every object several times at each event to find out, which is
    # half of the work of an event, and thousands of pods have six events each.
    settings.persistence.diffbase_storage = _NoEssences()
    settings.persistence.progress_storage = _NoProgress()
    # The operator records Events of its own; kopf's would repeat log lines.
    settings.posting.enabled = False
    # Leases elect the leader before kopf starts; its own peering would neither fence writes nor name a release.
    settings.peering.standalone = True
    # Requires no right to read CustomResourceDefinitions or Namespaces; both exist before the operator starts.
    settings.scanning.disabled = True
    # Selected by the API server: pods, Jobs and ConfigMaps of others are not transferred.
    settings.watching.label_selectors["batch", "v1", "jobs"] = MANAGED
    settings.watching.label_selectors["", "v1", "pods"] = MANAGED
    settings.watching.label_selectors["", "v1", "configmaps"] = MANAGED
    # A watch is renewed before load balancers on the way to the API server (often 5 minutes) drop it.
    settings.watching.server_timeout = 240
    settings.watching.client_timeout = 270
    settings.watching.connect_timeout = 10
    settings.watching.chunk_size = PAGE
    # A restarted API server is away for about ten seconds, an upgraded one for minutes.
    settings.networking.request_timeout = 30
    settings.networking.connect_timeout = 10
    settings.networking.error_backoffs = (1, 2, 4, 8, 15, 15, 15, 30, 30, 30, 30, 30, 30)
    # An overloaded API server says when to retry; earlier retries make it worse.
    settings.networking.enforce_retry_after = True
    # Nothing takes long when the operator stops: whatever it was doing is safe to repeat.
    settings.process.ultimate_exiting_timeout = 30
    return settings


def register_login(registry: kopf.OperatorRegistry) -> None:
    """Lets kopf's watches log in as the client does."""

    @kopf.on.login(registry=registry)
    def log_in(**_: object) -> kopf.ConnectionInfo:
        return login()
