"""The agent declined a feasible task.

Looks at: whether the task is feasible, the final answer, and the writes that were carried out.
Holds when: the task is feasible, the answer says that something was not or cannot be done, and the agent wrote
nothing, or less than half of what the reference solution writes. Half: an agent that did most of a task and reports
what it left out has missed a part, not declined.
Example: asked to assign an incident, the agent looks it up and answers "I cannot do that without approval".
"""

from __future__ import annotations

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.modes.refusals import declines
from opsgym_console.analysis.failures.trial import Case

LEAST_SHARE = 0.5


def find(case: Case) -> Finding | None:
    """The finding, if the agent declined a feasible task."""
    if not case.feasible or not declines(case.record.answer) or _did_most(case):
        return None
    evidence = Evidence(f"the answer declines a feasible task: {case.record.answer[:200]}", step=case.record.steps)
    return Finding(Mode.WRONG_REFUSAL, Basis.RECORD if case.gold is None else Basis.GOLD_ACTIONS, (evidence,))


def _did_most(case: Case) -> bool:
    if case.gold is None or not case.gold.due:
        return bool(case.trajectory.written)
    return case.gold.tried >= LEAST_SHARE * case.gold.due
