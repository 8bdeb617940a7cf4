"""Digests by which records say what ran. Equal content has an equal digest, whatever order its fields came in."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from opsgym_api.tasks.task import Task


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON value in canonical form, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def task_digest(task: Task) -> str:
    """Digest of a row, fields that opsgym does not know included.

    Fields at their default do not count, so a release that knows one more optional field changes no digest.
    """
    return digest_of(task.model_dump(mode="json", exclude_defaults=True))
