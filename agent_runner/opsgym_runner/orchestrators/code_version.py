"""Version of an installed orchestrator's code.

Invariant: the version changes whenever a Python file of the orchestrator's package changes, also when its release does
not, so that scores of changed code are never taken for scores of the earlier code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from opsgym_runner.orchestrators import ENTRY_POINTS


def code_version(orchestrator: str) -> str | None:
    """Distribution, release and digest of the source of an orchestrator: `careful-agent 0.1.0 3f2a90c1d4e5`.

    Returns:
        None for a built-in orchestrator, whose version is the version of opsgym.
    """
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == orchestrator:
            release = "" if point.dist is None else f"{point.dist.name} {point.dist.version} "
            return f"{release}{_source_digest(point.module.partition('.')[0])}"
    return None


def _source_digest(package: str) -> str:
    """First 12 digits of the SHA-256 over names and contents of the Python files of a top-level module or package."""
    total = hashlib.sha256()
    spec = find_spec(package)
    for name, file in sorted(_python_files(spec)) if spec is not None else ():
        total.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:12]


def _python_files(spec: ModuleSpec) -> Iterator[tuple[str, Path]]:
    """Source files by their name inside the package."""
    if spec.submodule_search_locations is None:
        if spec.origin is not None:
            yield Path(spec.origin).name, Path(spec.origin)
        return
    for folder in map(Path, spec.submodule_search_locations):
        for file in folder.rglob("*.py"):
            yield file.relative_to(folder).as_posix(), file
