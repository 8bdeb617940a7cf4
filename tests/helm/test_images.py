"""References of images: mirrors, digests, pull Secrets, and the list of what to mirror."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.helm.charts import ROOT, STORE, Manifest, helm_program, one, pods, refusal, rendered

from opsgym_operator.config import parse_config

DIGEST = f"sha256:{'0' * 64}"
ALL: Mapping[str, Any] = {
    "trialStore": {"enabled": True},
    "console": {"enabled": True},
    "gyms": {"csm": {"image": "csm:1", "port": 8005}, "hr": {"image": "quay.io/published/hr@sha256:1", "port": 8006}},
}


def _images(values: Mapping[str, Any]) -> set[str]:
    """Every image that the release, or a run of it, pulls."""
    manifests = rendered(values)
    config = parse_config(one(manifests, "ConfigMap", "opsgym-operator")["data"]["config.yaml"], "config.yaml")
    images = {container["image"] for pod in pods(manifests) for container in pod.containers}
    return images | {config.images.runner, config.images.domains, *(gym.image for gym in config.gyms.values())}


def test_one_registry_takes_the_place_of_all() -> None:
    images = {"registry": "mirror.corp:5000/hub", "prefix": "ghcr.io/acme/opsgym-", "tag": "1.2"}
    assert _images({**ALL, "images": images}) == {
        *(f"mirror.corp:5000/hub/acme/opsgym-{name}:1.2" for name in ("operator", "runner", "domains", "console")),
        "mirror.corp:5000/hub/versity/versitygw:v1.8.0",
        "mirror.corp:5000/hub/csm:1",
        "mirror.corp:5000/hub/published/hr@sha256:1",
    }
    local = {"stores": [STORE], "images": {"registry": "mirror.corp"}}
    assert _images(local) == {f"mirror.corp/opsgym-{name}:dev" for name in ("operator", "runner", "domains")}


def test_a_digest_takes_the_place_of_the_tag() -> None:
    images = _images({"stores": [STORE], "images": {"prefix": "r.example/opsgym-", "digests": {"runner": DIGEST}}})
    assert f"r.example/opsgym-runner@{DIGEST}" in images
    assert "r.example/opsgym-domains:dev" in images
    assert "digests.runner" in refusal({"stores": [STORE], "images": {"digests": {"runner": "latest"}}}).replace(
        "/", "."
    )


def test_every_pod_has_the_pull_secrets() -> None:
    values = {**ALL, "images": {"pullSecrets": ["one", "two"]}}
    specs: list[Manifest] = [pod.spec for pod in pods(rendered(values))]
    assert len(specs) == 5
    assert [spec for spec in specs if spec["imagePullSecrets"] != [{"name": "one"}, {"name": "two"}]] == []


def test_the_documented_command_lists_every_image(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    match = re.search(r"\$ (helm template opsgym helm/opsgym .*(?:\n    .*)*\| sort -u)", text)
    assert match is not None
    (tmp_path / "helm").symlink_to(ROOT / "helm")
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(dict(ALL)))
    done = subprocess.run(
        ["bash", "-c", match[1]],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{helm_program().parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert set(done.stdout.splitlines()) == _images(ALL)
