"""Texts that the rows of a suite share: a data file names the text's file, and loading the suite inserts the text.

Invariant: loaded and exported rows contain the text; only the data files of suites contain names of files.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_MARK = re.compile(r"\{\{include ([a-z][a-z-]*\.md)\}\}")


def included(file: str) -> str:
    """The mark in a row that stands for a file of the domain's package."""
    return f"{{{{include {file}}}}}"


def complete(text: str, package: str) -> str:
    """A row's text with every mark replaced by the content of its file.

    Args:
        text: Text of a row.
        package: Package that contains the files.
    """
    return _MARK.sub(lambda mark: _read(package, mark[1]), text)


@cache
def _read(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text(encoding="utf-8")
