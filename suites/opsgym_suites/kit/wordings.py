"""Further wordings of prompts, written in a Markdown file beside the tasks.

Invariant: a heading of the second level names a task by its slug, and each paragraph under it is one wording; lines of
a paragraph are joined by blanks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

_RECORD_NUMBER = re.compile(r"\b[A-Z]{2,4}-?\d{5,}\b")


def read_wordings(package: str) -> Mapping[str, Sequence[str]]:
    """Wordings by slug, from the file `wordings.md` of a package."""
    text = files(package).joinpath("wordings.md").read_text(encoding="utf-8")
    tasks = (part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return {slug: [" ".join(paragraph.split()) for paragraph in body.strip().split("\n\n")] for slug, _, body in tasks}


def completed(wording: str, prompt: str) -> str:
    """A wording with the record numbers of the prompt in the places of `{0}`, `{1}` and so on.

    Raises:
        IndexError: The prompt has fewer record numbers.
    """
    return wording.format(*_RECORD_NUMBER.findall(prompt))
