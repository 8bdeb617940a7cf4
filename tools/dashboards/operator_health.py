"""Operator health dashboard: reconciles, their duration, resource use, and the store gateway."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as boards
from grafana_foundation_sdk.models.common import BigValueTextMode
from tools.dashboards import panels as p

JOB = 'job=~"$job"'
PASSED = f"opsgym_reconcile_last_success_timestamp_seconds{{{JOB}}} > 0"
"""NaN, and therefore excluded, until a reconcile has succeeded."""
ANSWERS: p.WORDS = {"0": ("down", "red"), "1": ("up", "green")}
LATE: p.Steps = {None: "green", 120: "orange", 600: "red"}
"""Seconds since a reconcile succeeded. A namespace with EvalRuns is reconciled every minute."""


def dashboard() -> boards.Dashboard:
    """The dashboard."""
    board = p.board(
        "opsgym-operator",
        "opsgym / Operator health",
        "Reconciles by result and duration, and the operator's resource use.",
        "now-6h",
        "30s",
    ).with_variable(p.variable("job", "Job", "opsgym_reconcile_duration_seconds_count", many=True))
    return p.place(board, *_summary(), *_passes(), *_work(), *_process(), *_store_gateway())


def _summary() -> list[p.Stat]:
    version = p.number("Version", "Running version.", f"opsgym_build_info{{{JOB}}}", "none")
    return [
        p.number("Operator", "Whether Prometheus can scrape the operator.", f"min(up{{{JOB}}})", "none", words=ANSWERS),
        p.number(
            "Last successful reconcile",
            "Seconds since the last successful reconcile. A namespace with EvalRuns is reconciled every minute.",
            f"time() - max({PASSED})",
            "s",
            LATE,
        ),
        p.number(
            "Failed reconciles",
            "In the last 15 minutes. A failed reconcile is retried; the log has the error.",
            f"sum(increase(opsgym_reconcile_errors_total{{{JOB}}}[15m])) or vector(0)",
            "short",
            {None: "green", 1: "orange", 4: "red"},
        ),
        p.number(
            "Restarts",
            "Restarts of the operator's process in the time range. Runs continue after each.",
            f"sum(changes(process_start_time_seconds{{{JOB}}}[$__range]))",
            "short",
            {None: "green", 1: "orange"},
        ),
        p.number("Memory", "Resident memory now.", f"sum(process_resident_memory_bytes{{{JOB}}})", "bytes").decimals(0),
        version.text_mode(BigValueTextMode.NAME).targets(
            [p.instant(f"max by (version) (opsgym_build_info{{{JOB}}})", "{{version}}")]
        ),
    ]


def _passes() -> list[p.TimeSeries]:
    buckets = "sum by (le) (rate(opsgym_reconcile_{}_seconds_bucket{{{}}}[$__rate_interval]))"
    duration, cpu = buckets.format("duration", JOB), buckets.format("cpu", JOB)
    return [
        p.lines(
            "Reconcile duration",
            "Duration of the reconcile of a namespace, with its requests to the API server, and its CPU time, in which "
            "the operator does nothing else.",
            [
                p.Query(f"histogram_quantile(0.5, {duration}) >= 0", "median"),
                p.Query(f"histogram_quantile(0.95, {duration}) >= 0", "95 %"),
                p.Query(f"histogram_quantile(0.95, {cpu}) >= 0", "CPU time, 95 %"),
            ],
            "s",
        ),
        p.lines(
            "Reconciles",
            "Reconciles per second.",
            [p.Query(f"sum(rate(opsgym_reconcile_duration_seconds_count{{{JOB}}}[$__rate_interval]))", "passes")],
            "ops",
        ),
        p.lines(
            "Failed reconciles per minute by cause",
            "A failed reconcile is retried; the log has the error.",
            [p.Query(p.per(60, f"opsgym_reconcile_errors_total{{{JOB}}}", "cause"), "{{cause}}")],
            "short",
            stacked=True,
        ),
    ]


def _work() -> list[p.TimeSeries]:
    return [
        p.lines(
            "Episodes in flight against ceilings",
            "Episodes that use a model now, and the model's maxConcurrency. Runs wait when the ceiling is reached.",
            [
                p.Query(f"max by (namespace, model) (opsgym_model_in_flight{{{JOB}}})", "{{model}} in flight"),
                p.Query(f"max by (namespace, model) (opsgym_model_ceiling{{{JOB}}})", "{{model}} ceiling"),
            ],
            "short",
        ).span(8),
        p.lines(
            "Notifications per hour",
            "Notifications to webhooks by outcome.",
            [p.Query(p.per(3600, f"opsgym_notifications_total{{{JOB}}}", "outcome"), "{{outcome}}")],
            "short",
        ).span(8),
        p.lines(
            "Bytes pruned per day",
            "What was deleted of stored runs, by store.",
            [p.Query(p.per(86400, f"opsgym_pruned_bytes_total{{{JOB}}}", "store"), "{{store}}")],
            "bytes",
        ).span(8),
    ]


def _process() -> list[p.TimeSeries]:
    return [
        p.lines(
            "Seconds since a successful reconcile",
            "Rises while no namespace is reconciled. Below a minute is normal; an idle operator does not reconcile.",
            [p.Query(f"time() - max by (job) ({PASSED})", "{{job}}")],
            "s",
        ),
        p.lines(
            "Memory",
            "Resident memory of the operator's process. The chart limits it to operator.resources.limits.memory.",
            [p.Query(f"sum by (job) (process_resident_memory_bytes{{{JOB}}})", "{{job}}")],
            "bytes",
        ),
        p.lines(
            "CPU",
            "CPU cores used by the operator's process.",
            [p.Query(f"sum by (job) (rate(process_cpu_seconds_total{{{JOB}}}[$__rate_interval]))", "{{job}}")],
            "none",
        ),
    ]


def _store_gateway() -> list[p.TimeSeries]:
    duration = "sum by (le, operation) (rate(opsgym_store_gateway_request_duration_seconds_bucket[$__rate_interval]))"
    return [
        p.lines(
            "Requests to the store gateway per minute by status",
            "Of all gateways of the data source. 404 and 412 are usual; 5xx are errors of the gateway, of a store or "
            "of the API server, and the gateway's log names them.",
            [p.Query(p.per(60, "opsgym_store_gateway_requests_total", "status"), "{{status}}")],
            "short",
            stacked=True,
        ).span(12),
        p.lines(
            "Duration of requests to the store gateway",
            "95 % of the requests are answered sooner, by operation.",
            [p.Query(f"histogram_quantile(0.95, {duration}) >= 0", "{{operation}}")],
            "s",
        ).span(12),
    ]
