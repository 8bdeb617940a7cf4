"""How often the rules report each mode.

Invariant: a count stands beside the interval of its share and says whether the mode is weak. It is triage: the rules
are not people, and their share of a mode is not how often it occurs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from opsgym_console.analysis.failures.findings import Mode
from opsgym_core.results.statistics import Interval, mean, mean_interval

TRIAGE = (
    "Triage: counts and shares are of what rules report, not of what people would say, and primary is the first mode in"
    " a fixed order, not the cause."
)
"""Stands wherever counts of rules are shown."""
WEAK = frozenset(Mode) - {Mode.STATE_CORRUPTION}
"""Modes whose precision or recall on held-out recorded runs is below 0.7, or that held in fewer than five of them."""
WEAK_NOTE = "weak: precision or recall below 0.7, or not enough held-out runs to measure them (docs/failures.md)."


@dataclass(frozen=True)
class ModeCount:
    """How often the rules report a mode in a set of failed trials."""

    trials: int
    """Trials that have the mode."""
    primary: int
    """Trials of which it is the first one in the order of `Mode`."""
    share: float | None
    """Mean over tasks of the share of their analysed trials that have it; None without a trial."""
    interval: Interval | None
    """Interval of the share, by task: what another sample of tasks would show, not how far the rules are right."""


@dataclass(frozen=True)
class Detected:
    """The modes that the rules report of an analysed trial."""

    task_id: str
    modes: Sequence[str]
    """Primary first."""


def count_mode(mode: str, trials: Collection[Detected]) -> ModeCount:
    """How often a mode is reported in a set of analysed trials."""
    by_task: Mapping[str, list[bool]] = defaultdict(list)
    for trial in trials:
        by_task[trial.task_id].append(mode in trial.modes)
    rates = [sum(reported) / len(reported) for reported in by_task.values()]
    return ModeCount(
        trials=sum(sum(reported) for reported in by_task.values()),
        primary=sum(trial.modes[:1] == [mode] for trial in trials),
        share=mean(rates),
        interval=mean_interval(rates, len(trials)),
    )
