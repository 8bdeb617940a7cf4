"""A store gateway on a port of its own, with a stub of the API server that knows its pods."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.operator_io.api_server import ApiServer

from opsgym_core.kube.client import Client
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.metrics import GatewayMetrics
from opsgym_operator.gateway.server import Gateway
from opsgym_operator.gateway.sessions import Sessions
from opsgym_operator.sockets import serving_app

AUDIENCE = "http://gateway.test"
STARTED = "2026-01-01T00:00:00Z"
"""When pods started, unless a test says otherwise."""
MANAGED = {"app.kubernetes.io/managed-by": "opsgym-operator", "app.kubernetes.io/part-of": "opsgym"}
ACCOUNT = "opsgym-task"


@dataclass(frozen=True)
class Credentials:
    """How the gateway reaches the stub."""

    server: str

    def as_ssl_context(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def as_http_headers(self) -> dict[str, str]:
        return {"Authorization": "Bearer gateway"}


def token(name: str, expires: float = 4e9) -> str:
    """A token as the API server issues them, without a signature that anyone would check."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires, "sub": name}).encode()).decode().rstrip("=")
    return f"e30.{claims}.signature"


def objects(
    spec: Mapping[str, Any], name: str, role: str = "task", index: int = 0, started: str = STARTED
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A pod, its Job and the Job's ConfigMap, of the run `demo` with the uid `0a1b` in `team`."""
    job = "demo-abcdef-0" if role == "task" else "demo-preflight-abcdef01"
    run = {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "name": "demo", "uid": "0a1b", "controller": True}
    labels = {**MANAGED, "opsgym.dev/run": "demo", "opsgym.dev/run-uid": "0a1b", "opsgym.dev/role": role}
    owned = {"name": job, "namespace": "team", "labels": labels, "ownerReferences": [run]}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}
    counted = {**labels, "batch.kubernetes.io/job-completion-index": str(index)}
    pod = {
        "metadata": {
            "name": name, "namespace": "team", "uid": f"uid-{name}", "labels": counted, "ownerReferences": [owner],
        },
        "status": {"phase": "Running", "startTime": started},
    }  # fmt: skip
    return (
        pod,
        {"metadata": {**owned, "uid": f"uid-{job}"}},
        {"metadata": owned, "data": {"job.json": json.dumps(spec)}},
    )


def review(pod: str, audience: str = AUDIENCE, namespace: str = "team", account: str = ACCOUNT) -> dict[str, Any]:
    """Status of the TokenReview of a pod's token."""
    extra = {"pod-name": [pod], "pod-uid": [f"uid-{pod}"]}
    return {
        "authenticated": True,
        "audiences": [audience],
        "user": {
            "username": f"system:serviceaccount:{namespace}:{account}",
            "extra": {f"authentication.kubernetes.io/{name}": value for name, value in extra.items()},
        },
    }


@dataclass
class PodList:
    """The pods that the stub of the API server knows."""

    api: ApiServer
    reviews: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Status of the TokenReview by token; any other token is not authenticated."""
    down: bool = False
    """Whether the API server is overloaded, and answers nothing else."""

    def __post_init__(self) -> None:
        self.api.answer("POST", "/apis/authentication.k8s.io/v1/tokenreviews", 0, self._review)

    def _review(self, request: Any) -> tuple[int, Any]:
        if self.down:
            return 503, {"message": "overloaded"}
        spec = request["spec"]
        status = self.reviews.get(spec["token"], {})
        # As the API server does: a token for none of the audiences is not authenticated.
        known = set(spec["audiences"]) & set(status.get("audiences", ()))
        return 201, {"status": status if known else {"authenticated": False}}

    def add(self, spec: Mapping[str, Any], name: str = "pod", **fields: Any) -> str:
        """Adds a pod; returns its token."""
        pod, job, config_map = objects(spec, name, **fields)
        self.show("api/v1", "pods", pod)
        self.show("apis/batch/v1", "jobs", job)
        self.show("api/v1", "configmaps", config_map)
        self.reviews[token(name)] = review(name)
        return token(name)

    def show(self, group: str, plural: str, item: Mapping[str, Any]) -> None:
        """Lets the stub answer with an object."""
        path = f"/{group}/namespaces/team/{plural}/{item['metadata']['name']}"
        self.api.answers["GET", path] = [(200, item)]


@dataclass
class Time:
    """The clocks of a gateway, which a test moves."""

    monotonic: float = 0.0
    now: float = 1e9


@contextmanager
def running(
    pods: PodList,
    config: OperatorConfig,
    stores: Stores,
    time: Time | None = None,
    port: int = 0,
    metrics: GatewayMetrics | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """Serves in a thread while the context is open; yields the base URL."""
    clock, measured = time or Time(), metrics or GatewayMetrics()
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = []
    ready = threading.Event()

    async def serve() -> None:
        stop = asyncio.Event()
        async with Client(lambda: Credentials(pods.api.url)) as client:
            sessions = Sessions(client, config, AUDIENCE, lambda: clock.monotonic, lambda: clock.now)
            app = Gateway(sessions, stores, measured).app()
            async with serving_app(app, port, tls=tls) as served:
                started.append((asyncio.get_running_loop(), stop, served))
                ready.set()
                await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    loop, stop, served = started[0]
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{served}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
