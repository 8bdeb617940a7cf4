"""Runs whose pods hold no key of the store, and what a pod gets from the gateway besides its own trial: nothing."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from devcluster.certificates import Authority
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from devcluster.places import ADMIN, NODE_IP
from devcluster.processes import until
from tests.cluster.conftest import S3
from tests.cluster.operator.held_model import held_model
from tests.cluster.operator.world import Operator, evalrun, operating

from opsgym_api.records.store_layout import RunKeys

pytestmark = pytest.mark.timeout(900)

ATTACK = """
import json, os, sys, urllib.error, urllib.request
from urllib.parse import quote

store, token = os.environ["OPSGYM_STORE"], open(os.environ["OPSGYM_STORE_TOKEN_FILE"]).read()
own, other, run, foreign = sys.argv[1:]

def status(method, path, key, once=False, given=token):
    headers = {"Authorization": "Bearer " + given, **({"If-None-Match": "*"} if once else {})}
    body = b"forged" if method == "PUT" else None
    request = urllib.request.Request(store + path + quote(key, safe=""), body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code

print(json.dumps({
    "own control": status("GET", "/object?key=", run + "control.json"),
    "another trial's score": status("PUT", "/object?key=", other, once=True),
    "its own score, replaced": status("PUT", "/object?key=", own),
    "frozen spec": status("PUT", "/object?key=", run + "run.json"),
    "start gate": status("PUT", "/object?key=", run + "control.json"),
    "another run": status("GET", "/object?key=", "runs/other.run.1/run.json"),
    "the bucket": status("GET", "/keys?prefix=", ""),
    "its run": status("GET", "/keys?prefix=", run),
    "the token of another audience": status("PUT", "/object?key=", own, once=True, given=foreign),
    "no token": status("PUT", "/object?key=", own, once=True, given=""),
    "credentials": [name for name in os.environ if "AWS" in name and name != "AWS_CA_BUNDLE"],
    "token": token,
}))
"""


class Gateway:
    """The gateway as a process beside the cluster, with the operator's configuration and a certificate."""

    def __init__(self, port: int, folder: Path) -> None:
        self.url = f"https://{NODE_IP}:{port}"
        authority = Authority(folder / "tls")
        authority.issue_server("tls", "gateway", dns=(), addresses=(NODE_IP,))
        self.ca = authority.folder / "ca.crt"
        self._port = port
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; returns when it answers."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(ADMIN),
            "OPSGYM_OPERATOR_CONFIG": str(self._folder / "operator.yaml"),
            "OPSGYM_STORES": str(self._folder / "stores"),
            "OPSGYM_GATEWAY_PORT": str(self._port),
            "OPSGYM_GATEWAY_TLS": str(self.ca.parent),
            "OPSGYM_METRICS_PORT": "0",
        }
        with (self._folder / "gateway.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "opsgym_operator.gateway"], env=environment, stderr=log
            )
        assert until(self._answers, 60), (self._folder / "gateway.log").read_text()

    def kill(self) -> None:
        """Ends it without warning."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(30)
            self._process = None

    def trust(self) -> ssl.SSLContext:
        """Trusts the gateway's CA and no other."""
        return ssl.create_default_context(cafile=str(self.ca))

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5, trust_env=False, verify=self.trust()).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def served(namespace: str, s3: S3, folder: Path, kube: Kube) -> Iterator[tuple[Operator, Gateway]]:
    """An operator and a gateway; afterwards nothing of them is left."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        gateway = Gateway(listener.getsockname()[1], folder)
    trust = {"metadata": {"name": "trust", "namespace": namespace}, "data": {"ca.crt": gateway.ca.read_text()}}
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", **trust})
    settings = {"storeGateway": {"url": gateway.url}, "caBundle": {"configMap": "trust", "key": "ca.crt"}}
    try:
        with operating(namespace, s3, folder, kube, **settings) as operator:
            gateway.start()
            yield operator, gateway
    finally:
        gateway.kill()


def test_the_token_of_a_trials_pod_gets_nothing_else_and_a_gateway_that_is_killed_costs_nothing(
    task_images: None, namespace: str, s3: S3, kube: Kube, cluster: Cluster, tmp_path: Path
) -> None:
    with served(namespace, s3, tmp_path, kube) as (operator, gateway), held_model(kube, namespace) as model:
        model.hold()
        models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
        kube.create(evalrun(namespace, "r", models=models))
        operator.wait(lambda: model.requests >= 1, "has not called the model", 300)
        [task] = operator.pods("r")
        name, config_map = task["metadata"]["name"], task["metadata"]["labels"]["batch.kubernetes.io/job-name"]
        spec = json.loads(kube.get("ConfigMap", config_map, namespace)["data"]["job.json"])
        keys, index = RunKeys(spec["run"]), int(task["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
        cell = "_".join(spec["cell"][part] for part in ("model", "agent", "mode", "domain"))
        [own, other] = [
            f"{keys.cells}{cell}/{ref['task_id']}/{ref['trial']}.json"
            for ref in (spec["trials"][index], spec["trials"][1 - index])
        ]
        bound = ("--bound-object-kind=Pod", f"--bound-object-name={name}", "--audience=https://another")
        foreign = cluster.kubectl("create", "token", "opsgym-task", "-n", namespace, *bound).stdout.strip()
        before = set(operator.store().keys(keys.root))
        arguments = ("python", "-c", ATTACK, own, other, keys.root, foreign)
        done = cluster.kubectl("exec", "-n", namespace, name, "-c", "agent", "--", *arguments)
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        after = set(operator.store().keys(keys.root))
        token = report.pop("token")

        gateway.kill()
        model.release()
        operator.wait(lambda: "store unreachable" in kube.logs(name, namespace, "agent"), "did not wait for it", 120)
        gateway.start()
        operator.await_end("r")
        results = operator.results("r")
        gateway.kill()
        gateway.start()  # so that it remembers no pod
        late = httpx.get(
            f"{gateway.url}/stores/results/object",
            params={"key": keys.control_json},
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            verify=gateway.trust(),
        )
    assert report.pop("own control") in (200, 404), "the attack has a token that is taken"
    assert report.pop("credentials") == []
    assert {report.pop("no token"), report.pop("the token of another audience")} == {401}
    assert set(report.values()) == {403}, report
    assert not [key for key in after - before if "/attempts/" not in key]
    assert late.status_code in (401, 403)
    assert len({trial.task_id for trial in results.trials}) == len(results.trials) == 2
    assert [attempt.outcome is not None and attempt.outcome.scored for attempt in results.attempts] == [True, True]
