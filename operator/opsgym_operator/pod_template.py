"""Fields that an installation adds to the pods of EvalRuns.

Invariant: nothing that is added here replaces what opsgym sets or weakens a pod: volumes are of the types that Pod
Security `restricted` allows, security contexts hold no user, privilege or profile but `RuntimeDefault` and `Localhost`,
and opsgym's own labels, variables, volumes and paths are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from posixpath import normpath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue, field_validator

from opsgym_api.base import Document
from opsgym_api.kinds.evalmodel import Name

JsonObject = dict[str, JsonValue]
"""Part of a pod's spec that the API server validates."""


def _as_text(quantity: object) -> object:
    return str(quantity) if isinstance(quantity, (int, float)) and not isinstance(quantity, bool) else quantity


Quantity = Annotated[str, BeforeValidator(_as_text)]
"""Quantity of a resource, as Kubernetes writes it; YAML reads `2` as a number."""

OWN_METADATA = re.compile(
    r"([^/]*\.)?opsgym\.dev/|([^/]*\.)?kueue\.x-k8s\.io/|batch\.kubernetes\.io/"
    r"|app\.kubernetes\.io/(managed-by|part-of)$|(job-name|controller-uid)$"
)
"""Labels and annotations by which the operator, Kubernetes and the chart's policies recognise pods."""
VOLUME_TYPES = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
)
"""Types of volumes that the Pod Security Standard `restricted` allows."""
_OWN_VOLUMES = re.compile(r"(job-spec|data|socket|admin|store-gateway|suite|ca-bundle|tmp|tmp-.*|recordings-.*)$")
_OWN_PATHS = (
    "/etc/opsgym", "/data", "/socket", "/suite", "/var/run/secrets/opsgym.dev",
    "/tmp",  # noqa: S108 - a volume of the container's own
)  # fmt: skip
_OWN_VARIABLES = re.compile(r"OPSGYM_|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|ENDPOINT_URL_S3)$")


class Resources(Document):
    """Resources of a container, as Kubernetes writes them."""

    requests: dict[str, Quantity] = {}
    """Requests by resource, which the scheduler reserves."""
    limits: dict[str, Quantity] = {}
    """Limits by resource, which the kubelet enforces."""

    def updated(self, other: Resources) -> Resources:
        """These resources, with those of another in place of the ones of the same name."""
        return Resources(requests={**self.requests, **other.requests}, limits={**self.limits, **other.limits})


class Toleration(Document):
    """A taint that pods tolerate."""

    key: str | None = None
    """Key of the taint; any taint if absent."""
    operator: Literal["Exists", "Equal"] = "Equal"
    """How `value` is compared."""
    value: str | None = None
    """Value of the taint."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint; any effect if absent."""
    toleration_seconds: int | None = None
    """Seconds for which `NoExecute` is tolerated; without limit if absent."""


class EnvVar(Document):
    """An environment variable of a container."""

    name: Annotated[str, Field(pattern=r"^[-._a-zA-Z][-._a-zA-Z0-9]*$")]
    """Name; opsgym's own are refused."""
    value: str | None = None
    """Value."""
    value_from: JsonObject | None = None
    """Source of the value, as in a pod's spec."""

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if _OWN_VARIABLES.match(name):
            raise ValueError(f"{name} is set by opsgym and cannot be changed here")
        return name


class VolumeMount(Document):
    """A volume in a container's file system."""

    name: str
    """Name of the volume."""
    mount_path: Annotated[str, Field(pattern=r"^/")]
    """Where the container sees it."""
    sub_path: str | None = None
    """Path in the volume; its root if absent."""
    read_only: bool = True
    """Whether the container cannot write to it."""

    @field_validator("name")
    @classmethod
    def _is_added(cls, name: str) -> str:
        if _OWN_VOLUMES.match(name):
            raise ValueError(f"{name} is a volume of opsgym's own; mount one of the volumes that are added")
        return name

    @field_validator("mount_path")
    @classmethod
    def _is_free(cls, path: str) -> str:
        given = normpath(f"/{path.lstrip('/')}")
        for own in _OWN_PATHS:
            if _is_below(given, own) or _is_below(own, given):
                raise ValueError(f"{own} is a path of opsgym's own; mount the volume elsewhere")
        return path


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


class SeLinuxOptions(Document):
    """SELinux options that the Pod Security Standard `baseline` allows."""

    level: str | None = None
    """Level."""
    type: Literal["container_t", "container_init_t", "container_kvm_t", "container_engine_t"] | None = None
    """Type."""


class SecurityAdditions(Document):
    """Fields of a pod's security context that cannot weaken it, as in a pod's spec."""

    fs_group: int | None = None
    """Group of volumes."""
    fs_group_change_policy: Literal["OnRootMismatch", "Always"] | None = None
    """When volumes change their group."""
    supplemental_groups: list[int] | None = None
    """Further groups."""
    supplemental_groups_policy: Literal["Merge", "Strict"] | None = None
    """Whether groups that the image gives the user count."""
    se_linux_options: SeLinuxOptions | None = None
    """SELinux level and type."""


class PodTemplate(Document):
    """Fields that are added to pods; who has a template says which containers get its variables and mounts."""

    labels: dict[str, str] = {}
    """Labels."""
    annotations: dict[str, str] = {}
    """Annotations."""
    env: list[EnvVar] = []
    """Environment variables."""
    env_from: list[JsonObject] = []
    """ConfigMaps and Secrets whose keys become environment variables."""
    volumes: list[JsonObject] = []
    """Volumes, as in a pod's spec; their types are those that Pod Security `restricted` allows."""
    volume_mounts: list[VolumeMount] = []
    """Mounts of the volumes."""
    node_selector: dict[str, str] = {}
    """Labels of the nodes that pods may run on."""
    tolerations: list[Toleration] = []
    """Taints that pods tolerate."""
    affinity: JsonObject = {}
    """Affinity, as in a pod's spec."""
    topology_spread_constraints: list[JsonObject] = []
    """Topology spread constraints, as in a pod's spec."""
    priority_class_name: str = ""
    """Priority class; the cluster's default if empty."""
    runtime_class_name: str = ""
    """Runtime class, for instance of a sandbox; the cluster's default if empty."""
    scheduler_name: str = ""
    """Scheduler; the cluster's default if empty."""
    security_context: SecurityAdditions = SecurityAdditions()
    """Groups and SELinux options of the pod's security context."""

    @field_validator("labels", "annotations")
    @classmethod
    def _are_free(cls, entries: dict[str, str]) -> dict[str, str]:
        if own := next(filter(OWN_METADATA.match, entries), None):
            raise ValueError(f"{own} is set by opsgym or Kubernetes and cannot be changed here")
        return entries

    @field_validator("volumes")
    @classmethod
    def _are_restricted(cls, volumes: list[JsonObject]) -> list[JsonObject]:
        for volume in volumes:
            name = str(volume.get("name", ""))
            if not name or _OWN_VOLUMES.match(name):
                raise ValueError(f"a volume cannot be named {name!r} here; give it a name that opsgym does not use")
            if refused := volume.keys() - VOLUME_TYPES - {"name"}:
                allowed = ", ".join(sorted(VOLUME_TYPES))
                raise ValueError(f"volume {name}: {min(refused)} is not allowed; allowed types: {allowed}")
            if _holds_api_token(volume):
                raise ValueError(f"volume {name}: serviceAccountToken without audience is a token of the API server")
        return volumes


def _holds_api_token(volume: Mapping[str, Any]) -> bool:
    """Whether a volume has a token of the pod's ServiceAccount that the API server takes."""
    projected = volume.get("projected")
    sources = projected.get("sources") if isinstance(projected, Mapping) else None
    tokens = [source.get("serviceAccountToken") for source in sources or () if isinstance(source, Mapping)]
    return any(isinstance(token, Mapping) and not token.get("audience") for token in tokens)


class ResourcesByContainer(Document):
    """Resources of a pod's containers that differ from those of other pods."""

    agent: Resources = Resources()
    """The runner."""
    gym: Resources = Resources()
    """The gym server."""
    postgres: Resources = Resources()
    """Postgres."""


class DomainPods(PodTemplate):
    """What pods with a gym server of one domain get besides. Variables and mounts are those of that gym server."""

    resources: ResourcesByContainer = ResourcesByContainer()
    """Resources in place of the installation's."""


class PodProfile(PodTemplate):
    """What pods of the EvalRuns that choose it get besides. Variables and mounts are those of the agent's container and
    of the preflight.
    """

    namespaces: list[Name] = []
    """Namespaces whose EvalRuns may choose it; all if empty."""
    resources: ResourcesByContainer = ResourcesByContainer()
    """Resources in place of the installation's, and of those of a domain."""


def merged(template: PodTemplate, others: Iterable[PodTemplate]) -> PodTemplate:
    """A template with the fields of others added.

    Maps and lists are joined; of two entries of one name, and of two values, the one of the later template counts.
    """
    return reduce(_merged, others, template)


def _merged(one: PodTemplate, other: PodTemplate) -> PodTemplate:
    return PodTemplate.model_construct(
        **{name: _joined(getattr(one, name), getattr(other, name)) for name in PodTemplate.model_fields}
    )


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, SecurityAdditions):
        return one.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})
    if isinstance(one, Mapping):
        return {**one, **other}
    if isinstance(one, Sequence) and not isinstance(one, str):
        return [*(item for item in one if not _replaced(item, other)), *other]
    return other or one


def _replaced(item: Any, others: Sequence[Any]) -> bool:
    """Whether another list has the same item, or a volume of its name."""
    if isinstance(item, Mapping) and "name" in item:
        return any(isinstance(other, Mapping) and other.get("name") == item["name"] for other in others)
    return item in others
