"""The Kubernetes objects of a run: task Jobs, preflight Jobs, and the ConfigMaps with their orders.

Invariant: every pod here fits Pod Security `restricted`, has no service account token, and an agent's container neither
sees Postgres' socket nor any credential but those of its models and its store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from opsgym_api.evalmodel import API_VERSION
from opsgym_api.evalrun import Suite
from opsgym_api.logs import ENV_LEVEL
from opsgym_api.orders import ENV_ORDER, ENV_STORE, ENV_SUITE, ENV_SUITE_STORE, RECORDINGS, JobOrder, PreflightOrder
from opsgym_operator.config import GymImage, OperatorConfig, StoreConfig
from opsgym_operator.names import (
    ANNOTATION_CELL,
    LABEL_EVAL_MODEL,
    LABEL_MANAGED_BY,
    LABEL_MODEL,
    LABEL_PART_OF,
    LABEL_QUEUE,
    LABEL_ROLE,
    LABEL_RUN,
    LABEL_RUN_UID,
    MANAGER,
    PREFLIGHT,
    TASK,
    label_of,
)
from opsgym_operator.observed import ObservedRun
from opsgym_operator.ordering import KeyEnv, gym_container, gym_ports, resources_of

Object: TypeAlias = dict[str, Any]

USER = 10001
ORDER_FOLDER = "/etc/opsgym/order"
ORDER_KEY = "order.json"
PREFLIGHT_KEPT_S = 3600
GRACE_S = 30
"""Between SIGTERM and SIGKILL: the runner needs up to 20 to write what was spent."""
STARTUP_TRIES = 120
"""Seconds, a try each, that a sidecar may take to be ready."""
RETRIED_EXITS = list(range(100, 110))
"""Exit codes by which the runner says that another try may succeed; see `orders.Exit`."""


@dataclass(frozen=True)
class TaskJob:
    """What decides a task Job."""

    name: str
    order: JobOrder
    envs: Sequence[KeyEnv]
    """Credentials of its models."""
    recordings: Sequence[str]
    """ConfigMaps with recordings of its models."""
    eval_model: str
    """EvalModel whose slots it takes; empty if the run writes its model out."""
    parallelism: int
    retries: int
    """Tries that each index has after its first."""
    queue: str | None
    """Kueue LocalQueue."""


def order_map(run: ObservedRun, name: str, role: str, order: JobOrder | PreflightOrder) -> Object:
    """The ConfigMap that holds an order."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(run, name, {LABEL_ROLE: role}),
        "immutable": True,
        "data": {ORDER_KEY: order.model_dump_json()},
    }


def task_job(run: ObservedRun, job: TaskJob, store: StoreConfig, config: OperatorConfig) -> Object:
    """An Indexed Job that runs a chunk of a cell's trials."""
    cell = job.order.cell
    labels = {LABEL_ROLE: TASK, LABEL_MODEL: cell.model}
    if job.eval_model:
        labels[LABEL_EVAL_MODEL] = job.eval_model
    metadata = _metadata(run, job.name, labels | ({LABEL_QUEUE: job.queue} if job.queue else {}))
    metadata["annotations"] = {ANNOTATION_CELL: cell.key}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": len(job.order.trials),
            "parallelism": job.parallelism,
            "suspend": job.queue is not None,
            "backoffLimitPerIndex": job.retries,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "Count",
                        "onExitCodes": {"containerName": "agent", "operator": "In", "values": RETRIED_EXITS},
                    },
                ]
            },
            "template": {
                "metadata": {"labels": _labels(run) | labels, "annotations": {ANNOTATION_CELL: cell.key}},
                "spec": _task_pod(job, store, config),
            },
        },
    }


def _task_pod(job: TaskJob, store: StoreConfig, config: OperatorConfig) -> Object:
    gyms = list(job.order.gyms)
    resources = resources_of(gyms, config)
    ports = gym_ports(gyms, config)
    sidecars = [_postgres(config, resources["postgres"])] if "postgres" in resources else []
    sidecars += [_gym(domain, ports[domain], config, resources[gym_container(domain)]) for domain in gyms]
    volumes = [_empty("tmp-agent"), *(_empty(label_of(f"tmp-{domain}")) for domain in gyms)]
    if "postgres" in resources:
        volumes += [_memory("data", f"{config.pods.database_megabytes}Mi"), _memory("socket", "1Mi")]
    agent = {
        "name": "agent",
        "image": config.images.runner,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_runner", "task"],
        "env": [
            _env(ENV_ORDER, f"{ORDER_FOLDER}/{ORDER_KEY}"),
            *_store_env(store),
            *map(_key_env, job.envs),
            *_log_env(config),
            *_trace_env(config),
        ],
        "resources": resources["agent"],
        "securityContext": _container_security(),
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            _mount("order", ORDER_FOLDER, read_only=True),
            _mount("tmp-agent", "/tmp"),  # noqa: S108 - a volume of the container's own
            *_recording_mounts(job.recordings),
        ],
    }
    return {
        **_pod(config),
        "initContainers": sidecars,
        "containers": [agent],
        "volumes": [_order_volume(job.name), *volumes, *_recording_volumes(job.recordings)],
    }


def _postgres(config: OperatorConfig, resources: Object) -> Object:
    return {
        "name": "postgres",
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket"],
        "restartPolicy": "Always",
        "startupProbe": _startup({"exec": {"command": ["pg_isready", "-q", "-h", "/socket"]}}),
        "resources": resources,
        "securityContext": _container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [_mount("data", "/data"), _mount("socket", "/socket")],
    }


def _gym(domain: str, port: int, config: OperatorConfig, resources: Object) -> Object:
    stand_in = config.gyms.get(domain)
    return {
        "name": gym_container(domain),
        **(_stand_in(stand_in, config) if stand_in else _own_gym(domain, port, config)),
        "restartPolicy": "Always",
        "startupProbe": _startup({"httpGet": {"path": "/health", "port": port}}),
        "resources": resources,
        "securityContext": _container_security(read_only=stand_in is None),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            _mount(label_of(f"tmp-{domain}"), "/tmp"),  # noqa: S108 - a volume of the container's own
            *([] if stand_in else [_mount("socket", "/socket")]),
        ],
    }


def _own_gym(domain: str, port: int, config: OperatorConfig) -> Object:
    return {
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        # All addresses, since the kubelet's probe comes from outside of the pod; a NetworkPolicy keeps others out.
        "command": ["python", "-m", "opsgym_domains.serve", domain, "--host", "0.0.0.0", "--port", str(port)],  # noqa: S104
        "env": [
            _env("OPSGYM_POSTGRES_HOST", "/socket"),
            _env("OPSGYM_POSTGRES_USER", "postgres"),
            *_log_env(config),
        ],
    }


def _stand_in(gym: GymImage, config: OperatorConfig) -> Object:
    """A published server: it keeps its database in files of its own, so its root is not read-only."""
    return {"image": gym.image, "imagePullPolicy": config.images.pull_policy}


@dataclass(frozen=True)
class PreflightJob:
    """What decides a preflight Job."""

    name: str
    order: PreflightOrder
    envs: Sequence[KeyEnv]
    """Credentials of all models."""
    recordings: Sequence[str]
    """ConfigMaps with recordings of all models."""


def preflight_job(run: ObservedRun, job: PreflightJob, store: StoreConfig, config: OperatorConfig) -> Object:
    """A Job of one pod that checks whether the run can start, and freezes its suite."""
    suite = job.order.suite
    source = config.store_by_name[suite.object_store.store] if suite.object_store else None
    labels = {LABEL_ROLE: PREFLIGHT}
    main = {
        "name": "preflight",
        "image": config.images.runner,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_runner", "preflight"],
        "env": [
            _env(ENV_ORDER, f"{ORDER_FOLDER}/{ORDER_KEY}"),
            *([] if source else [_env(ENV_SUITE, "/suite")]),
            *_store_env(store),
            *(_store_env(source, ENV_SUITE_STORE, "OPSGYM_SUITE_") if source else []),
            *map(_key_env, job.envs),
            *_log_env(config),
        ],
        "resources": config.pods.resources.agent.model_dump(),
        "securityContext": _container_security(),
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            _mount("order", ORDER_FOLDER, read_only=True),
            _mount("tmp", "/tmp"),  # noqa: S108 - a volume of the container's own
            *([] if source else [_mount("suite", "/suite", read_only=True)]),
            *_recording_mounts(job.recordings),
        ],
    }
    pod = {
        **_pod(config),
        "initContainers": [_suite_export(suite.builtin, config)] if suite.builtin else [],
        "containers": [main],
        "volumes": [
            _order_volume(job.name),
            _empty("tmp"),
            *([] if source else [_suite_volume(suite)]),
            *_recording_volumes(job.recordings),
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(run, job.name, labels),
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": PREFLIGHT_KEPT_S,
            "template": {"metadata": {"labels": _labels(run) | labels}, "spec": pod},
        },
    }


def _suite_export(suite: str, config: OperatorConfig) -> Object:
    return {
        "name": "suite",
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_domains.suites", "export", suite, "/suite"],
        "resources": config.pods.resources.gym.model_dump(),
        "securityContext": _container_security(),
        # An unknown suite is told on stderr.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [_mount("suite", "/suite")],
    }


def _suite_volume(suite: Suite) -> Object:
    # Optional: a ConfigMap that is missing is for the preflight to tell, and no reason for its pod to hang.
    found = suite.config_map
    return _config_map("suite", found.name, optional=True) if found else _empty("suite")


def _metadata(run: ObservedRun, name: str, labels: Object) -> Object:
    owner = {
        "apiVersion": API_VERSION,
        "kind": "EvalRun",
        "name": run.name,
        "uid": run.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "name": name,
        "namespace": run.namespace,
        "labels": _labels(run) | labels,
        "ownerReferences": [owner],
    }


def _labels(run: ObservedRun) -> Object:
    return {LABEL_MANAGED_BY: MANAGER, LABEL_PART_OF: "opsgym", LABEL_RUN: run.name, LABEL_RUN_UID: run.uid}


def _pod(config: OperatorConfig) -> Object:
    """What all pods have in common."""
    pods = config.pods
    pod: Object = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "serviceAccountName": pods.service_account_name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    if config.images.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in config.images.pull_secrets]
    if pods.node_selector:
        pod["nodeSelector"] = dict(pods.node_selector)
    if pods.tolerations:
        pod["tolerations"] = [found.model_dump(by_alias=True, exclude_none=True) for found in pods.tolerations]
    if pods.priority_class_name:
        pod["priorityClassName"] = pods.priority_class_name
    return pod


def _container_security(*, read_only: bool = True) -> Object:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": read_only,
        "capabilities": {"drop": ["ALL"]},
    }


def _store_env(store: StoreConfig, url: str = ENV_STORE, prefix: str = "") -> list[Object]:
    """How a container reaches a store; with a prefix before the usual variables for a second one."""
    env = [_env(url, store.url)]
    if store.endpoint_url:
        env.append(_env(f"{prefix}AWS_ENDPOINT_URL_S3", store.endpoint_url))
    if store.region:
        env.append(_env(f"{prefix}AWS_REGION", store.region))
    if store.secret:
        env.append(_key_env(KeyEnv(f"{prefix}AWS_ACCESS_KEY_ID", store.secret, "access-key-id")))
        env.append(_key_env(KeyEnv(f"{prefix}AWS_SECRET_ACCESS_KEY", store.secret, "secret-access-key")))
    return env


def _log_env(config: OperatorConfig) -> list[Object]:
    return [] if config.log_level == "INFO" else [_env(ENV_LEVEL, config.log_level)]


def _trace_env(config: OperatorConfig) -> list[Object]:
    """How an agent's container reaches the collector, by the variables of OpenTelemetry."""
    tracing = config.tracing
    if tracing is None:
        return []
    env = [
        _env("OTEL_EXPORTER_OTLP_ENDPOINT", tracing.endpoint),
        _env("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        _env("OTEL_TRACES_SAMPLER_ARG", f"{tracing.sampling_ratio:g}"),
        _env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", str(tracing.capture_content).lower()),
    ]
    if (secret := tracing.headers_secret) is not None:
        # Optional: spans that a collector refuses are no reason for an episode not to run.
        reference = {"name": secret.name, "key": secret.key, "optional": True}
        env.append({"name": "OTEL_EXPORTER_OTLP_HEADERS", "valueFrom": {"secretKeyRef": reference}})
    return env


def _env(name: str, value: str) -> Object:
    return {"name": name, "value": value}


def _key_env(env: KeyEnv) -> Object:
    return {"name": env.name, "valueFrom": {"secretKeyRef": {"name": env.secret, "key": env.key}}}


def _startup(check: Object) -> Object:
    return {**check, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": STARTUP_TRIES}


def _mount(name: str, path: str, *, read_only: bool = False) -> Object:
    return {"name": name, "mountPath": path, **({"readOnly": True} if read_only else {})}


def _order_volume(name: str) -> Object:
    return _config_map("order", name, optional=False)


def _config_map(volume: str, name: str, *, optional: bool) -> Object:
    return {"name": volume, "configMap": {"name": name, **({"optional": True} if optional else {})}}


def _empty(name: str) -> Object:
    return {"name": name, "emptyDir": {}}


def _memory(name: str, limit: str) -> Object:
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": limit}}


def _recording_volumes(maps: Sequence[str]) -> list[Object]:
    return [_config_map(f"recordings-{number}", name, optional=True) for number, name in enumerate(maps)]


def _recording_mounts(maps: Sequence[str]) -> list[Object]:
    return [_mount(f"recordings-{n}", f"{RECORDINGS}/{name}", read_only=True) for n, name in enumerate(maps)]
