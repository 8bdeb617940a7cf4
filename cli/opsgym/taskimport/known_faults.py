"""Rows whose score says little about the agent: those known by their ids, and those that an import reported.

Invariant: a published row is recognised by its id alone, which holds the time of its creation; a list of rows changes
no score by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from opsgym.taskimport.faults import FaultKind
from opsgym_api.errors import InputError, Problem
from opsgym_core.planning.documents import text_of

DISTRUSTED = (FaultKind.NEEDS_NO_ACTION, FaultKind.RELATIVE_TIME, FaultKind.TEXT_FOR_NUMBER)
"""Faults of an import with which a row's score says little about the agent."""
Reported = Mapping[tuple[str, str], str]
"""Kind of the first distrusted fault of each faulty row, by mode and task id."""


@dataclass(frozen=True)
class KnownFault:
    """A published row that is known to be faulty."""

    task_id: str
    """Its id, or the beginning of it up to an underscore."""
    domain: str
    """Its domain; empty if that is not known."""
    kind: str
    detail: str

    def is_of(self, domain: str, task_id: str) -> bool:
        """Whether a task is this row."""
        return f"{task_id}_".startswith(f"{self.task_id}_") and self.domain in ("", domain)


@cache
def published_faults() -> tuple[KnownFault, ...]:
    """The published rows that are known to be faulty."""
    text = files("opsgym.taskimport").joinpath("published_faults.json").read_text(encoding="utf-8")
    return tuple(KnownFault(**entry) for entry in json.loads(text))


def reported_faults(file: Path) -> Reported:
    """The distrusted rows of an import.

    Raises:
        InputError: The file cannot be read or is not the `faults.json` of an import.
    """
    try:
        listed = [(fault["mode"], fault["task_id"], fault["kind"]) for fault in json.loads(text_of(file))]
    except (ValueError, TypeError, KeyError):
        raise InputError(str(file), [Problem("", "is not the faults.json of `opsgym tasks import`")]) from None
    return {(mode, task_id): kind for mode, task_id, kind in reversed(listed) if kind in DISTRUSTED}


def fault_of(domain: str, mode: str, task_id: str, reported: Reported) -> str:
    """Kind of a task's fault; empty if none is known."""
    known: Iterator[str] = (fault.kind for fault in published_faults() if fault.is_of(domain, task_id))
    return reported.get((mode, task_id)) or next(known, "")
