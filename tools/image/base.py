"""Makes a base image from Debian packages, for machines that reach a Debian mirror but no image registry.

Invariant: the image holds Python, its libraries, certificates and a shell, and no package manager or compiler. Packages
are resolved, downloaded and checked by apt, unpacked by dpkg-deb, and none of their scripts is run.
Only the standard library is used, since nothing of ours is installed when this runs.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

WANTED = ["python3", "ca-certificates", "dash", "libstdc++6", "tzdata"]
"""dash: Postgres' initdb starts programs through a shell. libstdc++6: wheels written in C++ expect it."""
LEFT_OUT = {
    # Only needed to install packages, or by those that are.
    "debconf", "debianutils", "dpkg", "libacl1", "libmd0", "libpcre2-8-0", "libselinux1", "libzstd1", "tar",
    # The program; Python brings the library.
    "openssl",
}  # fmt: skip
DROPPED = re.compile(
    r"\./(usr/share/(doc/[^/]+/(?!copyright)|man/|locale/|lintian/|bug/|zoneinfo/(right|posix)/)"
    r"|usr/lib/python3[^/]*/(test|idlelib|tkinter|ensurepip|lib2to3|pydoc_data)/"
    r"|usr/lib/[^/]+/gconv/|usr/lib/[^/]+/perl)"
)
"""Paths in a package that no program of ours reads."""
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
"""Debian's merged /usr: a package that ships /lib/x means /usr/lib/x."""
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
CONTAINERFILE = """\
FROM scratch
ADD root.tar /
ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
RUN ["python3", "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "/usr/lib/python3", \
"/usr/lib/python{version}"]
LABEL org.opencontainers.image.title="opsgym-base" dev.opsgym.packages="{packages}"
"""


class BaseImageError(Exception):
    """The packages are not available; the message gives the reason and an alternative."""


@dataclass(frozen=True)
class Packages:
    """What apt knows of the packages of one architecture."""

    settings: Sequence[str] = ()
    """Options of apt-get; none for this machine's architecture, whose lists the system has."""

    @classmethod
    def foreign(cls, architecture: str, folder: Path) -> Packages:
        """Those of another architecture, whose lists apt fetches into a folder of their own.

        Args:
            architecture: As Debian names it, such as `arm64`.
            folder: An empty folder.
        """
        (folder / "lists" / "partial").mkdir(parents=True)
        (folder / "cache").mkdir()
        settings = {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Sandbox::User": "root",  # the user _apt cannot enter the folder
            "Dir::State::Lists": folder / "lists",
            "Dir::Cache": folder / "cache",
        }
        return cls([part for name, value in settings.items() for part in ("-o", f"{name}={value}")])

    def names(self) -> list[str]:
        """File names of the packages that the image is made of: name, version, architecture.

        Raises:
            BaseImageError: The system is not Debian, or its package lists cannot be fetched.
        """
        try:
            listing = self.install("--print-uris", "--quiet=2")
            if listing.returncode != 0 and (self.settings or os.geteuid() == 0):
                update = ["apt-get", "update", "--quiet=2", *self.settings]
                subprocess.run(update, check=False)
                listing = self.install("--print-uris", "--quiet=2")
        except FileNotFoundError:
            raise BaseImageError("no apt-get: name a base image with Python 3.11 or newer, BASE_IMAGE=…") from None
        if listing.returncode != 0:
            raise BaseImageError(f"apt cannot resolve {', '.join(WANTED)}: {listing.stderr.strip()[-500:]}")
        names = [line.split()[1] for line in listing.stdout.splitlines()]
        return sorted(name for name in names if name.split("_")[0] not in LEFT_OUT)

    def install(self, *options: str) -> subprocess.CompletedProcess[str]:
        """What `apt-get install` says with options that install nothing on this machine."""
        # An empty list of installed packages makes apt name all that is needed, not only what this machine lacks.
        command = ["apt-get", "install", *options, "--no-install-recommends", "-o", "Dir::State::status=/dev/null"]
        return subprocess.run([*command, *self.settings, *WANTED], check=False, capture_output=True, text=True)


def write_context(folder: Path, packages: Packages, names: Sequence[str]) -> None:
    """Writes what a builder needs, `Containerfile` and `root.tar`.

    Args:
        folder: Where to.
        packages: Where they come from.
        names: Their names, as `packages.names()` gives them.

    Raises:
        BaseImageError: A package cannot be downloaded.
    """
    with tempfile.TemporaryDirectory() as downloads, tarfile.open(folder / "root.tar", "w") as root:
        (Path(downloads) / "partial").mkdir()
        done = packages.install("--download-only", "--yes", "--quiet=2", "-o", f"Dir::Cache::archives={downloads}")
        if done.returncode != 0:
            raise BaseImageError(f"apt cannot download the packages: {done.stderr.strip()[-500:]}")
        for name, target in LINKS.items():
            _add_link(root, name, target)
        certificates: list[bytes] = []
        files = [Path(downloads) / name for name in names]
        for file in files:
            certificates += _unpack(file, root)
        _add_file(root, TRUSTED.lstrip("/"), b"".join(certificates))
        _add_system_files(root)
    version = next(match[1] for name in names if (match := re.match(r"python(3\.\d+)_", name)))
    text = CONTAINERFILE.format(version=version, packages=digest(names))
    (folder / "Containerfile").write_text(text, encoding="utf-8")


def digest(names: Iterable[str]) -> str:
    """Stands for a list of packages and for what this file does with them."""
    content = "\n".join(names).encode() + Path(__file__).read_bytes()
    return hashlib.sha256(content).hexdigest()[:16]


def _unpack(package: Path, root: tarfile.TarFile) -> list[bytes]:
    """Copies a package's files into the image, and its description to where scanners look; certificates it brings."""
    certificates: list[bytes] = []
    with tarfile.open(fileobj=io.BytesIO(_of_package(package, "--fsys-tarfile"))) as archive:
        for member in archive:
            if DROPPED.match(member.name) or (member.isdir() and member.name.removeprefix("./") in LINKS):
                continue
            body = archive.extractfile(member) if member.isreg() else None
            member.name = _merged(member.name)
            if member.islnk():
                member.linkname = _merged(member.linkname)
            if body is not None and member.name.endswith(".crt"):
                certificates.append(body.read())
                continue
            root.addfile(member, body)
    _add_file(root, f"var/lib/dpkg/status.d/{package.name.split('_')[0]}", _of_package(package, "--field"))
    return certificates


def _of_package(package: Path, option: str) -> bytes:
    command = ["dpkg-deb", option, str(package)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _merged(name: str) -> str:
    first, _, rest = name.removeprefix("./").partition("/")
    return f"{LINKS[first]}/{rest}" if first in LINKS and rest else name.removeprefix("./")


def _add_system_files(root: tarfile.TarFile) -> None:
    """Files that the packages' install scripts would create."""
    _add_file(
        root, "etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
    )
    _add_file(root, "etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    _add_file(root, "etc/nsswitch.conf", b"hosts: files dns\n")
    _add_link(root, "usr/bin/sh", "dash")
    _add_link(root, "usr/lib/ssl/cert.pem", TRUSTED)
    for name, mode in (("tmp", 0o1777), ("var/tmp", 0o1777), ("root", 0o700)):
        folder = tarfile.TarInfo(name)
        folder.type, folder.mode = tarfile.DIRTYPE, mode
        root.addfile(folder)


def _add_file(root: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    root.addfile(entry, io.BytesIO(content))


def _add_link(root: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    root.addfile(entry)
