"""Packs a chart for a release: with its version, and its images by digest.

Invariant: the same chart gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path


def packed(chart: Path, version: str, digests: Mapping[str, str], epoch: int, prefix: str) -> bytes:
    """The archive of a chart.

    Args:
        chart: Its folder.
        version: Version of chart and application, and tag of images.
        digests: Digests of images by name; images without one are named by their tag.
        epoch: Time of every file, in seconds since 1970.
        prefix: What the names of images begin with.
    """
    content = io.BytesIO()
    ignored = {line.strip() for line in (chart / ".helmignore").read_text().splitlines()}
    with (
        gzip.GzipFile(fileobj=content, mode="wb", mtime=epoch, filename="") as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for file in sorted(path for path in chart.rglob("*") if path.is_file() and path.name not in ignored):
            place = file.relative_to(chart).as_posix()
            text = _released(place, file.read_bytes(), version, digests, prefix)
            entry = tarfile.TarInfo(f"{chart.name}/{place}")
            entry.size, entry.mtime, entry.mode = len(text), epoch, 0o644
            archive.addfile(entry, io.BytesIO(text))
    return content.getvalue()


def _released(place: str, content: bytes, version: str, digests: Mapping[str, str], prefix: str) -> bytes:
    """A file of a chart as the release has it."""
    if place == "Chart.yaml":
        return re.sub(rb"(?m)^(version|appVersion): .*$", rb"\1: " + version.encode(), content)
    if place != "values.yaml":
        return content
    content = re.sub(rb"(?m)^  tag: dev$", b"  tag: " + version.encode(), content)
    content = re.sub(rb"(?m)^  prefix: localhost/opsgym-$", b"  prefix: " + prefix.encode(), content)
    for name, digest in digests.items():
        content = re.sub(rb"(  digests: \{.*\b%s: )\"\"" % name.encode(), rb'\1"%s"' % digest.encode(), content)
    return content
