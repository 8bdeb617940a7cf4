"""The gateway's certificate: real TLS, renewed while it serves, and files that are none."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from pathlib import Path

import pytest
from devcluster.certificates import Authority
from structlog.testing import capture_logs

from opsgym_api.errors import InputError
from opsgym_operator.gateway.certificate import ServerCertificate

pytestmark = pytest.mark.anyio


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "ca")


@pytest.fixture
def secret(tmp_path: Path, authority: Authority) -> Path:
    (folder := tmp_path / "secret").mkdir()
    issue(authority, folder, "first.test")
    return folder


def issue(authority: Authority, folder: Path, name: str) -> None:
    """Puts a certificate of a name into the folder, as the kubelet shows a Secret."""
    authority.issue_server("server", name, dns=(name,), addresses=())
    shutil.copy(authority.folder / "server.crt", folder / "tls.crt")
    shutil.copy(authority.folder / "server.key", folder / "tls.key")


async def served_name(certificate: ServerCertificate, authority: Authority) -> str:
    """The name in the certificate that a new connection gets."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=certificate.context)
    async with server:
        trusting = ssl.create_default_context(cafile=str(authority.folder / "ca.crt"))
        trusting.check_hostname = False
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        names: tuple[tuple[str, str], ...] = writer.get_extra_info("peercert")["subjectAltName"]
        writer.close()
    return names[0][1]


async def test_connections_get_a_renewed_certificate_without_a_restart(secret: Path, authority: Authority) -> None:
    certificate = ServerCertificate(secret)
    assert await served_name(certificate, authority) == "first.test"
    assert certificate.refresh() is False

    issue(authority, secret, "second.test")
    assert certificate.refresh() is True
    assert await served_name(certificate, authority) == "second.test"


async def test_files_that_do_not_fit_leave_the_last_certificate(secret: Path, authority: Authority) -> None:
    certificate = ServerCertificate(secret)
    key = (secret / "tls.key").read_bytes()
    issue(authority, secret, "second.test")
    (secret / "tls.key").write_bytes(key)
    with pytest.raises(ssl.SSLError):
        certificate.refresh()
    assert await served_name(certificate, authority) == "first.test"


async def test_it_follows_the_files_past_a_fault(secret: Path, authority: Authority) -> None:
    certificate = ServerCertificate(secret)
    with capture_logs() as lines:
        following = asyncio.create_task(certificate.follow(every_s=0.01))
        (secret / "tls.crt").unlink()
        async with asyncio.timeout(20):
            while not any(line["event"] == "certificate not loaded" for line in lines):
                assert await served_name(certificate, authority) == "first.test"
            issue(authority, secret, "second.test")
            while await served_name(certificate, authority) != "second.test":
                assert not following.done()
    following.cancel()


@pytest.mark.parametrize("file", ["tls.crt", "tls.key"])
async def test_missing_or_broken_files_are_named(secret: Path, file: str) -> None:
    (secret / file).write_text("none")
    with pytest.raises(InputError, match=r"tls\.crt, tls\.key: not a certificate and its key"):
        ServerCertificate(secret)
    (secret / file).unlink()
    with pytest.raises(InputError, match="No such file or directory"):
        ServerCertificate(secret)
