"""Rewards of a scored trial, by the rule that a trainer chose. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from opsgym.episodes.api import Rule
from opsgym_api.records.attempt import TrialRecord


def reward_of(record: TrialRecord, rule: Rule) -> float:
    """The reward, from 0 to 1; see `EpisodeRequest.reward`. A trial that passes has 1 by every rule."""
    if rule == "all" or not record.verifiers:
        return float(record.score)
    if rule == "verifiers":
        return _share(verifier.passed for verifier in record.verifiers)
    by_category: defaultdict[str, list[bool]] = defaultdict(list)
    for verifier in record.verifiers:
        by_category[verifier.category].append(verifier.passed)
    return fmean(map(_share, by_category.values()))


def _share(passed: Iterable[bool]) -> float:
    return fmean(map(float, passed))
