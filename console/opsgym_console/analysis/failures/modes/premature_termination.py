"""The agent ended the task with most of the work not started.

Looks at: what ended the loop, the writes that were carried out, and the expected writes.
Holds when: the task is feasible, the agent ended it with an answer that does not decline, and it wrote nothing, or
less than half of what the reference solution writes. Without a reference solution: more than half of the rows that
failed verifiers expect were never written. Half separates it from `missed_follow_up`, where the agent left something
out.
Example: a list of teams is empty, and the agent answers without trying another name.
"""

from __future__ import annotations

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trial import LEAST_SHARE, Case

_OF_THE_WORK = ("task_completion", "integrity")


def find(case: Case) -> Finding | None:
    """The finding, if most of the work was never row_written."""
    if not case.feasible or case.record.stopped_by != "answer" or case.refusal is not None:
        return None
    last = case.trajectory.calls[-1] if case.trajectory.calls else None
    step, call, tool = (last.step, last.number, last.tool) if last else (case.record.steps, None, None)
    if case.gold is not None:
        if not case.gold.due or case.mostly_done:
            return None
        detail = f"ended here with {case.gold.tried} of {case.gold.due} writes of the reference solution made"
        return Finding(Mode.PREMATURE_TERMINATION, Basis.GOLD_ACTIONS, (Evidence(detail, step, call, tool),))
    if not case.trajectory.written:
        detail = "ended here without a successful write"
        return Finding(Mode.PREMATURE_TERMINATION, Basis.TRANSCRIPT, (Evidence(detail, step, call, tool),))
    return _by_expectations(case, Evidence("ended here", step, call, tool))


def _by_expectations(case: Case, end: Evidence) -> Finding | None:
    of_the_work = [verifier for verifier in case.record.verifiers if verifier.category in _OF_THE_WORK]
    numbers = {verifier.index for verifier in of_the_work}
    # A verifier that passed counts even if its rows cannot be read.
    due = sum(len(case.due_of(verifier)) or verifier.passed for verifier in of_the_work)
    attempted = {id(mismatch.expectation) for mismatch in case.mismatches if mismatch.row_written}
    absent = {
        id(mismatch.expectation): mismatch.expectation.verifier
        for mismatch in case.mismatches
        if mismatch.expectation.verifier in numbers and id(mismatch.expectation) not in attempted
    }
    if len(absent) <= LEAST_SHARE * due:
        return None
    missing = [
        Evidence("expects a row that was never written", verifier=index) for index in sorted(set(absent.values()))
    ]
    return Finding(Mode.PREMATURE_TERMINATION, Basis.VERIFIERS, (end, *missing))
