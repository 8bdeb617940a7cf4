"""Client of the Kubernetes API server: one connection pool, plain dictionaries, no generated classes.

Invariant: every request ends within `TIMEOUT_S`, and every failure is an `ApiError` that names the object. The client
retries a request only when its token had expired; callers retry everything else.

The generated `kubernetes` client is not used: its classes alone take 80 MB, and its calls block the event loop.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import aiohttp

Manifest: TypeAlias = dict[str, Any]
"""A Kubernetes object as the API server writes it."""

TIMEOUT_S = 30.0
"""Total time of a request, in seconds; an API server that needs longer counts as unreachable."""
PAGE = 500
"""Objects in one page of a list."""


@dataclass(frozen=True)
class Kind:
    """A kind of API object."""

    api_version: str
    name: str
    plural: str

    def path(self, namespace: str | None, name: str = "", subresource: str = "") -> str:
        """URL path of the kind's objects, of one object, or of a subresource such as `status`."""
        root = "/apis/" if "/" in self.api_version else "/api/"
        where = f"/namespaces/{namespace}" if namespace else ""
        parts = (f"{root}{self.api_version}{where}/{self.plural}", name, subresource)
        return "/".join(part for part in parts if part)


EVALRUNS = Kind("opsgym.dev/v1alpha1", "EvalRun", "evalruns")
EVALMODELS = Kind("opsgym.dev/v1alpha1", "EvalModel", "evalmodels")
EVALSCHEDULES = Kind("opsgym.dev/v1alpha1", "EvalSchedule", "evalschedules")
JOBS = Kind("batch/v1", "Job", "jobs")
PODS = Kind("v1", "Pod", "pods")
CONFIGMAPS = Kind("v1", "ConfigMap", "configmaps")
EVENTS = Kind("v1", "Event", "events")
LEASES = Kind("coordination.k8s.io/v1", "Lease", "leases")

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (EVALRUNS, EVALMODELS, EVALSCHEDULES, JOBS, PODS, CONFIGMAPS, EVENTS, LEASES)
}
"""Kinds by name, as in the `kind` field of a manifest."""


class ApiError(Exception):
    """The API server refused a request, or did not answer it.

    Attributes:
        status: HTTP status; 0 without an answer.
        retry_after: Seconds to wait before a retry, as the server requests; 0 if it requests none.
    """

    def __init__(self, request: str, status: int, message: str, retry_after: float = 0.0) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(f"{request}: {message}" + (f" (HTTP {status})" if status else ""))

    @property
    def missing(self) -> bool:
        """Whether the object or its kind does not exist."""
        return self.status == 404

    @property
    def exists(self) -> bool:
        """Whether the object exists already or has changed since it was read."""
        return self.status == 409

    @property
    def refused(self) -> bool:
        """Whether the API server answered and rejects this request, so that other requests may succeed.

        The cause is a quota, an admission rule, missing rights, an invalid object, or a webhook that is away (500).
        False if the API server itself is unavailable or overloaded, or does not accept the credentials.
        """
        return self.status >= 400 and self.status not in (401, 429, 502, 503, 504)

    @property
    def uncertain(self) -> bool:
        """Whether the request may have been carried out all the same: no answer came, or the server failed over it."""
        return self.status == 0 or self.status >= 500


class Credentials(Protocol):
    """Address of the API server and what authenticates a request; `kopf.ConnectionInfo` is one."""

    @property
    def server(self) -> str:
        """URL of the API server."""
        ...

    def as_ssl_context(self) -> ssl.SSLContext:
        """TLS settings of a connection."""
        ...

    def as_http_headers(self) -> dict[str, str]:
        """Headers of a request."""
        ...


class Client(AbstractAsyncContextManager["Client"]):
    """Connections to the API server while the context is open.

    Args:
        login: Returns credentials; called again when they have expired. `opsgym_core.kube.login.login` is one.
        writable_s: Seconds for which objects of a namespace may still be written; a write that would take longer is
            given up, and at 0 none is sent. None allows all writes.
    """

    def __init__(self, login: Callable[[], Credentials], writable_s: Callable[[str], float] | None = None) -> None:
        self._login = login
        self._writable_s = writable_s
        self._credentials = login()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Opens the connection pool."""
        # At most 32 at the same time: a burst must not fill the API server's queue of the operator's priority level.
        connector = aiohttp.TCPConnector(limit=32, ssl=self._credentials.as_ssl_context())
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={"User-Agent": "opsgym", "Accept": "application/json"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """An object; None if it or its kind does not exist."""
        try:
            return await self._request("GET", kind.path(namespace, name))
        except ApiError as error:
            if error.missing:
                return None
            raise

    async def list(
        self, kind: Kind, namespace: str | None, labels: str = "", *, fields: str = "", metadata_only: bool = False
    ) -> Sequence[Manifest]:
        """Lists the objects of a kind.

        Args:
            kind: The kind.
            namespace: Namespace; None for all.
            labels: Label selector; empty for all objects.
            fields: Field selector; empty for all objects.
            metadata_only: Request `PartialObjectMetadata` as the API server has them in memory, in one page: cheap on
                both sides, and perhaps seconds old. They come without `managedFields`, which are most of them.

        Raises:
            ApiError: With `missing` if the kind does not exist.
        """
        # Pages after the first are read from etcd, and so is any list that does not allow an older state.
        size = {"resourceVersion": "0"} if metadata_only else {"limit": str(PAGE)}
        params = {**size, "labelSelector": labels, **({"fieldSelector": fields} if fields else {})}
        accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        headers = {"Accept": accept} if metadata_only else {}
        objects: list[Manifest] = []
        while True:
            dropped = "managedFields" if metadata_only else ""
            page = await self._request("GET", kind.path(namespace), params=params, headers=headers, dropped=dropped)
            objects += page.get("items") or []
            token = page.get("metadata", {}).get("continue")
            if not token:
                return objects
            params["continue"] = token

    async def versions(self, group: str) -> Sequence[str]:
        """API versions of a group that the API server has, the preferred one first; empty if it lacks the group."""
        try:
            answer = await self._request("GET", f"/apis/{group}")
        except ApiError as error:
            if error.missing:
                return ()
            raise
        preferred = answer.get("preferredVersion", {}).get("groupVersion")
        served = [str(version["groupVersion"]) for version in answer.get("versions") or ()]
        return sorted(served, key=lambda version: version != preferred)

    async def review_token(self, token: str, audience: str) -> Manifest:
        """What the API server says of a ServiceAccount's token: the status of a TokenReview.

        Args:
            token: The token.
            audience: Audience that the token must be for.
        """
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [audience]},
        }
        answer = await self._request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", body=review)
        status: Manifest = answer.get("status") or {}
        return status

    async def create(self, manifest: Manifest) -> Manifest:
        """Creates an object; returns it as the API server stored it.

        Raises:
            ApiError: With `exists` if an object of that name exists.
        """
        kind = KINDS[manifest["kind"]]
        namespace = manifest["metadata"]["namespace"]
        return await self._request("POST", kind.path(namespace), body=manifest, written=namespace)

    async def patch(self, kind: Kind, namespace: str, name: str, change: Manifest, subresource: str = "") -> Manifest:
        """Applies a merge patch to an object, or to a subresource of it such as `status`."""
        headers = {"Content-Type": "application/merge-patch+json"}
        path = kind.path(namespace, name, subresource)
        return await self._request("PATCH", path, body=change, headers=headers, written=namespace)

    async def delete(
        self, kind: Kind, namespace: str, name: str, uid: str | None = None, version: str | None = None
    ) -> None:
        """Deletes an object and, in the background, its dependents. An object that does not exist is not an error.

        Args:
            kind: The kind.
            namespace: Namespace of the object.
            name: Name of the object.
            uid: Precondition: only the object with this uid, not a later one of the same name.
            version: Precondition: only as long as the object has this resource version.

        Raises:
            ApiError: With `exists` if the object has another resource version.
        """
        body: Manifest = {"propagationPolicy": "Background"}
        conditions = {"uid": uid, "resourceVersion": version}
        if uid is not None or version is not None:
            body["preconditions"] = {name: value for name, value in conditions.items() if value is not None}
        try:
            await self._request("DELETE", kind.path(namespace, name), body=body, written=namespace)
        except ApiError as error:
            if not error.missing and not (uid is not None and version is None and error.exists):
                raise

    async def _request(
        self,
        method: str,
        path: str,
        *,
        body: Manifest | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        written: str | None = None,
        dropped: str = "",
    ) -> Manifest:
        """Sends a request.

        Args:
            method: HTTP method.
            path: Path and no query.
            body: Content; None without one.
            params: Query.
            headers: Further headers.
            written: Namespace that the request changes; None for one that only reads.
            dropped: Field of the answer that is not kept, wherever it is.
        """
        content = None if body is None else json.dumps(body)
        content_headers = {"Content-Type": "application/json", **(headers or {})}
        status, answer, wait = await self._send(method, path, content, params, content_headers, written)
        if status == 401:
            # A service account's token is replaced on disk every hour.
            self._credentials = self._login()
            status, answer, wait = await self._send(method, path, content, params, content_headers, written)
        if status >= 400:
            raise ApiError(f"{method} {path}", status, _message(answer), wait)
        return _object(answer, f"{method} {path}", dropped)

    async def _send(
        self,
        method: str,
        path: str,
        content: str | None,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str],
        written: str | None,
    ) -> tuple[int, str, float]:
        if self._session is None:
            raise RuntimeError("the client is not open; use it as a context manager")
        timeout = aiohttp.ClientTimeout(total=self._timeout_s(f"{method} {path}", written))
        url = f"{self._credentials.server.rstrip('/')}{path}"
        sent = {**headers, **self._credentials.as_http_headers()}
        try:
            async with self._session.request(
                method, url, data=content, params=params, headers=sent, timeout=timeout
            ) as response:
                wait = response.headers.get("Retry-After", "")
                return response.status, await response.text(), float(wait) if wait.isdigit() else 0.0
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = str(error) or type(error).__name__
            raise ApiError(f"{method} {path}", 0, f"the API server does not answer: {problem}") from None

    def _timeout_s(self, request: str, written: str | None) -> float:
        """Seconds that a request may take.

        Raises:
            ApiError: It writes to a namespace that may not be written to now.
        """
        if written is None or self._writable_s is None:
            return TIMEOUT_S
        seconds = self._writable_s(written)
        if seconds <= 0:
            raise ApiError(request, 0, f"not sent: this process does not hold the Lease for namespace {written}")
        return min(TIMEOUT_S, seconds)


def _object(answer: str, request: str, dropped: str) -> Manifest:
    def without(content: Manifest) -> Manifest:
        content.pop(dropped, None)
        return content

    try:
        # Dropped while it is parsed: a list of a thousand objects would take 25 MB before it is complete.
        value = json.loads(answer, object_hook=without if dropped else None)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ApiError(request, 0, "the answer is not a JSON object; check that the address is that of an API server")
    return value


def _message(answer: str) -> str:
    """The message of a `Status` object, or the beginning of any other answer."""
    try:
        status = json.loads(answer)
    except ValueError:
        return answer[:300]
    return str(status.get("message", answer[:300])) if isinstance(status, dict) else answer[:300]
