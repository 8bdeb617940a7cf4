"""What the image build makes of builders that fail."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.images.built import ROOT

PASSING = "Error: sealing memfd copy: Device or resource busy"


def builder(folder: Path, failures: int, message: str) -> tuple[Any, Path]:
    """A builder that fails so often with a message, and the file where it counts its calls."""
    program, calls = folder / "builder", folder / "calls"
    program.write_text(
        f'#!/bin/sh\necho "$@" >>{calls}\n[ "$(wc -l <{calls})" -gt {failures} ] || {{ echo "{message}"; exit 125; }}\n'
    )
    program.chmod(0o755)
    calls.touch()
    return runpy.run_path(str(ROOT / "tools" / "image" / "build.py"))["Builder"](str(program)), calls


def test_a_builder_that_could_not_start_itself_is_started_again(tmp_path: Path) -> None:
    busy, calls = builder(tmp_path, 2, PASSING)
    busy.build(tmp_path, "localhost/x:1")
    assert len(calls.read_text().splitlines()) == 3


@pytest.mark.parametrize(("failures", "message", "tries"), [(9, PASSING, 3), (1, "no space left on device", 1)])
def test_a_build_that_fails_says_why(tmp_path: Path, failures: int, message: str, tries: int) -> None:
    broken, calls = builder(tmp_path, failures, message)
    with pytest.raises(Exception, match=rf"(?s){message}.*failed \(exit code 125\)"):
        broken.build(tmp_path, "localhost/x:1")
    assert len(calls.read_text().splitlines()) == tries


def test_several_platforms_make_one_image(tmp_path: Path) -> None:
    commands = runpy.run_path(str(ROOT / "tools" / "image" / "build.py"))["platform_commands"]
    archive, bases = tmp_path / "x.new", {"linux/amd64": "localhost/b:amd64", "linux/arm64": "localhost/b:arm64"}
    *built, pushed = commands("buildah", tmp_path, "localhost/x:1", bases, archive, ["--target", "x"])
    for command, (platform, base) in zip(built, bases.items(), strict=True):
        assert command[3:7] == ["--target", "x", "--build-arg", f"BASE_IMAGE={base}"]
        assert command[7:] == ["--platform", platform, "--manifest", "localhost/x:1-platforms", str(tmp_path)]
    assert pushed[-3:] == ["--quiet", "localhost/x:1-platforms", f"oci-archive:{archive}:localhost/x:1"]
    public = dict.fromkeys(bases, "public/b:1")
    [docker] = commands("docker", tmp_path, "localhost/x:1", public, archive, ["--build-arg", "A=b"])
    assert docker[2:6] == ["--build-arg", "A=b", "--build-arg", "BASE_IMAGE=public/b:1"]
    del docker[2:6]
    assert docker[:4] == ["buildx", "build", "--platform", "linux/amd64,linux/arm64"]
    assert docker[5] == f"type=oci,dest={archive},name=localhost/x:1"


@pytest.mark.skipif(shutil.which("buildah") is None, reason="needs buildah")
def test_an_archive_holds_the_image_of_every_platform(tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    (context / "Containerfile").write_text("FROM scratch\nARG TARGETARCH\nCOPY file /file\nLABEL arch=$TARGETARCH\n")
    (context / "file").write_text("x")
    name, archive = f"localhost/opsgym-test-{tmp_path.name}:1", tmp_path / "image.tar"
    real = runpy.run_path(str(ROOT / "tools" / "image" / "build.py"))["Builder"]("buildah")
    try:
        real.build(context, name)
        for _ in range(2):  # the second build replaces the first, and the image of this machine is left alone
            real.build_platforms(context, name, dict.fromkeys(["linux/amd64", "linux/arm64"], "scratch"), archive)
            with tarfile.open(archive) as image:
                assert _architectures(image) == ["amd64", "arm64"]
        listed = subprocess.run(
            ["buildah", "images", "--format", "{{.Name}}"], capture_output=True, text=True, check=True
        )
        names = [image for image in listed.stdout.splitlines() if "opsgym-test-" in image]
        assert names == [name.removesuffix(":1")]
    finally:
        subprocess.run(["buildah", "rmi", name], capture_output=True, check=False)


def _architectures(image: tarfile.TarFile) -> list[str]:
    def read(path: str) -> Any:
        file = image.extractfile(path)
        assert file is not None
        return json.load(file)

    index = read("index.json")
    while index["manifests"][0]["mediaType"].endswith(("index.v1+json", "list.v2+json")):
        index = read(f"blobs/{index['manifests'][0]['digest'].replace(':', '/')}")
    return sorted(manifest["platform"]["architecture"] for manifest in index["manifests"])
