"""Jobs, rows and stores for the runner's tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import zstandard
from pydantic import SecretStr
from tests.runner.stub_gym import SEED

from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task
from opsgym_core.common.backoff import Backoff
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.clock import Clock
from opsgym_runner.job import Job, ModelEndpoint, ResolvedModel
from opsgym_runner.models.retry import RetryPolicy

KEYS = RunKeys("demo.0123456789ab").trial(
    Cell(model="m", agent="react", mode="oracle", domain="notes"), "rename-first", 0
)


class MemoryStore:
    """Store that keeps objects in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.writes: list[str] = []

    def get(self, key: str) -> bytes | None:
        return self.objects.get(key)

    def put(self, key: str, content: bytes) -> None:
        self.writes.append(key)
        self.objects[key] = content

    def put_once(self, key: str, content: bytes) -> bool:
        if key in self.objects:
            return False
        self.put(key, content)
        return True

    def keys(self, prefix: str) -> Iterator[str]:
        return iter(sorted(key for key in self.objects if key.startswith(prefix)))

    def folders(self, folder: str) -> Iterator[str]:
        below = f"{folder.rstrip('/')}/"
        rests = (key.removeprefix(below) for key in self.objects if key.startswith(below))
        return iter(sorted({rest.partition("/")[0] for rest in rests if "/" in rest}))

    def trial(self, keys: TrialKeys = KEYS) -> TrialRecord | None:
        content = self.objects.get(keys.record)
        return None if content is None else TrialRecord.from_json(content)

    def attempt(self, attempt: int = 0, keys: TrialKeys = KEYS) -> AttemptRecord:
        return AttemptRecord.from_json(self.objects[keys.attempt(attempt)])

    def transcript(self, key: str = KEYS.transcript) -> Transcript:
        return Transcript.model_validate_json(zstandard.decompress(self.objects[key]))


KEY = "sk-test-7f3a9b2c1d"
"""Key of stub models; must never appear in anything that is stored."""


class FakeTime:
    """Time that passes only in sleeps, which take none."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []

    @property
    def clock(self) -> Clock:
        return Clock(now=self.now, monotonic=lambda: self.seconds, sleep=self.sleep)

    def now(self) -> datetime:
        return datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(seconds=self.seconds - 1000)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.seconds += seconds


NO_JITTER = RetryPolicy(Backoff(initial_s=0.5, maximum_s=30.0), retry_after_jitter=lambda: 0.0)


def stub_model(*urls: str, **fields: Any) -> ResolvedModel:
    """A model behind stub endpoints."""
    endpoints = tuple(ModelEndpoint(f"{url}/v1", SecretStr(KEY)) for url in urls)
    return ResolvedModel(**{"name": "m", "model": "openai/stub", "endpoints": endpoints, **fields})


def notes_equal(query: str, expected: Any, **fields: Any) -> dict[str, Any]:
    config = {"query": query, "expected_value": expected, "comparison_type": "equals"}
    return {"verifier_type": "database_state", "name": "state", "validation_config": config, **fields}


ROW: dict[str, Any] = {
    "task_id": "rename-first",
    "system_prompt": "Obey.",
    "user_prompt": "Rename the first note to done and add one that says more.",
    "selected_tools": ["add_note", "rename_note"],
    "gym_servers_config": [
        {
            "mcp_server_name": "notes",
            "seed_database_file": "notes.sql",
            "context": {"user_email": "a@example.org", "x-notes-token": "t1"},
        }
    ],
    "verifiers": [
        notes_equal("SELECT text FROM notes WHERE id = 1", "done"),
        notes_equal("SELECT count(*) FROM notes", 3, category="integrity"),
    ],
    "gold_actions": [
        {"name": "rename_note", "arguments": {"id": 1, "text": "done"}},
        {"name": "add_note", "arguments": {"text": "more"}},
    ],
    "gold_answer": "Both are done.",
}


def make_task(**fields: Any) -> Task:
    return Task.model_validate(json.loads(json.dumps({**ROW, **fields})))


def make_job(gym_url: str, task: Task | None = None, **fields: Any) -> Job:
    defaults: dict[str, Any] = {
        "run": "demo.0123456789ab",
        "cell": Cell(model="m", agent="react", mode="oracle", domain="notes"),
        "task": task or make_task(),
        "trial": 0,
        "attempt": 0,
        "model": ResolvedModel(name="m", model="replay/gold"),
        "agent": Agent(name="react", max_steps=8),
        "mode": Mode.ORACLE,
        "limits": Limits(task_timeout_seconds=60),
        "access": Access.PUBLISHED,
        "gyms": {"notes": gym_url},
        "seeds": {"notes": Seed(sql=SEED)},
    }
    return Job(**{**defaults, **fields})
