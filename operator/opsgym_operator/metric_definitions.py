"""Every metric of opsgym, declared once: the registry and docs/metrics.md are made from this.

Invariant: no label names a task or a pod, so the number of series is bounded by the specs that users write. Names are
as Prometheus wants them: counters end in `_total`, units are base units and part of the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CELL = ("model", "agent", "mode", "domain")
RUN = ("namespace", "run")


@dataclass(frozen=True)
class Metric:
    """A metric."""

    name: str
    """As Prometheus shows it; series of a histogram add `_bucket`, `_sum` and `_count`."""
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    """What a series says, in one sentence."""
    unit: str
    """What its value counts."""
    labels: tuple[str, ...] = ()
    local: bool = True
    """Whether `opsgym run` has it too, and not the operator alone."""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets."""


# Counters of what attempts came to, by cell.

TRIALS = Metric(
    "opsgym_trials_total",
    "counter",
    "Trials that were scored, or will not be tried again, by how they ended.",
    "trials",
    (*CELL, "outcome", "reason"),
)
ATTEMPTS = Metric(
    "opsgym_attempts_total",
    "counter",
    "Attempts that ended, those that are tried again included; infrastructure errors by reason are here.",
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
    "Spend of all attempts, planner and judge included, where a price is known.",
    "US dollars",
    CELL,
)
STEPS = Metric("opsgym_steps_total", "counter", "Model calls answered to agents in all attempts.", "calls", CELL)
TOOL_CALLS = Metric("opsgym_tool_calls_total", "counter", "Tool calls of agents in all attempts.", "calls", CELL)
MODEL_RETRIES = Metric(
    "opsgym_model_retries_total", "counter", "Requests to models that were sent again.", "requests", CELL
)
RATE_LIMITS = Metric(
    "opsgym_rate_limits_total", "counter", "Requests that models refused as too many (HTTP 429).", "requests", CELL
)
MODEL_WAIT = Metric(
    "opsgym_model_wait_seconds_total",
    "counter",
    "Time in which agents waited for a model without a request under way: for a retry, or for a free slot.",
    "seconds",
    CELL,
)
TRIAL_DURATION = Metric(
    "opsgym_trial_duration_seconds",
    "histogram",
    "Time that scored attempts took, by phase; `total` is the whole attempt.",
    "seconds",
    (*CELL, "phase"),
    buckets=(0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1200, 3600),  # from a database made to the longest episode
)

# Gauges of a run. They end with it.

RUN_TRIALS = Metric(
    "opsgym_run_trials",
    "gauge",
    "Trials of the run by outcome. `pending` are those that will be tried, or tried again.",
    "trials",
    (*RUN, *CELL, "outcome"),
)
RUN_PROGRESS = Metric("opsgym_run_progress_ratio", "gauge", "Scored trials of all trials.", "0 to 1", RUN)
RUN_SUCCESS = Metric(
    "opsgym_run_success_ratio",
    "gauge",
    "Success rate over all cells, the mean over tasks; there once something is scored.",
    "0 to 1",
    RUN,
)
RUN_COST = Metric("opsgym_run_cost_usd", "gauge", "Spend of the run so far, where a price is known.", "US dollars", RUN)
RUN_BUDGET = Metric(
    "opsgym_run_budget_usd", "gauge", "What the run may spend; there if it has a budget.", "US dollars", RUN
)
RUN_PODS_PENDING = Metric(
    "opsgym_run_pods_pending",
    "gauge",
    "Pods of the run that wait for a node, an image or a container's start.",
    "pods",
    RUN,
    local=False,
)
RUN_STALLED = Metric(
    "opsgym_run_stalled",
    "gauge",
    "1 while the run's condition `Stalled` is true, by its reason; gone once that is mended.",
    "1",
    (*RUN, "reason"),
    local=False,
)
RUN_GATE = Metric(
    "opsgym_run_gate",
    "gauge",
    "1 for what the gate of the run says: `GO`, `NO-GO` or `INCONCLUSIVE`; there once that is decided.",
    "1",
    (*RUN, "verdict"),
)
RUN_REGRESSION = Metric(
    "opsgym_run_regression_ratio",
    "gauge",
    "Drop of the success rate in the worst cell against the gate's baseline, above 0 if it fell; there once decided.",
    "-1 to 1",
    RUN,
)
RUN_FINISHED = Metric(
    "opsgym_run_finished_timestamp_seconds", "gauge", "When the run ended; there once it has.", "Unix seconds", RUN
)

# Gauges of what a namespace has besides runs.

SCHEDULE_LAST_RUN = Metric(
    "opsgym_schedule_last_run_timestamp_seconds",
    "gauge",
    "Time that the schedule's latest EvalRun is for.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
SCHEDULE_LAST_SUCCESS = Metric(
    "opsgym_schedule_last_success_timestamp_seconds",
    "gauge",
    "When an EvalRun of the schedule last ended well: something is scored, and its gate, if it has one, says GO.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
SCHEDULE_NEXT_RUN = Metric(
    "opsgym_schedule_next_run_timestamp_seconds",
    "gauge",
    "When the schedule's next EvalRun is due; in the past while that is missed, not there while it is suspended.",
    "Unix seconds",
    ("namespace", "schedule"),
    local=False,
)
MODEL_IN_FLIGHT = Metric(
    "opsgym_model_in_flight", "gauge", "Episodes that may use the model now.", "episodes", ("namespace", "model")
)
MODEL_CEILING = Metric(
    "opsgym_model_ceiling",
    "gauge",
    "Episodes that may use the model at once (`maxConcurrency`).",
    "episodes",
    ("namespace", "model"),
)

# The operator itself.

RECONCILE_DURATION = Metric(
    "opsgym_reconcile_duration_seconds",
    "histogram",
    "Time that passes over a namespace took, failed ones included.",
    "seconds",
    local=False,
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60),
)
RECONCILE_ERRORS = Metric(
    "opsgym_reconcile_errors_total", "counter", "Passes that failed, by cause.", "passes", ("cause",), local=False
)
RECONCILE_LAST_SUCCESS = Metric(
    "opsgym_reconcile_last_success_timestamp_seconds",
    "gauge",
    "When a pass last ended well; `NaN` until one has. A namespace that has anything of opsgym's is looked at at least "
    "once a minute.",
    "Unix seconds",
    local=False,
)
NOTICES = Metric(
    "opsgym_notices_total",
    "counter",
    "Notices to webhooks by event, and whether they were `sent` or `failed` for good.",
    "notices",
    ("event", "outcome"),
    local=False,
)
BUILD_INFO = Metric("opsgym_build_info", "gauge", "1, with the version of opsgym that runs.", "1", ("version",))

METRICS = (
    TRIALS, ATTEMPTS, VERIFIERS, TOKENS, COST, STEPS, TOOL_CALLS, MODEL_RETRIES, RATE_LIMITS, MODEL_WAIT,
    TRIAL_DURATION, RUN_TRIALS, RUN_PROGRESS, RUN_SUCCESS, RUN_COST, RUN_BUDGET, RUN_PODS_PENDING, RUN_STALLED,
    RUN_GATE, RUN_REGRESSION, RUN_FINISHED, SCHEDULE_LAST_RUN, SCHEDULE_LAST_SUCCESS, SCHEDULE_NEXT_RUN,
    MODEL_IN_FLIGHT, MODEL_CEILING, RECONCILE_DURATION, RECONCILE_ERRORS, RECONCILE_LAST_SUCCESS, NOTICES, BUILD_INFO,
)  # fmt: skip
"""All of them, in the order of docs/metrics.md."""
