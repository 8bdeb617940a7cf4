"""The program of an agent as a child process under `supervisor`.

Invariant: it has ended, with all that it started, when `running` is left. Only the end of its output is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from opsgym_api.records.outcomes import ConfigReason
from opsgym_runner.bridge import supervisor
from opsgym_runner.errors import config_error

KEPT_BYTES = 64 * 1024
"""End of the output that is kept."""
_CHUNK = 16 * 1024
_LAST_OUTPUT_S = 2.0


class Program:
    """A running program."""

    def __init__(self, process: asyncio.subprocess.Process, report: int) -> None:
        self._process = process
        self._report = report
        self._tail: deque[bytes] = deque()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        size = 0
        while content := await self._process.stdout.read(_CHUNK):
            self._tail.append(content)
            size += len(content)
            while size - len(self._tail[0]) >= KEPT_BYTES:
                size -= len(self._tail.popleft())

    @property
    def output(self) -> str:
        """End of what the program wrote to stdout and stderr."""
        return b"".join(self._tail)[-KEPT_BYTES:].decode("utf-8", "replace").strip()

    async def ended(self) -> int:
        """Exit code of the program once it has ended, negative for a signal.

        Raises:
            NotScored: It could not be started.
        """
        await self._finished()
        report = json.loads(os.read(self._report, 65536) or b'{"exit": -9}')
        if "error" in report:
            raise config_error(
                ConfigReason.AGENT_NOT_STARTED, f"the agent's command cannot be started: {report['error']}"
            )
        return int(report["exit"])

    async def end(self) -> None:
        """Ends the program, unless it has ended, and all that it started."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._finished()

    def forget(self) -> None:
        """Stops to read what an orphan may still write."""
        self._reading.cancel()

    async def _finished(self) -> None:
        await self._process.wait()
        # Where the supervisor finds no orphans (macOS), one may hold the pipe open.
        await asyncio.wait({self._reading}, timeout=_LAST_OUTPUT_S)


@asynccontextmanager
async def running(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> AsyncIterator[Program]:
    """Runs a program inside the block.

    Args:
        command: The program and its arguments.
        folder: Its working folder.
        env: Its variables, all of them.
    """
    report, written = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", supervisor.__file__, str(written), *command),
            cwd=folder,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=[written],
            start_new_session=True,  # a Ctrl-C is the runner's to handle
        )
        os.close(written)
        program = Program(process, report)
        try:
            yield program
        finally:
            await asyncio.shield(asyncio.create_task(program.end()))
            program.forget()
    finally:
        os.close(report)
