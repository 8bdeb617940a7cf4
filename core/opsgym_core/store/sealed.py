"""A store in which the tasks of a held-out suite, and what agents wrote of them, are encrypted.

Invariant: of a run with a held-out suite only what `is_clear` names is stored in clear, and of records only
`CLEAR_FIELDS`, which scores, costs and progress are computed from. To readers without the key the rest is as if it were
not there, so that every reader of scores works without the secret. With the key, an object is read only if it was
sealed with that key and is where it was written, or if it is an attempt that was closed without a key.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Protocol

from opsgym_api.records.attempt import VerifierOutcome
from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_core.store.base import Store, StoreError

MAGIC = b"opsgym sealed 1\n"
"""Beginning of an encrypted object."""
SEALED = "sealed"
"""Field of a record that has the whole record, encrypted."""
SEALED_MESSAGE = "the text is sealed with the run's held-out seed"
"""Message of an attempt whose own message may quote the task."""
ENDPOINT_SAYS = "the endpoint's error: "
"""In a message about a model: what follows was composed by the model's provider or client, who may quote the prompt."""
SEALED_ERROR = "the endpoint's error is sealed with the run's held-out seed"
_CLEAR_FOLDERS = ("lease", "looks", "catalogues", "chunks", "report")
CLEAR_FIELDS = frozenset(
    {
        *("version", "run", "cell", "task_id", "trial", "attempt", "profile", "outcome", "reason", "score"),
        *("published_score", "feasible", "horizon", "tags", "stopped_by", "steps", "tool_calls", "tool_errors"),
        *("internal_errors", "sample_retries"),
        *("usage", "planner_usage", "judge_usage", "cost_usd", "judge_cost_usd", "prices", "request_seed"),
        *("model_retries", "rate_limits", "refused_requests", "finish_reasons", "timings", "versions", "resources"),
    }
)
"""Fields of the records of attempts and scored trials that are stored as they are."""
SEALED_FIELDS: dict[str, Any] = {
    "answer": "",
    "day_answers": [],
    "database_times": {},
    "state_differences": {},
    "variant": 0,
    "message": "",
    "verifiers": [],
}
"""Fields that tell of the task, and their values in clear; `message` and `verifiers` keep the part that does not."""
_OUTCOME = frozenset(VerifierOutcome.__dataclass_fields__)
_ABOUT_NO_TASK = frozenset(
    {
        *(InfraReason.MODEL_AUTH, InfraReason.MODEL_NOT_FOUND, InfraReason.MODEL_RATE_LIMITED, InfraReason.MODEL_QUOTA),
        *(InfraReason.MODEL_UNAVAILABLE, InfraReason.MODEL_UNREACHABLE, InfraReason.MODEL_CALLS_IN_TEXT),
        *(InfraReason.STORE_LOST, InfraReason.HUNG),
        ConfigReason.HELD_OUT_SEED,
    }
)
"""Reasons whose messages are about a model's account, a server or a pod, up to `ENDPOINT_SAYS`; others may quote a task
or an answer."""


class SealError(StoreError):
    """The held-out seed does not open an object: no other try will, until the run's own seed is given."""

    def __init__(self, store: str, key: str) -> None:
        super().__init__(store, key, "it is sealed with another held-out seed, or was changed or moved")


class Seal(Protocol):
    """Encrypts and decrypts with the key of one held-out seed."""

    def close(self, content: bytes, place: str) -> bytes:
        """The content, encrypted; it opens only at that place, the object's key in its store."""
        ...

    def open(self, content: bytes, place: str) -> bytes | None:
        """What `close` was given; None if another key encrypted it, or it is from another place."""
        ...


class SealedStore:
    """A store that opens what is sealed, and seals what it writes.

    Args:
        store: Where the objects are.
        seal: The key of the run that is read and written; None for readers that have none. What such a reader writes is
            not sealed.
    """

    def __init__(self, store: Store, seal: Seal | None = None) -> None:
        self.name = store.name
        self.inner: Store = store.inner if isinstance(store, SealedStore) else store
        self._seal = seal

    def get(self, key: str) -> bytes | None:
        """Content of an object in clear; None if no object has that key, or it is sealed and there is no key.

        Raises:
            SealError: The key does not open it, or it should be sealed and is not.
        """
        content = self.inner.get(key)
        if content is None:
            return None
        if self._seal is None:
            return None if content.startswith(MAGIC) else content
        return content if is_clear(key) else self._opened(key, content, self._seal)

    def put(self, key: str, content: bytes) -> None:
        """Writes an object, replacing an older one."""
        self.inner.put(key, self._sealed(key, content))

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes an object unless one has that key; returns whether it wrote."""
        return self.inner.put_once(key, self._sealed(key, content))

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        return self.inner.keys(prefix)

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted."""
        return self.inner.folders(folder)

    def _sealed(self, key: str, content: bytes) -> bytes:
        if self._seal is None or is_clear(key):
            return content
        closed = self._seal.close(content, key)
        if not _is_record(key):
            return MAGIC + closed
        whole = base64.b64encode(closed).decode("ascii")
        return json.dumps(clear_record(json.loads(content)) | {SEALED: whole}).encode()

    def _opened(self, key: str, content: bytes, seal: Seal) -> bytes:
        if is_attempt_record(key) and _is_never_sealed(content):
            return content  # the operator, which has no key, closes the attempts of pods that were lost
        closed = _closed_record(content) if _is_record(key) else _closed_object(content)
        opened = None if closed is None else seal.open(closed, key)
        if opened is None:
            raise SealError(self.name, key)
        return opened


def without_seal(store: Store) -> Store:
    """The store as readers without the key see it. What is written to it must be composed of what they read."""
    return SealedStore(store.inner) if isinstance(store, SealedStore) else store


def as_stored(store: Store) -> Store:
    """The store with its objects as they are, sealed ones included."""
    return store.inner if isinstance(store, SealedStore) else store


def is_clear(key: str) -> bool:
    """Whether the object of a run's key says nothing of a task but its id: specs, progress, scores and decisions."""
    folder, _, rest = key.partition("/")
    run, _, path = rest.partition("/")
    if folder != "runs":
        return False
    keys = RunKeys(run)
    files = (
        *(keys.run_json, keys.control_json, keys.gate_json, keys.figures_json),
        *(keys.suite_index, keys.probe, keys.pin_json, keys.deletion_json),
    )
    return key in files or path.partition("/")[0] in _CLEAR_FOLDERS


def clear_record(record: dict[str, Any]) -> dict[str, Any]:
    """What stays in clear of the record of an attempt or of a scored trial.

    Args:
        record: The record as JSON values.
    """
    cleared = {name: value for name, value in record.items() if name in CLEAR_FIELDS}
    cleared |= {name: value for name, value in SEALED_FIELDS.items() if name in record}
    if "verifiers" in record:
        cleared["verifiers"] = [
            {name: value for name, value in verifier.items() if name in _OUTCOME} for verifier in record["verifiers"]
        ]
    if record.get("message"):
        cleared["message"] = clear_message(str(record.get("reason", "")), record["message"])
    return cleared


def clear_message(reason: str, message: str) -> str:
    """The message of an attempt as it may be stored and shown: nothing that opsgym did not compose."""
    if reason not in _ABOUT_NO_TASK:
        return SEALED_MESSAGE
    composed, quotes, _ = message.partition(ENDPOINT_SAYS)
    return f"{composed}{SEALED_ERROR}" if quotes else message


def _is_record(key: str) -> bool:
    return "/cells/" in key and (is_trial_record(key) or is_attempt_record(key))


def _closed_object(content: bytes) -> bytes | None:
    """The encrypted content of an object; None if it is not sealed."""
    return content.removeprefix(MAGIC) if content.startswith(MAGIC) else None


def _is_never_sealed(content: bytes) -> bool:
    """Whether a record was written without a key."""
    try:
        record = json.loads(content)
    except ValueError:
        return False
    return isinstance(record, dict) and SEALED not in record


def _closed_record(content: bytes) -> bytes | None:
    """The encrypted content of a record; None if it has none that can be read."""
    try:
        return base64.b64decode(json.loads(content)[SEALED], validate=True)
    except (ValueError, KeyError, TypeError):
        return None
