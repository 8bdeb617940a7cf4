"""The table of docs/domains.md that shows how many tasks of each built-in suite are how difficult."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from opsgym_domains.difficulty import UPPER_BOUNDS, Band, difficulty_of
from opsgym_suites.kit.authoring_rules import SuiteTask

_PLACE = re.compile(r"(?<=<!-- difficulty -->\n).*(?=<!-- /difficulty -->)", re.DOTALL)


def with_table(page: str, suites: Mapping[str, Sequence[SuiteTask]]) -> str:
    """A page with the table in the place that it marks.

    Args:
        page: Markdown with `<!-- difficulty -->` and `<!-- /difficulty -->` on lines of their own.
        suites: Tasks of each suite, by its name.
    """
    table = "".join(f"{row}\n" for row in _rows(suites))
    return _PLACE.sub(lambda _place: table, page)


def _rows(suites: Mapping[str, Sequence[SuiteTask]]) -> Iterator[str]:
    yield f"| band | points | {' | '.join(f'`{name}`' for name in suites)} |"
    yield f"| --- | --- |{' --- |' * len(suites)}"
    counts = [Counter(map(band_of, tasks)) for tasks in suites.values()]
    for band, points in zip(Band, _points(), strict=True):
        yield f"| {band} | {points} | {' | '.join(str(count[band]) for count in counts)} |"


def band_of(authored: SuiteTask) -> Band | None:
    """The band of a task; None if its difficulty cannot be estimated."""
    difficulty = difficulty_of(authored.task, authored.tools)
    return None if difficulty is None else difficulty.band


def _points() -> Iterator[str]:
    """The points of each band, in words."""
    bounds = list(UPPER_BOUNDS.values())
    yield f"below {bounds[0]}"
    yield from (f"{least}–{above - 1}" for least, above in pairwise(bounds))
    yield f"{bounds[-1]} and more"
