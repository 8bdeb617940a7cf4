"""What a release publishes, at a real registry that asks for tokens."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helm.charts import helm_program
from tests.release.servers import ACCOUNT
from tests.release.servers import registry as running_registry
from tests.release.test_release import DIGESTS, ROOT, VERSION, run
from tools.release.__main__ import publish
from tools.release.charts import packed
from tools.release.publish import PublishError, Registry, digest_of, push_charts

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]  # the registry is built the first time


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with one image and one chart."""
    (tmp_path / "images").mkdir()
    layer, config = b"a layer", b"{}"
    parts = [
        {"mediaType": "application/octet-stream", "digest": digest_of(one), "size": len(one)} for one in (layer, config)
    ]
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {**parts[1], "mediaType": "application/vnd.oci.image.config.v1+json"},
            "layers": [{**parts[0], "mediaType": "application/vnd.oci.image.layer.v1.tar"}],
        }
    ).encode()
    files = {f"blobs/sha256/{hashlib.sha256(one).hexdigest()}": one for one in (layer, config, manifest)}
    files["index.json"] = json.dumps({"manifests": [{"digest": digest_of(manifest)}]}).encode()
    with tarfile.open(tmp_path / "images" / f"opsgym-operator-{VERSION}.oci.tar", "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    chart = packed(ROOT / "helm" / "opsgym", VERSION, DIGESTS, 0, "registry.example/team/opsgym-")
    (tmp_path / f"opsgym-{VERSION}.tgz").write_bytes(chart)
    return tmp_path


def variables(host: str) -> dict[str, str]:
    user, password = ACCOUNT
    place = {"OPSGYM_REGISTRY": f"{host}/team/evals"}
    return {**place, "OPSGYM_REGISTRY_USER": user, "OPSGYM_REGISTRY_PASSWORD": password}


def test_helm_pulls_a_published_chart_as_it_was_released(
    host: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        publish(release, VERSION, variables(host))
    image, chart_line, *again = capsys.readouterr().out.splitlines()
    assert image.startswith(f"{host}/team/evals/opsgym-operator:{VERSION}@sha256:")
    assert again == [image, chart_line]
    user, password = ACCOUNT
    (tmp_path / "pulled").mkdir()
    chart = f"oci://{host}/team/evals/charts/opsgym"
    account = ("--plain-http", "--username", user, "--password", password)
    run(helm_program(), "pull", chart, "--version", VERSION, *account, "--destination", tmp_path / "pulled")
    pulled = tmp_path / "pulled" / f"opsgym-{VERSION}.tgz"
    assert pulled.read_bytes() == (release / f"opsgym-{VERSION}.tgz").read_bytes()


def test_a_wrong_password_is_named_with_what_it_was_for(host: str, release: Path) -> None:
    wrong = {**variables(host), "OPSGYM_REGISTRY_PASSWORD": "wrong"}
    with (
        Registry(wrong["OPSGYM_REGISTRY"], wrong) as registry,
        pytest.raises(PublishError, match=r"cannot push team/evals/charts/opsgym:0\.1\.0 to .*401"),
    ):
        push_charts(release, VERSION, registry)
