"""Images are built once, by the same command that users call; it does nothing if they are up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog
from tests.images.built import ARCHIVES, NAMES, PLATFORM, ROOT, BuiltImage

NO_BUILDER = 3
"""Exit code of the build where neither buildah nor Docker is."""


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Undoes how a program called in this process has set its logs up: on a stderr that ends with the test."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def archives() -> None:
    """Brings the archives up to date."""
    platform = ["--platform", PLATFORM] if PLATFORM else []
    command = [sys.executable, "-m", "tools.image.build", str(ARCHIVES), *platform]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode == NO_BUILDER and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip())
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command[1:])} fails:\n{done.stderr[-3000:]}")


@pytest.fixture(scope="session")
def operator(archives: None) -> BuiltImage:
    return BuiltImage(ARCHIVES / "operator.tar")


@pytest.fixture(scope="session")
def runner(archives: None) -> BuiltImage:
    return BuiltImage(ARCHIVES / "runner.tar")


@pytest.fixture(scope="session")
def domains(archives: None) -> BuiltImage:
    return BuiltImage(ARCHIVES / "domains.tar")


@pytest.fixture(scope="session")
def console(archives: None) -> BuiltImage:
    return BuiltImage(ARCHIVES / "console.tar")


@pytest.fixture(params=NAMES)
def image(request: pytest.FixtureRequest) -> BuiltImage:
    """Each of the images."""
    built: BuiltImage = request.getfixturevalue(request.param)
    return built
