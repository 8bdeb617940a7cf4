"""What watches take of the operator's memory: beside a large run when it starts, and in many namespaces."""

from __future__ import annotations

import copy
import os
import ssl
import subprocess
import sys
import threading
import time
from asyncio import Event, new_event_loop
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from devcluster.certificates import Authority
from tests.operator.manifests.material import task
from tests.operator_io.large import job_of, pod_of, run_record, trials_of

from opsgym_core.kube.client import JOBS, PODS, Kind
from opsgym_operator.kube.cache import WATCHED

ROOT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
VERSIONS = ("v1", "batch/v1", "opsgym.dev/v1alpha1")
NAMESPACES = Kind("v1", "Namespace", "namespaces")
"""kopf waits for it, although it does not watch it."""
RUNNING = 600
"""Pods that run when the operator starts."""
MANY = 40
PATIENCE_S = 120.0


class Kubernetes:
    """An API server with TLS whose watches report nothing.

    Args:
        folder: Folder for its certificates and its kubeconfig.
    """

    def __init__(self, folder: Path) -> None:
        self.objects: dict[tuple[str, Kind], list[Any]] = {}
        """By namespace and kind."""
        self._folder = folder
        self._loop = new_event_loop()
        self._closing = Event()
        self.watches = 0
        """Watches that were opened."""

    def serve(self) -> Iterator[Path]:
        """Serves; yields the kubeconfig."""
        authority = Authority(self._folder)
        authority.issue_server("server", "kubernetes", dns=("localhost",), addresses=("127.0.0.1",))
        runner = self._loop.run_until_complete(self._start())
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        try:
            yield self._kubeconfig(runner.addresses[0][1])
        finally:
            self._loop.call_soon_threadsafe(self._closing.set)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.run_until_complete(runner.cleanup())
            self._loop.close()

    async def _start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        await runner.setup()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "server.crt", self._folder / "server.key")
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        return runner

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        known = {
            "/api": {"versions": ["v1"]},
            "/apis": {"groups": [_group(version) for version in VERSIONS[1:]]},
            **{Kind(version, "", "").path(None)[:-1]: _resources(version) for version in VERSIONS},
        }
        if (answer := known.get(request.path)) is not None:
            return web.json_response(answer)
        namespace, plural = request.path.split("/")[-2:]
        if "watch" in request.query:
            return await self._watch(request)
        kind = next(kind for kind in WATCHED if kind.plural == plural)
        items, begin = self.objects.get((namespace, kind), []), int(request.query.get("continue", 0))
        end = begin + int(request.query["limit"])
        metadata = {"resourceVersion": "9", **({"continue": str(end)} if end < len(items) else {})}
        return web.json_response({"kind": f"{kind.name}List", "metadata": metadata, "items": items[begin:end]})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        self.watches += 1
        response = web.StreamResponse()
        await response.prepare(request)
        await self._closing.wait()
        return response

    def _kubeconfig(self, port: int) -> Path:
        path = self._folder / "kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(self._folder / "ca.crt")}
        content = {
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": "token"}}],
        }
        path.write_text(yaml.safe_dump(content))
        return path


def _group(version: str) -> dict[str, Any]:
    name, _, number = version.partition("/")
    return {"name": name, "versions": [{"version": number}], "preferredVersion": {"version": number}}


def _resources(version: str) -> dict[str, Any]:
    kinds = [kind for kind in (*WATCHED, NAMESPACES) if kind.api_version == version]
    verbs = ["list", "patch", "watch"]
    return {
        "resources": [
            {
                "name": kind.plural,
                "singularName": "",
                "kind": kind.name,
                "namespaced": kind is not NAMESPACES,
                "verbs": verbs,
            }
            for kind in kinds
        ]
    }


@pytest.fixture
def kubernetes(tmp_path: Path) -> Iterator[tuple[Kubernetes, Path]]:
    server = Kubernetes(tmp_path)
    for kubeconfig in server.serve():
        yield server, kubeconfig


def grown(server: Kubernetes, kubeconfig: Path, namespaces: list[str]) -> tuple[int, int]:
    """Bytes that the memory of an operator has grown when it watches these namespaces, and objects in its cache."""
    command = [sys.executable, "-m", "tests.operator_io.watching_process", *namespaces]
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        while server.watches < len(namespaces) * len(WATCHED) and time.monotonic() < deadline:
            time.sleep(0.05)
        printed, _ = process.communicate(timeout=PATIENCE_S)
    assert server.watches == len(namespaces) * len(WATCHED)
    bytes_, objects = printed.split()
    return int(bytes_), int(objects)


def test_an_operator_that_starts_beside_many_pods_holds_a_page_of_them(
    kubernetes: tuple[Kubernetes, Path],
) -> None:
    server, kubeconfig = kubernetes
    record = run_record()
    template = task()["spec"]["template"]
    jobs = [job_of(record, cell, 0, refs)[0] for cell, refs in list(trials_of(record).items())[: RUNNING // 4]]
    spec = template["spec"]
    pods = [{**pod_of(job, index, report=None), "spec": copy.deepcopy(spec)} for job in jobs for index in range(4)]
    for job in jobs:
        job["spec"]["template"] = template
    server.objects = {("team", PODS): pods, ("team", JOBS): jobs}
    most, cached = grown(server, kubeconfig, ["team"])
    assert cached == len(pods) + len(jobs)
    # 24 MiB with pages of 50 objects, 40 with pages of 500.
    assert most < 32 * MIB, f"{most / MIB:.0f} MiB"


def test_the_watches_of_a_namespace_take_little_memory(kubernetes: tuple[Kubernetes, Path]) -> None:
    server, kubeconfig = kubernetes
    most, _ = grown(server, kubeconfig, [f"team-{number}" for number in range(MANY)])
    # 0.6 MiB, and 2 with asyncio's own buffers.
    assert most / MANY < MIB, f"{most / MANY / MIB:.2f} MiB"
