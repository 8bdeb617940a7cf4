"""What people read about a run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.operator.fleet import START

from opsgym_api.evalrun import Condition, EvalRunStatus
from opsgym_operator.desired import Event
from opsgym_operator.observed import ObservedRun
from opsgym_operator.status import LONGEST_MESSAGE, STALLED, Reason, Situation, status_of, told, went_well

DOCS = Path(__file__).resolve().parents[2] / "docs" / "operator.md"
RUN = ObservedRun("nightly", "u", "team", 3, START, None)


def condition(kind: str, status: str, reason: str = "X", message: str = "") -> Condition:
    return Condition.model_validate(
        {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": START}
    )


def test_every_reason_is_explained_to_users() -> None:
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    explained = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(explained) == sorted(reason.value for reason in Reason)


def test_a_stalled_run_has_a_message_and_is_not_progressing_unless_pods_are_at_work() -> None:
    for reason in STALLED:
        status = status_of(RUN, Situation(reason, "mend it"), None, None, None, START)
        found = {item.type: (item.status, item.message) for item in status.conditions}
        assert found["Stalled"] == ("True", "mend it")
        assert found["Progressing"] == ("False", "mend it")
        assert status.phase == "Stalled"
    busy = status_of(RUN, Situation(Reason.SECRET_MISSING, "m", progressing=True), None, None, None, START)
    assert next(item.status for item in busy.conditions if item.type == "Progressing") == "True"


def test_a_long_message_is_cut() -> None:
    status = status_of(RUN, Situation(Reason.PREFLIGHT_FAILED, "x" * 40_000), None, None, None, START)
    assert {len(item.message) for item in status.conditions} == {0, LONGEST_MESSAGE}
    assert EvalRunStatus.model_validate(status.model_dump(by_alias=True)) == status


def test_a_status_speaks_of_the_generation_it_was_made_for() -> None:
    status = status_of(RUN, Situation(Reason.RUNNING), None, None, None, START)
    assert status.observed_generation == 3
    assert {item.observed_generation for item in status.conditions} == {3}


def test_a_run_went_well_if_it_succeeded_and_its_gate_holds() -> None:
    def status(*conditions: Condition) -> EvalRunStatus:
        return EvalRunStatus(conditions=list(conditions))

    assert not went_well(status())
    assert went_well(status(condition("Succeeded", "True")))
    assert not went_well(status(condition("Succeeded", "False")))
    assert went_well(status(condition("Succeeded", "True"), condition("GatePassed", "True")))
    assert not went_well(status(condition("Succeeded", "True"), condition("GatePassed", "False")))


def test_what_stays_as_it_is_is_not_told_again() -> None:
    before = EvalRunStatus(conditions=[condition("Stalled", "True", "PreflightFailed", "one thing")])
    same = EvalRunStatus(conditions=[condition("Stalled", "True", "PreflightFailed", "another thing")])
    mended = EvalRunStatus(conditions=[condition("Stalled", "False", "Running")])
    assert told(before, same) == []
    assert told(before, mended) == [Event("Normal", "Resumed", "what kept the run from going on is mended")]
    assert told(EvalRunStatus(), mended) == []


def test_waiting_and_going_on_in_turn_is_told_once() -> None:
    running = EvalRunStatus(conditions=[condition("Progressing", "True", "Running")])
    waiting = EvalRunStatus(conditions=[condition("Progressing", "True", "WaitingForModel")])
    assert told(running, waiting) == []
    assert told(waiting, running) == []
