"""One run, live: how far it is, how good, what it costs, and what holds it up.

Counters have no label for a run, so that their number stays bounded. What they tell is shown for the run's cells;
another run of the same cells at the same time is in it, and the descriptions say so.
"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as boards
from tools.dashboards import panels as p

RUN = 'namespace="$namespace", run="$run"'
CELL = "model, agent, mode, domain"
SHARED = "For the run's cells; includes other runs of the same cells at the same time."
STATES: p.WORDS = {"0": ("running", "blue"), "1": ("finished", "green"), "2": ("stalled", "red")}
GATES: p.WORDS = {"1": ("GO", "green"), "2": ("INCONCLUSIVE", "orange"), "3": ("NO-GO", "red")}


AMONG = f" and on ({CELL}) opsgym_run_trials{{{RUN}}}"
"""Restricts a counter to the run's cells."""


def dashboard() -> boards.Dashboard:
    """The dashboard."""
    board = (
        p.board(
            "opsgym-run",
            "opsgym / One run",
            "A run in progress: success by cell, spend against budget, and what delays it.",
            "now-3h",
            "10s",
        )
        .with_variable(p.variable("namespace", "Namespace", "opsgym_run_progress_ratio", many=False))
        .with_variable(p.variable("run", "Run", 'opsgym_run_progress_ratio{namespace="$namespace"}', many=False))
    )
    return p.place(board, *_summary(), _cells(), _outcomes(), *_money(), *_speed())


def _state() -> str:
    """Number of a state: stalled before finished before running."""
    stalled = f"2 * max(opsgym_run_stalled{{{RUN}}})"
    finished = f"(max(opsgym_run_finished_timestamp_seconds{{{RUN}}}) > bool 0)"
    return f"{stalled} or {finished} or 0 * max(opsgym_run_progress_ratio{{{RUN}}})"


def _verdict() -> str:
    """Number of a verdict."""
    numbers = {1: "GO", 2: "INCONCLUSIVE", 3: "NO-GO"}
    return " or ".join(
        f'{number} * max(opsgym_run_gate{{{RUN}, verdict="{verdict}"}})' for number, verdict in numbers.items()
    )


def _summary() -> list[p.Stat]:
    return [
        p.number(
            "State",
            "Stalled: the run needs intervention; `kubectl describe` says which.",
            _state(),
            "none",
            words=STATES,
        ),
        p.number(
            "Progress",
            "Scored trials / all trials.",
            f"max(opsgym_run_progress_ratio{{{RUN}}})",
            "percentunit",
            p.BLUE,
        ).decimals(0),
        p.number(
            "Success",
            "Mean over tasks of the trials scored so far.",
            f"max(opsgym_run_success_ratio{{{RUN}}})",
            "percentunit",
            p.BLUE,
        ).decimals(1),
        p.number("Gate", "Verdict of the gate, once the run has finished.", _verdict(), "none", words=GATES),
        p.number(
            "Budget spent",
            "Spend / budget.maxUsd. At 100 % no further trial starts.",
            f"max(opsgym_run_cost_usd{{{RUN}}}) / max(opsgym_run_budget_usd{{{RUN}}})",
            "percentunit",
            p.NEAR_THE_CAP,
        ).decimals(0),
        p.number(
            "Not scored",
            "Trials that will not be retried: persistent infrastructure errors, unusable rows, budget, cancelled.",
            f'sum(opsgym_run_trials{{{RUN}, outcome!~"passed|failed|pending"}}) or vector(0)',
            "short",
            p.NONE_IS_FINE,
        ),
    ]


def _cells() -> p.Table:
    def trials(outcomes: str) -> str:
        return f'sum by ({CELL}) (opsgym_run_trials{{{RUN}, outcome=~"{outcomes}"}})'

    passed, scored = trials("passed"), trials("passed|failed")
    titles = {"model": "Model", "agent": "Agent", "mode": "Mode", "domain": "Domain"}
    return (
        p.rows(
            "Success by cell",
            "A cell is a model, an agent, a mode and a domain. Success excludes trials that were not scored.",
            titles,
            [
                p.Column("Success", f"({passed} or 0 * {scored}) / ({scored} > 0)", "percentunit", p.GRADES),
                p.Column("Scored", scored, "short"),
                p.Column("Pending", trials("pending"), "short"),
                p.Column("All", trials(".+"), "short"),
            ],
        )
        .span(14)
        .height(9)
    )


def _outcomes() -> p.TimeSeries:
    panel = p.lines(
        "Trials by outcome",
        "Every trial of the run, pending ones included.",
        [p.Query(f"sum by (outcome) (opsgym_run_trials{{{RUN}}}) > 0", "{{outcome}}")],
        "short",
        stacked=True,
    )
    return p.painted(panel, p.OUTCOMES).span(10).height(9)


def _money() -> list[p.TimeSeries]:
    return [
        p.painted(
            p.lines(
                "Spend against budget",
                "Spend so far and budget.maxUsd, in dollars.",
                [
                    p.Query(f"max(opsgym_run_cost_usd{{{RUN}}})", "spent"),
                    p.Query(f"max(opsgym_run_budget_usd{{{RUN}}})", "budget"),
                ],
                "currencyUSD",
            ),
            {"spent": "blue", "budget": "red"},
        ),
        p.lines(
            "Success",
            "Mean over tasks of the trials scored so far.",
            [p.Query(f"max(opsgym_run_success_ratio{{{RUN}}})", "success")],
            "percentunit",
            most=1,
        ),
        p.lines(
            "Tokens per minute",
            f"Tokens of finished attempts per minute. {SHARED}",
            [p.Query(p.per(60, 'opsgym_tokens_total{kind=~"prompt|completion"}', "kind", AMONG), "{{kind}}")],
            "short",
            stacked=True,
        ),
    ]


def _speed() -> list[p.TimeSeries | p.BarGauge]:
    durations = "opsgym_trial_duration_seconds"
    seconds, count = (f"sum by (phase) (increase({durations}_{of}[$__range]){AMONG})" for of in ("sum", "count"))
    trouble = [
        p.Query(p.per(60, "opsgym_rate_limits_total", "model", AMONG), "429 of {{model}}"),
        p.Query(p.per(60, "opsgym_model_retries_total", "model", AMONG), "retries of {{model}}"),
    ]
    model = f"max by (model) (opsgym_run_trials{{{RUN}}})"
    return [
        p.bars(
            "Duration by phase",
            f"Mean duration of each phase of scored attempts in the time range. {SHARED}",
            p.Query(f"{seconds} / ({count} > 0)", "{{phase}}"),
            "s",
        ),
        p.lines(
            "Retries and rate limits per minute",
            f"Requests that models rejected with 429, and requests that were retried for any reason. {SHARED}",
            trouble,
            "short",
        ),
        p.lines(
            "Pods pending and episodes in flight",
            "Pods that wait for a node or an image, and episodes that use the run's models (all runs).",
            [
                p.Query(f"max(opsgym_run_pods_pending{{{RUN}}})", "pods pending"),
                p.Query(
                    f'max by (model) (opsgym_model_in_flight{{namespace="$namespace"}}) and on (model) {model}',
                    "in flight: {{model}}",
                ),
            ],
            "short",
        ),
    ]
