"""Reads seed files from the published archive or from a folder.

Invariant: an archive is never extracted by its own paths, and at most `MAX_BYTES` of it are read.

The archive `gym_dbs.zip` has a folder for each domain, `Domain Wise DBs and Task-DB Mappings/<domain>/dbs/*.sql`; rows
name a seed by that path.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from opsgym_api.errors import InputError, Problem

MAX_BYTES = 2_000_000_000
"""Largest total size of all seeds; the published archive has some hundred megabytes."""
_SEED = ".sql"


class Seeds:
    """Seed files by name.

    Args:
        source: Zip archive or folder; None for no seeds.

    Raises:
        InputError: The source is neither, or cannot be read.
    """

    def __init__(self, source: Path | None) -> None:
        self._source = source
        self._files: Mapping[str, list[str]] = {}
        if source is None:
            return
        try:
            names = list(_folder_names(source)) if source.is_dir() else list(_archive_names(source))
        except (OSError, zipfile.BadZipFile) as error:
            problem = error.strerror if isinstance(error, OSError) else "not a zip archive"
            raise InputError(str(source), [Problem("--seeds", f"cannot be read: {problem}")]) from None
        files: dict[str, list[str]] = {}
        for name in names:
            files.setdefault(PurePosixPath(name).name, []).append(name)
        self._files = files

    def __len__(self) -> int:
        """Number of seed files."""
        return sum(map(len, self._files.values()))

    def find(self, path: str) -> str | None:
        """The seed file for a path in a row: the file at that path, or the only file of that name; None if missing."""
        candidates = self._files.get(PurePosixPath(path).name, [])
        at_path = [name for name in candidates if name.endswith(path)]
        return at_path[0] if at_path else candidates[0] if len(candidates) == 1 else None

    def texts(self, names: set[str]) -> Iterator[tuple[str, bytes]]:
        """Names and contents of seed files.

        Args:
            names: Names that `find` returned.

        Raises:
            InputError: A file cannot be read, or the total size exceeds `MAX_BYTES`.
        """
        if self._source is None:
            return
        size = 0
        try:
            for name, content in self._contents(sorted(names)):
                size += len(content)
                if size > MAX_BYTES:
                    problem = f"the seeds have more than {MAX_BYTES:,} bytes"
                    raise InputError(str(self._source), [Problem("--seeds", problem)])
                yield name, content
        except (OSError, zipfile.BadZipFile, RuntimeError) as error:  # RuntimeError: a member is encrypted
            raise InputError(str(self._source), [Problem("--seeds", f"cannot be read: {error}")]) from None

    def _contents(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        assert self._source is not None
        if self._source.is_dir():
            yield from ((name, (self._source / name).read_bytes()) for name in names)
            return
        with zipfile.ZipFile(self._source) as archive:
            for name in names:
                with archive.open(name) as member:
                    # One byte above the limit detects a larger member, whatever size the archive declares.
                    yield name, member.read(MAX_BYTES + 1)


def _folder_names(folder: Path) -> Iterator[str]:
    return (file.relative_to(folder).as_posix() for file in sorted(folder.rglob(f"*{_SEED}")) if file.is_file())


def _archive_names(file: Path) -> Iterator[str]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
            if path.suffix == _SEED and not member.is_dir() and not path.is_absolute() and not hidden:
                yield member.filename
