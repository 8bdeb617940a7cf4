"""Measures the rules: on mutants of reference solutions, and on manually labelled recorded runs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from tools.failure_docs.episodes import EpisodeRunner
from tools.failure_docs.labelled_runs import Label, read_labels, recorded_trials
from tools.failure_docs.mutations import Mutant, cases, mutants, plain
from tools.failure_docs.scoring import Score, scores

from opsgym_api.tasks.task import Task
from opsgym_console.analysis.failures import FailedTrial, Finding, Mode, analyse

OF_EACH = 30
"""Mutants of each mode in the full measurement."""
GOLD_CASES = 30
"""Reference solutions that are run first, to know which ids an agent sees."""

T = TypeVar("T")
Pair = tuple[AbstractSet[Mode], AbstractSet[Mode]]


@dataclass(frozen=True)
class MutantResult:
    """A mutant, and the findings of its trial."""

    mutant: Mutant
    trial: FailedTrial | None
    """None if it passed."""
    findings: Sequence[Finding]

    @property
    def pair(self) -> Pair:
        """The modes that hold, and the detected ones; modes that the mutation leaves open are in neither."""
        return self.mutant.modes, {finding.mode for finding in self.findings} - self.mutant.open


def run_mutants(
    gym: str,
    of_each: int,
    gold_cases: int = GOLD_CASES,
    *,
    admin_tokens: Mapping[str, str] = MappingProxyType({}),
) -> list[MutantResult]:
    """Runs mutants of every mode.

    Args:
        gym: Address of an ITSM gym server.
        of_each: Mutants of each mode.
        gold_cases: Reference solutions that are run first, to know which ids agents see.
        admin_tokens: Tokens of the server's admin endpoints by its address; empty if it needs none.
    """
    with tempfile.TemporaryDirectory() as folder:
        episodes = EpisodeRunner(gym, Path(folder), admin_tokens)
        gold = episodes.run_gold(_spread([case for case in cases() if plain(case)], gold_cases))
        chosen = [mutant for made in mutants(cases(), gold).values() for mutant in _spread(made, of_each)]
        trials = episodes.run(chosen)
    return [
        MutantResult(mutant, trial, () if trial is None else analyse(trial))
        for mutant, trial in zip(chosen, trials, strict=True)
    ]


def _spread(items: Sequence[T], most: int) -> Sequence[T]:
    return items[:: max(1, len(items) // most)][:most]


def mutant_scores(results: Sequence[MutantResult]) -> list[Score]:
    """Scores over the mutants that failed."""
    return scores([one.pair for one in results if one.trial is not None])


def without_solution(results: Sequence[MutantResult]) -> list[MutantResult]:
    """The same trials, analysed as if their rows had no reference solution."""
    return [
        one
        if one.trial is None or one.trial.task is None
        else replace(one, findings=analyse(replace(one.trial, task=_bare(one.trial.task))))
        for one in results
    ]


def _bare(task: Task) -> Task:
    return task.model_copy(update={"gold_actions": None, "horizon": None})


def label_pairs(upstream: Path, half: str) -> list[tuple[Label, Pair]]:
    """Labels of a half, each with the modes that hold and the detected ones."""
    labels = [label for label in read_labels() if label.half == half]
    trials = {domain: recorded_trials(upstream, domain) for domain in {label.domain for label in labels}}
    return [
        (label, (label.modes, {finding.mode for finding in analyse(trials[label.domain][label.task_id])}))
        for label in labels
    ]


def recorded_scores(upstream: Path, half: str) -> list[Score]:
    """Scores over a half of the labelled runs."""
    return scores([pair for _, pair in label_pairs(upstream, half)])
