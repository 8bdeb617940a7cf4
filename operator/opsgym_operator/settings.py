"""How kopf runs here. Invariant: it watches and remembers, and never writes to anybody's object.

Only events and indexes are used: no handler keeps state, so kopf adds no finalizer and no annotation to any object, and
a deleted EvalRun never waits for an operator that is not there.
"""

from __future__ import annotations

import kopf

from opsgym_operator.client import login

MANAGED = "app.kubernetes.io/managed-by=opsgym-operator"
"""Selects what the operator made."""


def kopf_settings() -> kopf.OperatorSettings:
    """Settings, each with its reason."""
    settings = kopf.OperatorSettings()
    # Our own events tell a run's story; kopf's would repeat log lines.
    settings.posting.enabled = False
    # One operator an installation: the chart's Deployment replaces a pod only after the old one is gone.
    settings.peering.standalone = True
    # No right to read CustomResourceDefinitions or Namespaces is needed then; both are there before the operator is.
    settings.scanning.disabled = True
    # Selected by the API server: other people's pods, Jobs and ConfigMaps never travel here.
    settings.watching.label_selectors["batch", "v1", "jobs"] = MANAGED
    settings.watching.label_selectors["", "v1", "pods"] = MANAGED
    settings.watching.label_selectors["", "v1", "configmaps"] = MANAGED
    # A watch is renewed before load balancers between here and the API server (often 5 minutes) forget it.
    settings.watching.server_timeout = 240
    settings.watching.client_timeout = 270
    settings.watching.connect_timeout = 10
    # Lists come in pages: a thousand pods are several megabytes.
    settings.watching.chunk_size = 500
    # An API server that is restarted is gone for some ten seconds, one that is upgraded for minutes.
    settings.networking.request_timeout = 30
    settings.networking.connect_timeout = 10
    settings.networking.error_backoffs = (1, 2, 4, 8, 15, 15, 15, 30, 30, 30, 30, 30, 30)
    # An overloaded API server says when to come back; coming earlier makes it worse.
    settings.networking.enforce_retry_after = True
    # Nothing runs for long when the operator is told to stop: what is under way is safe to repeat.
    settings.process.ultimate_exiting_timeout = 30
    return settings


def register_login(registry: kopf.OperatorRegistry) -> None:
    """Lets kopf's watches log in as the client does."""

    @kopf.on.login(registry=registry)
    def log_in(settings: kopf.OperatorSettings, **_: object) -> kopf.ConnectionInfo:
        return login(settings)
