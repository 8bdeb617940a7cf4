"""Scores as a page has them.

Invariant: nothing is counted here; every number is one of `opsgym_api.scores`.
"""

from __future__ import annotations

from opsgym.report.model import AgentView, CellView, IntervalView, ScoreView, ShareView, SuccessView
from opsgym_api.scores import AgentScore, CellScore, Ratio, Score, Success
from opsgym_api.statistics import Interval


def score_view(score: Score) -> ScoreView:
    """A score."""
    return ScoreView(
        total=score.total,
        passed=score.passed,
        failed=score.failed,
        fail_reasons=dict(score.fail_reasons),
        not_scored=dict(score.not_scored),
        success=_success_view(score.success),
        published_rate=score.published_rate,
        horizons={name: _success_view(found) for name, found in score.horizons.items()},
        verifiers=share_view(score.verifiers),
        categories={name: share_view(found) for name, found in score.categories.items()},
        usage=score.usage,
        cost_usd=score.cost_usd,
        cost_per_task=score.cost_per_task,
        cost_per_success=score.cost_per_success,
        mean_steps=score.mean_steps,
        mean_tool_calls=score.mean_tool_calls,
        mean_seconds=score.mean_seconds,
    )


def cell_view(found: CellScore) -> CellView:
    """A cell's score."""
    return CellView(cell=found.cell, score=score_view(found.score))


def agent_view(found: AgentScore) -> AgentView:
    """Scores of a model and agent in a mode."""
    return AgentView(
        model=found.model,
        agent=found.agent,
        mode=found.mode,
        score=score_view(found.score),
        over_domains=found.success_over_domains,
        domains_interval=interval_view(found.domains_interval),
    )


def share_view(share: Ratio) -> ShareView:
    """So many of so many."""
    return ShareView(passed=share.passed, total=share.total)


def interval_view(interval: Interval | None) -> IntervalView | None:
    """An interval; None where there is none."""
    return None if interval is None else IntervalView(low=interval.low, high=interval.high)


def _success_view(success: Success) -> SuccessView:
    return SuccessView(
        tasks=success.tasks,
        passed=success.trials.passed,
        scored=success.trials.total,
        rate=success.rate,
        interval=interval_view(success.interval),
    )
