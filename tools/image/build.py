"""Builds the images and writes each as an archive: `python3 -m tools.image.build FOLDER`, run by `make images`.

Invariant: an archive in FOLDER was built from the current files, and does not exceed its size limit. An image is
rebuilt only when one of its inputs has changed.
Only the standard library is used, so that any Python 3.11 can run this.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.image import base

ROOT = Path(__file__).resolve().parents[2]
LIMITS = {"operator": 200, "runner": 500, "domains": 500, "console": 200}
"""Size of each image at most, in MB (10^6 bytes) of files, base included."""
MADE_OF = {
    "operator": ["crds/opsgym_api", "core/opsgym_core", "operator"],
    "runner": ["crds/opsgym_api", "core/opsgym_core", "agent_runner"],
    "domains": ["crds/opsgym_api", "core/opsgym_core", "domain_images"],
    "console": ["crds/opsgym_api", "core/opsgym_core", "console"],
}
SHARED = [
    "Dockerfile", ".dockerignore", "uv.lock", "LICENSE", "pyproject.toml",
    "tools/get_uv.py", "tools/image/base.py", "tools/image/install.py",
]  # fmt: skip
PUBLIC_BASE = "docker.io/library/python:3.11-slim-bookworm"
"""As the Dockerfile has it."""
OWN = ""
"""Stands for this machine's platform, whose image is not a list of several."""
DEBIAN = ("amd64", "arm64")
"""Architectures that have the same name at Debian and in a platform, and wheels of every dependency."""
CERTIFICATES = "SSL_CERT_FILE"
"""Names the certificates with which this machine reaches its package index, if they are its own."""
PASSED_ON = ("UV_DEFAULT_INDEX", "PIP_INDEX_URL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
PATIENCE = 300.0
"""Seconds for a pull or an installation; a registry behind a silent firewall never answers."""
EXIT_CANNOT = 1
EXIT_NO_BUILDER = 3


PASSING_FAILURE = "sealing memfd copy"
"""What buildah says when it could not start itself on a busy machine; the next try succeeds."""
TRIES = 3
WRONG_ARCHITECTURE = "exec format error"
"""Part of what the kernel says where it cannot run a program of another architecture."""
EMULATION = (
    "Steps for another architecture run under emulation, which is not set up here; on Debian: "
    "apt-get install qemu-user-static binfmt-support && update-binfmts --enable"
)


class BuildError(Exception):
    """An image cannot be built, or is too large; the message says what to do."""


class NoBuilderError(Exception):
    """Nothing here builds images; the message says what would."""


def main() -> int:
    """Builds what has changed; the exit code."""
    parser = argparse.ArgumentParser(description="Build the images and write each as an archive.")
    parser.add_argument("folder", type=Path, help="where the archives go")
    parser.add_argument("--only", choices=LIMITS, action="append", help="build this image; may be repeated")
    parser.add_argument("--tag", default="dev", help="images are localhost/opsgym-NAME:TAG (default: %(default)s)")
    parser.add_argument(
        "--platform", action="append", default=[], metavar="OS/ARCH",
        help="build for this platform, as linux/arm64; several make one image for all (default: this machine's)",
    )  # fmt: skip
    parser.add_argument("--base", default=os.environ.get("BASE_IMAGE", ""), help="base image (default: $BASE_IMAGE)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        with one_at_a_time(options.folder):
            build_all(options.folder, options.only or list(LIMITS), options.tag, options.base, options.platform)
    except NoBuilderError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_NO_BUILDER
    except (BuildError, base.BaseImageError) as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_CANNOT
    return 0


def build_all(folder: Path, targets: Sequence[str], tag: str, base_image: str, platforms: Sequence[str] = ()) -> None:
    """Builds those of the images whose inputs have changed, and says how large each is.

    Args:
        folder: Where the archives go.
        targets: Images to build.
        tag: Their tag.
        base_image: Base image; `default_bases` if empty.
        platforms: Platforms to build for; this machine's if empty.

    Raises:
        BuildError: One cannot be built, or exceeds its limit.
    """
    builder: Builder | None = None
    bases: Mapping[str, str] = dict.fromkeys(platforms or [OWN], base_image) if base_image else {}
    for target in targets:
        limit = LIMITS[target]
        archive, stamp = folder / f"{target}.tar", folder / f"{target}.json"
        inputs = digest(target, " ".join([base_image, *platforms]), tag)
        known, note = read_stamp(stamp), "up to date"
        if known.get("inputs") != inputs or not archive.exists():
            began = time.monotonic()
            builder = builder or find_builder()
            bases = bases or default_bases(builder, platforms or [OWN])
            made = build(builder, target, tag, bases, archive)
            known, note = {"inputs": inputs, "bytes": made}, f"built in {time.monotonic() - began:.0f} s"
            stamp.write_text(json.dumps(known), encoding="utf-8")
        megabytes = known["bytes"] / 1e6
        sys.stdout.write(f"{target:<9} {megabytes:4.0f} MB of {limit} MB  {archive}  ({note})\n")
        sys.stdout.flush()
        if megabytes > limit:
            raise BuildError(f"image {target} has {megabytes:.0f} MB; it may have {limit} MB")


class Builder:
    """What builds images here: one method a command.

    Args:
        program: `buildah` or `docker`.
    """

    def __init__(self, program: str) -> None:
        self.program = program

    def build(self, context: Path, name: str, *options: str) -> None:
        """Builds an image.

        Raises:
            BuildError: It cannot be built.
        """
        # Isolation chroot: works for a root without any further privilege, as in most containers.
        verb = ["bud", "--layers", "--isolation", "chroot"] if self.program == "buildah" else ["build"]
        self._run(*verb, *options, "--tag", name, str(context))

    def build_platforms(self, context: Path, name: str, bases: Mapping[str, str], archive: Path, *options: str) -> None:
        """Builds an image for several platforms and writes one archive with all of them, whole or not at all.

        Args:
            context: Folder with what is built.
            name: Name of the image.
            bases: Base image of each platform, as in `linux/arm64`. Steps for another one than this machine's run under
                emulation.
            archive: Where the archive goes.
            options: Further options of the build.

        Raises:
            BuildError: A step failed; without emulation those of another platform do.
        """
        staged = archive.with_suffix(".new")
        staged.unlink(missing_ok=True)
        self._remove_list(name)  # one that is there would be added to
        for command in platform_commands(self.program, context, name, bases, staged, options):
            self._run(*command)
        self._remove_list(name)  # buildah lists no images where a list has none for this machine
        staged.rename(archive)

    def _remove_list(self, name: str) -> None:
        if self.program == "buildah":
            succeeds(self.program, "manifest", "rm", list_name(name))

    def has(self, name: str, packages: str) -> bool:
        """Whether an image is here that was made of these packages."""
        if self.program == "buildah":
            arguments = ["inspect", "--type", "image", "--format", "{{.OCIv1.Config.Labels}}", name]
        else:
            arguments = ["image", "inspect", "--format", "{{.Config.Labels}}", name]
        done = subprocess.run([self.program, *arguments], check=False, capture_output=True, text=True)
        return packages in done.stdout

    def can_pull(self, name: str) -> bool:
        """Whether an image is here or can be had."""
        return succeeds(self.program, "pull", "--quiet", name)

    def save(self, name: str, archive: Path) -> None:
        """Writes an image as an archive that holds its name, whole or not at all.

        Raises:
            BuildError: It cannot be written.
        """
        staged = archive.with_suffix(".new")
        staged.unlink(missing_ok=True)
        if self.program == "buildah":
            self._run("push", "--quiet", name, f"oci-archive:{staged}:{name}")
        else:
            self._run("save", "--output", str(staged), name)
        staged.rename(archive)

    def _run(self, *arguments: str) -> None:
        # The steps are only of interest when one fails.
        command = [self.program, *arguments]
        for left in reversed(range(TRIES)):
            done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode == 0:
                return
            if not (left and PASSING_FAILURE in done.stdout):
                break
        hint = f"\n{EMULATION}" if WRONG_ARCHITECTURE in done.stdout.lower() else ""
        raise BuildError(
            f"{done.stdout[-4000:]}\n{self.program} {arguments[0]} failed (exit code {done.returncode}){hint}"
        )


def platform_commands(
    program: str, context: Path, name: str, bases: Mapping[str, str], archive: Path, options: Sequence[str]
) -> list[list[str]]:
    """Arguments of the commands that build an image for several platforms, in order; see `Builder.build_platforms`."""
    if program != "buildah":
        (base_image,) = set(bases.values())
        several = ["--platform", ",".join(bases), "--output", f"type=oci,dest={archive},name={name}"]
        return [["buildx", "build", *options, *_base_option(base_image), *several, str(context)]]
    # Without --layers: buildah 1.28 takes a layer of one platform for that of another.
    builds = [
        ["bud", "--isolation", "chroot", *options, *_base_option(base_image), "--platform", platform]
        for platform, base_image in bases.items()
    ]
    push = ["manifest", "push", "--all", "--quiet", list_name(name), f"oci-archive:{archive}:{name}"]
    return [*([*build, "--manifest", list_name(name), str(context)] for build in builds), push]


def list_name(name: str) -> str:
    """What buildah calls the list of an image's platforms; the image of this machine has the name itself."""
    return f"{name}-platforms"


def _base_option(base_image: str) -> list[str]:
    return ["--build-arg", f"BASE_IMAGE={base_image}"]


def find_builder() -> Builder:
    """The builder of this machine; Debian's buildah is installed where there is none and we may.

    Raises:
        NoBuilderError: There is none.
    """
    if shutil.which("buildah"):
        return Builder("buildah")
    if shutil.which("docker") and succeeds("docker", "info"):
        return Builder("docker")
    if os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stdout.write("Installing buildah …\n")
        succeeds("apt-get", "update")
        if succeeds("apt-get", "install", "--yes", "--no-install-recommends", "buildah"):
            return Builder("buildah")
    raise NoBuilderError("images need buildah, or a running Docker; install one of them and try again")


def succeeds(*command: str) -> bool:
    """Whether a command succeeds in time; its output is discarded."""
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def default_bases(builder: Builder, platforms: Sequence[str]) -> Mapping[str, str]:
    """The base image of each platform: the public one; where no registry can be reached, one made from Debian packages.

    Raises:
        BuildError: The public one cannot be pulled, and no other can be made for a platform.
    """
    if builder.can_pull(PUBLIC_BASE):
        return dict.fromkeys(platforms, PUBLIC_BASE)
    return {platform: debian_base(builder, platform) for platform in platforms}


def debian_base(builder: Builder, platform: str) -> str:
    """A base image made from Debian packages.

    Args:
        builder: Makes it.
        platform: Its platform.

    Raises:
        BuildError: It cannot be made for this platform.
    """
    architecture = platform.removeprefix("linux/")
    if platform != OWN and (builder.program != "buildah" or architecture not in DEBIAN):
        raise BuildError(
            f"{PUBLIC_BASE} cannot be pulled, and buildah makes a base image for {' and '.join(DEBIAN)} only; "
            "set BASE_IMAGE to an image for every --platform"
        )
    with tempfile.TemporaryDirectory() as lists, tempfile.TemporaryDirectory() as folder:
        packages = base.Packages() if platform == OWN else base.Packages.foreign(architecture, Path(lists))
        names, context = packages.names(), Path(folder)
        name = "localhost/opsgym-base:" + "-".join(["debian", *([] if platform == OWN else [architecture])])
        if not builder.has(name, base.digest(names)):
            sys.stdout.write(f"{PUBLIC_BASE} cannot be pulled; making a base image from Debian packages …\n")
            sys.stdout.flush()
            base.write_context(context, packages, names)
            of_platform = [] if platform == OWN else ["--platform", platform]
            builder.build(context, name, "--file", str(context / "Containerfile"), *of_platform)
    return name


def build(builder: Builder, target: str, tag: str, bases: Mapping[str, str], archive: Path) -> int:
    """Builds one image and writes its archive; the bytes of its files.

    Args:
        builder: Builds it.
        target: Which image.
        tag: Its tag.
        bases: Base image of each platform that it is built for.
        archive: Where the archive goes.

    Raises:
        BuildError: It cannot be built or written.
    """
    name = f"localhost/opsgym-{target}:{tag}"
    options = ["--target", target, "--file", str(ROOT / "Dockerfile")]
    options += ["--build-arg", f"VERSION={tag}", "--build-arg", f"REVISION={revision()}"]
    for variable in PASSED_ON:
        if os.environ.get(variable):
            options += ["--build-arg", variable]
    if certificates := os.environ.get(CERTIFICATES):
        options += ["--secret", f"id=certificates,src={certificates}"]
    if OWN in bases:
        builder.build(ROOT, name, *options, *_base_option(bases[OWN]))
        builder.save(name, archive)
    else:
        builder.build_platforms(ROOT, name, bases, archive, *options)
    return size(archive)


def size(archive: Path) -> int:
    """Bytes of an image's layers, not compressed, as image stores count them."""
    with tarfile.open(archive) as image:
        layers = read_manifest(image)["layers"]
        return sum(layer_size(image, layer) for layer in layers)


def read_manifest(image: tarfile.TarFile) -> dict[str, Any]:
    """The manifest of the first image in an OCI archive."""
    content = read_json(image, "index.json")
    while "manifests" in content:  # Docker puts an index of platforms in between
        content = read_json(image, blob(content["manifests"][0]["digest"]))
    return content


def read_json(image: tarfile.TarFile, name: str) -> dict[str, Any]:
    """A JSON file of an archive.

    Raises:
        BuildError: There is no such file: Docker wrote another format before version 25.
    """
    try:
        file = image.extractfile(name)
    except KeyError:
        raise BuildError(
            f"{os.fsdecode(image.name or 'archive')}: not an OCI archive; use buildah, or Docker 25 or newer"
        ) from None
    assert file is not None
    content: dict[str, Any] = json.load(file)
    return content


def layer_size(image: tarfile.TarFile, layer: dict[str, Any]) -> int:
    """Bytes of one layer's tar file."""
    if not layer["mediaType"].endswith("gzip"):
        return int(layer["size"])
    file = image.extractfile(blob(layer["digest"]))
    assert file is not None
    with gzip.open(file) as content:
        return content.seek(0, os.SEEK_END)


def blob(name: str) -> str:
    """Where an OCI archive keeps what a digest names."""
    return f"blobs/{name.replace(':', '/')}"


def digest(target: str, base_image: str, tag: str) -> str:
    """Stands for everything that an image is made of."""
    total = hashlib.sha256(f"{target} {base_image} {tag}".encode())
    for path in (*SHARED, *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("*/pyproject.toml"))):
        add(total, ROOT / path)
    for path in MADE_OF[target]:
        add(total, ROOT / path)
    return total.hexdigest()


def add(total: hashlib._Hash, path: Path) -> None:
    """Adds a file, or all files of a folder, to a digest."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes()
            total.update(f"{file.relative_to(ROOT)} {len(content)}\n".encode())
            total.update(content)


def read_stamp(path: Path) -> dict[str, Any]:
    """What is known of an archive; nothing if it was never made."""
    try:
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def revision() -> str:
    """The commit that is checked out."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Waits for another build in the same folder: two would write the same archives."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
