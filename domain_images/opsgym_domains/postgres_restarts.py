"""A pod's Postgres that is replaced between two trials: a supervisor, and the request that gym servers send to it.

Invariant: every generation is a new Postgres process on a new copy of the baked data, started at most once. What an
earlier generation held is deleted before, so no trial sees another one's databases; a generation that ended is not
started again, since it would show an episode the seed instead of its state.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

CONTROL = "control"
"""Name of the supervisor's socket, in the folder of Postgres' own, which only gym servers mount."""
START_SECONDS = 60.0
"""Timeout of one start, the copy of the data included."""
STOP_SECONDS = 10.0
_READY = b"ready"
_STATE_LINE = 7  # of postmaster.pid

Start = Callable[[Path], Sequence[str]]
"""Copies the baked data to a folder and returns the command of a server on them."""


class PostgresRefusedError(Exception):
    """The supervisor does not start a generation; the message says why."""


class PostgresSupervisor:
    """Runs one generation of Postgres at a time.

    Args:
        data: The pod's volume for databases; each generation has a folder in it.
        socket_folder: Folder of the sockets.
        start: Prepares a generation.
    """

    def __init__(self, data: Path, socket_folder: Path, start: Start) -> None:
        self._data = data
        self._socket = socket_folder / CONTROL
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None

    def run(self) -> int:
        """Starts generation 0, then serves requests until SIGTERM; returns the exit code.

        In a restarted container generation 0 has ended; it then waits for the next one.
        """
        signal.signal(signal.SIGTERM, self._stop_and_exit)
        signal.signal(signal.SIGINT, self._stop_and_exit)
        self._socket.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self._socket))
            listener.listen()
            if not self._folder_of(0).exists():
                self.begin(0)
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.sendall(self._answer(connection.recv(64)))

    def begin(self, generation: int) -> None:
        """Ends the current generation and starts another one.

        Raises:
            PostgresRefusedError: The generation has ended already, or does not start.
            OSError: The volume is full or not writable.
        """
        folder = self._folder_of(generation)
        if folder == self._folder and self._process is not None and self._process.poll() is None:
            return
        if folder.exists():
            raise PostgresRefusedError(f"generation {generation} of Postgres has ended, and its databases are lost")
        self._end()
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._process = subprocess.Popen(self._start(folder / "data"), stdin=subprocess.DEVNULL)
        self._wait_ready(folder / "data")

    def _answer(self, request: bytes) -> bytes:
        try:
            self.begin(int(request))
        except (PostgresRefusedError, OSError, ValueError) as error:
            return str(error).encode()[:500]
        return _READY

    def _end(self) -> None:
        if self._process is not None:
            # Immediate shutdown: nothing is kept.
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        for ended in self._data.glob("generation-*/data"):
            shutil.rmtree(ended)  # its folder stays, as a mark

    def _wait_ready(self, data: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise PostgresRefusedError(f"Postgres exited with code {self._process.returncode} during its start")
            with contextlib.suppress(OSError, IndexError):
                if (data / "postmaster.pid").read_text().splitlines()[_STATE_LINE].strip() == "ready":
                    return
            time.sleep(0.005)
        raise PostgresRefusedError(f"Postgres was not ready after {START_SECONDS:.0f} s")

    def _folder_of(self, generation: int) -> Path:
        return self._data / f"generation-{generation}"

    def _stop_and_exit(self, _number: int, _frame: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # fast shutdown: it does not wait for clients
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        sys.exit(0)


def request_generation(socket_folder: Path, generation: int) -> None:
    """Has the pod's Postgres replaced, and waits until the new one is ready. Repeating a request changes nothing.

    Raises:
        PostgresRefusedError: The supervisor does not start it, or cannot be reached.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(START_SECONDS + STOP_SECONDS)
            connection.connect(str(socket_folder / CONTROL))
            connection.sendall(str(generation).encode())
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1024)
    except OSError as error:
        problem = f"the supervisor of Postgres at {socket_folder} cannot be reached: {error}"
        raise PostgresRefusedError(problem) from None
    if answer != _READY:
        raise PostgresRefusedError(answer.decode(errors="replace") or "the supervisor of Postgres ended")
