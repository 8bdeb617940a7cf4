"""The orchestrator of agents that are programs of their own.

Invariant: nothing that the program says about itself is believed but its answer, which counts for `answer_match` alone;
steps, calls and usage are what the bridge saw. The bridge is closed, and the program and all that it started have
ended, before anything is verified.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.outcomes import FailReason
from opsgym_core.common.clock import utc_text
from opsgym_runner.bridge.contract import ANSWER_FILE, variables, write_files
from opsgym_runner.bridge.program import Program, running
from opsgym_runner.bridge.server import LARGEST_ANSWER, Bridge
from opsgym_runner.errors import AgentFailed
from opsgym_runner.orchestrators.base import AgentResult, Session

LEAVE_S = 2.0
"""Seconds that a program has after its answer to end by itself, and to write the last of its output."""


class External:
    """Starts an agent's command and waits until it has answered or left.

    Args:
        agent: The agent.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def __call__(self, session: Session) -> AgentResult:
        """Runs the command.

        Raises:
            AgentFailed: It asked nothing of its model, or ended with an error and without an answer.
            NotScored: It cannot be started.
        """
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="opsgym-agent-"))
        try:
            return await self._run(session, folder)
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    async def _run(self, session: Session, folder: Path) -> AgentResult:
        bridge = Bridge(session)
        seconds = session.task.seconds
        deadline = None if seconds is None else utc_text(datetime.now(UTC) + timedelta(seconds=seconds), "seconds")
        async with bridge.running():
            write_files(folder, session, bridge.url, bridge.key, deadline)
            env = variables(folder, session, bridge.url, bridge.key, deadline, self._own_variables(os.environ))
            async with running(self._agent.command, folder, env) as program:
                ended = asyncio.create_task(program.ended())
                try:
                    waited: set[asyncio.Future[Any]] = {ended, bridge.over}
                    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    bridge.refuse()  # first of all: what is being ended must not go on meanwhile
                    if bridge.over.done():
                        await asyncio.wait({ended}, timeout=LEAVE_S)
                    else:
                        ended.cancel()  # without effect on a program that has left
        if program.output:
            session.note(f"output of the agent's command:\n{program.output}")
        code = None if bridge.over.done() else await ended
        return await self._result(session, bridge, code, folder, program)

    async def _result(
        self, session: Session, bridge: Bridge, code: int | None, folder: Path, program: Program
    ) -> AgentResult:
        """How the agent ended.

        Args:
            session: The episode.
            bridge: Its bridge, closed.
            code: Exit code of the program; None if it was ended after its answer.
            folder: Folder of the attempt.
            program: The program, ended.
        """
        if bridge.over.done() and (error := bridge.over.exception()) is not None:
            raise error
        how = "answered" if code is None else f"ended with exit code {code}"
        if session.requests == 0:
            message = f"the agent {how} and asked nothing of its model{_last_words(program)}"
            raise AgentFailed(FailReason.NO_MODEL_CALLS, message)
        if bridge.over.done():
            return AgentResult(bridge.over.result())
        answer = await asyncio.to_thread(_answer_in, folder / ANSWER_FILE)
        if answer is None and code != 0:
            raise AgentFailed(FailReason.AGENT_ERROR, f"the agent {how} and without an answer{_last_words(program)}")
        answer = session.last_reply if answer is None else answer
        while await session.next_message(answer) is not None:
            session.note("the agent had ended, and did not read this message")
        return AgentResult(answer)

    def _own_variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        passed = {name: environment[name] for name in ("PATH", *self._agent.pass_env) if name in environment}
        return {**passed, **self._agent.env}


def _answer_in(file: Path) -> str | None:
    """The answer that the program left; None if there is none."""
    if not file.is_file():  # a pipe would never end
        return None
    with file.open("rb") as opened:
        return opened.read(LARGEST_ANSWER).decode("utf-8", "replace").strip()


def _last_words(program: Program) -> str:
    words = program.output[-500:]
    return f"; the last of its output: {words}" if words else ""
