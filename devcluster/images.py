"""Images for the test cluster, which has no registry: made from files, and handed to containerd.

Invariant: an image made here holds exactly the files it was given, and the same files give the same digest.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devcluster.errors import ClusterError
from devcluster.places import CONTAINERD

MEDIA = "application/vnd.oci.image"
PATHS = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def write_image(
    archive: Path,
    name: str,
    files: Mapping[str, Path],
    *,
    entrypoint: Sequence[str] = (),
    links: Mapping[str, str] | None = None,
    user: str = "65532:65532",
) -> None:
    """Writes an OCI archive with an image of one layer.

    Args:
        archive: Where to.
        name: The image's name and tag.
        files: Programs to put into it, by their place in the image.
        entrypoint: What it runs.
        links: Symbolic links, by their place in the image.
        user: User and group it runs as.
    """
    layer = _layer(files, links or {})
    config = {
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
        "os": "linux",
        "config": {"Entrypoint": list(entrypoint), "Env": [PATHS], "WorkingDir": "/", "User": user},
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    blobs = [layer, json.dumps(config).encode()]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}.manifest.v1+json",
        "config": _descriptor(blobs[1], f"{MEDIA}.config.v1+json"),
        "layers": [_descriptor(blobs[0], f"{MEDIA}.layer.v1.tar")],
    }
    blobs.append(json.dumps(manifest).encode())
    entry = _descriptor(blobs[2], f"{MEDIA}.manifest.v1+json")
    entry["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    with tarfile.open(archive, "w") as tar:
        _add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add(tar, "index.json", json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode())
        for blob in blobs:
            _add(tar, "blobs/" + _digest(blob).replace(":", "/"), blob)


def import_image(archive: Path) -> None:
    """Hands the images of an OCI or Docker archive to the node.

    Raises:
        ClusterError: The file is not an image archive, or the cluster is not running.
    """
    # Unpacking here, and not when the first pod needs it, keeps that time out of what tests measure.
    done = ctr("images", "import", str(archive))
    if done.returncode != 0:
        raise ClusterError(f"cannot import the image {archive}: {done.stderr.strip()}")


def pin(image: str) -> None:
    """Keeps the node from ever removing an image."""
    ctr("images", "label", image, "io.cri-containerd.pinned=pinned")


def ctr(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Calls containerd's own client."""
    command = ["ctr", "--address", str(CONTAINERD), "--namespace", "k8s.io", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _layer(files: Mapping[str, Path], links: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tmp = tarfile.TarInfo("tmp")
        tmp.type, tmp.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(tmp)
        for place, path in sorted(files.items()):
            _add(tar, place.lstrip("/"), path.read_bytes(), mode=0o755)
        for place, target in sorted(links.items()):
            link = tarfile.TarInfo(place.lstrip("/"))
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    tar.addfile(info, io.BytesIO(content))


def _descriptor(blob: bytes, media: str) -> dict[str, Any]:
    return {"mediaType": media, "digest": _digest(blob), "size": len(blob)}


def _digest(blob: bytes) -> str:
    return "sha256:" + hashlib.sha256(blob).hexdigest()
