"""Builds the files of a release: `make release VERSION=0.1.0`.

Invariant: two builds of a tag have the same digests. Every time in them is that of the tagged commit, and what is built
depends on the commit alone; images are those that `make images` built.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.release.charts import packed
from tools.release.publish import PublishError, Registry, push_charts, push_images

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / ".images"
NAMES = ("operator", "runner", "domains", "console")
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """The release cannot be built; the message says what to do."""


def main() -> int:
    """Builds the release; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("version", help="0.1.0 for the tag v0.1.0")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--no-images", action="store_true", help="leave out the images; charts then name them by tag")
    parser.add_argument("--publish", action="store_true", help="publish it where OPSGYM_INDEX and OPSGYM_REGISTRY say")
    arguments = parser.parse_args()
    try:
        if arguments.publish:
            _require_place()
        folder = build(arguments.version, arguments.out, images=not arguments.no_images)
        if arguments.publish:
            publish(folder, arguments.version, os.environ)
    except (ReleaseError, PublishError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{folder}: {len((folder / SUMS).read_text().splitlines())} files; `sha256sum -c {SUMS}` checks them")
    return 0


def build(version: str, out: Path, *, images: bool) -> Path:
    """Builds the release of a version into a folder of its own.

    Raises:
        ReleaseError: The commit is not the tagged one, or something that a release has is missing.
    """
    _require_tag(version)
    folder = out / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    epoch = _git("log", "-1", "--format=%ct")
    _packages(folder / "python", epoch)
    digests = _images(folder / "images", version) if images else {}
    prefix = f"{os.environ.get('OPSGYM_REGISTRY') or 'localhost'}/opsgym-"
    for chart in ("opsgym-crds", "opsgym"):
        content = packed(ROOT / "helm" / chart, version, digests, int(epoch), prefix)
        (folder / f"{chart}-{version}.tgz").write_bytes(content)
    definitions = sorted((ROOT / "crds").glob("*.opsgym.dev.yaml"))
    (folder / "crds.yaml").write_text("---\n".join(file.read_text() for file in definitions))
    (folder / "sbom.cdx.json").write_text(_bill_of_materials(epoch))
    (folder / "suites.json").write_text(_suites())
    _write_sums(folder)
    return folder


def publish(folder: Path, version: str, environment: Mapping[str, str]) -> None:
    """Publishes a built release where variables say: packages last, as those of an index cannot be replaced.

    Raises:
        PublishError: A registry refuses something.
        CalledProcessError: An index refuses something; uv has printed why.
    """
    if place := environment.get("OPSGYM_REGISTRY"):
        with Registry(place, environment) as registry:
            for pushed in (*push_images(folder, version, registry), *push_charts(folder, version, registry)):
                print(f"{place}/{pushed}")
    if index := environment.get("OPSGYM_INDEX"):
        files = sorted(str(file) for file in (folder / "python").iterdir())
        _uv("publish", "--publish-url", index, *files)


def _require_tag(version: str) -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "cli" / "pyproject.toml").read_text(), re.MULTILINE)
    if declared is None or declared[1] != version:
        raise ReleaseError(f"cli/pyproject.toml has another version than {version}: change it in every member first")
    if changed := _git("status", "--porcelain"):
        raise ReleaseError(f"the work tree has changes; commit them first:\n{changed}")
    if f"v{version}" not in _git("tag", "--points-at", "HEAD").split():
        raise ReleaseError(f"this commit is not tagged; run: git tag v{version}")


def _require_place() -> None:
    if not (os.environ.get("OPSGYM_INDEX") or os.environ.get("OPSGYM_REGISTRY")):
        raise ReleaseError("--publish needs OPSGYM_INDEX, OPSGYM_REGISTRY or both; docs/install.md describes them")


def _git(*arguments: str) -> str:
    command = [shutil.which("git") or "git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _uv(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    command = [str(ROOT / ".tools" / "uv" / "bin" / "uv"), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _packages(folder: Path, epoch: str) -> None:
    """Wheel and source distribution of every member."""
    build = ("build", "--all-packages", "--quiet", "--out-dir", str(folder))
    _uv(*build, environment={"SOURCE_DATE_EPOCH": epoch})
    (folder / ".gitignore").unlink(missing_ok=True)


def _images(folder: Path, version: str) -> dict[str, str]:
    """Copies the images as OCI archives; the digest of each."""
    folder.mkdir()
    digests: dict[str, str] = {}
    for name in NAMES:
        archive = IMAGES / f"{name}.tar"
        if not archive.exists():
            raise ReleaseError(f"{archive.relative_to(ROOT)} is missing; run: make images")
        shutil.copyfile(archive, folder / f"opsgym-{name}-{version}.oci.tar")
        with tarfile.open(archive) as opened:
            index = opened.extractfile("index.json")
            assert index is not None, "an OCI archive has an index"
            digests[name] = json.load(index)["manifests"][0]["digest"]
    return digests


def _bill_of_materials(epoch: str) -> str:
    """Every package of the lock file, as CycloneDX; without what differs from build to build."""
    bill = json.loads(_uv("export", "--frozen", "--all-packages", "--no-dev", "--quiet", "--format", "cyclonedx1.5"))
    bill.pop("serialNumber", None)
    bill["metadata"].pop("timestamp", None)
    bill["metadata"]["properties"] = [{"name": "opsgym:commit-time", "value": epoch}]
    return json.dumps(bill, indent=1, sort_keys=True) + "\n"


def _suites() -> str:
    """Edition and digest of every built-in suite."""
    command: Sequence[str] = (sys.executable, "-m", "opsgym.main", "version", "--format", "json")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.dumps(json.loads(done.stdout)["suites"], indent=1, sort_keys=True) + "\n"


def _write_sums(folder: Path) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}" for file in files
    ]
    (folder / SUMS).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
