"""CPU seconds of a task pod's processes under `replay/gold`, with one trial a pod and with twenty; start and memory of
pods with several gym servers.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

import psutil
from tests.support.pod_processes import MODEL, EndedProcess, PodProcesses, baked, task_ids

from opsgym_domains import registry

PODS = 3
"""Pods of one trial; their mean is shown."""
MANY = 20
OTHERS = ("csm", "hr", "email", "calendar")
"""Domains of further gym servers in a pod of a task on several."""
MIB = 1024 * 1024
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
        sizes = [_size(folder, further) for further in ((), OTHERS[:2], OTHERS)]
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
        "",
        "Pods of tasks on several gym servers, until every server is ready; proportional set sizes (PSS) then:",
        "",
        "| gym servers | start | CPU of the start | gym servers, each | Postgres and its data |",
        "| --- | --- | --- | --- | --- |",
        *sizes,
    ]


def _row(container: str, one: float, of_many: float) -> str:
    return f"| {container} | {_cpu_of(f'import {IMPORTS[container]}'):.2f} | {one:.2f} | {of_many:.2f} |"


def _size(folder: Path, further: Sequence[str]) -> str:
    """A row about a pod with further gym servers: when they are ready, and the memory that they take then."""
    began = time.monotonic()
    with PodProcesses.started(folder, further=further) as pod:
        seconds = time.monotonic() - began
        processes = {name: _descendants(process.pid) for name, process in pod.processes.items()}
        cpu = sum(sum(each.cpu_times()[:2]) for of_container in processes.values() for each in of_container)
        sizes = {name: sum(each.memory_full_info().pss for each in some) / MIB for name, some in processes.items()}
        data = sum(file.stat().st_blocks * 512 for file in (pod.volumes / "data").rglob("*") if file.is_file()) / MIB
    gyms = [size for name, size in sizes.items() if name != "postgres"]
    shown = f"{min(gyms):.0f} to {max(gyms):.0f} MiB" if further else f"{gyms[0]:.0f} MiB"
    return f"| {1 + len(further)} | {seconds:.1f} s | {cpu:.1f} s | {shown} | {sizes['postgres'] + data:.0f} MiB |"


def _descendants(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


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
