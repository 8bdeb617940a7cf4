"""Publishes a built release: packages to an index, images and charts to a registry.

Invariant: what a registry has is not sent again, and a tag is written after all that it names. Where to publish, and as
whom, comes from variables; no password is printed.

    OPSGYM_INDEX               address that takes uploads; uv's own variables (UV_PUBLISH_TOKEN, …) hold the credentials
    OPSGYM_REGISTRY            host and path, of images opsgym-NAME and charts charts/NAME
    OPSGYM_REGISTRY_USER       account at the registry; none for one without accounts
    OPSGYM_REGISTRY_PASSWORD   its password or token
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import httpx
import yaml

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"
CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_LOCAL = ("localhost", "127.0.0.1")


class PublishError(Exception):
    """Something cannot be published; the message says what to do."""


class Registry:
    """A registry that artefacts are pushed to."""

    def __init__(self, place: str, environment: Mapping[str, str]) -> None:
        """Takes host and path, and the account's variables."""
        host, _, path = place.rstrip("/").partition("/")
        scheme = "http" if host.partition(":")[0] in _LOCAL else "https"
        self._prefix = f"{path}/" if path else ""
        user, password = (environment.get(f"OPSGYM_REGISTRY_{name}", "") for name in ("USER", "PASSWORD"))
        self._account = httpx.BasicAuth(user, password) if user else None
        self._client = httpx.Client(base_url=f"{scheme}://{host}", timeout=300)
        self._authorization: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Ends the connections with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the connections."""
        self._client.close()

    def push(self, name: str, tag: str, manifest: bytes, blobs: Mapping[str, bytes]) -> str:
        """Pushes an artefact under a tag.

        Args:
            name: Repository below the registry's path.
            tag: Its tag.
            manifest: An OCI manifest.
            blobs: Contents that it names, by digest.

        Returns:
            The manifest's digest.

        Raises:
            PublishError: The registry refuses it or cannot be reached.
        """
        repository = self._prefix + name
        try:
            for digest, content in blobs.items():
                self._push_blob(repository, digest, content)
            self._send("PUT", f"/v2/{repository}/manifests/{tag}", repository, manifest, {"Content-Type": MANIFEST})
        except httpx.HTTPError as error:
            raise PublishError(f"cannot push {repository}:{tag} to {self._client.base_url}: {error}") from error
        return digest_of(manifest)

    def _push_blob(self, repository: str, digest: str, content: bytes) -> None:
        place = f"/v2/{repository}/blobs/"
        if self._send("HEAD", f"{place}{digest}", repository, absent=True).status_code == httpx.codes.OK:
            return
        upload = self._send("POST", f"{place}uploads/", repository)
        target = httpx.URL(urljoin(str(upload.url), upload.headers["Location"])).copy_merge_params({"digest": digest})
        self._send("PUT", str(target), repository, content, {"Content-Type": "application/octet-stream"})

    def _send(
        self,
        method: str,
        url: str,
        repository: str,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        absent: bool = False,
    ) -> httpx.Response:
        """Sends a request, once more with the authorization that the registry asks for."""
        sent = {**(headers or {})}
        answer = self._client.request(method, url, content=content, headers={**sent, **self._authorization})
        if answer.status_code == httpx.codes.UNAUTHORIZED and self._account:
            self._authorize(answer.headers.get("WWW-Authenticate", ""), repository)
            answer = self._client.request(method, url, content=content, headers={**sent, **self._authorization})
        if not (absent and answer.status_code == httpx.codes.NOT_FOUND):
            answer.raise_for_status()
        return answer

    def _authorize(self, challenge: str, repository: str) -> None:
        """Basic authorization, or a token for this repository from the server that the challenge names."""
        assert self._account is not None, "only with an account"
        request = httpx.Request("GET", self._client.base_url)
        basic = next(self._account.sync_auth_flow(request)).headers["Authorization"]
        named = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        if "realm" not in named or not challenge.lower().startswith("bearer"):
            self._authorization = {"Authorization": basic}
            return
        question = {"scope": f"repository:{repository}:pull,push", "service": named.get("service", "")}
        answer = self._client.get(named["realm"], params=question, headers={"Authorization": basic}).raise_for_status()
        token = answer.json()
        self._authorization = {"Authorization": f"Bearer {token.get('token') or token['access_token']}"}


def push_images(folder: Path, version: str, registry: Registry) -> list[str]:
    """Pushes the images of a release; NAME:TAG@DIGEST of each."""
    ends = f"-{version}.oci.tar"
    pushed = []
    for archive in sorted((folder / "images").glob(f"*{ends}")):
        name = archive.name.removesuffix(ends)
        manifest, blobs = _image(archive)
        pushed.append(f"{name}:{version}@{registry.push(name, version, manifest, blobs)}")
    return pushed


def push_charts(folder: Path, version: str, registry: Registry) -> list[str]:
    """Pushes the charts of a release, for `helm install oci://…`; NAME:TAG@DIGEST of each."""
    ends = f"-{version}.tgz"
    pushed = []
    for archive in sorted(folder.glob(f"*{ends}")):
        name = f"charts/{archive.name.removesuffix(ends)}"
        pushed.append(f"{name}:{version}@{registry.push(name, version, *_chart(archive))}")
    return pushed


def digest_of(content: bytes) -> str:
    """The digest by which a registry names content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _image(archive: Path) -> tuple[bytes, dict[str, bytes]]:
    """Manifest and blobs of an OCI archive with one image."""
    with tarfile.open(archive) as opened:

        def blob(digest: str) -> bytes:
            file = opened.extractfile(f"blobs/{digest.replace(':', '/')}")
            assert file is not None, "blobs are files"
            return file.read()

        index = opened.extractfile("index.json")
        assert index is not None, "an OCI archive has an index"
        manifest = blob(json.load(index)["manifests"][0]["digest"])
        named: dict[str, Any] = json.loads(manifest)
        return manifest, {one["digest"]: blob(one["digest"]) for one in (*named["layers"], named["config"])}


def _chart(archive: Path) -> tuple[bytes, dict[str, bytes]]:
    """Manifest and blobs of a packed chart, as Helm pushes it."""
    content = archive.read_bytes()
    with tarfile.open(archive) as opened:
        description = next(entry for entry in opened if entry.name.endswith("/Chart.yaml"))
        file = opened.extractfile(description)
        assert file is not None, "a description is a file"
        config = json.dumps(yaml.safe_load(file), sort_keys=True).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _named(CHART_CONFIG, config),
        "layers": [_named(CHART_LAYER, content)],
    }
    blobs = {digest_of(part): part for part in (content, config)}
    return json.dumps(manifest, sort_keys=True).encode(), blobs


def _named(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest_of(content), "size": len(content)}
