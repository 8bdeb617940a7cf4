"""What a pod may do in a store: a pure function of who the pod is, the operation and the key.

Invariant: what is not allowed here by name is denied. A score, a plan and a catalogue are written once; what an attempt
of another pod wrote is not replaced; artefacts of a scored trial and the suite of a frozen run do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.records.attempt import Cell
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_core.store.base import is_key

_ATTEMPT = re.compile(r"(0|[1-9]\d{0,8})(\.transcript\.json\.zst|\.reasoning\.json\.zst|\.json)")
_ARTEFACT = re.compile(r"(transcript\.json|reasoning\.json|[^/]+\.state\.sqlite|[^/]+\.difference\.json)\.zst")
_NAME = r"[^/]+"
RUNS = "runs/"
"""Prefix of everything that runs wrote."""


class Operation(Enum):
    """What a request does with a key."""

    READ = "read"
    LIST = "list"
    REPLACE = "replace"
    """Write, whether the object exists or not."""
    CREATE = "create"
    """Write unless the object exists."""


class Denied(Exception):
    """A pod may not do what it asks for; the message says why."""


@dataclass(frozen=True)
class SuiteAccess:
    """Where a preflight pod reads its suite."""

    store: str
    folder: str
    """Prefix that the pod lists; empty for the whole store."""
    readable: str
    """Prefix of what it reads in that folder; empty for all but the records of runs."""


@dataclass(frozen=True)
class PodAccess:
    """Who a pod is, as far as its rights depend on it."""

    run: str
    store: str
    """Name of the run's store."""
    started_at: str
    """When the pod started, RFC 3339."""
    cell: Cell | None = None
    """Cell of its trials; None for a preflight pod."""
    trials: Sequence[TrialRef] = ()
    """The trials that it plays; none for a preflight pod."""
    suite: SuiteAccess | None = None
    """Suite that a preflight pod reads from a store; None for other pods and other suites."""


@dataclass(frozen=True)
class Permission:
    """An operation is allowed, if what is in the store allows it too."""

    unless_exists: str = ""
    """Key of an object whose existence forbids the operation; empty if none does."""
    own_attempt: str = ""
    """Key of an attempt record that no other pod may have written; empty if that does not matter."""


def permission_for(pod: PodAccess, operation: Operation, store: str, key: str) -> Permission:
    """Under what conditions a pod may do something with a key, or with the keys that begin with a prefix.

    Args:
        pod: The pod.
        operation: What it wants to do.
        store: Name of the store.
        key: Key of an object, or a prefix.

    Raises:
        Denied: It may not.
    """
    if not is_key(key.rstrip("/") if operation is Operation.LIST else key) and key:
        raise Denied(f"{key!r} is not a key")
    rules = _preflight_rules(pod, operation, key) if pod.cell is None else _task_rules(pod, operation, key)
    if pod.suite is not None and store == pod.suite.store and _is_suite_read(pod.suite, operation, key):
        return Permission()
    if store == pod.store and (permission := next(rules, None)) is not None:
        return permission
    raise Denied(f"a pod of run {pod.run} may not {operation.value} {key or 'all keys'} in store {store}")


def listed(pod: PodAccess, store: str, keys: Sequence[str]) -> list[str]:
    """The keys of an allowed listing that are shown to a pod; of a suite those that it may read.

    Args:
        pod: The pod.
        store: Name of the store.
        keys: What the store has.
    """
    if pod.suite is None or store != pod.suite.store:
        return list(keys)
    suite = pod.suite
    return [key for key in keys if _is_readable(suite, key)]


def _is_suite_read(suite: SuiteAccess, operation: Operation, key: str) -> bool:
    if operation is Operation.LIST:
        return key == suite.folder
    return operation is Operation.READ and _is_readable(suite, key)


def _is_readable(suite: SuiteAccess, key: str) -> bool:
    own_run = suite.readable.startswith(RUNS)  # a run may play what another one froze
    return key.startswith(suite.readable) and (own_run or not key.startswith(RUNS))


def _preflight_rules(pod: PodAccess, operation: Operation, key: str) -> Iterator[Permission]:
    """Permissions of a preflight pod, which tries the store and freezes the suite."""
    keys = RunKeys(pod.run)
    if operation in (Operation.REPLACE, Operation.CREATE) and key == keys.probe:
        yield Permission()
    in_suite = (keys.suite_index, keys.suite_task(_NAME), keys.suite_seed(_NAME))
    if operation is Operation.REPLACE and any(_like(pattern, key) for pattern in in_suite):
        yield Permission(unless_exists=keys.run_json)


def _task_rules(pod: PodAccess, operation: Operation, key: str) -> Iterator[Permission]:
    """Permissions of a task pod, which plays trials of one cell."""
    assert pod.cell is not None
    keys = RunKeys(pod.run)
    tasks = {ref.task_id for ref in pod.trials}
    shared = [keys.catalogue(_NAME), *(keys.plan(_NAME, task) for task in tasks)]
    if operation is not Operation.REPLACE and any(_like(pattern, key) for pattern in shared):
        yield Permission()
    if operation is Operation.READ and (
        key == keys.control_json or key in map(keys.suite_task, tasks) or _like(keys.suite_seed(_NAME), key)
    ):
        yield Permission()
    for ref in pod.trials:
        yield from _trial_rules(keys.trial(pod.cell, ref.task_id, ref.trial), operation, key)


def _trial_rules(trial: TrialKeys, operation: Operation, key: str) -> Iterator[Permission]:
    """Permissions for a pod's own trial."""
    inside = _below(f"{trial.base}/", key)
    if operation is Operation.READ and (key == trial.record or inside):
        yield Permission()
    if operation is Operation.LIST and key == trial.attempts:
        yield Permission()
    if operation is Operation.CREATE and key == trial.record:
        yield Permission()
    if operation is Operation.REPLACE and _ARTEFACT.fullmatch(inside):
        yield Permission(unless_exists=trial.record)
    if operation is Operation.REPLACE and (match := _ATTEMPT.fullmatch(_below(trial.attempts, key))):
        yield Permission(own_attempt=trial.attempt(int(match[1])))


def _below(prefix: str, key: str) -> str:
    """What follows a prefix in a key; empty if the key does not begin with it."""
    return key.removeprefix(prefix) if key.startswith(prefix) else ""


def _like(pattern: str, key: str) -> bool:
    """Whether a key is like a pattern, a key in which `_NAME` stands for a part."""
    before, name, after = pattern.partition(_NAME)
    if not name:
        return key == pattern
    return re.fullmatch(f"{re.escape(before)}{_NAME}{re.escape(after)}", key) is not None
