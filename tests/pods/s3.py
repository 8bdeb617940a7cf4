"""A real S3 server that tests may take down and bring back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import boto3
from moto.server import ThreadedMotoServer
from tests.pods.pod import KEY

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


class S3:
    """The server; what it holds outlives its outages."""

    def __init__(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self._port = int(port)
        self.url = f"http://{host}:{port}"

    @property
    def access(self) -> dict[str, str]:
        """What a pod's environment says of it."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_REGION": "us-east-1",
        }

    @property
    def client(self) -> S3Client:
        """For what a store cannot do."""
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="id",
            aws_secret_access_key=KEY,
        )

    def make_bucket(self, name: str) -> None:
        self.client.create_bucket(Bucket=name)

    def down(self) -> None:
        """Refuses every connection from now on."""
        self._server.stop()

    def up(self) -> None:
        """Answers again, at the same address."""
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()


@contextmanager
def s3_server() -> Iterator[S3]:
    """Runs one."""
    server = S3()
    try:
        yield server
    finally:
        server.down()
