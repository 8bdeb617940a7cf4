"""What a pod of an IPv6-only cluster does: its only address besides loopback is an IPv6 one.

Run in a network namespace whose loopback device has ADDRESS. Prints what was reached, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.server import ThreadedMotoServer
from tests.platforms.outbound import model, store

from opsgym_console.server.serving import listening_socket
from opsgym_core.metrics.registry import Metrics
from opsgym_operator.observability.health import Health
from opsgym_operator.observability.server import serving

ADDRESS = "fd00::5"
REPLY = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "stub",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "reached"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def reach_model() -> str:
    """Reply of a model whose endpoint has an IPv6 address."""
    server = _Server((ADDRESS, 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return model(f"http://[{ADDRESS}]:{server.server_port}/v1")


def reach_store() -> str:
    """Answer of a store whose endpoint has an IPv6 address."""
    import boto3

    server = ThreadedMotoServer(ip_address=ADDRESS, port=0, verbose=False)
    server.start()
    url = f"http://[{ADDRESS}]:{server.get_host_and_port()[1]}"
    client = boto3.client(
        "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="id", aws_secret_access_key="secret"
    )
    client.create_bucket(Bucket="results")
    return store(url)


async def probe_operator() -> str:
    """Answer to the kubelet's probe of the operator."""
    async with serving(Metrics(), Health(), lambda: True, 0) as port:
        url = f"http://[{ADDRESS}]:{port}/healthz"
        return await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=10).read().decode().strip())


def connect_console() -> list[str]:
    """Addresses under which the console's socket is reached."""
    listener = listening_socket("::", 0)
    listener.listen()
    hosts = (ADDRESS, "127.0.0.1")
    for host in hosts:
        socket.create_connection((host, listener.getsockname()[1]), timeout=10).close()
    return list(hosts)


if __name__ == "__main__":
    reached = {
        "operator": asyncio.run(probe_operator()),
        "console": connect_console(),
        "store": reach_store(),
        "model": reach_model(),
    }
    sys.stdout.write(f"{json.dumps(reached)}\n")
