"""A pod's main container without the pod: the real module as a process, with an order, a store and an environment.

Invariant: every process that is started here has ended when its `with` block ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.runner.jobs import ROW
from tests.runner.stub_gym import SEED

from opsgym_api.layout import RunKeys, TrialKeys
from opsgym_api.orders import AttemptSummary, FrozenTask, PreflightReport, SeedRef
from opsgym_api.records import AttemptRecord, Cell, Control, TrialRecord
from opsgym_api.store import LocalStore, Store

DEADLINE_S = 90.0
"""How long anything here may take on a loaded machine."""
RUN = "team.demo.0a1b"
CELL = Cell(model="m", agent="react", mode="oracle", domain="notes")
KEY = "sk-live-5e1f00ddeadbeef"
"""Key of models; must never turn up in anything that is written."""


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a condition."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE_S:.0f} s until {what}"
        time.sleep(0.02)


@dataclass(frozen=True)
class Ended:
    """How a container ended."""

    code: int
    message: bytes
    log: list[dict[str, Any]]
    """Lines of stderr; each has to be a JSON object."""

    @property
    def summary(self) -> AttemptSummary:
        return AttemptSummary.model_validate_json(self.message)

    @property
    def report(self) -> PreflightReport:
        return PreflightReport.model_validate_json(self.message)


@dataclass
class Running:
    """A container that runs."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def said(self) -> str:
        return (self.folder / "stderr").read_text()

    def wait_for(self, words: str) -> None:
        """Waits until a line of the log holds some words."""

        def there() -> bool:
            assert self.process.poll() is None or words in self.said, f"it ended without {words!r}:\n{self.said}"
            return words in self.said

        until(there, f"the log says {words!r}")

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self, within: float = DEADLINE_S) -> Ended:
        """Waits until it ends by itself."""
        code = self.process.wait(within)
        lines = self.said.splitlines()
        assert all(line.startswith("{") for line in lines), self.said
        message = self.folder / "termination-log"
        return Ended(code, message.read_bytes() if message.exists() else b"", [json.loads(line) for line in lines])


@dataclass
class Pod:
    """What a container is given."""

    folder: Path
    store: Store
    location: str
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def local(cls, folder: Path) -> Pod:
        """One whose store is a folder."""
        location = str(folder / "store")
        return cls(folder, LocalStore(location), location)

    @contextmanager
    def started(self, command: str, order: Mapping[str, Any] | str | None, **environment: str) -> Iterator[Running]:
        """Starts the container; ends it if it has not ended by itself.

        Args:
            command: `task` or `preflight`.
            order: The order, or what stands in its file; None for no file.
            environment: Further variables.
        """
        path = self.folder / "order.json"
        if order is not None:
            path.write_text(order if isinstance(order, str) else json.dumps(order))
        hidden = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
        given = {name: value for name, value in os.environ.items() if name not in hidden}
        given |= {"OPSGYM_ORDER": str(path), "OPSGYM_STORE": self.location}
        given |= {"OPSGYM_TERMINATION_LOG": str(self.folder / "termination-log"), **self.environment, **environment}
        with (self.folder / "stderr").open("wb") as stderr:
            module = [sys.executable, "-m", "opsgym_runner", command]
            process = subprocess.Popen(module, stdin=subprocess.DEVNULL, stderr=stderr, env=given, cwd=self.folder)
        try:
            yield Running(process, self.folder)
        except BaseException as error:
            error.add_note((self.folder / "stderr").read_text())
            raise
        finally:
            process.kill()
            process.wait()

    def run(self, command: str, order: Mapping[str, Any] | str | None, **environment: str) -> Ended:
        """Runs the container to its end."""
        with self.started(command, order, **environment) as running:
            return running.end()

    def task(self, order: Mapping[str, Any] | str | None, **environment: str) -> Ended:
        """Runs a task container to its end; its index is 0 unless the environment says otherwise."""
        return self.run("task", order, **{"JOB_COMPLETION_INDEX": "0", **environment})

    @property
    def keys(self) -> TrialKeys:
        return RunKeys(RUN).trial(CELL, "rename-first", 0)

    def freeze(self, row: Mapping[str, Any] = ROW, seed: str | None = SEED) -> None:
        """Freezes a suite of one row, as preflight does."""
        names = [server["mcp_server_name"] for server in row.get("gym_servers_config", [])]
        frozen = FrozenTask(row=dict(row), seeds={name: SeedRef(sha256="5eed") for name in names})
        self.store.put(RunKeys(RUN).suite_task("rename-first"), frozen.model_dump_json().encode())
        if seed is not None:
            self.store.put(RunKeys(RUN).suite_seed("5eed"), seed.encode())

    def control(self, **fields: Any) -> None:
        """Sets the run's gate."""
        self.store.put(RunKeys(RUN).control_json, Control(**fields).model_dump_json().encode())

    def attempt(self, number: int = 0) -> AttemptRecord:
        content = self.store.get(self.keys.attempt(number))
        assert content is not None, f"there is no attempt {number}"
        return AttemptRecord.model_validate_json(content)

    def trial(self) -> TrialRecord | None:
        content = self.store.get(self.keys.record)
        return None if content is None else TrialRecord.model_validate_json(content)

    def everything(self) -> bytes:
        """All that the container wrote, log and message included."""
        stored = [self.store.get(key) or b"" for key in self.store.keys("")]
        left = [path.read_bytes() for path in self.folder.iterdir() if path.name in ("stderr", "termination-log")]
        return b"\n".join([*stored, *left])


def job_order(gym_url: str, **fields: Any) -> dict[str, Any]:
    """An order for trial 0 of the only task, played by its gold actions."""
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
    """A model of an order; each of its endpoints takes the key that the variable KEY_0 holds."""
    endpoints = [{"url": f"{url}/v1", "key_env": "KEY_0"} for url in urls]
    return {"name": "m", "model": litellm_id, "endpoints": endpoints, "max_concurrency": 4, **fields}


def hosted(*urls: str, **fields: Any) -> dict[str, Any]:
    """A priced model behind stub endpoints."""
    return model("openai/stub", *urls, prices={"inputUsd": 1, "outputUsd": 1}, **fields)
