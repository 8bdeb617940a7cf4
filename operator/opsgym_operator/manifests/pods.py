"""Pod templates of task Jobs and preflight Jobs.

Invariant: every pod satisfies Pod Security `restricted` and has no token of the API server; the agent's container sees
neither the socket of Postgres nor any credential except those of its models, its store and its gym servers.
"""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_api.jobs.heartbeat import ENV_HEARTBEAT
from opsgym_api.jobs.job_spec import (
    ENV_JOB_SPEC,
    ENV_STORE,
    ENV_SUITE,
    ENV_SUITE_STORE,
    RECORDINGS,
    STORE_ENV_PREFIX,
    SUITE_ENV_PREFIX,
)
from opsgym_api.kinds.credentials import AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
from opsgym_api.kinds.evalrun import Suite
from opsgym_api.records.store_gateway import ENV_STORE_TOKEN, store_url
from opsgym_core.common.logs import ENV_LEVEL
from opsgym_core.planning.held_out import ENV_SEED
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import OperatorConfig
from opsgym_operator.manifests.job_spec import (
    ADMIN_FOLDER,
    KeyEnv,
    admin_token_file,
    gym_container,
    gym_ports,
    key_envs,
    models_of,
    own_gyms,
    recordings,
    resources_of,
)
from opsgym_operator.manifests.liveness import HEARTBEAT_FILE, liveness_probe
from opsgym_operator.manifests.outbound import (
    added_env,
    added_mounts,
    ca_volumes,
    env_from,
    outbound_env,
    outbound_mounts,
)
from opsgym_operator.observe.labels import JOB_SPEC_KEY, PREFLIGHT, label_of
from opsgym_operator.observe.parse import Manifest
from opsgym_operator.plan.desired import PreflightJob, TaskJob
from opsgym_operator.pod_template import PodTemplate, merged

AGENT = "agent"
"""Container that runs the episode."""
JOB_SPEC_FOLDER = "/etc/opsgym/job"
JOB_SPEC_VOLUME = "job-spec"
ADMIN_VOLUME = "admin"
"""Volume in memory with the tokens of the gym servers' admin endpoints, which the servers write."""
GATEWAY_VOLUME = "store-gateway"
GATEWAY_FOLDER = "/var/run/secrets/opsgym.dev/store-gateway"
"""Where the containers that reach stores see the pod's token for the store gateway."""
GATEWAY_TOKEN = "token"  # noqa: S105 - the name of a file
GATEWAY_TOKEN_S = 3600
"""Seconds for which such a token is valid; the kubelet replaces it earlier, and pods outlive an API server that is away
for less."""
READY_FILE = "/tmp/ready"  # noqa: S108 - a volume of the container's own
"""Where a gym server says that it accepts requests; the kubelet cannot reach its loopback address."""
GRACE_S = 30
"""Seconds between SIGTERM and SIGKILL: the runner needs up to 20 to write what was spent."""
WAITS_S = 3 * 3600
"""Seconds of a task pod that do not count as the task's time: start, start gate, rate limits, outages of the store."""
UNLIMITED_DEADLINE_S = 24 * 3600
"""Deadline of a task pod whose agent has no time limit."""
PREFLIGHT_DEADLINE_S = 900
"""Deadline of a preflight pod, which waits up to five minutes for the store."""
SKIP_IDENTITY = "eks.amazonaws.com/skip-containers"
"""Annotation by which EKS gives containers no credentials of the pod's service account."""
HELD_OUT_KEY = "seed"
"""Key of the held-out seed in its Secret."""
HELD_OUT_ROWS = "128Mi"
"""Size limit of the rows of a held-out suite, which no disk gets; those of the largest suite are 21.3 MB."""
PLACEMENT = {
    "node_selector", "tolerations", "affinity", "topology_spread_constraints", "priority_class_name",
    "runtime_class_name", "scheduler_name",
}  # fmt: skip
"""Fields of a template that are fields of the pod's spec."""
STARTUP_TRIES = 120
"""Seconds, one try each, within which a sidecar must be ready."""


def task_pod(job: TaskJob, config: OperatorConfig) -> Manifest:
    """The pod of a task Job: Postgres and gym servers as sidecars, then the agent."""
    models = models_of(job)
    resources, ports = resources_of(job.gyms, config), gym_ports(job.gyms, config)
    sidecars = [_postgres(job, config, resources["postgres"])] if "postgres" in resources else []
    sidecars += [_gym(job, domain, ports[domain], config, resources[gym_container(domain)]) for domain in job.gyms]
    limit, template = config.pods.tmp_size_limit, template_of(job.gyms, config)
    volumes = [_empty("tmp-agent", limit), *(_empty(label_of(f"tmp-{domain}"), limit) for domain in job.gyms)]
    has_own = bool(own_gyms(job.gyms, config))
    if has_own:
        volumes += [_memory("data", f"{config.pods.database_megabytes}Mi")]
        volumes += [_memory("socket", "1Mi"), _memory(ADMIN_VOLUME, "1Mi")]
    agent = {
        "name": AGENT,
        "image": config.images.runner,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_runner", "task"],
        "env": [
            _env(ENV_JOB_SPEC, f"{JOB_SPEC_FOLDER}/{JOB_SPEC_KEY}"),
            _env(ENV_HEARTBEAT, HEARTBEAT_FILE),
            *_store_env(job.resolved.store, config),
            *_gateway_env(config),
            *map(_key_env, key_envs(models)),
            *_held_out_env(job.resolved.spec.suite, config),
            *_log_env(config),
            *_trace_env(config, job.resolved.spec.suite),
            *outbound_env(config),
        ],
        **env_from(config.pods),
        "resources": resources[AGENT],
        "securityContext": _container_security(),
        "terminationMessagePolicy": "File",
        "livenessProbe": liveness_probe(),
        "volumeMounts": [
            _mount(JOB_SPEC_VOLUME, JOB_SPEC_FOLDER, read_only=True),
            _mount("tmp-agent", "/tmp"),  # noqa: S108 - a volume of the container's own
            *([_mount(ADMIN_VOLUME, ADMIN_FOLDER, read_only=True)] if has_own else []),
            *_recording_mounts(recordings(models)),
            *([_mount(GATEWAY_VOLUME, GATEWAY_FOLDER, read_only=True)] if config.store_gateway else []),
            *outbound_mounts(config),
        ],
    }
    return {
        **_pod(config, template),
        "activeDeadlineSeconds": deadline_s(job),
        "initContainers": sidecars,
        "containers": [agent],
        "volumes": [
            _config_map(JOB_SPEC_VOLUME, job.name),
            *volumes,
            *_recording_volumes(recordings(models)),
            *_gateway_volumes(config),
            *ca_volumes(config),
            *template.volumes,
        ],
    }


def preflight_pod(job: PreflightJob, config: OperatorConfig) -> Manifest:
    """The pod of a preflight Job; a built-in suite is exported by an init container of the domains' image."""
    models, suite = models_of(job), job.resolved.spec.suite
    source = config.store_by_name[suite.object_store.store] if suite.object_store else None
    main = {
        "name": PREFLIGHT,
        "image": config.images.runner,
        "imagePullPolicy": config.images.pull_policy,
        "command": ["python", "-m", "opsgym_runner", "preflight"],
        "env": [
            _env(ENV_JOB_SPEC, f"{JOB_SPEC_FOLDER}/{JOB_SPEC_KEY}"),
            _env(ENV_HEARTBEAT, HEARTBEAT_FILE),
            *([] if source else [_env(ENV_SUITE, "/suite")]),
            *_store_env(job.resolved.store, config),
            *(_store_env(source, config, ENV_SUITE_STORE, SUITE_ENV_PREFIX) if source else []),
            *_gateway_env(config),
            *map(_key_env, key_envs(models)),
            *_held_out_env(suite, config),
            *_log_env(config),
            *outbound_env(config),
        ],
        **env_from(config.pods),
        "resources": config.pods.resources.agent.model_dump(),
        "securityContext": _container_security(),
        "terminationMessagePolicy": "File",
        "livenessProbe": liveness_probe(),
        "volumeMounts": [
            _mount(JOB_SPEC_VOLUME, JOB_SPEC_FOLDER, read_only=True),
            _mount("tmp", "/tmp"),  # noqa: S108 - a volume of the container's own
            *([] if source else [_mount("suite", "/suite", read_only=True)]),
            *_recording_mounts(recordings(models)),
            *([_mount(GATEWAY_VOLUME, GATEWAY_FOLDER, read_only=True)] if config.store_gateway else []),
            *outbound_mounts(config),
        ],
    }
    return {
        **_pod(config, config.pods),
        "activeDeadlineSeconds": PREFLIGHT_DEADLINE_S,
        "initContainers": [_suite_export(suite.builtin, suite, config)] if suite.builtin else [],
        "containers": [main],
        "volumes": [
            _config_map(JOB_SPEC_VOLUME, job.name),
            _empty("tmp", config.pods.tmp_size_limit),
            *([] if source else [_suite_volume(suite)]),
            *_recording_volumes(recordings(models)),
            *_gateway_volumes(config),
            *ca_volumes(config),
            *config.pods.volumes,
        ],
    }


def deadline_s(job: TaskJob) -> int:
    """Seconds after which the kubelet ends a task pod: far beyond what an episode takes, so it ends hung ones."""
    spec = job.resolved.spec
    agent = next(agent for agent in spec.agents if agent.name == job.cell.agent)
    if agent.time_limit != "enforced":
        return UNLIMITED_DEADLINE_S * job.per_pod
    return spec.limits.task_timeout_seconds * job.per_pod + WAITS_S


def template_of(gyms: Sequence[str], config: OperatorConfig) -> PodTemplate:
    """What the installation adds to pods with these gym servers."""
    return merged(config.pods, (config.pods.domains[domain] for domain in gyms if domain in config.pods.domains))


def pod_metadata(labels: Manifest, annotations: Manifest, gyms: Sequence[str], config: OperatorConfig) -> Manifest:
    """Metadata of a pod: opsgym's own, and what the installation adds.

    Args:
        labels: Labels by which the operator knows the pod.
        annotations: Annotations that say what it does.
        gyms: Domains of its gym servers.
        config: The configuration.
    """
    template = template_of(gyms, config)
    # Cloud identities are for the containers that reach stores and models.
    local = ",".join(["postgres", *map(gym_container, gyms), "suite"])
    added = {SKIP_IDENTITY: local, **template.annotations}
    return {"labels": {**template.labels, **labels}, "annotations": {**added, **annotations}}


def _pod(config: OperatorConfig, template: PodTemplate) -> Manifest:
    """Fields that all pods share."""
    pod: Manifest = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "serviceAccountName": config.pods.service_account_name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _pod_security(config.pods.run_as_user)
        | template.security_context.model_dump(by_alias=True, exclude_none=True),
    }
    if config.images.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in config.images.pull_secrets]
    return pod | template.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True, include=PLACEMENT)


def _pod_security(user: int | None) -> Manifest:
    # Without a user, the platform's admission sets user, group and fsGroup.
    account = {} if user is None else {"runAsUser": user, "runAsGroup": user, "fsGroup": user}
    return {
        "runAsNonRoot": True,
        **account,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


# Containers


def _restartable(job: TaskJob) -> list[str]:
    """Option of Postgres and gym servers whose processes are replaced between the trials of a pod."""
    return ["--restartable"] if job.per_pod > 1 else []


def _postgres(job: TaskJob, config: OperatorConfig, resources: Manifest) -> Manifest:
    return {
        "name": "postgres",
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        "command": [
            *("python", "-m", "opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket"),
            *_restartable(job),
        ],
        "env": [_env("OPSGYM_POSTGRES_DOMAINS", ",".join(sorted(job.gyms)))],
        "restartPolicy": "Always",
        "startupProbe": _startup_probe({"exec": {"command": ["pg_isready", "-q", "-h", "/socket", "-U", "postgres"]}}),
        "resources": resources,
        "securityContext": _container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [_mount("data", "/data"), _mount("socket", "/socket")],
    }


def _gym(job: TaskJob, domain: str, port: int, config: OperatorConfig, resources: Manifest) -> Manifest:
    """The server of a domain: the one in the domains' image, or the image that the installation sets for the domain."""
    published = config.gyms.get(domain)
    if published is None:
        server = _own_server(job, domain, port, config)
    else:
        server = {
            "image": published.image,
            "imagePullPolicy": config.images.pull_policy,
            "startupProbe": _startup_probe({"httpGet": {"path": "/health", "port": port}}),
        }
    added = config.pods.domains.get(domain, PodTemplate())
    return {
        "name": gym_container(domain),
        **server,
        **({"env": [*server.get("env", []), *added_env(added)]} if added.env or "env" in server else {}),
        **env_from(added),
        "restartPolicy": "Always",
        "resources": resources,
        # A published server keeps its database in files of its own, so its root file system is writable.
        "securityContext": _container_security(read_only=published is None),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            _mount(label_of(f"tmp-{domain}"), "/tmp"),  # noqa: S108 - a volume of the container's own
            *([] if published else [_mount("socket", "/socket"), _mount(ADMIN_VOLUME, ADMIN_FOLDER)]),
            *added_mounts(added),
        ],
    }


def _own_server(job: TaskJob, domain: str, port: int, config: OperatorConfig) -> Manifest:
    return {
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        # On loopback nothing outside the pod can reach the server, whatever the cluster's network enforces.
        "command": [
            *("python", "-m", "opsgym_domains.serve", domain),
            *("--host", "127.0.0.1", "--port", str(port), "--ready-file", READY_FILE),
            *("--admin-token-file", admin_token_file(domain)),
            *_restartable(job),
        ],
        "startupProbe": _startup_probe({"exec": {"command": ["sh", "-c", f"test -e {READY_FILE}"]}}),
        "env": [
            _env("OPSGYM_POSTGRES_HOST", "/socket"),
            _env("OPSGYM_POSTGRES_USER", "postgres"),
            *_log_env(config),
        ],
    }


def _suite_export(name: str, suite: Suite, config: OperatorConfig) -> Manifest:
    varied = [] if suite.variant is None else ["--variant", str(suite.variant)]
    return {
        "name": "suite",
        "image": config.images.domains,
        "imagePullPolicy": config.images.pull_policy,
        "command": [
            "python",
            "-m",
            "opsgym_domains.suites",
            "export",
            name,
            "/suite",
            *(["--held-out"] if suite.held_out else varied),
        ],
        **({"env": env} if (env := _held_out_env(suite, config)) else {}),
        "resources": config.pods.resources.gym.model_dump(),
        "securityContext": _container_security(),
        # An unknown suite is reported on stderr.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [_mount("suite", "/suite")],
    }


def _container_security(*, read_only: bool = True) -> Manifest:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": read_only,
        "capabilities": {"drop": ["ALL"]},
    }


def _startup_probe(check: Manifest) -> Manifest:
    return {**check, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": STARTUP_TRIES}


# Environment variables


def _env(name: str, value: str) -> Manifest:
    return {"name": name, "value": value}


def _key_env(env: KeyEnv) -> Manifest:
    return {"name": env.name, "valueFrom": {"secretKeyRef": {"name": env.secret, "key": env.key}}}


def _store_env(
    store: StoreConfig, config: OperatorConfig, url: str = ENV_STORE, prefix: str = STORE_ENV_PREFIX
) -> list[Manifest]:
    """Address of a store, and its credentials unless a gateway has them.

    Args:
        store: The store.
        config: The configuration.
        url: Variable of its address.
        prefix: Prepended to AWS's usual variables, which the clients of models read.
    """
    if config.store_gateway is not None:
        return [_env(url, store_url(config.store_gateway.url, store.name))]
    env = [_env(url, store.url)]
    if store.endpoint_url:
        env.append(_env(f"{prefix}AWS_ENDPOINT_URL_S3", store.endpoint_url))
    if store.region:
        env.append(_env(f"{prefix}AWS_REGION", store.region))
    if secret := store.pod_secret or store.secret:
        env.append(_key_env(KeyEnv(f"{prefix}AWS_ACCESS_KEY_ID", secret, AWS_ACCESS_KEY_ID)))
        env.append(_key_env(KeyEnv(f"{prefix}AWS_SECRET_ACCESS_KEY", secret, AWS_SECRET_ACCESS_KEY)))
    return env


def _gateway_env(config: OperatorConfig) -> list[Manifest]:
    """Where the container finds its token for the store gateway."""
    return [_env(ENV_STORE_TOKEN, f"{GATEWAY_FOLDER}/{GATEWAY_TOKEN}")] if config.store_gateway else []


def _log_env(config: OperatorConfig) -> list[Manifest]:
    return [] if config.log_level == "INFO" else [_env(ENV_LEVEL, config.log_level)]


def _held_out_env(suite: Suite, config: OperatorConfig) -> list[Manifest]:
    """The secret seed, for containers that make the rows of a held-out suite or seal what is stored of it."""
    if not suite.held_out or config.held_out_secret is None:
        return []
    return [_key_env(KeyEnv(ENV_SEED, config.held_out_secret, HELD_OUT_KEY))]


def _trace_env(config: OperatorConfig, suite: Suite) -> list[Manifest]:
    """OpenTelemetry's variables, by which the agent's container reaches the collector."""
    tracing = config.tracing
    if tracing is None:
        return []
    content = tracing.capture_content and not suite.held_out
    env = [
        _env("OTEL_EXPORTER_OTLP_ENDPOINT", tracing.endpoint),
        _env("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        _env("OTEL_TRACES_SAMPLER_ARG", f"{tracing.sampling_ratio:g}"),
        _env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", str(content).lower()),
    ]
    if (secret := tracing.headers_secret) is not None:
        # Optional: an episode runs even if a collector refuses its spans.
        reference = {"name": secret.name, "key": secret.key, "optional": True}
        env.append({"name": "OTEL_EXPORTER_OTLP_HEADERS", "valueFrom": {"secretKeyRef": reference}})
    return env


# Volumes


def _mount(name: str, path: str, *, read_only: bool = False) -> Manifest:
    return {"name": name, "mountPath": path, **({"readOnly": True} if read_only else {})}


def _config_map(volume: str, name: str, *, optional: bool = False) -> Manifest:
    return {"name": volume, "configMap": {"name": name, **({"optional": True} if optional else {})}}


def _suite_volume(suite: Suite) -> Manifest:
    # Optional: the preflight reports a missing ConfigMap; its pod must not wait for it.
    if suite.config_map:
        return _config_map("suite", suite.config_map.name, optional=True)
    return _memory("suite", HELD_OUT_ROWS) if suite.held_out else _empty("suite")


def _gateway_volumes(config: OperatorConfig) -> list[Manifest]:
    """The pod's token for the store gateway. The API server takes it for nothing else."""
    gateway = config.store_gateway
    if gateway is None:
        return []
    token = {"audience": gateway.url, "expirationSeconds": GATEWAY_TOKEN_S, "path": GATEWAY_TOKEN}
    return [{"name": GATEWAY_VOLUME, "projected": {"sources": [{"serviceAccountToken": token}]}}]


def _empty(name: str, limit: str = "") -> Manifest:
    return {"name": name, "emptyDir": {"sizeLimit": limit} if limit else {}}


def _memory(name: str, limit: str) -> Manifest:
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": limit}}


def _recording_volumes(config_maps: Sequence[str]) -> list[Manifest]:
    return [_config_map(f"recordings-{number}", name, optional=True) for number, name in enumerate(config_maps)]


def _recording_mounts(config_maps: Sequence[str]) -> list[Manifest]:
    return [
        _mount(f"recordings-{number}", f"{RECORDINGS}/{name}", read_only=True)
        for number, name in enumerate(config_maps)
    ]
