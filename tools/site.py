"""Prepares the pages of the documentation's site, and builds it.

Invariant: a page of the site is the page of the repository; only links to what the site does not have become text.
Beside each page lies its Markdown.

    python -m tools.site   writes .tools/pages and builds dist/site from them, as mkdocs.yml says
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / ".tools" / "pages"
SITE = ROOT / "dist" / "site"
MKDOCS = ROOT / ".tools" / "site" / "bin" / "mkdocs"
ELSEWHERE = {
    "README.md": "project/readme.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "helm/opsgym/README.md": "reference/values.md",
    "helm/opsgym-crds/README.md": "reference/chart-crds.md",
    "crds/records.schema.json": "reference/records.schema.json",
    "crds/task.schema.json": "reference/task.schema.json",
}
"""Files outside of docs/ that the site has, with their places in it."""
WORKER = "iframe-worker.js"
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_STYLE = """:root, [data-md-color-scheme=slate] {--md-primary-fg-color: #24476b; --md-accent-fg-color: #2f6fab}
.md-typeset table:not([class]) {font-size: .66rem}
.md-typeset table code {overflow-wrap: anywhere}
"""


def places(root: Path) -> dict[str, str]:
    """Every file of the site by its path in the repository, with its path in the site."""
    docs = (path for path in (root / "docs").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): str(path.relative_to(root / "docs")) for path in docs} | ELSEWHERE


def page(text: str, source: str, known: dict[str, str]) -> str:
    """A page of the repository as one of the site.

    Args:
        text: Its Markdown.
        source: Its path in the repository.
        known: See `places`.
    """

    def placed(match: re.Match[str]) -> str:
        image, shown, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, anchor = target.partition("#")
        path_in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if path_in_repository not in known:
            return shown
        place = posixpath.relpath(known[path_in_repository], posixpath.dirname(known[source]) or ".")
        return f"{image}[{shown}]({place}{mark}{anchor})"

    parts, end = [], 0
    for block in _CODE.finditer(text):
        parts += [_LINK.sub(placed, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(placed, text[end:])])


def prepare(root: Path, pages: Path) -> None:
    """Writes the pages of the site, and the files that they show, into a new folder."""
    shutil.rmtree(pages, ignore_errors=True)
    known = places(root)
    for source, place in known.items():
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".md"):
            text = (root / source).read_text(encoding="utf-8")
            (pages / place).write_text(page(text, source, known), encoding="utf-8")
        else:
            shutil.copy(root / source, pages / place)
    (pages / "site.css").write_text(_STYLE, encoding="utf-8")
    shutil.copy(root / "tools" / WORKER, pages / WORKER)


def main() -> int:
    """Builds the site; returns the exit code of mkdocs, which fails for a broken link or a page without a place."""
    prepare(ROOT, PAGES)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # of mkdocs-material, about its end of life
    done = subprocess.run([MKDOCS, "build", "--strict", "--quiet"], cwd=ROOT, env=environment, check=False)
    if done.returncode == 0:
        for path in PAGES.rglob("*.md"):
            shutil.copy(path, SITE / path.relative_to(PAGES))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
