"""The agent acted on the wrong record, or referred to one.

Looks at: arguments that refer to records, compared with the reference solution's; without one, with the values that
failed verifiers expect; refusals that name an unknown record; the final state, to see whether the record exists.
Holds when: a write is otherwise the solution's and one such argument differs, or the tool reported that the record
does not exist.
Example: the second-line group of the wrong department is assigned, because the names are similar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.mismatches import MismatchKind
from opsgym_console.analysis.failures.trial import Case
from opsgym_console.analysis.failures.values import is_reference, leaves, shown

_NO_SUCH_RECORD = re.compile(r"not[ _]found|does ?n[o']t exist|no such|unknown id", re.IGNORECASE)


def find(case: Case) -> Finding | None:
    """The finding, if a write names the wrong record."""
    wrong = list(_by_gold(case)) if case.gold is not None else list(_by_expectations(case))
    unknown = list(_unknown(case))
    if not wrong and not unknown:
        return None
    if not wrong:
        return Finding(Mode.INCORRECT_ID, Basis.TRANSCRIPT, tuple(unknown))
    basis = Basis.VERIFIERS if case.gold is None else Basis.GOLD_ACTIONS
    return Finding(Mode.INCORRECT_ID, basis, (*wrong, *unknown))


def _by_gold(case: Case) -> Iterator[Evidence]:
    for deviation in case.gold.deviations if case.gold else ():
        if deviation.names_another_record:
            call = deviation.call
            given, due = shown(deviation.given), shown(deviation.due)
            detail = f"{deviation.argument} is {given}{_kind(case, deviation.given)}; {due} was meant"
            yield Evidence(detail, call.step, call.number, call.tool, deviation.argument)


def _kind(case: Case, key: str | int) -> str:
    if not case.final.known or isinstance(key, int):
        return ""
    table = case.final.table_of(key)
    return f" (another record of {table})" if table else " (of which there is no record)"


def _by_expectations(case: Case) -> Iterator[Evidence]:
    for mismatch in case.mismatches:
        if mismatch.kind is MismatchKind.ANOTHER_RECORD and mismatch.row is not None:
            call, column = mismatch.row.call, mismatch.condition.column
            given, expected = shown(mismatch.row.fields[column]), shown(mismatch.condition.value)
            detail = f"{column} is {given}; a verifier expects {expected}"
            yield Evidence(detail, call.step, call.number, call.tool, column, mismatch.expectation.verifier)


def _unknown(case: Case) -> Iterator[Evidence]:
    for call in case.trajectory.writes:
        if call.is_error and _NO_SUCH_RECORD.search(call.text):
            named = [name for name, value in leaves(call.arguments) if is_reference(name, value)]
            argument = next((name for name in named if name in call.text), None)
            yield Evidence(f"refused: {call.text[:200]}", call.step, call.number, call.tool, argument)
