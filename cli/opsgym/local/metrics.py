"""Metrics of a run on this machine: over HTTP while it lasts, in a file when it has ended.

Invariant: they are the operator's metrics, made from the same records by the same class. Counters hold what ended in
this invocation, gauges the whole run; whoever reads them sees everything or nothing of what an attempt's end changes.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
from prometheus_client import CONTENT_TYPE_LATEST

from opsgym.local.inputs import Inputs
from opsgym_api.errors import InputError, Problem
from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, GateRecord
from opsgym_api.rows import CellRows
from opsgym_api.store import Store, StoreError
from opsgym_operator.book import Book
from opsgym_operator.metrics import LOCAL, Metrics, RunCondition, run_figures
from opsgym_operator.plan import TrialKey
from opsgym_operator.shelf import StoredAttempt, read_trial

HOST = "127.0.0.1"
PATH = "/metrics"


@dataclass(frozen=True)
class Exposition:
    """Where metrics are wanted."""

    port: int | None = None
    """Port of this machine to serve them at while the run lasts; a free one if 0."""
    file: Path | None = None
    """File to write them to when the run has ended."""

    @property
    def wanted(self) -> bool:
        """Whether anybody wants them."""
        return self.port is not None or self.file is not None


class Meter:
    """Takes a run's records, and tells its metrics at any time, to any thread.

    Args:
        inputs: The run.
        store: Where its records are.
    """

    def __init__(self, inputs: Inputs, store: Store) -> None:
        self._run = inputs.name
        self._keys = RunKeys(inputs.run_id)
        self._store = store
        self._budget = inputs.spec.budget
        self._infra_retries = inputs.spec.limits.infra_retries
        self._ceilings = {entry.name: inputs.models[entry.name].max_concurrency for entry in inputs.spec.models}
        self._metrics = Metrics(local=True)
        self._cells: Mapping[Cell, int] = {}
        self._book = Book(self._infra_retries)
        self._running: dict[tuple[TrialKey, int], str] = {}
        """Model of each attempt under way."""
        self._infra_errors: Counter[TrialKey] = Counter()
        """Of this invocation."""
        self._unread: deque[AttemptRecord] = deque()
        """Scored attempts whose verifiers are not counted yet."""
        self._lock = threading.Lock()

    def begin(self, cells: Mapping[Cell, int], before: Sequence[CellRows]) -> None:
        """Takes what is known of the run when it starts; nothing of it is counted.

        Args:
            cells: Trials planned in each cell.
            before: What earlier invocations left in the store.
        """
        with self._lock:
            self._cells = cells
            for rows in before:
                for row in rows.all:
                    self._book.note(StoredAttempt(rows.cell, row))

    def heard(self, record: AttemptRecord) -> None:
        """Takes an attempt as it stands; counts it once, when it has ended."""
        trial = (record.cell.key, record.task_id, record.trial)
        with self._lock:
            ended = self._book.note(record)
            if record.outcome is None:
                self._running[trial, record.attempt] = record.cell.model
                return
            self._running.pop((trial, record.attempt), None)
            if not ended:
                return
            self._metrics.count_attempt(record)
            if self._is_over(trial, record.outcome):
                self._metrics.count_trial(record.cell, record.outcome, record.reason)
            if record.outcome.scored:
                self._unread.append(record)

    def _is_over(self, trial: TrialKey, outcome: Outcome) -> bool:
        """Whether a trial that has just ended so is not tried again in this invocation."""
        self._infra_errors[trial] += outcome is Outcome.INFRA_ERROR
        if outcome is Outcome.INFRA_ERROR:
            return self._infra_errors[trial] > self._infra_retries
        return outcome is not Outcome.CANCELLED

    def finish(self, at: datetime) -> None:
        """The run has ended by itself."""
        with self._lock:
            self._metrics.show_condition(LOCAL, self._run, RunCondition(finished_at=at))

    def judged(self, gate: GateRecord) -> None:
        """The run's gate has decided."""
        with self._lock:
            self._metrics.show_gate(LOCAL, self._run, gate.verdict, gate.regression)

    def text(self) -> bytes:
        """Everything as it stands, as Prometheus reads it."""
        self._count_verifiers()
        with self._lock:
            budget = self._budget.max_usd if self._budget else None
            self._metrics.show_run(LOCAL, self._run, run_figures(self._book, self._cells, budget))
            self._metrics.show_models(LOCAL, Counter(self._running.values()), self._ceilings)
            return self._metrics.text()

    def _count_verifiers(self) -> None:
        """Attempts do not tell of verifiers, trials do. Without the lock: a store may be far away."""
        for _ in range(len(self._unread)):
            try:
                attempt = self._unread.popleft()
            except IndexError:
                return  # another reader counts it
            try:
                trial = read_trial(self._store, self._keys.trial(attempt.cell, attempt.task_id, attempt.trial))
            except StoreError:
                self._unread.append(attempt)
                return
            if trial is not None:
                with self._lock:
                    self._metrics.count_verifiers(trial.cell, trial.verifiers)


@contextmanager
def exposed(meter: Meter, where: Exposition) -> Iterator[None]:
    """Serves a meter's metrics while the context is open, and writes them to a file at its end, where that is wanted.

    Raises:
        InputError: The port is taken, or the file cannot be written; nothing has started then.
    """
    with ExitStack() as opened:
        if where.file is not None:
            _require_writable(where.file)
            opened.callback(_write, where.file, meter)
        if where.port is not None:
            port = opened.enter_context(_serving(meter, where.port))
            click.echo(f"metrics at http://{HOST}:{port}{PATH}", err=True)
        yield


@contextmanager
def _serving(meter: Meter, port: int) -> Iterator[int]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answers for one path."""
            found = self.path.partition("?")[0] == PATH
            content = meter.text() if found else f"metrics are at {PATH}\n".encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT_TYPE_LATEST if found else "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            with suppress(ConnectionError):  # who asked has hung up
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - http.server's name
            """Says nothing: progress is what a user reads."""

    try:
        server = ThreadingHTTPServer((HOST, port), Page)
    except OSError as error:
        problem = f"port {port} of {HOST} cannot be served: {error.strerror}; name another one, or 0 for a free one"
        raise InputError("opsgym run", [Problem("--metrics-port", problem)]) from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _require_writable(file: Path) -> None:
    try:
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        _beside(file).write_bytes(b"")
        _beside(file).unlink()
    except OSError as error:
        raise InputError("opsgym run", [Problem("--metrics-file", f"{file}: {error.strerror}")]) from None


def _write(file: Path, meter: Meter) -> None:
    """Writes the file at once, as collectors of such files need it; that it cannot be done changes no score."""
    try:
        _beside(file).write_bytes(meter.text())
        _beside(file).replace(file)
    except OSError as error:
        click.echo(f"the metrics are not written: {file}: {error.strerror}", err=True)


def _beside(file: Path) -> Path:
    """Where a file is written before it takes its name; collectors read `*.prom` only."""
    return file.with_name(f".{file.name}.{os.getpid()}")
