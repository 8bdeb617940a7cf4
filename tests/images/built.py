"""A built image, read from its OCI archive without a container engine."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLATFORM = os.environ.get("OPSGYM_PLATFORM", "")
"""Platform of the tested images, such as `linux/arm64`, which needs emulation elsewhere; this machine's if empty."""
ARCHIVES = ROOT / ".images" / PLATFORM
NAMES = ("operator", "runner", "domains", "console")


@dataclass(frozen=True)
class BuiltImage:
    """An image in an archive."""

    archive: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """What the image says of itself: user, environment, history."""
        return self._json(self._manifest["config"]["digest"])

    @cached_property
    def files(self) -> dict[str, tarfile.TarInfo]:
        """Every file by path, of the layers one above the other."""
        files: dict[str, tarfile.TarInfo] = {}
        for _, member in self._members():
            folder, _, name = f"/{member.name}".rpartition("/")
            if name.startswith(".wh."):
                hidden = f"{folder}/{name.removeprefix('.wh.')}"
                files = {
                    path: info
                    for path, info in files.items()
                    if path != hidden and path[: len(hidden) + 1] != f"{hidden}/"
                }
            else:
                files[f"/{member.name.rstrip('/')}"] = member
        return files

    @cached_property
    def size(self) -> int:
        """Bytes of all files in all layers."""
        return sum(member.size for _, member in self._members())

    def texts(self, *folders: str) -> Iterator[tuple[str, bytes]]:
        """Content of every file below some folders, in whatever layer, also of those that a later layer hides."""
        for layer, member in self._members():
            path = f"/{member.name}"
            if member.isreg() and path.startswith(folders):
                file = layer.extractfile(member)
                assert file is not None
                yield path, file.read()

    def unpack(self, folder: Path) -> None:
        """Writes the image's files, as a container would see them."""
        for layer, member in self._members():
            assert "/.wh." not in f"/{member.name}", "a layer removes what an earlier one brought"
            layer.extract(member, folder, numeric_owner=True, filter="fully_trusted")

    def packages(self) -> dict[str, str]:
        """Version of each Python package in the image's environment, by normalised name."""
        versions = {}
        for path in self.files:
            parent, _, name = path.rpartition("/")
            if (
                path.startswith("/opt/")
                and parent.endswith(("site-packages", "opsgym-code"))
                and name.endswith(".dist-info")
            ):
                package, _, version = name.removesuffix(".dist-info").rpartition("-")
                versions[package.lower().replace("_", "-").replace(".", "-")] = version
        return versions

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        described: dict[str, Any]
        with tarfile.open(self.archive) as archive:
            described = json.load(_file(archive, "index.json"))
        while "manifests" in described:  # the list of an image's platforms has one more index
            described = self._json(described["manifests"][0]["digest"])
        return described

    def _json(self, digest: str) -> dict[str, Any]:
        with tarfile.open(self.archive) as archive:
            content: dict[str, Any] = json.load(_file(archive, _blob(digest)))
        return content

    def _members(self) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
        with tarfile.open(self.archive) as archive:
            for described in self._manifest["layers"]:
                with tarfile.open(fileobj=_file(archive, _blob(described["digest"])), mode="r:*") as layer:
                    for member in layer:
                        yield layer, member


def _file(archive: tarfile.TarFile, name: str) -> Any:
    file = archive.extractfile(name)
    assert file is not None, f"the archive has no {name}"
    return file


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")
