"""A process that watches as the operator does, beside nothing else.

python -m tests.operator_io.watching_process NAMESPACE...

prints, when its standard input ends: how many bytes its resident memory has grown at most since it began to watch, and
how many objects are in its cache. KUBECONFIG names the API server.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
from pathlib import Path

import kopf

from opsgym_operator.kube.cache import WATCHED, ObjectCache
from opsgym_operator.kube.settings import kopf_settings, register_login
from opsgym_operator.memory import shrink_tls_buffers

PAGE_BYTES = 4096


class _Peak:
    """The largest resident set of this process."""

    def __init__(self) -> None:
        self.bytes = 0
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while True:
            self.bytes = max(self.bytes, resident_bytes())
            time.sleep(0.01)


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * PAGE_BYTES


async def watch(namespaces: list[str]) -> tuple[int, int]:
    """Watches until the standard input ends; bytes that memory has grown at most, and objects in the cache."""
    shrink_tls_buffers()
    registry, settings, cache = kopf.OperatorRegistry(), kopf_settings(), ObjectCache(lambda _: None)
    register_login(registry)
    cache.register(registry)
    gc.collect()
    before, peak = resident_bytes(), _Peak()
    watching = kopf.operator(registry=registry, settings=settings, standalone=True, namespaces=namespaces)
    task = asyncio.create_task(watching)
    await asyncio.to_thread(sys.stdin.read)
    task.cancel()
    return peak.bytes - before, sum(len(cache.objects(kind, name)) for kind in WATCHED for name in namespaces)


def main() -> None:
    """Measures."""
    grown, objects = asyncio.new_event_loop().run_until_complete(watch(sys.argv[1:]))
    sys.stdout.write(f"{grown} {objects}\n")
    sys.stdout.flush()
    os._exit(0)  # kopf would wait for its workers


if __name__ == "__main__":
    main()
