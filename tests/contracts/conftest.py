"""An S3 server on loopback, and empty stores of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from opsgym_core.store.base import ErasableStore
from opsgym_core.store.local import LocalStore
from opsgym_core.store.s3 import S3Store

SECRET = "s3cr3t-that-must-not-be-printed"


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Address of a running S3 server; the environment names it, with credentials, as a user's would."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "access-key-that-must-not-be-printed")
        environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        environment.setenv("AWS_REGION", "us-east-1")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.delenv("AWS_PROFILE", raising=False)
        try:
            yield f"http://{host}:{port}"
        finally:
            server.stop()


@pytest.fixture
def bucket(s3_endpoint: str, request: pytest.FixtureRequest) -> str:
    """Name of a new, empty bucket."""
    name = f"bucket-{abs(hash(request.node.nodeid)):x}"[:60]
    boto3.client("s3").create_bucket(Bucket=name)
    return name


@pytest.fixture(params=["folder", "s3", "s3 without prefix"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ErasableStore:
    """An empty store of every kind."""
    if request.param == "folder":
        return LocalStore(tmp_path / "results")
    name: str = request.getfixturevalue("bucket")
    return S3Store(name, "team/opsgym/" if request.param == "s3" else "")
