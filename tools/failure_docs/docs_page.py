"""The generated parts of docs/failures.md.

Invariant: a part is between two comments that name it; nothing else of the page is changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tools.failure_docs.scoring import Score

from opsgym_console.analysis.failures.modes import MODULES

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"
_PARAGRAPH = re.compile(r"\n(?=[A-Z][a-z]+(?: [a-z]+)?: )")
HALVES = (("tuning half", "tuning"), ("held-out half", "held_out"))
"""Columns of the table of recorded runs; the last one is judged."""
WEAK = 0.7
"""A mode that is found with less precision or recall is called weak."""
FEW = 5
"""With fewer trials in which it holds, a mode's figures say little."""


def modes() -> str:
    """What each mode is, from its module's docstring."""
    parts = []
    for mode, module in MODULES.items():
        definition, *details = _PARAGRAPH.split((module.__doc__ or "").strip())
        lines = [f"### `{mode.value}`", "", " ".join(definition.split()), ""]
        for detail in details:
            name, _, text = detail.partition(": ")
            lines.append(f"- **{name}:** {' '.join(text.split())}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def table(columns: Sequence[tuple[str, Sequence[Score]]]) -> str:
    """Scores of every mode, a set of trials beside the other."""
    heads = [f"{name}: {head}" for name, _ in columns for head in ("holds", "precision", "recall")]
    lines = ["| mode | " + " | ".join(heads) + " | |", "| --- |" + " --: |" * len(heads) + " --- |"]
    for place, first in enumerate(columns[0][1]):
        row = [scores[place] for _, scores in columns]
        figures = [
            figure
            for score in row
            for figure in (str(score.holds), _share(score, "precision"), _share(score, "recall"))
        ]
        lines.append(f"| `{first.mode.value}` | {' | '.join(figures)} | {_remark(row[-1])} |")
    return "\n".join(lines)


def _share(score: Score, which: str) -> str:
    if which == "precision":
        return "–" if score.precision is None else f"{score.true}/{score.true + score.false} = {score.precision:.2f}"
    return "–" if score.recall is None else f"{score.true}/{score.holds} = {score.recall:.2f}"


def _remark(score: Score) -> str:
    if not score.holds:
        return "never holds here"
    figures = (score.precision or 0.0, score.recall or 0.0)
    weak = "weak" if min(figures) < WEAK else ""
    return ", ".join(filter(None, (weak, f"fewer than {FEW}" if score.holds < FEW else "")))


def part(name: str, page: str) -> str:
    """What a page holds in a part."""
    match = _of(name).search(page)
    assert match is not None, f"docs/failures.md has no part {name}"
    return match[2].strip("\n")


def with_part(name: str, content: str, page: str) -> str:
    """A page with another content in a part."""
    return _of(name).sub(lambda match: f"{match[1]}\n\n{content}\n\n{match[3]}", page)


def _of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: made by .*?-->)(.*?)(<!-- end of {name} -->)", re.DOTALL)
