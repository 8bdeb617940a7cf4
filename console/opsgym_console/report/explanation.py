"""Why a trial failed, for its page: verifiers in words, the rules they rest on, and the reference solution's calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_console.analysis.failures.reference import Comparison, compare
from opsgym_console.analysis.failures.trajectory import Trajectory, is_lookup
from opsgym_console.report.model import CheckView, DeviationView, ReferenceCall, ReferenceView
from opsgym_core.results.explanation import explain, policy_rules


def check_views(results: Iterable[VerifierResult], task: Task | None) -> list[CheckView]:
    """Verifiers in words, in the row's order.

    Args:
        results: Their results.
        task: The row; None if the store does not have it.
    """
    explained = [(result.index, explain(result, task)) for result in results]
    return [
        CheckView(index=index, sentence=one.sentence, rules=list(one.rules), shortfalls=list(one.shortfalls))
        for index, one in explained
    ]


def cited_rules(checks: Sequence[CheckView], task: Task | None) -> dict[str, str]:
    """Texts of the policy's rules that the verifiers of a trial rest on, by id."""
    rules = {} if task is None else policy_rules(task.system_prompt)
    cited = {name for check in checks for name in check.rules}
    return {name: text for name, text in rules.items() if name in cited}


def reference_view(task: Task | None, transcript: Transcript | None) -> ReferenceView | None:
    """The reference solution beside what the agent did; None if there is none, or no transcript."""
    if task is None or task.gold_actions is None or transcript is None:
        return None
    comparison = compare(task.gold_actions, Trajectory(transcript))
    apart = {one.call.number for one in comparison.deviations if one.call.succeeded}
    apart |= {call.number for call in comparison.extra}
    return ReferenceView(
        calls=[_call(action, comparison) for action in task.gold_actions],
        parting=min(apart, default=None),
        answer=task.gold_answer or "",
    )


def _call(action: ToolCall, comparison: Comparison) -> ReferenceCall:
    deviations = [one for one in comparison.deviations if one.action is action]
    return ReferenceCall(
        name=action.name,
        gym=action.gym,
        day=action.day,
        arguments=action.arguments,
        state=_state(action, comparison),
        call=deviations[0].call.number if deviations else None,
        deviations=[DeviationView(argument=one.argument, due=one.due, given=one.given) for one in deviations],
    )


def _state(action: ToolCall, comparison: Comparison) -> Literal["read", "made", "different", "missing"]:
    if is_lookup(action.name):
        return "read"
    if any(one is action for one in comparison.done):
        return "made"
    return "missing" if any(one is action for one in comparison.missing) else "different"
