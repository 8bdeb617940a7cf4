"""Locates the seed files that task rows name.

Invariant: a row names a file below the folders searched here; no row reaches a file outside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from opsgym_api.tasks.task import GymServer
from opsgym_core.results.frozen_suite import Seed

BUILTIN = "builtin:"
ANCESTORS = 3
"""Number of folders above a suite that are searched: published material keeps tasks and seeds in sibling trees."""


class SeedNotFoundError(Exception):
    """A seed cannot be used; the message names the file and the folders searched."""


class SeedFinder:
    """Locates the seeds of one suite.

    Args:
        suite: Folder of the suite's rows; None for a built-in suite, which has no files.
        seed_path: Folder of seeds that the run names. It is then the only one searched; None searches around the suite.
    """

    def __init__(self, suite: Path | None, seed_path: Path | None) -> None:
        self._suite = suite
        self._seed_path = seed_path
        self._seeds: dict[str, Seed] = {}
        self._trees: dict[Path, Mapping[str, Sequence[Path]]] = {}

    def seed_for(self, server: GymServer) -> Seed:
        """The seed of a gym server's database.

        Raises:
            SeedNotFoundError: The file does not exist or cannot be read.
        """
        name = server.seed_database_file
        if name not in self._seeds:
            self._seeds[name] = self._find(server.mcp_server_name, name)
        return self._seeds[name]

    def _find(self, gym: str, name: str) -> Seed:
        if name.startswith(BUILTIN):
            return Seed(builtin=name.removeprefix(BUILTIN))
        relative = PurePosixPath(name)
        if not name or relative.is_absolute() or ".." in relative.parts:
            expected = "a path below the seed folder, or builtin:NAME"
            raise SeedNotFoundError(f"gym server {gym}: seed_database_file is {name!r}; expected {expected}")
        for file in self._candidates(relative):
            if file.is_file():
                return Seed(sql=_read(file))
        folders = ", ".join(map(str, self._searched())) or "no folder: name one in suite.seedPath"
        raise SeedNotFoundError(f"gym server {gym}: found neither {name} nor a file {relative.name} in {folders}")

    def _candidates(self, relative: PurePosixPath) -> Iterator[Path]:
        if self._seed_path is not None:
            yield self._seed_path / relative
            yield from self._named(relative.name, self._seed_path)
            return
        for folder in self._ancestry():
            yield folder / relative
            yield from self._named(relative.name, folder / "seeds")

    def _named(self, name: str, folder: Path) -> Sequence[Path]:
        """Files of a name in a tree; each tree is listed once."""
        if folder not in self._trees:
            self._trees[folder] = _files_below(folder)
        return self._trees[folder].get(name, ())

    def _ancestry(self) -> list[Path]:
        """The suite's folder and its ancestors, up to `ANCESTORS`."""
        if self._suite is None:
            return []
        suite = self._suite.resolve()
        return [suite, *suite.parents][: ANCESTORS + 1]

    def _searched(self) -> list[Path]:
        """Folders searched, for the message."""
        if self._seed_path is not None:
            return [self._seed_path]
        return [path for folder in self._ancestry() for path in (folder, folder / "seeds") if path.is_dir()]


def _files_below(folder: Path) -> Mapping[str, Sequence[Path]]:
    """Files of a tree by name, in path order."""
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files.setdefault(path.name, []).append(path)
    return files


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SeedNotFoundError(f"{file} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise SeedNotFoundError(f"{file} cannot be read: {error.strerror}") from None
