"""Mutated reference solutions fail, and the rules detect their failure modes; a sample of what
`python -m tools.failure_docs mutants` runs in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.support.gym import Gym
from tools.failure_docs.measure import MutantResult, run_mutants, without_solution

from opsgym_console.analysis.failures import Mode

pytestmark = pytest.mark.xdist_group("failures")  # they are run once, on one server


@pytest.fixture(scope="module")
def results(gym_servers: Callable[[str], Gym]) -> Sequence[MutantResult]:
    return run_mutants(gym_servers("itsm").url, 1, gold_cases=1)


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_of_a_mutant_is_detected_and_no_other(results: Sequence[MutantResult], mode: Mode) -> None:
    (result,) = (result for result in results if result.mutant.mode is mode)
    assert result.trial is not None, f"{result.mutant.label}: passed"
    actual, detected = result.pair
    assert detected == actual, f"{result.mutant.case.task.task_id}: {result.mutant.label}: {result.findings}"


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_of_a_mutant_is_detected_without_the_solution_too(results: Sequence[MutantResult], mode: Mode) -> None:
    (result,) = (result for result in without_solution(results) if result.mutant.mode is mode)
    assert mode in result.pair[1], f"{result.mutant.case.task.task_id}: {result.mutant.label}: {result.findings}"


def test_evidence_refers_to_existing_calls_and_verifiers(results: Sequence[MutantResult]) -> None:
    for one in results:
        assert one.trial is not None
        calls = [event for event in one.trial.transcript.events if event.kind == "tool"]
        for evidence in (item for finding in one.findings for item in finding.evidence):
            assert evidence.verifier is None or evidence.verifier < len(one.trial.record.verifiers)
            if evidence.call is not None:
                assert (calls[evidence.call].tool_name, calls[evidence.call].step) == (evidence.tool, evidence.step)
