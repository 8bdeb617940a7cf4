"""EvalRuns of the cluster.

Invariant: EvalRuns are only listed. When the API server does not answer, the last list stays and `problem` says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from opsgym_api.kinds.evalrun import EvalRunStatus
from opsgym_api.records.run import suite_label

if TYPE_CHECKING:
    from opsgym_core.kube.client import Client

LIST_SECONDS = 3.0
"""Age after which EvalRuns are listed again; all open pages share the list."""


@dataclass(frozen=True)
class ClusterRun:
    """An EvalRun."""

    run: str
    """Id of its run in the store."""
    namespace: str
    name: str
    schedule: str
    """EvalSchedule that created it; empty if none did."""
    created_at: str
    suite: str
    models: tuple[str, ...]
    phase: str
    """Its phase; `Pending` until the operator has reconciled it."""
    message: str
    """Message of the condition that explains why it does not progress, else of `Progressing`."""
    counters: Mapping[str, int]
    """Trials by outcome; empty until they are planned."""


def cluster_run(manifest: dict[str, Any]) -> ClusterRun:
    """An EvalRun from its manifest; a status that is not valid counts as empty."""
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    try:
        status = EvalRunStatus.model_validate(manifest.get("status") or {})
    except ValidationError:
        status = EvalRunStatus()
    owners = metadata.get("ownerReferences") or []
    return ClusterRun(
        run=f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}",
        namespace=metadata["namespace"],
        name=metadata["name"],
        schedule=next((owner["name"] for owner in owners if owner.get("kind") == "EvalSchedule"), ""),
        created_at=metadata["creationTimestamp"],
        suite=suite_label(spec, ""),
        models=tuple(str(model.get("name", "")) for model in spec.get("models") or ()),
        phase=status.phase or "Pending",
        message=_message(status),
        counters=status.counters,
    )


def _message(status: EvalRunStatus) -> str:
    by_type = {condition.type: condition for condition in status.conditions}
    for kind, value in (("Accepted", "False"), ("Stalled", "True"), ("Progressing", None)):
        condition = by_type.get(kind)
        if condition is not None and value in {None, condition.status} and condition.message:
            return condition.message
    return ""


class EvalRuns:
    """EvalRuns of some namespaces, listed at most every `LIST_SECONDS`.

    Args:
        client: Client of the API server.
        namespaces: Their names; all namespaces if empty.
        clock: Monotonic time in seconds.
    """

    def __init__(self, client: Client, namespaces: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._namespaces: Sequence[str | None] = namespaces or [None]
        self._clock = clock
        self._client = client
        self._listed_at = -LIST_SECONDS
        self._runs: Mapping[str, ClusterRun] = {}
        self.problem = ""
        """Why the last list failed; empty if it did not."""

    async def __aenter__(self) -> Self:
        """Opens connections."""
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes connections."""
        await self._client.__aexit__(kind, error, trace)

    async def now(self) -> Mapping[str, ClusterRun]:
        """EvalRuns by the id of their run, as of the last successful list."""
        # Imports kopf, which takes half a second: paid only in a cluster.
        from opsgym_core.kube.client import EVALRUNS, ApiError

        if self._clock() - self._listed_at >= LIST_SECONDS:
            self._listed_at = self._clock()
            try:
                lists = [await self._client.list(EVALRUNS, namespace) for namespace in self._namespaces]
            except ApiError as error:
                self.problem = str(error)
            else:
                runs = [cluster_run(manifest) for manifests in lists for manifest in manifests]
                self._runs, self.problem = {run.run: run for run in runs}, ""
        return self._runs
