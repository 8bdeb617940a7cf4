"""Secrets with random values are made by a Job, so that the chart renders the same manifests each time."""

from __future__ import annotations

import base64
import importlib
import json
import subprocess
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, ClassVar

import pytest
from devcluster.certificates import Authority
from tests.helm.charts import OLDEST, OPSGYM, STORE, helm, one, rendered
from tests.helm.test_chart import SETTINGS
from tests.support.proxy import tls_server

BOTH: Mapping[str, Any] = {
    "namespaces": ["a", "evals"],
    "trialStore": {"enabled": True},
    "console": {"enabled": True},
}
CONSOLE = {"name": "opsgym-console", "namespaces": ["evals"], "lengths": {"token": 40}, "labels": {"app": "x"}}
STORE_KEY = {"name": "s3", "namespaces": ["evals", "a"], "lengths": {"access-key-id": 20}, "labels": {}}


@pytest.mark.parametrize("values", SETTINGS.values(), ids=SETTINGS.keys())
def test_rendering_twice_gives_the_same_bytes(values: Mapping[str, Any]) -> None:
    arguments = ("template", "opsgym", str(OPSGYM), "-n", "evals", "--kube-version", OLDEST)
    first, second = (helm(*arguments, values=values) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


def test_no_secret_is_rendered_and_none_is_made_where_all_are_named() -> None:
    manifests = rendered(BOTH)
    assert not [manifest for manifest in manifests if manifest["kind"] == "Secret"]
    named = {"trialStore": {"enabled": True, "secret": "own"}, "console": {"enabled": True, "tokenSecret": "own"}}
    assert not [manifest for manifest in rendered(named) if manifest["kind"] == "Job"]
    assert not [manifest for manifest in rendered({"stores": [STORE]}) if manifest["kind"] == "Job"]


def test_the_job_runs_first_with_rights_that_end_with_it() -> None:
    manifests = [manifest for manifest in rendered(BOTH) if manifest["metadata"]["name"] == "opsgym-secrets"]
    kinds = {"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "NetworkPolicy", "Job"}
    assert {manifest["kind"] for manifest in manifests} == kinds
    for manifest in manifests:
        annotations = manifest["metadata"]["annotations"]
        assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert annotations["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
    weights = {
        manifest["kind"]: int(manifest["metadata"]["annotations"]["helm.sh/hook-weight"]) for manifest in manifests
    }
    assert max(weights, key=lambda kind: weights[kind]) == "Job"
    names = {"evals": ["opsgym-console", "opsgym-s3"], "a": ["opsgym-s3"]}
    for namespace, readable in names.items():
        assert one(manifests, "Role", "opsgym-secrets", namespace)["rules"] == [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": readable},
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        ]


class Cluster:
    """Secrets of a cluster that answers the script's requests."""

    def __init__(self, module: ModuleType) -> None:
        self.secrets: dict[tuple[str, str], dict[str, Any]] = {}
        self._refused = module.Refused

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Answers as the API server does."""
        namespace, _, *name = path.removeprefix("/api/v1/namespaces/").split("/")
        if body is not None:
            assert (method, name) == ("POST", [])
            self.secrets[namespace, body["metadata"]["name"]] = body
            return body
        if (namespace, name[0]) not in self.secrets:
            raise self._refused(f"{method} {path}", 404, "not found")
        return self.secrets[namespace, name[0]]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(OPSGYM / "files")
    return importlib.import_module("make_secrets")


@pytest.fixture
def cluster(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    cluster = Cluster(script)
    monkeypatch.setattr(script, "call", cluster.call)
    return cluster


def test_secrets_are_made_once(script: ModuleType, cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    script.main([CONSOLE, STORE_KEY])
    made = dict(cluster.secrets)
    console = cluster.secrets["evals", "opsgym-console"]
    token = base64.b64decode(console["data"]["token"]).decode()
    assert (len(token), token.isalnum(), console["metadata"]["labels"]) == (40, True, {"app": "x"})
    assert cluster.secrets["evals", "s3"]["data"] == cluster.secrets["a", "s3"]["data"]
    script.main([CONSOLE, STORE_KEY])
    assert cluster.secrets == made
    printed = capsys.readouterr().out
    assert "Secret evals/opsgym-console: created\n" in printed
    assert "Secret evals/opsgym-console: exists\n" in printed
    assert token not in printed


def test_a_new_namespace_gets_the_values_of_the_others(script: ModuleType, cluster: Cluster) -> None:
    script.main([STORE_KEY])
    known = cluster.secrets.pop(("evals", "s3"))["data"]
    script.main([STORE_KEY])
    assert cluster.secrets["evals", "s3"]["data"] == known


def test_what_the_chart_passes_is_what_the_script_reads(script: ModuleType, cluster: Cluster) -> None:
    job = one(rendered(BOTH), "Job", "opsgym-secrets")
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert Path(command[1]).name == "make_secrets.py"
    script.main(json.loads(command[2]))
    assert set(cluster.secrets) == {("evals", "opsgym-console"), ("evals", "opsgym-s3"), ("a", "opsgym-s3")}


def test_a_refusal_ends_the_script_with_its_message(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(method: str, path: str, body: object = None) -> dict[str, Any]:
        raise script.Refused(f"{method} {path}", 403, "forbidden")

    monkeypatch.setattr(script, "call", refuse)
    with pytest.raises(SystemExit, match="secrets/opsgym-console: HTTP 403: forbidden"):
        script.main([CONSOLE])


class _ApiServer(BaseHTTPRequestHandler):
    """Secrets in memory, as the API server answers requests for them; refuses requests without the token."""

    secrets: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        self._answer(200 if self.path in self.secrets else 404, self.secrets.get(self.path, b"{}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.secrets[f"{self.path}/{json.loads(body)['metadata']['name']}"] = body
        self._answer(201, body)

    def _answer(self, status: int, body: bytes) -> None:
        allowed = self.headers["authorization"] == "Bearer t0ken"
        self.send_response(status if allowed else 401)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_the_script_reaches_the_api_server_over_tls_whatever_proxy_is_set(tmp_path: Path) -> None:
    Authority(tmp_path).issue_server("server", "api", dns=(), addresses=("127.0.0.1",))
    (tmp_path / "token").write_text("t0ken")
    start = f"import pathlib, runpy, sys, cluster_api; cluster_api.ACCOUNT = pathlib.Path({str(tmp_path)!r}); "
    start += "runpy.run_module('make_secrets', run_name='__main__')"
    server = ThreadingHTTPServer(("127.0.0.1", 0), _ApiServer)
    Thread(target=server.serve_forever, daemon=True).start()
    with tls_server(tmp_path / "server.crt", tmp_path / "server.key", server.server_port) as port:
        environment = {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(port),
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "PYTHONPATH": str(OPSGYM / "files"),
        }
        command = [sys.executable, "-c", start, json.dumps([CONSOLE, STORE_KEY])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    server.shutdown()
    server.server_close()
    assert done.returncode == 0, done.stderr
    prefix = "/api/v1/namespaces"
    expected = {f"{prefix}/evals/secrets/opsgym-console", f"{prefix}/evals/secrets/s3", f"{prefix}/a/secrets/s3"}
    assert set(_ApiServer.secrets) == expected
