"""Processes of the development cluster, identified by process id and start time.

Invariant: a signal goes only to a process that this project started, never to a process that has reused its id.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devcluster.errors import ClusterError

POLL = 0.02


@dataclass(frozen=True)
class Process:
    """A process.

    Attributes:
        pid: Its id.
        started: When it started, in clock ticks since the machine did.
    """

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """The process that has an id now; None if there is none, or only a zombie.

        One that is killed becomes a zombie with its first thread, and holds its ports until the last one has ended.
        """
        stat = _stat(pid)
        return None if stat is None or (stat[0] in "ZX" and int(stat[17]) <= 1) else cls(pid, int(stat[19]))

    @classmethod
    def read(cls, path: Path) -> Process | None:
        """The process that a file records; None if it has ended."""
        try:
            process = cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            return None
        return process if process.alive else None

    def write(self, path: Path) -> None:
        """Records the process in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"pid": self.pid, "started": self.started}))

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        _reap(self.pid)
        return Process.of(self.pid) == self

    def children(self) -> list[Process]:
        """Processes that it started."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        try:
            pids = [int(pid) for pid in path.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [child for child in map(Process.of, pids) if child is not None]

    def send(self, number: signal.Signals) -> None:
        """Sends a signal, if it still runs."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def end(self, grace: float = 0.0) -> None:
        """Ends it and waits until it is gone.

        Args:
            grace: Seconds between the request to stop and the kill; 0 kills at once.
        """
        if grace:
            self.send(signal.SIGTERM)
            if until(lambda: not self.alive, grace):
                return
        self.send(signal.SIGKILL)
        if not until(lambda: not self.alive, 30):
            raise ClusterError(f"process {self.pid} does not end, even when killed")


def spawn(command: Sequence[str | Path], log: Path, environment: dict[str, str] | None = None) -> Process:
    """Starts a process in a session of its own, which outlives this one. Its output is appended to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    appended = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), appended, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    words = [str(word) for word in command]
    pid = os.posix_spawnp(words[0], words, environment or dict(os.environ), file_actions=actions, setsid=True)
    process = Process.of(pid)
    if process is None:
        raise ClusterError(f"{words[0]} ended at once; see {log}")
    return process


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Waits until something holds; says whether it came to hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL)
    return True


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat that follow the name, which may itself hold spaces and brackets."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def _reap(pid: int) -> None:
    """Waits for a dead child, which would otherwise stay as a zombie."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
