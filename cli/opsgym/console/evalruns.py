"""EvalRuns as the API server has them.

Invariant: they are only read, with `list`; an API server that does not answer leaves what was known, and is told of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from opsgym.report.data import suite_name
from opsgym_api.evalrun import EvalRunStatus

if TYPE_CHECKING:
    from opsgym_operator.client import Client

SECONDS = 3.0
"""How old an answer may be; every page that is open shares it."""


@dataclass(frozen=True)
class ClusterRun:
    """An EvalRun."""

    run: str
    """Its id in the store."""
    namespace: str
    name: str
    schedule: str
    """EvalSchedule that made it; empty if somebody did."""
    created_at: str
    suite: str
    models: tuple[str, ...]
    phase: str
    """One word; `Pending` until the operator has seen it."""
    message: str
    """What its conditions say needs mending or is waited for, for people."""
    counters: Mapping[str, int]
    """Trials by outcome; empty until they are planned."""


def cluster_run(manifest: dict[str, Any]) -> ClusterRun:
    """An EvalRun, from the API server's words; what of them cannot be read is left out."""
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
        suite=suite_name(spec),
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
    """EvalRuns of some namespaces, asked for at most every `SECONDS`.

    Args:
        client: Asks the API server.
        namespaces: Which; all if empty.
        clock: Seconds that only go forward.
    """

    def __init__(self, client: Client, namespaces: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._namespaces: Sequence[str | None] = namespaces or [None]
        self._clock = clock
        self._client = client
        self._asked = -SECONDS
        self._found: Mapping[str, ClusterRun] = {}
        self.problem = ""
        """Why the last question had no answer; empty if it had one."""

    async def __aenter__(self) -> Self:
        """Opens connections."""
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes them."""
        await self._client.__aexit__(kind, error, trace)

    async def now(self) -> Mapping[str, ClusterRun]:
        """EvalRuns by the id of their run, as last heard of."""
        # With kopf behind it, half a second to import: paid only in a cluster.
        from opsgym_operator.client import EVALRUNS, ApiError

        if self._clock() - self._asked >= SECONDS:
            self._asked = self._clock()
            try:
                lists = [await self._client.list(EVALRUNS, namespace) for namespace in self._namespaces]
            except ApiError as error:
                self.problem = str(error)
            else:
                runs = [cluster_run(manifest) for manifests in lists for manifest in manifests]
                self._found, self.problem = {run.run: run for run in runs}, ""
        return self._found
