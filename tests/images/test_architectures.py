"""The images' dependencies have a wheel for each architecture, so that a build needs no compiler on any of them.

Invariant: read from uv.lock alone, which says of every package which files there are.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from tests.helm.charts import ROOT
from tests.images.test_built import OPTIONS

GLIBC = (2, 36)
"""Version of the C library in the base image, Debian 12."""
PYTHONS = ((3, 11), (3, 13))
"""Oldest Python that is supported, and the newest that base images of today have."""


def tags(python: tuple[int, int], machine: str) -> set[Tag]:
    """Tags of wheels that a Python on Debian 12 installs."""
    platforms = [f"manylinux_{GLIBC[0]}_{minor}_{machine}" for minor in range(17, GLIBC[1] + 1)]
    platforms += [f"manylinux2014_{machine}", f"linux_{machine}"]
    return {*cpython_tags(python, platforms=platforms), *compatible_tags(python, platforms=platforms)}


def requirements(name: str) -> list[Requirement]:
    """What an image installs, as uv's export of the lock file has it."""
    options = ("--frozen", "--quiet", "--no-dev", "--no-hashes", "--no-annotate", "--no-header", "--no-emit-workspace")
    command = [str(ROOT / ".tools/uv/bin/uv"), "export", *options, *OPTIONS[name]]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [Requirement(line) for line in done.stdout.splitlines() if line and not line.startswith("#")]


def environment(python: tuple[int, int], machine: str) -> dict[str, str]:
    """Values of markers."""
    version = ".".join(map(str, python))
    return {
        "python_version": version,
        "python_full_version": f"{version}.0",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


def without_wheel(
    needed: Sequence[Requirement], locked: Mapping[str, Mapping[str, Any]], python: tuple[int, int], machine: str
) -> list[str]:
    """Packages that would be compiled, or could not be installed."""
    known, values = tags(python, machine), environment(python, machine)
    missing = []
    for requirement in needed:
        if requirement.marker is not None and not requirement.marker.evaluate(values):
            continue
        wheels = locked[canonicalize_name(requirement.name)].get("wheels", [])
        names = [wheel["url"].rpartition("/")[2] for wheel in wheels]
        if not any(known & parse_wheel_filename(name)[3] for name in names):
            missing.append(requirement.name)
    return missing


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_dependency_of_an_image_has_a_wheel(machine: str) -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    locked = {package["name"]: package for package in lock["package"]}
    needed = {name: requirements(name) for name in OPTIONS}
    assert min(len(of_image) for of_image in needed.values()) > 10
    missing = {
        (name, python): packages
        for name, of_image in needed.items()
        for python in PYTHONS
        if (packages := without_wheel(of_image, locked, python, machine))
    }
    assert missing == {}


def test_a_package_without_a_wheel_for_the_architecture_is_found() -> None:
    url = "https://files.example/thing-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
    locked = {"thing": {"wheels": [{"url": url}]}, "source-only": {}}
    needed = [Requirement("thing==1.0"), Requirement("source_only==1.0"), Requirement("absent==1; os_name == 'nt'")]
    assert without_wheel(needed, locked, (3, 11), "aarch64") == ["thing", "source_only"]
    assert without_wheel(needed, locked, (3, 11), "x86_64") == ["source_only"]
