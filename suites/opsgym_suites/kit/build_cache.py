"""What was built before, so that a suite is built again only if something that it is made of has changed.

Invariant: an entry holds for the sources that it was written for, as digests of their whole content, and for the files
that it made; whatever else there is, the suite is built. The cache is a folder of the checkout that is never committed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import zstandard

EVERYWHERE = ("crds/opsgym_api", "core/opsgym_core", "suites/editions", "uv.lock")
"""What every suite is made of, beside the rooms that domains share."""
DOMAINS = ("suites/opsgym_suites", "suites/tasks", "domain_images/opsgym_domains")
"""Folders with a folder for each domain, and rooms that they share."""
Facts = Sequence[str | None]


@dataclass(frozen=True)
class Entry:
    """What a build was made of, and what it made."""

    sources: str
    """Digest of everything that it was made of."""
    files: Mapping[str, str]
    """Digest of the text of each file, by path."""
    facts: Sequence[Facts]
    """Of each task what no other one may have; see `authoring_rules.duplicates`."""


@dataclass(frozen=True)
class BuildCache:
    """Entries by the name of a domain."""

    root: Path
    """The checkout."""
    names: Collection[str]
    """All domains."""

    def sources(self, name: str, apart: Collection[str] = ()) -> str:
        """Digest of all that a domain's suites are made of: its own folders, shared rooms, the lock file.

        Args:
            name: The domain.
            apart: Domains whose folders it uses, too.
        """
        others = {other for other in self.names if other not in (name, *apart)}
        content = hashlib.sha256(sys.version.encode())
        for file in sorted(self.files(others)):
            content.update(f"{file.relative_to(self.root)}\n".encode())
            content.update(hashlib.sha256(file.read_bytes()).digest())
        return content.hexdigest()

    def files(self, others: Collection[str]) -> Iterator[Path]:
        """Sources, without the folders of other domains."""
        for place in EVERYWHERE:
            path = self.root / place
            yield from [path] if path.is_file() else _below(path)
        for place in DOMAINS:
            for path in (self.root / place).iterdir():
                if path.name not in others:
                    yield from [path] if path.is_file() else _below(path)

    def fresh(self, name: str, sources: str) -> Entry | None:
        """The entry of a domain whose sources and files are as they were; None if it must be built."""
        try:
            entry = Entry(**json.loads(self._file(name).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        same = entry.sources == sources and all(text_digest(self.root / file) == d for file, d in entry.files.items())
        return entry if same else None

    def save(self, name: str, sources: str, files: Collection[Path], facts: Sequence[Facts]) -> None:
        """Remembers a build whose files are written."""
        digests = {str(file.relative_to(self.root)): text_digest(file) for file in files}
        self._file(name).parent.mkdir(parents=True, exist_ok=True)
        self._file(name).write_text(json.dumps(asdict(Entry(sources, digests, facts))), encoding="utf-8")

    def _file(self, name: str) -> Path:
        return self.root / ".tools" / "suites" / f"{name}.json"


def text_digest(file: Path) -> str:
    """Digest of the text that a file holds, compressed or not; empty without the file."""
    if not file.exists():
        return ""
    content = file.read_bytes()
    return hashlib.sha256(zstandard.decompress(content) if file.suffix == ".zst" else content).hexdigest()


def _below(folder: Path) -> Iterator[Path]:
    """Sources in a folder: generated data do not count, pinned editions do."""
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts and (file.parent.name != "data"):
            yield file
