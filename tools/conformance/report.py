"""What replays came to, per tool and in all.

Invariant: every recorded call is in exactly one column. Calls that prove little, since everything in their answers had
been inferred from these very answers, are counted apart, and so are calls from a recording's first write on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.conformance.replay import Judgement

_COLUMNS = ("calls", "equal", "different", "consequence", "impossible")


@dataclass(frozen=True)
class Tally:
    """Numbers of calls."""

    calls: int = 0
    equal: int = 0
    different: int = 0
    consequence: int = 0
    impossible: int = 0

    @property
    def judged(self) -> int:
        """Calls that can be judged equal or different."""
        return self.equal + self.different

    @property
    def judged_share(self) -> float:
        """Share of the calls that could be judged; 1 if there are none."""
        return self.judged / self.calls if self.calls else 1.0

    @property
    def equal_share(self) -> float:
        """Share of the judged calls that are equal; 1 if there are none."""
        return self.equal / self.judged if self.judged else 1.0


@dataclass(frozen=True)
class Judged:
    """A call, and which recording it is of."""

    task_id: str
    source: str
    judgement: Judgement


def tally(judged: Iterable[Judged]) -> Tally:
    """Counts calls by verdict."""
    counts = Counter(item.judgement.verdict for item in judged)
    return Tally(
        sum(counts.values()), counts["equal"], counts["different"], counts["consequence"], counts["impossible"]
    )


def render(domain: str, judged: Sequence[Judged]) -> str:
    """The report, as text."""
    later = [item for item in judged if item.judgement.follows_write]
    own = [item for item in judged if item.judgement.own]
    groups = {
        "all calls": judged,
        "before a recording's first write": [item for item in judged if not item.judgement.follows_write],
        "from its first write on": later,
        "  of these on rows of their own answer": [item for item in later if item.judgement.own],
        "all on rows of their own answer": own,
    }
    lines = [f"{domain}: {len(judged)} calls of {len({(i.source, i.task_id) for i in judged})} recordings", ""]
    lines += _table([(name, tally(group)) for name, group in groups.items()])
    values, own = (sum(getattr(i.judgement, name) for i in later) for name in ("values", "own_values"))
    lines += ["", f"values in answers from the first write on: {values}, inferred from the same answer: {own}"]
    lines += ["", *_table([(tool, tally(group)) for tool, group in _by_tool(judged)])]
    for verdict in ("different", "consequence", "impossible"):
        counted = [item for item in judged if item.judgement.verdict == verdict]
        lines += ["", f"{verdict}: {len(counted)}", *map(_line, counted)]
    return "\n".join(lines)


def _by_tool(judged: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    tools = sorted({item.judgement.call.tool for item in judged})
    return [(tool, [item for item in judged if item.judgement.call.tool == tool]) for tool in tools]


def _table(rows: Sequence[tuple[str, Tally]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    head = f"{'':{width}}" + "".join(f"{name:>13}" for name in _COLUMNS) + f"{'judged':>9}{'equal':>8}"
    return [head, *(_row(name, counted, width) for name, counted in rows)]


def _row(name: str, counted: Tally, width: int) -> str:
    numbers = "".join(f"{getattr(counted, column):>13}" for column in _COLUMNS)
    return f"{name:{width}}{numbers}{counted.judged_share:>9.1%}{counted.equal_share:>8.1%}"


def _line(item: Judged) -> str:
    counted = item.judgement
    return f"  {item.task_id} call {counted.index} {counted.call.tool}: {counted.reason}"
