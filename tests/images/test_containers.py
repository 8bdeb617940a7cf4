"""The images at work as PSS `restricted` asks: a root file system that is read-only, an account without rights."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.runs import CELL, put_run, put_trial
from tests.images.account import until, volume
from tests.images.built import BuiltImage
from tests.images.containers import RUNC, Unpacked

from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.store.local import LocalStore

pytestmark = [
    pytest.mark.images,
    pytest.mark.xdist_group("images"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which(RUNC) is None, reason="starting containers needs root and runc"
    ),
]


def unpacked(image: BuiltImage) -> Iterator[Unpacked]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        image.unpack(Path(folder))
        yield Unpacked(image, Path(folder))


@pytest.fixture(scope="module")
def domains_root(domains: BuiltImage) -> Iterator[Unpacked]:
    yield from unpacked(domains)


@pytest.fixture(scope="module")
def runner_root(runner: BuiltImage) -> Iterator[Unpacked]:
    yield from unpacked(runner)


@pytest.fixture(scope="module")
def operator_root(operator: BuiltImage) -> Iterator[Unpacked]:
    yield from unpacked(operator)


@pytest.fixture(scope="module")
def console_root(console: BuiltImage) -> Iterator[Unpacked]:
    yield from unpacked(console)


@pytest.fixture
def pod() -> Iterator[Path]:
    """A pod's volumes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for name in ("data", "socket", "suite"):
            volume(Path(folder) / name)
        yield Path(folder)


def test_a_pods_postgres_and_gym_come_up_and_seed(domains_root: Unpacked, pod: Path) -> None:
    sockets = {"/socket": pod / "socket"}
    postgres = ("opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket")
    gym = ("opsgym_domains.serve", "itsm", "--host", "127.0.0.1", "--port", "0", "--ready-file", "/tmp/ready")
    where = {"OPSGYM_POSTGRES_HOST": "/socket", "OPSGYM_POSTGRES_USER": "postgres"}
    volumes = {"/data": pod / "data", **sockets}
    with (
        domains_root.started(*postgres, volumes=volumes) as database,
        domains_root.started(*gym, env=where, volumes=sockets) as server,
    ):
        until(
            lambda: database.execute("pg_isready", "-q", "-h", "/socket", "-U", "postgres") == 0,
            "the startup probe is content",
        )
        assert server.process.stdout is not None
        url = json.loads(server.process.stdout.readline())["url"]
        assert server.execute("sh", "-c", "test -e /tmp/ready") == 0
        seeded = httpx.post(f"{url}/api/seed-database", json={"database_id": "db", "builtin": "quickstart"}, timeout=30)
        assert seeded.status_code == 200, seeded.text
        stop = domains_root.image.config["config"]["StopSignal"].removeprefix("SIG")
        database.stop(stop)
        assert database.process.wait(20) == 0  # although the gym is still connected
        server.stop(stop)
        assert server.process.wait(20) == 0
    again = domains_root.run(*postgres, volumes=volumes)
    assert again.returncode == 3
    assert "ran in this pod before" in again.stderr


def test_a_pods_postgres_and_gym_run_as_a_user_whom_no_image_knows(domains_root: Unpacked, pod: Path) -> None:
    """OpenShift gives each namespace a user of its own, in group 0."""
    user, sockets = "1000660000:0", {"/socket": pod / "socket"}
    for name in ("data", "socket"):
        os.chown(pod / name, 1000660000, 0)
    postgres = ("opsgym_domains.postgres", "run", "--data", "/data", "--socket", "/socket")
    gym = ("opsgym_domains.serve", "itsm", "--host", "127.0.0.1", "--port", "0")
    where = {"OPSGYM_POSTGRES_HOST": "/socket", "OPSGYM_POSTGRES_USER": "postgres"}
    with (
        domains_root.started(*postgres, volumes={"/data": pod / "data", **sockets}, user=user) as database,
        domains_root.started(*gym, env=where, volumes=sockets, user=user) as server,
    ):
        probe = ("pg_isready", "-q", "-h", "/socket", "-U", "postgres")
        until(lambda: database.execute(*probe) == 0, "the startup probe is content")
        assert server.process.stdout is not None
        url = json.loads(server.process.stdout.readline())["url"]
        seeded = httpx.post(f"{url}/api/seed-database", json={"database_id": "db", "builtin": "quickstart"}, timeout=30)
        assert seeded.status_code == 200, seeded.text


@pytest.mark.parametrize("name", ["runner_root", "operator_root", "console_root"])
def test_programs_start_as_a_user_whom_no_image_knows(name: str, request: pytest.FixtureRequest) -> None:
    image: Unpacked = request.getfixturevalue(name)
    code = "import os, pathlib; pathlib.Path.home().joinpath('x').write_text('x'); print(os.getuid(), os.getgid())"
    done = image.run("-c", code, entry=("python",), user="1000660000:0")
    assert (done.stdout.split(), done.returncode) == (["1000660000", "0"], 0), done.stderr


def test_a_suite_is_exported_to_a_volume(domains_root: Unpacked, pod: Path) -> None:
    done = domains_root.run(
        "opsgym_domains.suites", "export", "quickstart", "/suite", volumes={"/suite": pod / "suite"}
    )
    assert done.returncode == 0, done.stderr
    assert (pod / "suite" / "tasks.jsonl").stat().st_size > 10_000


def test_the_runner_starts_and_says_what_it_misses(runner_root: Unpacked) -> None:
    done = runner_root.run("opsgym_runner", "task")
    assert done.returncode == 103, done.stderr
    assert "OPSGYM_JOB_SPEC" in done.stderr
    assert "Traceback" not in done.stderr


STORES = "import boto3; [boto3.client(name, region_name='x') for name in ('s3', 'sts')]"
"""What the store needs: objects, and a pod's identity."""


def test_what_was_left_out_of_the_runners_packages_is_not_missed(runner_root: Unpacked) -> None:
    reply = "litellm.completion(model={model!r}, messages=[{{'role': 'user', 'content': 'hi'}}], mock_response='well')"
    calls = [reply.format(model=model) for model in ("openai/x", "anthropic/x", "azure/x", "bedrock/x", "gemini/x")]
    load = "from opsgym_runner.models.litellm_lib import load_litellm; litellm = load_litellm()"
    done = runner_root.python("\n".join([STORES, "import opsgym_runner.runner", load, *calls]))
    assert done.returncode == 0, done.stderr


def test_what_was_left_out_of_the_operators_packages_is_not_missed(operator_root: Unpacked) -> None:
    done = operator_root.python(STORES)
    assert done.returncode == 0, done.stderr


def test_the_operator_starts_and_says_what_it_misses(operator_root: Unpacked) -> None:
    done = operator_root.run("opsgym_operator")
    assert done.returncode == 1, done.stderr
    output = done.stdout + done.stderr
    assert "/etc/opsgym/config.yaml" in output
    assert "Traceback" not in output


def test_nothing_but_volumes_can_be_written(runner_root: Unpacked) -> None:
    assert "Read-only file system" in runner_root.python("open('/opt/opsgym/x', 'w')").stderr
    assert runner_root.python("open('/tmp/x', 'w')").returncode == 0


def test_the_console_serves_a_store_to_those_who_know_the_token(console_root: Unpacked, pod: Path) -> None:
    token = "correct-horse-battery-staple"
    (pod / "suite" / "token").write_text(token)
    store = LocalStore(pod / "data")
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, "demo.1", "a", Outcome.PASSED)
    serve = ("opsgym_console", "--store", "/data", "--port", "0", "--token-file", "/suite/token")
    with console_root.started(*serve, volumes={"/data": pod / "data", "/suite": pod / "suite"}) as console:
        assert console.process.stdout is not None
        url = console.process.stdout.readline().partition(" at ")[2].split(" ")[0].rstrip("/")
        until(lambda: httpx.get(f"{url}/healthz").status_code == 200, "the probes are content")
        assert httpx.get(f"{url}/api/runs").status_code == 401
        signed = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}/api/runs", headers=signed).json()["runs"][0]["run"] == "demo.1"
        assert httpx.get(f"{url}/api/runs/demo.1/page", headers=signed).json()["total"]["passed"] == 1
        assert httpx.get(f"{url}/runs/demo.1/", headers=signed).status_code == 200
        console.stop("TERM")
        assert console.process.wait(20) == 0


def test_what_was_left_out_of_the_consoles_packages_is_not_missed(console_root: Unpacked) -> None:
    needed = "import opsgym_core.kube.client, opsgym_console.server.evalruns"
    done = console_root.python(f"{STORES}\n{needed}")
    assert done.returncode == 0, done.stderr
