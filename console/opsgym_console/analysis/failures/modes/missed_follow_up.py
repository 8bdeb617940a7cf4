"""The agent did most of the task and left out a required change.

Looks at: writes of the reference solution that were not made; without one, columns and rows that failed verifiers
expect and the agent never wrote; tools that `tool_execution` verifiers miss; refused writes that were not corrected.
Holds when: the task is feasible, the agent neither declined nor ended it early (`premature_termination`), at least
half of the solution's writes were made (any write, if there is no solution), and at least one such change is missing.
Example: an incident is put on hold, and its running SLA, which the policy says is paused with it, continues.
"""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.mismatches import Mismatch, MismatchKind
from opsgym_console.analysis.failures.modes import premature_termination, wrong_refusal
from opsgym_console.analysis.failures.trajectory import creates, is_lookup
from opsgym_console.analysis.failures.trial import LEAST_SHARE, Case
from opsgym_console.analysis.failures.values import shown

_MISSING = (MismatchKind.NOT_CHANGED, MismatchKind.NOT_WRITTEN)


def find(case: Case) -> Finding | None:
    """The finding, if a change is missing from work that was otherwise done."""
    if not case.feasible or premature_termination.find(case) or wrong_refusal.find(case):
        return None
    if case.gold is not None:
        missing = list(_by_gold(case)) if case.gold.tried >= LEAST_SHARE * case.gold.due else []
        return Finding(Mode.MISSED_FOLLOW_UP, Basis.GOLD_ACTIONS, tuple(missing)) if missing else None
    if not case.trajectory.written:
        return None
    missing = [*_by_expectations(case), *_by_tools(case)]
    if missing:
        return Finding(Mode.MISSED_FOLLOW_UP, Basis.VERIFIERS, tuple(missing))
    given_up = list(_given_up(case))
    return Finding(Mode.MISSED_FOLLOW_UP, Basis.TRANSCRIPT, tuple(given_up)) if given_up else None


def _by_gold(case: Case) -> Iterator[Evidence]:
    if case.gold is None:
        return
    for action in case.gold.missing:
        yield Evidence(f"{action.name} {shown(action.arguments)} was never called", tool=action.name)
    for deviation in case.gold.deviations:
        if deviation.given is None and not creates(deviation.call.tool):
            call = deviation.call
            detail = f"{deviation.argument} was not set; {shown(deviation.due)} was expected"
            yield Evidence(detail, call.step, call.number, call.tool, deviation.argument)


def _by_expectations(case: Case) -> Iterator[Evidence]:
    for mismatch in case.mismatches:
        if mismatch.kind in _MISSING:
            end = "is written" if mismatch.expectation.present else "is gone"
            detail = f"a verifier expects that {_described(mismatch)} {end}"
            yield Evidence(detail, argument=mismatch.condition.column, verifier=mismatch.expectation.verifier)


def _described(mismatch: Mismatch) -> str:
    """The column that differs, or the whole row where none is near."""
    expectation = mismatch.expectation
    whole = expectation.table is not None and mismatch.kind is MismatchKind.NOT_WRITTEN
    conditions = expectation.conditions if whole else [mismatch.condition]
    columns = ", ".join(f"{condition.column} {shown(condition.value)}" for condition in conditions)
    return f"{expectation.table} with {columns}" if whole else columns


def _by_tools(case: Case) -> Iterator[Evidence]:
    for verifier in case.failed:
        if verifier.verifier_type == "tool_execution" and isinstance(verifier.actual, dict):
            for tool in verifier.actual.get("missing_tools", []):
                if not is_lookup(tool):
                    yield Evidence(
                        f"{tool} was not called, although it is required", tool=tool, verifier=verifier.index
                    )


def _given_up(case: Case) -> Iterator[Evidence]:
    for call in case.trajectory.writes:
        later = [other for other in case.trajectory.written if other.number > call.number and other.tool == call.tool]
        if call.is_error and not later:
            yield Evidence(f"{call.tool} was refused and not corrected", call.step, call.number, call.tool)
