"""A trial's verifiers as lines of a terminal: those that failed with what they found, and the rules they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten

from opsgym_api.records.attempt import TrialRecord
from opsgym_api.tasks.task import Task
from opsgym_core.results.explanation import explain, policy_rules

RULE_WIDTH = 200
"""Characters of a rule that are shown; the report has it whole."""
INDENT = " " * 10


def verifier_lines(record: TrialRecord, task: Task) -> Iterator[str]:
    """Lines on each verifier of a trial.

    Args:
        record: The trial.
        task: Its row.
    """
    rules = policy_rules(task.system_prompt)
    for result in record.verifiers:
        yield f"  {'passed' if result.passed else 'FAILED'}  {result.category}  {result.name or result.verifier_type}"
        if result.passed:
            continue
        explanation = explain(result, task)
        query = [result.query] if result.query else []
        cited = [f"{name}: {shorten(rules[name], RULE_WIDTH)}" for name in explanation.rules if name in rules]
        for text in [explanation.sentence, *explanation.shortfalls, *query, *cited]:
            if text:
                yield INDENT + text
