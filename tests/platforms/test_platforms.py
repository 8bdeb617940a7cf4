"""The values that docs/platforms.md gives for each platform render, and their pods meet the platform's constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from tests.helm.charts import ROOT, STORE, Manifest, one, pods, rendered
from tests.operator.manifests.material import SPEC, preflight, task
from tests.support.pod_security import baseline, containers, restricted

from opsgym_api.kinds.evalrun import PodOptions
from opsgym_operator.config import OperatorConfig, parse_config
from opsgym_operator.plan.run.pod_options import config_for

TEXT = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in TEXT.split("\n## ")[1:]}
VALUES = {
    f"{name} {number}": yaml.safe_load(block)
    for name, section in SECTIONS.items()
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL))
}
"""Values of each block, by heading and number."""
ALL = {"console": {"enabled": True}, "trialStore": {"enabled": True}}
QUANTITY = re.compile(r"([0-9.]+)(m|Ki|Mi|Gi)?")
UNITS = {None: 1.0, "m": 1e-3, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {name: _merged(one[name], value) for name, value in other.items() if isinstance(one.get(name), Mapping)}
    return {**one, **other, **both}


def _manifests(values: Mapping[str, Any]) -> list[Manifest]:
    return rendered(_merged({"stores": [STORE], **ALL}, values))


def _config(manifests: list[Manifest]) -> OperatorConfig:
    return parse_config(one(manifests, "ConfigMap", "opsgym-operator")["data"]["config.yaml"], "config.yaml")


def _templates(values: Mapping[str, Any]) -> list[tuple[Manifest, Manifest]]:
    """Metadata and spec of every pod: the chart's, and those that the operator makes for tasks and preflights."""
    manifests = _manifests(values)
    config = _config(manifests)
    choices = [None, *(PodOptions(profile=name) for name in config.pod_profiles)]
    configs = [config_for(options, config) for options in choices]
    of_runs = [job["spec"]["template"] for own in configs for job in (task(own), preflight(SPEC.suite, own))]
    templates = [(pod.metadata, pod.spec) for pod in pods(manifests)]
    return [*templates, *((template["metadata"], template["spec"]) for template in of_runs)]


def _specs(name: str) -> list[Manifest]:
    return [spec for _, spec in _templates(VALUES[name])]


@pytest.mark.parametrize("name", VALUES)
def test_every_pod_meets_restricted_and_baseline(name: str) -> None:
    for metadata, spec in _templates(VALUES[name]):
        assert restricted(spec, metadata) == baseline(spec, metadata) == []


@pytest.mark.parametrize("name", VALUES)
def test_no_server_listens_on_ipv4_alone(name: str) -> None:
    for spec in _specs(name):
        for container in containers(spec):
            words = " ".join([*container.get("command", []), *container.get("args", [])])
            assert "0.0.0.0" not in words, container["name"]


def test_openshift_assigns_every_user_and_group() -> None:
    fixed = {"runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"}
    for spec in _specs("OpenShift 0"):
        for part in (spec, *containers(spec)):
            assert not fixed & part.get("securityContext", {}).keys()


def test_autopilot_gets_limits_that_equal_requests() -> None:
    config = _config(_manifests(VALUES["GKE 0"]))
    for job in (task(config), preflight(SPEC.suite, config)):
        for container in containers(job["spec"]["template"]["spec"]):
            resources = container["resources"]
            assert resources["requests"] == resources["limits"], container["name"]
            assert resources["requests"].keys() == {"cpu", "memory", "ephemeral-storage"}


def test_a_quota_on_limits_accepts_every_container() -> None:
    for spec in _specs("Quotas and limit ranges 0"):
        for container in containers(spec):
            for kind in ("requests", "limits"):
                assert container["resources"][kind].keys() == {"cpu", "memory", "ephemeral-storage"}, container["name"]
            for resource, request in container["resources"]["requests"].items():
                assert _number(request) <= _number(container["resources"]["limits"][resource])


def test_the_documented_size_of_a_pod_is_that_of_its_containers() -> None:
    config = _config(_manifests({}))

    def sums(gyms: tuple[str, ...]) -> list[float]:
        resources_of_containers = [
            container["resources"] for container in containers(task(config, gyms=gyms)["spec"]["template"]["spec"])
        ]
        columns = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
        return [sum(_number(resources[kind][name]) for resources in resources_of_containers) for kind, name in columns]

    rows = re.findall(r"\| (.*gym server) \| (\S+) \| (\S+) \| (\S+) \|", TEXT)
    documented = {row[0]: [_number(cell) for cell in row[1:]] for row in rows}
    pod = sums(("itsm",))
    assert documented["default values, one gym server"] == pytest.approx(pod)
    more = [two - one for one, two in zip(pod, sums(("itsm", "csm")), strict=True)]
    assert documented["each further gym server"] == pytest.approx(more)


def test_the_documented_profiles_reach_the_pods_of_the_runs_that_choose_them() -> None:
    config = _config(_manifests(VALUES["Pod profiles 0"]))
    assert set(config.profiles_of("research")) == {"sandbox", "large"}
    assert set(config.profiles_of("other")) == {"sandbox"}
    sandbox = task(config_for(PodOptions(profile="sandbox"), config))["spec"]["template"]["spec"]
    assert sandbox["runtimeClassName"] == "gvisor"
    large = task(config_for(PodOptions(profile="large"), config))["spec"]["template"]["spec"]
    assert large["priorityClassName"] == "research"
    assert containers(large)[0]["resources"]["limits"]["memory"] == "4Gi"


def test_one_architecture_applies_to_every_pod() -> None:
    for spec in _specs("Mixed architectures 0"):
        assert spec["nodeSelector"] == {"kubernetes.io/arch": "arm64"}


def test_irsa_leaves_local_containers_without_credentials() -> None:
    config = _config(_manifests(VALUES["EKS 1"]))
    template = task(config)["spec"]["template"]
    skipped = template["metadata"]["annotations"]["eks.amazonaws.com/skip-containers"].split(",")
    assert {container["name"] for container in template["spec"]["initContainers"]} <= set(skipped)


def _number(quantity: Any) -> float:
    match = QUANTITY.fullmatch(str(quantity))
    assert match is not None, quantity
    return float(match[1]) * UNITS[match[2]]
