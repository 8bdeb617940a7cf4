"""Whether a spec can be run in this cluster.

Invariant: nothing is refused without naming the object and the field to mend; and nothing that would only show in a pod
is let through if it can be told here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opsgym_api.evalmodel import ModelSpec
from opsgym_api.evalrun import EvalRunSpec, ModelEntry
from opsgym_operator.config import OperatorConfig, StoreConfig
from opsgym_operator.observed import ObservedNamespace, ObservedRun
from opsgym_operator.ordering import REPLAY, model_fields, origins
from opsgym_operator.status import Reason, Situation

_BUILT_IN_REPLAYS = ("gold", "noop", "flaky")
_RECORDING = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[-._A-Za-z0-9]{1,253}")
"""A ConfigMap and one of its keys."""


@dataclass(frozen=True)
class Accepted:
    """What a run needs, found."""

    spec: EvalRunSpec
    models: Mapping[str, ModelSpec]
    """By the name that the run gives them; as they were frozen, once they are."""
    store: StoreConfig


@dataclass(frozen=True)
class _Fault:
    reason: Reason
    message: str


def accept(run: ObservedRun, namespace: ObservedNamespace, config: OperatorConfig) -> Accepted | Situation:
    """What a run needs, or why it cannot be run here."""
    spec = run.spec
    if spec is None:
        return Situation(Reason.INVALID_SPEC, "; ".join(map(str, run.problems)))
    frozen = run.stored.models if run.stored else {}
    faults = [*_stores(spec, config), *_webhooks(spec, config), *_queue(spec, namespace)]
    if not frozen:
        faults += [*_suite(spec), *_models(run.name, spec, namespace)]
    if faults:
        return Situation(faults[0].reason, "; ".join(fault.message for fault in faults))
    models = frozen or {entry.name: _resolved(entry, namespace) for entry in spec.all_models}
    return Accepted(spec, models, config.store_by_name[spec.result_store or config.default_store])


def ceiling_of(entry: ModelEntry, accepted: Accepted, namespace: ObservedNamespace) -> int:
    """Pods that may use a model at once: what its EvalModel says now, also where that has changed since the start."""
    live = namespace.models.get(entry.ref) if entry.ref is not None else None
    return (live.spec if live else accepted.models[entry.name]).max_concurrency


def _resolved(entry: ModelEntry, namespace: ObservedNamespace) -> ModelSpec:
    return entry.inline or namespace.models[entry.ref or ""].spec


def _stores(spec: EvalRunSpec, config: OperatorConfig) -> Iterator[_Fault]:
    named = {"spec.resultStore": spec.result_store}
    if spec.suite.object_store is not None:
        named["spec.suite.objectStore.store"] = spec.suite.object_store.store
    there = ", ".join(config.store_by_name)
    for field, name in named.items():
        if name is not None and name not in config.store_by_name:
            yield _Fault(Reason.STORE_NOT_FOUND, f"{field}: {name!r} is no store of this installation; stores: {there}")


def _webhooks(spec: EvalRunSpec, config: OperatorConfig) -> Iterator[_Fault]:
    there = config.notifications.by_name
    for index, name in enumerate(spec.notify):
        if name not in there:
            known = f"webhooks: {', '.join(there)}" if there else "it has none"
            message = f"spec.notify[{index}]: {name!r} is no webhook of this installation; {known}"
            yield _Fault(Reason.WEBHOOK_NOT_FOUND, message)


def _queue(spec: EvalRunSpec, namespace: ObservedNamespace) -> Iterator[_Fault]:
    name = spec.queue_name
    if name is None:
        return
    if namespace.queues is None:
        message = f"spec.queueName: {name!r} asks for Kueue, which is not installed; install it, or leave the field out"
        yield _Fault(Reason.QUEUE_NOT_FOUND, message)
    elif name not in namespace.queues:
        there = f"LocalQueues there are: {', '.join(sorted(namespace.queues))}" if namespace.queues else "it has none"
        message = f"spec.queueName: {name!r} is no LocalQueue of the namespace; {there}"
        yield _Fault(Reason.QUEUE_NOT_FOUND, message)


def _suite(spec: EvalRunSpec) -> Iterator[_Fault]:
    if spec.suite.path is not None:
        message = "spec.suite.path: a cluster cannot read files of one machine; use builtin, configMap or objectStore"
        yield _Fault(Reason.NOT_IN_CLUSTER, message)
    if spec.suite.seed_path is not None:
        message = (
            "spec.suite.seedPath: a cluster cannot read files of one machine; put seeds beside the rows, "
            "as further keys of the ConfigMap or of the store"
        )
        yield _Fault(Reason.NOT_IN_CLUSTER, message)


def _models(run: str, spec: EvalRunSpec, namespace: ObservedNamespace) -> Iterator[_Fault]:
    origin = origins(run, spec)
    for field, entry in model_fields(spec):
        fault = _unresolved(field, entry, namespace)
        if fault is not None:
            yield fault
        else:
            yield from _in_cluster(origin[entry.name], _resolved(entry, namespace))


def _unresolved(path: str, entry: ModelEntry, namespace: ObservedNamespace) -> _Fault | None:
    field = f"{path}.ref"
    if entry.ref is None or entry.ref in namespace.models:
        return None
    if entry.ref in namespace.broken_models:
        problem = namespace.broken_models[entry.ref]
        return _Fault(Reason.MODEL_INVALID, f"{field}: EvalModel {entry.ref} cannot be read: {problem}")
    known = sorted(namespace.models)
    there = f"EvalModels there are: {', '.join(known)}" if known else "there is none"
    return _Fault(Reason.MODEL_NOT_FOUND, f"{field}: {entry.ref!r} names no EvalModel of the namespace; {there}")


def _in_cluster(origin: str, model: ModelSpec) -> Iterator[_Fault]:
    """What in a model has a meaning on one machine only."""
    places = {"credentials": model.credentials}
    places |= {f"endpoints[{index}].credentials": found.credentials for index, found in enumerate(model.endpoints)}
    for field, credentials in places.items():
        if credentials is not None and credentials.secret is None:
            message = f"{origin}.{field}: names no secret; in a cluster credentials come from a Secret"
            yield _Fault(Reason.NOT_IN_CLUSTER, message)
    recording = model.model.removeprefix(REPLAY)
    if model.model.startswith(REPLAY) and recording not in _BUILT_IN_REPLAYS and not _RECORDING.fullmatch(recording):
        message = (
            f"{origin}.model: {model.model!r} names no recording that a pod can read; "
            "in a cluster it is replay/CONFIGMAP/KEY"
        )
        yield _Fault(Reason.NOT_IN_CLUSTER, message)
