"""Fixtures shared with tests of the runner: a stub gym on real HTTP, and a store in memory."""

from __future__ import annotations

from tests.runner.conftest import anyio_backend, gym, gym_url, store

__all__ = ["anyio_backend", "gym", "gym_url", "store"]
