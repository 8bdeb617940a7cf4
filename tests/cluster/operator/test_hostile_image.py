"""A hostile image in the place of the agent, with the sidecars of a real task pod and the chart's NetworkPolicies."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from devcluster.kube import Kube, Manifest, has_condition
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, evalrun
from tests.cluster.workloads import pod, shell
from tests.helm.charts import rendered

from opsgym_operator.manifests.job_spec import ADMIN_FOLDER

pytestmark = pytest.mark.timeout(600)

MANAGED = {"app.kubernetes.io/managed-by": "opsgym-operator", "app.kubernetes.io/part-of": "opsgym"}
ATTACK = """
import glob, json, os, socket, ssl, time, urllib.error, urllib.request

def connects(host, port):
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex((host, port)) == 0

def status(url, body=None):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5, context=ssl._create_unverified_context()) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0

time.sleep(3)  # policies for a new pod apply after a moment
gym = "http://127.0.0.1:8801/api/"
print(json.dumps({
    "other pod": connects("SERVER", 8080),
    "postgres": connects("127.0.0.1", 5432) or os.path.exists("/socket"),
    "gym": status("http://127.0.0.1:8801/health"),
    "admin": [status(gym + name, b"{}") for name in ("seed-database", "reset-database", "sql-runner", "apply-event")],
    "admin token": os.path.exists("ADMIN"),
    "secrets": status("https://kubernetes.default.svc/api/v1/namespaces/NAMESPACE/secrets"),
    "runs": status("https://kubernetes.default.svc/apis/opsgym.dev/v1alpha1/namespaces/NAMESPACE/evalruns"),
    "tokens": glob.glob("/var/run/secrets/*") + glob.glob("/run/secrets/*"),
    "credentials": [name for name in os.environ if "AWS" in name or "KEY" in name or name.startswith("OPSGYM_STORE")],
}))
"""


def hostile(task: Manifest, script: str) -> Manifest:
    """A task pod with another image in the agent's place, which has no variables and no volumes."""
    spec = copy.deepcopy(task["spec"])
    spec.pop("nodeName")
    image = next(container["image"] for container in spec["containers"] if container["name"] == "agent")
    spec["containers"] = [shell("agent", "", image=image, command=["python", "-c", script])]
    namespace = task["metadata"]["namespace"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hostile", "namespace": namespace, "labels": MANAGED},
        "spec": spec,
    }


def test_an_image_in_the_agents_place_gets_nowhere(operator: Operator, model: HeldModel, kube: Kube) -> None:
    namespace = operator.namespace
    model.hold()
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
    kube.create(evalrun(namespace, "r", suite={"builtin": "quickstart", "limit": 1}, models=models))
    kube.create(pod(namespace, "server", shell("main", "httpd -f -p 8080 -h /")))
    server = kube.wait("Pod", "server", namespace, has_condition("Ready"))["status"]["podIP"]
    operator.wait(lambda: model.requests >= 1, "has not called the model", 180)
    [task] = operator.pods("r")
    store = {"name": "results", "url": operator.s3.url, "endpointUrl": operator.s3.endpoint_url}
    for item in rendered({"stores": [store]}, namespace=namespace):
        if item["kind"] == "NetworkPolicy" and item["metadata"]["name"] == "opsgym-task":
            kube.create(item)
    script = ATTACK.replace("SERVER", server).replace("NAMESPACE", namespace).replace("ADMIN", ADMIN_FOLDER)
    kube.create(hostile(task, script))
    kube.wait("Pod", "hostile", namespace, lambda seen: seen["status"].get("phase") in ("Succeeded", "Failed"))
    report: Mapping[str, Any] = json.loads(kube.logs("hostile", namespace, "agent").splitlines()[-1])

    assert report["gym"] == 200, "the attack runs in the network of a real trial"
    assert not report["other pod"]
    assert not report["postgres"]
    assert not report["admin token"]
    assert all(status in (401, 403) for status in report["admin"]), report["admin"]
    # Without a token the API server refuses what it may be reached for.
    assert {report["secrets"], report["runs"]} <= {0, 401, 403}
    assert (report["tokens"], report["credentials"]) == ([], [])
