"""Asks the API server: one connection pool, plain dictionaries, no generated classes.

Invariant: every request ends within `SECONDS`, and every refusal becomes an `ApiError` that says which object it was
about. Nothing is retried here but a request whose token had expired; whoever asks, asks again later.

The generated `kubernetes` client is not used: its classes alone cost 80 MB, and its calls block the event loop.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeAlias

import aiohttp
import kopf

Manifest: TypeAlias = dict[str, Any]
"""A Kubernetes object as the API server writes it."""

SECONDS = 30.0
"""What a request may take; an API server that needs longer is as good as gone."""
PAGE = 500
"""Objects in one answer to a list."""


@dataclass(frozen=True)
class Kind:
    """A kind of object that the operator deals with."""

    api_version: str
    name: str
    plural: str

    def path(self, namespace: str | None, name: str = "", part: str = "") -> str:
        """URL path of the kind's objects, of one of them, or of a part of one, such as `status`."""
        root = "/apis/" if "/" in self.api_version else "/api/"
        where = f"/namespaces/{namespace}" if namespace else ""
        return "/".join(piece for piece in (f"{root}{self.api_version}{where}/{self.plural}", name, part) if piece)


EVALRUNS = Kind("opsgym.dev/v1alpha1", "EvalRun", "evalruns")
EVALMODELS = Kind("opsgym.dev/v1alpha1", "EvalModel", "evalmodels")
EVALSCHEDULES = Kind("opsgym.dev/v1alpha1", "EvalSchedule", "evalschedules")
JOBS = Kind("batch/v1", "Job", "jobs")
PODS = Kind("v1", "Pod", "pods")
CONFIGMAPS = Kind("v1", "ConfigMap", "configmaps")
EVENTS = Kind("v1", "Event", "events")
LOCALQUEUES = Kind("kueue.x-k8s.io/v1beta1", "LocalQueue", "localqueues")

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (EVALRUNS, EVALMODELS, EVALSCHEDULES, JOBS, PODS, CONFIGMAPS, EVENTS, LOCALQUEUES)
}
"""By the name that manifests carry."""


class ApiError(Exception):
    """The API server refused a request, or could not be asked.

    Attributes:
        status: HTTP status; 0 if there was no answer.
        retry_after: Seconds that the server asks to wait, 0 if it does not say.
    """

    def __init__(self, what: str, status: int, message: str, retry_after: float = 0.0) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(f"{what}: {message}" + (f" (HTTP {status})" if status else ""))

    @property
    def missing(self) -> bool:
        """There is no such object, or no such kind."""
        return self.status == 404

    @property
    def exists(self) -> bool:
        """An object of that name is there already, or it has changed meanwhile."""
        return self.status == 409


def login(settings: kopf.OperatorSettings) -> kopf.ConnectionInfo:
    """How to reach the API server: as the pod's service account, or as the kubeconfig says.

    Raises:
        kopf.LoginError: There is neither.
    """
    info = kopf.login_with_service_account(settings=settings)
    if info is not None:
        # By address: an operator that needs the cluster's DNS to start cannot outlive a broken one.
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        return (
            replace(info, server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")
            if host
            else info
        )
    info = kopf.login_with_kubeconfig(settings=settings)
    if info is None:
        raise kopf.LoginError("no cluster: run in a pod with a service account, or set KUBECONFIG")
    return info


class Client(AbstractAsyncContextManager["Client"]):
    """The API server, while the context is open.

    Args:
        settings: Where logging in takes its settings from.
    """

    def __init__(self, settings: kopf.OperatorSettings) -> None:
        self._settings = settings
        self._info = login(settings)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Opens the connection pool."""
        # No more than 32 at once: a burst of our own must not fill the API server's queue of our priority level.
        connector = aiohttp.TCPConnector(limit=32, ssl=self._info.as_ssl_context())
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=SECONDS),
            headers={"User-Agent": "opsgym-operator", "Accept": "application/json"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        if self._session is not None:
            await self._session.close()

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """An object; None if there is none, or no such kind."""
        try:
            return await self._ask("GET", kind.path(namespace, name))
        except ApiError as error:
            if error.missing:
                return None
            raise

    async def list(
        self, kind: Kind, namespace: str | None, labels: str = "", *, metadata_only: bool = False
    ) -> Sequence[Manifest]:
        """Objects of a kind, of one namespace or all.

        Args:
            kind: What to list.
            namespace: Where; everywhere if None.
            labels: Label selector.
            metadata_only: Ask for names, labels and versions alone, as the API server has them in memory: cheap on
                both sides.

        Raises:
            ApiError: With `missing` if there is no such kind.
        """
        params = {"limit": str(PAGE), "labelSelector": labels}
        accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        headers = {"Accept": accept} if metadata_only else {}
        found: list[Manifest] = []
        while True:
            page = await self._ask("GET", kind.path(namespace), params=params, headers=headers)
            found += page.get("items") or []
            more = page.get("metadata", {}).get("continue")
            if not more:
                return found
            params["continue"] = more

    async def create(self, manifest: Manifest) -> Manifest:
        """Creates an object; says what the API server made of it.

        Raises:
            ApiError: With `exists` if there is one of that name.
        """
        kind = KINDS[manifest["kind"]]
        return await self._ask("POST", kind.path(manifest["metadata"]["namespace"]), body=manifest)

    async def patch(self, kind: Kind, namespace: str, name: str, change: Manifest, part: str = "") -> Manifest:
        """Merges a change into an object, or into a part of it such as `status`."""
        headers = {"Content-Type": "application/merge-patch+json"}
        return await self._ask("PATCH", kind.path(namespace, name, part), body=change, headers=headers)

    async def delete(self, kind: Kind, namespace: str, name: str, uid: str | None = None) -> None:
        """Deletes an object and, in the background, what it owns; one that is gone already is no error.

        Args:
            kind: What.
            namespace: Where.
            name: Which.
            uid: Only the object with this identity, not a later one of the same name.
        """
        body: Manifest = {"propagationPolicy": "Background"}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        try:
            await self._ask("DELETE", kind.path(namespace, name), body=body)
        except ApiError as error:
            if not error.missing and not (uid is not None and error.exists):
                raise

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Manifest | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Manifest:
        content = None if body is None else json.dumps(body)
        more = {"Content-Type": "application/json", **(headers or {})}
        status, answer, wait = await self._send(method, path, content, params, more)
        if status == 401:
            # A service account's token is replaced on disk every hour.
            self._info = login(self._settings)
            status, answer, wait = await self._send(method, path, content, params, more)
        if status >= 400:
            raise ApiError(f"{method} {path}", status, _message(answer), wait)
        return _object(answer, f"{method} {path}")

    async def _send(
        self, method: str, path: str, content: str | None, params: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[int, str, float]:
        if self._session is None:
            raise RuntimeError("the client is not open")
        url = f"{self._info.server.rstrip('/')}{path}"
        sent = {**headers, **self._info.as_http_headers()}
        try:
            async with self._session.request(method, url, data=content, params=params, headers=sent) as response:
                wait = response.headers.get("Retry-After", "")
                return response.status, await response.text(), float(wait) if wait.isdigit() else 0.0
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = str(error) or type(error).__name__
            raise ApiError(f"{method} {path}", 0, f"the API server does not answer: {problem}") from None


def _object(answer: str, what: str) -> Manifest:
    try:
        found = json.loads(answer)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ApiError(what, 0, "the answer is no object; is this an API server?")
    return found


def _message(answer: str) -> str:
    """What the API server says about a refusal."""
    try:
        found = json.loads(answer)
    except ValueError:
        return answer[:300]
    return str(found.get("message", answer[:300])) if isinstance(found, dict) else answer[:300]
