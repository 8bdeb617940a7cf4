"""A console that listens, with a store that a test fills like a run.

Invariant: a page requests only its console, and its browser logs no error.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page
from tests.cli.runs import put_attempt, put_run, put_transcript, put_trial
from tests.cli.world import until
from tests.explore.visitor import PATIENCE_MS

from opsgym_api.records.attempt import Cell, Timings, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.server.access import Access
from opsgym_console.server.app import Console
from opsgym_console.server.evalruns import EvalRuns
from opsgym_console.server.labelling import Labelling
from opsgym_console.server.run_cache import RunCache
from opsgym_console.server.serving import Server
from opsgym_console.server.sources import Source, StoreSource
from opsgym_core.store.base import Store

POLL = 0.1
"""Seconds between a console's questions: tests do not wait as long as people do."""
MODELS = ("gpt", "sonnet")


def cells(*tasks: str, models: Sequence[str] = MODELS) -> list[PlannedCell]:
    """What a run plans."""
    return [
        PlannedCell(cell=Cell(model=model, agent="react", mode="oracle", domain="itsm"), task_ids=list(tasks))
        for model in models
    ]


def at(seconds: float = 0.0) -> Timings:
    """When something ran that ended so many seconds after now."""
    began = datetime.now(UTC) + timedelta(seconds=seconds - 2)
    return Timings(started_at=began.isoformat(), model_s=1.0, total_s=2.0)


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat()


@dataclass
class Running:
    """A run that a test lets go on."""

    store: Store
    run: str
    plan: list[PlannedCell]
    _ended: int = 0

    @classmethod
    def begin(cls, store: Store, run: str, *tasks: str, models: Sequence[str] = MODELS) -> Running:
        """Plans a run."""
        running = cls(store, run, cells(*tasks, models=models))
        put_run(store, run, running.plan, created_at=now())
        return running

    def start(self, task_id: str, place: int = 0) -> None:
        """An attempt begins."""
        put_attempt(self.store, self.run, task_id, None, cell=self.plan[place].cell, timings=at())

    def end(self, task_id: str, place: int = 0, outcome: Outcome = Outcome.PASSED) -> TrialRecord:
        """It ends with a score; each later than the one before."""
        self._ended += 1
        cell, timings = self.plan[place].cell, at(self._ended)
        event = TranscriptEvent(kind="assistant", content=f"I have done {task_id}.", step=1)
        put_transcript(self.store, self.run, task_id, event, cell=cell)
        put_attempt(self.store, self.run, task_id, outcome, cell=cell, timings=timings)
        return put_trial(self.store, self.run, task_id, outcome, cell, timings=timings)


@contextmanager
def serving(
    *sources: Source,
    access: Access | None = None,
    evalruns: EvalRuns | None = None,
    poll: float = POLL,
    labelling: Labelling | None = None,
) -> Iterator[str]:
    """A console on a thread of its own; its address."""
    console = Console(RunCache(sources, evalruns), access or Access(), poll, labelling)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(console)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the console listens")
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


@contextmanager
def showing(folder: Path) -> Iterator[str]:
    """A console of a folder; its address."""
    with serving(StoreSource(str(folder))) as url:
        yield url


@dataclass
class Command:
    """`opsgym serve` as a process."""

    process: subprocess.Popen[str]
    url: str
    _log: IO[bytes]

    def interrupt(self) -> int:
        """Presses Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(10)

    def log(self) -> str:
        """Its stderr."""
        self._log.seek(0)
        return self._log.read().decode()


@contextmanager
def command(*arguments: str, **environment: str) -> Iterator[Command]:
    """Starts `opsgym serve`, and ends it."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "opsgym.main", "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **environment},
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            started = Command(process, line.partition(" at ")[2].split(" ")[0].rstrip("/"), log)
            assert started.url.startswith("http://"), line + started.log()
            yield started
        finally:
            process.kill()
            process.communicate()


@dataclass
class Visitor:
    """A tab on a console."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def on_console(self, message: ConsoleMessage) -> None:
        """Keeps an error or warning."""
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


@contextmanager
def visiting(browser: Browser, url: str, **options: object) -> Iterator[Visitor]:
    """A tab on a console; fails at the end if the browser logged an error or other hosts were requested."""
    context = browser.new_context(**options)  # type: ignore[arg-type]  # options of playwright, as it has them
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        visitor = Visitor(page, url)
        page.on("console", visitor.on_console)
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.on("request", lambda request: visitor.requests.append(request.url))
        yield visitor
        assert visitor.complaints == []
        assert [address for address in visitor.requests if not address.startswith((url, "about:", "data:"))] == []
    finally:
        context.close()


def client(url: str) -> httpx.Client:
    """A client of a console that uses no proxy."""
    return httpx.Client(base_url=url, timeout=30, trust_env=False)
