"""Runs a reconciler for each namespace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.reconciler import NamespaceReconciler


class Controller:
    """Reconcilers by namespace, each started when the first object of its namespace is reported.

    One that ends, because its namespace is gone, is dropped, and another one is started if the namespace comes back.
    """

    def __init__(self) -> None:
        self.context: ControllerContext | None = None
        """Set before the watches start; changes reported earlier are ignored, since the first list repeats them."""
        self.reconcilers: dict[str, NamespaceReconciler] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ready = False

    def enqueue(self, namespace: str) -> None:
        """Requests a reconcile of a namespace."""
        if self.context is None:
            return
        if namespace not in self.reconcilers:
            reconciler = self.reconcilers[namespace] = NamespaceReconciler(namespace, self.context)
            task = asyncio.create_task(self._run(reconciler), name=f"namespace {namespace}")
            self._tasks[namespace] = task
        self.reconcilers[namespace].enqueue()

    async def _run(self, reconciler: NamespaceReconciler) -> None:
        await reconciler.run()
        # Nothing is awaited between its last look at the cache and this: a change reported later starts another one.
        del self.reconcilers[reconciler.name], self._tasks[reconciler.name]

    def running(self) -> list[tuple[str, float]]:
        """Namespaces of current reconciles, and when each began, by the monotonic clock."""
        return [
            (name, reconciler.began_at)
            for name, reconciler in self.reconcilers.items()
            if reconciler.began_at is not None
        ]

    def ready(self, namespaces: Iterable[str]) -> bool:
        """Whether each of these namespaces was synced once; remains true from then on.

        Otherwise each new EvalRun would hide the metrics of all others until its store is read.
        """
        self._ready = self._ready or all(
            name in self.reconcilers and self.reconcilers[name].synced for name in namespaces
        )
        return self._ready

    async def close(self) -> None:
        """Cancels the reconcilers; what they were doing is safe to repeat."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
