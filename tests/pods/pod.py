"""A pod's main container without the pod: the real module with a job spec, a store and an environment, as a process.

Invariant: every process started here has ended when its `with` block ends.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import structlog
from tests.runner.jobs import ROW
from tests.runner.stub_gym import SEED

from opsgym_api.jobs.job_spec import PreflightReport
from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, TrialRecord
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.tasks.suite import FrozenTask, SeedRef
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore
from opsgym_runner.pod import preflight

DEADLINE_S = 90.0
"""Timeout of every wait; generous for loaded machines."""
HIDDEN = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""Variables of the developer's shell that no container has."""
RUN = "team.demo.0a1b"
CELL = Cell(model="m", agent="react", mode="oracle", domain="notes")
KEY = "sk-live-5e1f00ddeadbeef"
"""Key of models; must never appear in anything that is written."""


def until(condition: Callable[[], bool], description: str) -> None:
    """Waits for a condition."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE_S:.0f} s until {description}"
        time.sleep(0.02)


@dataclass(frozen=True)
class Ended:
    """A container that has ended."""

    code: int
    message: bytes
    log: list[dict[str, Any]]
    """Lines of stderr; each must be a JSON object."""

    @property
    def summary(self) -> Attempt:
        return Attempt.from_json(self.message)

    @property
    def report(self) -> PreflightReport:
        return PreflightReport.model_validate_json(self.message)


def ended(code: int, folder: Path) -> Ended:
    """A container that ended with a code and wrote into a folder."""
    log = (folder / "stderr").read_text()
    lines = log.splitlines()
    assert all(line.startswith("{") for line in lines), log
    message = folder / "termination-log"
    return Ended(code, message.read_bytes() if message.exists() else b"", [json.loads(line) for line in lines])


@contextmanager
def logs_as_before() -> Iterator[None]:
    """Undoes how a container's program sets this process's logs up."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        structlog.reset_defaults()


@dataclass
class Running:
    """A running container."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "stderr").read_text()

    def wait_for(self, text: str) -> None:
        """Waits until the log contains a text."""

        def logged() -> bool:
            assert self.process.poll() is None or text in self.log, f"it ended without {text!r}:\n{self.log}"
            return text in self.log

        until(logged, f"the log contains {text!r}")

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self, within: float = DEADLINE_S) -> Ended:
        """Waits until the container ends by itself."""
        return ended(self.process.wait(within), self.folder)


@dataclass
class Pod:
    """Store, folder and environment of a container."""

    folder: Path
    store: Store
    location: str
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def local(cls, folder: Path) -> Pod:
        """A pod whose store is a folder."""
        location = str(folder / "store")
        return cls(folder, LocalStore(location), location)

    @contextmanager
    def started(self, command: str, spec: Mapping[str, Any] | str | None, **environment: str) -> Iterator[Running]:
        """Starts the container; kills it at the end of the block.

        Args:
            command: `task` or `preflight`.
            spec: The job spec, or the content of its file; None for no file.
            environment: Further variables.
        """
        variables = self._variables(spec, environment)
        with (self.folder / "stderr").open("wb") as stderr:
            module = [sys.executable, "-m", "opsgym_runner", command]
            process = subprocess.Popen(module, stdin=subprocess.DEVNULL, stderr=stderr, env=variables, cwd=self.folder)
        try:
            yield Running(process, self.folder)
        except BaseException as error:
            error.add_note((self.folder / "stderr").read_text())
            raise
        finally:
            process.kill()
            process.wait()

    def run(self, command: str, spec: Mapping[str, Any] | str | None, **environment: str) -> Ended:
        """Runs the container to its end."""
        with self.started(command, spec, **environment) as running:
            return running.end()

    def preflight(self, spec: Mapping[str, Any] | str | None, **environment: str) -> Ended:
        """Runs the program of a preflight container to its end in this process, which has imported it already."""
        variables, log = self._variables(spec, environment), self.folder / "stderr"
        with (
            log.open("w") as stderr,
            redirect_stderr(stderr),
            logs_as_before(),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.chdir(self.folder)
            for name in HIDDEN:
                patch.delenv(name, raising=False)
            for name, value in variables.items():
                patch.setenv(name, value)
            code = preflight.main(os.environ)
        return ended(code, self.folder)

    def _variables(self, spec: Mapping[str, Any] | str | None, environment: Mapping[str, str]) -> dict[str, str]:
        """Writes the job spec; returns the container's environment."""
        path = self.folder / "job_spec.json"
        if spec is not None:
            path.write_text(spec if isinstance(spec, str) else json.dumps(spec))
        variables = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        variables |= {"OPSGYM_JOB_SPEC": str(path), "OPSGYM_STORE": self.location}
        return {
            **variables,
            "OPSGYM_TERMINATION_LOG": str(self.folder / "termination-log"),
            **self.environment,
            **environment,
        }

    def task(self, spec: Mapping[str, Any] | str | None, **environment: str) -> Ended:
        """Runs a task container to its end; its completion index is 0 unless the environment sets one."""
        return self.run("task", spec, **{"JOB_COMPLETION_INDEX": "0", **environment})

    @property
    def keys(self) -> TrialKeys:
        return RunKeys(RUN).trial(CELL, "rename-first", 0)

    def freeze(self, row: Mapping[str, Any] = ROW, seed: str | None = SEED) -> None:
        """Freezes a suite of one row, as preflight does."""
        names = [server["mcp_server_name"] for server in row.get("gym_servers_config", [])]
        sha256 = hashlib.sha256((SEED if seed is None else seed).encode()).hexdigest()
        frozen = FrozenTask(row=dict(row), seeds={name: SeedRef(sha256=sha256) for name in names})
        self.store.put(RunKeys(RUN).suite_task("rename-first"), frozen.model_dump_json().encode())
        if seed is not None:
            self.store.put(RunKeys(RUN).suite_seed(sha256), seed.encode())

    def control(self, **fields: Any) -> None:
        """Writes the run's start gate."""
        self.store.put(RunKeys(RUN).control_json, Control(**fields).model_dump_json().encode())

    def attempt(self, number: int = 0) -> AttemptRecord:
        content = self.store.get(self.keys.attempt(number))
        assert content is not None, f"the store has no attempt {number}"
        return AttemptRecord.from_json(content)

    def trial(self) -> TrialRecord | None:
        content = self.store.get(self.keys.record)
        return None if content is None else TrialRecord.from_json(content)

    def everything(self) -> bytes:
        """Everything that the container wrote, log and message included."""
        stored = [self.store.get(key) or b"" for key in self.store.keys("")]
        written = [path.read_bytes() for path in self.folder.iterdir() if path.name in ("stderr", "termination-log")]
        return b"\n".join([*stored, *written])


def job_spec(gym_url: str, **fields: Any) -> dict[str, Any]:
    """A job spec for trial 0 of the only task, under `replay/gold`."""
    return {
        "run": RUN,
        "cell": CELL.model_dump(),
        "model": model("replay/gold"),
        "agent": {"name": "react"},
        "limits": {"taskTimeoutSeconds": 60},
        "access": "published",
        "gyms": {"notes": gym_url},
        "trials": [{"task_id": "rename-first", "trial": 0}],
        **fields,
    }


def model(litellm_id: str, *urls: str, **fields: Any) -> dict[str, Any]:
    """A model of a job spec; each of its endpoints uses the key in the variable KEY_0."""
    endpoints = [{"url": f"{url}/v1", "key_env": "KEY_0"} for url in urls]
    return {"name": "m", "model": litellm_id, "endpoints": endpoints, "max_concurrency": 4, **fields}


def hosted(*urls: str, **fields: Any) -> dict[str, Any]:
    """A priced model behind stub endpoints."""
    return model("openai/stub", *urls, prices={"inputUsd": 1, "outputUsd": 1}, **fields)
