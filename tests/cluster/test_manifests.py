"""A real API server takes every object that a plan makes, under the strictest Pod Security Standard, field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from devcluster.cluster import Cluster
from tests.operator.fleet import Fleet, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import GymImage, Images, OperatorConfig, PodsConfig
from opsgym_operator.plan.namespace import plan
from opsgym_operator.pod_template import Toleration

STORES = [
    StoreConfig(name="results", url="s3://bucket/prefix", endpoint_url="http://s3.test", region="r", secret="results"),
    StoreConfig(name="rows", url="s3://rows", secret="rows", shared_suites=["tasks/"]),
]
IMAGES = Images(runner="localhost/opsgym-runner:dev", domains="localhost/opsgym-domains:dev")
PLAIN = OperatorConfig(stores=STORES, default_store="results", images=IMAGES)
FULL = PLAIN.model_copy(
    update={
        "images": IMAGES.model_copy(update={"pull_policy": "Never", "pull_secrets": ["registry"]}),
        "gyms": {"hr": GymImage(image="localhost/hr:1", port=8010)},
        "pods": PodsConfig(
            node_selector={"pool": "evals"},
            tolerations=[Toleration(key="evals", operator="Exists", effect="NoExecute", toleration_seconds=5)],
            priority_class_name="system-node-critical",
        ),
    }
)
KEYED: dict[str, Any] = {
    "credentials": {"secret": "openai"},
    "endpoints": [{"url": "https://a/v1"}, {"url": "https://b/v1", "credentials": {"secret": "two", "key": "k"}}],
}


def made(config: OperatorConfig, name: str, **fields: Any) -> list[Mapping[str, Any]]:
    """Every object that a run's plans make until its first Jobs are there."""
    fleet = Fleet(config=config)
    fleet.models["gpt"] = model("gpt", **KEYED)
    inline = {"name": "tape", "inline": {"model": "replay/tapes/mixed.jsonl"}}
    spec = {"suite": {"builtin": "q"}, "models": [{"name": "gpt", "ref": "gpt"}, inline]} | fields
    run = fleet.apply(
        name,
        EvalRunSpec.model_validate(spec),
        [entry("a"), entry("b", "itsm", "hr"), entry("c", "hr"), entry("d", "d" * 60, "e.f")],
    )
    objects: list[Mapping[str, Any]] = []
    for _ in range(6):
        [desired] = plan(fleet.observed(), config, fleet.now, "1.0").values()
        objects += fleet.manifests(run, desired)
        fleet.carry_out(run, desired)
    return objects


@pytest.mark.parametrize(
    ("config", "name", "fields"),
    [
        (PLAIN, "nightly", {}),
        (FULL, "a.run.with-a-very-long-name." + "x" * 35, {"trials": 300}),
        (PLAIN, "rows", {"suite": {"objectStore": {"store": "rows", "key": "tasks/"}}}),
        (PLAIN, "map", {"suite": {"configMap": {"name": "tasks"}}, "limits": {"infraRetries": 0}}),
    ],
    ids=["plain", "everything", "object-store", "config-map"],
)
def test_the_api_server_takes_every_object_of_a_run(
    cluster: Cluster, namespace: str, config: OperatorConfig, name: str, fields: dict[str, Any]
) -> None:
    objects = made(config, name, **fields)
    assert {item["kind"] for item in objects} == {"ConfigMap", "Job"}
    assert len(objects) >= 6
    here = [
        # The run itself is not there to own them.
        {**item, "metadata": {**item["metadata"], "namespace": namespace, "ownerReferences": []}}
        for item in objects
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": here})
    result = cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)
    assert result.stdout.count("created (server dry run)") == len(objects)
    assert result.stderr == "", "Pod Security and deprecations would be warned of here"
