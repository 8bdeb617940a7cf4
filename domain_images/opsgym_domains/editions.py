"""Editions of the installed suites: pinned states, whose tasks stay as they are while the suite goes on.

Invariant: a pinned edition is its own files in the folder `data/editions` of the suite's package (a list of ids with
the digest of each row, and the rows with their texts inserted), so no change of a draft, a policy or a generator
reaches it. Names are resolved here, on a laptop and in pods alike. A release ships the newest edition and `next`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from opsgym_domains import registry
from opsgym_domains.data_files import data_names, data_text

NEXT = "next"
"""The edition that is not pinned yet."""
FOLDER = "editions"
"""Folder of a package's `data` that holds editions."""
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
"""What pinned editions are called, so that the newest one is the last by name."""
OWN = "opsgym_domains"
"""Package of the suites that have tasks of all domains."""


class UnknownSuiteError(LookupError):
    """There is no built-in suite of a name, or no such edition of it; the message lists those that exist."""


@dataclass(frozen=True)
class Listing:
    """What an edition of a suite pins."""

    rows: Mapping[str, str]
    """Digest of each row by task id, in order."""
    seeds: Mapping[str, str]
    """Digest of each seed's SQL by the seed's name."""

    @property
    def text(self) -> str:
        """Content of its file: a line for each task, then one for each seed."""
        lines = [*(f"{task} {digest}" for task, digest in self.rows.items())]
        return "".join(f"{line}\n" for line in [*lines, *(f"seed {name} {text}" for name, text in self.seeds.items())])

    @classmethod
    def parse(cls, text: str) -> Listing:
        """The listing of a file's content."""
        lines = [line.split() for line in text.splitlines()]
        return cls(
            {line[0]: line[1] for line in lines if len(line) == 2},
            {line[1]: line[2] for line in lines if len(line) == 3},
        )


def is_builtin(name: str) -> bool:
    """Whether a name is that of a built-in suite, with or without an edition, which may be unknown."""
    return name.partition("@")[0] in registry.suites()


def resolved(name: str) -> str:
    """The full name of a suite: `hr-core@2026-12`. Without an edition the newest pinned one, `next` if none is.

    Raises:
        UnknownSuiteError: There is no such suite, or no such edition of it.
    """
    suite, _, edition = name.partition("@")
    if suite not in registry.suites():
        known = ", ".join(registry.suites()) or "none"
        raise UnknownSuiteError(f"unknown built-in suite {suite!r}; built-in suites: {known}")
    known_editions = [*editions(suite), NEXT]
    if not edition and "@" not in name:
        edition = known_editions[0]
    if edition not in known_editions:
        advice = f"editions in this release: {', '.join(known_editions)}"
        raise UnknownSuiteError(f"suite {suite} has no edition {edition!r}; {advice}")
    return f"{suite}@{edition}"


def editions(suite: str) -> list[str]:
    """Pinned editions of an installed suite, newest first; those of the whole are the ones that all its parts have."""
    if suite == registry.WHOLE:
        of_parts = [set(editions(part)) for part in registry.PARTS]
        return sorted(set.intersection(*of_parts), reverse=True)
    begins = f"{suite}@"
    files = (name.removesuffix(".txt") for name in data_names(package_of(suite), FOLDER) if name.endswith(".txt"))
    return sorted((name.removeprefix(begins) for name in files if name.startswith(begins)), reverse=True)


def listing(suite: str, edition: str) -> Listing:
    """What a pinned edition of a suite pins; of any but the whole, which pins what its parts do."""
    return Listing.parse(data_text(package_of(suite), f"{FOLDER}/{suite}@{edition}.txt"))


def package_of(suite: str) -> str:
    """The package that ships an installed suite."""
    return OWN if suite in (registry.WHOLE, *registry.SELECTIONS) else registry.declared(registry.SUITES)[suite].module
