"""Measures durations, and CPU time of processes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

import psutil


async def alternate(rounds: int, *actions: Callable[[int], Awaitable[object]]) -> list[list[float]]:
    """Durations of actions in seconds, measured in alternation so that other load on the machine affects all of them.

    Args:
        rounds: Number of times that each action runs.
        actions: Actions; each is called with the number of the round.
    """
    taken: list[list[float]] = [[] for _ in actions]
    for number in range(rounds):
        for times, action in zip(taken, actions, strict=True):
            started = time.perf_counter()
            await action(number)
            times.append(time.perf_counter() - started)
    return taken


def p50(times: Sequence[float]) -> float:
    """Median."""
    return statistics.median(times)


def p99(times: Sequence[float]) -> float:
    """99th percentile."""
    return sorted(times)[int(len(times) * 0.99)]


def milliseconds(seconds: float) -> str:
    """A duration as text for tables."""
    return f"{seconds * 1000:.2f} ms"


def cpu_seconds(pid: int) -> dict[str, float]:
    """CPU seconds used so far by the process itself (`self`) and by its descendants together (`children`)."""
    process = psutil.Process(pid)
    own = process.cpu_times()
    children = own.children_user + own.children_system
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # Processes that have ended, such as a Postgres backend, count in the process that waited for them.
        children += times.user + times.system + times.children_user + times.children_system
    return {"self": own.user + own.system, "children": children}
