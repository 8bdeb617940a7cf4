"""The policy of docs/security.md for a namespace's key to a shared bucket, on a real S3 server."""

from __future__ import annotations

import copy
import fnmatch
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from devcluster.binaries import VERSITYGW, bring, build, download, program
from devcluster.errors import ClusterError
from devcluster.processes import until
from pydantic import SecretStr

from opsgym_api.records.attempt import Cell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import StoreError
from opsgym_core.store.s3 import S3Access, S3Store

pytestmark = pytest.mark.timeout(1800)  # its server is built the first time
PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
OWN, OTHER = RunKeys("team.nightly.1"), RunKeys("team-b.nightly.1")
TRIAL = OWN.trial(Cell(model="m", agent="react", mode="oracle", domain="itsm"), "t", 0)


def policy() -> dict[str, Any]:
    """The policy as the page has it, for the namespace `team`."""
    [text] = re.findall(r"```json\n(\{\n  \"Version\".*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for name, value in (("BUCKET", "evals"), ("PREFIX", "results"), ("NAMESPACE", "team")):
        text = text.replace(name, value)
    content: dict[str, Any] = json.loads(text)
    return content


def statement(sid: str) -> dict[str, Any]:
    return next(item for item in policy()["Statement"] if item["Sid"] == sid)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of an S3 server with users of its own."""
    try:
        if not VERSITYGW.folder.exists():
            bring(VERSITYGW, (download, build))
    except ClusterError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("s3")
    for name in ("data/evals", "meta", "iam"):
        (root / name).mkdir(parents=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    users = {"ROOT_ACCESS_KEY": "root", "ROOT_SECRET_KEY": "root-secret"}
    command: list[str | Path] = [
        program("versitygw"),
        "--port",
        f"127.0.0.1:{port}",
        "--iam-dir",
        root / "iam",
        "--quiet",
    ]
    command += ["posix", "--sidecar", root / "meta", root / "data"]
    process = subprocess.Popen(command, env={**os.environ, **users}, stdout=subprocess.DEVNULL)

    def answers() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert until(answers, 20)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def root(server: str) -> S3Store:
    """The operator's store, with a key for the whole bucket, after the namespace's key was made."""
    admin: list[str | Path] = [program("versitygw"), "admin", "-a", "root", "-s", "root-secret", "-er", server]
    made = subprocess.run([*admin, "create-user", "-a", "team", "-s", "team-secret", "-r", "user"], check=False)
    assert made.returncode == 0
    content = copy.deepcopy(policy())
    # This server does not know the condition of the last statement, which AWS does.
    content["Statement"] = [item for item in content["Statement"] if item["Sid"] != "ScoresOnce"]
    for item in content["Statement"]:
        item["Principal"] = {"AWS": ["team"]}
    client = boto3.client(
        "s3",
        endpoint_url=server,
        region_name="us-east-1",
        aws_access_key_id="root",
        aws_secret_access_key="root-secret",
    )
    client.put_bucket_policy(Bucket="evals", Policy=json.dumps(content))
    return opened(server, "root", "root-secret")


def opened(server: str, key: str, secret: str) -> S3Store:
    return S3Store("evals", "results", S3Access(server, "us-east-1", key, SecretStr(secret)))


@pytest.fixture
def team(server: str, root: S3Store) -> S3Store:
    """The store as pods of the namespace `team` open it."""
    return opened(server, "team", "team-secret")


def test_a_namespaces_key_does_what_its_pods_do(team: S3Store, root: S3Store) -> None:
    root.put(OWN.run_json, b"{}")
    root.put("suites/team/office/tasks.json", b"[]")
    assert team.get(OWN.run_json) == b"{}"
    assert team.get("suites/team/office/tasks.json") == b"[]"
    assert team.get(OWN.control_json) is None
    for key in (OWN.suite_index, OWN.suite_task("t"), OWN.probe, TRIAL.transcript, TRIAL.attempt(0)):
        team.put(key, b"1")
    team.put(TRIAL.attempt(0), b"2")
    for key in (TRIAL.record, OWN.catalogue("d"), OWN.plan("p", "t")):
        assert team.put_once(key, b"1")
        assert not team.put_once(key, b"2")
    assert list(team.keys(TRIAL.attempts)) == [TRIAL.attempt(0)]


def test_a_namespaces_key_reaches_nothing_of_others_and_nothing_of_the_operator(team: S3Store, root: S3Store) -> None:
    root.put(OTHER.run_json, b"{}")
    root.put("suites/team-b/office/tasks.json", b"[]")
    for key in (OTHER.run_json, "suites/team-b/office/tasks.json", "suites/team-b/none"):
        with pytest.raises(StoreError, match="access denied"):
            team.get(key)
    for key in (
        OTHER.run_json,
        f"{OTHER.cells}m/t/0.json",
        *(OWN.run_json, OWN.control_json, OWN.gate_json, OWN.figures_json, OWN.chunk("j")),
        "suites/team/office/tasks.json",
    ):
        with pytest.raises(StoreError, match="access denied"):
            team.put(key, b"forged")
    with pytest.raises(StoreError, match="access denied"):
        list(team.keys(OTHER.cells))
    assert root.get(OTHER.run_json) == b"{}"


def test_on_aws_scores_plans_and_catalogues_cannot_be_replaced() -> None:
    denied = statement("ScoresOnce")
    assert denied["Condition"] == {"Null": {"s3:if-none-match": "true"}}

    def replaceable(key: str) -> bool:
        return any(fnmatch.fnmatchcase(f"arn:aws:s3:::evals/results/{key}", item) for item in denied["NotResource"])

    assert not any(map(replaceable, (TRIAL.record, OWN.catalogue("d"), OWN.plan("p", "t"))))
    rewritten = (TRIAL.attempt(0), TRIAL.transcript, TRIAL.state("itsm"), TRIAL.failed_transcript(1), OWN.probe)
    assert all(map(replaceable, (*rewritten, OWN.suite_index, OWN.suite_task("t"), OWN.suite_seed("s"))))
