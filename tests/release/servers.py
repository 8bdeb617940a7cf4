"""A package index and an image registry, each the real program, as a release meets them."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from devcluster.binaries import REGISTRY, ensure, program
from devcluster.processes import until

ROOT = Path(__file__).resolve().parents[2]
UV = ROOT / ".tools" / "uv" / "bin" / "uv"
ACCOUNT = ("publisher", "a-password")


@contextmanager
def index(folder: Path) -> Iterator[str]:
    """A pypiserver with the packages of a folder; its address."""
    port = _free_port()
    command: list[str | Path] = [
        UV,
        "tool",
        "run",
        "--quiet",
        "--from",
        "pypiserver==2.4.2",
        "pypi-server",
        "run",
        "--disable-fallback",
    ]
    with _running([*command, "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", folder], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """A registry that takes tokens of a server which knows `ACCOUNT`; its host."""
    ensure((REGISTRY,))
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    certificate = _certificate(key)
    (folder / "tokens.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    with _tokens(key, certificate) as realm:
        port = _free_port()
        token = {"realm": realm, "service": "registry", "issuer": "tests", "rootcertbundle": str(folder / "tokens.pem")}
        config = {
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": str(folder / "blobs")}},
            "http": {"addr": f"127.0.0.1:{port}"},
            "auth": {"token": token},
        }
        (folder / "config.json").write_text(json.dumps(config))
        with _running([program("registry"), "serve", folder / "config.json"], port):
            yield f"127.0.0.1:{port}"


@contextmanager
def _running(command: Sequence[str | Path], port: int) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert until(answers, 120), command
        yield
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _tokens(key: rsa.RSAPrivateKey, certificate: x509.Certificate) -> Iterator[str]:
    basic = "Basic " + base64.b64encode(":".join(ACCOUNT).encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            scopes = parse_qs(urlsplit(self.path).query).get("scope", [])
            known = self.headers.get("Authorization") == basic
            self.send_response(200 if known else 401)
            self.end_headers()
            self.wfile.write(json.dumps({"token": _token(key, certificate, scopes)} if known else {}).encode())

        def log_message(self, *_: object) -> None:
            """Keeps quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token"
    finally:
        server.shutdown()
        server.server_close()


def _token(key: rsa.RSAPrivateKey, certificate: x509.Certificate, scopes: Sequence[str]) -> str:
    """A signed token for what is asked, `repository:NAME:pull,push`."""
    parts = [scope.split(":") for scope in scopes]
    access = [{"type": kind, "name": name, "actions": actions.split(",")} for kind, name, actions in parts]
    now = int(time.time())
    claims = {"iss": "tests", "sub": ACCOUNT[0], "aud": "registry", "nbf": now - 60, "exp": now + 600, "access": access}
    chain = [base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()]
    header = {"typ": "JWT", "alg": "RS256", "x5c": chain}
    signed = b".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
    return (signed + b"." + _encoded(key.sign(signed, padding.PKCS1v15(), hashes.SHA256()))).decode()


def _encoded(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")


def _certificate(key: rsa.RSAPrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    return made.sign(key, hashes.SHA256())


def bare(folder: Path) -> dict[str, str]:
    """Variables of a person who has Python and uv and nothing of this checkout; those of the network stay."""
    own = ("PYTHON", "VIRTUAL_ENV", "XDG_", "OPSGYM_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    return {**inherited, "HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin", "UV_CACHE_DIR": cache}
