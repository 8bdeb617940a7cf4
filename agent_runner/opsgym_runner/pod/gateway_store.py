"""The store of a pod that holds no key: the store gateway reads and writes the pod's own objects for it.

Invariant: the token is read from its file for each request, since the kubelet replaces it, and is in no message.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

from opsgym_api.records.store_gateway import Code
from opsgym_core.store.base import StoreError, require_key

TIMEOUT = httpx.Timeout(120.0, connect=5.0)
"""Seconds; the gateway itself gives its store a minute, and a request may wait for others."""
_LONGEST = 500
"""Characters of an answer that a message repeats."""


class GatewayStore:
    """Objects of a store that a gateway serves.

    Args:
        url: Address of the store at the gateway.
        token_file: File with the pod's token.
    """

    def __init__(self, url: str, token_file: Path) -> None:
        self.name = url.rstrip("/").rpartition("/")[2]
        self._url = url.rstrip("/")
        self._token_file = token_file
        # The gateway is a Service of the cluster, which no proxy leads to. OpenSSL's own variable names the CA of its
        # certificate; without HTTPS, reading the public ones would only take time.
        trusted = ssl.create_default_context() if url.startswith("https:") else False
        self._http = httpx.Client(timeout=TIMEOUT, trust_env=False, verify=trusted)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if no object has that key."""
        answer = self._send("GET", "object", key, {"key": require_key(self.name, key)})
        return None if _code(answer) == Code.NO_SUCH_KEY else self._checked(answer, key).content

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        params = {"key": require_key(self.name, key)}
        self._checked(self._send("PUT", "object", key, params, content), key)

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; the store decides between concurrent writers.

        False may also mean that this writer's request succeeded and its answer was lost.
        """
        params = {"key": require_key(self.name, key)}
        answer = self._send("PUT", "object", key, params, content, {"If-None-Match": "*"})
        return _code(answer) != Code.PRECONDITION_FAILED and self._checked(answer, key).is_success

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        answer = self._checked(self._send("GET", "keys", prefix, {"prefix": prefix}), prefix)
        yield from answer.json()["keys"]

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted."""
        prefix = f"{folder.rstrip('/')}/"
        below = (key.removeprefix(prefix).partition("/") for key in self.keys(prefix))
        yield from sorted({name for name, slash, _ in below if slash})

    def _send(
        self,
        method: str,
        what: str,
        key: str,
        params: Mapping[str, str],
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        sent = {"Authorization": f"Bearer {self._token(key)}", **(headers or {})}
        try:
            return self._http.request(method, f"{self._url}/{what}", params=params, content=content, headers=sent)
        except httpx.HTTPError as error:
            problem = f"the store gateway at {self._url} cannot be reached ({type(error).__name__})"
            raise StoreError(self.name, key, problem) from None

    def _token(self, key: str) -> str:
        try:
            return self._token_file.read_text(encoding="ascii").strip()
        except OSError as error:
            problem = f"the token {self._token_file} for the store gateway cannot be read: {error.strerror}"
            raise StoreError(self.name, key, problem) from None

    def _checked(self, answer: httpx.Response, key: str) -> httpx.Response:
        """The answer, if the request succeeded.

        Raises:
            StoreError: It did not.
        """
        if answer.is_success:
            return answer
        body = _body(answer)
        message = str(body.get("message") or "check that the address is that of a store gateway")[:_LONGEST]
        raise StoreError(self.name, key, f"{message} ({body.get('code', 'no code')}, HTTP {answer.status_code})")


def _code(answer: httpx.Response) -> str:
    """Code of an answer; empty for one that succeeded or is not the gateway's."""
    return "" if answer.is_success else str(_body(answer).get("code", ""))


def _body(answer: httpx.Response) -> Mapping[str, object]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
