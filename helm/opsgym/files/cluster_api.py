"""Requests to the API server with the pod's ServiceAccount.

Only the standard library is used, since the operator's image guarantees no more.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Refused(SystemExit):
    """The API server refuses a request; uncaught, it ends the script with a message."""

    def __init__(self, request: str, status: int, message: str) -> None:
        super().__init__(f"{request}: HTTP {status}: {message}")
        self.status = status


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Sends a request to the API server and returns its response.

    Raises:
        Refused: The API server refuses the request.
    """
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    address = f"[{host}]" if ":" in host else host
    request = urllib.request.Request(
        f"https://{address}:{port}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}", "Content-Type": "application/json"},
    )
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    # The API server is reached directly, whatever proxies the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=30) as answer:
            result: dict[str, Any] = json.load(answer)
            return result
    except urllib.error.HTTPError as error:
        raise Refused(f"{method} {path}", error.code, error.read().decode(errors="replace")) from None
