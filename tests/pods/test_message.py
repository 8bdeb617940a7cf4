"""Termination messages fit, stay JSON, and say as much as there is room for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pods.pod import CELL

from opsgym_api.jobs.job_spec import MESSAGE_BYTES, Finding, PreflightReport
from opsgym_api.records.attempt import Attempt, Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.pod.message import fitted_report, fitted_summary, message_limit, write_text_message

words = st.text(st.characters(codec="utf-8"), max_size=1500) | st.sampled_from(["", "ж" * 3000, "\0" * 999])
LEAST = 1200
"""Less is left to a container only in pods of more than ten."""


def summary(message: str) -> Attempt:
    timings = Timings(started_at="2026-01-05T08:00:00Z")
    return Attempt(
        cell=CELL, task_id="t", trial=0, attempt=0, outcome=Outcome.INFRA_ERROR, message=message, timings=timings
    )


@settings(max_examples=60)
@given(words, st.integers(LEAST, MESSAGE_BYTES))
def test_a_summary_fits_and_keeps_the_beginning_of_its_message(message: str, size: int) -> None:
    content = fitted_summary(summary(message), size)

    assert len(content) <= size
    stored = Attempt.from_json(content).message
    assert message.startswith(stored.removesuffix("…"))
    assert stored == message or stored.endswith("…")


@settings(max_examples=40)
@given(st.lists(st.builds(Finding, where=words, problem=words), max_size=12))
def test_a_report_fits_and_counts_what_it_leaves_out(findings: list[Finding]) -> None:
    content = fitted_report(PreflightReport(problems=findings, tasks=7), MESSAGE_BYTES)

    assert len(content) <= MESSAGE_BYTES
    report = PreflightReport.model_validate_json(content)
    assert len(report.problems) + report.more == len(findings)
    assert bool(report.problems) == bool(findings), "never a bare number"


def test_short_messages_are_left_as_they_are() -> None:
    assert Attempt.from_json(fitted_summary(summary("lost"), MESSAGE_BYTES)).message == "lost"


@pytest.mark.parametrize(("containers", "size"), [(1, 4096), (3, 4096), (4, 3072), (10, 1228)])
def test_containers_share_what_kubernetes_keeps_of_a_pod(containers: int, size: int) -> None:
    assert message_limit(containers) == size


def test_credentials_are_taken_out_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSGYM_KEY_0", "very-secret-value")
    findings = [Finding(where="very-secret-value", problem="it is very-secret-value")]

    assert b"very-secret" not in fitted_summary(summary("very-secret-value"), MESSAGE_BYTES)
    assert b"very-secret" not in fitted_report(PreflightReport(problems=findings), MESSAGE_BYTES)


def test_a_termination_message_that_cannot_be_written_is_not_a_failure() -> None:
    write_text_message({"OPSGYM_TERMINATION_LOG": "/nowhere/at/all"}, "words")
