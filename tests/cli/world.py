"""A working folder with a suite of small ITSM tasks, a model that tests control, and the real command.

Invariant: every process that a test starts here has ended when the test ends.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.cli import standing
from tests.cli.standing import replacements
from tests.itsm.seed import SEED, TOKEN
from tests.runner.servers import serving
from tests.runner.stub_model import says
from tests.support.processes import descendants

from opsgym.main import invoke
from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_core.store.local import LocalStore

DEADLINE_S = 90.0
"""Longest wait for a process or a condition, in seconds; generous for a loaded machine."""


def row(task_id: str, **fields: Any) -> dict[str, Any]:
    """A task that is solved by resolving nothing and saying `done`."""
    server = {
        "mcp_server_name": "gym-itsm-mcp",
        "seed_database_file": "desk.sql",
        "context": {"x-itsm-user-token": TOKEN},
    }
    check = {"query": "SELECT status FROM incident WHERE incident_id = 'INC_001'", "expected_value": "in_progress"}
    return {
        "task_id": task_id,
        "user_prompt": f"Look at incident INC_001 for {task_id}.",
        "selected_tools": ["find_incident_by_id"],
        "gym_servers_config": [server],
        "verifiers": [
            {"verifier_type": "answer_match", "name": "answers", "validation_config": {"patterns": ["done"]}},
            {
                "verifier_type": "database_state",
                "name": "untouched",
                "category": "integrity",
                "validation_config": {**check, "comparison_type": "equals"},
            },
        ],
        "gold_actions": [{"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}],
        "gold_answer": "All done.",
        **fields,
    }


@dataclass
class HeldModel:
    """A model endpoint that answers `done`; `hold` delays its answers until `release`."""

    url: str = ""
    prompts: list[str] = field(default_factory=list)
    """Prompts of all requests, in order."""
    _answered: float = math.inf
    """Requests that are answered, counted from the first."""

    def hold(self, after: int = 0) -> None:
        """Answers `after` more requests; later ones wait."""
        self._answered = len(self.prompts) + after

    def release(self) -> None:
        """Answers all waiting requests."""
        self._answered = math.inf

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        self.prompts.append(body["messages"][-1]["content"])
        number = len(self.prompts)
        while number > self._answered and not await request.is_disconnected():  # noqa: ASYNC110 - set by a thread
            await asyncio.sleep(0.01)
        return says("All done.")

    @classmethod
    @contextmanager
    def serving(cls) -> Iterator[HeldModel]:
        """Serves one that answers at once until `hold` is called."""
        model = cls()
        app = Starlette(routes=[Route("/v1/chat/completions", model._complete, methods=["POST"])])
        with serving(app) as url:
            model.url = f"{url}/v1"
            yield model
            model.release()


@dataclass
class World:
    """A folder to run in.

    Args:
        folder: The folder.
        gyms: Base URLs of gym servers by domain, which the command uses instead of starting servers. For tests of
            anything but servers: a server takes longer to start than a task to run.
    """

    folder: Path
    gyms: Mapping[str, str] = field(default_factory=dict)

    def write_suite(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes `suite/tasks.json` and its seed."""
        suite = self.folder / "suite"
        (suite / "seeds").mkdir(parents=True, exist_ok=True)
        (suite / "seeds" / "desk.sql").write_text(SEED)
        (suite / "tasks.json").write_text(json.dumps(rows))

    def write_run(self, models: Mapping[str, Mapping[str, Any]], **spec: Any) -> None:
        """Writes `run.yaml`."""
        document = {
            "apiVersion": "opsgym.dev/v1alpha1",
            "kind": "EvalRun",
            "metadata": {"name": "demo"},
            "spec": {
                "suite": {"path": "suite/tasks.json"},
                "models": [{"name": name, "inline": model} for name, model in models.items()],
                **spec,
            },
        }
        (self.folder / "run.yaml").write_text(json.dumps(document))  # JSON is YAML

    @property
    def store(self) -> LocalStore:
        """The default store."""
        return LocalStore(self.folder / "results")

    @property
    def run(self) -> str:
        """Id of the only run in the store."""
        (folder,) = (self.folder / "results" / "runs").iterdir()
        return folder.name

    def attempts(self) -> list[AttemptRecord]:
        """Every attempt, by task and number."""
        records = [AttemptRecord.from_json(content) for content in self._contents(is_attempt_record)]
        return sorted(records, key=lambda record: (record.cell.key, record.task_id, record.attempt))

    def trials(self) -> list[TrialRecord]:
        """Every scored trial, by task."""
        return [TrialRecord.from_json(content) for content in self._contents(is_trial_record)]

    def _contents(self, matches: Callable[[str], bool]) -> Iterator[bytes]:
        for key in self.store.keys(RunKeys(self.run).cells):
            content = self.store.get(key) if matches(key) else None
            if content is not None:
                yield content

    def opsgym(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the command to its end."""
        with self.started(*arguments, **environment) as process:
            out, err = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def inline(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the command to its end in this process, which has litellm imported already."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            for replacement in replacements(self.gyms) if self.gyms else ():
                patch.setattr(*replacement)
            for name, value in environment.items():
                patch.setenv(name, value)
            code = invoke(arguments)
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    @contextmanager
    def started(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Starts the command; ends it, and everything it started, if it has not ended by itself."""
        program = [standing.__file__, json.dumps(self.gyms)] if self.gyms else ["-m", "opsgym.main"]
        process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        try:
            yield process
        except BaseException as error:
            process.kill()
            error.add_note("output of the command:\n" + "\n".join(process.communicate()))
            raise
        finally:
            started = descendants(process.pid)
            process.kill()
            process.communicate()
            gone(*started)


def command_of(pid: int) -> str:
    """Command line of a process; empty once it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def gym_of(process: subprocess.Popen[str]) -> int:
    """The gym server of a running command."""
    (pid,) = gyms_of(process)
    return pid


def gyms_of(process: subprocess.Popen[str]) -> list[int]:
    """The gym servers of a running command."""
    return [pid for pid in descendants(process.pid) if "opsgym.local.gym_child" in command_of(pid)]


def postgres_of(process: subprocess.Popen[str]) -> int:
    """The Postgres of a running command's gym server."""
    return next(pid for pid in descendants(gym_of(process)) if "/postgres -D" in command_of(pid))


def end(pid: int) -> None:
    """Kills a process that a test started."""
    os.kill(pid, signal.SIGKILL)


def until(condition: Callable[[], bool], what: str, process: subprocess.Popen[str] | None = None) -> None:
    """Waits for a condition that a process, as long as it runs, may bring about."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert process is None or process.poll() is None, f"the command ended before {what}"
        assert time.monotonic() < deadline, f"waited {DEADLINE_S:.0f} s until {what}"
        time.sleep(0.02)


def gone(*pids: int) -> None:
    """Waits until processes have ended."""
    until(lambda: not any(command_of(pid) for pid in pids), f"processes {pids} end")
