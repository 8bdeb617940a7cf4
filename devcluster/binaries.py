"""Programs that no Debian package has: from the cache, else downloaded, else built from their Go module.

Invariant: a folder in the cache is whole. What is downloaded is checked against the digest that is published beside it;
what is built is checked by Go against its checksum database.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from devcluster.errors import ClusterError
from devcluster.places import PROGRAMS

HERE = Path(__file__).with_name("go")
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
PATIENCE = 15
"""Seconds until a download that does not answer is given up."""
GO_FOLDERS = f"{os.environ.get('PATH', '')}:/usr/local/go/bin"


@dataclass(frozen=True)
class Source:
    """Where the programs of a release come from.

    Attributes:
        name: The release.
        version: Its version, with the v.
        programs: What it holds.
        urls: Program or archive by address; the digest lies at the address with `digest` added.
        package: What `go install` builds; None if the module `go/NAME` builds it.
        module: Module whose command of the release's name `go/NAME` builds; None if `go/NAME` has a main of its own.
        folders: Folders of `module` that are put beside the programs.
        variables: What the linker sets.
    """

    name: str
    version: str
    programs: tuple[str, ...]
    urls: tuple[str, ...] = ()
    digest: str = ".sha256"
    package: str | None = None
    module: str | None = None
    folders: tuple[str, ...] = ()
    variables: tuple[str, ...] = field(default=())

    @property
    def folder(self) -> Path:
        """Where its programs are once they are there."""
        return PROGRAMS / f"{self.name}-{self.version}"


COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")
KUBERNETES_VERSION = "v1.36.2"
COREDNS_VERSION = "v1.14.7"
COREDNS_RELEASES = "https://github.com/coredns/coredns/releases/download"
HELM_VERSION = "v3.22.0"

KUBERNETES = Source(
    "kubernetes",
    KUBERNETES_VERSION,
    COMPONENTS,
    tuple(f"https://dl.k8s.io/{KUBERNETES_VERSION}/bin/linux/{MACHINE}/{name}" for name in COMPONENTS),
    variables=(
        f"k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}",
        "k8s.io/component-base/version.gitMajor=1",
        "k8s.io/component-base/version.gitMinor=36",
    ),
)
COREDNS = Source(
    "coredns",
    COREDNS_VERSION,
    ("coredns",),
    (f"{COREDNS_RELEASES}/{COREDNS_VERSION}/coredns_{COREDNS_VERSION[1:]}_linux_{MACHINE}.tgz",),
    package="github.com/coredns/coredns",
)
HELM = Source(
    "helm",
    HELM_VERSION,
    ("helm",),
    (f"https://get.helm.sh/helm-{HELM_VERSION}-linux-{MACHINE}.tar.gz",),
    digest=".sha256sum",
    package="helm.sh/helm/v3/cmd/helm",
    variables=(f"helm.sh/helm/v3/internal/version.version={HELM_VERSION}",),
)
VERSITYGW = Source("versitygw", "v1.8.0", ("versitygw",), package="github.com/versity/versitygw/cmd/versitygw")
KUEUE = Source("kueue", "v0.15.0", ("kueue",), module="sigs.k8s.io/kueue", folders=("config",))
"""Its release has an image but no program. `go install` would ask for versions of modules that have none."""
KWOK = Source("kwok", "v0.7.0", ("kwok",), package="sigs.k8s.io/kwok/cmd/kwok")
ACTIONLINT = Source("actionlint", "v1.7.12", ("actionlint",), package="github.com/rhysd/actionlint/cmd/actionlint")
REGISTRY = Source("registry", "v3.1.2", ("registry",), package="github.com/distribution/distribution/v3/cmd/registry")
CLUSTER = (KUBERNETES, COREDNS, HELM, VERSITYGW)
"""What every cluster needs."""
ALL = (*CLUSTER, KUEUE, KWOK)
TOOLS = (ACTIONLINT, REGISTRY)
"""What checks need that run without a cluster."""


def ensure(sources: Iterable[Source] = CLUSTER) -> None:
    """Brings the programs of releases that are not in the cache.

    Raises:
        ClusterError: One can neither be downloaded nor built.
    """
    for source in sources:
        if not source.folder.exists():
            bring(source, (download, build))


def program(name: str) -> Path:
    """Where a program is."""
    return next(source.folder / name for source in (*ALL, *TOOLS) if name in source.programs)


def bring(source: Source, ways: tuple[Callable[[Source, Path], str | None], ...]) -> None:
    """Puts a release into the cache by the first way that works.

    Args:
        source: The release.
        ways: Each fills a folder, or says why it cannot.
    """
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    reasons = []
    for way in ways:
        with tempfile.TemporaryDirectory(dir=PROGRAMS, prefix=f".{source.name}-") as made:
            reason = way(source, Path(made))
            if reason is None:
                Path(made).chmod(0o755)
                Path(made).rename(source.folder)
                Path(made).mkdir()  # what the context removes
                return
            reasons.append(reason)
    raise ClusterError(
        f"cannot get {source.name} {source.version}: {'; '.join(reasons)}. "
        f"Put {', '.join(source.programs)} into {source.folder}, or install Go, and try again."
    )


def download(source: Source, folder: Path) -> str | None:
    """Downloads the official programs."""
    if not source.urls:
        return "no official download"
    try:
        for url in source.urls:
            content, published = _get(url), _get(url + source.digest).decode()
            if hashlib.sha256(content).hexdigest() not in re.findall(r"[0-9a-f]{64}", published):
                return f"{url} does not have the digest published beside it"
            _unpack(url, content, source, folder)
    except OSError as error:
        return f"download failed ({error})"
    missing = [name for name in source.programs if not (folder / name).exists()]
    return f"{source.urls[-1]} holds no {' or '.join(missing)}" if missing else None


def build(source: Source, folder: Path) -> str | None:
    """Builds the programs from the Go module, as one program with several names where there are several."""
    go = shutil.which("go", path=GO_FOLDERS)
    if go is None:
        return "no Go to build it with"
    sys.stderr.write(f"Building {source.name} {source.version} (the first time; Kubernetes takes some 7 minutes) …\n")
    linker = " ".join(["-s", "-w", *(f"-X {variable}" for variable in source.variables)])
    common = ["-trimpath", "-ldflags", linker]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(folder), "GOFLAGS": "-buildvcs=false"}
    if source.package is None:
        main = "." if source.module is None else f"{source.module}/cmd/{source.name}"
        command = [go, "build", "-C", str(HERE / source.name), *common, "-o", str(folder / source.name), main]
    else:
        command = [go, "install", *common, f"{source.package}@{source.version}"]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        return f"the build failed: {done.stderr.strip()[-500:]}"
    if source.module is not None:
        _copy_folders(go, source, folder)
    for name in source.programs:
        if not (folder / name).exists():
            (folder / name).symlink_to(source.name)
    return None


def _copy_folders(go: str, source: Source, folder: Path) -> None:
    """Copies folders of the module that a release is built from."""
    question = [go, "list", "-C", str(HERE / source.name), "-m", "-f", "{{.Dir}}", str(source.module)]
    module = Path(subprocess.run(question, check=True, capture_output=True, text=True).stdout.strip())
    for name in source.folders:
        # Files of Go's cache are read-only.
        shutil.copytree(module / name, folder / name, copy_function=shutil.copyfile)
    for copied in folder.rglob("*/"):
        copied.chmod(0o755)


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return bytes(answer.read())


def _unpack(url: str, content: bytes, source: Source, folder: Path) -> None:
    """Writes a downloaded program, or the programs out of a downloaded archive."""
    contents = {url.rpartition("/")[2]: content}
    if url.endswith(("gz", "tgz")):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = [(member.name.rpartition("/")[2], archive.extractfile(member)) for member in archive]
            contents = {name: file.read() for name, file in members if file is not None}
    for name in source.programs:
        if name in contents:
            (folder / name).write_bytes(contents[name])
            (folder / name).chmod(0o755)
