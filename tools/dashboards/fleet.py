"""Fleet overview dashboard: state of all runs, success and cost."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as boards
from tools.dashboards import panels as p

CELL = 'model=~"$model", mode=~"$mode", domain=~"$domain"'
RECENT = "unless on (namespace, run) (time() - opsgym_run_finished_timestamp_seconds > $__range_s)"
"""Excludes runs that finished before the time range; an EvalRun may be kept for weeks."""
GATES: p.WORDS = {verdict: (verdict, color) for verdict, color in p.VERDICTS.items()}


def increase(metric: str, more: str = "", over: str = "$__range") -> str:
    """Increase of a counter of the selected cells."""
    return f"increase({metric}{{{CELL}{more}}}[{over}])"


def success(by: str = "", over: str = "$__range") -> str:
    """Passed / scored trials: 0 if none passed, no series if none was scored."""
    level = f" by ({by})" if by else ""
    passed = increase("opsgym_trials_total", ', outcome="passed"', over)
    failed = increase("opsgym_trials_total", ', outcome="failed"', over)
    scored = increase("opsgym_trials_total", ', outcome=~"passed|failed"', over)
    return f"(sum{level} ({passed}) or 0 * sum{level} ({failed})) / (sum{level} ({scored}) > 0)"


def infra_errors(by: str = "", over: str = "$__range") -> str:
    """Attempts with infrastructure errors / all attempts; 0 if there were none."""
    level = f" by ({by})" if by else ""
    lost = increase("opsgym_attempts_total", ', outcome="infra_error"', over)
    every = increase("opsgym_attempts_total", "", over)
    return f"(sum{level} ({lost}) or 0 * sum{level} ({every})) / (sum{level} ({every}) > 0)"


def cost_per_success(by: str = "") -> str:
    """Cost of all attempts in dollars / passed trials; no series if none passed."""
    level = f" by ({by})" if by else ""
    passed = increase("opsgym_trials_total", ', outcome="passed"')
    return f"sum{level} ({increase('opsgym_cost_usd_total')}) / (sum{level} ({passed}) > 0)"


def needs_a_look() -> str:
    """Number of problems that need attention."""
    stalled = "max by (namespace, run) (opsgym_run_stalled) > 0"
    gates = f'max by (namespace, run) (opsgym_run_gate{{verdict="NO-GO"}}) {RECENT}'
    late = "time() - max by (namespace, schedule) (opsgym_schedule_next_run_timestamp_seconds) > 600"
    down = 'up{job=~".*opsgym.*operator"} == 0'
    return " + ".join(f"(count({part}) or vector(0))" for part in (stalled, gates, late, down))


def dashboard() -> boards.Dashboard:
    """The dashboard."""
    board = p.board(
        "opsgym-fleet",
        "opsgym / Fleet overview",
        "State of all runs, success and cost by model, mode and domain, and errors.",
        "now-24h",
        "1m",
    )
    for name, label in (("model", "Model"), ("mode", "Mode"), ("domain", "Domain")):
        board = board.with_variable(p.variable(name, label, "opsgym_trials_total", many=True))
    board = p.place(board, *_summary(), _runs(), *_plans())
    board = p.place(board.with_row(boards.Row("Success and cost")), *_success(), *_cost())
    return p.place(board.with_row(boards.Row("Infrastructure and speed")), *_faults())


def _summary() -> list[p.Stat]:
    scored = increase("opsgym_trials_total", ', outcome=~"passed|failed"')
    return [
        p.number(
            "Needs a look",
            "Stalled runs, gates that say NO-GO, schedules more than ten minutes late, operators that Prometheus "
            "cannot scrape. The tables below name them.",
            needs_a_look(),
            "short",
            p.NONE_IS_FINE,
        ),
        p.number(
            "Success",
            "Passed / scored trials in the time range. Trials that were not scored are excluded.",
            success(),
            "percentunit",
            p.BLUE,
        ).decimals(1),
        p.number(
            "Trials scored",
            "Trials that passed or failed in the time range.",
            f"sum({scored})",
            "short",
        ),
        p.number(
            "Infra errors",
            "Attempts with infrastructure errors / all attempts in the time range. They are retried and paid again.",
            infra_errors(),
            "percentunit",
            p.FEW_ARE_FINE,
        ).decimals(1),
        p.number(
            "Spend",
            "Cost of all attempts with a known price, in dollars.",
            f"sum({increase('opsgym_cost_usd_total')})",
            "currencyUSD",
        ).decimals(2),
        p.number("Cost per success", "Spend / passed trials.", cost_per_success(), "currencyUSD").decimals(3),
    ]


def _runs() -> p.Table:
    def of_run(metric: str, by: str = "namespace, run") -> str:
        return f"max by ({by}) ({metric}) {RECENT}"

    return p.rows(
        "Runs",
        "Runs that were unfinished at some time in the range. Stalled shows why a run needs intervention.",
        {"namespace": "Namespace", "run": "Run"},
        [
            p.Column("Progress", of_run("opsgym_run_progress_ratio"), "percentunit"),
            p.Column("Success", of_run("opsgym_run_success_ratio"), "percentunit", p.GRADES),
            p.Column("Spend", of_run("opsgym_run_cost_usd"), "currencyUSD"),
            p.Column("Budget", of_run("opsgym_run_budget_usd"), "currencyUSD"),
            p.Column("Gate", of_run("opsgym_run_gate", "namespace, run, verdict"), label="verdict", words=GATES),
            p.Column(
                "Regression", of_run("opsgym_run_regression_ratio"), "percentunit", {None: "transparent", 0.05: "red"}
            ),
            p.Column("Stalled", of_run("opsgym_run_stalled", "namespace, run, reason"), label="reason"),
            p.Column("Finished", f"1000 * {of_run('opsgym_run_finished_timestamp_seconds')}", "dateTimeFromNow"),
        ],
    )


def _plans() -> list[p.Table | p.BarGauge]:
    def of_schedule(what: str) -> str:
        return f"1000 * max by (namespace, schedule) (opsgym_schedule_{what}_timestamp_seconds)"

    verdicts = f"count by (verdict) (max by (namespace, run, verdict) (opsgym_run_gate) {RECENT})"
    return [
        p.rows(
            "Schedules",
            "For each EvalSchedule: time of the last run, of the last good run, and of the next run. "
            "A suspended schedule has no next run.",
            {"namespace": "Namespace", "schedule": "Schedule"},
            [
                p.Column("Last run", of_schedule("last_run"), "dateTimeFromNow"),
                p.Column("Last good run", of_schedule("last_success"), "dateTimeFromNow"),
                p.Column("Next run", of_schedule("next_run"), "dateTimeFromNow"),
            ],
        )
        .span(16)
        .height(6),
        p.painted(
            p.bars(
                "Gate verdicts",
                "Runs in the time range by verdict.",
                p.Query(verdicts, "{{verdict}}"),
                "short",
            ),
            p.VERDICTS,
        )
        .decimals(0)
        .span(8)
        .height(6),
    ]


def _success() -> list[p.TimeSeries | p.Table | p.BarGauge]:
    return [
        p.lines(
            "Success by model",
            "Passed / scored trials in the hour before each point.",
            [p.Query(success("model", "1h"), "{{model}}")],
            "percentunit",
            most=1,
        ).span(12),
        p.matrix(
            "Success by model and domain",
            "Passed / scored trials in the time range.",
            success("model, domain"),
            "percentunit",
            "model",
            "domain",
            p.GRADES,
        )
        .decimals(0)
        .span(12)
        .height(8),
        p.bars(
            "Success by mode",
            "Passed / scored trials in the time range, by the set of tools shown to the agent.",
            p.Query(success("mode"), "{{mode}}"),
            "percentunit",
            p.GRADES,
            1,
        ),
    ]


def _cost() -> list[p.TimeSeries | p.BarGauge]:
    spend = p.per(3600, f"opsgym_cost_usd_total{{{CELL}}}", "model")
    return [
        p.bars(
            "Cost per success by model",
            "Cost of all attempts in the time range in dollars / passed trials.",
            p.Query(cost_per_success("model"), "{{model}}"),
            "currencyUSD",
        ).decimals(3),
        p.lines(
            "Spend per hour by model",
            "Cost of finished attempts per hour, in dollars.",
            [p.Query(spend, "{{model}}")],
            "currencyUSD",
            stacked=True,
        ),
    ]


def _faults() -> list[p.TimeSeries]:
    reasons = p.per(60, f'opsgym_attempts_total{{{CELL}, outcome="infra_error"}}', "reason") + " > 0"
    limits = p.per(60, f"opsgym_rate_limits_total{{{CELL}}}", "model")
    total = increase("opsgym_trial_duration_seconds_bucket", ', phase="total"', "1h")
    return [
        p.lines(
            "Infra errors per minute by reason",
            "Attempts with infrastructure errors. The pod's log has details.",
            [p.Query(reasons, "{{reason}}")],
            "short",
            stacked=True,
        ),
        p.lines(
            "Rate limits per minute by model",
            "Requests that models rejected with 429. Lower maxConcurrency if this persists.",
            [p.Query(limits, "{{model}}")],
            "short",
            stacked=True,
        ),
        p.lines(
            "Trial duration",
            "Duration of scored attempts in the hour before each point, from seeding to verification.",
            [
                p.Query(f"histogram_quantile(0.5, sum by (le) ({total})) >= 0", "median"),
                p.Query(f"histogram_quantile(0.95, sum by (le) ({total})) >= 0", "95 %"),
            ],
            "s",
        ),
    ]
