"""Looks at a run with rounds: whether its gate is decided, so that no further round is played. Pure.

Invariant: a look reads complete rounds and the baseline that the first look fixed. It stops a run on what later trials
need not be asked about: a condition that fails at the level of this look, or a gate of which every condition holds.
"""

from __future__ import annotations

from dataclasses import replace

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.gate import Look, LookRecord
from opsgym_core.gates.judge import Baseline, JudgedRun, Judgement, coverage_checks, judge
from opsgym_core.gates.spending import confidences_at
from opsgym_core.planning.rounds import not_played


def take_look(
    gate: Gate, run: JudgedRun, baseline: Baseline | Problem | None, look: Look, decided_at: str
) -> LookRecord | None:
    """A look at a run of which every trial of the current round has ended.

    Args:
        gate: The gate.
        run: The run; its `total` is that of the rounds so far.
        baseline: As for `judge`.
        look: The look.
        decided_at: The time: UTC, RFC 3339.

    Returns:
        None if the round has more trials without a score than the gate allows: the run then ends without another
        round, and may be looked at once these trials are scored.
    """
    run, confidences = replace(run, look=look), confidences_at(look, gate.confidence)
    if any(check.verdict == "NO-GO" for check in coverage_checks(gate, run)):
        return None
    stops = is_decided(judge(gate, run, baseline), baseline)
    judgement = judge(gate, replace(run, stopped=stops), baseline)
    return LookRecord(
        look=look,
        stops=stops,
        not_played=not_played(look, run.total) if stops else 0,
        spent=confidences.spent,
        confidence=confidences.means,
        guard_confidence=confidences.guards,
        judged=judgement.record(run.scores.run, decided_at),
    )


def is_decided(judgement: Judgement, baseline: Baseline | Problem | None) -> bool:
    """Whether a gate is decided before the last round.

    The first run of a series, which has nothing to compare with, is not decided by that alone: later runs are compared
    with it, so its trials are worth playing.
    """
    first = isinstance(baseline, Baseline) and baseline.scores is None
    return judgement.verdict == "NO-GO" or (judgement.verdict == "GO" and not first)
