"""Configuration of the operator: the chart writes it, and the operator reads it once, when it starts.

Invariant: an unknown field, or one of the wrong type, stops the operator and is named; none is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from opsgym_api.base import Document
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import Name, Url
from opsgym_api.kinds.evalrun import NotificationEvent, require_unique
from opsgym_api.kinds.history import History
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.strict_yaml import model_of, parts_of
from opsgym_core.notifications.notification import Format
from opsgym_core.store.base import is_key
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.pod_template import DomainPods, PodProfile, PodTemplate, Quantity, Resources

CONFIG = "/etc/opsgym/config.yaml"
"""Where the chart mounts the configuration; `OPSGYM_OPERATOR_CONFIG` overrides it."""
PROXY_URL = r"^(https?://[^\s@/]+/?)?$"
"""Address of a proxy; credentials belong into a Secret, not into the configuration."""


class Images(Document):
    """Images of task pods."""

    runner: Annotated[str, Field(min_length=1)]
    """Image of the runner, which plays episodes."""
    domains: Annotated[str, Field(min_length=1)]
    """Image of the gym servers and Postgres."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When a node pulls the images."""
    pull_secrets: list[Name] = []
    """Image pull Secrets, of the EvalRun's namespace."""


class GymImage(Document):
    """An image that replaces opsgym's server of a domain. It contains its own database."""

    image: Annotated[str, Field(min_length=1)]
    """Image, for instance of a published benchmark server."""
    port: Annotated[int, Field(ge=1, le=65535)]
    """Port that the server listens on."""


class ContainerResources(Document):
    """Resources of a task pod by container; `gym` applies to each gym server."""

    agent: Resources = Resources(requests={"cpu": "100m", "memory": "256Mi"}, limits={"memory": "1Gi"})
    """The runner."""
    gym: Resources = Resources(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "512Mi"})
    """Each gym server."""
    postgres: Resources = Resources(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "768Mi"})
    """Postgres, its data in memory included."""


class PodsConfig(PodTemplate):
    """Fields that all task pods share. Variables and mounts are those of the agent's container and of the preflight."""

    labels: dict[str, str] = {"sidecar.istio.io/inject": "false"}
    """Labels; a service mesh's sidecar would keep a pod from ending."""
    annotations: dict[str, str] = {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
        "linkerd.io/inject": "disabled",
        "sidecar.istio.io/inject": "false",
    }
    """Annotations; an autoscaler would move pods whose model calls are paid for."""
    resources: ContainerResources = ContainerResources()
    """Resources by container."""
    domains: dict[Name, DomainPods] = {}
    """What pods with a gym server of a domain get besides, by domain."""
    allowed_labels: list[str] = []
    """Keys of labels that EvalRuns may set on their pods, and beginnings of keys that end in `/`."""
    allowed_annotations: list[str] = []
    """Keys of annotations that EvalRuns may set on their pods, and beginnings of keys that end in `/`."""
    run_as_user: Annotated[int, Field(ge=1)] | None = 10001
    """User and group of all containers; the platform assigns them if None, as OpenShift does."""
    service_account_name: Name = "opsgym-task"
    """Service account of task pods, in the EvalRun's namespace. Its token is not mounted."""
    database_megabytes: Annotated[int, Field(ge=64)] = 384
    """Size limit, in MiB, of the in-memory volume that holds a pod's databases."""
    tmp_size_limit: Quantity = "1Gi"
    """Size limit of each container's `/tmp`; without limit if empty."""


class ProxyConfig(Document):
    """Proxies on the way to stores and models. The API server and Services of the cluster are reached directly."""

    http: Annotated[str, Field(pattern=PROXY_URL)] = ""
    """Proxy for `http://` addresses; none if empty."""
    https: Annotated[str, Field(pattern=PROXY_URL)] = ""
    """Proxy for `https://` addresses; none if empty."""
    no_proxy: list[str] = []
    """Further hosts, or endings of names, that are reached directly."""


class CaBundle(Document):
    """CA certificates that pods trust, in place of those in the images."""

    config_map: Name | None = None
    """ConfigMap with the certificates, in each EvalRun's namespace."""
    secret: Name | None = None
    """Secret with the certificates, in each EvalRun's namespace."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253)] = "ca.crt"
    """Key of the certificates in PEM format."""

    @model_validator(mode="after")
    def _has_one_source(self) -> CaBundle:
        if (self.config_map is None) == (self.secret is None):
            raise ValueError("give one of configMap and secret")
        return self


class HeadersSecret(Document):
    """Secret with the headers that authenticate senders to a collector."""

    name: Name
    """Secret in each EvalRun's namespace. If it is missing, spans are sent without the headers."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253)] = "headers"
    """Key of the Secret; its value is a comma-separated list of `NAME=VALUE`."""


class TracingConfig(Document):
    """OpenTelemetry collector that task pods send spans of their episodes to."""

    endpoint: Url
    """Address of an OpenTelemetry collector that takes OTLP over HTTP; `/v1/traces` is added."""
    headers_secret: HeadersSecret | None = None
    """Headers that the collector requires."""
    sampling_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of episodes that are traced, 0 to 1."""
    capture_content: bool = False
    """Whether spans contain prompts, answers, arguments and results."""


class WebhookConfig(Document):
    """A webhook that is notified of run events."""

    name: Name
    """Name that EvalRuns use in `spec.notify`."""
    secret: Name
    """Secret of the operator's namespace with `url` and, to sign requests, `signing-secret`."""
    events: Annotated[list[NotificationEvent], Field(min_length=1)] = ["finished", "stalled", "gate_failed"]
    """Run events that the webhook is notified of."""
    format: Format = "slack"
    """`slack` for Slack's incoming webhooks and compatible receivers, `json` for programs."""


class NotificationsConfig(Document):
    """Webhook notifications of run events."""

    webhooks: Annotated[list[WebhookConfig], Field(max_length=16)] = []
    """Webhooks by name; names are unique."""
    default: list[Name] = []
    """Webhooks of every run, besides those that the run names."""

    @model_validator(mode="after")
    def _named_once(self) -> NotificationsConfig:
        names = [webhook.name for webhook in self.webhooks]
        require_unique("webhooks", names)
        unknown = [name for name in self.default if name not in names]
        if unknown:
            raise ValueError(f"default: {unknown[0]!r} is not a webhook; configured: {', '.join(names) or 'none'}")
        return self

    @property
    def by_name(self) -> Mapping[str, WebhookConfig]:
        """Webhooks by the name that EvalRuns use."""
        return {webhook.name: webhook for webhook in self.webhooks}


class StoreGatewayConfig(Document):
    """The service through which pods reach stores, so that they hold no key."""

    url: Annotated[Url, Field(pattern=r"^https?://[^\s/?#@]+$")]
    """Its address inside the cluster, which is also the audience of the pods' tokens."""


class LeaseConfig(Document):
    """The Lease by which the replicas of a release elect their leader."""

    namespace: Name = "default"
    """Its namespace, usually that of the release."""
    name: Name = "opsgym-operator"
    """Its name. Together they identify the release towards others that watch the same namespaces."""


class CredentialsConfig(Document):
    """Secrets that models may use."""

    allow_inline: bool = False
    """Whether EvalRuns may name Secrets in models that they declare inline."""
    secret_names: list[Name] = []
    """Names of Secrets that models may use."""
    secret_prefixes: list[Annotated[str, Field(min_length=1, max_length=63)]] = []
    """Beginnings of names of Secrets that models may use. Without names and prefixes, EvalModels may use any Secret
    that the installation does not use itself."""

    @model_validator(mode="after")
    def _inline_needs_a_list(self) -> CredentialsConfig:
        if self.allow_inline and not self.is_list:
            raise ValueError("allowInline requires secretNames or secretPrefixes, or users could send any Secret away")
        return self

    @property
    def is_list(self) -> bool:
        """Whether only listed Secrets are allowed."""
        return bool(self.secret_names or self.secret_prefixes)

    def allows(self, secret: str) -> bool:
        """Whether the list allows a Secret."""
        listed = secret in self.secret_names or secret.startswith(tuple(self.secret_prefixes))
        return listed or not self.is_list


class Quota(Document):
    """What the runs of a namespace that have not finished may be together. A run that is more by itself is refused; one
    that does not fit beside others waits until they have finished.
    """

    cells: Annotated[int, Field(ge=1)] = 2_000
    """Cells: models × agents × modes × domains."""
    trials: Annotated[int, Field(ge=1)] = 250_000
    """Trials of all cells; the operator keeps about 500 bytes of each in memory."""
    pods: Annotated[int, Field(ge=1)] | None = None
    """Pods with trials at the same time, of all models; not bounded if None."""


class Quotas(Document):
    """What each namespace may take of the installation."""

    default: Quota = Quota()
    """For every namespace that is not named."""
    namespaces: dict[Name, Quota] = {}
    """For single namespaces, in place of `default` as a whole."""


class OperatorConfig(Document):
    """The configuration, usually of `CONFIG`."""

    stores: Annotated[list[StoreConfig], Field(min_length=1)]
    """Stores by name; names are unique."""
    default_store: Name
    """Store of EvalRuns that name none."""
    images: Images
    """Images of task pods."""
    gyms: dict[Name, GymImage] = {}
    """Images that replace opsgym's gym servers, by domain."""
    pods: PodsConfig = PodsConfig()
    """Fields that all task pods share."""
    pod_profiles: dict[Name, PodProfile] = {}
    """Pod profiles that EvalRuns may choose, by name."""
    proxy: ProxyConfig = ProxyConfig()
    """Proxies of the agent's container and of preflights."""
    ca_bundle: CaBundle | None = None
    """CA certificates of the agent's container and of preflights; those of the image if absent."""
    tracing: TracingConfig | None = None
    """Tracing of episodes; off if absent."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Lowest level that the pods of runs log."""
    notifications: NotificationsConfig = NotificationsConfig()
    """Webhook notifications of run events."""
    credentials: CredentialsConfig = CredentialsConfig()
    """Secrets that models may use."""
    quotas: Quotas = Quotas()
    """What each namespace may take of the installation."""
    history: History = History()
    """What stays in the stores of the runs of schedules without a `history`, and for how long; everything, for ever, if
    empty."""
    held_out_secret: Name | None = None
    """Secret in each EvalRun's namespace whose key `seed` is that of held-out suites; none if absent, and then EvalRuns
    cannot run them."""
    store_gateway: StoreGatewayConfig | None = None
    """Service through which pods reach stores; if absent, pods hold keys of their stores."""
    watch_namespaces: list[Name] = []
    """Namespaces to watch; the whole cluster if empty."""
    lease: LeaseConfig = LeaseConfig()
    """Lease of the leader."""

    @model_validator(mode="after")
    def _stores_named_once(self) -> OperatorConfig:
        names = [store.name for store in self.stores]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"stores: names must be unique; repeated: {', '.join(twice)}")
        if self.default_store not in names:
            raise ValueError(f"defaultStore: {self.default_store!r} is not a store; configured: {', '.join(names)}")
        return self

    @property
    def store_by_name(self) -> Mapping[str, StoreConfig]:
        """Stores by the name that EvalRuns use."""
        return {store.name: store for store in self.stores}

    def stores_of(self, namespace: str) -> Mapping[str, StoreConfig]:
        """Stores that EvalRuns of a namespace may use, by name."""
        return {store.name: store for store in self.stores if not store.namespaces or namespace in store.namespaces}

    def quota_of(self, namespace: str) -> Quota:
        """What the runs of a namespace may be together."""
        return self.quotas.namespaces.get(namespace, self.quotas.default)

    def profiles_of(self, namespace: str) -> Mapping[str, PodProfile]:
        """Pod profiles that EvalRuns of a namespace may choose, by name."""
        return {
            name: profile
            for name, profile in self.pod_profiles.items()
            if not profile.namespaces or namespace in profile.namespaces
        }

    def may_read_suite(self, store: StoreConfig, key: str, namespace: str) -> bool:
        """Whether EvalRuns of a namespace may read a suite of a store.

        Args:
            store: A store that the namespace may use.
            key: Key of a file, or a prefix.
            namespace: The namespace.
        """
        if (store.namespaces or self.watch_namespaces) == [namespace]:
            return True
        own = (f"suites/{namespace}/", f"{RunKeys(namespace).root.rstrip('/')}.")
        return is_key(key.rstrip("/")) and key.startswith((*own, *store.shared_suites))

    @property
    def reserved_secrets(self) -> Mapping[str, str]:
        """Secrets of the installation, which no model may use, with what each is for."""
        webhooks = {webhook.secret: f"webhook {webhook.name}" for webhook in self.notifications.webhooks}
        headers = self.tracing.headers_secret if self.tracing else None
        return {
            **webhooks,
            **({headers.name: "tracing"} if headers else {}),
            **dict.fromkeys(self.images.pull_secrets, "the image registry"),
            **({self.held_out_secret: "held-out suites"} if self.held_out_secret else {}),
            **{
                secret: f"store {store.name}"
                for store in self.stores
                for secret in (store.secret, store.pod_secret)
                if secret is not None
            },
        }


def parse_config(text: str, source: str) -> OperatorConfig:
    """Parses the configuration.

    Args:
        text: YAML.
        source: The file's name, for messages.

    Raises:
        InputError: The configuration is invalid; names each invalid field with its line.
    """
    parts = parts_of(source, text)
    if len(parts) != 1:
        raise InputError(source, [Problem("", f"must hold one YAML document, has {len(parts)}")])
    return model_of(source, parts[0], OperatorConfig)
