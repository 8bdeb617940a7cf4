// Charts. Invariant: a chart keeps its element when the page is updated, is drawn when it becomes visible or is printed, and gets all
// texts as data: tooltips are elements, never markup.

/** Colours of series: blue, vermilion, green, purple, orange, sky, grey, brown; symbols repeat after as many. */
const COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0599a", "#c98a00", "#3f9fd6", "#6b6b6b", "#7a4a1f"],
  dark: ["#4ba3e3", "#f08a4b", "#33c79b", "#d98cc2", "#e8b84a", "#8accf2", "#a8a8a8", "#c79a6b"],
};
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "circle"];
const charts = new Map();

/** A chart with its title, and its numbers in a folded table. */
function figure(id, label, data, option, height, table, clicked = null) {
  const chart = charts.get(id) ?? newChart(id);
  chart.box.style.height = `${height}px`;
  chart.box.setAttribute("aria-label", label);
  Object.assign(chart, { data, option, label, clicked });
  if (chart.shown) draw(chart);
  return h("figure", {}, h("figcaption", {}, label), chart.box, folded("Numbers", table, { key: `numbers-${id}`, name: "numbers" }));
}

function newChart(id) {
  const box = h("div", { class: "chart", role: "img", "data-chart": id });
  const chart = { box, shown: null };
  charts.set(id, chart);
  sight.observe(box);
  return chart;
}

const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const chart = charts.get(target.dataset.chart);
    if (isIntersecting && !chart.shown) draw(chart);
  }
}, { rootMargin: "300px" });
const size = new ResizeObserver((changed) => {
  for (const { target } of changed) {
    const { shown } = charts.get(target.dataset.chart);
    if (target.clientWidth && (target.clientWidth !== shown.getWidth() || target.clientHeight !== shown.getHeight())) shown.resize();
  }
});

function draw(chart) {
  if (!window.echarts || !chart.box.clientWidth) return; // not loaded yet: see drawAll
  if (!chart.shown) {
    chart.shown = echarts.init(chart.box, null, { renderer: "svg" });
    chart.shown.on("click", (event) => chart.clicked?.(event));
    size.observe(chart.box);
  }
  const theme = themeOf(chart.box);
  chart.shown.setOption({ ...common(theme, chart.label), ...chart.option(chart.data, theme) }, { notMerge: true });
  chart.box.toggleAttribute("data-drawn", true);
}

const PRINTED_WIDTH = 680; // CSS pixels of a portrait page of A4 or Letter within its margins
addEventListener("beforeprint", () => {
  for (const chart of charts.values()) {
    if (!chart.shown) draw(chart);
    if (chart.shown && chart.box.clientWidth > PRINTED_WIDTH) chart.shown.resize({ width: PRINTED_WIDTH });
  }
});
addEventListener("afterprint", () => { for (const chart of charts.values()) chart.shown?.resize(); });

/** Redraws drawn charts and draws visible ones: after the library has loaded or the theme has changed. */
function drawAll() {
  for (const chart of charts.values()) {
    if (chart.shown) draw(chart);
    else { sight.unobserve(chart.box); sight.observe(chart.box); }
  }
}

/** Colours of the page as it is now. */
function themeOf(box) {
  const style = getComputedStyle(box);
  const [ink, quiet, line, paper, panel] = ["--ink", "--quiet", "--line", "--paper", "--panel"].map((name) => style.getPropertyValue(name));
  const dark = style.colorScheme === "dark";
  return { ink, quiet, line, paper, panel, dark, narrow: box.clientWidth < 560, width: box.clientWidth,
    colours: dark ? COLOURS.dark : COLOURS.light };
}

function common(theme, label) {
  return {
    animation: false,
    aria: { enabled: true, label: { description: label } },
    color: theme.colours,
    textStyle: { color: theme.ink, fontFamily: "system-ui, sans-serif" },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 10, itemGap: 12, textStyle: { color: theme.ink } },
    tooltip: { trigger: "item", confine: true, backgroundColor: theme.panel, borderColor: theme.line, textStyle: { color: theme.ink }, formatter: tip },
  };
}

/** Height of the legend, whose names take as many lines as they need. */
function legendHeight(names, theme) {
  let [lines, left] = [1, 0];
  for (const name of distinct(names)) {
    const width = 34 + 6.8 * name.length;
    if (left && left + width > theme.width) [lines, left] = [lines + 1, 0];
    left += width;
  }
  return 18 + 22 * lines;
}

/** A tooltip: the lines of the point, else names. */
function tip({ data, seriesName, name }) {
  const lines = data?.tooltip ?? [seriesName, name];
  return h("div", {}, lines.filter(Boolean).map((line, i) => h(i ? "div" : "b", {}, line)));
}

const axis = (theme, rest = {}) => ({
  axisLine: { lineStyle: { color: theme.line } }, axisTick: { show: false }, axisLabel: { color: theme.quiet, ...rest.axisLabel },
  splitLine: { lineStyle: { color: theme.line } }, nameTextStyle: { color: theme.quiet }, ...without(rest, "axisLabel"),
});

function without({ [""]: _, ...rest }, name) {
  delete rest[name];
  return rest;
}

const shares = (theme) => axis(theme, { type: "value", min: 0, max: 1, axisLabel: { formatter: (value) => `${Math.round(100 * value)}%` } });

/** Whiskers of the nth of several series of bars, which stand side by side. */
function whiskers(name, theme, nth, many, ranges) {
  return {
    type: "custom", name, silent: true, z: 5, tooltip: { show: false }, itemStyle: { color: theme.ink },
    data: ranges.map((range, x) => [x, range?.low ?? NaN, range?.high ?? NaN]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (params, api) => whisker(api, theme.ink, api.barLayout({ count: many, ...SPACING })[nth].offsetCenter),
  };
}

function whisker(api, stroke, offset) {
  if (Number.isNaN(api.value(1))) return null;
  const [x, low] = api.coord([api.value(0), api.value(1)]);
  const [, high] = api.coord([api.value(0), api.value(2)]);
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1: x1 + offset, y1, x2: x2 + offset, y2 }, style: { stroke, lineWidth: 1.2, opacity: 0.75 } });
  return { type: "group", children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)] };
}

function horizonOption({ bins, agents }, theme) {
  const bars = agents.map((agent) => ({
    ...barsOf(agent, theme),
    data: bins.map((bin) => successPoint(agent.name, `${binName(bin)} steps`, agent.score.horizons[bin])),
  }));
  const ranges = agents.map((agent, nth) => whiskers(agent.name, theme, nth, agents.length, bins.map((bin) => agent.score.horizons[bin]?.interval)));
  return { grid: gridUnder(agents, theme), xAxis: axis(theme, { type: "category", data: bins.map(binName) }), yAxis: shares(theme), series: [...bars, ...ranges] };
}

/** Distances of bars, which whiskers need too. */
const SPACING = { barGap: "10%", barCategoryGap: "30%", barMaxWidth: 44 };

const barsOf = (agent, theme) => ({
  type: "bar", name: agent.name, ...SPACING, itemStyle: { color: colourOf(agent, theme), borderRadius: [3, 3, 0, 0] },
});

const gridUnder = (series, theme) =>
  ({ left: 8, right: 16, top: legendHeight(series.map(({ name }) => name), theme), bottom: 8, containLabel: true });

const colourOf = (agent, theme) => agent.position === null ? theme.quiet : theme.colours[agent.position];

function successPoint(series, name, success) {
  return { value: success?.rate ?? null, tooltip: [series, name, success && `${percent(success.rate)}, 95% interval ${interval(success.interval)}`,
    success && `${plural(success.tasks, "task")}`] };
}

function heatOption({ domains, rows, at }, theme) {
  const data = rows.flatMap((row, y) => domains.map((domain, x) => {
    const success = at.get(`${row}\n${domain}`);
    const strong = theme.dark ? success?.rate < 0.46 : success?.rate > 0.72;
    return success?.rate == null ? null : { value: [x, y, success.rate], label: { color: strong ? "#ffffff" : "#0d1117" }, tooltip: [row, domain, `${percent(success.rate)}, 95% interval ${interval(success.interval)}`, plural(success.tasks, "task")] };
  })).filter(Boolean);
  const ramp = theme.dark ? ["#16283a", "#1f5c8f", "#5cb3f0", "#d5edff"] : ["#eef4fa", "#a9cfea", "#3e8ec4", "#0b4a7d"];
  return {
    grid: { left: labelWidth(rows, theme), right: 8, top: 8, bottom: 66 },
    xAxis: axis(theme, { type: "category", data: domains, splitLine: { show: false }, axisLabel: { color: theme.ink } }),
    yAxis: axis(theme, { type: "category", data: rows, inverse: true, splitLine: { show: false }, axisLabel: { color: theme.ink, width: labelWidth(rows, theme) - 12, overflow: "truncate" } }),
    visualMap: { min: 0, max: 1, calculable: false, orient: "horizontal", left: "center", bottom: 0, itemWidth: 12, itemHeight: 160, text: ["100%", "0%"], textStyle: { color: theme.quiet }, inRange: { color: ramp } },
    series: [{ type: "heatmap", data, itemStyle: { borderColor: theme.paper, borderWidth: 2, borderRadius: 4 },
      label: { show: true, formatter: ({ value }) => percent(value[2]), fontWeight: 600 } }],
  };
}

/** Room for the labels of a vertical axis. */
const labelWidth = (labels, theme) => Math.min(theme.narrow ? 130 : 340, 20 + 7 * Math.max(...labels.map((label) => label.length)));

/** Most points that all have their names beside them. */
const FEW = 5;

function paretoOption({ known, front }, theme) {
  const point = ({ score }) => [score.cost_per_task, score.success.rate];
  const dots = known.map((agent) => ({
    value: point(agent), symbol: SYMBOLS[agent.position ?? 0], itemStyle: { color: colourOf(agent, theme), opacity: 1 }, agent: agent.name,
    named: front.includes(agent) || known.length <= FEW, // the others show their names in the tooltip
    tooltip: [agent.name, `${dollars(agent.score.cost_per_task)} per task`, `${percent(agent.score.success.rate)}, 95% interval ${interval(agent.score.success.interval)}`, front.includes(agent) && "on the front"],
  }));
  return {
    legend: { show: false },
    grid: { left: 8, right: 40, top: 36, bottom: 30, containLabel: true },
    xAxis: axis(theme, { type: "value", name: "cost per task", nameLocation: "middle", nameGap: 30, scale: false, min: 0, axisLabel: { formatter: (value) => dollarTick(value), hideOverlap: true } }),
    yAxis: shares(theme),
    series: [
      { type: "line", name: "front", z: 1, data: front.map(point), step: "end", symbol: "none", silent: true, lineStyle: { type: "dashed", color: theme.quiet, width: 1.5 } },
      { type: "scatter", name: "agents", symbolSize: 14, data: dots, labelLayout: { hideOverlap: true, moveOverlap: "shiftY" },
        z: 3, label: { show: true, position: "top", formatter: ({ data }) => data.named ? cutTo(data.agent, theme.narrow ? 18 : 40) : "", color: theme.ink, textBorderColor: theme.paper, textBorderWidth: 3 } },
    ],
  };
}

const cutTo = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
const dollarTick = (value) => value === 0 ? "$0" : `$${Number(value.toPrecision(3))}`;

function categoriesOption({ names, agents }, theme) {
  const series = agents.map((agent) => ({
    ...barsOf(agent, theme),
    data: names.map((name) => {
      const share = agent.score.categories[name];
      return { value: share ? rateOf(share) : null, tooltip: [agent.name, words(name), share && `${percent(rateOf(share))}, ${shareOf(share)} passed`] };
    }),
  }));
  return { grid: gridUnder(agents, theme), xAxis: axis(theme, { type: "category", data: names.map(words), axisLabel: { interval: 0, width: theme.narrow ? 60 : 140, overflow: "break" } }), yAxis: shares(theme), series };
}

/** Failed trials by mode, stacked by model, agent and mode of tools. */
function modesOption({ analysis, run }, theme) {
  const agentOf = run.data.cells.map(({ cell }) => nameOf(run, cell));
  const shown = shownAgents(run).map(({ name }) => name);
  const groups = [...shownAgents(run).map((agent) => [agent.name, colourOf(agent, theme), (name) => name === agent.name]),
    ["others", theme.quiet, (name) => !shown.includes(name)]];
  const labels = analysis.modes.map(({ mode }) => words(mode));
  const series = groups.map(([name, color, belongs]) => ({
    type: "bar", name, stack: "all", barMaxWidth: 20, cursor: "pointer", itemStyle: { color },
    emphasis: { disabled: true }, // it moves the bar to the end of the SVG; browsers drop a click whose element was moved between press and release
    data: analysis.modes.map((mode) => {
      const value = total(mode.trials.filter((_, cell) => belongs(agentOf[cell])));
      return { value, tooltip: [words(mode.mode), name, plural(value, "failed trial")] };
    }),
  })).filter(({ data }) => data.some(({ value }) => value));
  return {
    grid: { left: labelWidth(labels, theme), right: 24, top: legendHeight(series.map(({ name }) => name), theme), bottom: 30 },
    xAxis: axis(theme, { type: "value", minInterval: 1 }),
    yAxis: axis(theme, { type: "category", inverse: true, data: labels, axisLabel: { color: theme.ink, width: labelWidth(labels, theme) - 12, overflow: "truncate" } }),
    series,
  };
}

function overloadOption({ modes, lines }, theme) {
  const series = lines.map(({ name, points }, i) => ({
    type: "line", name, symbol: SYMBOLS[i], symbolSize: 9, connectNulls: true, lineStyle: { width: 2 }, itemStyle: { color: theme.colours[i] },
    data: points.map((success, x) => successPoint(name, words(modes[x]), success)),
  }));
  const ranges = lines.map(({ name, points }, nth) => ({
    ...whiskers(name, theme, nth, lines.length, points.map((success) => success?.interval)),
    renderItem: (params, api) => whisker(api, theme.colours[nth], 0),
  }));
  return { grid: gridUnder(lines, theme), xAxis: axis(theme, { type: "category", data: modes.map(words) }), yAxis: shares(theme), series: [...series, ...ranges] };
}
