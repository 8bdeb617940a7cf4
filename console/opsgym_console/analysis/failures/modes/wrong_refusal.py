"""The agent declined a feasible task.

Looks at: whether the task is feasible, the final answer, and the writes that were carried out.
Holds when: the task is feasible, a clause of the answer says that the request was not or cannot be carried out, or
what forbids it, and the agent wrote nothing, or less than half of what the reference solution writes. Half: an agent
that did most of a task and reports what it left out has missed a part, not declined. English answers only.
Example: asked to assign an incident, the agent looks it up and answers "I cannot do that without approval".
"""

from __future__ import annotations

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trial import Case


def find(case: Case) -> Finding | None:
    """The finding, if the agent declined a feasible task."""
    if not case.feasible or case.refusal is None:
        return None
    evidence = Evidence(f"the answer declines a feasible task: {case.refusal[:200]}", step=case.record.steps)
    return Finding(Mode.WRONG_REFUSAL, Basis.RECORD if case.gold is None else Basis.GOLD_ACTIONS, (evidence,))
