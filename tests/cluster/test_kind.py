"""`make kind-up`, as far as it can be tried without Docker: what it asks kind to do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from devcluster.places import ROOT
from tests.images.built import NAMES

KIND = """#!/bin/sh
echo "$@" >> {log}
[ "$1" = get ] && printf '{clusters}'
exit 0
"""


def make_kind_up(folder: Path, clusters: str) -> list[str]:
    """Commands that `make kind-up` gives to kind, on a machine where it has some clusters already."""
    log, kind = folder / "log", folder / "kind"
    kind.write_text(KIND.format(log=log, clusters=clusters))
    kind.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    # The images are old news to make: building them is tested elsewhere.
    done = subprocess.run(
        ["make", "-o", "images", "kind-up"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return log.read_text().splitlines()


LOADED = [f"load image-archive .images/{name}.tar --name opsgym" for name in NAMES]


@pytest.mark.parametrize("clusters", ["", "other\\nopsgym-old\\n"])
def test_a_cluster_is_made_and_has_the_images(tmp_path: Path, clusters: str) -> None:
    assert make_kind_up(tmp_path, clusters) == ["get clusters", "create cluster --config kind-config.yaml", *LOADED]


def test_a_cluster_that_is_there_gets_the_images(tmp_path: Path) -> None:
    assert make_kind_up(tmp_path, "opsgym\\n") == ["get clusters", *LOADED]


def test_the_configuration_names_the_cluster_that_images_are_loaded_into() -> None:
    config = yaml.safe_load((ROOT / "kind-config.yaml").read_text())
    assert (config["apiVersion"], config["kind"], config["name"]) == ("kind.x-k8s.io/v1alpha4", "Cluster", "opsgym")
    assert {node["role"] for node in config["nodes"]} == {"control-plane", "worker"}
