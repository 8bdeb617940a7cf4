"""A release, built twice from a tagged clone, installed into an environment that has nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from tests.helm.charts import OLDEST, helm_program
from tests.release.servers import UV, bare, index
from tools.release.__main__ import publish
from tools.release.charts import packed

ROOT = Path(__file__).resolve().parents[2]
VERSION = "0.1.0"
MEMBERS = {"", "_api", "_console", "_core", "_domains", "_operator", "_runner", "_suites"}
DIGESTS = {name: f"sha256:{number:064x}" for number, name in enumerate(("operator", "runner", "domains", "console"))}

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("release")]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clone of this commit with a tag."""
    folder = tmp_path_factory.mktemp("release") / "opsgym"
    run("git", "clone", "--quiet", ROOT, folder)
    (folder / ".tools").mkdir()
    (folder / ".tools" / "uv").symlink_to(ROOT / ".tools" / "uv")
    run("git", "tag", f"v{VERSION}", cwd=folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def release(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(clone, tmp_path_factory.mktemp("first"))


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(clone: Path, out: Path) -> Path:
    run(sys.executable, "-m", "tools.release", VERSION, "--no-images", "--out", out, cwd=clone, PYTHONPATH="")
    return out / VERSION


@pytest.mark.soak
def test_two_builds_of_a_tag_have_the_same_digests(clone: Path, release: Path, tmp_path: Path) -> None:
    sums = (release / "SHA256SUMS").read_text()
    assert (build(clone, tmp_path) / "SHA256SUMS").read_text() == sums
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release)
    wheels = {file.name.split("-")[0] for file in (release / "python").glob("*.whl")}
    assert wheels == {f"opsgym{name}" for name in MEMBERS}
    assert len(list((release / "python").glob("*.tar.gz"))) == len(MEMBERS)


def test_what_an_index_has_is_installed_by_name_and_scores_a_task(release: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    with index(tmp_path / "index") as address:
        account = {"UV_PUBLISH_USERNAME": "publisher", "UV_PUBLISH_PASSWORD": "anything"}
        with pytest.MonkeyPatch.context() as variables:
            for name, value in account.items():
                variables.setenv(name, value)
            publish(release, VERSION, {"OPSGYM_INDEX": address})
        command: list[str] = [
            "tool",
            "install",
            "--quiet",
            "--python",
            sys.executable,
            "--index",
            f"{address}/simple",
            "opsgym",
        ]
        subprocess.run([UV, *command], env=bare(tmp_path), check=True)

    def opsgym(*arguments: str) -> str:
        command: list[str | Path] = [tmp_path / ".local" / "bin" / "opsgym", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=bare(tmp_path), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    opsgym("init", "--model", "replay/gold")
    spec = yaml.safe_load((tmp_path / "evalrun.yaml").read_text())
    spec["spec"]["suite"]["limit"] = 1
    (tmp_path / "evalrun.yaml").write_text(yaml.safe_dump(spec))
    assert "100.0%" in opsgym("run", "evalrun.yaml")
    suites = json.loads((release / "suites.json").read_text())
    assert json.loads(opsgym("version", "--format", "json"))["suites"] == suites


def test_every_package_is_in_the_bill_of_materials(release: Path) -> None:
    components = {one["name"] for one in json.loads((release / "sbom.cdx.json").read_text())["components"]}
    assert {"kopf", "boto3", "pydantic", "litellm", "opsgym-core"} <= components


def test_a_chart_names_its_images_by_digest(tmp_path: Path) -> None:
    archive = tmp_path / "opsgym.tgz"
    archive.write_bytes(packed(ROOT / "helm" / "opsgym", "1.2.3", DIGESTS, 0, "registry.example/opsgym-"))
    values = ("--set", "console.enabled=true,trialStore.enabled=true")
    manifest = run(helm_program(), "template", "opsgym", archive, "--kube-version", OLDEST, *values)
    for name in ("operator", "console"):
        assert f"registry.example/opsgym-{name}@{DIGESTS[name]}" in manifest
    assert "helm.sh/chart: opsgym-1.2.3" in manifest
    with tarfile.open(archive) as opened:
        assert {entry.mtime for entry in opened} == {0}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"tag": ""}, "this commit is not tagged; run: git tag v0.1.0"),
        ({"version": "0.2.0"}, "cli/pyproject.toml has another version than 0.2.0"),
        ({"change": "README.md"}, "the work tree has changes; commit them first:"),
    ],
)
def test_what_is_no_release_is_named(clone: Path, tmp_path: Path, spoil: Mapping[str, str], message: str) -> None:
    folder = tmp_path / "opsgym"
    run("git", "clone", "--quiet", clone, folder)
    if "tag" in spoil:
        run("git", "tag", "--delete", f"v{VERSION}", cwd=folder)
    if "change" in spoil:
        (folder / spoil["change"]).write_text("changed")
    command: list[str | Path] = [sys.executable, "-m", "tools.release", spoil.get("version", VERSION), "--no-images"]
    command += ["--out", tmp_path]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
