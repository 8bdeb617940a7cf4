"""The agent violated a rule of its policy.

Looks at: verifiers of category `permission_process`; refusals in which the server names a rule or a missing
permission; and, where a wrong value was written and there is no reference solution, whether the policy rather than
the request names the right one.
Holds when: such a verifier failed, other than one that counts calls or judges look-ups, and writes are not merely
missing; or a write was refused by a rule and the reference solution does not make that call; or the expected value is
in a sentence of the policy that says what must or should be, and not in the request.
Example: an article found by a search is linked as "applied", although the policy requires "suggested".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.mismatches import MismatchKind
from opsgym_console.analysis.failures.trial import Case
from opsgym_console.analysis.failures.values import same, shown

_BY_RULE = re.compile(
    r"\brule [A-Z]{2,}-\d+|PERMISSION|FORBIDDEN|NOT_AUTHORI[SZ]ED|ACCESS_DENIED|not permitted|not authori[sz]ed"
)
_DUTY = re.compile(r"\b(must|should|shall|only|default|never|cannot|not)\b", re.IGNORECASE)


def find(case: Case) -> Finding | None:
    """The finding, if a rule was violated, or an attempt to violate it refused."""
    judged = [
        Evidence(f"{verifier.name or 'a check of the process'} failed", verifier=verifier.index)
        for verifier in case.failed
        if verifier.category == "permission_process"
        and verifier.executed
        and verifier.verifier_type not in ("tool_execution", "looked_up")
    ]
    # Such a check also fails where a step is only missing, which `missed_follow_up` reports.
    if _merely_missing(case):
        judged = []
    refused = list(_refused(case))
    if judged or refused:
        return Finding(Mode.POLICY_VIOLATION, Basis.VERIFIERS if judged else Basis.TRANSCRIPT, (*judged, *refused))
    against = list(_against_policy(case))
    return Finding(Mode.POLICY_VIOLATION, Basis.VERIFIERS, tuple(against)) if against else None


def _merely_missing(case: Case) -> bool:
    if case.gold is None:
        return case.feasible and not case.trajectory.written
    return bool(case.gold.missing) and not case.gold.extra and not case.gold.deviations


def _refused(case: Case) -> Iterator[Evidence]:
    gold = case.task.gold_actions if case.task is not None else None
    for call in case.trajectory.writes:
        if call.is_error and _BY_RULE.search(call.text):
            # Where a rule shows only in a refusal, the solution makes the call too.
            if any(action.name == call.tool and same(action.arguments, dict(call.arguments)) for action in gold or ()):
                continue
            yield Evidence(f"refused: {call.text[:200]}", call.step, call.number, call.tool)


def _against_policy(case: Case) -> Iterator[Evidence]:
    for mismatch in case.mismatches:
        value = mismatch.condition.value
        if (
            mismatch.kind is not MismatchKind.ANOTHER_VALUE
            or mismatch.row is None
            or not isinstance(value, str)
            or len(value) < 3
        ):
            continue
        word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
        rule = next(
            (line for line in _sentences(case.trajectory.policy) if word.search(line) and _DUTY.search(line)), None
        )
        if rule is not None and not word.search(case.trajectory.request):
            call, column = mismatch.row.call, mismatch.condition.column
            given = shown(mismatch.row.fields.get(column))
            detail = f"{column} is {given}, {shown(value)} is expected, and the policy says so: {rule.strip()[:200]}"
            yield Evidence(detail, call.step, call.number, call.tool, column, mismatch.expectation.verifier)


def _sentences(policy: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|\n", policy)
