"""A cluster of which only the API server's answers exist."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from devcluster.binaries import program
from tests.cli.api_server import ApiServer


@pytest.fixture
def kubectl(monkeypatch: pytest.MonkeyPatch) -> None:
    """kubectl on the PATH: the test cluster's, or the machine's."""
    if program("kubectl").exists():
        monkeypatch.setenv("PATH", str(program("kubectl").parent), prepend=":")
    elif shutil.which("kubectl") is None:
        missing = "no kubectl; `python -m devcluster.prepare` brings one"
        if "CI" in os.environ:
            pytest.fail(missing)
        pytest.skip(missing)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, which is the home too; no kubeconfig."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


@pytest.fixture
def api(home: Path, kubectl: None) -> Iterator[ApiServer]:
    """An API server that the current context names, its namespace `evals`."""
    server = ApiServer()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,))
    thread.start()
    context = {"cluster": "c", "user": "u", "namespace": "evals"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "here", "context": context}, {"name": "other", "context": {**context, "namespace": "b"}}],
        "current-context": "here",
    }
    (home / ".kube").mkdir()
    (home / ".kube" / "config").write_text(yaml.safe_dump(config))
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()
