"""Texts that the rows of a suite share: a data file names the text's file, and loading the suite inserts the text.

Invariant: loaded and exported rows contain the text; only the data files of suites contain names of files. In a row on
several gym servers the numbers of a policy's rules begin with the system that the policy is for, so no two rules share
a number.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_MARK = re.compile(
    r"\{\{include (?:(?P<package>[a-z_][a-z0-9_.]*)/)?(?P<file>[a-z][a-z-]*\.md)(?: as (?P<system>[A-Z]+))?\}\}"
)
_RULE = re.compile(r"(?<![\w-])[A-Z]{2,3}-\d{1,2}(?!\w)")


def included(file: str, package: str = "", system: str = "") -> str:
    """The mark in a row that stands for a file.

    Args:
        file: Name of the file.
        package: Package that contains it; that of the suite if empty.
        system: What the numbers of the file's rules begin with, as in `HR-CAS-4`; nothing if empty.
    """
    place = f"{package}/{file}" if package else file
    return f"{{{{include {place}{f' as {system}' if system else ''}}}}}"


def complete(text: str, package: str) -> str:
    """A row's text with every mark replaced by the content of its file.

    Args:
        text: Text of a row.
        package: Package that contains files whose mark names none.
    """

    def content(mark: re.Match[str]) -> str:
        inserted = _read(mark["package"] or package, mark["file"])
        return of_system(mark["system"], inserted) if mark["system"] else inserted

    return _MARK.sub(content, text)


def of_system(system: str, text: str) -> str:
    """A text in which the number of every rule begins with the system that the rule is for."""
    return _RULE.sub(lambda rule: f"{system}-{rule[0]}", text)


@cache
def _read(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text(encoding="utf-8")
