"""The agent left a wrong value or an unexpected row in the database.

Looks at: writes and values compared with the reference solution's; verifiers of category `side_effect` and
`integrity`; without a solution, the values that failed verifiers expect, and rows that were created more than once.
Holds when: a successful write is not one of the solution's, or sets a plain value (not an id, not free text) that
differs; or, without a solution, a record that a verifier expects was written with another value, the same creation was
carried out twice, or a `state_difference` verifier found a row or column that none expects and no write names the wrong
record. A `side_effect` verifier alone is enough only if nothing is missing: it also fails where
something is missing, which `missed_follow_up` reports.
Example: besides the requested incident, the priority of a second one is changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.mismatches import MismatchKind
from opsgym_console.analysis.failures.trajectory import creates
from opsgym_console.analysis.failures.trial import Case
from opsgym_console.analysis.failures.values import shown

_GUARDS = ("side_effect", "integrity")


def find(case: Case) -> Finding | None:
    """The finding, if a wrong value or row was written."""
    if case.gold is not None:
        written = [*_values(case), *_extra(case)]
        basis = Basis.GOLD_ACTIONS
    else:
        written = [*_demanded(case), *_twice(case), *_unexpected(case)]
        basis = Basis.VERIFIERS
    guards = [
        Evidence(f"{verifier.name or 'a check of unchanged rows'} failed", verifier=verifier.index)
        for verifier in case.failed
        if verifier.category in _GUARDS and verifier.executed
    ]
    if not written and not (guards and _nothing_missing(case)):
        return None
    return Finding(Mode.STATE_CORRUPTION, basis, (*written, *guards))


def _nothing_missing(case: Case) -> bool:
    """Whether all expected writes exist, so that only an additional write can have failed a guard."""
    work = [verifier for verifier in case.failed if verifier.category in ("task_completion", "integrity")]
    return case.gold is None and not work and bool(case.trajectory.written)


def _values(case: Case) -> Iterator[Evidence]:
    for deviation in case.gold.deviations if case.gold else ():
        call = deviation.call
        if not deviation.names_another_record and (deviation.given is not None or creates(call.tool)):
            due = "nothing" if deviation.due is None else shown(deviation.due)
            detail = f"{deviation.argument} is {shown(deviation.given)}; {due} was expected"
            yield Evidence(detail, call.step, call.number, call.tool, deviation.argument)


def _extra(case: Case) -> Iterator[Evidence]:
    for call in case.gold.extra if case.gold else ():
        yield Evidence(f"{call.tool} is not part of the solution", call.step, call.number, call.tool)


def _demanded(case: Case) -> Iterator[Evidence]:
    for mismatch in case.mismatches:
        if mismatch.kind is MismatchKind.ANOTHER_VALUE and mismatch.row is not None:
            call, column = mismatch.row.call, mismatch.condition.column
            given = shown(mismatch.row.fields[column])
            detail = f"{column} is {given}; a verifier expects {shown(mismatch.condition.value)}"
            yield Evidence(detail, call.step, call.number, call.tool, column, mismatch.expectation.verifier)


def _unexpected(case: Case) -> Iterator[Evidence]:
    """What `state_difference` verifiers found that none of them expects, unless a write names the wrong record."""
    if any(mismatch.kind is MismatchKind.ANOTHER_RECORD for mismatch in case.mismatches):
        return
    for verifier in case.failed:
        if verifier.verifier_type == "state_difference" and isinstance(verifier.actual, dict):
            yield from (Evidence(text, verifier=verifier.index) for text in verifier.actual.get("unexpected", []))


def _twice(case: Case) -> Iterator[Evidence]:
    seen: set[str] = set()
    for call in case.trajectory.written:
        if creates(call.tool) and call.signature in seen:
            yield Evidence(
                f"{call.tool} repeats an earlier creation with the same arguments", call.step, call.number, call.tool
            )
        seen.add(call.signature)
