// Charts. Invariant: a chart keeps its box when the page is renewed, is drawn when it comes into sight, and gets all of
// its texts as data: tooltips are elements, never markup.

/** Series told apart by colour: blue, vermilion, green, purple, orange, sky, grey, brown; then symbols repeat too. */
const COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0599a", "#c98a00", "#3f9fd6", "#6b6b6b", "#7a4a1f"],
  dark: ["#4ba3e3", "#f08a4b", "#33c79b", "#d98cc2", "#e8b84a", "#8accf2", "#a8a8a8", "#c79a6b"],
};
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "circle"];
const drawn = new Map();

/** A chart with its title, and its numbers as a table that is folded away. */
function figure(id, label, data, option, height, table, clicked = null) {
  const chart = drawn.get(id) ?? newChart(id);
  chart.box.style.height = `${height}px`;
  chart.box.setAttribute("aria-label", label);
  Object.assign(chart, { data, option, label, clicked });
  if (chart.shown) draw(chart);
  return h("figure", {}, h("figcaption", {}, label), chart.box, folded("Numbers", table, { key: `numbers-${id}`, name: "numbers" }));
}

function newChart(id) {
  const box = h("div", { class: "chart", role: "img", "data-chart": id });
  const chart = { box, shown: null };
  drawn.set(id, chart);
  sight.observe(box);
  return chart;
}

const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const chart = drawn.get(target.dataset.chart);
    if (isIntersecting && !chart.shown) draw(chart);
  }
}, { rootMargin: "300px" });
const size = new ResizeObserver((changed) => {
  for (const { target } of changed) if (target.clientWidth) drawn.get(target.dataset.chart).shown.resize();
});

function draw(chart) {
  if (!window.echarts || !chart.box.clientWidth) return; // not there yet: see drawAll
  if (!chart.shown) {
    chart.shown = echarts.init(chart.box, null, { renderer: "svg" });
    chart.shown.on("click", (event) => chart.clicked?.(event));
    size.observe(chart.box);
  }
  const look = lookOf(chart.box);
  chart.shown.setOption({ ...common(look, chart.label), ...chart.option(chart.data, look) }, { notMerge: true });
  chart.box.toggleAttribute("data-drawn", true);
}

/** Draws anew what is drawn, and what waits in sight: the library has come, or light became dark. */
function drawAll() {
  for (const chart of drawn.values()) {
    if (chart.shown) draw(chart);
    else { sight.unobserve(chart.box); sight.observe(chart.box); }
  }
}

/** Colours of the page as it is now. */
function lookOf(box) {
  const style = getComputedStyle(box);
  const [ink, quiet, line, paper, panel] = ["--ink", "--quiet", "--line", "--paper", "--panel"].map((name) => style.getPropertyValue(name));
  const dark = style.colorScheme === "dark";
  return { ink, quiet, line, paper, panel, dark, narrow: box.clientWidth < 560, width: box.clientWidth,
    colours: dark ? COLOURS.dark : COLOURS.light };
}

function common(look, label) {
  return {
    animation: false,
    aria: { enabled: true, label: { description: label } },
    color: look.colours,
    textStyle: { color: look.ink, fontFamily: "system-ui, sans-serif" },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 10, itemGap: 12, textStyle: { color: look.ink } },
    tooltip: { trigger: "item", confine: true, backgroundColor: look.panel, borderColor: look.line, textStyle: { color: look.ink }, formatter: tip },
  };
}

/** Room above a drawing for the names of its series, which take as many lines as they need. */
function legendHeight(names, look) {
  let [lines, left] = [1, 0];
  for (const name of distinct(names)) {
    const width = 34 + 6.8 * name.length;
    if (left && left + width > look.width) [lines, left] = [lines + 1, 0];
    left += width;
  }
  return 18 + 22 * lines;
}

/** A tooltip: what the point tells of itself. */
function tip({ data, seriesName, name }) {
  const lines = data?.told ?? [seriesName, name];
  return h("div", {}, lines.filter(Boolean).map((line, i) => h(i ? "div" : "b", {}, line)));
}

const axis = (look, rest = {}) => ({
  axisLine: { lineStyle: { color: look.line } }, axisTick: { show: false }, axisLabel: { color: look.quiet, ...rest.axisLabel },
  splitLine: { lineStyle: { color: look.line } }, nameTextStyle: { color: look.quiet }, ...without(rest, "axisLabel"),
});

function without({ [""]: _, ...rest }, name) {
  delete rest[name];
  return rest;
}

const shares = (look) => axis(look, { type: "value", min: 0, max: 1, axisLabel: { formatter: (value) => `${Math.round(100 * value)}%` } });

/** Whiskers of bars that stand side by side, the nth of so many. */
function whiskers(name, look, nth, many, ranges) {
  return {
    type: "custom", name, silent: true, z: 5, tooltip: { show: false }, itemStyle: { color: look.ink },
    data: ranges.map((range, x) => [x, range?.low ?? NaN, range?.high ?? NaN]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (params, api) => whisker(api, look.ink, api.barLayout({ count: many, ...SPACING })[nth].offsetCenter),
  };
}

function whisker(api, stroke, offset) {
  if (Number.isNaN(api.value(1))) return null;
  const [x, low] = api.coord([api.value(0), api.value(1)]);
  const [, high] = api.coord([api.value(0), api.value(2)]);
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1: x1 + offset, y1, x2: x2 + offset, y2 }, style: { stroke, lineWidth: 1.2, opacity: 0.75 } });
  return { type: "group", children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)] };
}

function horizonOption({ bins, agents }, look) {
  const bars = agents.map((agent) => ({
    ...barsOf(agent, look),
    data: bins.map((bin) => successPoint(agent.name, `${binName(bin)} steps`, agent.score.horizons[bin])),
  }));
  const ranges = agents.map((agent, nth) => whiskers(agent.name, look, nth, agents.length, bins.map((bin) => agent.score.horizons[bin]?.interval)));
  return { grid: gridUnder(agents, look), xAxis: axis(look, { type: "category", data: bins.map(binName) }), yAxis: shares(look), series: [...bars, ...ranges] };
}

/** How bars stand side by side, and their whiskers with them. */
const SPACING = { barGap: "10%", barCategoryGap: "30%", barMaxWidth: 44 };

const barsOf = (agent, look) => ({
  type: "bar", name: agent.name, ...SPACING, itemStyle: { color: colourOf(agent, look), borderRadius: [3, 3, 0, 0] },
});

const gridUnder = (series, look) =>
  ({ left: 8, right: 16, top: legendHeight(series.map(({ name }) => name), look), bottom: 8, containLabel: true });

const colourOf = (agent, look) => agent.place === null ? look.quiet : look.colours[agent.place];

function successPoint(series, name, success) {
  return { value: success?.rate ?? null, told: [series, name, success && `${percent(success.rate)}, 95% interval ${interval(success.interval)}`,
    success && `${plural(success.tasks, "task")}`] };
}

function heatOption({ domains, rows, at }, look) {
  const data = rows.flatMap((row, y) => domains.map((domain, x) => {
    const success = at.get(`${row}\n${domain}`);
    const strong = look.dark ? success?.rate < 0.46 : success?.rate > 0.72;
    return success?.rate == null ? null : { value: [x, y, success.rate], label: { color: strong ? "#ffffff" : "#0d1117" }, told: [row, domain, `${percent(success.rate)}, 95% interval ${interval(success.interval)}`, plural(success.tasks, "task")] };
  })).filter(Boolean);
  const ramp = look.dark ? ["#16283a", "#1f5c8f", "#5cb3f0", "#d5edff"] : ["#eef4fa", "#a9cfea", "#3e8ec4", "#0b4a7d"];
  return {
    grid: { left: labelWidth(rows, look), right: 8, top: 8, bottom: 66 },
    xAxis: axis(look, { type: "category", data: domains, splitLine: { show: false }, axisLabel: { color: look.ink } }),
    yAxis: axis(look, { type: "category", data: rows, inverse: true, splitLine: { show: false }, axisLabel: { color: look.ink, width: labelWidth(rows, look) - 12, overflow: "truncate" } }),
    visualMap: { min: 0, max: 1, calculable: false, orient: "horizontal", left: "center", bottom: 0, itemWidth: 12, itemHeight: 160, text: ["100%", "0%"], textStyle: { color: look.quiet }, inRange: { color: ramp } },
    series: [{ type: "heatmap", data, itemStyle: { borderColor: look.paper, borderWidth: 2, borderRadius: 4 },
      label: { show: true, formatter: ({ value }) => percent(value[2]), fontWeight: 600 } }],
  };
}

/** Room for the labels of a vertical axis. */
const labelWidth = (labels, look) => Math.min(look.narrow ? 130 : 340, 20 + 7 * Math.max(...labels.map((label) => label.length)));

/** So many points can all have their names beside them. */
const FEW = 5;

function paretoOption({ known, front }, look) {
  const point = ({ score }) => [score.cost_per_task, score.success.rate];
  const dots = known.map((agent) => ({
    value: point(agent), symbol: SYMBOLS[agent.place ?? 0], itemStyle: { color: colourOf(agent, look), opacity: 1 }, agent: agent.name,
    named: front.includes(agent) || known.length <= FEW, // the others tell their names when pointed at
    told: [agent.name, `${dollars(agent.score.cost_per_task)} a task`, `${percent(agent.score.success.rate)}, 95% interval ${interval(agent.score.success.interval)}`, front.includes(agent) && "on the front"],
  }));
  return {
    legend: { show: false },
    grid: { left: 8, right: 40, top: 36, bottom: 30, containLabel: true },
    xAxis: axis(look, { type: "value", name: "cost a task", nameLocation: "middle", nameGap: 30, scale: false, min: 0, axisLabel: { formatter: (value) => dollarTick(value), hideOverlap: true } }),
    yAxis: shares(look),
    series: [
      { type: "line", name: "front", z: 1, data: front.map(point), step: "end", symbol: "none", silent: true, lineStyle: { type: "dashed", color: look.quiet, width: 1.5 } },
      { type: "scatter", name: "agents", symbolSize: 14, data: dots, labelLayout: { hideOverlap: true, moveOverlap: "shiftY" },
        z: 3, label: { show: true, position: "top", formatter: ({ data }) => data.named ? cutTo(data.agent, look.narrow ? 18 : 40) : "", color: look.ink, textBorderColor: look.paper, textBorderWidth: 3 } },
    ],
  };
}

const cutTo = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
const dollarTick = (value) => value === 0 ? "$0" : `$${Number(value.toPrecision(3))}`;

function categoriesOption({ names, agents }, look) {
  const series = agents.map((agent) => ({
    ...barsOf(agent, look),
    data: names.map((name) => {
      const share = agent.score.categories[name];
      return { value: share ? rateOf(share) : null, told: [agent.name, words(name), share && `${percent(rateOf(share))}, ${shareOf(share)} passed`] };
    }),
  }));
  return { grid: gridUnder(agents, look), xAxis: axis(look, { type: "category", data: names.map(words), axisLabel: { interval: 0, width: look.narrow ? 60 : 140, overflow: "break" } }), yAxis: shares(look), series };
}

/** Failed trials by mode, stacked by model, agent and mode of tools. */
function modesOption({ found, run }, look) {
  const agentOf = run.data.cells.map(({ cell }) => nameOf(run, cell));
  const shown = shownAgents(run).map(({ name }) => name);
  const groups = [...shownAgents(run).map((agent) => [agent.name, colourOf(agent, look), (name) => name === agent.name]),
    ["others", look.quiet, (name) => !shown.includes(name)]];
  const labels = found.modes.map(({ mode }) => words(mode));
  const series = groups.map(([name, color, belongs]) => ({
    type: "bar", name, stack: "all", barMaxWidth: 20, cursor: "pointer", itemStyle: { color },
    data: found.modes.map((mode) => {
      const value = total(mode.trials.filter((_, cell) => belongs(agentOf[cell])));
      return { value, told: [words(mode.mode), name, plural(value, "failed trial")] };
    }),
  })).filter(({ data }) => data.some(({ value }) => value));
  return {
    grid: { left: labelWidth(labels, look), right: 24, top: legendHeight(series.map(({ name }) => name), look), bottom: 30 },
    xAxis: axis(look, { type: "value", minInterval: 1 }),
    yAxis: axis(look, { type: "category", inverse: true, data: labels, axisLabel: { color: look.ink, width: labelWidth(labels, look) - 12, overflow: "truncate" } }),
    series,
  };
}

function overloadOption({ modes, lines }, look) {
  const series = lines.map(({ name, points }, i) => ({
    type: "line", name, symbol: SYMBOLS[i], symbolSize: 9, connectNulls: true, lineStyle: { width: 2 }, itemStyle: { color: look.colours[i] },
    data: points.map((success, x) => successPoint(name, words(modes[x]), success)),
  }));
  const ranges = lines.map(({ name, points }, nth) => ({
    ...whiskers(name, look, nth, lines.length, points.map((success) => success?.interval)),
    renderItem: (params, api) => whisker(api, look.colours[nth], 0),
  }));
  return { grid: gridUnder(lines, look), xAxis: axis(look, { type: "category", data: modes.map(words) }), yAxis: shares(look), series: [...series, ...ranges] };
}
