"""A run, its Jobs and parts of their manifests, for tests of the builders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.operator.fleet import CONFIG, START

from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, ModelEntry, Suite
from opsgym_api.records.attempt import Cell
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import (
    Images,
    OperatorConfig,
    PodsConfig,
)
from opsgym_operator.manifests.jobs import preflight_job, task_job
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.desired import PreflightJob, ResolvedSpec, TaskJob
from opsgym_operator.pod_template import Toleration

MODEL = ModelSpec.model_validate({
    "model": "openai/gpt-5",
    "credentials": {"secret": "openai"},
    "endpoints": [{"url": "https://one/v1"}, {"url": "https://two/v1", "credentials": {"secret": "two", "key": "k"}}],
    "prices": {"inputUsd": 1, "outputUsd": 2},
    "maxConcurrency": 4,
})  # fmt: skip


TAPE = ModelSpec.model_validate({"model": "replay/tapes/a.jsonl", "credentials": {"secret": "openai"}})


SPEC = EvalRunSpec(suite=Suite(builtin="quickstart"), models=[ModelEntry(name="gpt", ref="gpt-5")])


RUN = ObservedRun("nightly", "1234", "team", 1, START, SPEC)


CELL = Cell(model="gpt", agent="react", mode="oracle", domain="hybrid")


STORE = CONFIG.store_by_name["results"]


OWNER = {
    "apiVersion": "opsgym.dev/v1alpha1",
    "kind": "EvalRun",
    "name": "nightly",
    "uid": "1234",
    "controller": True,
    "blockOwnerDeletion": True,
}


LABELS = {
    "app.kubernetes.io/managed-by": "opsgym-operator",
    "app.kubernetes.io/part-of": "opsgym",
    "opsgym.dev/run": "nightly",
    "opsgym.dev/run-uid": "1234",
}


SECURITY = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def resources(container: str) -> dict[str, Any]:
    of_container: dict[str, Any] = CONFIG.pods.resources.model_dump()[container]
    return of_container


def new_job(gyms: tuple[str, ...] = ("itsm", "csm"), spec: EvalRunSpec = SPEC, **changes: Any) -> TaskJob:
    trials = (TrialRef(task_id="a", trial=0), TrialRef(task_id="b", trial=0), TrialRef(task_id="a", trial=1))
    models = changes.pop("models", {"gpt": MODEL})
    fields: dict[str, Any] = {
        "name": "nightly-abcdef-0",
        "cell": CELL,
        "gyms": gyms,
        "trials": trials,
        "parallelism": 2,
        "retries": 2,
        "eval_model": "gpt-5",
        "resolved": ResolvedSpec(spec, models, changes.pop("store", STORE)),
    }
    return TaskJob(**fields | changes)


def task(config: OperatorConfig = CONFIG, **changes: Any) -> dict[str, Any]:
    return task_job(RUN, new_job(**changes), config)


FULL = OperatorConfig(
    stores=[
        StoreConfig(name="results", url="s3://b", region="eu-1"),
        StoreConfig(name="rows", url="s3://rows", endpoint_url="http://rows", region="r", secret="rows-key"),
    ],
    default_store="results",
    images=Images(runner="r:1", domains="d:1", pull_policy="Never", pull_secrets=["registry"]),
    pods=PodsConfig(
        node_selector={"pool": "evals"},
        tolerations=[Toleration(key="evals", operator="Exists", effect="NoExecute", toleration_seconds=5)],
        priority_class_name="low",
        service_account_name="other",
        database_megabytes=64,
    ),
)


def preflight(suite: Suite, config: OperatorConfig = CONFIG, *models: ModelSpec) -> dict[str, Any]:
    spec = SPEC.model_copy(update={"suite": suite})
    resolved = ResolvedSpec(spec, {f"m{number}": model for number, model in enumerate(models)}, config.stores[0])
    return preflight_job(RUN, PreflightJob("nightly-preflight-1", resolved), config)


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from pod.get("initContainers", [])
    yield from pod["containers"]
