"""What tests of traces and logs share: a collector, a gym and a store, and an environment that names the collector."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.pods.conftest import pod
from tests.runner.conftest import anyio_backend, gym, gym_url, store
from tests.tracing.collector import Collector

__all__ = ["anyio_backend", "collector", "gym", "gym_url", "pod", "store", "traced"]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector.serving() as collector:
        yield collector


@pytest.fixture
def traced(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Collector:
    """The collector, which the environment of this process names."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    return collector
