"""Refuses words that a reader of this field would have to guess. Part of `make lint`.

Invariant: docs/glossary.md names the words of this project; each word listed here has a plain equivalent that the field
uses. Text is everything in a tracked file: code, docstrings, comments, messages, templates, pages. Identifiers are
names that Python code defines.

    python tools/words.py [PATH ...]   exits 1 and lists the refused words below the paths, or of all files
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = frozenset({".py", ".js", ".css", ".html", ".md", ".yaml", ".yml", ".tpl", ".txt", ".toml", ".sh", ""})
LEFT_OUT = (
    "LICENSE",
    "uv.lock",
    "tools/words.py",
    "tests/lint/test_words.py",
    "docs/glossary.md",
    "suites/opsgym_suites/csm/core/wordings.md",
    "suites/opsgym_suites/email/core/wordings.md",
    "suites/opsgym_suites/hybrid/core/wordings.md",
    "suites/opsgym_suites/itsm/core/wordings.md",
)
"""Files of others, those that name the refused words, and prompts in the words of many users."""

TEXT = {
    r"told|tells (?:of|people|that|whether|what|how|which)": "name the act: report, log, raise, return, notify, show",
    r"somebody|nobody(?![:\"])|whoever|anybody": "name the person: user, operator, caller, author; or 'no one'",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?<!there )(?:is|are|was|were) no (?!longer\b|more\b|less\b|one\b|better\b|worse\b|match\b|different\b)": (
        "'is not a valid X', 'unknown X' or 'has no X'"
    ),
    r"what is so|is so of|is not so|has a part in": "state the fact itself",
    r"likewise": "say what is the same",
    r"doomed|onlookers?": "unrunnable; observer",
}
"""Refused everywhere, by regular expression of whole words, with what to write instead."""

SLA = {r"promises?|promised": "SLA (in the domains, what is agreed with a customer); otherwise guarantee"}
IN_DOMAINS = ("domain_images/", "suites/")

IDENTIFIERS = frozenset({
    "told", "found", "there", "said", "heard", "mine", "doomed", "shelf", "lane", "lanes", "letter", "book", "conduct",
    "asked", "kept", "wanted", "about", "onlooker", "somebody", "whoever", "twist", "theirs", "ours", "aught",
})  # fmt: skip
"""Names that do not name the thing: pronouns, participles and private words."""

_TEXT = tuple((re.compile(rf"\b(?:{pattern})", re.IGNORECASE), advice) for pattern, advice in TEXT.items())
_SLA = tuple((re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), advice) for pattern, advice in SLA.items())


def main(arguments: Sequence[str]) -> int:
    """Prints each refused word as `path:line: word: advice`; returns 1 if there is any."""
    problems: list[str] = []
    for path in tracked(arguments):
        problems += problems_of(path, (ROOT / path).read_text(encoding="utf-8"))
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    if problems:
        sys.stdout.write(f"{len(problems)} refused words\n")
    return 1 if problems else 0


def tracked(paths: Sequence[str]) -> list[str]:
    """Tracked text files below the given paths, relative to the repository; all of them if no path is given."""
    listed = subprocess.run(["git", "ls-files", "--", *paths], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607
    return [path for path in listed.stdout.splitlines() if _is_text(path)]


def _is_text(path: str) -> bool:
    file = ROOT / path
    return file.is_file() and file.suffix in SUFFIXES and path not in LEFT_OUT and not _is_foreign(path)


def _is_foreign(path: str) -> bool:
    """Whether somebody else speaks: other projects, and the people in tasks."""
    return "/vendor/" in path or path.startswith("suites/tasks/")


def problems_of(path: str, text: str) -> Iterator[str]:
    """Every refused word of one file.

    Args:
        path: Relative to the repository; it decides which lists apply.
        text: Content of the file.
    """
    patterns = _TEXT + (_SLA if path.startswith(IN_DOMAINS) and not path.endswith(".js") else ())
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, advice in patterns:
            for match in pattern.finditer(line):
                yield f"{path}:{number}: {match[0].strip()!r}: {advice}"
    if path.endswith(".py"):
        for name, number in sorted(_defined(ast.parse(text)), key=lambda definition: definition[1]):
            if name.strip("_") in IDENTIFIERS:
                yield f"{path}:{number}: identifier {name!r}: name the thing"


def _defined(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that code defines, with their lines: classes, functions, parameters, variables, attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
