"""The objects of a run, whole; and what no pod may have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START

from opsgym_api.evalmodel import ModelSpec
from opsgym_api.evalrun import Access, Agent, EvalRunSpec, Limits, ModelEntry, Suite
from opsgym_api.orders import JobOrder, PreflightOrder, TrialRef
from opsgym_api.records import Cell
from opsgym_operator.config import (
    GymImage,
    HeadersSecret,
    Images,
    OperatorConfig,
    PodsConfig,
    StoreConfig,
    Toleration,
    TracingConfig,
)
from opsgym_operator.manifests import PreflightJob, TaskJob, order_map, preflight_job, task_job
from opsgym_operator.names import TASK, base_of, job_prefix, label_of, preflight_name
from opsgym_operator.observed import ObservedRun
from opsgym_operator.ordering import Cast, job_order, key_envs, ordered_model, recordings

MODEL = ModelSpec.model_validate({
    "model": "openai/gpt-5",
    "credentials": {"secret": "openai"},
    "endpoints": [{"url": "https://one/v1"}, {"url": "https://two/v1", "credentials": {"secret": "two", "key": "k"}}],
    "prices": {"inputUsd": 1, "outputUsd": 2},
    "maxConcurrency": 4,
})  # fmt: skip
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
POD = {
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 30,
    "serviceAccountName": "opsgym-task",
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}
STORE_ENV = [
    {"name": "OPSGYM_STORE", "value": "s3://bucket/prefix"},
    {"name": "AWS_ENDPOINT_URL_S3", "value": "http://s3.test"},
    {
        "name": "AWS_ACCESS_KEY_ID",
        "valueFrom": {"secretKeyRef": {"name": "opsgym-results", "key": "access-key-id"}},
    },
    {
        "name": "AWS_SECRET_ACCESS_KEY",
        "valueFrom": {"secretKeyRef": {"name": "opsgym-results", "key": "secret-access-key"}},
    },
]


POSTGRES = ["python", "-m", "opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket"]


def resources(container: str) -> dict[str, Any]:
    found: dict[str, Any] = CONFIG.pods.resources.model_dump()[container]
    return found


def startup(**check: Any) -> dict[str, Any]:
    return {**check, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 120}


def order(gyms: tuple[str, ...] = ("itsm", "csm"), config: OperatorConfig = CONFIG) -> JobOrder:
    model = ordered_model("gpt", MODEL, "EvalModel gpt-5: spec", key_envs([MODEL]))
    trials = [TrialRef(task_id="a", trial=0), TrialRef(task_id="b", trial=0), TrialRef(task_id="a", trial=1)]
    return job_order("team.nightly.1234", SPEC, CELL, gyms, trials, Cast(model), config)


def task(config: OperatorConfig = CONFIG, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": "nightly-abcdef-0",
        "order": order(config=config),
        "envs": key_envs([MODEL]),
        "recordings": [],
        "eval_model": "gpt-5",
        "parallelism": 2,
        "retries": 2,
        "queue": None,
    }
    return task_job(RUN, TaskJob(**fields | changes), STORE, config)


def gym(domain: str, port: int) -> dict[str, Any]:
    return {
        "name": f"gym-{domain}",
        "image": "domains:1",
        "imagePullPolicy": "IfNotPresent",
        "command": ["python", "-m", "opsgym_domains.serve", domain, "--host", "0.0.0.0", "--port", str(port)],
        "env": [
            {"name": "OPSGYM_POSTGRES_HOST", "value": "/socket"},
            {"name": "OPSGYM_POSTGRES_USER", "value": "postgres"},
        ],
        "restartPolicy": "Always",
        "startupProbe": startup(httpGet={"path": "/health", "port": port}),
        "resources": resources("gym"),
        "securityContext": SECURITY,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": f"tmp-{domain}", "mountPath": "/tmp"},
            {"name": "socket", "mountPath": "/socket"},
        ],
    }


def test_a_task_job_whole() -> None:
    labels = {"opsgym.dev/role": "task", "opsgym.dev/model": "gpt", "opsgym.dev/eval-model": "gpt-5"}
    annotations = {"opsgym.dev/cell": "gpt_react_oracle_hybrid"}
    assert task() == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "nightly-abcdef-0",
            "namespace": "team",
            "labels": LABELS | labels,
            "annotations": annotations,
            "ownerReferences": [OWNER],
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": 3,
            "parallelism": 2,
            "suspend": False,
            "backoffLimitPerIndex": 2,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "Count",
                        "onExitCodes": {
                            "containerName": "agent",
                            "operator": "In",
                            "values": [100, 101, 102, 103, 104, 105, 106, 107, 108, 109],
                        },
                    },
                ]
            },
            "template": {
                "metadata": {"labels": LABELS | labels, "annotations": annotations},
                "spec": POD
                | {
                    "initContainers": [
                        {
                            "name": "postgres",
                            "image": "domains:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": POSTGRES,
                            "restartPolicy": "Always",
                            "startupProbe": startup(exec={"command": ["pg_isready", "-q", "-h", "/socket"]}),
                            "resources": resources("postgres"),
                            "securityContext": SECURITY,
                            "terminationMessagePolicy": "FallbackToLogsOnError",
                            "volumeMounts": [
                                {"name": "data", "mountPath": "/data"},
                                {"name": "socket", "mountPath": "/socket"},
                            ],
                        },
                        gym("itsm", 8801),
                        gym("csm", 8802),
                    ],
                    "containers": [
                        {
                            "name": "agent",
                            "image": "runner:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["python", "-m", "opsgym_runner", "task"],
                            "env": [
                                {"name": "OPSGYM_ORDER", "value": "/etc/opsgym/order/order.json"},
                                *STORE_ENV,
                                {
                                    "name": "OPSGYM_KEY_0",
                                    "valueFrom": {"secretKeyRef": {"name": "openai", "key": "api-key"}},
                                },
                                {"name": "OPSGYM_KEY_1", "valueFrom": {"secretKeyRef": {"name": "two", "key": "k"}}},
                            ],
                            "resources": resources("agent"),
                            "securityContext": SECURITY,
                            "terminationMessagePolicy": "File",
                            "volumeMounts": [
                                {"name": "order", "mountPath": "/etc/opsgym/order", "readOnly": True},
                                {"name": "tmp-agent", "mountPath": "/tmp"},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "order", "configMap": {"name": "nightly-abcdef-0"}},
                        {"name": "tmp-agent", "emptyDir": {}},
                        {"name": "tmp-itsm", "emptyDir": {}},
                        {"name": "tmp-csm", "emptyDir": {}},
                        {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "256Mi"}},
                        {"name": "socket", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
                    ],
                },
            },
        },
    }


TRACING = TracingConfig(endpoint="http://collector:4318", sampling_ratio=0.25)


def test_only_agents_are_told_where_spans_go() -> None:
    secret = HeadersSecret(name="collector", key="otlp")
    config = CONFIG.model_copy(update={"tracing": TRACING.model_copy(update={"headers_secret": secret})})
    pod = task(config)["spec"]["template"]["spec"]
    assert pod["containers"][0]["env"][-5:] == [
        {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"},
        {"name": "OTEL_TRACES_SAMPLER", "value": "parentbased_traceidratio"},
        {"name": "OTEL_TRACES_SAMPLER_ARG", "value": "0.25"},
        {"name": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "value": "false"},
        {
            "name": "OTEL_EXPORTER_OTLP_HEADERS",
            "valueFrom": {"secretKeyRef": {"name": "collector", "key": "otlp", "optional": True}},
        },
    ]
    assert "OTEL_" not in json.dumps(pod["initContainers"])
    bare = CONFIG.model_copy(update={"tracing": TRACING})
    assert "OTEL_EXPORTER_OTLP_HEADERS" not in json.dumps(task(bare))


def test_every_process_of_ours_is_told_what_to_log() -> None:
    config = CONFIG.model_copy(update={"log_level": "DEBUG"})
    told = {"name": "OPSGYM_LOG_LEVEL", "value": "DEBUG"}
    pod = task(config)["spec"]["template"]["spec"]
    loud = [found["name"] for found in containers(pod) if told in found.get("env", [])]
    assert loud == ["gym-itsm", "gym-csm", "agent"]
    suite = Suite.model_validate({"configMap": {"name": "tasks"}})
    assert told in preflight(suite, config)["spec"]["template"]["spec"]["containers"][0]["env"]


def test_an_order_whole() -> None:
    config_map = order_map(RUN, "nightly-abcdef-0", TASK, order())
    content = config_map.pop("data")
    assert config_map == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "nightly-abcdef-0",
            "namespace": "team",
            "labels": LABELS | {"opsgym.dev/role": "task"},
            "ownerReferences": [OWNER],
        },
        "immutable": True,
    }
    assert json.loads(content["order.json"]) == {
        "version": 1,
        "run": "team.nightly.1234",
        "cell": {"model": "gpt", "agent": "react", "mode": "oracle", "domain": "hybrid"},
        "model": {
            "name": "gpt",
            "model": "openai/gpt-5",
            "origin": "EvalModel gpt-5: spec",
            "endpoints": [
                {"url": "https://one/v1", "key_env": "OPSGYM_KEY_0"},
                {"url": "https://two/v1", "key_env": "OPSGYM_KEY_1"},
            ],
            "parameters": {},
            "max_concurrency": 4,
            "prices": {"input_usd": 1.0, "output_usd": 2.0, "cached_input_usd": None, "cache_write_usd": None},
            "allow_unpriced": False,
        },
        "planner": None,
        "judge": None,
        "agent": Agent(name="react").model_dump(),
        "limits": Limits().model_dump(),
        "access": Access.PUBLISHED.value,
        "gyms": {"itsm": "http://127.0.0.1:8801", "csm": "http://127.0.0.1:8802"},
        "trials": [{"task_id": "a", "trial": 0}, {"task_id": "b", "trial": 0}, {"task_id": "a", "trial": 1}],
        "resources": {
            "postgres": resources("postgres"),
            "gym-itsm": resources("gym"),
            "gym-csm": resources("gym"),
            "agent": resources("agent"),
        },
    }


def test_a_queue_gets_its_jobs_suspended_and_labelled() -> None:
    job = task(queue="team-a", eval_model="")
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert "opsgym.dev/eval-model" not in job["metadata"]["labels"]


def test_a_published_server_stands_in_for_ours_without_postgres() -> None:
    config = CONFIG.model_copy(update={"gyms": {"csm": GymImage(image="published/csm:2", port=8005)}})
    only = task(config, order=order(("csm",), config))["spec"]["template"]["spec"]
    assert [container["name"] for container in only["initContainers"]] == ["gym-csm"]
    assert {volume["name"] for volume in only["volumes"]} == {"order", "tmp-agent", "tmp-csm"}
    [server] = only["initContainers"]
    assert server["image"] == "published/csm:2"
    assert "command" not in server
    assert server["securityContext"] == SECURITY | {"readOnlyRootFilesystem": False}
    assert order(("csm",), config).gyms == {"csm": "http://127.0.0.1:8005"}
    both = task(config, order=order(("itsm", "csm"), config))["spec"]["template"]["spec"]
    assert [container["name"] for container in both["initContainers"]] == ["postgres", "gym-itsm", "gym-csm"]


def test_recordings_are_mounted_where_the_runner_looks() -> None:
    models = [ModelSpec(model=f"replay/{name}") for name in ("gold", "tapes/a.jsonl", "tapes/b.jsonl", "noop", "x.y/c")]
    assert recordings(models) == ["tapes", "x.y"]
    pod = task(recordings=["tapes", "x.y"])["spec"]["template"]["spec"]
    assert pod["volumes"][-2:] == [
        {"name": "recordings-0", "configMap": {"name": "tapes", "optional": True}},
        {"name": "recordings-1", "configMap": {"name": "x.y", "optional": True}},
    ]
    assert pod["containers"][0]["volumeMounts"][-1] == {
        "name": "recordings-1",
        "mountPath": "/etc/opsgym/recordings/x.y",
        "readOnly": True,
    }


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


def test_what_the_chart_sets_is_in_every_pod() -> None:
    for job in (task(FULL), preflight(SPEC.suite, FULL)):
        pod = job["spec"]["template"]["spec"]
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
        assert pod["nodeSelector"] == {"pool": "evals"}
        assert pod["tolerations"] == [
            {"key": "evals", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
        ]
        assert (pod["priorityClassName"], pod["serviceAccountName"]) == ("low", "other")
        assert {container["imagePullPolicy"] for container in containers(pod)} == {"Never"}


def preflight(suite: Suite, config: OperatorConfig = CONFIG, **changes: Any) -> dict[str, Any]:
    checked = PreflightOrder(run="team.nightly.1234", suite=suite, models=[])
    fields: dict[str, Any] = {"name": "nightly-preflight-1", "order": checked, "envs": [], "recordings": []} | changes
    return preflight_job(RUN, PreflightJob(**fields), config.stores[0], config)


def test_a_preflight_job_whole() -> None:
    labels = LABELS | {"opsgym.dev/role": "preflight"}
    assert preflight(SPEC.suite, envs=key_envs([MODEL])[:1], recordings=["tapes"]) == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "nightly-preflight-1",
            "namespace": "team",
            "labels": labels,
            "ownerReferences": [OWNER],
        },
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": 3600,
            "template": {
                "metadata": {"labels": labels},
                "spec": POD
                | {
                    "initContainers": [
                        {
                            "name": "suite",
                            "image": "domains:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["python", "-m", "opsgym_domains.suites", "export", "quickstart", "/suite"],
                            "resources": resources("gym"),
                            "securityContext": SECURITY,
                            "terminationMessagePolicy": "FallbackToLogsOnError",
                            "volumeMounts": [{"name": "suite", "mountPath": "/suite"}],
                        }
                    ],
                    "containers": [
                        {
                            "name": "preflight",
                            "image": "runner:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["python", "-m", "opsgym_runner", "preflight"],
                            "env": [
                                {"name": "OPSGYM_ORDER", "value": "/etc/opsgym/order/order.json"},
                                {"name": "OPSGYM_SUITE", "value": "/suite"},
                                *STORE_ENV,
                                {
                                    "name": "OPSGYM_KEY_0",
                                    "valueFrom": {"secretKeyRef": {"name": "openai", "key": "api-key"}},
                                },
                            ],
                            "resources": resources("agent"),
                            "securityContext": SECURITY,
                            "terminationMessagePolicy": "File",
                            "volumeMounts": [
                                {"name": "order", "mountPath": "/etc/opsgym/order", "readOnly": True},
                                {"name": "tmp", "mountPath": "/tmp"},
                                {"name": "suite", "mountPath": "/suite", "readOnly": True},
                                {"name": "recordings-0", "mountPath": "/etc/opsgym/recordings/tapes", "readOnly": True},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "order", "configMap": {"name": "nightly-preflight-1"}},
                        {"name": "tmp", "emptyDir": {}},
                        {"name": "suite", "emptyDir": {}},
                        {"name": "recordings-0", "configMap": {"name": "tapes", "optional": True}},
                    ],
                },
            },
        },
    }


def test_rows_of_a_config_map_are_mounted_and_may_be_missing() -> None:
    suite = Suite.model_validate({"configMap": {"name": "tasks"}})
    pod = preflight(suite)["spec"]["template"]["spec"]
    assert pod["initContainers"] == []
    assert {"name": "suite", "configMap": {"name": "tasks", "optional": True}} in pod["volumes"]


def test_rows_of_an_object_store_come_with_credentials_of_their_own() -> None:
    suite = Suite.model_validate({"objectStore": {"store": "rows", "key": "tasks/"}})
    pod = preflight(suite, FULL)["spec"]["template"]["spec"]
    assert pod["initContainers"] == []
    assert "suite" not in {volume["name"] for volume in pod["volumes"]}
    assert pod["containers"][0]["env"][1:] == [
        {"name": "OPSGYM_STORE", "value": "s3://b"},
        {"name": "AWS_REGION", "value": "eu-1"},
        {"name": "OPSGYM_SUITE_STORE", "value": "s3://rows"},
        {"name": "OPSGYM_SUITE_AWS_ENDPOINT_URL_S3", "value": "http://rows"},
        {"name": "OPSGYM_SUITE_AWS_REGION", "value": "r"},
        {
            "name": "OPSGYM_SUITE_AWS_ACCESS_KEY_ID",
            "valueFrom": {"secretKeyRef": {"name": "rows-key", "key": "access-key-id"}},
        },
        {
            "name": "OPSGYM_SUITE_AWS_SECRET_ACCESS_KEY",
            "valueFrom": {"secretKeyRef": {"name": "rows-key", "key": "secret-access-key"}},
        },
    ]


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from pod.get("initContainers", [])
    yield from pod["containers"]


def test_only_postgres_and_gym_servers_see_the_databases() -> None:
    pod = task()["spec"]["template"]["spec"]
    seen = {
        container["name"]: {mount["name"] for mount in container["volumeMounts"]} & {"data", "socket"}
        for container in containers(pod)
    }
    assert seen == {"postgres": {"data", "socket"}, "gym-itsm": {"socket"}, "gym-csm": {"socket"}, "agent": set()}
    assert "password" not in json.dumps(pod).lower()


# Credentials


def test_a_credential_is_one_variable_however_often_it_is_named() -> None:
    models = [MODEL, ModelSpec.model_validate({"model": "x/y", "credentials": {"secret": "two", "key": "k"}})]
    assert [(env.name, env.secret, env.key) for env in key_envs(models)] == [
        ("OPSGYM_KEY_0", "openai", "api-key"),
        ("OPSGYM_KEY_1", "two", "k"),
    ]


def test_a_model_without_endpoints_uses_its_key_at_the_providers_address() -> None:
    keyed = ModelSpec.model_validate({"model": "openai/gpt-5", "credentials": {"secret": "openai"}})
    [endpoint] = ordered_model("m", keyed, "here", key_envs([keyed])).endpoints
    assert (endpoint.url, endpoint.key_env) == (None, "OPSGYM_KEY_0")
    assert ordered_model("m", ModelSpec(model="replay/gold"), "here", []).endpoints == []


# Names


@pytest.mark.parametrize("name", ["nightly", "n" * 38])
def test_a_short_name_begins_the_names_of_its_objects(name: str) -> None:
    assert base_of(name) == name


@pytest.mark.parametrize("name", ["a.b", "n" * 39, "n" * 63, "a" * 33 + ".-b" * 10])
def test_every_pod_of_a_run_has_a_host_name(name: str) -> None:
    run = ObservedRun(name, "1234", "team", 1, START, SPEC)
    longest = f"{job_prefix(run, CELL.key)}99999-999"
    assert len(longest) <= 63
    assert set(longest) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(preflight_name(run, "content")) <= 57, "a pod's name has six characters after it"


def test_runs_and_cells_never_share_names() -> None:
    others = [
        (RUN, CELL.key),
        (RUN, "gpt_react_oracle_itsm"),
        (ObservedRun("nightly", "5678", "team", 1, START, SPEC), CELL.key),
        (ObservedRun("night.ly", "1234", "team", 1, START, SPEC), CELL.key),
        (ObservedRun("night-ly", "1234", "team", 1, START, SPEC), CELL.key),
    ]
    assert len({job_prefix(run, cell) for run, cell in others}) == len(others)
    assert label_of("gym-" + "d" * 63) != label_of("gym-" + "d" * 62)
