"""Texts that the rows of a suite share, for instance a policy: a row names the text's file as `{{include policy.md}}`.

Invariant: a name is that of a file in one folder, never a path, so that no row reads a file outside of its suite.
"""

from __future__ import annotations

import re
from pathlib import Path

_MARK = re.compile(r"\{\{include ([^{}\n]*)\}\}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.(md|txt)")


class IncludeError(Exception):
    """A text cannot be included; the message names its file."""


def complete(text: str, folder: Path) -> str:
    """A text with every mark replaced by the content of its file, without white space at the end.

    Args:
        text: Text of a row.
        folder: Folder of the files: that of the rows.

    Raises:
        IncludeError: A name is not that of a `.md` or `.txt` file, or the file cannot be read.
    """
    return _MARK.sub(lambda mark: _read(folder, mark[1].strip()), text)


def _read(folder: Path, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise IncludeError(f"cannot include {name!r}: expected the name of a .md or .txt file beside the rows")
    try:
        return (folder / name).read_text(encoding="utf-8").rstrip()
    except UnicodeDecodeError:
        raise IncludeError(f"cannot include {name}: it is not text in UTF-8") from None
    except OSError as error:
        raise IncludeError(f"cannot include {name} from the folder of the rows: {error.strerror}") from None
