"""Why a verifier failed, in words: for terminals, reports and exports.

Invariant: the words keep every value of a result but patterns of answers, which are for machines and stand in the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.task import Task

_RULE = re.compile(r"^[-*] \*\*((?:[A-Z]+-)?[A-Z]+-\d+)\*\*\s*", re.MULTILINE)
"""The beginning of a rule in a policy: `- **INC-1** …`."""
_AFTER_RULE = re.compile(r"^\S", re.MULTILINE)
"""A line that is not indented is not part of the rule above it."""
_CITED = re.compile(r"\s*\[((?:[A-Z]+-)*[A-Z]+-\d+(?:, (?:[A-Z]+-)*[A-Z]+-\d+)*)\]\s*$")
"""The rules that a description of ours ends with: `… [INC-1, LKP-3]`."""
SHOWN_ANSWER = 200
"""Characters of an answer that are quoted."""


@dataclass(frozen=True)
class Explanation:
    """A verifier's result in words."""

    sentence: str
    """What the verifier requires, as its author wrote it; empty if they wrote nothing, or the row is not known."""
    rules: Sequence[str]
    """Ids of the policy's rules that it rests on."""
    shortfalls: Sequence[str]
    """What was otherwise; empty if it passed."""


def explain(result: VerifierResult, task: Task | None) -> Explanation:
    """A result in words.

    Args:
        result: The result.
        task: Its row; None if it is not known.
    """
    verifiers = task.verifiers if task is not None else []
    description = verifiers[result.index].description if result.index < len(verifiers) else ""
    cited = _CITED.search(description)
    rules = cited[1].split(", ") if cited else []
    return Explanation(_CITED.sub("", description), rules, shortfalls(result))


def shortfalls(result: VerifierResult) -> list[str]:
    """What a verifier found otherwise than required, each in a sentence; empty if it passed."""
    if result.passed:
        return []
    if result.error:
        return [result.error]
    return _BY_TYPE.get(result.verifier_type, _values)(result) or _values(result)


def policy_rules(policy: str) -> dict[str, str]:
    """Texts of a policy's rules by id, in its order; empty for a policy without ids."""
    rules: dict[str, str] = {}
    for begin in _RULE.finditer(policy):
        end = _AFTER_RULE.search(policy, begin.end())
        lines = policy[begin.end() : end.start() if end else None].splitlines()
        rules[begin[1]] = "\n".join(line.strip() for line in lines).strip()
    return rules


def _values(result: VerifierResult) -> list[str]:
    comparison = f" ({result.comparison.replace('_', ' ')})" if result.comparison else ""
    return [f"expected {result.expected!r}{comparison}, got {result.actual!r}"]


def _state_difference(result: VerifierResult) -> list[str]:
    return [*_listed(result.actual, "unmet"), *_listed(result.actual, "unexpected")]


def _looked_up(result: VerifierResult) -> list[str]:
    return _listed(result.actual, "not_looked_up")


def _never_called(result: VerifierResult) -> list[str]:
    return [f"attempted {call}" for call in _listed(result.actual, "attempted")]


def _tool_execution(result: VerifierResult) -> list[str]:
    if missing := _listed(result.actual, "missing_tools"):
        return [f"never called: {', '.join(missing)}"]
    made, least = _part(result.actual, "tool_calls"), _part(result.expected, "minimum_tool_calls")
    return [] if made is None else [f"{made} tool calls, at least {least} are required"]


def _answer_match(result: VerifierResult) -> list[str]:
    answer = " ".join(str(result.actual or "").split())
    if not answer:
        return ["the agent gave no answer"]
    quoted = answer if len(answer) <= SHOWN_ANSWER else f"{answer[:SHOWN_ANSWER]}…"
    return [f"the answer was “{quoted}”"]


def _response_check(result: VerifierResult) -> list[str]:
    mark, least = _part(result.actual, "mark"), _part(result.expected, "minimum_comparison_value")
    reason = _part(result.actual, "reason")
    return [] if mark is None else [f"the judge gave {mark}, at least {least} is required: {reason}"]


_BY_TYPE: Mapping[str, Callable[[VerifierResult], list[str]]] = {
    "state_difference": _state_difference,
    "looked_up": _looked_up,
    "never_called": _never_called,
    "tool_execution": _tool_execution,
    "answer_match": _answer_match,
    "response_check": _response_check,
}


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _listed(value: Any, name: str) -> list[str]:
    part = _part(value, name)
    return [str(one) for one in part] if isinstance(part, Sequence) and not isinstance(part, str) else []
