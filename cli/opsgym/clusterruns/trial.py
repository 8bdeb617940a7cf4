"""What is known of one trial of a run in a cluster, and what a person does next; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym.clusterruns.advice import TRIAL_ADVICE, explained
from opsgym.clusterruns.pods import RunPod, State
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome

INFRA_RUNBOOK = "docs/monitoring.md#opsgyminfraerrorratehigh"


@dataclass(frozen=True)
class Trial:
    """A trial: its pods that exist, and its attempts that the store has."""

    label: str
    """Cell, task and number, for people."""
    reference: str
    """`TASK/N`."""
    pods: Sequence[RunPod]
    attempts: Sequence[AttemptRecord]
    """By number; empty if the store could not be read."""

    @property
    def scored(self) -> AttemptRecord | None:
        """The attempt that its score is of."""
        return next((one for one in self.attempts if one.outcome is not None and one.outcome.scored), None)

    @property
    def live_pod(self) -> RunPod | None:
        """The pod that it is played in, or waits in."""
        return next((pod for pod in self.pods if pod.state not in (State.FAILED, State.DONE)), None)


def trial_explained(trial: Trial, evalrun: Mapping[str, Any], where: str) -> Iterator[str]:
    """Lines that say why a trial has the result that it has, or none yet, and what to do next.

    Args:
        trial: The trial.
        evalrun: The EvalRun.
        where: The run in commands: its name, and options that locate it.
    """
    if trial.scored is not None:
        yield from _scored(trial.scored, trial, where)
        return
    yield from _unscored(trial.attempts[-1:])
    if (pod := trial.live_pod or next(iter(trial.pods), None)) is not None:
        yield f"pod {pod.name}: {pod.state.text}" + (f": {pod.problem}" if pod.problem else "")
        yield f"  do: read its log: kubectl opsgym logs {where} {trial.reference}"
    elif not trial.attempts:
        yield "no attempt has started"
    if trial.live_pod is None or trial.live_pod.state is not State.RUNNING:
        yield "the run:"
        yield from (f"  {line}" for line in explained(evalrun))


def _scored(attempt: AttemptRecord, trial: Trial, where: str) -> Iterator[str]:
    reason = f" ({attempt.reason})" if attempt.reason else ""
    yield f"{attempt.outcome}{reason} in attempt {attempt.attempt}: a result of the agent, not a fault of the cluster"
    if attempt.outcome is Outcome.FAILED:
        yield f"  do: read the evidence: kubectl opsgym failures {where} --trial {trial.reference}"


def _unscored(attempts: Sequence[AttemptRecord]) -> Iterator[str]:
    for attempt in attempts:
        state = f"ended as {attempt.outcome}" if attempt.outcome else "has not ended"
        reason = f", {attempt.reason}" if attempt.reason else ""
        yield f"attempt {attempt.attempt} {state}{reason}" + (f": {attempt.message}" if attempt.message else "")
        if attempt.reason in TRIAL_ADVICE:
            yield f"  do: {TRIAL_ADVICE[attempt.reason]}"
        if attempt.outcome is Outcome.INFRA_ERROR:
            yield f"  runbook: {INFRA_RUNBOOK}"
