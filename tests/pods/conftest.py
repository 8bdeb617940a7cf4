"""What tests of pods share: a stub gym on real HTTP, and a container's surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pods.pod import Pod
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym


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
