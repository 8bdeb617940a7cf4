"""Writes docs/reference: kinds, commands, reasons, records, HTTP APIs and Python, as their declarations describe them.

Invariant: a page says nothing that a declaration does not say: a CRD, a command's help, a docstring, a schema, a route.

    python -m tools.reference           writes the pages
    python -m tools.reference --check   exits 1 and names the pages that are not current
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.generated import sync
from tools.reference.commands import commands_page
from tools.reference.http import descriptions, http_page
from tools.reference.kinds import kinds_page
from tools.reference.python import python_page
from tools.reference.reasons import reasons_page
from tools.reference.records import SCHEMA, records_page, records_schema

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path("docs/reference")
_MADE = "`python -m tools.reference` writes this page.\n"


def expected(root: Path) -> dict[Path, str]:
    """Expected text of each page and schema, by path relative to the root."""
    pages = {
        "kinds.md": ("Fields of the kinds", kinds_page(root)),
        "commands.md": ("Commands", commands_page()),
        "reasons.md": ("Outcomes, reasons and exit codes", reasons_page()),
        "records.md": ("Fields of the records", records_page()),
        "http.md": ("HTTP APIs", http_page()),
        "python.md": ("Python", python_page()),
    }
    texts = {FOLDER / name: f"# {title}\n\n{_MADE}{text}" for name, (title, text) in pages.items()}
    return {**texts, **{FOLDER / name: text for name, text in descriptions().items()}, SCHEMA: records_schema()}


def main(root: Path, *, check: bool) -> int:
    """Writes the pages, or reports those that are not current; returns the exit code."""
    (root / FOLDER).mkdir(exist_ok=True)
    return sync(root, expected(root), (root / FOLDER).glob("*.*"), check=check)


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
