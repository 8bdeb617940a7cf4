"""Locates the run that a command reads: its store, and its id in that store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

from opsgym.cluster import Cluster, ClusterError, find_results, has_kubeconfig
from opsgym.commands.held_out import store_of_run
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.records.run import RunRecord
from opsgym_core.results.load import find_run, load_record, load_rows, load_run
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.location import open_store

T = TypeVar("T")
Reader: TypeAlias = Callable[[Store, str], T]
"""Reads a run from a store, by its id."""
Opened: TypeAlias = Callable[[Store, str], Store]
"""The store as a reader needs it for a run, by the run's id."""

LOCAL = "./results"
"""Default store."""


@dataclass(frozen=True)
class RunLocator:
    """Location of runs as the user gave it.

    Without store and cluster, a run is looked up in `./results` first, and then in the current cluster.
    """

    store: str | None = None
    """Location of a store."""
    cluster: Cluster | None = None
    """Cluster whose EvalRuns name the store of their results."""

    def open(self) -> Store:
        """The store whose runs are listed.

        Raises:
            InputError: A cluster is given, in which each EvalRun may have another store.
        """
        if self.store is None and self.cluster is not None:
            message = "is missing: name an EvalRun; `kubectl get evalruns` lists them"
            raise InputError("opsgym results", [Problem("RUN", message)])
        return _existing_store(self.store or LOCAL)

    def load(self, run: str) -> tuple[Store, RunResults]:
        """The complete records of a run, and its store.

        Raises:
            InputError: There is no such run.
            StoreError: The store cannot be read.
            ClusterError: The cluster cannot be queried.
        """
        store, results = self._read(run, load_run, texts=True)
        _warn(results.unreadable)
        return store, results

    def load_rows(self, run: str) -> tuple[Store, RunRows]:
        """The rows of a run, and its store.

        Raises:
            InputError: There is no such run.
            StoreError: The store cannot be read.
            ClusterError: The cluster cannot be queried.
        """
        store, rows = self._read(run, load_rows)
        _warn(
            attempt.message
            for cell in rows.cells
            for attempt in cell.attempts
            if attempt.reason == ConfigReason.UNREADABLE_RECORD
        )
        return store, rows

    def load_record(self, run: str, *, texts: bool = False) -> tuple[Store, RunRecord]:
        """The `run.json` of a run, and its store; with `texts`, one that opens those of a held-out suite.

        Raises:
            InputError: There is no such run.
            StoreError: The store cannot be read.
            ClusterError: The cluster cannot be queried.
        """
        return self._read(run, load_record, texts=texts)

    def _read(self, run: str, reader: Reader[T], *, texts: bool = False) -> tuple[Store, T]:
        """Reads a run; with `texts`, from a store that opens those of a held-out suite."""
        opened = partial(store_of_run, environment=os.environ) if texts else _as_it_is
        if self.store is not None:
            return _in_store(self.store, run, reader, opened)
        if self.cluster is not None:
            return _in_cluster(self.cluster, run, reader, opened)
        try:
            return _in_store(LOCAL, run, reader, opened)
        except InputError as error:
            if not has_kubeconfig():
                raise
            with _error_added(error):
                return _in_cluster(Cluster(), run, reader, opened)


def _warn(problems: Iterable[str]) -> None:
    """Prints problems that do not stop the command."""
    for problem in problems:
        click.echo(f"warning: {problem}", err=True)


def _existing_store(location: str) -> Store:
    """The store at a location that the user gave to read from."""
    if "://" not in location and location != LOCAL and not Path(location).exists():
        raise InputError(location, [Problem("--store", "does not exist; give the folder that a run wrote to")])
    return open_store(location)


def _as_it_is(store: Store, _run: str) -> Store:
    return store


def _in_store(location: str, run: str, reader: Reader[T], opened: Opened) -> tuple[Store, T]:
    store = _existing_store(location)
    run_id = find_run(store, run)
    store = opened(store, run_id)
    return store, reader(store, run_id)


def _in_cluster(cluster: Cluster, run: str, reader: Reader[T], opened: Opened) -> tuple[Store, T]:
    stored = find_results(run, cluster)
    try:
        store = opened(open_store(stored.store), stored.run)
        return store, reader(store, stored.run)
    except StoreError as error:
        error.add_note(_STORE_ACCESS)
        raise


@contextmanager
def _error_added(first: InputError) -> Iterator[None]:
    """Adds an earlier error to the one raised in this context, so that the user sees both."""
    try:
        yield
    except (InputError, ClusterError, StoreError) as error:
        error.add_note(str(first))
        raise


_STORE_ACCESS = """\
The EvalRun names its store as the cluster reaches it. This command needs its own network access and credentials:
  AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE
  AWS_ENDPOINT_URL_S3, for a store that is not on AWS; for a store inside the cluster, forward a port first:
    kubectl port-forward --namespace NAMESPACE service/NAME 7070 &
    export AWS_ENDPOINT_URL_S3=http://127.0.0.1:7070"""
