"""What a run asks for its pods, and how it joins what the installation gives them."""

from __future__ import annotations

from typing import Any

from tests.operator.fleet import CONFIG, Fleet, entry, model
from tests.operator.manifests.material import SPEC, containers, preflight, task
from tests.operator.plan.test_whole_runs import spec
from tests.support.pod_security import restricted

from opsgym_api.kinds.evalrun import PodOptions
from opsgym_operator.config import OperatorConfig, PodsConfig
from opsgym_operator.plan.run.pod_options import config_for
from opsgym_operator.pod_template import PodProfile

PODS: dict[str, Any] = {
    "labels": {"cost": "evals", "tier": "any"},
    "nodeSelector": {"zone": "a", "pool": "small"},
    "env": [{"name": "TZ", "value": "UTC"}],
    "allowedLabels": ["team"],
    "domains": {
        "csm": {
            "nodeSelector": {"pool": "csm", "licence": "csm"},
            "env": [{"name": "LICENCE", "value": "x"}],
            "resources": {"postgres": {"limits": {"memory": "2Gi"}}, "gym": {"limits": {"memory": "1Gi"}}},
        }
    },
}
PROFILE: dict[str, Any] = {
    "labels": {"tier": "large"},
    "annotations": {"example.com/profile": "large"},
    "nodeSelector": {"pool": "large"},
    "tolerations": [{"key": "large", "operator": "Exists"}],
    "runtimeClassName": "gvisor",
    "env": [{"name": "CLIENT", "value": "/client"}],
    "volumes": [{"name": "client", "secret": {"secretName": "client"}}],
    "volumeMounts": [{"name": "client", "mountPath": "/client"}],
    "resources": {"postgres": {"limits": {"memory": "4Gi"}}, "agent": {"requests": {"cpu": "2"}}},
}


def installation(**changes: Any) -> OperatorConfig:
    profile = PodProfile.model_validate(PROFILE | changes)
    return CONFIG.model_copy(update={"pods": PodsConfig.model_validate(PODS), "pod_profiles": {"large": profile}})


def with_options(**options: Any) -> OperatorConfig:
    return config_for(PodOptions.model_validate(options), installation())


def test_a_run_that_asks_for_nothing_gets_what_the_installation_gives() -> None:
    assert config_for(None, installation()) == installation()


def test_a_profile_counts_before_what_the_installation_and_domains_give() -> None:
    template = task(with_options(profile="large", labels={"team": "b"}))["spec"]["template"]
    metadata, pod = template["metadata"], template["spec"]
    assert {name: metadata["labels"][name] for name in ("cost", "tier", "team")} == {
        "cost": "evals",
        "tier": "large",
        "team": "b",
    }
    assert metadata["annotations"]["example.com/profile"] == "large"
    assert pod["nodeSelector"] == {"zone": "a", "pool": "large", "licence": "csm"}
    assert [toleration["key"] for toleration in pod["tolerations"]] == ["large"]
    assert pod["runtimeClassName"] == "gvisor"
    postgres, itsm, csm, agent = containers(pod)
    assert postgres["resources"]["limits"]["memory"] == "4Gi"
    assert (itsm["resources"]["limits"]["memory"], csm["resources"]["limits"]["memory"]) == ("512Mi", "1Gi")
    assert agent["resources"]["requests"] == {"cpu": "2", "memory": "256Mi"}
    assert restricted(pod, metadata) == []


def test_variables_and_mounts_of_a_profile_are_the_agents_and_the_preflights() -> None:
    config = with_options(profile="large")
    for job in (task(config), preflight(SPEC.suite, config)):
        pod = job["spec"]["template"]["spec"]
        [main] = pod["containers"]
        assert [variable["name"] for variable in main["env"][-2:]] == ["TZ", "CLIENT"]
        assert main["volumeMounts"][-1] == {"name": "client", "mountPath": "/client", "readOnly": True}
        assert [volume["name"] for volume in pod["volumes"]].count("client") == 1
        for sidecar in pod["initContainers"]:
            assert "CLIENT" not in {variable["name"] for variable in sidecar.get("env", [])}
            assert "client" not in {mount["name"] for mount in sidecar["volumeMounts"]}


def test_a_run_keeps_the_resources_of_its_profile_when_the_profile_changes() -> None:
    fleet = Fleet(config=installation())
    fleet.models["gpt"] = model("gpt", max_concurrency=2)
    run = fleet.apply("nightly", spec(pods={"profile": "large"}), [entry(f"t{number}") for number in range(12)])
    fleet.plan()
    manifests = {name: job.manifest for name, job in fleet.jobs.items()}
    fleet.config = installation(resources={"postgres": {"limits": {"memory": "9Gi"}}}, nodeSelector={"pool": "new"})
    while fleet.end_one():
        fleet.plan()
        manifests |= {name: job.manifest for name, job in fleet.jobs.items()}
    assert run.condition("Succeeded") == "True Complete"
    first, later = (manifest["spec"]["template"]["spec"] for manifest in manifests.values())
    assert [part["resources"] for part in containers(first)] == [part["resources"] for part in containers(later)]
    assert next(containers(first))["resources"]["limits"]["memory"] == "4Gi"
    assert (first["nodeSelector"]["pool"], later["nodeSelector"]["pool"]) == ("large", "new")
    assert run.record is not None
    assert run.record.spec["pods"]["profile"] == "large"
