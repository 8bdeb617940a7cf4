"""Certificates of the test cluster: one authority, and a certificate for each component, whose subject is its identity.

Invariant: a folder that has `ca.crt` has all of them; they are made anew with every cluster and go with it.
"""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from devcluster.places import API_SERVICE_IP, NODE, NODE_IPS

VALID = dt.timedelta(days=30)
API_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
SERVER = "https://127.0.0.1:6443"
CLIENTS = {
    "admin": ("admin", "system:masters"),
    "apiserver-kubelet": ("kube-apiserver-kubelet-client", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "proxy": ("system:kube-proxy", None),
    "policies": ("network-policies", None),
    "kubelet": (f"system:node:{NODE}", "system:nodes"),
}
"""Name and group, which is what the API server's rules know a component by."""


class Authority:
    """A certificate authority that writes what it issues into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _name("opsgym test authority", None)
        builder = _builder(self.name, self.name, self.key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
        self.certificate = builder.sign(self.key, hashes.SHA256())
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "ca.crt").write_bytes(_pem(self.certificate))

    def issue_server(self, file: str, name: str, *, dns: tuple[str, ...], addresses: tuple[str, ...]) -> None:
        """Writes a server's certificate and key."""
        alternatives = [x509.DNSName(item) for item in dns]
        numbers = [x509.IPAddress(ipaddress.ip_address(item)) for item in addresses]
        self._issue(file, _name(name, None), ExtendedKeyUsageOID.SERVER_AUTH, [*alternatives, *numbers])

    def issue_client(self, file: str, name: str, group: str | None) -> None:
        """Writes a client's certificate and key, and a kubeconfig that uses them."""
        self._issue(file, _name(name, group), ExtendedKeyUsageOID.CLIENT_AUTH, [])
        path = self.folder / f"{file}.kubeconfig"
        path.write_text(yaml.safe_dump(_kubeconfig(self.folder, file)))
        path.chmod(0o600)

    def _issue(
        self, file: str, subject: x509.Name, usage: x509.ObjectIdentifier, alternatives: list[x509.GeneralName]
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self.name, key.public_key())
        builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if alternatives:
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        (self.folder / f"{file}.crt").write_bytes(_pem(builder.sign(self.key, hashes.SHA256())))
        write_key(self.folder / f"{file}.key", key)


def make(folder: Path) -> None:
    """Writes every certificate and key that the cluster needs."""
    authority = Authority(folder)
    for file, (name, group) in CLIENTS.items():
        authority.issue_client(file, name, group)
    authority.issue_server(
        "apiserver",
        "kube-apiserver",
        dns=(*API_NAMES, "localhost"),
        addresses=("127.0.0.1", *NODE_IPS, API_SERVICE_IP),
    )
    authority.issue_server("kubelet-server", NODE, dns=(NODE,), addresses=(*NODE_IPS, "127.0.0.1"))
    signer = ec.generate_private_key(ec.SECP256R1())
    write_key(folder / "accounts.key", signer)
    public = signer.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (folder / "accounts.pub").write_bytes(public)


def write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Writes a private key, readable by its owner alone."""
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - dt.timedelta(minutes=5)).not_valid_after(now + VALID)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(name: str, group: str | None) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _kubeconfig(folder: Path, file: str) -> dict[str, Any]:
    def data(name: str) -> str:
        return base64.b64encode((folder / name).read_bytes()).decode()

    user = {"client-certificate-data": data(f"{file}.crt"), "client-key-data": data(f"{file}.key")}
    cluster = {"server": SERVER, "certificate-authority-data": data("ca.crt")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "opsgym", "cluster": cluster}],
        "users": [{"name": file, "user": user}],
        "contexts": [{"name": "opsgym", "context": {"cluster": "opsgym", "user": file}}],
        "current-context": "opsgym",
    }
