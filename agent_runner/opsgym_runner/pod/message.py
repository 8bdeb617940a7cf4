"""What a container leaves for the operator to read: its termination message.

Invariant: it fits into what Kubernetes keeps of it, so what is JSON stays JSON; and it holds no credential.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from opsgym_api.orders import (
    ENV_TERMINATION_LOG,
    MESSAGE_BYTES,
    POD_MESSAGE_BYTES,
    AttemptSummary,
    Finding,
    PreflightReport,
)
from opsgym_api.records import AttemptRecord, TrialRecord
from opsgym_api.scrub import scrub

_DEFAULT_FILE = "/dev/termination-log"
log = structlog.get_logger()


def room(containers: int) -> int:
    """Bytes that Kubernetes keeps of one container's message in a pod of so many, init containers included."""
    return min(MESSAGE_BYTES, POD_MESSAGE_BYTES // containers)


def summary_of(record: AttemptRecord | TrialRecord) -> AttemptSummary:
    """A record in short."""
    return AttemptSummary.model_validate(record.model_dump(exclude={"version"}))


def fitted_summary(summary: AttemptSummary, size: int) -> bytes:
    """A summary as JSON of so many bytes at most; its message is cut as far as it has to be."""
    message = scrub(summary.message, ())

    def cut(length: int) -> bytes:
        kept = message if length >= len(message) else message[:length] + "…"
        return summary.model_copy(update={"message": kept}).model_dump_json().encode()

    return _longest(cut, len(message), size)


def fitted_report(report: PreflightReport, size: int) -> bytes:
    """A report as JSON of so many bytes at most: the first findings, and how many more there are.

    A finding that fills the message alone is cut.
    """
    findings = [Finding(where=scrub(f.where, ()), problem=scrub(f.problem, ())) for f in report.problems]

    def first(count: int) -> bytes:
        kept = {"problems": findings[:count], "more": report.more + len(findings) - count}
        return report.model_copy(update=kept).model_dump_json().encode()

    whole = _longest(first, len(findings), size)
    if not findings or whole != first(0):
        return whole
    where, problem = findings[0].where[:200], findings[0].problem

    def cut(length: int) -> bytes:
        only = Finding(where=where, problem=problem[:length] + "…")
        kept = {"problems": [only], "more": report.more + len(findings) - 1}
        return report.model_copy(update=kept).model_dump_json().encode()

    return _longest(cut, len(problem), size)


def _longest(version: Callable[[int], bytes], most: int, size: int) -> bytes:
    """The longest of `version(0) … version(most)`, in order of length, that fits; the first if none does."""
    fitting = bisect_right(range(most + 1), size, key=lambda length: len(version(length)))
    return version(max(fitting - 1, 0))


def leave(environment: Mapping[str, str], content: bytes) -> None:
    """Writes the termination message; without a place for it the log says that it is lost."""
    path = Path(environment.get(ENV_TERMINATION_LOG) or _DEFAULT_FILE)
    try:
        path.write_bytes(content)
    except OSError as error:
        log.warning("no termination message", file=str(path), error=error.strerror)


def leave_words(environment: Mapping[str, str], words: str) -> None:
    """Writes a termination message for people, where there is no order that a summary could speak of."""
    leave(environment, scrub(words, ()).encode()[: room(1)])
