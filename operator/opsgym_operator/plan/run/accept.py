"""Whether the spec of an EvalRun can run in this cluster.

Invariant: every refusal names the object and the field to fix; whatever can be checked without a pod is checked here,
before any pod starts. A frozen run is refused only for its result store, for credentials that are not allowed, since
its models are read from the store, for pods that are not allowed, since without their profile they might run where they
must not, and for a held-out seed that is gone, since its rows do not open: nothing else of the installation stops it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from opsgym_api.kinds.credentials import named_credentials, secret_parameters
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, ModelEntry, PodOptions
from opsgym_api.validation import problems_of
from opsgym_operator.config import CredentialsConfig, OperatorConfig
from opsgym_operator.observe.objects import ObservedNamespace, ObservedRun
from opsgym_operator.plan.desired import ResolvedSpec
from opsgym_operator.plan.run.quota import Size, too_large
from opsgym_operator.plan.status.status import Reason, RunSummary
from opsgym_operator.pod_template import OWN_METADATA

REPLAY = "replay/"
"""Prefix of model names that replay recorded answers."""
_BUILT_IN_REPLAYS = ("gold", "noop", "flaky")
_RECORDING = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[-._A-Za-z0-9]{1,253}")
"""Name of a ConfigMap and one of its keys."""


@dataclass(frozen=True)
class _Refusal:
    """Why a spec cannot run in this cluster."""

    reason: Reason
    message: str


def accept(run: ObservedRun, namespace: ObservedNamespace, config: OperatorConfig) -> ResolvedSpec | RunSummary:
    """The run's spec with its references resolved, or why it cannot run in this cluster."""
    spec = run.spec
    if spec is None:
        return RunSummary(Reason.INVALID_SPEC, "; ".join(map(str, run.problems)))
    try:
        frozen_models = run.stored.models if run.stored else {}
    except ValidationError as error:
        return RunSummary(Reason.INVALID_SPEC, _unreadable(run, error))
    # A run with Jobs is frozen, also while its store is not read: models and queues that changed since do not stop it.
    frozen = bool(frozen_models) or (run.stored is None and bool(namespace.jobs_by_run.get(run.uid)))
    refusals = [*_stores(run.namespace, spec, config, frozen=frozen)]
    refusals += [*_pods(run.namespace, spec.pods or PodOptions(), config), *_held_out(spec, config)]
    if not frozen:
        if excess := too_large(Size(spec.combinations), config.quota_of(run.namespace)):
            refusals.append(_Refusal(Reason.TOO_LARGE, excess))
        refusals += [*_queue(spec, namespace), *_suite(spec), *_agents(spec), *_models(run.name, spec, namespace)]
    models = frozen_models
    if not frozen:
        models = {entry.name: _resolve(entry, namespace) for entry in spec.all_models if _is_known(entry, namespace)}
    refusals += _credentials(run.name, spec, models, config)
    if refusals:
        return RunSummary(refusals[0].reason, "; ".join(refusal.message for refusal in refusals))
    return ResolvedSpec(spec, models, config.store_by_name[spec.result_store or config.default_store])


def _unreadable(run: ObservedRun, error: ValidationError) -> str:
    """What to do about a frozen spec of another version."""
    problems = "; ".join(map(str, problems_of(error, "spec", EvalRunSpec)))
    author = run.stored.record.opsgym if run.stored and run.stored.record else ""
    return f"run.json is not readable by this version: {problems}; it was written by opsgym {author}, which can go on"


def ceiling_of(entry: ModelEntry, resolved: ResolvedSpec, namespace: ObservedNamespace) -> int:
    """Pods that may use a model at once, as its EvalModel says now, even if that has changed since the run started."""
    live = namespace.models.get(entry.ref) if entry.ref is not None else None
    return (live.spec if live else resolved.models[entry.name]).max_concurrency


def model_fields(spec: EvalRunSpec) -> Iterator[tuple[str, ModelEntry]]:
    """Every model of a run with the field that names it; the evaluated models first."""
    for field, entries in (("models", spec.models), ("supportingModels", spec.supporting_models)):
        for index, entry in enumerate(entries):
            yield f"spec.{field}[{index}]", entry


def model_origins(run: str, spec: EvalRunSpec) -> dict[str, str]:
    """Object and field that declare each model, by the model's name in the run."""
    return {
        entry.name: f"EvalModel {entry.ref}: spec" if entry.ref else f"EvalRun {run}: {field}.inline"
        for field, entry in model_fields(spec)
    }


def _resolve(entry: ModelEntry, namespace: ObservedNamespace) -> ModelSpec:
    return entry.inline or namespace.models[entry.ref or ""].spec


def _stores(namespace: str, spec: EvalRunSpec, config: OperatorConfig, *, frozen: bool) -> Iterator[_Refusal]:
    stores = config.stores_of(namespace)
    configured = ", ".join(stores) or "none"
    if spec.result_store is None and config.default_store not in stores:
        message = f"spec.resultStore: the namespace may not use the default store; name one of its stores: {configured}"
        yield _Refusal(Reason.STORE_NOT_FOUND, message)
    source = None if frozen else spec.suite.object_store
    named = {"spec.resultStore": spec.result_store, "spec.suite.objectStore.store": source and source.store}
    for field, name in named.items():
        if name is not None and name not in stores:
            message = f"{field}: unknown store {name!r}; stores of the namespace: {configured}"
            yield _Refusal(Reason.STORE_NOT_FOUND, message)
    store = stores.get(source.store) if source else None
    if source is not None and store is not None and not config.may_read_suite(store, source.key, namespace):
        message = (
            f"spec.suite.objectStore.key: store {store.name!r} is shared, and {source.key!r} is not a suite of this "
            f"namespace; put it below suites/{namespace}/, or have its prefix added to the store's sharedSuites"
        )
        yield _Refusal(Reason.SUITE_NOT_ALLOWED, message)


def _pods(namespace: str, options: PodOptions, config: OperatorConfig) -> Iterator[_Refusal]:
    profiles = config.profiles_of(namespace)
    if options.profile is not None and options.profile not in profiles:
        existing = ", ".join(sorted(profiles)) or "none"
        message = f"spec.pods.profile: unknown pod profile {options.profile!r}; profiles of the namespace: {existing}"
        yield _Refusal(Reason.POD_PROFILE_NOT_FOUND, message)
    for field, keys, allowed in (
        ("labels", options.labels, config.pods.allowed_labels),
        ("annotations", options.annotations, config.pods.allowed_annotations),
    ):
        if refused := sorted(key for key in keys if not _may_set(key, allowed)):
            listed = ", ".join(f"{key}…" if key.endswith("/") else key for key in allowed) or "none"
            message = f"spec.pods.{field}: {', '.join(refused)}: runs may not set this here; allowed keys: {listed}"
            yield _Refusal(Reason.PODS_NOT_ALLOWED, message)


def _may_set(key: str, allowed: Sequence[str]) -> bool:
    beginnings = tuple(beginning for beginning in allowed if beginning.endswith("/"))
    return not OWN_METADATA.match(key) and (key in allowed or key.startswith(beginnings))


def unknown_webhooks(run: ObservedRun, config: OperatorConfig) -> str:
    """Webhooks of a run that the installation does not have, which does not stop the run; empty if it has all."""
    configured = ", ".join(config.notifications.by_name) or "none"
    return "; ".join(
        f"spec.notify[{index}]: unknown webhook {name!r} is not notified; configured webhooks: {configured}"
        for index, name in enumerate(run.spec.notify if run.spec else ())
        if name not in config.notifications.by_name
    )


def _queue(spec: EvalRunSpec, namespace: ObservedNamespace) -> Iterator[_Refusal]:
    name = spec.queue_name
    if name is None:
        return
    if namespace.queue_problem:
        message = f"spec.queueName: the namespace's LocalQueues cannot be listed: {namespace.queue_problem}"
        yield _Refusal(Reason.QUEUE_NOT_FOUND, message)
    elif namespace.queues is None:
        message = f"spec.queueName: queue {name!r} requires Kueue, which is not installed; install it or omit the field"
        yield _Refusal(Reason.QUEUE_NOT_FOUND, message)
    elif name not in namespace.queues:
        existing = ", ".join(sorted(namespace.queues)) or "none"
        message = f"spec.queueName: unknown LocalQueue {name!r}; LocalQueues of the namespace: {existing}"
        yield _Refusal(Reason.QUEUE_NOT_FOUND, message)
    priority, classes = spec.queue_priority_class, namespace.priority_classes
    if priority is not None and classes is not None and priority not in classes:
        existing = ", ".join(sorted(classes)) or "none"
        message = (
            f"spec.queuePriorityClass: unknown WorkloadPriorityClass {priority!r}; those of the cluster: {existing}"
        )
        yield _Refusal(Reason.PRIORITY_CLASS_NOT_FOUND, message)


def _held_out(spec: EvalRunSpec, config: OperatorConfig) -> Iterator[_Refusal]:
    if spec.suite.held_out and config.held_out_secret is None:
        message = (
            "spec.suite.heldOut: this installation has no held-out seed; have heldOut.secret set in its Helm values, "
            "or use variant"
        )
        yield _Refusal(Reason.SUITE_NOT_ALLOWED, message)


def _suite(spec: EvalRunSpec) -> Iterator[_Refusal]:
    if spec.suite.path is not None:
        message = "spec.suite.path: a cluster cannot read local files; use builtin, configMap or objectStore"
        yield _Refusal(Reason.NOT_IN_CLUSTER, message)
    if spec.suite.seed_path is not None:
        message = (
            "spec.suite.seedPath: a cluster cannot read local files; put the seeds beside the rows, "
            "as further keys of the ConfigMap or of the store"
        )
        yield _Refusal(Reason.NOT_IN_CLUSTER, message)


def _agents(spec: EvalRunSpec) -> Iterator[_Refusal]:
    for index, agent in enumerate(spec.agents):
        if agent.command:
            message = (
                f"spec.agents[{index}].command: a cluster runs no programs as agents; play the run on one machine "
                "(opsgym run), or name an orchestrator"
            )
            yield _Refusal(Reason.NOT_IN_CLUSTER, message)


def _models(run: str, spec: EvalRunSpec, namespace: ObservedNamespace) -> Iterator[_Refusal]:
    origins = model_origins(run, spec)
    for field, entry in model_fields(spec):
        refusal = _unresolved(f"{field}.ref", entry, namespace)
        if refusal is not None:
            yield refusal
        else:
            yield from _local_only(origins[entry.name], _resolve(entry, namespace))


def _is_known(entry: ModelEntry, namespace: ObservedNamespace) -> bool:
    return entry.inline is not None or entry.ref in namespace.models


def _credentials(
    run: str, spec: EvalRunSpec, models: Mapping[str, ModelSpec], config: OperatorConfig
) -> Iterator[_Refusal]:
    """Credentials that the models of a run must not use here."""
    origins = model_origins(run, spec)
    for _, entry in model_fields(spec):
        if entry.name in models:
            problems = _credential_problems(models[entry.name], config, inline=entry.inline is not None)
            for field, problem in problems:
                yield _Refusal(Reason.CREDENTIALS_NOT_ALLOWED, f"{origins[entry.name]}.{field}: {problem}")


def _credential_problems(model: ModelSpec, config: OperatorConfig, *, inline: bool) -> Iterator[tuple[str, str]]:
    """Fields and problems."""
    for field, credentials in dict(named_credentials(model)).items():
        secret = credentials.secret
        if secret is None:
            continue
        if inline and not config.credentials.allow_inline:
            yield field, "an EvalRun may not name Secrets here; name an EvalModel that has the credentials in ref"
        elif secret in config.reserved_secrets:
            yield field, f"Secret {secret!r} is for {config.reserved_secrets[secret]}; put a model's key into its own"
        elif not config.credentials.allows(secret):
            yield field, f"Secret {secret!r} is not among those for models; {_allowed_secrets(config.credentials)}"
    for parameter in secret_parameters(model.parameters):
        problem = "credentials do not belong in a document; name a Secret in credentials or endpoints[].headers"
        yield f"parameters.{parameter}", problem


def _allowed_secrets(credentials: CredentialsConfig) -> str:
    names = [*credentials.secret_names, *(f"{prefix}…" for prefix in credentials.secret_prefixes)]
    return f"allowed are {', '.join(names)}; the administrator extends credentials.secretNames or secretPrefixes"


def _unresolved(field: str, entry: ModelEntry, namespace: ObservedNamespace) -> _Refusal | None:
    if entry.ref is None or entry.ref in namespace.models:
        return None
    if entry.ref in namespace.broken_models:
        problem = namespace.broken_models[entry.ref]
        return _Refusal(Reason.MODEL_INVALID, f"{field}: EvalModel {entry.ref} is invalid: {problem}")
    existing = ", ".join(sorted(namespace.models)) or "none"
    message = f"{field}: unknown EvalModel {entry.ref!r}; EvalModels of the namespace: {existing}"
    return _Refusal(Reason.MODEL_NOT_FOUND, message)


def _local_only(origin: str, model: ModelSpec) -> Iterator[_Refusal]:
    """Fields of a model that only local mode supports."""
    for field, credentials in named_credentials(model):
        if credentials.secret is None:
            message = f"{origin}.{field}: secret is missing; in a cluster credentials come from a Secret"
            yield _Refusal(Reason.NOT_IN_CLUSTER, message)
    recording = model.model.removeprefix(REPLAY)
    if model.model.startswith(REPLAY) and recording not in _BUILT_IN_REPLAYS and not _RECORDING.fullmatch(recording):
        message = (
            f"{origin}.model: {model.model!r} is not a recording that a pod can read; "
            "in a cluster the form is replay/CONFIGMAP/KEY"
        )
        yield _Refusal(Reason.NOT_IN_CLUSTER, message)
