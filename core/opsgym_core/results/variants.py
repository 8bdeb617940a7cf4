"""Success over the variants of a suite: how much it depends on names, numbers, dates and wordings.

Invariant: runs are put beside each other only if their specs differ in the variant alone, apart from what decides no
score, and each variant counts once with the same weight. The sampled unit is the variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Any

from opsgym_api.records.run import RunRecord, is_held_out, variant_of
from opsgym_core.results.load import list_runs
from opsgym_core.results.statistics import Interval, mean, sample_interval
from opsgym_core.store.base import Store

_DECIDES_NO_SCORE = {"suspend", "budget", "notify"}


@dataclass(frozen=True)
class Spread:
    """Success rates of several variants."""

    variants: int
    """At least 2."""
    mean: float
    lowest: float
    highest: float
    deviation: float
    """Sample standard deviation."""
    interval: Interval
    """Interval of the mean over all variants that there could be."""


def spread_of(rates: Sequence[float]) -> Spread | None:
    """The spread of the success rates of variants; None for fewer than two."""
    middle, interval = mean(rates), sample_interval(rates)
    if middle is None or interval is None:
        return None
    return Spread(len(rates), middle, min(rates), max(rates), stdev(rates), interval)


def runs_of_variants(store: Store, run: RunRecord) -> dict[int, str]:
    """The newest run of each variant among those that differ from a run in the variant only, by variant, in order.

    A run with a held-out suite is alone: which of the others have its seed is in none of them.

    Raises:
        InputError: A `run.json` is not valid.
        StoreError: The store cannot be read.
    """
    if is_held_out(run.spec):
        return {variant_of(run.spec): run.run}
    alike = {
        variant_of(other.spec): other.run
        for other in list_runs(store).runs
        if _apart_from_variant(other) == _apart_from_variant(run)
    }
    return {variant: alike[variant] for variant in sorted(alike)}


def _apart_from_variant(run: RunRecord) -> Mapping[str, Any]:
    spec = {name: value for name, value in run.spec.items() if name not in _DECIDES_NO_SCORE}
    suite = {name: value for name, value in (spec.get("suite") or {}).items() if name != "variant"}
    return {**spec, "suite": suite, "edition": run.edition, "rescored": bool(run.rescored_from)}
