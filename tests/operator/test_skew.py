"""Operators and kinds of different versions: live runs go on through upgrades of either, and through rollbacks.

No version has been released, so N+1 is made from this one: it has a field that this one lacks in every object of a
document. N-1 is a recording of an older operator in the middle of a run, and kinds that drop what is optional here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.operator.fleet import CONFIG, START, Fleet, SimJob, SimRun, entry, model, summary
from tests.operator.manifests.material import containers
from tests.operator.plan.test_whole_runs import spec
from tests.operator_io.material import pod, stamp

from opsgym_api.jobs.job_spec import JobSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, EvalRunStatus
from opsgym_api.kinds.evalschedule import EvalScheduleSpec
from opsgym_api.records.attempt import TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import RunRecord
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.kube.client import EVALMODELS, EVALRUNS, PODS
from opsgym_operator.config import Images, OperatorConfig, PodsConfig, StoreGatewayConfig, parse_config
from opsgym_operator.kube.cache import slim
from opsgym_operator.observe.objects import ObservedPod, StoredState
from opsgym_operator.observe.parse import (
    parse,
    read_job,
    read_job_trials,
    read_model,
    read_pod,
    read_preflight,
    read_spec,
    read_status,
)
from opsgym_operator.observe.schedules import read_schedule
from opsgym_operator.plan.namespace import plan
from opsgym_operator.plan.run.frozen_pods import by_digest
from opsgym_operator.pod_template import DomainPods

DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64
SPEC: dict[str, Any] = {
    "suite": {"builtin": "quickstart"},
    "models": [{"name": "gold", "inline": {"model": "replay/gold", "endpoints": [{"url": "http://m:1/v1"}]}}],
    "agents": [{"name": "react"}],
    "limits": {"infraRetries": 1},
    "gate": {"maxCostUsd": 1.0},
    "budget": {"maxUsd": 2.0},
}


MAPS = {
    "prompts", "gyms", "parameters", "resources", "domain_resources", "counters", "admin_token_files", "images",
    "image_ids", "versions", "env",
}  # fmt: skip
"""Fields whose objects are maps: names in them are values, not fields."""


def newer(content: Any) -> Any:
    """A document with a field of N+1 in every object."""
    if isinstance(content, dict):
        fields = {name: value if name in MAPS else newer(value) for name, value in content.items()}
        return {**fields, "fieldOfTheNextVersion": {"a": [1]}}
    return [newer(item) for item in content] if isinstance(content, list) else content


def running(config: OperatorConfig = CONFIG) -> tuple[Fleet, Any]:
    """A fleet with a run of which some trials have ended and some have pods."""
    fleet = Fleet(config=config)
    fleet.models["gpt"] = model("gpt", max_concurrency=2)
    run = fleet.apply("nightly", spec(), [entry(f"t{number}") for number in range(12)])
    fleet.plan()
    assert fleet.end_one()
    fleet.plan()
    return fleet, run


def built(manifest: Any) -> list[Any]:
    """The volume of the databases, and name, image and resources of each container of a Job's pods."""
    pod_spec = manifest["spec"]["template"]["spec"]
    volumes = [volume for volume in pod_spec["volumes"] if volume["name"] == "data"]
    return [volumes, *((part["name"], part["image"], part["resources"]) for part in containers(pod_spec))]


def finished_manifests(fleet: Fleet) -> list[Any]:
    """Jobs of a fleet, in the order in which they are created, until its runs have ended."""
    manifests = {name: job.manifest for name, job in fleet.jobs.items()}
    fleet.plan()
    manifests |= {name: job.manifest for name, job in fleet.jobs.items()}
    while fleet.end_one():
        fleet.plan()
        manifests |= {name: job.manifest for name, job in fleet.jobs.items()}
    return list(manifests.values())


# Kinds of N+1


def test_objects_with_fields_of_a_newer_kind_are_read_as_if_they_had_none() -> None:
    manifest = {"metadata": {"name": "n"}, "spec": newer(SPEC)}
    assert read_spec(manifest) == EvalRunSpec.model_validate(SPEC)
    evalmodel = {"apiVersion": EVALMODELS.api_version, "kind": EVALMODELS.name, "metadata": {"name": "m"}}
    assert read_model({**evalmodel, "spec": newer({"model": "replay/gold"})}) == read_model(
        {**evalmodel, "spec": {"model": "replay/gold"}}
    )
    status = {"phase": "Running", "conditions": [], "counters": {"passed": 1}}
    assert parse(EvalRunStatus, {**status, "fieldOfTheNextVersion": 1}, "status") == parse(
        EvalRunStatus, status, "status"
    )


def test_what_a_newer_operator_notified_of_costs_nothing_else_of_a_status() -> None:
    sent = {"id": "a", "webhook": "desk", "event": "finished", "at": stamp(0), "state": "sent"}
    unknown = {**sent, "id": "b", "event": "eventOfTheNextVersion"}
    condition = {"type": "Succeeded", "status": "True", "reason": "Complete", "lastTransitionTime": stamp(0)}
    status = {"finishedAt": stamp(0), "conditions": [condition], "notifications": [sent, unknown]}
    known = {**status, "notifications": [sent]}
    assert read_status({"status": status}) == parse(EvalRunStatus, known, "status")


def test_a_schedule_with_fields_of_a_newer_kind_still_creates_runs() -> None:
    content = {"schedule": "0 2 * * *", "runTemplate": {"spec": SPEC}}
    metadata = {"name": "s", "uid": "u", "namespace": "team", "creationTimestamp": stamp(0)}
    observed = read_schedule({"metadata": metadata, "spec": newer(content)}, [], START)
    assert observed.spec == EvalScheduleSpec.model_validate(content)


def test_a_users_configuration_is_still_read_strictly() -> None:
    text = yaml.safe_dump({**CONFIG.model_dump(mode="json", by_alias=True), "fieldOfTheNextVersion": 1})
    with pytest.raises(Exception, match="fieldOfTheNextVersion"):
        parse_config(text, "config.yaml")


def test_a_job_spec_of_a_newer_operator_is_harvested_after_a_rollback() -> None:
    fleet, _ = running()
    written = next(iter(fleet.jobs.values())).order
    read = read_job_trials(json.dumps(newer(json.loads(written.model_dump_json()))))
    assert read is not None
    assert read.trials == tuple(written.trials)


# Kinds of N-1: the API server drops what the operator writes and they lack


@pytest.mark.parametrize(
    "dropped", sorted(set(EvalRunStatus.model_fields) - {"conditions", "finished_at", "notifications"})
)
def test_a_run_ends_although_older_kinds_drop_a_field_of_its_status(dropped: str) -> None:
    fleet, run = running()
    default = EvalRunStatus.model_fields[dropped].get_default(call_default_factory=True)
    ended = True
    while ended:
        ended = fleet.end_one()
        for uid, desired in plan(fleet.observed(), fleet.config, fleet.now, "1.0").items():
            fleet.carry_out(fleet.runs[uid], desired)
        run.status = run.status.model_copy(update={dropped: default})
    assert run.condition("Succeeded") == "True Complete"
    assert run.ledger.scored == 12


def test_a_spec_without_any_optional_field_is_read() -> None:
    least = {"suite": {"builtin": "quickstart"}, "models": [{"name": "gold", "inline": {"model": "replay/gold"}}]}
    assert isinstance(read_spec({"metadata": {"name": EVALRUNS.name}, "spec": least}), EvalRunSpec)


# Frozen specs


def test_a_spec_that_a_newer_operator_froze_is_read() -> None:
    _, run = running()
    stored = StoredState(record=run.record.model_copy(update={"spec": newer(run.record.spec)}))
    assert stored.models == StoredState(record=run.record).models


def test_a_run_that_a_newer_operator_froze_goes_on_after_a_rollback_with_its_images_and_resources() -> None:
    config = upgraded()
    fleet, run = running(config)
    first = built(next(iter(fleet.jobs.values())).manifest)
    content = newer(json.loads(run.record.model_dump_json()))
    pods = content["pods"]
    pods["images"]["sidecar"] = "sidecar:2"
    resources = {name: {**part, "fieldOfTheNextVersion": 1} for name, part in pods["resources"].items()}
    pods["resources"] = {**resources, "sidecar": {"limits": {"memory": "1Gi"}}}
    gym = {"limits": {"memory": "7Gi"}, "fieldOfTheNextVersion": 1}
    pods["domain_resources"] = {"itsm": {"gym": gym, "sidecar": {}}}
    pods["gyms"] = {domain: newer(gym) for domain, gym in pods["gyms"].items()}
    run.record = RunRecord.model_validate(content)
    fleet.config = CONFIG.model_copy(update={"pods": PodsConfig(domains={"itsm": DomainPods()})})
    manifests = finished_manifests(fleet)
    assert run.condition("Succeeded") == "True Complete"
    last = built(manifests[-1])
    assert [part[:2] for part in last[1:]] == [part[:2] for part in first[1:]]
    memory = {part[0]: part[2]["limits"]["memory"] for part in last[1:]}
    assert (memory["gym-itsm"], memory["agent"]) == ("7Gi", "9Gi")


def test_resources_that_a_domain_gets_later_are_not_those_of_runs_in_progress() -> None:
    fleet, _ = running()
    first = built(next(iter(fleet.jobs.values())).manifest)
    later = DomainPods.model_validate({"resources": {"gym": {"limits": {"memory": "9Gi"}}}})
    fleet.config = CONFIG.model_copy(update={"pods": PodsConfig(domains={"itsm": later})})
    assert built(finished_manifests(fleet)[-1]) == first


# State of an older operator


def resumed(config: OperatorConfig) -> tuple[Fleet, SimRun]:
    """A fleet of this version with the run that the recorded operator has left half-way."""
    state = json.loads((Path(__file__).parent / "older_state.json").read_text())
    fleet = Fleet(config=config)
    fleet.models["gold"] = model("gold", max_concurrency=2)
    spec = read_spec({"metadata": {"name": "nightly"}, "spec": state["spec"]})
    assert isinstance(spec, EvalRunSpec)
    index = SuiteIndex.model_validate(state["index.json"])
    run = fleet.apply("nightly", spec, list(index.entries))
    run.record, run.index = RunRecord.model_validate_json(json.dumps(state["run.json"])), index
    run.status, run.next_numbers = read_status({"status": state["status"]}), state["next_numbers"]
    cells = {planned.cell.key: planned.cell for planned in run.record.cells}
    for cell, task_id, trial in state["scored"]:
        run.ledger.record(summary(cells[cell], task_id, trial, 0, Outcome.PASSED, 0.0, fleet.now))
        run.attempts[TrialId(cell, task_id, trial)] = 1
    for name, job in state["jobs"].items():
        text = json.dumps(state["job.json"][name])
        observed = read_job({**job["manifest"], "status": {}}, read_job_trials(text), accounted=False)
        assert (observed.run_uid, len(observed.trials)) == (run.uid, observed.completions)
        manifest = job["manifest"]
        order, parallelism = JobSpec.model_validate_json(text), manifest["spec"]["parallelism"]
        done, pods = set(job["completed"]), set(job["pods"])
        fleet.jobs[name] = SimJob(manifest, order, parallelism, suspended=False, completed=done, pods=pods)
        run.config_maps.add(name)
    return fleet, run


def test_a_run_of_an_older_operator_goes_on_with_its_images_and_repeats_and_loses_no_trial() -> None:
    config = upgraded()
    fleet, run = resumed(config.model_copy(update={"store_gateway": StoreGatewayConfig(url="http://gateway.svc")}))
    assert run.condition("Progressing") == "True Running"
    older = list(fleet.jobs)
    manifests = finished_manifests(fleet)
    assert run.condition("Succeeded") == "True Complete"
    assert run.condition("GatePassed") == "True GatePassed"
    assert (run.status.progress, set(run.attempts.values())) == ("40/40", {1})
    later = [manifest for manifest in manifests if manifest["metadata"]["name"] not in older]
    assert later
    images = {part["image"] for manifest in later for part in containers(manifest["spec"]["template"]["spec"])}
    assert images <= {f"runner@{DIGEST}", "domains:1", "published:1"}
    assert config.images.runner not in images


def test_pods_of_an_older_run_get_all_that_its_images_expect() -> None:
    fleet, _ = resumed(CONFIG)
    older = {_cell(job.manifest): _parts(job.manifest) for job in fleet.jobs.values()}
    names = set(fleet.jobs)
    later = [manifest for manifest in finished_manifests(fleet) if manifest["metadata"]["name"] not in names]
    assert {_cell(manifest) for manifest in later} == set(older)
    for manifest in later:
        parts = _parts(manifest)
        for name, expected in older[_cell(manifest)].items():
            part = parts[name]
            assert part.get("command") == expected.get("command")
            assert _by(part.get("env", []), "name").items() >= _by(expected.get("env", []), "name").items()
            mounts = _by(part["volumeMounts"], "mountPath")
            assert mounts.items() >= _by(expected["volumeMounts"], "mountPath").items()


def _cell(manifest: Any) -> str:
    return str(manifest["metadata"]["annotations"]["opsgym.dev/cell"])


def _parts(manifest: Any) -> dict[str, Any]:
    """Containers of a Job's pods by name."""
    return {part["name"]: part for part in containers(manifest["spec"]["template"]["spec"])}


def _by(items: Any, field: str) -> dict[str, str]:
    return {item[field]: json.dumps(item, sort_keys=True) for item in items}


def test_a_frozen_spec_that_cannot_be_read_stops_its_run_alone_and_names_the_version_that_can() -> None:
    fleet, run = running()
    other = fleet.apply("other", spec(), [entry("t0")])
    run.record = run.record.model_copy(update={"spec": {**run.record.spec, "trials": "many"}, "opsgym": "9.0"})
    fleet.run_out()
    stalled = next(condition for condition in run.status.conditions if condition.type == "Stalled")
    assert (stalled.status, stalled.reason) == ("True", "InvalidSpec")
    assert "run.json is not readable by this version: spec.trials" in stalled.message
    assert "written by opsgym 9.0" in stalled.message
    assert other.condition("Succeeded") == "True Complete"


# Images and resources


def upgraded(config: OperatorConfig = CONFIG) -> OperatorConfig:
    pods = config.pods.model_dump(mode="json", by_alias=True)
    pods["resources"]["agent"]["limits"]["memory"] = "9Gi"
    return OperatorConfig.model_validate(
        {
            **config.model_dump(mode="json", by_alias=True),
            "images": {"runner": "runner:2", "domains": "domains:2", "pullSecrets": ["new"]},
            "gyms": {"itsm": {"image": "published:2", "port": 9000}},
            "pods": {**pods, "databaseMegabytes": 999, "nodeSelector": {"pool": "new"}},
        }
    )


def test_a_run_keeps_its_images_and_resources_when_the_installation_is_upgraded() -> None:
    fleet, run = running()
    fleet.config = upgraded()
    first, later = finished_manifests(fleet)
    assert run.condition("Succeeded") == "True Complete"

    assert built(later) == built(first)
    # Where pods run, and how images are pulled, follows the installation.
    assert later["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "new"}
    assert later["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "new"}]


@pytest.mark.parametrize(
    ("image", "image_id", "frozen"),
    [
        ("ghcr.io/o/runner:1", f"ghcr.io/o/runner@{DIGEST}", f"ghcr.io/o/runner@{DIGEST}"),
        ("ghcr.io/o/runner", f"docker-pullable://ghcr.io/o/runner@{DIGEST}", f"ghcr.io/o/runner@{DIGEST}"),
        ("host:5000/o/runner:1", f"host:5000/o/runner@{DIGEST}", f"host:5000/o/runner@{DIGEST}"),
        ("host:5000/o/runner", f"host:5000/o/runner@{DIGEST}", f"host:5000/o/runner@{DIGEST}"),
        ("runner:1", f"docker.io/library/runner@{DIGEST}", f"runner@{DIGEST}"),
        # Loaded into the node, under no name or another one.
        ("localhost/runner:dev", DIGEST, "localhost/runner:dev"),
        ("localhost/runner:dev", f"docker.io/library/import-1@{DIGEST}", "localhost/runner:dev"),
        (f"ghcr.io/o/runner@{OTHER}", f"ghcr.io/o/runner@{OTHER}", f"ghcr.io/o/runner@{OTHER}"),
        ("ghcr.io/o/runner:1", "", "ghcr.io/o/runner:1"),
    ],
)
def test_an_image_is_frozen_by_the_digest_that_its_registry_has(image: str, image_id: str, frozen: str) -> None:
    assert by_digest(image, image_id) == frozen


def test_a_preflight_tells_the_digests_of_its_images() -> None:
    ended = pod(phase="Succeeded")
    ended["status"]["containerStatuses"] = [{"name": "preflight", "state": {}, "imageID": f"r@{DIGEST}"}]
    ended["status"]["initContainerStatuses"] = [{"name": "suite", "state": {}, "imageID": f"d@{OTHER}"}]
    job = {"metadata": {"name": "p", "creationTimestamp": stamp(0)}, "status": {}}
    assert read_preflight(job, [slim(PODS, ended)]).image_ids == {"runner": f"r@{DIGEST}", "domains": f"d@{OTHER}"}


def frozen_record(config: OperatorConfig = CONFIG) -> RunRecord:
    fleet = Fleet(config=config)
    fleet.models["gpt"] = model("gpt")
    fleet.image_ids = {"runner": f"docker.io/library/runner@{DIGEST}", "domains": OTHER}
    run = fleet.apply("nightly", spec(), [entry("t0")])
    fleet.plan()
    assert run.record is not None
    return run.record


def test_run_json_says_what_affects_scores() -> None:
    record = frozen_record()
    assert record.pods is not None
    assert record.pods.images == {"runner": f"runner@{DIGEST}", "domains": "domains:1"}
    assert record.versions == {
        "operator": "1.0",
        "image:runner": f"runner@{DIGEST}",
        "image:domains": f"domains:1 ({OTHER})",
    }


def test_images_that_are_only_loaded_onto_nodes_keep_their_tags() -> None:
    images = Images(runner="runner:1", domains="domains:1", pull_policy="Never")
    record = frozen_record(CONFIG.model_copy(update={"images": images}))
    assert record.pods is not None
    assert record.pods.images["runner"] == "runner:1"


def test_different_builds_of_an_image_within_a_run_are_reported_for_good() -> None:
    fleet, run = running()

    def with_image(image_id: str) -> None:
        def seen(namespace: Any) -> Any:
            pods: list[ObservedPod] = [replace(item, image_ids=(("runner", image_id),)) for item in namespace.pods]
            if image_id == OTHER:
                pods[0] = replace(pods[0], image_ids=(("runner", f"localhost/runner@{DIGEST}"),))
            return replace(namespace, pods=tuple(pods))

        fleet.seen = seen
        fleet.plan()

    with_image(DIGEST)
    assert [item for item in run.status.conditions if item.type == "MixedImages"] == []
    with_image(OTHER)
    assert run.condition("MixedImages") == "True ImageChanged"
    message = next(item.message for item in run.status.conditions if item.type == "MixedImages")
    assert DIGEST in message
    assert OTHER in message
    with_image(DIGEST)
    assert run.condition("MixedImages") == "True ImageChanged"
    assert [event.reason for event in run.events].count("ImageChanged") == 1


def test_a_pod_says_which_images_its_node_runs() -> None:
    manifest = pod(phase="Running", agent={"running": {}})
    manifest["status"]["containerStatuses"][0]["imageID"] = f"runner@{DIGEST}"
    assert read_pod(slim(PODS, manifest)).image_ids == (("runner", f"runner@{DIGEST}"),)
