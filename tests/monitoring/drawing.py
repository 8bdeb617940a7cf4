"""Draws a dashboard as a page, from its JSON and what Prometheus answers: plainly what Grafana would show.

Invariant: what is drawn is what the dashboard's own queries gave, in the panel's own place, unit, colours and words.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.monitoring.boards import Board, Panel, View, numbers
from tests.support.prometheus import Prometheus, Series

WIDTH, ROW, GAP = 1560, 30, 8
"""Pixels, as Grafana lays its grid out."""
COLORS = {
    "green": "#56a64b", "yellow": "#e0b400", "orange": "#ff780a", "red": "#e02f44", "purple": "#a352cc",
    "super-light-blue": "#c7dcf5", "light-blue": "#8ab8ff", "blue": "#3274d9", "semi-dark-blue": "#1f60c4",
    "dark-blue": "#12439c", "text": "#24292e", "transparent": "transparent",
}  # fmt: skip
LIGHT = {COLORS["super-light-blue"], COLORS["light-blue"], COLORS["transparent"]}
"""Backgrounds of dark letters."""
PALETTE = ("#56a64b", "#e0b400", "#3274d9", "#ff780a", "#a352cc", "#e02f44", "#19730e", "#8ab8ff")
STYLE = """
* { box-sizing: border-box; margin: 0 }
body { background: #f4f5f5; color: #24292e; font: 13px Inter, "Helvetica Neue", Arial, sans-serif; padding: 14px 20px }
h1 { font-size: 19px; font-weight: 500; margin-bottom: 4px }
.chosen { color: #6e7580; margin-bottom: 12px }
.chosen b { background: #fff; border: 1px solid #dce0e5; border-radius: 2px; color: #24292e; font-weight: 400;
  margin: 0 14px 0 4px; padding: 3px 8px }
main { position: relative }
section { background: #fff; border: 1px solid #e4e7eb; border-radius: 3px; overflow: hidden; position: absolute }
section h2 { font-size: 13px; font-weight: 500; height: 30px; padding: 7px 9px 0; white-space: nowrap }
.row { font-size: 15px; font-weight: 500; padding: 6px 2px; position: absolute }
.stat { align-items: center; display: flex; font-size: 38px; font-weight: 500; height: calc(100% - 34px);
  justify-content: center }
.filled { color: #fff }
.filled h2 { color: #fff }
table { border-collapse: collapse; width: 100% }
th { color: #3274d9; font-weight: 500; text-align: left }
th, td { border-bottom: 1px solid #eceef0; height: 31px; padding: 0 9px; white-space: nowrap }
.number { font-variant-numeric: tabular-nums; text-align: right }
.bar { align-items: center; display: grid; gap: 10px; grid-template-columns: max-content 1fr 76px; padding: 2px 12px }
.track { background: #f0f1f3; border-radius: 2px; height: 26px }
.track div { border-radius: 2px; height: 100% }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 0 10px }
.legend i { border-radius: 2px; display: inline-block; height: 4px; margin-right: 6px; vertical-align: middle;
  width: 14px }
svg text { fill: #6e7580; font-size: 11px }
"""


def page(board: Board, server: Prometheus, view: View) -> str:
    """The dashboard as HTML."""
    drawn, height = [], 0
    for panel in board["panels"]:
        box = _box(panel["gridPos"])
        height = max(height, box["top"] + box["height"])
        place = ";".join(f"{name}:{size}px" for name, size in box.items())
        if panel["type"] == "row":
            drawn.append(f'<div class="row" style="{place}">▾ {html.escape(panel["title"])}</div>')
            continue
        found = [(target, view.answers(server, target)) for target in panel["targets"]]
        style, body = DRAWERS[panel["type"]](panel, found, box, view)
        filled = ' class="filled"' if "background" in style else ""
        drawn.append(f'<section{filled} style="{place};{style}"><h2>{html.escape(panel["title"])}</h2>{body}</section>')
    chosen = "".join(
        f"{variable.get('label', variable['name'])} <b>{view.chosen[variable['name']].replace('.*', 'All')}</b>"
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    )
    span = " to ".join(_time(at, "%Y-%m-%d %H:%M") for at in (view.start, view.end))
    head = f'<h1>{html.escape(board["title"])}</h1><div class="chosen">{chosen} {span} UTC</div>'
    main = f'<main style="width:{WIDTH}px;height:{height}px">{"".join(drawn)}</main>'
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{head}{main}'


def _box(place: Mapping[str, int]) -> dict[str, int]:
    column = (WIDTH + GAP) / 24
    return {
        "left": round(place.get("x", 0) * column),
        "top": place.get("y", 0) * (ROW + GAP),
        "width": round(place["w"] * column) - GAP,
        "height": place["h"] * (ROW + GAP) - GAP,
    }


def _time(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)


# Values


def shown(value: float, unit: str, decimals: int | None, now: float) -> str:
    """A value as people read it."""
    match unit:
        case "percentunit":
            return f"{100 * value:.{1 if decimals is None else decimals}f} %"
        case "currencyUSD":
            return f"${value:,.{2 if decimals is None else decimals}f}"
        case "dateTimeFromNow":
            return _ago(value / 1000 - now)
        case "s":
            return _duration(value)
        case "bytes":
            return f"{value / 2**20:.{0 if decimals is None else decimals}f} MiB"
        case "ops":
            return f"{value:.2g} ops/s"
        case _:
            return _short(value, decimals)


def _short(value: float, decimals: int | None) -> str:
    for size, letter in ((1e9, " Bil"), (1e6, " Mil"), (1e3, " K")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.{decimals}f}" if decimals is not None else f"{value:.3g}"


def _duration(seconds: float) -> str:
    for size, name in ((3600, "hours"), (60, "mins"), (1, "s"), (1e-3, "ms")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {name}"
    return "0 s"


def _ago(seconds: float) -> str:
    size, name = next(
        (found for found in ((3600.0, "hour"), (60.0, "minute")) if abs(seconds) >= found[0]), (1.0, "second")
    )
    count = round(abs(seconds) / size)
    words = f"{count} {name}{'' if count == 1 else 's'}"
    return f"in {words}" if seconds > 0 else f"{words} ago"


def color_of(value: float, steps: Sequence[Mapping[str, Any]]) -> str:
    """Colour of the highest threshold that a value reaches."""
    reached = [step["color"] for step in steps if step.get("value") is None or value >= step["value"]]
    return COLORS[reached[-1]]


def _filled(color: str) -> str:
    letters = COLORS["text"] if color in LIGHT else "#fff"
    return f' style="background:{color};color:{letters}"'


def _paint(panel: Panel, name: str) -> str | None:
    """The colour that a dashboard gives a series by name."""
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"] == {"id": "byName", "options": name}:
            color: str = override["properties"][0]["value"]["fixedColor"]
            return COLORS.get(color, color)
    return None


def _named(series: Series, target: Mapping[str, Any]) -> str:
    legend = target.get("legendFormat", "__auto")
    labels = series["metric"]
    if legend == "__auto":
        return ", ".join(labels.values()) or "value"
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), legend)


def _words(mappings: Sequence[Mapping[str, Any]], value: str) -> tuple[str, str] | None:
    for mapping in mappings:
        if found := mapping["options"].get(value):
            return found["text"], COLORS[found["color"]]
    return None


# Panels

Found = list[tuple[dict[str, Any], list[Series]]]
Box = dict[str, int]


def _stat(panel: Panel, found: Found, box: Box, view: View) -> tuple[str, str]:
    defaults = panel["fieldConfig"]["defaults"]
    ((target, series),) = found
    if not series:
        return "", f'<div class="stat">{defaults["noValue"]}</div>'
    (value,) = numbers(series[0])
    color = color_of(value, defaults["thresholds"]["steps"])
    text = shown(value, defaults["unit"], defaults.get("decimals"), view.end)
    if words := _words(defaults.get("mappings", ()), f"{value:g}"):
        text, color = words
    if panel["options"]["textMode"] == "name":
        text = _named(series[0], target)
    if panel["options"]["colorMode"] == "background":
        return f"background:{color}", f'<div class="stat">{text}</div>'
    return "", f'<div class="stat" style="color:{color}">{text}</div>'


def _bargauge(panel: Panel, found: Found, box: Box, view: View) -> tuple[str, str]:
    defaults = panel["fieldConfig"]["defaults"]
    ((target, series),) = found
    rows = sorted((_named(one, target), numbers(one)[0]) for one in series)
    most = defaults.get("max") or max(value for _, value in rows) or 1.0
    drawn = []
    for name, value in rows:
        color = _paint(panel, name) or color_of(value, defaults["thresholds"]["steps"])
        text = shown(value, defaults["unit"], defaults.get("decimals"), view.end)
        bar = f'<div style="background:{color};width:{100 * value / most:.1f}%"></div>'
        drawn.append(f'<span>{name}</span><div class="track">{bar}</div><b>{text}</b>')
    height = (box["height"] - 40) // max(len(rows), 1) - 10
    style = f'style="grid-auto-rows:{height}px"'
    return "", f'<div class="bar" {style}>{"".join(drawn)}</div>'


def _table(panel: Panel, found: Found, box: Box, view: View) -> tuple[str, str]:
    shapes = {step["id"]: step["options"] for step in panel["transformations"]}
    if "groupingToMatrix" in shapes:
        head, rows = _matrix(found[0][1], shapes["groupingToMatrix"])
    else:
        head, rows = _merged(found, shapes["organize"])
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = ["<tr>" + "".join(_cell(panel, name, row.get(name), view.end) for name in head) + "</tr>" for row in rows]
    return "", f"<table><tr>{cells}</tr>{''.join(lines)}</table>"


Row = dict[str, str | float]


def _matrix(series: Sequence[Series], options: Mapping[str, str]) -> tuple[list[str], list[Row]]:
    corner = f"{options['rowField']}\\{options['columnField']}"
    rows: dict[str, Row] = {}
    for one in series:
        name, column = (one["metric"][options[field]] for field in ("rowField", "columnField"))
        rows.setdefault(name, {corner: name})[column] = numbers(one)[0]
    columns = sorted({name for row in rows.values() for name in row} - {corner})
    return [corner, *columns], [rows[name] for name in sorted(rows)]


def _merged(found: Found, organize: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[Row]]:
    """Rows with the same labels are one; the labels that all queries have are the key."""
    keys = set.intersection(*(set(one["metric"]) for _, series in found for one in series))
    rows: dict[tuple[str, ...], Row] = {}
    for target, series in found:
        for one in series:
            key = tuple(one["metric"][label] for label in sorted(keys))
            row = rows.setdefault(key, {})
            fields: Row = {**one["metric"], f"Value #{target['refId']}": numbers(one)[0]}
            row |= {
                organize["renameByName"][name]: value
                for name, value in fields.items()
                if name not in organize["excludeByName"]
            }
    names = sorted(organize["renameByName"], key=organize["indexByName"].__getitem__)
    return [organize["renameByName"][name] for name in names], [rows[key] for key in sorted(rows)]


def _cell(panel: Panel, column: str, value: str | float | None, now: float) -> str:
    defaults = panel["fieldConfig"]["defaults"]
    looks: dict[str, Any] = {"unit": defaults.get("unit"), "thresholds": defaults.get("thresholds")}
    for override in panel["fieldConfig"]["overrides"]:
        matcher = override["matcher"]
        if matcher["options"] == column or (matcher["id"] == "byRegexp" and re.match(matcher["options"], column)):
            looks |= {found["id"]: found["value"] for found in override["properties"]}
    if value is None:
        return f"<td class=number>{defaults.get('noValue', '')}</td>"
    if isinstance(value, str):
        words = _words(looks.get("mappings", ()), value)
        style = _filled(words[1]) if words else ""
        return f"<td{style}>{html.escape(value)}</td>"
    text = shown(value, looks["unit"] or "none", defaults.get("decimals"), now)
    style = ""
    if "custom.cellOptions" in looks:
        style = _filled(color_of(value, looks["thresholds"]["steps"]))
    return f'<td class="number"{style}>{text}</td>'


def _timeseries(panel: Panel, found: Found, box: Box, view: View) -> tuple[str, str]:
    defaults = panel["fieldConfig"]["defaults"]
    named = sorted((_named(one, target), one["values"]) for target, series in found for one in series)
    colors = iter(PALETTE * 3)
    drawn = [(name, _paint(panel, name) or next(colors), points) for name, points in named]
    stacked = defaults["custom"].get("stacking", {}).get("mode") == "normal"
    if stacked:
        drawn = [line for line in drawn if any(float(value) for _, value in line[2])]
    chart = _Chart(view, box["width"], box["height"] - 62, defaults["unit"])
    chart.scale(_heights(drawn, stacked=stacked), defaults.get("max"))
    body = chart.axes() + (chart.stacks(drawn) if stacked else chart.curves(drawn))
    svg = f'<svg width="{box["width"]}" height="{box["height"] - 62}">{body}</svg>'
    names = "".join(f'<span><i style="background:{color}"></i>{html.escape(name)}</span>' for name, color, _ in drawn)
    return "", f'{svg}<div class="legend">{names}</div>'


Lines = list[tuple[str, str, list[tuple[float, str]]]]
"""Name, colour and points of each series."""


def _heights(drawn: Lines, *, stacked: bool) -> list[float]:
    if not stacked:
        return [float(value) for _, _, points in drawn for _, value in points]
    sums: dict[float, float] = {}
    for _, _, points in drawn:
        for at, value in points:
            sums[at] = sums.get(at, 0.0) + float(value)
    return list(sums.values())


class _Chart:
    """Axes and series of one graph."""

    LEFT, RIGHT, TOP, BOTTOM = 64, 14, 8, 22

    def __init__(self, view: View, width: int, height: int, unit: str) -> None:
        self._view, self._width, self._height, self._unit = view, width, height, unit
        self._most, self._tick = 1.0, 0.5

    def scale(self, values: Sequence[float], most: float | None) -> None:
        """Finds the axis' end, and a round distance between its lines."""
        top = most or max(values, default=1.0) * 1.05 or 1.0
        one = 2.0**20 if self._unit == "bytes" else 60.0 if self._unit == "s" and top > 60 else 1.0
        size = one * 10.0 ** math.floor(math.log10(top / 4 / one))
        self._tick = next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= top / 4)
        self._most = most or self._tick * math.ceil(top / self._tick)

    def _x(self, at: float) -> float:
        share = (at - self._view.start) / (self._view.end - self._view.start)
        return self.LEFT + share * (self._width - self.LEFT - self.RIGHT)

    def _y(self, value: float) -> float:
        return self._height - self.BOTTOM - value / self._most * (self._height - self.TOP - self.BOTTOM)

    def axes(self) -> str:
        """Lines and their numbers."""
        drawn = []
        for count in range(round(self._most / self._tick) + 1):
            value, y = count * self._tick, self._y(count * self._tick)
            text = shown(value, self._unit, 0 if self._unit == "percentunit" else None, 0)
            drawn.append(f'<path d="M{self.LEFT} {y:.1f}H{self._width - self.RIGHT}" stroke="#eceef0"/>')
            drawn.append(f'<text x="{self.LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        hours = (self._view.end - self._view.start) / 3600
        every = 3600 * next(step for step in (0.25, 0.5, 1, 2, 4, 6, 12) if hours / step <= max(self._width / 90, 3))
        at = math.ceil(self._view.start / every) * every
        while at <= self._view.end:
            drawn.append(
                f'<text x="{self._x(at):.1f}" y="{self._height - 5}" text-anchor="middle">{_time(at, "%H:%M")}</text>'
            )
            at += every
        return "".join(drawn)

    def curves(self, drawn: Lines) -> str:
        """A line for each series, broken where there was nothing."""
        paths = []
        for _, color, points in drawn:
            path, before = "", -math.inf
            for at, value in points:
                pen = "L" if at - before <= 1.5 * self._view.step else "M"
                path += f"{pen}{self._x(at):.1f} {self._y(float(value)):.1f}"
                before = at
            paths.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.8" stroke-linejoin="round"/>')
        return "".join(paths)

    def stacks(self, drawn: Lines) -> str:
        """Bars on top of each other."""
        below: dict[float, float] = {}
        width = max(self._x(self._view.start + self._view.step) - self.LEFT, 1.0)
        bars = []
        for _, color, points in drawn:
            path = ""
            for at, value in points:
                low = below.get(at, 0.0)
                below[at] = high = low + float(value)
                if high > low:
                    bottom = self._y(low)
                    path += f"M{self._x(at) - width / 2:.1f} {bottom:.1f}V{self._y(high):.1f}h{width:.1f}V{bottom:.1f}z"
            bars.append(f'<path d="{path}" fill="{color}"/>')
        return "".join(bars)


Drawer = Callable[[Panel, Found, Box, View], tuple[str, str]]
DRAWERS: dict[str, Drawer] = {"stat": _stat, "bargauge": _bargauge, "table": _table, "timeseries": _timeseries}
