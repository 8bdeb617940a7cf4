"""What people read about a run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.operator.fleet import START

from opsgym_api.kinds.evalrun import Condition, EvalRunStatus
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.observe.schedules import succeeded
from opsgym_operator.plan.desired import Event
from opsgym_operator.plan.status.status import LONGEST_MESSAGE, STALLED, Reason, RunSummary, condition_events, status_of

DOCS = Path(__file__).resolve().parents[3] / "docs" / "operator.md"
RUN = ObservedRun("nightly", "u", "team", 3, START, None)


def condition(kind: str, status: str, reason: str = "X", message: str = "") -> Condition:
    return Condition.model_validate(
        {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": START}
    )


def test_every_reason_is_explained_to_users() -> None:
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith(("| `", "| [`"))]
    explained = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(explained) == sorted(reason.value for reason in Reason)


def test_a_stalled_run_has_a_message_and_progresses_only_with_running_pods() -> None:
    for reason in STALLED:
        status = status_of(RUN, RunSummary(reason, "fix it"), None, None, None, START)
        conditions = {item.type: (item.status, item.message) for item in status.conditions}
        assert conditions["Stalled"] == ("True", "fix it")
        assert conditions["Progressing"] == ("False", "fix it")
        assert status.phase == "Stalled"
    busy = status_of(RUN, RunSummary(Reason.SECRET_MISSING, "m", progressing=True), None, None, None, START)
    assert next(item.status for item in busy.conditions if item.type == "Progressing") == "True"


def test_a_long_condition_message_is_truncated() -> None:
    status = status_of(RUN, RunSummary(Reason.PREFLIGHT_FAILED, "x" * 40_000), None, None, None, START)
    assert {len(item.message) for item in status.conditions} == {0, LONGEST_MESSAGE}
    assert EvalRunStatus.model_validate(status.model_dump(by_alias=True)) == status


def test_conditions_have_the_observed_generation() -> None:
    status = status_of(RUN, RunSummary(Reason.RUNNING), None, None, None, START)
    assert status.observed_generation == 3
    assert {item.observed_generation for item in status.conditions} == {3}


def test_a_run_is_good_if_it_succeeded_and_its_gate_passed() -> None:
    def status(*conditions: Condition) -> EvalRunStatus:
        return EvalRunStatus(conditions=list(conditions))

    assert not succeeded(status())
    assert succeeded(status(condition("Succeeded", "True")))
    assert not succeeded(status(condition("Succeeded", "False")))
    assert succeeded(status(condition("Succeeded", "True"), condition("GatePassed", "True")))
    assert not succeeded(status(condition("Succeeded", "True"), condition("GatePassed", "False")))


def test_an_unchanged_condition_records_no_event() -> None:
    before = EvalRunStatus(conditions=[condition("Stalled", "True", "PreflightFailed", "one thing")])
    same = EvalRunStatus(conditions=[condition("Stalled", "True", "PreflightFailed", "another thing")])
    resolved = EvalRunStatus(conditions=[condition("Stalled", "False", "Running")])
    assert condition_events(before, same) == []
    assert condition_events(before, resolved) == [
        Event("Normal", "Resumed", "the problem that stalled the run is resolved")
    ]
    assert condition_events(EvalRunStatus(), resolved) == []


def test_alternating_between_waiting_and_running_records_no_event() -> None:
    running = EvalRunStatus(conditions=[condition("Progressing", "True", "Running")])
    waiting = EvalRunStatus(conditions=[condition("Progressing", "True", "WaitingForModel")])
    assert condition_events(running, waiting) == []
    assert condition_events(waiting, running) == []
