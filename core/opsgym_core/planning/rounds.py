"""Rounds of a run whose gate decides after each round whether another one is played.

Invariant: the rounds are a function of the spec and are frozen with the run, so that no reader computes others. Every
task of every cell has equally many trials at the end of a round: which tasks are played never depends on results, only
how many rounds are, so that the mean over tasks stays what the gate judges.
"""

from __future__ import annotations

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.gate import Look
from opsgym_api.records.run import RunRecord

SMALLEST_STEP = 1.5
"""Least ratio of the trials at the end of the last round to those before it, if there are more than two rounds: a
smaller step adds too little to be worth a look."""


def rounds_of(spec: EvalRunSpec) -> tuple[int, ...]:
    """Trials of each task at the end of each round; empty for a run with a fixed number of trials."""
    return rounds_between(spec.gate.min_trials, spec.trials) if spec.gate and spec.gate.min_trials else ()


def first_trials(spec: EvalRunSpec) -> int:
    """Trials of each task that are planned when a run starts."""
    return (rounds_of(spec) or (spec.trials,))[0]


def rounds_between(first: int, most: int) -> tuple[int, ...]:
    """Trials of each task at the end of each round: each round doubles them, the last one ends with `most`.

    Args:
        first: Trials of the first round, at most `most`.
        most: Trials at the end of the last round.
    """
    ends = [first] if first < most else []
    while ends and most >= SMALLEST_STEP * 2 * ends[-1]:
        ends.append(2 * ends[-1])
    return (*ends, most)


def current_look(record: RunRecord) -> Look | None:
    """The look that follows the current round of a loaded run; None for a run with a fixed number of trials."""
    if not record.rounds:
        return None
    return Look(rounds=record.rounds, number=record.rounds.index(record.trials) + 1)


def due_look(record: RunRecord) -> Look | None:
    """The look to take once every trial of the current round has ended; None if no round could follow."""
    look = current_look(record)
    return None if look is None or look.last or record.stopped is not None else look


def rounds_text(look: Look, *, stopped: bool, total: int) -> str:
    """How far the rounds of a run have come, for people.

    Args:
        look: The look that follows the current round.
        stopped: Whether the gate was decided at it, so that no further round is played.
        total: Trials of the run up to the end of the current round.
    """
    if look.last:
        return f"all {look.most} trials of each task were played: the gate was undecided at earlier looks"
    place = f"look {look.number} of {len(look.rounds)}, after {look.trials} of {look.most} trials of each task"
    if not stopped:
        return place
    return f"stopped early at {place}: the gate was decided, {not_played(look, total)} trials were not played"


def not_played(look: Look, total: int) -> int:
    """Trials of the rounds after a look.

    Args:
        look: The look.
        total: Trials of the run up to the look.
    """
    return total // look.trials * (look.most - look.trials)
