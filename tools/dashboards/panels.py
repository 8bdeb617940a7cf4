"""The few kinds of panels that the dashboards use, each made one way.

Invariant: every panel has a description and a unit, and asks the data source that the dashboard's variable names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import bargauge, common, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as boards
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")

Stat = stat.Panel
TimeSeries = timeseries.Panel
BarGauge = bargauge.Panel
Table = table.Panel
Panel = Stat | TimeSeries | BarGauge | Table
PanelT = TypeVar("PanelT", TimeSeries, BarGauge)

Steps = Mapping[float | None, str]
"""Colours by lower bound of the value; None is the lowest."""
FINE: Steps = {None: "green"}
PLAIN: Steps = {None: "text"}
BLUE: Steps = {None: "blue"}
NONE_IS_FINE: Steps = {None: "green", 1: "red"}
FEW_ARE_FINE: Steps = {None: "green", 0.05: "orange", 0.1: "red"}
"""For error ratios; red from the alert's threshold."""
NEAR_THE_CAP: Steps = {None: "green", 0.75: "orange", 0.9: "red"}
GRADES: Steps = {None: "super-light-blue", 0.2: "light-blue", 0.4: "blue", 0.6: "semi-dark-blue", 0.8: "dark-blue"}
"""For comparing success rates: shows which is higher, not which is good."""
OUTCOMES: Mapping[str, str] = {
    "passed": "green",
    "failed": "red",
    "pending": "#c7d0d9",
    "infra_error": "orange",
    "config_error": "purple",
    "budget_skipped": "yellow",
    "cancelled": "text",
}
VERDICTS: Mapping[str, str] = {"GO": "green", "NO-GO": "red", "INCONCLUSIVE": "orange"}

WORDS = dict[str, tuple[str, str]]
"""Texts and colours by value."""


@dataclass(frozen=True)
class Query:
    """A query of a time series panel and its legend."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Column:
    """Column of a table joined from several queries."""

    title: str
    expression: str
    unit: str = "none"
    steps: Steps | None = None
    """Colours of the cell's background; none if None."""
    label: str = ""
    """Label of the series to show instead of its value."""
    words: WORDS | None = None


def per(seconds: int, counter: str, by: str, among: str = "") -> str:
    """What a counter grows by in so many seconds, however far two points of a graph are apart.

    Args:
        seconds: How many: 60 for a minute, 3600 for an hour.
        counter: Series of the counter.
        by: Labels of the sums.
        among: Another expression; series that it has nothing for are left out.
    """
    return f"{seconds} * sum by ({by}) (rate({counter}[$__rate_interval]){among})"


def thresholds(steps: Steps) -> boards.ThresholdsConfig:
    """Colours by absolute value."""
    limits = [models.Threshold(value=value, color=color) for value, color in steps.items()]
    return boards.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(limits)


def mapping(words: WORDS) -> models.ValueMap:
    """Texts shown for values."""
    options = {
        value: models.ValueMappingResult(text=text, color=color, index=index)
        for index, (value, (text, color)) in enumerate(words.items())
    }
    return models.ValueMap(options=options)


def target(expression: str, legend: str = "", ref: str = "A") -> prometheus.Dataquery:
    """A query over the dashboard's time range."""
    return prometheus.Dataquery().expr(expression).legend_format(legend or "__auto").range().ref_id(ref)


def instant(expression: str, legend: str = "", ref: str = "A") -> prometheus.Dataquery:
    """A query for the end of the dashboard's time range."""
    return prometheus.Dataquery().expr(expression).legend_format(legend or "__auto").instant().ref_id(ref)


def painted(panel: PanelT, colors: Mapping[str, str]) -> PanelT:
    """Fixed colours for well-known series."""
    for name, color in colors.items():
        fixed = models.DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": color})
        panel.override_by_name(name, [fixed])
    return panel


def number(
    title: str, description: str, expression: str, unit: str, steps: Steps = PLAIN, words: WORDS | None = None
) -> Stat:
    """Panel with one number."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .with_target(instant(expression))
        .unit(unit)
        .thresholds(thresholds(steps))
        .color_mode(
            kinds.BigValueColorMode.BACKGROUND if words or steps is NONE_IS_FINE else kinds.BigValueColorMode.VALUE
        )
        .graph_mode(kinds.BigValueGraphMode.NONE)
        .text_mode(kinds.BigValueTextMode.VALUE)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .no_value("–")
        .span(4)
        .height(4)
    )
    if words:
        panel = panel.mappings([mapping(words)])
    return panel if unit != "short" else panel.decimals(0)


def lines(
    title: str,
    description: str,
    queries: Sequence[Query],
    unit: str,
    *,
    stacked: bool = False,
    most: float | None = None,
) -> TimeSeries:
    """Time series panel; stacked series as bars."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .line_width(2)
        .fill_opacity(10)
        .show_points(kinds.VisibilityMode.NEVER)
        .legend(
            common.VizLegendOptions()
            .display_mode(kinds.LegendDisplayMode.LIST)
            .placement(kinds.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI).sort(kinds.SortOrder.DESCENDING))
        .span(8)
        .height(8)
    )
    for ref, query in zip("ABCDEF", queries, strict=False):
        panel = panel.with_target(target(query.expression, query.legend, ref))
    if stacked:
        panel = (
            panel.draw_style(kinds.GraphDrawStyle.BARS)
            .fill_opacity(80)
            .line_width(0)
            .stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL).group("A"))
        )
    return panel if most is None else panel.max(most)


def bars(
    title: str, description: str, query: Query, unit: str, steps: Steps = BLUE, most: float | None = None
) -> BarGauge:
    """Bar gauge panel."""
    panel = (
        bargauge.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .with_target(instant(query.expression, query.legend))
        .unit(unit)
        .min(0)
        .thresholds(thresholds(steps))
        .orientation(kinds.VizOrientation.HORIZONTAL)
        .display_mode(kinds.BarGaugeDisplayMode.BASIC)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .span(8)
        .height(8)
    )
    return panel if most is None else panel.max(most)


def rows(title: str, description: str, keys: Mapping[str, str], columns: Sequence[Column]) -> Table:
    """A table with a row for each set of keys.

    Args:
        title: Title.
        description: What it shows.
        keys: Titles of the columns that name a row, by label.
        columns: The others. Each has a query of its own; rows with the same keys become one.
    """
    refs = {chr(ord("A") + index): column for index, column in enumerate(columns)}
    shown = {f"Value #{ref}": column for ref, column in refs.items() if not column.label}
    names = dict(keys) | {field: column.title for field, column in shown.items()}
    names |= {column.label: column.title for column in columns if column.label}
    hidden = ["Time", *(f"Value #{ref}" for ref, column in refs.items() if column.label)]
    titles = [*keys.values(), *(column.title for column in columns)]
    organize = {
        "excludeByName": dict.fromkeys(hidden, True),
        "indexByName": {field: titles.index(name) for field, name in names.items()},
        "renameByName": names,
    }
    panel = _table(title, description).with_transformation(models.DataTransformerConfig(id_val="merge", options={}))
    panel = panel.with_transformation(models.DataTransformerConfig(id_val="organize", options=organize))
    for ref, column in refs.items():
        panel = panel.with_target(instant(column.expression, ref=ref).format(PromQueryFormat.TABLE))
        panel = panel.override_by_name(column.title, _looks(column))
    return panel


def matrix(title: str, description: str, expression: str, unit: str, row: str, column: str, steps: Steps) -> Table:
    """A table of one query's values, by two labels."""
    options = {"rowField": row, "columnField": column, "valueField": "Value"}
    return (
        _table(title, description)
        .with_target(instant(expression).format(PromQueryFormat.TABLE))
        .with_transformation(models.DataTransformerConfig(id_val="groupingToMatrix", options=options))
        .unit(unit)
        .thresholds(thresholds(steps))
        .override_by_regexp(f"^(?!{row}).*$", [_colored()])
        .no_value("–")
    )


def _table(title: str, description: str) -> Table:
    return table.Panel().title(title).description(description).datasource(SOURCE).show_header(True).span(24).height(9)


def _colored() -> models.DynamicConfigValue:
    options = {"type": "color-background", "mode": "basic"}
    return models.DynamicConfigValue(id_val="custom.cellOptions", value=options)


def _looks(column: Column) -> list[models.DynamicConfigValue]:
    looks = [models.DynamicConfigValue(id_val="unit", value=column.unit)]
    if column.steps:
        looks += [models.DynamicConfigValue(id_val="thresholds", value=thresholds(column.steps).build()), _colored()]
    if column.words:
        looks += [models.DynamicConfigValue(id_val="mappings", value=[mapping(column.words)]), _colored()]
    return looks


def variable(name: str, label: str, metric: str, *, many: bool) -> boards.QueryVariable:
    """A variable with the values that a label has.

    Args:
        name: Name, and the label.
        label: Displayed name.
        metric: Series that has the label; may be a selector that uses other variables.
        many: Allow several values; initially all are selected.
    """
    query: dict[str, object] = {"query": f"label_values({metric}, {name})", "refId": "A"}
    variable = (
        boards.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
    )
    if many:
        every = models.VariableOption(text=["All"], value=["$__all"], selected=True)
        variable = variable.multi(True).include_all(True).all_value(".*").current(every)
    return variable


def place(board: boards.Dashboard, *panels: Panel) -> boards.Dashboard:
    """Adds panels from left to right; the grid is 24 units wide."""
    for panel in panels:
        board.with_panel(panel)
    return board


def board(uid: str, title: str, description: str, since: str, refresh: str) -> boards.Dashboard:
    """An empty dashboard with links to the others."""
    links = boards.DashboardLink("opsgym").type(models.DashboardLinkType.DASHBOARDS).tags(["opsgym"])
    return (
        boards.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["opsgym"])
        .time(since, "now")
        .refresh(refresh)
        .timezone("browser")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(links.as_dropdown(False).keep_time(False).include_vars(False))
        .with_variable(boards.DatasourceVariable("datasource").label("Data source").type("prometheus"))
    )
