"""Pod templates of task Jobs and preflight Jobs."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import FULL, RUN, SECURITY, SPEC, containers, new_job, preflight, task

from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, Suite
from opsgym_operator.config import (
    GymImage,
    HeadersSecret,
    StoreGatewayConfig,
    TracingConfig,
)
from opsgym_operator.manifests.job_spec import job_spec, recordings

TRACING = TracingConfig(endpoint="http://collector:4318", sampling_ratio=0.25)
OPEN_TRACING = TRACING.model_copy(update={"capture_content": True})


def test_only_agent_containers_get_tracing_variables() -> None:
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


def test_every_opsgym_container_gets_the_log_level() -> None:
    config = CONFIG.model_copy(update={"log_level": "DEBUG"})
    level = {"name": "OPSGYM_LOG_LEVEL", "value": "DEBUG"}
    pod = task(config)["spec"]["template"]["spec"]
    loud = [container["name"] for container in containers(pod) if level in container.get("env", [])]
    assert loud == ["gym-itsm", "gym-csm", "agent"]
    suite = Suite.model_validate({"configMap": {"name": "tasks"}})
    assert level in preflight(suite, config)["spec"]["template"]["spec"]["containers"][0]["env"]


def test_the_platform_assigns_users_where_the_installation_says_so() -> None:
    config = CONFIG.model_copy(update={"pods": CONFIG.pods.model_copy(update={"run_as_user": None})})
    assert task(config)["spec"]["template"]["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_a_published_gym_image_needs_no_postgres() -> None:
    config = CONFIG.model_copy(update={"gyms": {"csm": GymImage(image="published/csm:2", port=8005)}})
    only = task(config, gyms=("csm",))["spec"]["template"]["spec"]
    assert [container["name"] for container in only["initContainers"]] == ["gym-csm"]
    assert {volume["name"] for volume in only["volumes"]} == {"job-spec", "tmp-agent", "tmp-csm"}
    [server] = only["initContainers"]
    assert server["image"] == "published/csm:2"
    assert "command" not in server
    assert server["securityContext"] == SECURITY | {"readOnlyRootFilesystem": False}
    spec = job_spec(RUN, new_job(("csm",)), config)
    assert (spec.gyms, spec.admin_token_files) == ({"csm": "http://127.0.0.1:8005"}, {})
    both = task(config, gyms=("itsm", "csm"))["spec"]["template"]["spec"]
    assert [container["name"] for container in both["initContainers"]] == ["postgres", "gym-itsm", "gym-csm"]
    mounted = {container["name"]: _mounts(container) for container in containers(both)}
    assert "admin" not in mounted["gym-csm"]  # another's image learns no token of our servers
    assert mounted["gym-itsm"]["admin"] == {"name": "admin", "mountPath": "/etc/opsgym/admin"}
    assert mounted["agent"]["admin"] == {"name": "admin", "mountPath": "/etc/opsgym/admin", "readOnly": True}
    assert job_spec(RUN, new_job(("itsm", "csm")), config).admin_token_files == {"itsm": "/etc/opsgym/admin/gym-itsm"}


def _mounts(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {mount["name"]: mount for mount in container.get("volumeMounts", [])}


def test_recordings_are_mounted_where_the_runner_looks() -> None:
    models = [ModelSpec(model=f"replay/{name}") for name in ("gold", "tapes/a.jsonl", "tapes/b.jsonl", "noop", "x.y/c")]
    assert recordings(models) == ["tapes", "x.y"]
    spec = EvalRunSpec.model_validate(
        {
            "suite": {"builtin": "quickstart"},
            "models": [{"name": "gpt", "inline": {"model": "replay/tapes/a.jsonl"}}],
            "supportingModels": [{"name": "jury", "inline": {"model": "replay/x.y/c"}}],
            "judge": "jury",
        }
    )
    resolved = {entry.name: entry.inline for entry in spec.all_models}
    pod = task(spec=spec, models=resolved)["spec"]["template"]["spec"]
    assert pod["volumes"][-2:] == [
        {"name": "recordings-0", "configMap": {"name": "tapes", "optional": True}},
        {"name": "recordings-1", "configMap": {"name": "x.y", "optional": True}},
    ]
    assert pod["containers"][0]["volumeMounts"][-1] == {
        "name": "recordings-1",
        "mountPath": "/etc/opsgym/recordings/x.y",
        "readOnly": True,
    }


def test_pod_settings_of_the_chart_apply_to_every_pod() -> None:
    for job in (task(FULL), preflight(SPEC.suite, FULL)):
        pod = job["spec"]["template"]["spec"]
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
        assert pod["nodeSelector"] == {"pool": "evals"}
        assert pod["tolerations"] == [
            {"key": "evals", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
        ]
        assert (pod["priorityClassName"], pod["serviceAccountName"]) == ("low", "other")
        assert {container["imagePullPolicy"] for container in containers(pod)} == {"Never"}


def test_a_suite_config_map_is_an_optional_volume() -> None:
    suite = Suite.model_validate({"configMap": {"name": "tasks"}})
    pod = preflight(suite)["spec"]["template"]["spec"]
    assert pod["initContainers"] == []
    assert {"name": "suite", "configMap": {"name": "tasks", "optional": True}} in pod["volumes"]


def test_a_suite_in_an_object_store_has_its_own_credentials() -> None:
    suite = Suite.model_validate({"objectStore": {"store": "rows", "key": "tasks/"}})
    pod = preflight(suite, FULL)["spec"]["template"]["spec"]
    assert pod["initContainers"] == []
    assert "suite" not in {volume["name"] for volume in pod["volumes"]}
    assert pod["containers"][0]["env"][2:] == [
        {"name": "OPSGYM_STORE", "value": "s3://b"},
        {"name": "OPSGYM_STORE_AWS_REGION", "value": "eu-1"},
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


def test_only_postgres_and_gym_servers_see_the_databases() -> None:
    pod = task()["spec"]["template"]["spec"]
    seen = {
        container["name"]: {mount["name"] for mount in container["volumeMounts"]} & {"data", "socket"}
        for container in containers(pod)
    }
    assert seen == {"postgres": {"data", "socket"}, "gym-itsm": {"socket"}, "gym-csm": {"socket"}, "agent": set()}
    assert "password" not in json.dumps(pod).lower()


def test_pods_hold_a_token_for_the_gateway_in_place_of_a_key() -> None:
    config = CONFIG.model_copy(update={"store_gateway": StoreGatewayConfig(url="http://gateway.evals.svc:8080")})
    suite = Suite.model_validate({"objectStore": {"store": "results", "key": "suites/team/tasks.json"}})
    url = {"value": "http://gateway.evals.svc:8080/stores/results"}
    for job, names in (
        (task(config), ["OPSGYM_STORE"]),
        (preflight(suite, config), ["OPSGYM_STORE", "OPSGYM_SUITE_STORE"]),
    ):
        pod = job["spec"]["template"]["spec"]
        main: Any = pod["containers"][0]
        env = {variable.pop("name"): variable for variable in copy.deepcopy(main["env"])}
        assert [env.get(name) for name in names] == [url] * len(names)
        assert env["OPSGYM_STORE_TOKEN_FILE"] == {"value": "/var/run/secrets/opsgym.dev/store-gateway/token"}
        assert [name for name in env if "AWS" in name] == []
        assert "opsgym-results" not in json.dumps(pod)
        [volume] = [volume for volume in pod["volumes"] if "projected" in volume]
        token = {"audience": "http://gateway.evals.svc:8080", "expirationSeconds": 3600, "path": "token"}
        assert volume["projected"] == {"sources": [{"serviceAccountToken": token}]}
        mount = {"name": volume["name"], "mountPath": "/var/run/secrets/opsgym.dev/store-gateway", "readOnly": True}
        assert mount in main["volumeMounts"]
        assert volume["name"] not in json.dumps([other["volumeMounts"] for other in pod["initContainers"]])
        assert pod["automountServiceAccountToken"] is False


def test_pods_use_a_key_of_their_own_where_a_store_has_one() -> None:
    store = CONFIG.stores[0].model_copy(update={"pod_secret": "team-key"})
    env = task(store=store)["spec"]["template"]["spec"]["containers"][0]["env"]
    secrets = {
        item["valueFrom"]["secretKeyRef"]["name"]
        for item in env
        if item["name"].startswith("OPSGYM_STORE_AWS_") and "valueFrom" in item
    }
    assert secrets == {"team-key"}


def test_pods_of_several_trials_replace_their_processes_and_have_time_for_each() -> None:
    job = task(per_pod=2)
    pod = job["spec"]["template"]["spec"]
    assert job["spec"]["completions"] == 2
    assert pod["activeDeadlineSeconds"] == 2 * 900 + 3 * 3600
    commands = [container["command"] for container in pod["initContainers"]]
    assert [command[-1] for command in commands] == ["--restartable"] * 3
    assert job_spec(RUN, new_job(per_pod=2), CONFIG).trials_per_pod == 2


def test_only_containers_that_make_or_seal_held_out_rows_get_the_seed_and_no_disk_gets_a_row() -> None:
    config = CONFIG.model_copy(update={"held_out_secret": "quiz", "tracing": OPEN_TRACING})
    seed = {"name": "OPSGYM_HELD_OUT_SEED", "valueFrom": {"secretKeyRef": {"name": "quiz", "key": "seed"}}}
    content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    suite = Suite.model_validate({"builtin": "quickstart", "heldOut": True})
    pod = task(config, spec=SPEC.model_copy(update={"suite": suite}))["spec"]["template"]["spec"]
    assert [container["name"] for container in containers(pod) if seed in container.get("env", [])] == ["agent"]
    assert {"name": content, "value": "false"} in pod["containers"][0]["env"]
    check = preflight(suite, config)["spec"]["template"]["spec"]
    assert [container["name"] for container in containers(check) if seed in container["env"]] == ["suite", "preflight"]
    assert check["initContainers"][0]["command"][-3:] == ["quickstart", "/suite", "--held-out"]
    (volume,) = [volume for volume in check["volumes"] if volume["name"] == "suite"]
    assert volume["emptyDir"]["medium"] == "Memory"


def test_pods_of_other_runs_do_not_get_the_held_out_seed() -> None:
    config = CONFIG.model_copy(update={"held_out_secret": "quiz", "tracing": OPEN_TRACING})
    pod = task(config)["spec"]["template"]["spec"]
    assert "quiz" not in json.dumps(pod)
    assert {"name": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "value": "true"} in pod["containers"][0][
        "env"
    ]
    assert "quiz" not in json.dumps(preflight(Suite.model_validate({"builtin": "quickstart"}), config))
