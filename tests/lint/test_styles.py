"""Style sheets of the pages: base.css is in all of them, so a class of its own must mean the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "core/opsgym_core/web/base.css"
PAGES = (
    "domain_images/opsgym_domains/explore/page/explore.css",
    "console/opsgym_console/web/report/report.css",
    "console/opsgym_console/web/runs/runs.css",
    "console/opsgym_console/web/runs/label.css",
)
SHARED = {
    "all", "bad", "badge", "bar", "brand", "card", "dot", "good", "n", "other", "part", "prose", "quiet", "skip", "top",
    "wide",
}  # fmt: skip
"""Components of base.css that pages use as they are and lay out in their own places."""


def classes(path: Path) -> set[str]:
    """Classes that a style sheet has rules for."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name for rule in re.findall(r"([^{}]+)\{", text) for name in re.findall(r"\.([a-z][\w-]*)", rule)}


def test_no_page_gives_another_meaning_to_a_class_of_the_shared_style_sheet() -> None:
    shared = classes(BASE)
    both = {page: sorted(shared & classes(ROOT / page) - SHARED) for page in PAGES}
    assert {page: names for page, names in both.items() if names} == {}
    assert len(shared) > 20
