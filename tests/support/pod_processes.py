"""The containers of a task pod as processes of this machine: real Postgres on baked data, real gym server, real runner.

    with PodProcesses.started(folder, trials_per_pod=2) as pod:
        ended = pod.play(0)

Invariant: every process started here has ended when its `with` block ends.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.images.account import command, environment, until, volume

from opsgym_api.jobs.job_spec import JobSpec, PreflightSpec
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.store_layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_core.store.local import LocalStore
from opsgym_domains import registry
from opsgym_domains.baking import bake
from opsgym_domains.suite_rows import suite_rows
from opsgym_domains.suites import export

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where a pod's volumes are; on a disk the copy of the data costs ten times as much."""
DOMAIN = "itsm"
SUITE = "quickstart"
RUN = "team.demo.0a1b"
CELL = Cell(model="gold", agent="react", mode="oracle", domain=DOMAIN)
MODEL = {"name": "gold", "model": "replay/gold", "endpoints": [], "max_concurrency": 4}


@dataclass(frozen=True)
class EndedProcess:
    """A process that has ended, and what it used."""

    code: int
    cpu_s: float
    """CPU seconds of the process and of its descendants."""
    log: str


@dataclass
class PodProcesses:
    """A running pod without its agent."""

    folder: Path
    volumes: Path
    trials_per_pod: int
    url: str
    further: Sequence[str] = ()
    """Domains of further gym servers."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """Postgres and gym server by container."""
    ended: dict[str, EndedProcess] = field(default_factory=dict)
    """Those that have ended."""

    @classmethod
    @contextmanager
    def started(cls, folder: Path, trials_per_pod: int = 1, further: Sequence[str] = ()) -> Iterator[PodProcesses]:
        """Starts Postgres and gym server in a folder that has `baked` data.

        Args:
            folder: The folder.
            trials_per_pod: Trials that the pod plays in turn.
            further: Domains whose gym servers the pod has besides.
        """
        with tempfile.TemporaryDirectory(dir=MEMORY) as volumes:
            Path(volumes).chmod(0o755)
            for name in ("data", "socket"):
                volume(Path(volumes) / name)
            pod = cls(folder, Path(volumes), trials_per_pod, f"http://127.0.0.1:{_free_port()}", further)
            try:
                pod._start()
                yield pod
            finally:
                pod.stop()

    def _start(self) -> None:
        volumes = self.volumes
        restartable = ["--restartable"] if self.trials_per_pod > 1 else []
        places = ("--data", volumes / "data", "--socket", volumes / "socket")
        postgres = command("run", "--baked", self.folder / "baked", *places, *restartable)
        domains = ",".join(sorted({DOMAIN, *self.further}))
        variables = {**environment(), "OPSGYM_POSTGRES_DOMAINS": domains}
        self.processes["postgres"] = self._launch("postgres", postgres, variables)
        until((volumes / "socket" / ".s.PGSQL.5432").exists, "Postgres listens")
        self.token_file.unlink(missing_ok=True)
        self._start_gym("gym", DOMAIN, self.url.rpartition(":")[2], self.token_file)
        for domain in self.further:
            self._start_gym(f"gym-{domain}", domain, str(_free_port()), volumes / f"token-{domain}")
        for name in self.processes.keys() - {"postgres"}:
            until((volumes / f"ready-{name}").exists, f"{name} is ready")

    def _start_gym(self, name: str, domain: str, port: str, token_file: Path) -> None:
        gym = [sys.executable, "-m", "opsgym_domains.serve", domain, "--port", port]
        gym += ["--ready-file", str(self.volumes / f"ready-{name}"), "--admin-token-file", str(token_file)]
        gym += ["--restartable"] if self.trials_per_pod > 1 else []
        host = {"OPSGYM_POSTGRES_HOST": str(self.volumes / "socket"), "OPSGYM_POSTGRES_USER": "postgres"}
        self.processes[name] = self._launch(name, gym, {**os.environ, **host})

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    @property
    def store(self) -> LocalStore:
        return LocalStore(str(self.folder / "store"))

    def keys(self, task_id: str) -> TrialKeys:
        return RunKeys(RUN).trial(CELL, task_id, 0)

    def trial(self, task_id: str) -> TrialRecord:
        """The record of a scored trial."""
        content = self.store.get(self.keys(task_id).record)
        assert content is not None, f"{task_id} is not scored"
        return TrialRecord.from_json(content)

    def attempts(self, task_id: str) -> list[AttemptRecord]:
        """Attempts at a trial, by number."""
        keys = filter(is_attempt_record, self.store.keys(self.keys(task_id).attempts))
        records = [AttemptRecord.from_json(content) for key in keys if (content := self.store.get(key)) is not None]
        return sorted(records, key=lambda record: record.attempt)

    def stop(self) -> None:
        """Ends gym server and Postgres."""
        for name in reversed(list(self.processes)):
            process = self.processes.pop(name)
            process.terminate()
            self.ended[name] = self._ended(name, process)

    def play(self, task_ids: Sequence[str], **fields: Any) -> EndedProcess:
        """Runs the agent's container to its end.

        Args:
            task_ids: Tasks of the pod's trials.
            fields: Other fields of the job spec.
        """
        process = self.start_agent(task_ids, **fields)
        return self._ended("agent", process)

    def start_agent(self, task_ids: Sequence[str], **fields: Any) -> subprocess.Popen[bytes]:
        """Starts the agent's container; the caller waits for it."""
        spec = {
            "run": RUN,
            "cell": CELL.model_dump(),
            "model": MODEL,
            "agent": {"name": "react"},
            "limits": {"taskTimeoutSeconds": 120},
            "access": "published",
            "gyms": {DOMAIN: self.url},
            "admin_token_files": {DOMAIN: str(self.token_file)},
            "trials": [{"task_id": task_id, "trial": 0} for task_id in task_ids],
            "trials_per_pod": max(self.trials_per_pod, 1),
            **fields,
        }
        JobSpec.model_validate(spec)
        return self._container("agent", "task", spec)

    def preflight(self) -> EndedProcess:
        """Runs the preflight's container, which freezes the suite."""
        export(SUITE, self.folder / "suite")
        spec = {"run": RUN, "suite": {"builtin": SUITE}, "models": [MODEL], "agents": [{"name": "react"}]}
        PreflightSpec.model_validate(spec)
        process = self._container("preflight", "preflight", spec)
        return self._ended("preflight", process)

    def _container(self, name: str, module: str, spec: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(spec))
        variables = {
            **os.environ,
            "OPSGYM_JOB_SPEC": str(file),
            "OPSGYM_STORE": str(self.folder / "store"),
            "OPSGYM_SUITE": str(self.folder / "suite"),
            "OPSGYM_TERMINATION_LOG": str(self.folder / f"{name}.message"),
            "JOB_COMPLETION_INDEX": "0",
        }
        return self._launch(name, [sys.executable, "-m", "opsgym_runner", module], variables)

    def _launch(self, name: str, arguments: Sequence[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                arguments, env=dict(variables), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder
            )

    def _ended(self, name: str, process: subprocess.Popen[bytes]) -> EndedProcess:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log = (self.folder / f"{name}.log").read_text()
        return EndedProcess(process.returncode, used.ru_utime + used.ru_stime, log)


def baked(folder: Path, domains: Sequence[str] = (DOMAIN,)) -> Path:
    """A folder for pods, with baked data of some domains that the account of Postgres may read."""
    folder.chmod(0o755)
    bake(folder / "baked", [registry.load(name) for name in domains])
    for path in (folder / "baked", *(folder / "baked").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def task_ids() -> list[str]:
    """Ids of the suite's tasks that have a reference solution."""
    return [str(row["task_id"]) for row in suite_rows(SUITE) if row.get("gold_actions")]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
