"""The agent carried out a task that it had to decline.

Looks at: whether the task is feasible, the writes that were carried out, verifiers of category `refusal`, the final
answer.
Holds when: the task is infeasible, and a write was carried out that the reference solution does not make, or no
clause of the answer says that the request was not carried out, or that a record is missing or ambiguous.
Example: an agent in the role of a reporter raises an incident's priority, which only agents may do.
"""

from __future__ import annotations

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trial import Case


def find(case: Case) -> Finding | None:
    """The finding, if the agent acted, or did not decline in its answer."""
    if case.feasible:
        return None
    extra = case.trajectory.written if case.gold is None else case.gold.extra
    evidence = [
        Evidence(f"{call.tool} was carried out in a task that must be declined", call.step, call.number, call.tool)
        for call in extra
    ]
    if case.refusal is None:
        answer = case.record.answer[:200] or "(empty)"
        failed = next((verifier.index for verifier in case.failed if verifier.category == "refusal"), None)
        evidence.append(Evidence(f"the answer does not decline: {answer}", case.record.steps, verifier=failed))
    basis = Basis.RECORD if case.gold is None else Basis.GOLD_ACTIONS
    return Finding(Mode.MISSED_REFUSAL, basis, tuple(evidence)) if evidence else None
