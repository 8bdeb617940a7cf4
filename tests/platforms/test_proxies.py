"""Models, stores and webhooks behind a proxy, with certificates of a private CA: real TLS through a real proxy.

The hosts are known to the proxy alone, and the environment is the one that the operator gives to pods.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from devcluster.certificates import Authority
from tests.operator.fleet import CONFIG
from tests.operator_io.webhook import webhook_server
from tests.pods.s3 import S3
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, says
from tests.support.proxy import Proxy, proxy_server, tls_server

from opsgym_operator.config import CaBundle, ProxyConfig
from opsgym_operator.manifests.outbound import outbound_env

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("model.example", "store", "webhook.example")


@dataclass
class Outside:
    """What is reached through the proxy only, and how."""

    proxy: Proxy
    certificates: Path
    model_port: int
    """Port on loopback of the model's plain server."""

    def environment(self, *, trusted: bool = True) -> dict[str, str]:
        """What the operator gives to a pod."""
        config = CONFIG.model_copy(
            update={
                "proxy": ProxyConfig(http=self.proxy.url, https=self.proxy.url),
                "ca_bundle": CaBundle(config_map="trust") if trusted else None,
            }
        )
        variables = {variable["name"]: str(variable["value"]) for variable in outbound_env(config)}
        mounted, local = "/etc/opsgym/ca/bundle.crt", str(self.certificates)
        return {name: local if value == mounted else value for name, value in variables.items()}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    folder = tmp_path_factory.mktemp("ca")
    Authority(folder).issue_server("server", "server", dns=NAMES, addresses=())
    with ExitStack() as stack:
        model = stack.enter_context(serving(StubModel(says("reached")).app))
        bucket = S3()
        stack.callback(bucket.down)
        bucket.make_bucket("results")
        hook = stack.enter_context(webhook_server())
        ports = [int(url.rpartition(":")[2].partition("/")[0]) for url in (model, bucket.url, hook.url)]
        hosts = {f"{name}:80": port for name, port in zip(NAMES, ports, strict=True)}
        for name, port in zip(NAMES, ports, strict=True):
            tls = tls_server(folder / "server.crt", folder / "server.key", port)
            hosts[f"{name}:443"] = stack.enter_context(tls)
        proxy = stack.enter_context(proxy_server(hosts))
        yield Outside(proxy, folder / "ca.crt", ports[0])


def _answers(environment: dict[str, str], *arguments: str) -> dict[str, str]:
    """What each address answers to a process with this environment."""
    silent = {name: value for name, value in os.environ.items() if "PROXY" not in name.upper()}
    done = subprocess.run(
        [sys.executable, "-m", "tests.platforms.outbound", *arguments],
        cwd=ROOT,
        env=silent | environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=True,
    )
    answers: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answers


def test_models_stores_and_webhooks_are_reached_through_the_proxy(outside: Outside) -> None:
    outside.proxy.requests.clear()
    answers = {
        "model=http://model.example/v1": "reached",
        "model=https://model.example/v1": "reached",
        "store=http://store": "stored",
        "store=https://store": "stored",
        "webhook=https://webhook.example/hook": "sent",
    }
    assert _answers(outside.environment(), *answers) == answers
    assert set(outside.proxy.requests) == {
        ("POST", "model.example:80"),
        ("CONNECT", "model.example:443"),
        ("PUT", "store:80"),
        ("GET", "store:80"),
        ("CONNECT", "store:443"),
        ("CONNECT", "webhook.example:443"),
    }


def test_a_private_ca_is_trusted_only_if_its_bundle_is_given(outside: Outside) -> None:
    answers = _answers(
        outside.environment(trusted=False), "store=https://store", "webhook=https://webhook.example/hook"
    )
    assert list(answers.values()) == ["StoreError", "again"]


def test_models_on_loopback_are_reached_directly_whatever_the_environment_says(outside: Outside) -> None:
    outside.proxy.requests.clear()
    environment = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), outside.proxy.url)
    addresses = [f"model=http://{host}:{outside.model_port}/v1" for host in ("127.0.0.1", "localhost")]
    assert _answers(environment, *addresses) == dict.fromkeys(addresses, "reached")
    assert outside.proxy.requests == []
