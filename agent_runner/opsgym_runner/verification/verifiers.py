"""Verifiers of an episode's final state and answer.

Invariant: every verifier of the row is executed and has its own result, or the attempt is not scored. Each result also
states what the published harness would have decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import ForbiddenCall, Verifier
from opsgym_runner.errors import NotScored, config_error
from opsgym_runner.gyms.client import GymClient, QueryRefusedError
from opsgym_runner.verification.comparison import holds, published_holds
from opsgym_runner.verification.judge import Judge
from opsgym_runner.verification.looked_up import ToolCallResult, not_looked_up
from opsgym_runner.verification.readings import matches
from opsgym_runner.verification.state_difference import Findings, TooManyAssignmentsError, judge_difference

MAX_MESSAGES = 20
"""Messages of a kind that a result keeps."""


@dataclass(frozen=True)
class Trajectory:
    """Tool calls and answer of the agent, as verifiers need them."""

    calls: Sequence[ToolCallResult]
    """Every call, in order, failed calls included."""
    answer: str
    """The agent's final answer."""
    day_answers: Sequence[str] = ()
    """Its answers on the days before the last one that it reached."""
    day_differences: Sequence[Mapping[str, StateDifference]] = ()
    """Whole state differences at the ends of these days, by gym server; see `whole_differences`."""

    def answer_on(self, day: int | None) -> str:
        """The answer of a day, counted from 1; None for the last one. Empty if the agent did not reach it."""
        answers = [*self.day_answers, self.answer]
        if day is None:
            return self.answer
        return answers[day - 1] if day <= len(answers) else ""

    def calls_of(self, gym: str | None) -> Sequence[ToolCallResult]:
        """Calls that a gym server executed; those of all gym servers for None."""
        return self.calls if gym is None else [call for call in self.calls if call.gym == gym]

    @property
    def tools_called(self) -> list[str]:
        """Tool of every call."""
        return [call.tool for call in self.calls]


async def verify(
    task: Task,
    gyms: Mapping[str, GymClient],
    trajectory: Trajectory,
    judge: Judge | None = None,
    differences: Mapping[str, StateDifference] | None = None,
) -> list[VerifierResult]:
    """Executes all verifiers, in the row's order.

    Args:
        task: The row.
        gyms: Its gym servers by name, in the row's order.
        trajectory: Tool calls and answer of the agent.
        judge: Marks the answer for `response_check`; None if the run names none.
        differences: See `whole_differences`; None asks the gyms.

    Raises:
        NotScored: A query was refused, a gym is lost or cannot compute its whole difference, or a judge is missing or
            gave no mark.
        StoreError: The attempt record cannot be written.
    """
    if differences is None:
        differences = await whole_differences(task, gyms)
    findings = {index: judged for gym in gyms for index, judged in _of_days_not_reached(task, gym).items()}
    for day, by_gym in [*enumerate(trajectory.day_differences, start=1), (None, differences)]:
        findings |= {
            i: judged for gym, whole in by_gym.items() for i, judged in _findings(task, gym, whole, day).items()
        }
    writing = await _writing_tools(task, gyms)
    of_calls = {"looked_up": _looked_up, "never_called": _never_called}
    return [
        _state_difference(index, verifier, findings[index])
        if index in findings
        else of_calls[verifier.verifier_type](index, verifier, trajectory, writing)
        if verifier.verifier_type in of_calls
        else await _execute(index, verifier, gyms, trajectory, judge)
        for index, verifier in enumerate(task.verifiers)
    ]


async def whole_differences(
    task: Task, gyms: Mapping[str, GymClient], day: int | None = None
) -> dict[str, StateDifference]:
    """Whole state difference of each gym that has `state_difference` verifiers of the day that ends, or of the end: one
    request for all of a gym's.

    Raises:
        NotScored: A gym is lost, or cannot compute its whole difference.
    """
    differences: dict[str, StateDifference] = {}
    for name, gym in gyms.items():
        verifiers = task.state_differences(name, day)
        if not verifiers:
            continue
        difference = await gym.state_difference(whole=True)
        label = _label(*verifiers[0])
        if difference is None:
            problem = f"gym {name} has no /api/state-difference, as published servers have none; serve it with opsgym"
            raise config_error(ConfigReason.UNSUPPORTED, f"{label}: {problem}")
        if difference.truncated:
            problem = f"gym {name} truncated its state difference, so it cannot be judged"
            raise config_error(ConfigReason.UNSUPPORTED, f"{label}: {problem}")
        differences[name] = difference
    return differences


async def _writing_tools(task: Task, gyms: Mapping[str, GymClient]) -> dict[str, Collection[str]]:
    """Tools that write, by gym server, of the gym servers with a `looked_up` or `never_called` verifier of `writes`.

    Raises:
        NotScored: A gym is lost, or does not say what its tools do.
    """
    labels: dict[str, str] = {}
    for index, verifier in enumerate(task.verifiers):
        if (verifier.verifier_type == "looked_up" and verifier.looked_up.writes) or (
            verifier.verifier_type == "never_called" and verifier.never_called.writes
        ):
            labels |= dict.fromkeys([verifier.gym_name] if verifier.gym_name else gyms, _label(index, verifier))
    writing: dict[str, Collection[str]] = {}
    for name, label in labels.items():
        tools = await gyms[name].writing_tools()
        if tools is None:
            advice = "name them instead of writes, or serve it with opsgym"
            problem = f"gym {name} does not say which tools write, as published servers do not; {advice}"
            raise config_error(ConfigReason.UNSUPPORTED, f"{label}: {problem}")
        writing[name] = tools
    return writing


def _of_days_not_reached(task: Task, gym: str) -> dict[int, Findings]:
    """Findings of the verifiers of every day, as if the agent had ended none."""
    return {
        index: Findings([f"the agent did not end day {day}"], [])
        for day in range(1, len(task.days) + 1)
        for index, _verifier in task.state_differences(gym, day)
    }


def _findings(task: Task, gym: str, difference: StateDifference, day: int | None) -> dict[int, Findings]:
    """What is wrong by each `state_difference` verifier of a gym and a day, by the verifier's position."""
    verifiers = task.state_differences(gym, day)
    try:
        others = [one.state_difference for _, one in task.state_differences(gym)]
        return judge_difference({index: one.state_difference for index, one in verifiers}, difference, others)
    except TooManyAssignmentsError:
        problem = f"too many alternatives and named rows of gym {gym} could serve the same expectations"
        raise config_error(ConfigReason.INVALID_ROW, f"{_label(*verifiers[0])}: {problem}") from None


def require_judge(task: Task, *, named: bool) -> None:
    """Checks that the run names a judge if a verifier needs one.

    Args:
        task: The row.
        named: Whether the run names a judge.

    Raises:
        NotScored: The judge is missing.
    """
    for index, verifier in enumerate(task.verifiers):
        if verifier.verifier_type == "response_check" and not named:
            raise _no_judge(index, verifier)


async def _execute(
    index: int, verifier: Verifier, gyms: Mapping[str, GymClient], trajectory: Trajectory, judge: Judge | None
) -> VerifierResult:
    if verifier.verifier_type == "tool_execution":
        return _tool_execution(index, verifier, trajectory)
    if verifier.verifier_type == "answer_match":
        return _answer_match(index, verifier, trajectory)
    gym = gyms[verifier.gym_name] if verifier.gym_name else next(iter(gyms.values()))
    if verifier.verifier_type == "database_state":
        return await _database_state(index, verifier, gym)
    if judge is None:
        raise _no_judge(index, verifier)
    return await _response_check(index, verifier, gym, trajectory, judge)


async def _rows(index: int, verifier: Verifier, gym: GymClient, query: str) -> list[Mapping[str, Any]]:
    try:
        return await gym.run_sql(query, verifier.dialect)
    except QueryRefusedError as error:
        problem = f"gym {gym.name} refused its query: {error}"
        raise config_error(ConfigReason.INVALID_ROW, f"{_label(index, verifier)}: {problem}") from None


def _no_judge(index: int, verifier: Verifier) -> NotScored:
    advice = "name one of the run's models in spec.judge"
    message = f"{_label(index, verifier)}: response_check needs a judge model; {advice}"
    return config_error(ConfigReason.NO_JUDGE, message)


def _label(index: int, verifier: Verifier) -> str:
    return f"verifiers[{index}] ({verifier.name or 'unnamed'})"


async def _response_check(
    index: int, verifier: Verifier, gym: GymClient, trajectory: Trajectory, judge: Judge
) -> VerifierResult:
    """Compares the judge's mark with the bound, as the published harness does."""
    check = verifier.response_check
    rows = await _rows(index, verifier, gym, check.sql_query)
    verdict = await judge.mark(check.comparison_prompt, rows, trajectory.answer)
    passed = verdict.mark >= check.minimum_comparison_value
    return VerifierResult(
        **_common(index, verifier),
        passed=passed,
        published_passed=passed,
        expected={"minimum_comparison_value": check.minimum_comparison_value},
        actual={"mark": verdict.mark, "reason": verdict.reason},
        query=check.sql_query,
    )


async def _database_state(index: int, verifier: Verifier, gym: GymClient) -> VerifierResult:
    check = verifier.database_state
    actual = value_of(await _rows(index, verifier, gym, check.query))
    return VerifierResult(
        **_common(index, verifier),
        passed=holds(actual, check.expected_value, check.comparison_type),
        published_passed=published_holds(actual, check.expected_value, check.comparison_type),
        expected=check.expected_value,
        actual=actual,
        comparison=check.comparison_type.value,
        query=check.query,
    )


def _tool_execution(index: int, verifier: Verifier, trajectory: Trajectory) -> VerifierResult:
    check = verifier.tool_execution
    missing = [tool for tool in check.selected_tools if tool not in trajectory.tools_called]
    passed = not missing and len(trajectory.tools_called) >= check.minimum_tool_calls
    return VerifierResult(
        **_common(index, verifier),
        passed=passed,
        published_passed=passed,
        expected={"selected_tools": check.selected_tools, "minimum_tool_calls": check.minimum_tool_calls},
        actual={"missing_tools": missing, "tool_calls": len(trajectory.tools_called)},
    )


def _answer_match(index: int, verifier: Verifier, trajectory: Trajectory) -> VerifierResult:
    check = verifier.answer_match
    answer = trajectory.answer_on(check.day)
    passed = any(matches(pattern, answer, re.IGNORECASE) for pattern in check.patterns)
    return VerifierResult(
        **_common(index, verifier), passed=passed, published_passed=passed, expected=check.patterns, actual=answer
    )


def _state_difference(index: int, verifier: Verifier, findings: Findings) -> VerifierResult:
    check = verifier.state_difference
    passed = not findings.unmet and not findings.unexpected
    return VerifierResult(
        **_common(index, verifier),
        passed=passed,
        published_passed=passed,
        expected={"rows": len(check.rows), "nothing_else": check.nothing_else},
        actual={"unmet": _first(findings.unmet), "unexpected": _first(findings.unexpected)},
    )


def _looked_up(
    index: int, verifier: Verifier, trajectory: Trajectory, writing: Mapping[str, Collection[str]]
) -> VerifierResult:
    check = verifier.looked_up
    missing = not_looked_up(check, trajectory.calls_of(verifier.gym_name), writing)
    return VerifierResult(
        **_common(index, verifier),
        passed=not missing,
        published_passed=not missing,
        expected={"looked_up": _first([f"{row.column} {row.value}" for row in check.rows])},
        actual={"not_looked_up": _first(missing)},
    )


def _never_called(
    index: int, verifier: Verifier, trajectory: Trajectory, writing: Mapping[str, Collection[str]]
) -> VerifierResult:
    check = verifier.never_called
    calls = trajectory.calls_of(verifier.gym_name)
    attempted = [
        f"{call.tool} (call {place})"
        for place, call in enumerate(calls, start=1)
        if (check.writes and call.tool in writing.get(call.gym or "", ()))
        or any(_is_forbidden(call, forbidden) for forbidden in check.calls)
    ]
    return VerifierResult(
        **_common(index, verifier),
        passed=not attempted,
        published_passed=not attempted,
        expected={"never_called": ["any tool that writes"] if check.writes else [str(one.tool) for one in check.calls]},
        actual={"attempted": _first(attempted)},
    )


def _is_forbidden(call: ToolCallResult, forbidden: ForbiddenCall) -> bool:
    if forbidden.tool not in (None, call.tool):
        return False
    pattern = forbidden.arguments
    return pattern is None or matches(pattern, json.dumps(call.arguments, ensure_ascii=False), re.IGNORECASE)


def _first(messages: Sequence[str]) -> list[str]:
    """The first messages, and how many there are beyond."""
    more = [f"and {len(messages) - MAX_MESSAGES} more"] if len(messages) > MAX_MESSAGES else []
    return [*messages[:MAX_MESSAGES], *more]


def _common(index: int, verifier: Verifier) -> dict[str, Any]:
    return {
        "index": index,
        "name": verifier.name,
        "verifier_type": verifier.verifier_type,
        "category": verifier.category.value,
        "gym_name": verifier.gym_name,
        "executed": True,
    }


def value_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The value of a query's result for comparisons: a single cell, a single row, or all rows."""
    if len(rows) != 1:
        return list(rows)
    row = rows[0]
    return next(iter(row.values())) if len(row) == 1 else dict(row)


def published_score(results: Sequence[VerifierResult]) -> int:
    """Score by the published rules: of several verifiers with one name, only the last counts."""
    last = {result.name or f"verifier_{result.index + 1}": result.published_passed for result in results}
    return int(all(last.values()))
