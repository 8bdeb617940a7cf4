"""Gym servers of a local run, as child processes: one for each domain, each with its own Postgres.

Invariant: an episode never continues against another server than the one it started with. A server that ends is
restarted on a new port, so that requests to the old one are refused instead of answered with an unknown database. No
server outlives the run, not even a killed run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Self

import httpx

START_SECONDS = 120.0
"""Timeout of one start. A server with its Postgres starts in a few seconds; a loaded machine may take much longer."""
STOP_SECONDS = 15.0
"""Time between SIGTERM and SIGKILL."""
READY_SECONDS = 120.0
"""How long an attempt waits for a server that is restarting."""
MAX_RESTARTS = 5
"""Restarts of one server in a run; a server that ends more often has a permanent fault."""
PROBE_EVERY_S = 0.1
"""Interval of health checks."""
_TOKEN_BYTES = 32
_TAIL = 1500
"""Bytes of a server's log that an error message quotes."""

Command = Callable[[str], Sequence[str]]
"""Returns the command line that serves a domain on a free port."""


class GymLostError(Exception):
    """A gym server cannot be started or restarted; the message quotes the end of its log."""


def gym_command(domain: str) -> Sequence[str]:
    """Command line of an installed domain's server."""
    return [sys.executable, "-m", "opsgym.local.gym_child", domain, "--port", "0"]


class GymServers:
    """Gym servers of several domains.

    Args:
        domains: Names of the domains.
        note: Receives a message when a server ends or cannot be restarted.
        command: Returns the command line of a domain's server.
    """

    def __init__(self, domains: Iterable[str], note: Callable[[str], None], command: Command = gym_command) -> None:
        self._admin_tokens: dict[str, str] = {}
        self._servers = {domain: _GymServer(domain, note, command, self._admin_tokens) for domain in domains}
        self._http = httpx.AsyncClient(timeout=10.0, trust_env=False)

    async def __aenter__(self) -> Self:
        """Starts nothing yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops all servers and waits until they have ended."""
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        await self._http.aclose()

    async def start(self) -> None:
        """Starts all servers at the same time.

        Raises:
            GymLostError: A server does not start.
        """
        # Waits for all of them, also when cancelled: a server that is still starting could not be stopped.
        starts = await asyncio.gather(*(s.start() for s in self._servers.values()), return_exceptions=True)
        for error in filter(None, starts):
            raise error

    @property
    def urls(self) -> Mapping[str, str]:
        """Base URL of each server, by domain."""
        return {domain: server.url for domain, server in self._servers.items()}

    @property
    def admin_tokens(self) -> Mapping[str, str]:
        """Tokens of the servers' admin endpoints by base URL; a live view, which follows restarts."""
        return MappingProxyType(self._admin_tokens)

    async def ready(self, domains: Iterable[str]) -> None:
        """Waits until the servers of some domains, and their Postgres, are healthy.

        Raises:
            GymLostError: A server is not healthy within `READY_SECONDS`, or is not restarted any more.
        """
        for domain in domains:
            server = self._servers[domain]
            try:
                async with asyncio.timeout(READY_SECONDS):
                    while not await self._healthy(server):  # noqa: ASYNC110 - the server is another process
                        await asyncio.sleep(PROBE_EVERY_S)
            except TimeoutError:
                message = f"gym server {domain} did not become healthy within {READY_SECONDS:.0f} s"
                raise GymLostError(message) from None

    async def _healthy(self, server: _GymServer) -> bool:
        await server.up()
        with contextlib.suppress(httpx.HTTPError):
            return (await self._http.get(f"{server.url}/health")).status_code == httpx.codes.OK
        return False


class _GymServer:
    """One domain's server, restarted when it ends.

    Args:
        domain: Its domain.
        note: Receives messages.
        command: Returns its command line.
        admin_tokens: Receives its token under its address.
    """

    def __init__(
        self, domain: str, note: Callable[[str], None], command: Command, admin_tokens: dict[str, str]
    ) -> None:
        self.domain = domain
        self.url = ""
        # An unnamed file: nothing is left behind however this process ends.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self._note = note
        self._command = command
        self._admin_tokens = admin_tokens
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()  # set while the server is up, or has failed for good
        self._failure = ""

    async def start(self) -> None:
        await self._launch()
        self._settled.set()
        self._watch = asyncio.create_task(self._keep_up())

    async def up(self) -> None:
        """Waits while the server is restarting."""
        await self._settled.wait()
        if self._failure:
            raise GymLostError(self._failure)

    async def stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        await self._end()
        self._log.close()

    async def _keep_up(self) -> None:
        for restart in range(1, MAX_RESTARTS + 1):
            code = await self._ended()
            self._settled.clear()
            self._note(f"gym server {self.domain} ended ({_exit_text(code)}); restarting it{self._log_tail()}")
            try:
                await self._launch()
            except GymLostError as error:
                self._fail(f"{error} (restart {restart})")
                return
            self._settled.set()
        await self._ended()
        self._settled.clear()
        self._fail(f"gym server {self.domain} ended {MAX_RESTARTS + 1} times{self._log_tail()}")

    def _fail(self, message: str) -> None:
        self._failure = message
        self._note(message)
        self._settled.set()

    async def _ended(self) -> int:
        assert self._process is not None
        return await self._process.wait()

    async def _launch(self) -> None:
        self._log.truncate(0)
        self._log.seek(0)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command(self.domain),
                stdin=asyncio.subprocess.PIPE,  # closed when this process ends, see gym_child
                stdout=asyncio.subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,  # Ctrl-C is sent to the run, which stops its servers last
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            raise GymLostError(f"gym server {self.domain} cannot be started: {error.strerror}") from None
        token = secrets.token_hex(_TOKEN_BYTES)
        self._send_token(token)
        try:
            async with asyncio.timeout(START_SECONDS):
                self.url = await self._address()
                self._admin_tokens[self.url] = token
        except TimeoutError:
            await self._end()
            problem = f"was not ready after {START_SECONDS:.0f} s"
            raise GymLostError(f"gym server {self.domain} {problem}{self._log_tail()}") from None
        except BaseException:
            await self._end()
            raise

    def _send_token(self, token: str) -> None:
        """Passes the token by stdin: it is in no file, no command line and no environment."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{token}\n".encode())

    async def _address(self) -> str:
        """The address in the line that the server prints when it is ready."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        with contextlib.suppress(ValueError, TypeError, KeyError):
            return str(json.loads(line)["url"])
        code = await self._process.wait() if not line else None
        problem = "did not start" if code is None else f"did not start ({_exit_text(code)})"
        raise GymLostError(f"gym server {self.domain} {problem}{self._log_tail()}")

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def _log_tail(self) -> str:
        file = self._log.fileno()
        # pread: the server writes at the shared file offset, which must not move.
        end = os.pread(file, _TAIL, max(0, os.fstat(file).st_size - _TAIL))
        text = end.decode(errors="replace").strip()
        return f"; its last output:\n{text}" if text else ""


def _exit_text(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
