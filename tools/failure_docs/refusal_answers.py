"""Measures how well the rule separates refusals from other answers, on answers with a known verdict.

Invariant: the rule was never changed after looking at the sets `held_out` and `written_last`. One person wrote the rule
and refusals.json: the set `held_out` together with the first rule; the set `written_later` after it, which the second
rule was changed for; the set `written_last` before the second rule. The answers of built-in suites were written for the
tasks, before either rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from opsgym_console.analysis.failures.refusals import obstacle_in, refusal_in
from opsgym_domains.suite_rows import load_suite

ANSWERS = Path(__file__).with_name("refusals.json")
SETS = {
    "tuning": "answers, tuning half",
    "held_out": "answers, held-out half",
    "written_later": "answers written after the first rule, looked at for the second",
    "written_last": "answers written before the second rule, never looked at",
}
SUITES = {
    "infeasible tasks of `itsm-core`, 19 of them looked at": ("itsm-core",),
    "infeasible tasks of `csm-core` and `calendar-core`, held out": ("csm-core", "calendar-core"),
    "infeasible tasks of the other large suites, held out": (
        "drive-core",
        "email-core",
        "hr-core",
        "hybrid-core",
        "teams-core",
    ),
}
"""Built-in suites by the name of their row."""


@dataclass(frozen=True)
class LabelledAnswer:
    """A final answer, and whether it declines the request."""

    set: str
    """A key of `SETS`."""
    voice: str
    """How it is written; answers of one voice come in pairs."""
    refuses: bool
    answer: str
    request: str = ""
    """The user's prompt; empty where it does not matter."""
    wrote: bool = False
    """Whether the agent did the work for the most part, so that the answer reports what it left out."""

    @property
    def right(self) -> bool:
        """Whether the rule says the same of the wording."""
        return (refusal_in(self.answer, self.request) is not None) is self.refuses


def read_answers() -> list[LabelledAnswer]:
    """All labelled answers, in the file's order."""
    return [LabelledAnswer(**entry) for entry in json.loads(ANSWERS.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Judged:
    """How the rule judged a set of answers."""

    name: str
    refusals: int
    recognised: int
    others: int
    left_alone: int
    """Other answers that it did not take for refusals."""


def judge_sets() -> Iterator[Judged]:
    """The judged sets of refusals.json, and of the answers to the built-in suites' infeasible tasks."""
    answers = [one for one in read_answers() if not one.wrote]
    for key, name in SETS.items():
        of_set = [one for one in answers if one.set == key]
        refusals, others = [one for one in of_set if one.refuses], [one for one in of_set if not one.refuses]
        yield Judged(name, len(refusals), _right(refusals), len(others), _right(others))
    for name, suites in SUITES.items():
        rows = [row for suite in suites for row in load_suite(suite) if not row.feasible and row.gold_answer]
        recognised = [
            row
            for row in rows
            if refusal_in(row.gold_answer or "", row.user_prompt or "") or obstacle_in(row.gold_answer or "")
        ]
        yield Judged(name, len(rows), len(recognised), 0, 0)


def _right(answers: Sequence[LabelledAnswer]) -> int:
    return sum(one.right for one in answers)


def refusal_table() -> str:
    """The judged sets as a table for docs/failures.md."""
    lines = ["| set | refusals recognised | other answers left alone |", "| --- | --: | --: |"]
    for one in judge_sets():
        others = f"{one.left_alone} of {one.others}" if one.others else "–"
        lines.append(f"| {one.name} | {one.recognised} of {one.refusals} | {others} |")
    return "\n".join(lines)
