"""Jobs of a run, as whole manifests."""

from __future__ import annotations

from typing import Any

from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import LABELS, OWNER, SECURITY, SPEC, TAPE, preflight, resources, task

from opsgym_api.kinds.evalrun import Suite
from opsgym_operator.manifests.liveness import probe_script

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
    {"name": "OPSGYM_STORE_AWS_ENDPOINT_URL_S3", "value": "http://s3.test"},
    {
        "name": "OPSGYM_STORE_AWS_ACCESS_KEY_ID",
        "valueFrom": {"secretKeyRef": {"name": "opsgym-results", "key": "access-key-id"}},
    },
    {
        "name": "OPSGYM_STORE_AWS_SECRET_ACCESS_KEY",
        "valueFrom": {"secretKeyRef": {"name": "opsgym-results", "key": "secret-access-key"}},
    },
]


ADDED_LABELS = {"sidecar.istio.io/inject": "false"}
ANNOTATIONS = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "linkerd.io/inject": "disabled",
    "sidecar.istio.io/inject": "false",
}
SKIP_IDENTITY = "eks.amazonaws.com/skip-containers"


LIVENESS = {
    "exec": {"command": ["sh", "-c", probe_script()]},
    "initialDelaySeconds": 60,
    "periodSeconds": 20,
    "timeoutSeconds": 15,
    "failureThreshold": 3,
    "terminationGracePeriodSeconds": 20,
}
POSTGRES = ["python", "-m", "opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket"]


def startup(**check: Any) -> dict[str, Any]:
    return {**check, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 120}


def gym(domain: str, port: int) -> dict[str, Any]:
    return {
        "name": f"gym-{domain}",
        "image": "domains:1",
        "imagePullPolicy": "IfNotPresent",
        "command": [
            *("python", "-m", "opsgym_domains.serve", domain),
            *("--host", "127.0.0.1", "--port", str(port), "--ready-file", "/tmp/ready"),
            *("--admin-token-file", f"/etc/opsgym/admin/gym-{domain}"),
        ],
        "env": [
            {"name": "OPSGYM_POSTGRES_HOST", "value": "/socket"},
            {"name": "OPSGYM_POSTGRES_USER", "value": "postgres"},
        ],
        "restartPolicy": "Always",
        "startupProbe": startup(exec={"command": ["sh", "-c", "test -e /tmp/ready"]}),
        "resources": resources("gym"),
        "securityContext": SECURITY,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": f"tmp-{domain}", "mountPath": "/tmp"},
            {"name": "socket", "mountPath": "/socket"},
            {"name": "admin", "mountPath": "/etc/opsgym/admin"},
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
                "metadata": {
                    "labels": ADDED_LABELS | LABELS | labels,
                    "annotations": {SKIP_IDENTITY: "postgres,gym-itsm,gym-csm,suite", **ANNOTATIONS, **annotations},
                },
                "spec": POD
                | {"activeDeadlineSeconds": 900 + 3 * 3600}
                | {
                    "initContainers": [
                        {
                            "name": "postgres",
                            "image": "domains:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": POSTGRES,
                            "env": [{"name": "OPSGYM_POSTGRES_DOMAINS", "value": "csm,itsm"}],
                            "restartPolicy": "Always",
                            "startupProbe": startup(
                                exec={"command": ["pg_isready", "-q", "-h", "/socket", "-U", "postgres"]}
                            ),
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
                                {"name": "OPSGYM_JOB_SPEC", "value": "/etc/opsgym/job/job.json"},
                                {"name": "OPSGYM_HEARTBEAT", "value": "/tmp/heartbeat"},
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
                            "livenessProbe": LIVENESS,
                            "volumeMounts": [
                                {"name": "job-spec", "mountPath": "/etc/opsgym/job", "readOnly": True},
                                {"name": "tmp-agent", "mountPath": "/tmp"},
                                {"name": "admin", "mountPath": "/etc/opsgym/admin", "readOnly": True},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "job-spec", "configMap": {"name": "nightly-abcdef-0"}},
                        {"name": "tmp-agent", "emptyDir": {"sizeLimit": "1Gi"}},
                        {"name": "tmp-itsm", "emptyDir": {"sizeLimit": "1Gi"}},
                        {"name": "tmp-csm", "emptyDir": {"sizeLimit": "1Gi"}},
                        {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "384Mi"}},
                        {"name": "socket", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
                        {"name": "admin", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
                    ],
                },
            },
        },
    }


def test_queued_jobs_are_suspended_and_labelled() -> None:
    job = task(spec=SPEC.model_copy(update={"queue_name": "team-a"}), eval_model="")
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert "kueue.x-k8s.io/priority-class" not in job["metadata"]["labels"]
    assert job["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] == "1"
    urgent = task(spec=SPEC.model_copy(update={"queue_name": "team-a", "queue_priority_class": "urgent"}))
    assert urgent["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "urgent"
    assert "opsgym.dev/eval-model" not in job["metadata"]["labels"]


def test_a_preflight_exports_the_variant_of_the_suite() -> None:
    pod = preflight(Suite(builtin="csm-core", variant=7))["spec"]["template"]["spec"]
    assert pod["initContainers"][0]["command"][3:] == ["export", "csm-core", "/suite", "--variant", "7"]


def test_a_preflight_job_whole() -> None:
    labels = LABELS | {"opsgym.dev/role": "preflight"}
    assert preflight(SPEC.suite, CONFIG, TAPE) == {
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
                "metadata": {
                    "labels": ADDED_LABELS | labels,
                    "annotations": {SKIP_IDENTITY: "postgres,suite", **ANNOTATIONS},
                },
                "spec": POD
                | {"activeDeadlineSeconds": 900}
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
                                {"name": "OPSGYM_JOB_SPEC", "value": "/etc/opsgym/job/job.json"},
                                {"name": "OPSGYM_HEARTBEAT", "value": "/tmp/heartbeat"},
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
                            "livenessProbe": LIVENESS,
                            "volumeMounts": [
                                {"name": "job-spec", "mountPath": "/etc/opsgym/job", "readOnly": True},
                                {"name": "tmp", "mountPath": "/tmp"},
                                {"name": "suite", "mountPath": "/suite", "readOnly": True},
                                {"name": "recordings-0", "mountPath": "/etc/opsgym/recordings/tapes", "readOnly": True},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "job-spec", "configMap": {"name": "nightly-preflight-1"}},
                        {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
                        {"name": "suite", "emptyDir": {}},
                        {"name": "recordings-0", "configMap": {"name": "tapes", "optional": True}},
                    ],
                },
            },
        },
    }
