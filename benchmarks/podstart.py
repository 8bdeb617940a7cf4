"""CPU seconds of a task pod's processes under `replay/gold`, with one trial a pod and with twenty."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from tests.support.pod_processes import MODEL, EndedProcess, PodProcesses, baked, task_ids

from opsgym_domains import registry

PODS = 3
"""Pods of one trial; their mean is shown."""
MANY = 20
IMPORTS = {
    "gym server": "opsgym_domains.serve",
    "agent": "opsgym_runner.pod.task",
    "Postgres": "opsgym_domains.postgres",
}
LITELLM = f"import {IMPORTS['agent']}; from opsgym_runner.models.litellm_lib import load_litellm; load_litellm()"
"""What a model costs that needs litellm."""


async def measure() -> list[str]:
    """Lines of the report."""
    return await asyncio.to_thread(_report)


def _report() -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = baked(Path(name), registry.domains())
        tasks = task_ids()
        preflight = _preflight(folder)
        alone = [_pod(folder, 1, [(task, 0)]) for task in tasks[:PODS]]
        together = _pod(
            folder, MANY, [(tasks[number % len(tasks)], 1 + number // len(tasks)) for number in range(MANY)]
        )
    one = {container: mean(pod[container] for pod in alone) for container in alone[0]}
    litellm = _cpu_of(LITELLM) - _cpu_of(f"import {IMPORTS['agent']}")
    return [
        f"CPU seconds of a trial; means of {PODS} pods of one trial, and of one pod of {MANY}:",
        "",
        f"| container | of it imports | `trialsPerPod: 1` | `trialsPerPod: {MANY}` |",
        "| --- | --- | --- | --- |",
        *(_row(container, one[container], together[container] / MANY) for container in IMPORTS),
        f"| together | | {sum(one.values()):.2f} | {sum(together.values()) / MANY:.2f} |",
        "",
        f"A model that needs litellm costs a pod another {litellm:.1f} s; a run's preflight takes {preflight:.1f} s.",
    ]


def _row(container: str, one: float, of_many: float) -> str:
    return f"| {container} | {_cpu_of(f'import {IMPORTS[container]}'):.2f} | {one:.2f} | {of_many:.2f} |"


def _preflight(folder: Path) -> float:
    with PodProcesses.started(folder) as pod:
        return _done(pod.preflight()).cpu_s


def _pod(folder: Path, trials_per_pod: int, trials: Sequence[tuple[str, int]]) -> Mapping[str, float]:
    """CPU seconds of each container of a pod that plays these tasks and trial numbers."""
    with PodProcesses.started(folder, trials_per_pod) as pod:
        refs = [{"task_id": task_id, "trial": trial} for task_id, trial in trials]
        agent = _done(pod.play([], trials=refs, model=MODEL))
    ended = {"Postgres": pod.ended["postgres"], "gym server": pod.ended["gym"], "agent": agent}
    return {container: process.cpu_s for container, process in ended.items()}


def _done(process: EndedProcess) -> EndedProcess:
    if process.code != 0:
        raise RuntimeError(f"exit code {process.code}:\n{process.log[-3000:]}")
    return process


def _cpu_of(code: str) -> float:
    """CPU seconds of an interpreter that runs some code."""
    process = subprocess.Popen([sys.executable, "-c", code])
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_utime + used.ru_stime
