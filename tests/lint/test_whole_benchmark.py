"""What `python -m benchmarks whole` says of runs."""

from __future__ import annotations

from benchmarks.whole import Whole, report

from opsgym_api.records.attempt import TrialId

A, B = TrialId("gold_react_oracle_itsm", "a", 0), TrialId("gold_react_oracle_itsm", "b", 0)


def test_equal_runs_in_which_everything_passed_are_said_to_be_that() -> None:
    run = Whole({A: "passed", B: "passed"}, 1.5, 30)
    lines = report([run, run])
    assert lines[2:4] == ["| 1 | 2 | 2 | 1.5 | 30 | 15.00 |", "| 2 | 2 | 2 | 1.5 | 30 | 15.00 |"]
    assert lines[-1] == "Every trial passed in every run."


def test_trials_that_did_not_pass_or_ended_differently_are_listed() -> None:
    lines = report([Whole({A: "passed", B: "failed"}, 1, 1), Whole({A: "infra_error gym_lost", B: "failed"}, 1, 1)])
    assert lines[-4:] == [
        "1 trials ended differently; all that did not pass:",
        "",
        "- a: passed, infra_error gym_lost",
        "- b: failed, failed",
    ]


def test_a_run_of_fewer_trials_is_different() -> None:
    lines = report([Whole({A: "passed", B: "passed"}, 1, 1), Whole({A: "passed"}, 1, 1)])
    assert lines[-1] == "- b: passed, -"
