"""What an EvalRun asks for its pods: a profile of the installation, and labels and annotations that it allows.

Invariant: pods of a run have what the installation gives all pods, then what it gives pods with their gym servers, then
what the profile gives, then the run's own labels and annotations; of two values of one field the later one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_api.kinds.evalrun import PodOptions
from opsgym_operator.config import ContainerResources, OperatorConfig, PodsConfig
from opsgym_operator.pod_template import DomainPods, PodProfile, PodTemplate, ResourcesByContainer, merged


def config_for(options: PodOptions | None, config: OperatorConfig) -> OperatorConfig:
    """The configuration that the pods of a run are made of.

    Args:
        options: What an accepted run asks for its pods; None if nothing.
        config: The installation's configuration.
    """
    if options is None:
        return config
    profile = config.pod_profiles[options.profile] if options.profile is not None else PodProfile()
    own = PodTemplate(labels=options.labels, annotations=options.annotations)
    # The variables and mounts of a domain are those of its gym server, those of a profile are not.
    of_pod = profile.model_copy(update={"env": [], "env_from": [], "volume_mounts": []})
    domains = {
        name: domain.model_copy(update=_changes(domain, profile, (of_pod, own)))
        for name, domain in config.pods.domains.items()
    }
    pods = config.pods.model_copy(update={**_changes(config.pods, profile, (profile, own)), "domains": domains})
    return config.model_copy(update={"pods": pods})


def _changes(pods: PodsConfig | DomainPods, profile: PodProfile, others: Sequence[PodTemplate]) -> dict[str, Any]:
    """Fields of a template with those of others added, and its resources with those of a profile."""
    template = merged(pods, others)
    fields = {name: getattr(template, name) for name in PodTemplate.model_fields}
    return {**fields, "resources": _resources(pods.resources, profile.resources)}


def _resources(
    resources: ContainerResources | ResourcesByContainer, other: ResourcesByContainer
) -> ContainerResources | ResourcesByContainer:
    containers = {name: getattr(resources, name).updated(getattr(other, name)) for name in type(other).model_fields}
    return resources.model_copy(update=containers)
