"""What tests of pods share: a stub gym on real HTTP, and a container's surroundings."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pods.pod import Pod
from tests.runner.conftest import gym, gym_url

__all__ = ["gym", "gym_url", "pod"]


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod.local(tmp_path)
