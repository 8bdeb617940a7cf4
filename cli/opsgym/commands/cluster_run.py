"""`opsgym status`, `why` and `logs`: a run in a cluster, for the person who looks after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from opsgym.cluster import Cluster, get_evalrun, get_objects, read_log
from opsgym.clusterruns.advice import UNSEEN, condition_text, explained
from opsgym.clusterruns.pods import RUN_UID, Container, RunPod, pods_of
from opsgym.clusterruns.trial import Trial, trial_explained
from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table
from opsgym.local.repeat import TrialSelection, cell_text, select_trial
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.store_layout import RunKeys, is_attempt_record
from opsgym_core.common.foreign import one_line, visible
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.objects import read_object

MOST_PODS = 30
"""Pods that a status lists, those that need a look first."""
PODS = (
    Column("pod", Kind.TEXT, "pod"),
    Column("cell", Kind.TEXT, "cell"),
    Column("trials", Kind.TEXT, "trials"),
    Column("state", Kind.TEXT, "state"),
    Column("node", Kind.TEXT, "node"),
    Column("created", Kind.TEXT, "created"),
)
ATTEMPTS = (
    Column("attempt", Kind.COUNT, "attempt"),
    Column("outcome", Kind.TEXT, "outcome"),
    Column("reason", Kind.TEXT, "reason"),
    Column("started", Kind.TEXT, "started"),
    Column("seconds", Kind.SECONDS, "time"),
    Column("steps", Kind.COUNT, "steps"),
    Column("cost", Kind.DOLLARS, "cost"),
)


@dataclass(frozen=True)
class Request:
    """What the user names."""

    run: str
    """Name of the EvalRun."""
    trial: str | None
    """`TASK` or `TASK/N`."""
    cell: str | None
    """Model/agent/mode/domain, or the first parts of it; None if only one cell runs the task."""
    cluster: Cluster


@dataclass(frozen=True)
class LogOptions:
    """Which lines of which log."""

    container: str | None
    """None for all containers that have started."""
    tail: int
    """Lines of each container; -1 for all."""
    follow: bool
    """Whether to go on with new lines until the container ends."""
    previous: bool
    """Whether to read the log from before the last start of a container."""


@dataclass(frozen=True)
class _Run:
    """An EvalRun and its pods."""

    evalrun: Mapping[str, Any]
    pods: Sequence[RunPod]
    cluster: Cluster
    """With the EvalRun's namespace."""

    @property
    def where(self) -> str:
        """The run in commands."""
        return " ".join([self.evalrun["metadata"]["name"], *self.cluster.options])


def status(request: Request) -> int:
    """Prints the conditions and pods of a run, or the pods and attempts of a trial.

    Raises:
        InputError: There is no such run or trial.
        ClusterError: The cluster cannot be queried.
    """
    run = _read_run(request)
    trial = _read_trial(run, request)
    click.echo(_headline(run) if trial is None else trial.label)
    if trial is None:
        conditions = run.evalrun.get("status", {}).get("conditions", ())
        _print_lines(map(_dated, conditions) if conditions else [UNSEEN])
    _print_pods(run.pods if trial is None else trial.pods)
    if trial is not None and trial.attempts:
        Table(ATTEMPTS, [_attempt_row(one) for one in trial.attempts]).for_console().print(console())
        _print_lines(f"attempt {one.attempt}: {one.message}" for one in trial.attempts if one.message)
    return Exit.OK


def why(request: Request) -> int:
    """Prints why a run or a trial is as it is, and what to do next.

    Raises:
        InputError: There is no such run or trial.
        ClusterError: The cluster cannot be queried.
    """
    run = _read_run(request)
    trial = _read_trial(run, request)
    click.echo(_headline(run) if trial is None else trial.label)
    _print_lines(explained(run.evalrun) if trial is None else trial_explained(trial, run.evalrun, run.where))
    return Exit.OK


def logs(request: Request, options: LogOptions) -> int:
    """Prints the logs of the pod of a trial, or of the pod of a run that needs a look most.

    Raises:
        InputError: There is no such run, trial or container, or it has no pod.
        ClusterError: The cluster cannot be queried.
    """
    run = _read_run(request)
    trial = _read_trial(run, request)
    pods = run.pods if trial is None else trial.pods
    if not pods:
        gone = "has no pod: none was started, or it has ended and is gone; `kubectl opsgym why` shows what was recorded"
        raise InputError(request.run, [Problem(request.trial or "", gone)])
    pod = (trial.live_pod if trial else None) or pods[0]
    click.echo(f"pod {pod.name} ({pod.work}): {pod.state.text}, the first of {len(pods)}", err=True)
    for container in _chosen(pod, options):
        _print_log(pod, container, run.cluster, options)
    return Exit.OK


def _read_run(request: Request) -> _Run:
    evalrun = get_evalrun(request.run, request.cluster)
    metadata = evalrun["metadata"]
    cluster = Cluster(metadata["namespace"], request.cluster.context)
    return _Run(evalrun, pods_of(metadata["uid"], get_objects(f"{RUN_UID}={metadata['uid']}", cluster)), cluster)


def _read_trial(run: _Run, request: Request) -> Trial | None:
    if request.trial is None:
        return None
    try:
        store, record = RunLocator(cluster=run.cluster).load_record(request.run)
        selection = select_trial(record, request.trial, request.cell, "TRIAL")
        attempts = _attempts(store, record.run, selection)
    except StoreError as error:
        lines = (f"warning: attempts are not shown: {error}", *getattr(error, "__notes__", ()))
        click.echo(visible("\n".join(lines)), err=True)
        selection, attempts = _select_by_pods(run.pods, request), []
    pods = [pod for pod in run.pods if pod.cell == selection.cell and pod.plays(selection.task_id, selection.trial)]
    return Trial(selection.label, f"{selection.task_id}/{selection.trial}", pods, attempts)


def _attempts(store: Store, run: str, trial: TrialSelection) -> list[AttemptRecord]:
    keys = store.keys(RunKeys(run).trial(trial.cell, trial.task_id, trial.trial).attempts)
    records = (read_object(store, key, AttemptRecord) for key in keys if is_attempt_record(key))
    return sorted((one for one in records if one is not None), key=lambda one: one.attempt)


def _select_by_pods(pods: Sequence[RunPod], request: Request) -> TrialSelection:
    """The trial among those that pods play now, where the store does not say which there are."""
    task_id, _, number = (request.trial or "").partition("/")
    trial = int(number) if number.isdecimal() else 0
    cells = [pod.cell for pod in pods if pod.cell and pod.plays(task_id, trial) and _starts(pod.cell, request.cell)]
    if len(set(cells)) != 1:
        names = ", ".join(sorted({cell_text(cell) for cell in cells}))
        problem = f"is played in several cells; select one with --cell: {names}" if cells else "is in no pod now"
        raise InputError(request.run, [Problem(f"{task_id}/{trial}", problem)])
    return TrialSelection(cells[0], task_id, trial)


def _starts(cell: Cell, prefix: str | None) -> bool:
    return f"{cell_text(cell)}/".startswith(f"{prefix}/" if prefix else "")


def _headline(run: _Run) -> str:
    state = run.evalrun.get("status") or {}
    metadata = run.evalrun["metadata"]
    parts = [
        state.get("phase"),
        f"{state['progress']} scored" if state.get("progress") else None,
        f"{state['notScored']} not scored" if state.get("notScored") else None,
        state.get("cost"),
    ]
    return f"{metadata['namespace']}/{metadata['name']}: {', '.join(filter(None, parts)) or 'no status'}"


def _dated(condition: Mapping[str, Any]) -> str:
    since = condition.get("lastTransitionTime")
    return condition_text(condition) + (f" (since {since})" if since else "")


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        click.echo(f"{indent}{one_line(line)}")


def _print_pods(pods: Sequence[RunPod]) -> None:
    if not pods:
        click.echo("no pods")
        return
    Table(PODS, [_pod_row(pod) for pod in pods[:MOST_PODS]]).for_console().print(console())
    _print_lines(f"{pod.name}: {pod.problem}" for pod in pods[:MOST_PODS] if pod.problem)
    if len(pods) > MOST_PODS:
        click.echo(f"and {len(pods) - MOST_PODS} more pods, {pods[MOST_PODS].state.text} and later states")


def _pod_row(pod: RunPod) -> Mapping[str, Any]:
    return {
        "pod": pod.name,
        "cell": cell_text(pod.cell) if pod.cell else "",
        "trials": pod.work,
        "state": pod.state.text,
        "node": pod.node,
        "created": pod.created_at,
    }


def _attempt_row(attempt: AttemptRecord) -> Mapping[str, Any]:
    return {
        "attempt": attempt.attempt,
        "outcome": attempt.outcome or "not ended",
        "reason": attempt.reason,
        "started": attempt.timings.started_at,
        "seconds": attempt.timings.total_s,
        "steps": attempt.steps,
        "cost": attempt.cost_usd,
    }


def _chosen(pod: RunPod, options: LogOptions) -> Sequence[Container]:
    """The containers whose logs are printed; a log that is followed is one, by default the last container's."""
    if options.container is None:
        return pod.containers[-1:] if options.follow else pod.containers
    chosen = [one for one in pod.containers if one.name == options.container]
    if not chosen:
        names = ", ".join(one.name for one in pod.containers)
        raise InputError(pod.name, [Problem("--container", f"unknown container {options.container!r}; it has {names}")])
    return chosen


def _print_log(pod: RunPod, container: Container, cluster: Cluster, options: LogOptions) -> None:
    if not container.started or (options.previous and not container.restarts):
        missing = "has not started" if not container.started else "was not started again"
        click.echo(f"{container.name}: {missing} {one_line(container.problem)}".rstrip(), err=True)
        return
    switches = {"--follow": options.follow, "--previous": options.previous}
    chosen = [f"--tail={options.tail}", *(switch for switch, given in switches.items() if given)]
    for line in read_log(pod.name, container.name, cluster, chosen):
        click.echo(f"{container.name}: {visible(line.rstrip(chr(10)))}")
