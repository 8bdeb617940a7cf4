"""Images and resources of a run's pods, frozen with the run.

Invariant: every Job of a run is made of the images and resources that its `run.json` holds, whatever the installation
is upgraded to meanwhile. Placement, identities, stores and proxies follow the installation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from opsgym_api.records.run import RunPods, RunRecord
from opsgym_operator.config import ContainerResources, GymImage, OperatorConfig
from opsgym_operator.observe.objects import ObservedPod
from opsgym_operator.plan.status.status import ConditionUpdate, Reason
from opsgym_operator.pod_template import DomainPods, ResourcesByContainer

_IMAGES = ("runner", "domains")
"""Images of opsgym's own, as fields of the configuration and of `RunPods.images`."""
_HUB = ("docker.io/library/", "docker.io/", "index.docker.io/")
"""What a runtime adds to references without a registry."""


def freeze_pods(config: OperatorConfig, image_ids: Mapping[str, str]) -> RunPods:
    """What the pods of a run that starts now are made of.

    Args:
        config: The operator's configuration.
        image_ids: Ids of the images, `runner` and `domains`, as far as a node has reported them.
    """
    images = {name: getattr(config.images, name) for name in _IMAGES}
    if config.images.pull_policy != "Never":
        # Images that were loaded onto each node may lack the digest there.
        images = {name: by_digest(image, image_ids.get(name, "")) for name, image in images.items()}
    pods = config.pods
    return RunPods(
        images=images,
        image_ids=dict(image_ids),
        gyms={domain: gym.model_dump(mode="json") for domain, gym in config.gyms.items()},
        resources=pods.resources.model_dump(mode="json"),
        domain_resources={name: domain.resources.model_dump(mode="json") for name, domain in pods.domains.items()},
        database_megabytes=pods.database_megabytes,
    )


def by_digest(image: str, image_id: str) -> str:
    """An image reference by the registry's digest; unchanged if the id has none for this repository."""
    name, _, digest = image_id.rpartition("://")[2].partition("@")
    last = image.rpartition("/")[2]
    repository = image.removesuffix(f":{last.partition(':')[2]}") if ":" in last else image
    if "@" in image or not digest or _short(name) != _short(repository):
        return image
    return f"{repository}@{digest}"


def _short(repository: str) -> str:
    return next((repository.removeprefix(hub) for hub in _HUB if repository.startswith(hub)), repository)


def versions_of(pods: RunPods, operator: str) -> dict[str, str]:
    """What affects the scores of a run in a cluster besides spec and rows; see `RunRecord.versions`."""
    images = {
        f"image:{name}": image if "@" in image or name not in pods.image_ids else f"{image} ({pods.image_ids[name]})"
        for name, image in pods.images.items()
    }
    gyms = {f"image:gym-{domain}": str(gym["image"]) for domain, gym in pods.gyms.items()}
    return {"operator": operator, **images, **gyms}


def config_of(record: RunRecord | None, config: OperatorConfig) -> OperatorConfig:
    """The configuration that a run's Jobs are made of: the installation's, with what the run froze.

    Fields that this version does not know are ignored: before a rollback, a newer operator froze the run.
    """
    frozen = record.pods if record is not None else None
    if frozen is None:
        return config
    names = {**config.pods.domains, **frozen.domain_resources}
    pods = {
        "resources": ContainerResources.model_validate(frozen.resources, extra="ignore"),
        "domains": {name: _domain(name, frozen, config) for name in names},
        "database_megabytes": frozen.database_megabytes,
    }
    images = {name: frozen.images[name] for name in _IMAGES if name in frozen.images}
    return config.model_copy(
        update={
            "images": config.images.model_copy(update=images),
            "gyms": {name: GymImage.model_validate(gym, extra="ignore") for name, gym in frozen.gyms.items()},
            "pods": config.pods.model_copy(update=pods),
        }
    )


def _domain(name: str, frozen: RunPods, config: OperatorConfig) -> DomainPods:
    """What pods with a domain's gym server get: the installation's placement, and the resources that the run froze."""
    resources = ResourcesByContainer.model_validate(frozen.domain_resources.get(name, {}), extra="ignore")
    return config.pods.domains.get(name, DomainPods()).model_copy(update={"resources": resources})


def mixed_images(record: RunRecord | None, pods: Iterable[ObservedPod]) -> ConditionUpdate | None:
    """Condition `MixedImages` of a run of whose images the nodes have more than one build; None otherwise."""
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for name, image_id in record.pods.image_ids.items() if record is not None and record.pods is not None else ():
        ids[name].add(_digest(image_id))
    for pod in pods:
        for name, image_id in pod.image_ids:
            ids[name].add(_digest(image_id))
    mixed = {name: sorted(builds) for name, builds in ids.items() if len(builds) > 1}
    return ConditionUpdate("MixedImages", "True", Reason.IMAGE_CHANGED, _mixed(mixed)) if mixed else None


def _digest(image_id: str) -> str:
    return image_id.rpartition("@")[2]


def _mixed(mixed: Mapping[str, Sequence[str]]) -> str:
    listed = "; ".join(f"{name}: {', '.join(ids)}" for name, ids in sorted(mixed.items()))
    return (
        f"nodes run different builds of an image, so results of this run may not be comparable: {listed}"
        "; refer to images by digest"
    )
