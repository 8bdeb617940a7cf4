"""A failed trial, with the values that rules share, computed once.

Invariant: missing objects are None and never guessed. A rule that needs one reports nothing, or uses something else and
says so in the basis of its finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from opsgym_api.records.attempt import TrialRecord, VerifierResult
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task
from opsgym_console.analysis.failures.difference_rows import served_keys
from opsgym_console.analysis.failures.expectations import Expectation, expectations_of
from opsgym_console.analysis.failures.mismatches import Mismatch, mismatches
from opsgym_console.analysis.failures.reference import Comparison, compare
from opsgym_console.analysis.failures.refusals import obstacle_in, refusal_in
from opsgym_console.analysis.failures.states import FinalState
from opsgym_console.analysis.failures.trajectory import Trajectory

LEAST_SHARE = 0.5
"""Share of the reference solution's writes from which on the work counts as done for the most part."""

_OF_REFUSAL = ("refusal", "answer_match")
"""Category and type of verifiers that judge whether an answer declines."""


@dataclass(frozen=True)
class FailedTrial:
    """Stored objects of a scored trial that did not pass."""

    record: TrialRecord
    transcript: Transcript
    task: Task | None = None
    """Its task; None if the store does not have it."""
    states: Mapping[str, bytes] = field(default_factory=dict)
    """Stored final databases as SQLite files, by gym server."""


class Case:
    """A failed trial, for rules."""

    def __init__(self, trial: FailedTrial) -> None:
        self.trial = trial
        self.record = trial.record
        self.task = trial.task
        self.trajectory = Trajectory(trial.transcript)
        self.final = FinalState(trial.states)

    @property
    def feasible(self) -> bool:
        """Whether the task can be done."""
        return self.record.feasible

    @cached_property
    def failed(self) -> Sequence[VerifierResult]:
        """Verifiers that did not pass, including those without a verdict."""
        return [verifier for verifier in self.record.verifiers if not verifier.passed]

    @cached_property
    def gold(self) -> Comparison | None:
        """The agent's writes compared with the reference solution's; None if there is no reference solution."""
        if self.task is None or self.task.gold_actions is None:
            return None
        return compare(self.task.gold_actions, self.trajectory)

    @cached_property
    def mostly_done(self) -> bool:
        """Whether at least half of the solution's writes were made; without a solution, whether any write was."""
        if self.gold is None or not self.gold.due:
            return bool(self.trajectory.written)
        return self.gold.tried >= LEAST_SHARE * self.gold.due

    @cached_property
    def refusal(self) -> str | None:
        """Where the answer says that the request was not carried out; None if it does not, or if it was.

        The answer to an infeasible task may also say that a record is missing or ambiguous; an agent that reports that
        of a feasible task has given up, not declined. Verifiers that judged the wording of a refusal are believed.
        """
        answer, request = self.record.answer, self.trajectory.request
        if self.feasible:
            return None if self.mostly_done else refusal_in(answer, request)
        of_wording = [one for one in self.record.verifiers if (one.category, one.verifier_type) == _OF_REFUSAL]
        if of_wording and all(one.passed for one in of_wording):
            return answer
        return refusal_in(answer, request) or obstacle_in(answer)

    @cached_property
    def expectations(self) -> Sequence[Expectation]:
        """Rows that failed verifiers expect."""
        return [
            expectation
            for verifier in self.failed
            for expectation in expectations_of(verifier, self.task, self.record.state_differences)
        ]

    def due_of(self, verifier: VerifierResult) -> Sequence[Expectation]:
        """Rows that a verifier expects, whether they are there or not."""
        return expectations_of(verifier, self.task)

    @cached_property
    def mismatches(self) -> Sequence[Mismatch]:
        """Where the agent's writes differ from the expected rows; empty if there is a reference solution."""
        if self.gold is not None:
            return []
        passed = [
            expectation
            for verifier in self.record.verifiers
            if verifier.passed
            for expectation in self.due_of(verifier)
        ]
        return mismatches(self.expectations, passed, self.trajectory, self._served)

    @cached_property
    def _served(self) -> AbstractSet[tuple[str, str, Any]]:
        """Primary keys of records that differ from the seed as some `state_difference` verifier expects."""
        verifiers = self.task.verifiers if self.task is not None else []
        checks = [one.state_difference for one in verifiers if one.verifier_type == "state_difference"]
        differences = self.record.state_differences.values()
        return {key for check in checks for difference in differences for key in served_keys(check, difference)}
