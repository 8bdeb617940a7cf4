"""Seeds and suites that a domain's package ships as data: Zstandard files in its folder `data`.

Invariant: `python -m opsgym_suites` writes these files and nothing at run time generates them, so no image holds the
code that authors tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import zstandard


def read_data(package: str, name: str) -> str:
    """The text of a package's data file.

    Args:
        package: A domain's, for instance `opsgym_domains.itsm`.
        name: The file's name without `.zst`.

    Raises:
        FileNotFoundError: The package ships no such file.
    """
    return zstandard.decompress(files(package).joinpath("data", f"{name}.zst").read_bytes()).decode()


def data_text(package: str, name: str) -> str:
    """The text of a package's data file that is not compressed.

    Raises:
        FileNotFoundError: The package ships no such file.
    """
    return files(package).joinpath("data", name).read_text(encoding="utf-8")


def data_names(package: str, folder: str) -> list[str]:
    """Names of the files in a folder of a package's data; none if there is no such folder."""
    place = files(package).joinpath("data", folder)
    return [file.name for file in place.iterdir()] if place.is_dir() else []


def packaged_seeds(package: str, *names: str) -> dict[str, Callable[[], str]]:
    """Readers of a package's seeds, by name, for `Domain.seeds`.

    Args:
        package: The domain's.
        names: Of the seeds, the one that `opsgym gym` loads by default first.
    """

    def reader(name: str) -> Callable[[], str]:
        return lambda: read_data(package, f"{name}.sql")

    return {name: reader(name) for name in names}
