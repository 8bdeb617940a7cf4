"""Termination messages: what a container reports to the operator when it ends.

Invariant: a message is never longer than what Kubernetes keeps, so JSON stays valid JSON; it contains no credential.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import structlog

from opsgym_api.jobs.job_spec import (
    ENV_TERMINATION_LOG,
    MESSAGE_BYTES,
    POD_MESSAGE_BYTES,
    Finding,
    PreflightReport,
)
from opsgym_api.records.attempt import Attempt, AttemptRecord, TrialRecord
from opsgym_core.common.scrub import scrub

_DEFAULT_FILE = "/dev/termination-log"
log = structlog.get_logger()


def message_limit(containers: int) -> int:
    """Bytes that Kubernetes keeps of one container's termination message.

    Args:
        containers: Number of containers in the pod, init containers included.
    """
    return min(MESSAGE_BYTES, POD_MESSAGE_BYTES // containers)


def summary_of(record: AttemptRecord | TrialRecord) -> Attempt:
    """The attempt of a record, without the fields that only the store keeps."""
    return record.narrow(Attempt)


def fitted_summary(summary: Attempt, size: int) -> bytes:
    """A summary as JSON of at most `size` bytes; its message is truncated if necessary."""
    message = scrub(summary.message, ())

    def truncated(length: int) -> bytes:
        text = message if length >= len(message) else message[:length] + "…"
        return replace(summary, message=text).to_json(exclude_defaults=True)

    return _longest(truncated, len(message), size)


def fitted_report(report: PreflightReport, size: int) -> bytes:
    """A preflight report as JSON of at most `size` bytes: the first problems, and the number of further ones.

    A first problem that alone exceeds the size is truncated.
    """
    findings = [Finding(where=scrub(f.where, ()), problem=scrub(f.problem, ())) for f in report.problems]

    def first(count: int) -> bytes:
        fields = {"problems": findings[:count], "more": report.more + len(findings) - count}
        return report.model_copy(update=fields).model_dump_json().encode()

    whole = _longest(first, len(findings), size)
    if not findings or whole != first(0):
        return whole
    where, problem = findings[0].where[:200], findings[0].problem

    def cut(length: int) -> bytes:
        only = Finding(where=where, problem=problem[:length] + "…")
        fields = {"problems": [only], "more": report.more + len(findings) - 1}
        return report.model_copy(update=fields).model_dump_json().encode()

    return _longest(cut, len(problem), size)


def _longest(version: Callable[[int], bytes], most: int, size: int) -> bytes:
    """The longest of `version(0) … version(most)` that fits into `size` bytes; the shortest if none does."""
    fitting = bisect_right(range(most + 1), size, key=lambda length: len(version(length)))
    return version(max(fitting - 1, 0))


def write_message(environment: Mapping[str, str], content: bytes) -> None:
    """Writes the termination message; a failure is logged."""
    path = Path(environment.get(ENV_TERMINATION_LOG) or _DEFAULT_FILE)
    try:
        path.write_bytes(content)
    except OSError as error:
        log.warning("termination message not written", file=str(path), error=error.strerror)


def write_text_message(environment: Mapping[str, str], text: str) -> None:
    """Writes a plain-text termination message, for a pod that has no usable job spec."""
    write_message(environment, scrub(text, ()).encode()[: message_limit(1)])
