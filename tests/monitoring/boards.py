"""The chart's dashboards as tests and pictures read them: panels, variables, and queries that Prometheus can answer.

Invariant: no query leaves here with a variable in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helm.charts import OPSGYM
from tests.support.prometheus import Prometheus, Series

FILES = sorted((OPSGYM / "monitoring" / "dashboards").glob("*.json"))
LABEL_VALUES = re.compile(r"label_values\((?P<series>.+), (?P<label>\w+)\)")

Panel = dict[str, Any]
Board = dict[str, Any]


def load(path: Path) -> Board:
    """A dashboard."""
    found: Board = json.loads(path.read_text(encoding="utf-8"))
    return found


def panels(board: Board) -> Iterator[Panel]:
    """Its panels that show data."""
    return (panel for panel in board["panels"] if panel["type"] != "row")


@dataclass(frozen=True)
class View:
    """What somebody looks at: a time range, and what is chosen.

    Args:
        start: Begin of the time range, as Unix time.
        end: Its end.
        step: Seconds between two points of a graph.
        chosen: Values of the dashboards' variables.
    """

    start: float
    end: float
    step: float
    chosen: Mapping[str, str]

    def written(self, text: str) -> str:
        """A query with everything that Grafana would put into it.

        Raises:
            ValueError: It names a variable that nobody knows.
        """
        seconds = round(self.end - self.start)
        known = {
            "__range_s": str(seconds),
            "__range": f"{seconds}s",
            "__rate_interval": f"{round(4 * self.step)}s",
            **self.chosen,
        }
        for name in sorted(known, key=len, reverse=True):
            text = text.replace(f"${name}", known[name])
        if "$" in text:
            raise ValueError(f"a variable without a value: {text}")
        return text

    def answers(self, server: Prometheus, target: Mapping[str, Any]) -> list[Series]:
        """What a panel's query gives: a value for each series at the end of the range, or values over it."""
        expression = self.written(target["expr"])
        if target.get("instant"):
            return server.query(expression, self.end)
        return server.query_range(expression, self.start, self.end, self.step)

    def values_of(self, server: Prometheus, variable: Mapping[str, Any]) -> set[str]:
        """What a variable offers."""
        asked = LABEL_VALUES.fullmatch(self.written(variable["query"]["query"]))
        if asked is None:
            raise ValueError(f"not a query of a variable: {variable['query']}")
        found = server.query(f"count by ({asked['label']}) ({asked['series']})", self.end)
        return {series["metric"][asked["label"]] for series in found}


def numbers(series: Series) -> list[float]:
    """Its values, in order of time."""
    points = [series["value"]] if "value" in series else series["values"]
    return [float(value) for _, value in points]
