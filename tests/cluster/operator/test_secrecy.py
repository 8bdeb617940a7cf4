"""What a task pod cannot reach, and where secrets never turn up."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import zstandard
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, evalrun

pytestmark = pytest.mark.timeout(600)

CONTAINERS = ("postgres", "gym-itsm", "agent")
KEPT = ("Event", "ConfigMap", "EvalRun", "Job", "Pod")
"""Kinds that must not hold a secret's value."""
LOOK = """
import glob, json, os, socket

def listening():
    # State 0A is LISTEN; the address is hexadecimal, the port after the colon.
    lines = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}").readlines()[1:]]
    return sorted({int(parts[1].rpartition(":")[2], 16) for parts in lines if parts[3] == "0A"})

def connects(family, address):
    with socket.socket(family) as client:
        return client.connect_ex(address) == 0

def writable(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True

print(json.dumps({
    "user": os.getuid(),
    "group": os.getgid(),
    "environment": dict(os.environ),
    "tokens": glob.glob("/var/run/secrets/*") + glob.glob("/run/secrets/*"),
    "mounts": [line.split()[1] for line in open("/proc/self/mounts")],
    "root writable": writable("/opsgym-was-here") or writable("/usr/opsgym-was-here"),
    "listening": listening(),
    "postgres by TCP": any(connects(socket.AF_INET, ("127.0.0.1", port)) for port in (5432, 5433)),
    "postgres by socket": os.path.exists("/socket") or os.path.exists("/tmp/.s.PGSQL.5432"),
    "capabilities": next(line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")),
}))
"""


@pytest.fixture
def key(operator: Operator, kube: Kube) -> str:
    """A credential like nothing else, in the Secret `provider`."""
    value = f"sk-{secrets.token_hex(16)}"
    metadata = {"name": "provider", "namespace": operator.namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"api-key": value}})
    return value


def look(cluster: Cluster, namespace: str, pod: str, container: str) -> Mapping[str, Any]:
    """What a program in a container sees."""
    command = ("exec", "-n", namespace, pod, "-c", container, "--", "python", "-c", LOOK)
    done = cluster.kubectl(*command)
    assert done.returncode == 0, done.stderr
    report: Mapping[str, Any] = json.loads(done.stdout)
    return report


def test_an_agent_reaches_neither_its_database_nor_the_cluster_and_secrets_turn_up_nowhere(
    operator: Operator, model: HeldModel, kube: Kube, cluster: Cluster, key: str
) -> None:
    model.hold()
    inline = model.inline(maxConcurrency=1, credentials={"secret": "provider"})
    models: list[Any] = [{"name": "held", "inline": inline}]
    kube.create(evalrun(operator.namespace, "r", suite={"builtin": "quickstart", "limit": 1}, models=models))
    operator.wait(lambda: model.requests >= 1, "has not called the model", 180)
    (pod,) = operator.pods("r")
    seen = {name: look(cluster, operator.namespace, pod["metadata"]["name"], name) for name in CONTAINERS}

    for name, report in seen.items():
        assert (report["user"], report["group"]) == (10001, 10001), name
        assert report["tokens"] == [], name
        assert not [path for path in report["mounts"] if "serviceaccount" in path], name
        assert not report["root writable"], name
        assert int(report["capabilities"], 16) == 0, name
        assert not report["postgres by TCP"], name
        assert 5432 not in report["listening"], name
    agent, postgres = seen["agent"], seen["postgres"]
    # The look can tell: who is meant to reach the database does.
    assert postgres["postgres by socket"]
    assert key in agent["environment"].values()
    assert not agent["postgres by socket"]
    assert not [path for path in agent["mounts"] if path in ("/socket", "/data")]
    assert not [name for name in agent["environment"] if name.startswith("PG") or "POSTGRES" in name.upper()]
    assert not [name for name in agent["environment"] if "PASSWORD" in name.upper()]
    for name in ("postgres", "gym-itsm"):
        values = seen[name]["environment"].values()
        assert key not in values, name
        assert operator.s3.secret_access_key not in values, name

    model.release()
    operator.await_end("r", 240)
    places = dict([*logs(operator, kube), *objects(operator, kube), *stored(operator)])
    kinds = {name.partition(" ")[0] for name in places}
    assert kinds == {"log", "operator's", "stored", *KEPT}
    assert any("transcript" in name for name in places)
    for name, text in places.items():
        for secret in (key, operator.s3.secret_access_key):
            assert secret not in text, f"{name} tells a secret"


def logs(operator: Operator, kube: Kube) -> Iterator[tuple[str, str]]:
    """What every container of the run's pods wrote, and the operator."""
    yield "operator's log", operator.log.read_text()
    for pod in kube.list("Pod", operator.namespace):
        name = pod["metadata"]["name"]
        for container in (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]):
            yield f"log {name} {container['name']}", kube.logs(name, operator.namespace, container["name"])


def objects(operator: Operator, kube: Kube) -> Iterator[tuple[str, str]]:
    """Everything in the namespace but Secrets."""
    for kind in KEPT:
        for item in kube.list(kind, operator.namespace):
            yield f"{kind} {item['metadata']['name']}", json.dumps(item)


def stored(operator: Operator) -> Iterator[tuple[str, str]]:
    """Everything in the test's store, unpacked."""
    store = operator.store()
    for key in store.keys(""):
        content = store.get(key) or b""
        if key.endswith(".zst"):
            content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
        yield f"stored {key}", content.decode(errors="replace")
