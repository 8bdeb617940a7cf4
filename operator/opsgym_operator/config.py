"""The operator's configuration: what the chart writes and the operator reads once, at its start.

Invariant: a field that is misspelt or of another type stops the operator with its name, rather than being ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from opsgym_api.base import Document
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalmodel import Name, Url
from opsgym_api.evalrun import NoticeEvent, require_unique
from opsgym_api.notices import Format
from opsgym_api.strict_yaml import model_of, parts_of


class StoreConfig(Document):
    """A store that EvalRuns name in `spec.resultStore` and `spec.suite.objectStore.store`."""

    name: Name
    """Name that EvalRuns use."""
    url: Annotated[str, Field(pattern=r"^s3://[^/\s]+(/\S*)?$")]
    """Where it is: `s3://bucket/prefix`."""
    endpoint_url: Url | None = None
    """Address of the S3 server; the provider's public one if absent."""
    region: Annotated[str, Field(min_length=1)] | None = None
    """Region of the bucket."""
    secret: Name | None = None
    """Secret with keys `access-key-id` and `secret-access-key`, in the operator's namespace and in each EvalRun's; if
    absent, pods have an identity of their own."""


class Images(Document):
    """Images of task pods."""

    runner: Annotated[str, Field(min_length=1)]
    """Runs episodes."""
    domains: Annotated[str, Field(min_length=1)]
    """Gym servers and Postgres."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When a node fetches them."""
    pull_secrets: list[Name] = []
    """Secrets of the EvalRun's namespace that a node fetches them with."""


class GymImage(Document):
    """An image that stands in for opsgym's server of a domain. It brings its own database."""

    image: Annotated[str, Field(min_length=1)]
    """For instance a published benchmark server."""
    port: Annotated[int, Field(ge=1, le=65535)]
    """Port it listens on."""


class Resources(Document):
    """What a container asks for and may use, as Kubernetes writes it."""

    requests: dict[str, str] = {}
    """By resource; what the scheduler sets aside."""
    limits: dict[str, str] = {}
    """By resource; what the kubelet enforces."""


class ContainerResources(Document):
    """Resources of a task pod by container; those of a gym hold for each of its gym servers."""

    agent: Resources = Resources(requests={"cpu": "100m", "memory": "256Mi"}, limits={"memory": "1Gi"})
    """The runner."""
    gym: Resources = Resources(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "512Mi"})
    """Each gym server."""
    postgres: Resources = Resources(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "768Mi"})
    """Postgres, its data in memory included."""


class Toleration(Document):
    """A taint that task pods tolerate."""

    key: str | None = None
    """Taint; every one if absent."""
    operator: Literal["Exists", "Equal"] = "Equal"
    """How `value` is compared."""
    value: str | None = None
    """Value of the taint."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint; every one if absent."""
    toleration_seconds: int | None = None
    """How long `NoExecute` is tolerated; for ever if absent."""


class PodsConfig(Document):
    """What all task pods have in common."""

    resources: ContainerResources = ContainerResources()
    """Resources by container."""
    node_selector: dict[str, str] = {}
    """Labels of the nodes they may run on."""
    tolerations: list[Toleration] = []
    """Taints they tolerate."""
    priority_class_name: str = ""
    """Their priority class; the cluster's default if empty."""
    service_account_name: Name = "opsgym-task"
    """Their service account, of the EvalRun's namespace. They get no token of it."""
    database_megabytes: Annotated[int, Field(ge=64)] = 256
    """Size limit of the memory that holds a pod's databases, in MiB."""


class HeadersSecret(Document):
    """Where the headers are by which a collector knows its senders."""

    name: Name
    """Secret in each EvalRun's namespace. Where it is missing, spans are sent without it."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253)] = "headers"
    """Key of it whose value is `NAME=VALUE`, several with commas between."""


class TracingConfig(Document):
    """Where task pods send spans of their episodes."""

    endpoint: Url
    """Address of an OpenTelemetry collector that takes OTLP over HTTP; `/v1/traces` is added."""
    headers_secret: HeadersSecret | None = None
    """Headers that the collector asks for."""
    sampling_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of episodes that are traced."""
    capture_content: bool = False
    """Whether prompts, answers, arguments and results are sent too."""


class WebhookConfig(Document):
    """An address that is told how runs go."""

    name: Name
    """Name that EvalRuns use in `spec.notify`."""
    secret: Name
    """Secret of the operator's namespace with `url` and, to sign what is sent, `signing-secret`."""
    events: Annotated[list[NoticeEvent], Field(min_length=1)] = ["finished", "stalled", "gate_failed"]
    """What it is told."""
    format: Format = "slack"
    """`slack` for Slack's incoming webhooks and what is compatible with them, `json` for programs."""


class NotificationsConfig(Document):
    """Who is told how runs go."""

    webhooks: Annotated[list[WebhookConfig], Field(max_length=16)] = []
    """Webhooks by name; names are unique."""
    default: list[Name] = []
    """Webhooks that every run has, besides those that it names."""

    @model_validator(mode="after")
    def _named_once(self) -> NotificationsConfig:
        names = [webhook.name for webhook in self.webhooks]
        require_unique("webhooks", names)
        unknown = [name for name in self.default if name not in names]
        if unknown:
            raise ValueError(f"default: {unknown[0]!r} is none of the webhooks: {', '.join(names) or 'none'}")
        return self

    @property
    def by_name(self) -> Mapping[str, WebhookConfig]:
        """Webhooks by the name that EvalRuns use."""
        return {webhook.name: webhook for webhook in self.webhooks}


class OperatorConfig(Document):
    """`/etc/opsgym/config.yaml`."""

    stores: Annotated[list[StoreConfig], Field(min_length=1)]
    """Stores by name; names are unique."""
    default_store: Name
    """Store of EvalRuns that name none."""
    images: Images
    """Images of task pods."""
    gyms: dict[Name, GymImage] = {}
    """Images that stand in for opsgym's gym servers, by domain."""
    pods: PodsConfig = PodsConfig()
    """What all task pods have in common."""
    tracing: TracingConfig | None = None
    """Where spans go; nowhere if absent."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Lowest level that pods of runs log."""
    notifications: NotificationsConfig = NotificationsConfig()
    """Who is told how runs go."""
    watch_namespaces: list[Name] = []
    """Namespaces to look after; the whole cluster if empty."""

    @model_validator(mode="after")
    def _stores_named_once(self) -> OperatorConfig:
        names = [store.name for store in self.stores]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"stores: names must be unique, found twice: {', '.join(twice)}")
        if self.default_store not in names:
            raise ValueError(f"defaultStore: {self.default_store!r} is none of the stores: {', '.join(names)}")
        return self

    @property
    def store_by_name(self) -> Mapping[str, StoreConfig]:
        """Stores by the name that EvalRuns use."""
        return {store.name: store for store in self.stores}


def parse_config(text: str, source: str) -> OperatorConfig:
    """Reads the configuration.

    Args:
        text: YAML.
        source: The file's name, for messages.

    Raises:
        InputError: Naming each field that is wrong, with its line.
    """
    parts = parts_of(source, text)
    if len(parts) != 1:
        raise InputError(source, [Problem("", f"must hold one YAML document, found {len(parts)}")])
    return model_of(source, parts[0], OperatorConfig)
