"""A small client of the Kubernetes API: objects are plain dicts, so that tests can compare them whole.

Invariant: a refused request raises `KubeError` with the API server's own words; nothing is retried behind a test's back
except by `wait`, which says so.
"""

from __future__ import annotations

import base64
import json
import math
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

Manifest = dict[str, Any]
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
POLL = 0.1
NOT_YET = (404, 429)
"""Statuses of a kind that is not defined yet, and of one whose objects the API server is still reading."""


class KubeError(Exception):
    """The API server refused a request.

    Attributes:
        code: HTTP status.
        reason: Kubernetes' reason, for instance `NotFound`.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(f"{code} {reason}: {message}")


class Kube:
    """The API as one user sees it."""

    def __init__(self, kubeconfig: Path) -> None:
        cluster, user = _entries(yaml.safe_load(kubeconfig.read_text()))
        # A cluster may be restarted behind a kept connection; a proxy of the machine cannot reach it.
        transport = httpx.HTTPTransport(verify=_context(cluster, user), trust_env=False, retries=1)
        self._http = httpx.Client(base_url=cluster["server"], transport=transport, timeout=30)
        self._kinds: dict[str, tuple[str, str, bool]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        media: str = "application/json",
        accept: str = "application/json",
    ) -> httpx.Response:
        """Any request.

        Raises:
            KubeError: It was refused.
            httpx.TransportError: The API server is out of reach.
        """
        headers = {"accept": accept, "content-type": media}
        answer = self._http.request(method, path, json=body, params=params, headers=headers)
        if answer.is_error:
            raise _refusal(answer)
        return answer

    def create(self, manifest: Manifest) -> Manifest:
        """Makes an object."""
        metadata = manifest["metadata"]
        path = self.path(manifest["kind"], metadata.get("namespace"))
        return _object(self.raw("POST", path, manifest))

    def apply(self, manifest: Manifest) -> Manifest:
        """Makes an object, or changes it to what the manifest says."""
        metadata = manifest["metadata"]
        path = self.path(manifest["kind"], metadata.get("namespace"), metadata["name"])
        params = {"fieldManager": "tests", "force": "true"}
        return _object(self.raw("PATCH", path, manifest, params=params, media=APPLY))

    def find(self, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
        """An object; None if there is none."""
        try:
            return self.get(kind, name, namespace)
        except KubeError as error:
            if error.code == 404:
                return None
            raise

    def get(self, kind: str, name: str, namespace: str | None = None) -> Manifest:
        """An object."""
        return _object(self.raw("GET", self.path(kind, namespace, name)))

    def list(self, kind: str, namespace: str | None = None, labels: str = "") -> list[Manifest]:
        """Objects of a kind, in one namespace or in all, with a label selector."""
        params = {"labelSelector": labels} if labels else None
        return list(_object(self.raw("GET", self.path(kind, namespace), params=params))["items"])

    def patch(self, kind: str, name: str, namespace: str | None, change: Manifest, *, part: str = "") -> Manifest:
        """Merges a change into an object, or into a part of it such as its status."""
        path = self.path(kind, namespace, name) + (f"/{part}" if part else "")
        return _object(self.raw("PATCH", path, change, media=MERGE))

    def delete(self, kind: str, name: str, namespace: str | None = None, *, policy: str = "Background") -> None:
        """Deletes an object, if it is there; what it owns follows as the policy says."""
        try:
            self.raw("DELETE", self.path(kind, namespace, name), params={"propagationPolicy": policy})
        except KubeError as error:
            if error.code != 404:
                raise

    def logs(self, pod: str, namespace: str, container: str | None = None, *, previous: bool = False) -> str:
        """What a container wrote."""
        params = {"previous": str(previous).lower()} | ({"container": container} if container else {})
        return self.raw("GET", f"{self.path('Pod', namespace, pod)}/log", params=params, accept="*/*").text

    def watch(
        self, path: str, version: str, selectors: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> Iterator[Manifest]:
        """Changes below a path since a version, until the API server ends the watch.

        Args:
            path: Path of a collection.
            version: Resource version; without one the first events are of the objects that there are.
            selectors: Selectors by parameter.
            seconds: After which the watch ends.
        """
        params = {**(selectors or {}), "watch": "true", "resourceVersion": version}
        if seconds is not None:
            params["timeoutSeconds"] = str(math.ceil(seconds))
        timeout = httpx.Timeout(30, read=None if seconds is None else seconds + 5)
        with self._http.stream("GET", path, params=params, timeout=timeout) as answer:
            if answer.is_error:
                answer.read()
                raise _refusal(answer)
            for line in answer.iter_lines():
                event: Manifest = json.loads(line)
                yield event

    def wait(
        self,
        kind: str,
        name: str,
        namespace: str | None,
        condition: Callable[[Manifest], bool],
        *,
        seconds: float = 60,
    ) -> Manifest:
        """Waits until an object is as expected. An API server that is out of reach meanwhile is waited for.

        Raises:
            TimeoutError: It did not come to be so in time; the message shows its last status.
        """
        deadline = time.monotonic() + seconds
        seen: Manifest | None = None
        while (left := deadline - time.monotonic()) > 0:
            try:
                for seen in self._states(kind, name, namespace, left):
                    if seen is not None and condition(seen):
                        return seen
            except (KubeError, httpx.TransportError) as error:
                if isinstance(error, KubeError) and error.code < 500 and error.code not in NOT_YET:
                    raise
            time.sleep(POLL)
        state = "there is none" if seen is None else yaml.safe_dump(seen.get("status", seen))
        raise TimeoutError(f"{kind} {name} is not as expected after {seconds:.0f} s: {state}")

    def _states(self, kind: str, name: str, namespace: str | None, seconds: float) -> Iterator[Manifest | None]:
        """An object as it is, if there is one, and after each change; None when it is deleted."""
        # Asking ten times a second would be more than half of all requests to the API server during a run.
        named = {"fieldSelector": f"metadata.name={name}"}
        for event in self.watch(self.path(kind, namespace), "", named, seconds):
            if event["type"] == "ERROR":
                return
            yield None if event["type"] == "DELETED" else event["object"]

    def wait_gone(self, kind: str, name: str, namespace: str | None = None, *, seconds: float = 60) -> None:
        """Waits until there is no such object.

        Raises:
            TimeoutError: There still is.
        """
        deadline = time.monotonic() + seconds
        while self.find(kind, name, namespace) is not None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{kind} {name} is still there after {seconds:.0f} s")
            time.sleep(POLL)

    def path(self, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """Where a kind's objects, or one of them, are in the API."""
        if kind not in self._kinds:
            self._discover()
        if kind not in self._kinds:
            raise KubeError(404, "NoKindMatch", f"the API server knows no kind {kind}")
        root, plural, namespaced = self._kinds[kind]
        place = f"/namespaces/{namespace}" if namespaced and namespace else ""
        return f"{root}{place}/{plural}" + (f"/{name}" if name else "")

    def _discover(self) -> None:
        for entry in ("/api", "/apis"):
            for group in _object(self.raw("GET", entry, accept=DISCOVERY))["items"]:
                name = group["metadata"].get("name", "")
                for version in group["versions"]:
                    root = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                    for resource in version["resources"]:
                        kind, namespaced = resource["responseKind"]["kind"], resource["scope"] == "Namespaced"
                        self._kinds.setdefault(kind, (root, resource["resource"], namespaced))


def has_condition(kind: str, value: str = "True") -> Callable[[Manifest], bool]:
    """Whether an object has a condition, for `Kube.wait`."""

    def check(manifest: Manifest) -> bool:
        conditions = manifest.get("status", {}).get("conditions") or []
        return any(item["type"] == kind and item["status"] == value for item in conditions)

    return check


def _entries(config: Manifest) -> tuple[Manifest, Manifest]:
    return config["clusters"][0]["cluster"], config["users"][0]["user"]


def _context(cluster: Manifest, user: Manifest) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile("wb") as both:  # the ssl module reads a certificate from files only
        for part in ("client-certificate-data", "client-key-data"):
            both.write(base64.b64decode(user[part]))
        both.flush()
        context.load_cert_chain(both.name)
    return context


def _object(answer: httpx.Response) -> Manifest:
    content: Manifest = answer.json()
    return content


def _refusal(answer: httpx.Response) -> KubeError:
    try:
        status = _object(answer)
    except ValueError:
        return KubeError(answer.status_code, "", answer.text[:500])
    return KubeError(answer.status_code, status.get("reason", ""), status.get("message", answer.text[:500]))
