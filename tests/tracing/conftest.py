"""What tests of traces and logs share: a collector, a gym and a store, and an environment that names the collector."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pods.pod import Pod
from tests.runner.jobs import MemoryStore
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.tracing.collector import Collector


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector.serving() as found:
        yield found


@pytest.fixture
def traced(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Collector:
    """The collector, which the environment of this process names."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    return collector


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def gym() -> StubGym:
    return StubGym()


@pytest.fixture
def gym_url(gym: StubGym) -> Iterator[str]:
    with serving(gym.app) as url:
        yield url


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod.local(tmp_path)
