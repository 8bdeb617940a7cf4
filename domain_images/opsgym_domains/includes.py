"""Texts that rows of a built-in suite share: a row names the file, and whoever loads the suite gets the text.

Invariant: what a loaded task says is complete; only the files of built-in suites hold names of files.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_MARK = re.compile(r"\{\{include ([a-z][a-z-]*\.md)\}\}")


def included(file: str) -> str:
    """What stands in a row for a file of its domain's folder."""
    return f"{{{{include {file}}}}}"


def complete(text: str, package: str) -> str:
    """A row's text with the files in it.

    Args:
        text: Of the row.
        package: The domain's, where the files are.
    """
    return _MARK.sub(lambda mark: _read(package, mark[1]), text)


@cache
def _read(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text(encoding="utf-8")
