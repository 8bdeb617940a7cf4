"""Dashboards of the chart: panels, variables, and queries in a form that Prometheus can answer.

Invariant: every query returned from this module has its variables substituted.
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
    board: Board = json.loads(path.read_text(encoding="utf-8"))
    return board


def panels(board: Board) -> Iterator[Panel]:
    """Its panels that show data."""
    return (panel for panel in board["panels"] if panel["type"] != "row")


@dataclass(frozen=True)
class View:
    """A time range with selected values of variables.

    Args:
        start: Start of the time range, Unix time.
        end: End of the time range.
        step: Seconds between two points of a graph.
        selected: Values of the dashboards' variables.
    """

    start: float
    end: float
    step: float
    selected: Mapping[str, str]

    def substituted(self, text: str) -> str:
        """A query with the values that Grafana would substitute.

        Raises:
            ValueError: The query names an unknown variable.
        """
        seconds = round(self.end - self.start)
        known = {
            "__range_s": str(seconds),
            "__range": f"{seconds}s",
            "__rate_interval": f"{round(4 * self.step)}s",
            **self.selected,
        }
        for name in sorted(known, key=len, reverse=True):
            text = text.replace(f"${name}", known[name])
        if "$" in text:
            raise ValueError(f"a variable without a value: {text}")
        return text

    def answers(self, server: Prometheus, target: Mapping[str, Any]) -> list[Series]:
        """Result of a panel's query: one value for each series at the end of the range, or values over the range."""
        expression = self.substituted(target["expr"])
        if target.get("instant"):
            return server.query(expression, self.end)
        return server.query_range(expression, self.start, self.end, self.step)

    def values_of(self, server: Prometheus, variable: Mapping[str, Any]) -> set[str]:
        """Values that a variable offers."""
        query = LABEL_VALUES.fullmatch(self.substituted(variable["query"]["query"]))
        if query is None:
            raise ValueError(f"not a query of a variable: {variable['query']}")
        counts = server.query(f"count by ({query['label']}) ({query['series']})", self.end)
        return {series["metric"][query["label"]] for series in counts}


def numbers(series: Series) -> list[float]:
    """Values of a series in order of time."""
    points = [series["value"]] if "value" in series else series["values"]
    return [float(value) for _, value in points]
