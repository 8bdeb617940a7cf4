"""An S3 server on loopback with the operator's stores on it, as the chart would mount them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from opsgym_core.store.mounted import StoreConfig, Stores
from opsgym_operator.config import OperatorConfig


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Address of a running S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def store_config(s3_endpoint: str) -> StoreConfig:
    """A store on a new, empty bucket."""
    bucket = f"bucket-{secrets.token_hex(6)}"
    boto3.client(
        "s3",
        endpoint_url=s3_endpoint,
        region_name="us-east-1",
        aws_access_key_id="key-id",
        aws_secret_access_key="secret-key",
    ).create_bucket(Bucket=bucket)
    url = f"s3://{bucket}/opsgym"
    return StoreConfig(name="results", url=url, endpoint_url=s3_endpoint, region="us-east-1", secret="opsgym-results")


@pytest.fixture
def config(store_config: StoreConfig) -> OperatorConfig:
    """Configuration of an operator with this store."""
    return OperatorConfig.model_validate(
        {
            "stores": [store_config.model_dump(by_alias=True)],
            "defaultStore": "results",
            "images": {"runner": "runner:1", "domains": "domains:1"},
        }
    )


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    """Credentials as the kubelet mounts them."""
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "access-key-id").write_text("key-id\n")
    (folder / "secret-access-key").write_text("secret-key\n")
    return tmp_path


@pytest.fixture
def stores(store_config: StoreConfig, mounted: Path) -> Iterator[Stores]:
    """The installation's only store, `results`."""
    opened = Stores({"results": store_config}, mounted)
    try:
        yield opened
    finally:
        opened.close()
