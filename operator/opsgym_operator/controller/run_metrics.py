"""Shows runs and models of a namespace in the metrics."""

from __future__ import annotations

from collections import Counter

from opsgym_api.kinds.evalrun import EvalRunStatus
from opsgym_core.metrics.registry import Metrics, RunCondition
from opsgym_operator.observe.labels import LABEL_EVAL_MODEL
from opsgym_operator.observe.parse import condition_of, label, pod_ended
from opsgym_operator.observe.snapshot import NamespaceSnapshot, RunSnapshot
from opsgym_operator.plan.desired import Desired
from opsgym_operator.state.run_state import RunState


def show_run(
    metrics: Metrics, namespace: str, run: RunSnapshot, desired: Desired, state: RunState | None
) -> EvalRunStatus:
    """Shows a run as its plan leaves it.

    Returns:
        The status that is shown.
    """
    status = desired.status or run.status
    stalled = condition_of(status, "Stalled")
    condition = RunCondition(
        stalled=stalled.reason if stalled is not None and stalled.status == "True" else "",
        pods_pending=run.pending_pods,
        finished_at=status.finished_at,
    )
    metrics.show_condition(namespace, run.name, condition)
    if state is not None:
        gate = state.gate if status.gate else None
        metrics.show_gate(namespace, run.name, gate.verdict if gate else None, gate.regression if gate else None)
        if (figures := state.figures) is not None:
            metrics.show_run(namespace, run.name, figures)
    return status


def show_models(metrics: Metrics, namespace: str, snapshot: NamespaceSnapshot) -> None:
    """Shows the slots of the namespace's EvalModels that are in use, and their ceilings."""
    models = (label(pod, LABEL_EVAL_MODEL) for pod in snapshot.pods if not pod_ended(pod))
    in_use = Counter(model for model in models if model)
    metrics.show_models(
        namespace, in_use, {name: model.spec.max_concurrency for name, model in snapshot.models.items()}
    )
