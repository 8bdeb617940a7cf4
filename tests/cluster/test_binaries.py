"""Where the cluster's programs come from: what is in the cache is whole and is what was published."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from devcluster import binaries
from devcluster.binaries import Source, bring, build, download
from devcluster.errors import ClusterError

SCRIPT = b"#!/bin/sh\necho tool\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class calls it so
        pass


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Path]:
    """A folder that a web server shows; its address is in the file `address`."""
    folder = tmp_path / "published"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        (folder / "address").write_text(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield folder
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setattr(binaries, "PROGRAMS", folder)
    monkeypatch.setattr(binaries, "PATIENCE", 2)
    return folder


def publish(folder: Path, name: str, content: bytes, digest: str | None = None) -> str:
    """Puts a file and its digest where the web server shows them; gives its address."""
    (folder / name).write_bytes(content)
    (folder / f"{name}.sha256").write_text(f"{digest or hashlib.sha256(content).hexdigest()}  {name}\n")
    return f"{(folder / 'address').read_text()}/{name}"


def archive(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"linux/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_programs_are_downloaded_one_by_one(published: Path, cache: Path) -> None:
    urls = tuple(publish(published, name, SCRIPT) for name in ("one", "two"))
    bring(Source("tool", "v1", ("one", "two"), urls), (download,))
    for name in ("one", "two"):
        program = cache / "tool-v1" / name
        assert program.read_bytes() == SCRIPT
        assert program.stat().st_mode & 0o777 == 0o755


def test_programs_are_taken_out_of_an_archive(published: Path, cache: Path) -> None:
    url = publish(published, "tool.tar.gz", archive(tool=SCRIPT, licence=b"text"))
    bring(Source("tool", "v1", ("tool",), (url,)), (download,))
    assert [path.name for path in (cache / "tool-v1").iterdir()] == ["tool"]


def test_a_download_that_is_not_what_was_published_is_refused(published: Path, cache: Path) -> None:
    url = publish(published, "tool", SCRIPT, digest="0" * 64)
    with pytest.raises(ClusterError, match=r"tool does not have the digest published beside it.*tool-v1"):
        bring(Source("tool", "v1", ("tool",), (url,)), (download,))
    assert list(cache.iterdir()) == []


def test_without_a_download_and_without_go_the_message_says_what_to_do(
    published: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "GO_FOLDERS", "")
    url = f"{(published / 'address').read_text()}/absent"
    source = Source("tool", "v1", ("tool",), (url,), package="example.com/tool")
    with pytest.raises(ClusterError) as refused:
        bring(source, (download, build))
    text = str(refused.value)
    assert "download failed (HTTP Error 404" in text
    assert "no Go to build it with" in text
    assert f"Put tool into {cache / 'tool-v1'}, or install Go" in text


def test_an_archive_without_the_program_is_refused(published: Path, cache: Path) -> None:
    url = publish(published, "tool.tar.gz", archive(other=SCRIPT))
    with pytest.raises(ClusterError, match=r"tool\.tar\.gz holds no tool"):
        bring(Source("tool", "v1", ("tool",), (url,)), (download,))
    assert list(cache.iterdir()) == []
