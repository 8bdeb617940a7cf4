"""Definitions of every metric; the registry and docs/metrics.md are generated from them.

Invariant: no label names a task or a pod, and the cells of all runs have a bounded number of distinct labels, so the
number of series is bounded. Names follow Prometheus' conventions: counters end in `_total`, and the name contains the
base unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CELL = ("model", "agent", "mode", "domain")
RUN = ("namespace", "run")


@dataclass(frozen=True)
class Metric:
    """Definition of a metric."""

    name: str
    """Name in Prometheus; series of a histogram add `_bucket`, `_sum` and `_count`."""
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    """Help text of the metric, in one sentence or two."""
    unit: str
    """Unit of the value."""
    labels: tuple[str, ...] = ()
    local: bool = True
    """Whether `opsgym run` exposes the metric too; otherwise only the operator does."""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets."""


# Counters of attempts and trials, by cell

TRIALS = Metric(
    "opsgym_trials_total",
    "counter",
    "Trials that are scored or will not be tried again, by outcome and reason.",
    "trials",
    (*CELL, "outcome", "reason"),
)
ATTEMPTS = Metric(
    "opsgym_attempts_total",
    "counter",
    "Attempts that ended, by outcome and reason, including infrastructure errors that are retried.",
    "attempts",
    (*CELL, "outcome", "reason"),
)
VERIFIERS = Metric(
    "opsgym_verifiers_total",
    "counter",
    "Verifiers executed in scored trials, by category and whether they passed.",
    "verifiers",
    (*CELL, "category", "passed"),
)
TOKENS = Metric(
    "opsgym_tokens_total",
    "counter",
    "Tokens of the agent and its planner in all attempts. `cached` and `cache_write` are parts of `prompt`, "
    "`reasoning` is part of `completion`.",
    "tokens",
    (*CELL, "kind"),
)
COST = Metric(
    "opsgym_cost_usd_total",
    "counter",
    "Spend of all attempts with a known price, including planner and judge.",
    "US dollars",
    CELL,
)
STEPS = Metric("opsgym_steps_total", "counter", "Answered model calls of agents in all attempts.", "calls", CELL)
TOOL_CALLS = Metric("opsgym_tool_calls_total", "counter", "Tool calls of agents in all attempts.", "calls", CELL)
INTERNAL_ERRORS = Metric(
    "opsgym_internal_errors_total",
    "counter",
    "Tool calls that failed by a fault of a gym server; agents are shown an error.",
    "calls",
    CELL,
)
MODEL_RETRIES = Metric("opsgym_model_retries_total", "counter", "Retried requests to models.", "requests", CELL)
RATE_LIMITS = Metric(
    "opsgym_rate_limits_total", "counter", "Requests that models refused with HTTP 429.", "requests", CELL
)
MODEL_WAIT = Metric(
    "opsgym_model_wait_seconds_total",
    "counter",
    "Time that agents waited before a request to a model: for the delay of a retry or for a free slot.",
    "seconds",
    CELL,
)
TRIAL_DURATION = Metric(
    "opsgym_trial_duration_seconds",
    "histogram",
    "Duration of scored attempts by phase; `total` is the whole attempt.",
    "seconds",
    (*CELL, "phase"),
    buckets=(
        0.1,
        0.3,
        1,
        3,
        10,
        30,
        60,
        120,
        300,
        600,
        1200,
        3600,
    ),  # from a new database to the longest episode
)

# Gauges of a run, removed when the run is deleted

RUN_TRIALS = Metric(
    "opsgym_run_trials",
    "gauge",
    "Trials of the run by outcome; `pending` trials will be tried, or tried again. Outcomes other than `passed`, "
    "`failed` and `pending` have no series while they are 0.",
    "trials",
    (*RUN, *CELL, "outcome"),
)
RUN_PROGRESS = Metric("opsgym_run_progress_ratio", "gauge", "Share of the run's trials that are scored.", "0 to 1", RUN)
RUN_SUCCESS = Metric(
    "opsgym_run_success_ratio",
    "gauge",
    "Success rate over all cells, as the mean over tasks; absent until a trial is scored.",
    "0 to 1",
    RUN,
)
RUN_COST = Metric("opsgym_run_cost_usd", "gauge", "Spend of the run's attempts with a known price.", "US dollars", RUN)
RUN_BUDGET = Metric("opsgym_run_budget_usd", "gauge", "Budget of the run; absent without one.", "US dollars", RUN)
RUN_PODS_PENDING = Metric(
    "opsgym_run_pods_pending",
    "gauge",
    "Pods of the run in phase Pending: they wait for a node, an image or the start of a container.",
    "pods",
    RUN,
    local=False,
)
RUN_STALLED = Metric(
    "opsgym_run_stalled",
    "gauge",
    "1 while the run's condition `Stalled` is true, by reason; absent otherwise.",
    "1",
    (*RUN, "reason"),
    local=False,
)
RUN_GATE = Metric(
    "opsgym_run_gate",
    "gauge",
    "1 for the verdict of the run's gate: `GO`, `NO-GO` or `INCONCLUSIVE`; absent until it is decided.",
    "1",
    (*RUN, "verdict"),
)
RUN_REGRESSION = Metric(
    "opsgym_run_regression_ratio",
    "gauge",
    "Drop of the success rate, as the mean over tasks, against the gate's baseline; absent until the gate is decided.",
    "-1 to 1",
    RUN,
)
RUN_FINISHED = Metric(
    "opsgym_run_finished_timestamp_seconds", "gauge", "When the run ended; absent until then.", "Unix seconds", RUN
)

# Gauges of schedules and models

SCHEDULE_LAST_RUN = Metric(
    "opsgym_schedule_last_run_timestamp_seconds",
    "gauge",
    "Scheduled time of the schedule's latest EvalRun.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
SCHEDULE_LAST_SUCCESS = Metric(
    "opsgym_schedule_last_success_timestamp_seconds",
    "gauge",
    "When an EvalRun of the schedule last succeeded: a trial is scored, and its gate, if any, is GO.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
SCHEDULE_NEXT_RUN = Metric(
    "opsgym_schedule_next_run_timestamp_seconds",
    "gauge",
    "When the schedule's next EvalRun is due; in the past while that run is missed, absent while suspended.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
MODEL_IN_FLIGHT = Metric(
    "opsgym_model_in_flight", "gauge", "Slots of the model in use.", "episodes", ("namespace", "model")
)
MODEL_CEILING = Metric(
    "opsgym_model_ceiling",
    "gauge",
    "Slots of the model: episodes that may use it at the same time (`maxConcurrency`).",
    "episodes",
    ("namespace", "model"),
)

# The operator

RECONCILE_DURATION = Metric(
    "opsgym_reconcile_duration_seconds",
    "histogram",
    "Duration of reconciles of a namespace, including failed ones; most of it is spent waiting for the API server.",
    "seconds",
    local=False,
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60),
)
RECONCILE_CPU = Metric(
    "opsgym_reconcile_cpu_seconds",
    "histogram",
    "CPU time of a reconcile that observes the namespace, plans its runs and shows them in the metrics; meanwhile the "
    "operator does nothing else.",
    "seconds",
    local=False,
    buckets=(0.01, 0.03, 0.1, 0.2, 0.5, 1, 3),
)
RECONCILE_ERRORS = Metric(
    "opsgym_reconcile_errors_total", "counter", "Failed reconciles by cause.", "reconciles", ("cause",), local=False
)
RECONCILE_LAST_SUCCESS = Metric(
    "opsgym_reconcile_last_success_timestamp_seconds",
    "gauge",
    "When a reconcile last succeeded; `NaN` until then. A namespace with objects of opsgym is reconciled every minute "
    "at the latest.",
    "Unix seconds",
    local=False,
)
NAMESPACES_SKIPPED = Metric(
    "opsgym_namespaces_skipped",
    "gauge",
    "Watched namespaces that are left out because the API server refuses to list their objects or refuses their Lease: "
    "deleted ones, or ones without the operator's Role.",
    "namespaces",
    local=False,
)
NAMESPACES_OF_OTHERS = Metric(
    "opsgym_namespaces_of_other_releases",
    "gauge",
    "Watched namespaces that are left out because another release serves them.",
    "namespaces",
    local=False,
)
NAMESPACES_LOST = Metric(
    "opsgym_namespaces_lost_total",
    "counter",
    "Losses of a namespace's Lease to another holder: what was in memory of the namespace was dropped.",
    "losses",
    local=False,
)
LEADING = Metric(
    "opsgym_operator_leading",
    "gauge",
    "1 for the replica that holds the release's Lease and does all work, 0 for those that stand by.",
    "1",
    local=False,
)
NOTIFICATIONS = Metric(
    "opsgym_notifications_total",
    "counter",
    "Notifications to webhooks by event and outcome: `sent`, or `failed` after the last attempt.",
    "notifications",
    ("event", "outcome"),
    local=False,
)
PRUNED = Metric(
    "opsgym_pruned_bytes_total",
    "counter",
    "Bytes of stored runs that were deleted because their schedule, or the installation, need not keep them.",
    "bytes",
    ("store",),
    local=False,
)
BUILD_INFO = Metric("opsgym_build_info", "gauge", "1, with the version of opsgym.", "1", ("version",))

# Metrics of the store gateway, which is a process of its own

GATEWAY_REQUESTS = Metric(
    "opsgym_store_gateway_requests_total",
    "counter",
    "Requests of pods by operation (`get`, `put`, `list`) and HTTP status of the answer. 404 and 412 are usual: a "
    "pod asks whether an object exists, and writes a score once.",
    "requests",
    ("operation", "status"),
)
GATEWAY_DURATION = Metric(
    "opsgym_store_gateway_request_duration_seconds",
    "histogram",
    "Duration of requests by operation, with the wait for a slot, for the body and for the store.",
    "seconds",
    ("operation",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)

_DEFINED = [metric for metric in list(globals().values()) if isinstance(metric, Metric)]
GATEWAY_METRICS = tuple(metric for metric in _DEFINED if metric.name.startswith("opsgym_store_gateway_"))
"""Metrics that the store gateway exposes, and no other process."""
METRICS = tuple(metric for metric in _DEFINED if metric not in GATEWAY_METRICS)
"""Metrics of the operator and of `opsgym run`, in the order of their definitions and of docs/metrics.md."""
