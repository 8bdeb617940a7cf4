"""Prometheus metrics of a local run: served over HTTP while it runs, written to a file when it ends.

Invariant: they are the operator's metrics, made from the same records by the same class. Counters hold what ended in
this invocation, gauges the whole run; a scrape sees either all or none of the changes that the end of an attempt makes.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click
from prometheus_client import CollectorRegistry, Metric, start_http_server, write_to_textfile
from prometheus_client.registry import Collector

from opsgym.local.inputs import RunInputs
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialId, TrialRecord
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.metrics.registry import LOCAL, Metrics, RunCondition, run_figures
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.objects import read_object

HOST = "127.0.0.1"
PATH = "/metrics"


@dataclass(frozen=True)
class MetricsOptions:
    """Where the metrics of a run are exposed."""

    port: int | None = None
    """Port of 127.0.0.1 that serves them while the run lasts; 0 for a free port, None for none."""
    file: Path | None = None
    """File that they are written to when the run ends; None for none."""

    @property
    def enabled(self) -> bool:
        """Whether metrics are exposed at all."""
        return self.port is not None or self.file is not None


class RunMetrics(Collector):
    """Collects the metrics of a run from its records and its attempt ledger. Safe to collect from any thread.

    Args:
        inputs: The run.
        store: Store that holds its records.
        ledger: Attempts of the run; after `begin`, only `note` changes it.
    """

    def __init__(self, inputs: RunInputs, store: Store, ledger: AttemptLedger) -> None:
        self._run = inputs.name
        self._keys = RunKeys(inputs.run_id)
        self._store = store
        self._ledger = ledger
        self._budget = inputs.spec.budget
        self._ceilings = {entry.name: inputs.models[entry.name].max_concurrency for entry in inputs.spec.models}
        self._metrics = Metrics(local=True)
        self._cells: Mapping[Cell, int] | None = None
        """None until `begin`: the ledger is still being filled and must not be read."""
        self._running: dict[tuple[TrialId, int], str] = {}
        """Model of each running attempt."""
        self._verifiers_due: deque[AttemptRecord] = deque()
        """Scored attempts whose verifiers are not counted yet."""
        self._lock = threading.Lock()
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def begin(self, cells: Mapping[Cell, int]) -> None:
        """Sets the number of trials planned in each cell."""
        with self._lock:
            self._cells = cells

    def note(self, record: AttemptRecord) -> None:
        """Adds an attempt to the ledger; counts it once, when it has ended."""
        key = record.trial_id
        with self._lock:
            newly_ended = self._ledger.record(record)
            if record.outcome is None:
                self._running[key, record.attempt] = record.cell.model
                return
            self._running.pop((key, record.attempt), None)
            if not newly_ended:
                return
            self._metrics.count_attempt(record)
            if self._ledger.is_settled(key) or record.outcome is Outcome.BUDGET_SKIPPED:
                self._metrics.count_trial(record.cell, record.outcome, record.reason)
            if record.outcome.scored:
                self._verifiers_due.append(record)

    def finish(self, at: datetime) -> None:
        """Sets the time when the run finished; not called if a signal ended it."""
        with self._lock:
            self._metrics.show_condition(LOCAL, self._run, RunCondition(finished_at=at))

    def show_gate(self, gate: GateRecord) -> None:
        """Sets the verdict of the run's gate."""
        with self._lock:
            self._metrics.show_gate(LOCAL, self._run, gate.verdict, gate.regression)

    def collect(self) -> Iterable[Metric]:
        """All metrics as they are now."""
        self._count_verifiers()
        with self._lock:
            budget = self._budget.max_usd if self._budget else None
            if self._cells is not None:
                self._metrics.show_run(LOCAL, self._run, run_figures(self._ledger, self._cells, budget))
            self._metrics.show_models(LOCAL, Counter(self._running.values()), self._ceilings)
            return list(self._metrics.registry.collect())

    def _count_verifiers(self) -> None:
        """Counts verifiers, which only trial records hold; without the lock, since the store may be slow."""
        for _ in range(len(self._verifiers_due)):
            try:
                attempt = self._verifiers_due.popleft()
            except IndexError:
                return  # another thread counts it
            keys = self._keys.trial(attempt.cell, attempt.task_id, attempt.trial)
            try:
                trial = read_object(self._store, keys.record, TrialRecord)
            except (StoreError, InputError):
                self._verifiers_due.append(attempt)
                return
            if trial is not None:
                with self._lock:
                    self._metrics.count_verifiers(trial.cell, trial.verifiers)


@contextmanager
def exposed(metrics: RunMetrics, options: MetricsOptions) -> Iterator[None]:
    """Serves metrics while the context is open and writes them to a file when it closes, as the options say.

    Raises:
        InputError: The port is in use or the file cannot be written; raised before the context opens.
    """
    with ExitStack() as stack:
        if options.file is not None:
            _require_writable(options.file)
            stack.callback(_write, options.file, metrics)
        if options.port is not None:
            port = stack.enter_context(_served(metrics, options.port))
            click.echo(f"metrics at http://{HOST}:{port}{PATH}", err=True)
        yield


@contextmanager
def _served(metrics: RunMetrics, port: int) -> Iterator[int]:
    try:
        server, thread = start_http_server(port, HOST, metrics.registry)
    except OSError as error:
        problem = f"port {port} of {HOST} cannot be served: {error.strerror}; name another port, or 0 for a free one"
        raise InputError("opsgym run", [Problem("--metrics-port", problem)]) from None
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _require_writable(file: Path) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        draft.write_bytes(b"")
        draft.unlink()
    except OSError as error:
        raise InputError("opsgym run", [Problem("--metrics-file", f"{file}: {error.strerror}")]) from None


def _write(file: Path, metrics: RunMetrics) -> None:
    """Replaces the file atomically, as the textfile collector requires. A failure does not change the exit code."""
    try:
        write_to_textfile(str(file), metrics.registry)
    except OSError as error:
        click.echo(f"the metrics are not written: {file}: {error.strerror}", err=True)
