"""Success over the variants of a suite, for the page about one of their runs.

Invariant: the run of the page stands for its own variant; of the others the newest runs count.
"""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.records.run import RunRecord, variant_of
from opsgym_console.report.columns import Positions
from opsgym_console.report.model import VariantsView, VariantView
from opsgym_core.results.load import load_rows
from opsgym_core.results.score import Summary, summarise
from opsgym_core.results.variants import runs_of_variants, spread_of
from opsgym_core.store.base import Store


def other_variants(store: Store, run: RunRecord) -> dict[int, tuple[str, Summary]]:
    """Id and scores of the newest run of each other variant of a run's suite; empty unless the suite is built in.

    Raises:
        InputError: A record is not valid.
        StoreError: The store cannot be read.
    """
    if not (run.spec.get("suite") or {}).get("builtin"):
        return {}
    runs = runs_of_variants(store, run)
    runs.pop(variant_of(run.spec), None)
    return {variant: (name, summarise(load_rows(store, name))) for variant, name in runs.items()}


def variants_view(
    run: RunRecord, summary: Summary, others: Mapping[int, tuple[str, Summary]], positions: Positions
) -> VariantsView | None:
    """Success rates by variant and cell, and what they vary by; None without another variant."""
    if not others:
        return None
    all_runs = {**others, variant_of(run.spec): (run.run, summary)}
    runs = [_variant(variant, *all_runs[variant], positions) for variant in sorted(all_runs)]
    by_cell = zip(*(one.successes for one in runs), strict=True)
    return VariantsView(
        runs=runs, spreads=[spread_of([one.rate for one in row if one and one.rate is not None]) for row in by_cell]
    )


def _variant(variant: int, run: str, summary: Summary, positions: Positions) -> VariantView:
    successes = {cell.cell.key: cell.score.success for cell in summary.cells}
    return VariantView(variant=variant, run=run, successes=[successes.get(key) for key in positions.cells])
