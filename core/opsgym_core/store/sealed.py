"""A store in which the tasks of a held-out suite, and what agents wrote of them, are encrypted.

Invariant: of a run with a held-out suite only what `is_clear` names is stored in clear, and of records only what
scores, costs and progress are computed from. To readers without the key the rest is as if it were not there, so that
every reader of scores works without the secret.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Protocol

from opsgym_api.records.attempt import VerifierOutcome
from opsgym_api.records.outcomes import InfraReason
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_core.store.base import Store, StoreError

MAGIC = b"opsgym sealed 1\n"
"""Beginning of an encrypted object."""
SEALED = "sealed"
"""Field of a record that has the whole record, encrypted."""
SEALED_MESSAGE = "the text is sealed with the run's held-out seed"
"""Message of an attempt whose own message may quote the task."""
_CLEAR_FOLDERS = ("looks", "catalogues", "chunks", "report")
_TEXTS: dict[str, Any] = {"answer": "", "day_answers": [], "database_times": {}, "state_differences": {}, "variant": 0}
"""Fields of a scored trial's record that tell of its task, and their values in clear."""
_OUTCOME = frozenset(VerifierOutcome.__dataclass_fields__)
_ABOUT_NO_TASK = frozenset(
    {
        *(InfraReason.MODEL_AUTH, InfraReason.MODEL_NOT_FOUND, InfraReason.MODEL_RATE_LIMITED, InfraReason.MODEL_QUOTA),
        *(InfraReason.MODEL_UNAVAILABLE, InfraReason.MODEL_UNREACHABLE, InfraReason.STORE_LOST, InfraReason.HUNG),
    }
)
"""Reasons whose messages are about a model's account, a server or a pod; others may quote a task or an answer."""


class Seal(Protocol):
    """Encrypts and decrypts with the key of one held-out seed."""

    def close(self, content: bytes) -> bytes:
        """The content, encrypted."""
        ...

    def open(self, content: bytes) -> bytes | None:
        """What `close` was given; None if another key encrypted it."""
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
            StoreError: It is sealed with another key.
        """
        content = self.inner.get(key)
        if content is None or (self._seal is None and content.startswith(MAGIC)):
            return None
        if self._seal is None:
            return content
        if not content.startswith(MAGIC):
            return self._opened_record(content, self._seal) if _is_record(key) else content
        opened = self._seal.open(content.removeprefix(MAGIC))
        if opened is None:
            raise StoreError(self.name, key, "it is sealed with another held-out seed, or damaged")
        return opened

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
        if not _is_record(key):
            return MAGIC + self._seal.close(content)
        whole = base64.b64encode(self._seal.close(content)).decode("ascii")
        return json.dumps(clear_record(json.loads(content)) | {SEALED: whole}).encode()

    def _opened_record(self, content: bytes, seal: Seal) -> bytes:
        """The whole record; what is in clear of one that the key does not open, or that is not sealed."""
        try:
            record = json.loads(content)
        except ValueError:
            return content
        sealed = record.get(SEALED) if isinstance(record, dict) else None
        whole = seal.open(base64.b64decode(sealed)) if isinstance(sealed, str) else None
        return content if whole is None else whole


def is_clear(key: str) -> bool:
    """Whether the object of a run's key says nothing of a task but its id: specs, progress, scores and decisions."""
    folder, _, rest = key.partition("/")
    run, _, path = rest.partition("/")
    if folder != "runs":
        return False
    keys = RunKeys(run)
    files = (
        *(keys.run_json, keys.control_json, keys.gate_json, keys.figures_json),
        *(keys.suite_index, keys.probe),
    )
    return key in files or path.partition("/")[0] in _CLEAR_FOLDERS


def clear_record(record: dict[str, Any]) -> dict[str, Any]:
    """What stays in clear of the record of an attempt or of a scored trial.

    Args:
        record: The record as JSON values.
    """
    cleared = record | {name: value for name, value in _TEXTS.items() if name in record}
    if "verifiers" in record:
        cleared["verifiers"] = [
            {name: value for name, value in verifier.items() if name in _OUTCOME} for verifier in record["verifiers"]
        ]
    if record.get("message"):
        cleared["message"] = clear_message(str(record.get("reason", "")), record["message"])
    return cleared


def clear_message(reason: str, message: str) -> str:
    """The message of an attempt as it may be stored and shown."""
    return message if reason in _ABOUT_NO_TASK else SEALED_MESSAGE


def _is_record(key: str) -> bool:
    return "/cells/" in key and (is_trial_record(key) or is_attempt_record(key))
